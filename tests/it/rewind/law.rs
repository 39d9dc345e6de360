//! The law of rewinds: whatever a command does to whatever file, the rewind restores the path byte for byte with its
//! permissions and its entry in git's index, or the preview names it as not restored.

use super::commands::{git, git_says, run_command};
use super::*;
use crate::kit::dice::Dice;
use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

/// How many pairs of a kind of file and a change are tried. The environment variable `REWIND` sets another number;
/// `REWIND=all` tries all pairs, and `REWIND_SEED` chooses others.
const PAIRS: usize = 40;

/// The kinds of files, each with the commands that make one: before the first commit, and after it. `$f` is its name.
const KINDS: [(&str, &str, &str); 20] = [
    ("text", "seq 9 >$f", ""),
    ("dos", r"printf 'one\r\ntwo\r\n' >$f", ""),
    ("bom", r"printf '\357\273\277one\ntwo\n' >$f", ""),
    ("cut", "printf 'one\ntwo' >$f", ""),
    ("empty", ": >$f", ""),
    ("latin", r"printf 'caf\351\nthe\n' >$f", ""),
    ("utf16", r"printf '\377\376a\0\n\0' >$f", ""),
    ("nul", r"printf 'a\0b\377' >$f", ""),
    ("script", "echo echo >$f; chmod 755 $f", ""),
    ("secret", "echo secret >$f; chmod 600 $f", ""),
    ("fixed", "echo fixed >$f; chmod 444 $f", ""),
    ("link", "ln -s kept $f", ""),
    ("dangling", "ln -s nowhere $f", ""),
    ("way", "ln -s folder $f", ""),
    ("own", "", "seq 5 >$f; chmod 640 $f"),
    ("ownlatin", "", r"printf 'na\357ve\n' >$f; chmod 600 $f"),
    ("added", "", "seq 4 >$f; git add $f"),
    ("dirty", "seq 3 >$f", "echo more >>$f; chmod 600 $f"),
    ("large", "", "seq 300000 >$f"),
    ("none", "", ""),
];

/// The changes, each with the command that makes it. A command that fails changes nothing.
const CHANGES: [(&str, &str); 20] = [
    ("write", "echo other >$f"),
    ("append", r"printf 'x\n' >>$f"),
    ("sed", "sed -i 's/e/E/' $f"),
    ("latin", r"printf '\351t\351\n' >$f"),
    ("nul", r"printf '\0\0' >$f"),
    ("remove", "rm -f $f"),
    ("move", "mv $f $f.moved"),
    ("gitmv", "git mv $f $f.moved"),
    ("gitrm", "git rm -qf $f"),
    ("uncache", "git rm -q --cached $f"),
    ("stage", "echo staged >>$f; git add $f"),
    ("intent", "cp $f $f.new; git add -N $f.new"),
    ("copy", "cp $f $f.new; chmod 600 $f.new"),
    ("mode", "chmod 604 $f"),
    ("run", "chmod 755 $f; git add $f"),
    ("loose", "cat $f >$f.tmp; echo loose >>$f.tmp; chmod 644 $f.tmp; mv -f $f.tmp $f"),
    ("link", "ln -sfn kept $f"),
    ("folder", "rm -f $f; mkdir -p $f/a/b; echo in >$f/a/b/c; echo in >$f/d"),
    ("pipe", "rm -f $f; mkfifo $f"),
    ("touch", "touch -h $f"),
];

/// What a command does in git besides its changes: before and after them. A change that is in a commit afterwards stays
/// in git's index too; the preview says that the turn has committed.
const COURSES: [(&str, &str); 5] = [
    ("", ""),
    ("git commit -qm first --allow-empty", ""),
    ("", "git add -u; git commit -qm last --allow-empty"),
    ("git switch -qc new", ""),
    ("git switch -qm other", ""),
];

/// What a path holds: its kind, its permissions and its bytes.
type Held = (char, u32, Vec<u8>);

/// The state of all paths of a project, outside of `.git`.
fn state(root: &Path) -> BTreeMap<String, Held> {
    let mut all = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
            let (path, meta) = (entry.path(), entry.path().symlink_metadata().unwrap());
            let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
            let mode = meta.permissions().mode() & 0o7777;
            let held = if meta.is_dir() {
                if name != ".git" {
                    folders.push(path);
                }
                continue;
            } else if meta.is_symlink() {
                ('l', 0, fs::read_link(&path).unwrap().to_str().unwrap().into())
            } else if meta.file_type().is_fifo() {
                ('p', mode, Vec::new())
            } else {
                ('f', mode, fs::read(&path).unwrap())
            };
            all.insert(name, held);
        }
    }
    all
}

/// The entries of git's index, by path.
fn index(scene: &Scene) -> BTreeMap<String, String> {
    listed(scene, &["ls-files", "--format=%(objectmode) %(objectname)%x09%(path)"])
}

/// The entries of the commit that is checked out, by path.
fn commit(scene: &Scene) -> BTreeMap<String, String> {
    listed(scene, &["ls-tree", "-r", "--format=%(objectmode) %(objectname)%x09%(path)", "HEAD"])
}

fn listed(scene: &Scene, arguments: &[&str]) -> BTreeMap<String, String> {
    let line = |it: &str| {
        let (about, name) = it.split_once('\t').unwrap();
        (name.to_owned(), about.to_owned())
    };
    git_says(scene, arguments).lines().map(line).collect()
}

/// Runs commands of the user in the project.
fn run(scene: &Scene, script: &str) {
    let mut shell = std::process::Command::new("sh");
    let done = shell.arg("-c").arg(script).current_dir(scene.nvim.setup.path("")).output().unwrap();
    assert!(done.status.success(), "{script}: {}", String::from_utf8_lossy(&done.stderr));
}

/// Pairs of a kind and a change, chosen at random.
fn pairs() -> Vec<(usize, usize)> {
    let mut all: Vec<(usize, usize)> =
        (0..KINDS.len()).flat_map(|kind| (0..CHANGES.len()).map(move |it| (kind, it))).collect();
    let wanted = std::env::var("REWIND").unwrap_or_default();
    if wanted == "all" {
        return all;
    }
    let mut dice =
        Dice(std::env::var("REWIND_SEED").ok().and_then(|it| it.parse().ok()).unwrap_or(20));
    let count = wanted.parse().unwrap_or(PAIRS).min(all.len());
    (0..count).map(|_| all.swap_remove(dice.below(all.len()))).collect()
}

fn scripts(pairs: &[(usize, usize)], of: impl Fn(usize, usize) -> &'static str) -> String {
    let lines = pairs.iter().map(|(kind, change)| {
        let command = of(*kind, *change);
        let command = if command.is_empty() { ":" } else { command };
        format!("f={}.{}; {{ {command}; }} 2>/dev/null || :\n", KINDS[*kind].0, CHANGES[*change].0)
    });
    lines.collect()
}

#[test]
fn a_rewind_restores_every_change_of_every_kind_of_file_or_names_it() {
    let pairs = pairs();
    // many pairs try each course, few pairs one course each
    let courses = if pairs.len() > PAIRS { COURSES.len() } else { 1 };
    for n in 0..courses {
        let size = if courses > 1 { 100 } else { pairs.len().div_ceil(COURSES.len()) };
        for (k, pairs) in pairs.chunks(size).enumerate() {
            holds(pairs, Some(COURSES[(n + k) % COURSES.len()]));
        }
    }
}

/// Git's commands fail there, so these changes are none.
#[test]
fn without_git_a_rewind_restores_every_change_of_every_kind_of_file_or_names_it() {
    for pairs in pairs().chunks(100) {
        holds(pairs, None);
    }
}

/// Makes a repository of the files of a project, with a branch that has one file more.
fn make_repository(scene: &Scene) {
    git(scene, &["init", "-q"]);
    git(scene, &["add", "."]);
    git(scene, &["commit", "-qm", "begin"]);
    git(scene, &["config", "user.name", "me"]);
    git(scene, &["config", "user.email", "me@example.org"]);
    run(
        scene,
        "git switch -qc other; echo elsewhere >elsewhere; git add elsewhere; git commit -qm more; git switch -q -",
    );
}

/// `course` is what the command does in git besides; `None` without git.
fn holds(pairs: &[(usize, usize)], course: Option<(&str, &str)>) {
    let (first, last) = course.unwrap_or_default();
    let changes = scripts(pairs, |_, change| CHANGES[change].1);
    let script = format!("{first}\n{changes}{last}\n");
    let scene = Scene::start(|it| it.file("kept", "kept\n").file("folder/kept", "kept\n"));
    fs::set_permissions(scene.nvim.setup.path("kept"), Permissions::from_mode(0o644)).unwrap();
    run(&scene, &format!("umask 022\n{}", scripts(pairs, |kind, _| KINDS[kind].1)));
    if course.is_some() {
        make_repository(&scene);
    }
    run(&scene, &format!("umask 022\n{}", scripts(pairs, |kind, _| KINDS[kind].2)));
    let root = scene.nvim.setup.path("");
    fs::write(root.join("change.sh"), format!("umask 022\n{script}")).unwrap();
    if course.is_some() {
        fs::write(root.join(".git/info/exclude"), "change.sh\n").unwrap();
    }
    let index = |scene: &Scene| course.map(|_| index(scene)).unwrap_or_default();
    let before = (state(&root), index(&scene));
    // some of the files are open
    for (kind, change) in pairs.iter().step_by(3) {
        let name = format!("{}.{}", KINDS[*kind].0, CHANGES[*change].0);
        if root.join(&name).is_file() {
            scene.nvim.lua("vim.cmd.edit(...)", &[root.join(name).to_str().unwrap().into()]);
        }
    }
    run_command(&scene, "sh change.sh");
    let after = (state(&root), index(&scene));
    preview(&scene, "1");
    let shown = scene.nvim.buffer("/rewind");
    scene.nvim.keys("a");
    scene.wait_chat("You took back");
    let now = (state(&root), index(&scene));
    let committed = course.map(|_| commit(&scene)).unwrap_or_default();
    let commits = shown.contains("made commits");
    let is_named = |name: &str| {
        let stays = [format!("{name} is not changed: "), "; its entry in git's index".to_owned()];
        let is_of =
            |it: &str| it.contains(&format!("{name} ")) && stays.iter().any(|s| it.contains(s));
        shown.lines().any(is_of)
    };
    let names = before.0.keys().chain(now.0.keys()).chain(before.1.keys()).chain(now.1.keys());
    for name in names.collect::<std::collections::BTreeSet<_>>() {
        let is_there = (first, name.as_str()) == ("git switch -qm other", "elsewhere");
        let is_same = before.0.get(name) == now.0.get(name);
        let is_same_entry = before.1.get(name) == now.1.get(name)
            || commits && now.1.get(name) == committed.get(name);
        assert!(
            is_same && is_same_entry || is_named(name) || is_there,
            "{first} … {last}\n{name}\nbefore {:?} {:?}\nafter {:?} {:?}\nnow {:?} {:?}\n{shown}",
            before.0.get(name),
            before.1.get(name),
            after.0.get(name),
            after.1.get(name),
            now.0.get(name),
            now.1.get(name)
        );
    }
}
