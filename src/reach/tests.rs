//! Tests the rules on tables of paths, and tests that another spelling of a path does not change the result.

use super::*;
use expect_test::{Expect, expect};
use proptest::prelude::*;

const HOME: &str = "/home/u";

fn reach(root: &str) -> Reach {
    let at = |path: &str| PathBuf::from(path);
    Reach::new(&Folders {
        root: at(root),
        named: vec![
            (at(HOME), "~".into()),
            (at("/xdg/config"), ".config".into()),
            (at("/home/u/dots/shell"), ".bashrc".into()),
        ],
        own: vec![
            at("/home/u/.local/share/caliban"),
            at("/home/u/.cache/caliban"),
            at("/xdg/config/caliban"),
        ],
        open: vec![
            at("/home/u/.cache/caliban/outputs"),
            at("/xdg/config/caliban/skills"),
            at("/home/u/.agents/skills"),
        ],
    })
}

fn short(it: &str) -> String {
    it.split(' ').take(4).collect::<Vec<_>>().join(" ")
}

/// Compares the result of the rules for each path. Relative paths begin at the project's root.
#[expect(clippy::needless_pass_by_value, reason = "a table's row gives its snapshot away")]
fn check(root: &str, paths: &str, expect: Expect) {
    let reach = reach(root);
    let mut said = String::new();
    for written in paths.split_whitespace() {
        let path = Path::new(root).join(written);
        let reading = match reach.reading(&path) {
            Reading::Free => "free".to_owned(),
            Reading::Asked(why) => format!("asked: {}", short(why)),
            Reading::Never(why) => format!("never: {}", short(why)),
        };
        let writing = match reach.writing(&path) {
            Writing::Free => "free".to_owned(),
            Writing::Reviewed(why) => format!("reviewed: {}", short(why)),
            Writing::Never(_) => "never".to_owned(),
        };
        said += &format!("{written} | {reading} | {writing}\n");
    }
    expect.assert_eq(&said);
}

#[test]
fn ordinary_files_of_a_project_need_no_consent() {
    check(
        "/home/u/src/app",
        "src/main.rs Cargo.lock README.md .gitignore docs/env.md src/credentials.rs keys.rs .env.example id_rsa.pub \
         environment.ts locales/auth.json .github/CODEOWNERS",
        expect![[r#"
            src/main.rs | free | free
            Cargo.lock | free | free
            README.md | free | free
            .gitignore | free | free
            docs/env.md | free | free
            src/credentials.rs | free | free
            keys.rs | free | free
            .env.example | free | free
            id_rsa.pub | free | free
            environment.ts | free | free
            locales/auth.json | free | free
            .github/CODEOWNERS | free | free
        "#]],
    );
}

#[test]
fn files_with_keys_are_read_only_after_a_question() {
    check(
        "/home/u/src/app",
        ".env .env.local deploy/prod.env .ENV certs/tls.key id_ed25519 x.tfstate .npmrc .envrc ../../.ssh/id_rsa \
         /home/other/.ssh/config /etc/passwd /etc/shadow /proc/self/environ",
        expect![[r#"
            .env | asked: holds the keys or | free
            .env.local | asked: holds the keys or | free
            deploy/prod.env | asked: holds the keys or | free
            .ENV | asked: holds the keys or | free
            certs/tls.key | asked: holds keys | free
            id_ed25519 | asked: holds keys (SSH) | free
            x.tfstate | asked: holds secrets | free
            .npmrc | asked: holds a login to | reviewed: runs when the project
            .envrc | asked: holds the keys or | reviewed: runs when a folder
            ../../.ssh/id_rsa | asked: holds keys (SSH) | reviewed: lets others in, or
            /home/other/.ssh/config | asked: holds keys (SSH) | reviewed: lets others in, or
            /etc/passwd | free | reviewed: belongs to the system
            /etc/shadow | asked: holds passwords | reviewed: belongs to the system
            /proc/self/environ | asked: shows the data of | free
        "#]],
    );
}

#[test]
fn files_that_other_programs_run_are_written_only_after_a_review() {
    check(
        "/home/u/src/app",
        "package.json build.rs tests/conftest.py Makefile vite.config.ts .vscode/tasks.json .luarc.json .exrc \
         .vim/after/x.vim .gitattributes .husky/pre-commit bare.git/hooks/x .github/workflows/ci.yml \
         .devcontainer/devcontainer.json AGENTS.md sub/claude.md .caliban/skills/x/SKILL.md .mcp.json \
         /home/u/.bashrc /xdg/config/nvim/init.lua /home/u/dots/shell .nvim/init.lua .tasks .cargo/config.toml \
         .pre-commit-config.yaml lefthook.yml .bsp/x.json .flake8 .stylelintrc.json .formatter.exs .hg/hgrc .editorconfig",
        expect![[r#"
            package.json | free | reviewed: runs when the project
            build.rs | free | reviewed: runs when the project
            tests/conftest.py | free | reviewed: runs when the project
            Makefile | free | reviewed: runs when the project
            vite.config.ts | free | reviewed: runs when the project
            .vscode/tasks.json | free | reviewed: runs when a folder
            .luarc.json | free | reviewed: runs when a folder
            .exrc | free | reviewed: runs when a folder
            .vim/after/x.vim | free | reviewed: runs when a folder
            .gitattributes | free | reviewed: runs when git works
            .husky/pre-commit | free | reviewed: runs when git works
            bare.git/hooks/x | free | reviewed: runs when git works
            .github/workflows/ci.yml | free | reviewed: runs on other machines
            .devcontainer/devcontainer.json | free | reviewed: runs when a development
            AGENTS.md | free | reviewed: tells agents what to
            sub/claude.md | free | reviewed: tells agents what to
            .caliban/skills/x/SKILL.md | free | reviewed: tells agents what to
            .mcp.json | free | reviewed: tells agents what to
            /home/u/.bashrc | free | reviewed: runs when a shell
            /xdg/config/nvim/init.lua | free | reviewed: runs when an editor
            /home/u/dots/shell | free | reviewed: runs when a shell
            .nvim/init.lua | free | reviewed: runs when a folder
            .tasks | free | reviewed: runs when a folder
            .cargo/config.toml | free | reviewed: runs when a folder
            .pre-commit-config.yaml | free | reviewed: runs when git works
            lefthook.yml | free | reviewed: runs when git works
            .bsp/x.json | free | reviewed: runs when a folder
            .flake8 | free | reviewed: runs when the project
            .stylelintrc.json | free | reviewed: runs when the project
            .formatter.exs | free | reviewed: runs when a folder
            .hg/hgrc | free | reviewed: runs when git works
            .editorconfig | free | free
        "#]],
    );
}

#[test]
fn protected_files_are_never_read_or_written() {
    check(
        "/home/u/src/app",
        ".git/config .git sub/.git/hooks/x worktree/.git /home/u/.cache/caliban/outputs/1 \
         /home/u/.cache/caliban/debug.log /xdg/config/caliban/skills/x.md /xdg/config/caliban/AGENTS.md \
         /home/u/.agents/skills/a/SKILL.md",
        expect![[r#"
            .git/config | never: is in .git, which | never
            .git | never: is in .git, which | never
            sub/.git/hooks/x | never: is in .git, which | never
            worktree/.git | never: is in .git, which | never
            /home/u/.cache/caliban/outputs/1 | free | never
            /home/u/.cache/caliban/debug.log | never: is Caliban's own (keys, | never
            /xdg/config/caliban/skills/x.md | free | never
            /xdg/config/caliban/AGENTS.md | never: is Caliban's own (keys, | never
            /home/u/.agents/skills/a/SKILL.md | free | reviewed: tells agents what to
        "#]],
    );
}

/// Files in a home folder.
const FILES: &str = ".local/share/caliban/keys.json .local/share/caliban/sessions/x/main.json \
    .cache/caliban/outputs/1 .ssh/id_rsa .ssh/authorized_keys .bashrc .local/share/nvim/site/plugin/x.lua \
    .config/nvim/init.lua .config/autostart/x.desktop .local/bin/ls bin/ls .config/systemd/user/x.service \
    .aws/credentials .mozilla/firefox/x/logins.json .local/share/keyrings/login.keyring .bash_history \
    .git-credentials .config/gcloud/access_tokens.db .docker/config.json .kube/config notes.md";

#[test]
fn protected_files_are_protected_in_a_project_that_contains_the_home_folder() {
    check(
        HOME,
        FILES,
        expect![[r#"
        .local/share/caliban/keys.json | never: is Caliban's own (keys, | never
        .local/share/caliban/sessions/x/main.json | never: is Caliban's own (keys, | never
        .cache/caliban/outputs/1 | free | never
        .ssh/id_rsa | asked: holds keys (SSH) | reviewed: lets others in, or
        .ssh/authorized_keys | asked: holds keys (SSH) | reviewed: lets others in, or
        .bashrc | free | reviewed: runs when a shell
        .local/share/nvim/site/plugin/x.lua | free | reviewed: runs when an editor
        .config/nvim/init.lua | free | reviewed: runs when an editor
        .config/autostart/x.desktop | free | reviewed: runs when you log
        .local/bin/ls | free | reviewed: holds programs that a
        bin/ls | free | reviewed: holds programs that a
        .config/systemd/user/x.service | free | reviewed: runs when you log
        .aws/credentials | asked: holds a login to | reviewed: lets others in, or
        .mozilla/firefox/x/logins.json | asked: holds logins of a | free
        .local/share/keyrings/login.keyring | asked: holds passwords | free
        .bash_history | asked: holds what was typed | free
        .git-credentials | asked: holds a login to | free
        .config/gcloud/access_tokens.db | asked: holds a login to | free
        .docker/config.json | asked: holds a login to | reviewed: lets others in, or
        .kube/config | asked: holds a login to | reviewed: lets others in, or
        notes.md | free | free
    "#]],
    );
    let said = |root: &str| {
        let reach = reach(root);
        let paths = FILES.split_whitespace().map(|it| Path::new(HOME).join(it));
        paths.map(|it| (reach.reading(&it), reach.writing(&it))).collect::<Vec<_>>()
    };
    assert_eq!(said("/home"), said(HOME));
    assert_eq!(said("/"), said(HOME));
}

/// The project is a worktree inside a `.git` folder. The project's own `.git` is protected; the `.git` folder above the
/// project does not matter.
#[test]
fn files_of_a_worktree_inside_a_git_folder_are_not_protected() {
    check(
        "/home/u/app/.git/wt",
        "a.rs .git ../config",
        expect![[r#"
        a.rs | free | free
        .git | never: is in .git, which | never
        ../config | never: is in .git, which | never
    "#]],
    );
}

#[test]
fn a_star_in_a_pattern_stands_for_any_characters() {
    for (pattern, name, is) in [
        ("a", "a", true),
        ("a", "ab", false),
        ("a*", "a", true),
        ("a*", "ba", false),
        ("*.a", "x.a", true),
        ("*.a", ".a", true),
        ("*.a", "a", false),
        ("a*b*c", "axbxbc", true),
        ("a*b*c", "axc", false),
        ("a*a", "a", false),
        ("*", "", true),
        ("aa*aa", "aaa", false),
        ("*.tf.*", ".tf.", true),
        ("*.tf.*", "a.tf", false),
        ("a*b*b*c", "abxbc", true),
        ("a*b*b*c", "abxc", false),
        ("ä*ß", "äxß", true),
    ] {
        assert_eq!(Pattern::new(pattern).fits(name), is, "{pattern} {name}");
    }
}

#[test]
fn each_row_of_protected_paths_has_a_reason_and_no_pattern_is_listed_twice() {
    let mut seen = std::collections::HashSet::new();
    for row in ROWS {
        assert!(row.why.split(' ').count() > 1 && !row.why.ends_with('.'), "{}", row.why);
        for path in row.paths {
            assert!(
                seen.insert((format!("{:?}", row.kind), path.to_lowercase())),
                "{path} stands twice"
            );
            assert!(!path.is_empty() && !path.ends_with('/'), "{path}");
        }
    }
}

/// For each pattern, a path that it covers.
fn examples() -> Vec<String> {
    let of = |pattern: &str| pattern.replace('*', "x").replace('~', HOME);
    ROWS.iter().flat_map(|it| it.paths).map(|it| of(it)).collect()
}

/// The same path, written in another way.
fn respelt(path: &str, dice: &[u8]) -> String {
    let mut dice = dice.iter().copied().cycle();
    let mut said = String::new();
    for part in path.split('/').filter(|it| !it.is_empty()) {
        said.push('/');
        said += match dice.next() {
            Some(0) => "./",
            Some(1) => "x/../",
            Some(2) => "/",
            _ => "",
        };
        for c in part.chars() {
            match dice.next() {
                Some(4..=7) => said.extend(c.to_uppercase()),
                Some(8) if c == 'k' => said.push('\u{212a}'),
                Some(9) => said.extend([c, '\u{200d}']),
                _ => said.push(c),
            }
        }
    }
    said
}

proptest! {
    #[test]
    fn the_rules_decide_the_same_for_every_spelling_of_a_path(n in 0usize..2_000, dice in proptest::collection::vec(0u8..24, 40), root in 0usize..4) {
        let root = ["/home/u/src/app", HOME, "/home", "/"][root];
        let all = examples();
        let example = &all[n % all.len()];
        let path = Path::new(root).join(example).display().to_string();
        let (reach, other) = (reach(root), respelt(&path, &dice));
        prop_assert_eq!(reach.reading(Path::new(&path)), reach.reading(Path::new(&other)), "{} {}", path, other);
        prop_assert_eq!(reach.writing(Path::new(&path)), reach.writing(Path::new(&other)), "{} {}", path, other);
        let is_ruled = reach.reading(Path::new(&path)) != Reading::Free || reach.writing(Path::new(&path)) != Writing::Free;
        prop_assert!(is_ruled, "nothing is said of {}", path);
    }
}

#[test]
fn a_pattern_of_a_shell_is_judged_by_the_names_that_it_could_stand_for() {
    for (pattern, shell, is_one) in [
        ("secrets.y*ml", "secrets.y*", true),
        ("secrets.y*ml", "s?crets.yml", true),
        ("secrets.y*ml", "*.yml", true),
        ("secrets.y*ml", "*.md", false),
        ("id_rsa*", "id_rs*", true),
        ("id_rsa*", "id_rsa_*.rs", true),
        ("id_rsa*", "*.rs", false),
        ("id_rsa*", "*rsa", true),
        ("*.pem", "conf*", true),
        ("*.pem", "[a-c]*.pe?", true),
        ("*.pem", "?.pem", true),
        ("*.pem", "a*.key", false),
        ("credentials.json", "cred*.json", true),
        ("credentials.json", "cred*.toml", false),
        ("a", "a", true),
        ("a", "", false),
        ("a*", "a", true),
    ] {
        assert_eq!(pattern::overlap(pattern, shell), is_one, "{pattern} {shell}");
    }
}

#[test]
fn the_quick_look_at_a_name_passes_over_no_file_that_is_read_only_with_consent() {
    let folders = Folders { root: "/home/me/project".into(), ..Folders::default() };
    let reach = Reach::new(&folders);
    let mut count = 0;
    for pattern in ROWS.iter().filter(|it| it.kind == Kind::Ask).flat_map(|it| it.paths) {
        let path = format!("/home/me/project/{}", pattern.trim_start_matches(['~', '/']));
        for path in [path.replace('*', ""), path.replace('*', "x").to_uppercase()] {
            let name = path.rsplit('/').next().unwrap();
            let is_asked = matches!(reach.reading(Path::new(&path)), Reading::Asked(_));
            let folder = Path::new(&path).parent().unwrap();
            let is_inside = matches!(reach.reading(folder), Reading::Asked(_));
            assert!(!is_asked || is_inside || reach.may_ask(name), "{path}");
            count += usize::from(is_asked);
        }
    }
    assert!(count > 300, "{count}");
    assert!(!reach.may_ask("main.rs") && !reach.may_ask("Cargo.toml"));
}
