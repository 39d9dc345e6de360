use super::Search;
use crate::tool::path::normal;
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Lines of `.envrc`, each with what it has a shell run or read. There is a file `s/j.sh`.
const LINES: &[(&str, &str)] = &[
    ("source s/j.sh", "s/j.sh"),
    ("[ -f s/j.sh ] && source s/j.sh", "s/j.sh"),
    ("[[ -f s/j.sh ]] && . s/j.sh", "s/j.sh"),
    ("test -e s/j.sh && source ./s/j.sh", "s/j.sh"),
    ("if [ -f s/j.sh ]; then source s/j.sh; fi", "s/j.sh"),
    ("if has nix; then\n  use flake ./s\nfi", "s/flake.nix"),
    ("source s/\"j.sh\"", "s/j.sh"),
    ("source \"s/my file\" arg", "s/my file"),
    ("source_env s", "s/.envrc"),
    ("source_env s/j.sh", "s/j.sh"),
    ("source_env_if_exists s/new", "s/new"),
    ("export GIT_EXTERNAL_DIFF=$PWD/s/j.sh", "s/j.sh"),
    ("export GIT_SSH_COMMAND=\"s/j.sh -x\"", "s/j.sh"),
    ("export GIT_ANYTHING=$PWD/s/new", "s/new"),
    ("export BASH_ENV=s/j.sh", "s/j.sh"),
    ("export EDITOR=\"$PWD/s/j.sh\"", "s/j.sh"),
    ("export GIT_CONFIG_GLOBAL=$PWD/s/new", "s/new"),
    ("export LD_PRELOAD=$PWD/s/new.so", "s/new.so"),
    ("export NODE_OPTIONS=\"--require ./s/new.js\"", "s/new.js"),
    ("export ASK=$PWD/s/run", "s/run"),
    ("direnv_load s/j.sh", "s/j.sh"),
    ("make -s -f s/j.sh env", "s/j.sh"),
    ("eval \"$(bash s/j.sh)\"", "s/j.sh"),
    ("eval \"$(./s/run)\"", "s/run"),
    ("use nix s/j.sh", "s/j.sh"),
    ("export FOO=$(s/j.sh)", "s/j.sh"),
    ("export FOO=`s/j.sh`", "s/j.sh"),
    ("source <(s/j.sh)", "s/j.sh"),
    ("s/j.sh | cat", "s/j.sh"),
    ("true && s/j.sh", "s/j.sh"),
    ("s/j.sh || true", "s/j.sh"),
    ("for f in s/*.sh; do source \"$f\"; done", "s"),
    ("for f in s/j.sh t; do source \"$f\"; done", "s/j.sh"),
    ("all=(s/j.sh); source \"${all[0]}\"", "s/j.sh"),
    ("env_vars_required; dotenv s/new", "s/new"),
    ("dotenv_if_exists s/new", "s/new"),
    ("dotenv", ".env"),
    ("set -a; source s/j.sh; set +a", "s/j.sh"),
    ("set -a && . s/j.sh && set +a", "s/j.sh"),
    ("  . ./s/j.sh # comment", "s/j.sh"),
    ("log_status \"x\"; source s/j.sh", "s/j.sh"),
    ("pushd s >/dev/null; source j.sh; popd", "s/j.sh"),
    ("source $(git rev-parse --show-toplevel)/s/j.sh", "s/j.sh"),
    ("source ${PWD}/s/j.sh", "s/j.sh"),
    ("source ~/project/s/j.sh", "s/j.sh"),
    ("cd s && source j.sh", "s/j.sh"),
    (". s/j.sh || exit 1", "s/j.sh"),
    ("while read -r l; do export \"$l\"; done < s/j.sh", "s/j.sh"),
    ("export $(grep -v '^#' s/j.sh | xargs)", "s/j.sh"),
    ("export $(cat s/j.sh)", "s/j.sh"),
    ("eval \"$(grep x s/j.sh)\"", "s/j.sh"),
    ("python s/j.sh", "s/j.sh"),
    ("source_url x y; source s/j.sh", "s/j.sh"),
    ("layout_x() { source s/j.sh; }; layout_x", "s/j.sh"),
    ("file=s/new; source $file", "s/new"),
    ("case $x in a) source s/j.sh ;; esac", "s/j.sh"),
    ("PATH_add s", "s/git"),
    ("PATH_add s", "s/run"),
    ("path_add PATH s", "s/git"),
    ("export PATH=$PWD/s:$PATH", "s/git"),
    ("PATH=\"$PATH:$PWD/s\"", "s/git"),
    ("load_prefix s", "s/bin/git"),
    ("layout node", "node_modules/.bin/git"),
    ("source s/j.sh; broken ((", "s/j.sh"),
    ("export JAVA_TOOL_OPTIONS=\"-javaagent:$PWD/s/new.jar\"", "s/new.jar"),
    ("export JAVA_TOOL_OPTIONS=-javaagent:s/new.jar=a", "s/new.jar"),
    ("export RUBYOPT=\"-r$PWD/s/new\"", "s/new"),
    ("export RUBYOPT=-r./s/new", "s/new.rb"),
    ("export PERL5OPT=-M$PWD/s/new", "s/new"),
    (". ~+/s/new.sh", "s/new.sh"),
    ("python -m s.new", "s/new.py"),
    ("eval \"$(python3 -m new env)\"", "new"),
    ("make -C s x", "s/Makefile"),
    ("make --directory=s x", "s/GNUmakefile"),
    ("make env", "Makefile"),
    ("export ZDOTDIR=$PWD/s/zsh", "s/zsh/.zshrc"),
    ("export XDG_CONFIG_HOME=$PWD/s/config", "s/config"),
    ("export XDG_CONFIG_HOME=$PWD/s", "s"),
    ("export LD_LIBRARY_PATH=$PWD/s:$LD_LIBRARY_PATH", "s/libc.so.6"),
];

/// Lines of `.envrc` that leave a path free.
const FREE: &[(&str, &str)] = &[
    ("watch_file s/j.sh", "s/j.sh"),
    ("PATH_add s", "s/program"),
    ("mkdir -p s/new", "s/new"),
    ("export DATABASE=$PWD/s/data.db", "s/data.db"),
    ("export DATABASE=$PWD/s/new", "s/new"),
    ("echo see s/j.sh", "s/j.sh"),
    ("# source s/j.sh", "s/j.sh"),
    ("layout node", "node_modules/.bin/eslint"),
    ("export LD_LIBRARY_PATH=$PWD/s", "s/libmine.so"),
    ("python s/j.sh -m", "json.py"),
];

const MISE: &[(&str, &str)] = &[
    ("[env]\n_.file = 's/new'", "s/new"),
    ("[env]\n_.source = ['s/j.sh', 's/new']", "s/new"),
    ("[[env]]\n_.source = { path = 's/new', redact = true }", "s/new"),
    ("[env]\nmise = { file = ['s/new'] }", "s/new"),
    ("[env]\n_.path = ['s', 'x']", "s/git"),
    ("[env]\n_.python.venv = { path = 's' }", "s/bin/git"),
    ("[env]\nA = \"{{ exec(command='./s/run -a') }}\"", "s/run"),
    ("[tools]\nnode = \"{{ exec(command='cat s/new.txt') }}\"", "s/new.txt"),
    ("[env]\nGIT_SSH = '{{config_root}}/s/j.sh'", "s/j.sh"),
    ("[hooks]\nenter = 's/run x'", "s/run"),
    ("[hooks.cd]\nscript = 'source s/j.sh'\nshell = 'bash'", "s/j.sh"),
    ("[[watch_files]]\npatterns = ['a']\nrun = './s/run'", "s/run"),
    ("[plugins]\nx = './s/new'", "s/new"),
    ("env broken = 's/j.sh'", "s/j.sh"),
];

fn found(file: &str, text: &str) -> BTreeSet<String> {
    let dir = tempfile::tempdir().unwrap();
    let home = dir.path().canonicalize().unwrap();
    let root = home.join("project");
    fs::create_dir_all(root.join("s")).unwrap();
    for (name, content) in
        [("s/j.sh", ""), ("s/run", "#!/bin/sh"), ("s/program", "\x7fELF"), ("s/data.db", "")]
    {
        fs::write(root.join(name), content).unwrap();
    }
    fs::set_permissions(root.join("s/run"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::write(root.join(file), text).unwrap();
    searched(&root, &home, Search::files)
}

/// The paths below the root that a search finds.
fn searched(root: &Path, home: &Path, search: impl FnOnce(&mut Search)) -> BTreeSet<String> {
    let mut it = Search {
        top: root.to_owned(),
        git: root.join(".git"),
        home: Some(home.to_owned()),
        found: BTreeSet::new(),
        root: root.to_owned(),
    };
    search(&mut it);
    let below = |it: PathBuf| normal(&it).strip_prefix(root).unwrap().display().to_string();
    it.found.into_iter().map(below).collect()
}

#[test]
fn every_command_of_the_files_for_a_folder_is_read_for_what_it_runs() {
    let mut missed = Vec::new();
    for (file, rows) in [(".envrc", LINES), ("mise.toml", MISE), (".mise.local.toml", MISE)] {
        for (text, path) in rows {
            if !found(file, text).contains(*path) {
                missed.push(*text);
            }
        }
    }
    assert_eq!(missed, Vec::<&str>::new());
}

#[test]
fn what_the_files_for_a_folder_only_mention_stays_free() {
    let is_locked = |(text, path): &&(&str, &str)| found(".envrc", text).contains(*path);
    let locked: Vec<_> = FREE.iter().filter(is_locked).collect();
    assert_eq!(locked, Vec::<&(&str, &str)>::new());
    let tasks = "[tasks.a]\nrun = 's/j.sh'\nsources = ['src/a.rs']\n[env]\nDATA = 's/data.db'\n";
    assert_eq!(found("mise.toml", tasks), BTreeSet::new());
}

/// Command lines in git's configuration, each with a file that they run, which does not exist yet.
const PROGRAMS: &[(&str, &str)] = &[
    ("\"/usr/bin/python3\" -m nbstripout", "nbstripout.py"),
    ("\"/usr/bin/python3\" -m nbstripout", "nbstripout"),
    ("python3 -m s.m", "s/m.py"),
    (
        "\"$(git rev-parse --git-common-dir 2>/dev/null || git rev-parse --git-dir 2>/dev/null)\"/crypt/transcrypt clean %f",
        ".git/crypt/transcrypt",
    ),
    ("\"$(git rev-parse --git-path crypt)/run\" clean", ".git/crypt/run"),
    ("$GIT_DIR/crypt/run", ".git/crypt/run"),
    ("$(git rev-parse --show-toplevel)/s/1.sh", "s/1.sh"),
];

#[test]
fn programs_that_git_s_configuration_names_by_a_module_or_an_expression_are_found() {
    for (line, path) in PROGRAMS {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().canonicalize().unwrap();
        let root = home.join("project");
        fs::create_dir_all(root.join(".git")).unwrap();
        let found = searched(&root, &home, |it| it.program(line, false));
        assert!(found.contains(*path), "{line}: {found:?}");
    }
}

/// Start files of the user's, each with its text and a path in the repository of dotfiles that runs because of it.
const STARTS: &[(&str, &str, &str)] = &[
    (".bashrc", "-> bashrc", "bashrc"),
    (".bashrc", "-> bashrc", "aliases.sh"),
    (".bashrc", ". ~/project/more.sh", "more.sh"),
    (".zshrc", "export DOTS=~/project\nfor f in $DOTS/zsh/*.zsh; do . $f; done", "zsh"),
    (".profile", "export PATH=$HOME/project/bin:$PATH", "bin/git"),
    (".tmux.conf", "source-file ~/project/tmux.conf", "tmux.conf"),
    (".config/fish", "-> fish", "fish"),
    (".config/nvim", "-> nvim", "nvim/init.lua"),
    (".config/nvim", "-> nvim", "nvim/lua"),
    (".config/nvim/init.lua", "-> init.lua", "init.lua"),
    (".config/kitty/kitty.conf", "-> kitty.conf", "kitty.conf"),
    (".config/systemd/user/a.service", "-> a.service", "a.service"),
];

#[test]
fn start_files_in_a_repository_of_dotfiles_are_locked_with_what_they_run() {
    for (name, text, path) in STARTS {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().canonicalize().unwrap();
        let root = home.join("project");
        fs::create_dir_all(root.join("zsh")).unwrap();
        fs::write(root.join("bashrc"), ". ~/project/aliases.sh\n").unwrap();
        fs::create_dir_all(home.join(name).parent().unwrap()).unwrap();
        match text.strip_prefix("-> ") {
            Some(to) => std::os::unix::fs::symlink(root.join(to), home.join(name)).unwrap(),
            None => fs::write(home.join(name), text).unwrap(),
        }
        if name.ends_with(['h', 'm']) || path.contains('/') {
            let _ = fs::create_dir_all(root.join(path));
        } else {
            let _ = fs::OpenOptions::new().append(true).create(true).open(root.join(path));
        }
        let found = searched(&root, &home, |it| it.starts(&OnceLock::new()));
        assert!(found.contains(*path), "{name} {text}: {found:?}");
    }
}

#[test]
fn in_neovim_s_own_folder_what_neovim_runs_is_locked_and_other_start_folders_are_no_projects() {
    let dir = tempfile::tempdir().unwrap();
    let home = dir.path().canonicalize().unwrap();
    let root = home.join(".config/nvim");
    fs::create_dir_all(&root).unwrap();
    fs::create_dir_all(home.join(".ssh")).unwrap();
    fs::create_dir_all(home.join(".config/fish/functions")).unwrap();
    let found = searched(&root, &home, |it| it.starts(&OnceLock::new()));
    for it in ["init.lua", "lua", "after", "plugin"] {
        assert!(found.contains(it), "{it}");
    }
    assert!(!found.contains("README.md") && !super::is_within(&root, &home));
    for it in [".ssh", ".config/fish/functions"] {
        assert!(super::is_within(&home.join(it), &home), "{it}");
    }
    assert!(!super::is_within(&home, &home));
}
