//! Tests how rules decide about commands, files and hosts. Each line of the lists in `tests/data/permissions` is
//! judged.

mod lists;
mod pages;
mod running;
mod stars;

use super::*;
use crate::event::Remote;
use crate::reach::Folders;
use expect_test::{Expect, expect};
use proptest::prelude::*;

/// The commands that a user with very generous rules allows.
const GENEROUS: &str = "ls cat grep rg find fd sed awk gawk mawk tar echo make npm python python3 node sort head tail wc env xargs \
    timeout tee cp mv ssh scp rsync curl wget go test true printf date tree jq pytest zip bash sh git cargo gcc \
    uniq perl ruby vim less nice nohup time command cd sleep diff touch mkdir";

fn rules(written: &[WrittenRule]) -> Rules {
    let root = Path::new("/home/me/project");
    let folders = Folders {
        root: root.to_owned(),
        named: vec![("/home/me".into(), "~".into())],
        ..Folders::default()
    };
    let (all, problems) = read(written, Origin::Settings, "test");
    assert_eq!(problems, [""; 0]);
    Rules::new(all, root, &Reach::new(&folders))
}

fn deny(command: &str) -> WrittenRule {
    WrittenRule {
        deny: Some("shell".into()),
        command: Some(command.into()),
        ..WrittenRule::default()
    }
}

fn generous() -> Vec<WrittenRule> {
    GENEROUS.split_whitespace().map(WrittenRule::always).collect()
}

/// The lines of a list. Placeholders in the lines are replaced.
fn lines(text: &str) -> Vec<String> {
    let all = text.split('\n').filter(|it| !it.is_empty() && !it.starts_with("## "));
    let marks = [('⏎', "\n"), ('␉', "\t"), ('␍', "\r"), ('␀', "\u{1}"), ('⍽', "\u{a0}")];
    all.map(|it| marks.iter().fold(it.to_owned(), |it, (mark, c)| it.replace(*mark, c))).collect()
}

fn judged(rules: &Rules, command: &str) -> Judgement {
    let (command, hosts, unlocked) = (command.into(), Vec::new(), Vec::new());
    rules.judge(&Access::Act { command, outside: None, background: false, hosts, unlocked })
}

#[test]
fn input_to_a_job_is_never_allowed_by_a_rule_and_denied_like_a_command() {
    let rules =
        rules(&[WrittenRule::always("psql"), WrittenRule::always("echo"), deny("git push")]);
    let input = |command: &str, text: &str| {
        let (command, text) = (command.to_owned(), text.to_owned());
        rules.judge(&Access::Input { job: 1, command, text, is_contained: true }).verdict
    };
    assert_eq!(input("psql", "echo a\n"), None);
    assert_eq!(input("bash", "cd a && git -C b push\n"), Some(Verdict::Deny));
    assert_eq!(input("git push", "yes\n"), Some(Verdict::Deny));
    for (command, text) in [
        ("ed", "!git push\n"),
        ("ed a.txt", "1p\n!git push\n"),
        ("cd x && ed a", "!git push\n"),
        ("sqlite3", ".shell git push\n"),
        ("sqlite3 a.db", ".system git push\n"),
        ("gdb -q", "shell git push\n"),
        ("gdb -q", "!git push\n"),
        ("gnuplot", "!git push\n"),
        ("psql", "\\! git push\n"),
    ] {
        assert_eq!(input(command, text), Some(Verdict::Deny), "{command}: {text}");
    }
    assert!(input("sqlite3", ".sh git push\n") >= Some(Verdict::Ask));
    assert_eq!(input("ed", "1p\n"), None);
    // a line in two parts
    assert!(rules.against_rest("ed", "!git pu", "sh\n").is_some());
    assert_eq!(rules.against_rest("ed", "", "!git push\n"), None);
    assert_eq!(rules.against_rest("ed", "1", "p\n"), None);
    let contained = |rules: Rules, is_contained| {
        let access =
            Access::Input { job: 1, command: "cat".into(), text: "a".into(), is_contained };
        rules.judge(&access).is_contained
    };
    assert!(contained(rules.clone().containing(true), true));
    assert!(!contained(rules.clone().containing(true), false));
    assert!(!contained(rules.containing(false), true));
}

fn wrong(rules: &Rules, list: &str, is_right: impl Fn(Option<Verdict>) -> bool) -> Vec<String> {
    let all = lines(list).into_iter();
    all.filter(|it| !is_right(judged(rules, it).verdict))
        .map(|it| format!("{it:?}: {:?} {:?}", judged(rules, &it), crate::bash::Script::parse(&it)))
        .collect()
}

#[test]
fn commands_that_need_consent_are_not_allowed_even_by_generous_rules() {
    let list = include_str!("../../tests/data/permissions/asks.txt");
    assert!(lines(list).len() >= 300);
    let wrong = wrong(&rules(&generous()), list, |it| it != Some(Verdict::Allow));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_form_of_a_denied_command_slips_through() {
    let denied = ["git push", "rm", "sudo", "npm publish", "git reset --hard"];
    let all: Vec<WrittenRule> = generous().into_iter().chain(denied.map(deny)).collect();
    let list = include_str!("../../tests/data/permissions/denied.txt");
    let wrong = wrong(&rules(&all), list, |it| it == Some(Verdict::Deny));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn everyday_commands_run_without_a_question() {
    let list = include_str!("../../tests/data/permissions/runs.txt");
    assert!(lines(list).len() >= 100);
    let wrong = wrong(&rules(&generous()), list, |it| it == Some(Verdict::Allow));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_list_of_everyday_commands_allows_nothing_that_changes_files_or_runs_others() {
    let root = Path::new("/home/me/project");
    let reach = Reach::new(&Folders { root: root.to_owned(), ..Folders::default() });
    let rules = Rules::new(safe::rules(), root, &reach);
    let list = include_str!("../../tests/data/permissions/safe_asks.txt");
    let wrong_ones = wrong(&rules, list, |it| it.is_none());
    assert!(wrong_ones.is_empty(), "{}", wrong_ones.join("\n"));
    let list = include_str!("../../tests/data/permissions/safe_runs.txt");
    let wrong_ones = wrong(&rules, list, |it| it == Some(Verdict::Allow));
    assert!(wrong_ones.is_empty(), "{}", wrong_ones.join("\n"));
}

#[test]
fn a_rule_that_names_a_risky_argument_allows_no_other_one() {
    let rules = rules(
        &[
            "sed -i",
            "git -C sub",
            "find . -exec",
            "make -f a",
            "uv run",
            "npx",
            "cargo publish",
            "npx eslint",
        ]
        .map(WrittenRule::always),
    );
    let allowed = |it: &str| judged(&rules, it).verdict == Some(Verdict::Allow);
    assert!(
        allowed("uv run pytest -q")
            && allowed("cargo publish --dry-run")
            && allowed("npx eslint x")
    );
    assert!(allowed("sed -i s/a/b/ x") && allowed("git -C sub status") && allowed("make -f a b"));
    for it in [
        "sed -i '1e rm x' a",
        "sed -i -f x a",
        "git -C sub -c core.pager=./x log",
        "git -C sub log --output=x",
        "find . -exec cat {} + -delete",
        "make -f a --eval=x",
        "npx prettier x",
        "cargo login",
    ] {
        assert!(!allowed(it), "{it}");
    }
}

#[expect(clippy::needless_pass_by_value, reason = "a table's row gives its snapshot away")]
fn check(rules: &Rules, command: &str, expect: Expect) {
    let Judgement { verdict, why, always, .. } = judged(rules, command);
    expect.assert_eq(&format!("{verdict:?} | {why} | {always}"));
}

#[test]
fn the_judgement_says_why_a_command_needs_consent() {
    let ask = WrittenRule {
        ask: Some("shell".into()),
        command: Some("cargo publish".into()),
        reason: Some("It cannot be undone.".into()),
        ..WrittenRule::default()
    };
    let all = [
        WrittenRule::always("echo"),
        WrittenRule::always("find"),
        WrittenRule::always("cat"),
        deny("git push"),
        ask,
    ];
    let rules = rules(&all);
    check(&rules, "echo one > x", expect!["None | `echo one` writes to `x`. | "]);
    check(&rules, "echo $HOME", expect!["None | `$HOME` is known only when the command runs. | "]);
    check(&rules, "echo a; ls -la", expect!["None | No permission rule allows `ls -la`. | ls -la"]);
    check(
        &rules,
        "find . -delete",
        expect!["None | `-delete` makes `find` do more than its name says. | "],
    );
    check(
        &rules,
        "cat .env",
        expect!["None | `.env` holds the keys or settings of an environment. | "],
    );
    check(&rules, "cat /etc/hosts", expect!["None | `/etc/hosts` is outside the project. | "]);
    check(
        &rules,
        "cargo publish",
        expect![
            "Some(Ask) | A permission rule asks about `cargo publish`: It cannot be undone. | "
        ],
    );
    check(
        &rules,
        "git push origin",
        expect!["Some(Deny) | A permission rule denies `git push origin`. | "],
    );
    check(&rules, "make", expect!["None |  | make"]);
}

#[test]
fn the_rule_stored_by_always_is_as_narrow_as_possible() {
    let rules = rules(&[]);
    let check = |command: &str, always: &str| {
        assert_eq!(judged(&rules, command).always, always, "{command}");
    };
    check("cargo test --lib foo", "cargo test");
    check("timeout 5 cargo test", "cargo test");
    check("git status -s", "git status");
    check("git commit -m 'a b'", "git commit -m 'a b'");
    check("npm run build -- --fast", "npm run build -- --fast");
    check("ls 'it''s'", "ls its");
    check("pytest -q tests", "pytest");
    check("git --no-pager -C . diff --stat", "git diff");
    check("set -euo pipefail; cargo test --lib", "cargo test");
    check("bash scripts/test.sh --all", "bash scripts/test.sh --all");
    check("python3 -m unittest -v", "python3 -m unittest -v");
    check("node --test", "node --test");
    check("./run-tests", "./run-tests");
    for none in [
        "python x.py",
        "python ../test.py",
        "python -c test.py",
        "node --test --import=./x",
        "bash $x/test.sh",
        "bash -x test.sh",
        "find . -name a",
        "xargs ls",
        "sudo ls",
        "sh -c 'ls'; ls",
        "bash x",
        "echo a > b",
        "ls $HOME",
        "grep '*' x",
        "ls src/*",
        "git -c a=b log",
        "rm x; ls",
        "",
        "ls | cat",
        "docker ps",
    ] {
        check(none, "");
    }
}

#[test]
fn the_rule_stored_by_always_allows_its_command_and_is_read_back_unchanged() {
    let list = include_str!("../../tests/data/permissions/runs.txt");
    let without = rules(&[]);
    let mut count = 0;
    for command in lines(list) {
        let always = judged(&without, &command).always;
        if always.is_empty() {
            continue;
        }
        count += 1;
        let rules = rules(&[WrittenRule::always(&always)]);
        let verdict = judged(&rules, &command).verdict;
        assert_eq!(verdict, Some(Verdict::Allow), "{command}: {always}");
    }
    assert!(count > 50, "{count}");
}

#[test]
fn the_explanation_of_a_command_line_names_each_command_and_its_rule() {
    let rules = rules(&[WrittenRule::always("cargo test"), deny("git push"), deny("rm")]);
    let explained = |line: &str| rules.explain(line).join("\n");
    expect![[r#"
        cargo test --lib: allow shell `cargo test …` (your settings)
        ls: needs your consent. No permission rule allows it.
        git push: deny shell `git push …` (your settings)"#]]
    .assert_eq(&explained("cargo test --lib && ls; git push"));
    expect!["cargo test: allow shell `cargo test …` (your settings)"]
        .assert_eq(&explained("timeout 9 cargo test"));
    let inner = "python3 -c 'print(\"rm\")'";
    expect![[r#"
        python3 -c print("rm"): needs your consent. No permission rule allows it.
        the whole command: needs your consent. A permission rule denies `rm`, which the command may run: it has `python3 … rm` among its words."#]].assert_eq(&explained(inner));
    expect![""].assert_eq(&explained(""));
}

#[test]
fn a_rule_is_shown_in_one_line() {
    let text = "allow = 'shell'\ncommand = \"git commit -m 'a\\nb'\"\nreason = \"one\\n\\n  two.\"";
    let rule = toml(text).rule(Origin::Project).unwrap();
    expect!["allow shell `git commit -m 'a[U+000A]b' …`: one two"].assert_eq(&rule.to_string());
}

fn toml(text: &str) -> WrittenRule {
    toml::from_str(text).unwrap()
}

#[test]
fn an_invalid_rule_is_reported_and_an_invalid_ask_or_deny_rule_makes_every_call_need_consent() {
    let check = |text: &str, why: &str| {
        let (rules, problems) = read(&[toml(text)], Origin::Settings, "here");
        let is_strict = text.contains("deny") || text.contains("ask");
        let rest = if is_strict {
            " Until you correct it, every command, edit and web page needs your consent."
        } else {
            ""
        };
        assert_eq!(problems, [format!("here, rule 1: {why}.{rest}")]);
        assert_eq!(rules.len(), if is_strict { 5 } else { 0 }, "{rules:?}");
        assert!(rules.iter().all(|it| it.verdict == Verdict::Ask), "{rules:?}");
    };
    let one = "give one of `allow`, `ask` and `deny`, such as deny = \"shell\"";
    check("", one);
    check("allow = 'shell'\ndeny = 'shell'", one);
    let tools = "there are rules for shell, edit, fetch and network";
    check("deny = 'shel'", &format!("{tools}, not for `shel`; `shell` is the nearest name"));
    check("allow = 'shell'", "a rule that allows shell needs `command`");
    check("ask = 'shell'\npath = 'x'", "`path` is for rules about edit, not about shell");
    let words =
        "is not a single command with fixed words. Name its first words, such as `git push`";
    check("allow = 'shell'\ncommand = 'a; b'", &format!("command = `a; b` {words}"));
    check("allow = 'shell'\ncommand = '$x'", &format!("command = `$x` {words}"));
    let host = "is not a host. Write `example.org` or `*.example.org`";
    check("allow = 'fetch'\nhost = 'a.org/b'", &format!("host = `a.org/b` {host}"));
    let pattern = "is not a pattern as in a `.gitignore`: name files of the project, such as `/migrations/` or `*.sql`";
    check("deny = 'edit'\npath = '!x'", &format!("path = `!x` {pattern}"));
    let push = "deny = 'shell'\ncommand = 'git push'";
    check(
        &format!("{push}\nmatches = ['git pull']"),
        "the rule does not match `git pull`, which `matches` lists",
    );
    check(
        &format!("{push}\nspares = ['git -C x push']"),
        "the rule matches `git -C x push`, which `spares` lists",
    );
    let right = format!("{push}\nmatches = ['git -C x push']\nspares = ['git pull']");
    assert_eq!(read(&[toml(&right)], Origin::Settings, "here").1, [""; 0]);
}

#[test]
fn rules_about_tools_of_servers_name_a_server_or_its_tools() {
    for (rule, tool, fits) in [
        ("mcp__git", "mcp__git__log", true),
        ("mcp__git", "mcp__github__log", false),
        ("mcp__git__log", "mcp__git__log", true),
        ("mcp__git__log", "mcp__git__logs", false),
        ("mcp__git__get_*", "mcp__git__get_issue", true),
        ("mcp__git__get_*", "mcp__git__set_issue", false),
        ("mcp__git__*_*ue", "mcp__git__get_an_issue", true),
        ("mcp__git__*ab*ab", "mcp__git__ab", false),
        ("mcp__*", "mcp__git__log", true),
        ("mcp__*__delete*", "mcp__git__delete_all", true),
        ("mcp__*__delete*", "mcp__git__log", false),
    ] {
        let rules = rules(&[toml(&format!("deny = '{rule}'"))]);
        let (tool, arguments) = (tool.to_owned(), "{}".to_owned());
        let access = Access::Remote(Remote { name: tool.clone(), arguments, ..Remote::default() });
        let judged = rules.judge(&access);
        assert_eq!(judged.verdict, fits.then_some(Verdict::Deny), "{rule} and {tool}");
        let why = format!("A permission rule denies `{tool}`.");
        assert_eq!(judged.why, if fits { why } else { String::new() });
    }
    for (rule, why) in [
        ("allow = 'mcp__'", "`mcp__` names no tool of a server"),
        ("deny = 'mcp__a b'", "`mcp__a b` names no tool of a server"),
        ("allow = 'mcp__*'", "`mcp__*`: a rule that allows needs the whole name of the server"),
        ("allow = 'mcp__a'\ncommand = 'x'", "`command` is not for rules about tools of servers"),
    ] {
        let problems = read(&[toml(rule)], Origin::Settings, "here").1;
        assert!(problems[0].contains(why), "{problems:?}");
    }
}

#[test]
fn a_projects_rules_allow_calls_only_if_the_user_has_agreed() {
    let check = |text: &str, answer: Option<bool>, expect: Expect| {
        let (rules, problems) = from_project(text, answer);
        let rules: Vec<String> = rules.iter().map(Rule::to_string).collect();
        expect.assert_eq(&format!("{} | {}", rules.join(", "), problems.join(" ")));
    };
    check("", None, expect![" | "]);
    let deny = "[[rule]]\ndeny = 'shell'\ncommand = 'git push'\nreason = 'CI pushes.'\n";
    check(deny, None, expect!["deny shell `git push …`: CI pushes | "]);
    let both = format!("{deny}[[rule]]\nallow = 'shell'\ncommand = 'ls'\n");
    check(
        &both,
        None,
        expect![
            "deny shell `git push …`: CI pushes | .caliban/permissions.toml has rules that allow calls. They are not used until you agree to this text of the file."
        ],
    );
    check(&both, Some(false), expect!["deny shell `git push …`: CI pushes | "]);
    check(&both, Some(true), expect!["deny shell `git push …`: CI pushes, allow shell `ls …` | "]);
    assert_eq!(allowing(&both).len(), 1);
}

#[test]
fn an_unreadable_rules_file_of_a_project_makes_every_call_need_consent() {
    let check = |text: &str, wanted: &str| {
        let (rules, problems) = from_project(text, None);
        let rules: Vec<String> = rules.iter().map(Rule::to_string).collect();
        let why = "the project's rules cannot be read";
        let all = [
            "shell, every command",
            "edit, every file",
            "fetch, every page",
            "network, every host",
            "every tool of a server",
        ];
        assert_eq!(rules, all.map(|it| format!("ask {it}: {why}")));
        assert_eq!(
            problems,
            [format!(
                "{wanted} Until you correct the file, every command, edit and web page needs your consent."
            )]
        );
    };
    let line = ".caliban/permissions.toml, line";
    check("\n[[rule]\n", &format!("{line} 2: unclosed array table, expected `]`."));
    let fields =
        "`allow`, `ask`, `deny`, `command`, `path`, `host`, `group`, `reason`, `matches`, `spares`";
    let unknown = format!("{line} 2: unknown field `denny`, expected one of {fields}.");
    check("[[rule]]\ndenny = 'shell'\n", &unknown);
    check("rule = 5\n", &format!("{line} 1: invalid type: integer `5`, expected a sequence."));
}

#[test]
fn rules_about_files_follow_the_patterns_of_gitignore() {
    let rules = rules(&[
        toml("deny = 'edit'\npath = '/migrations/'"),
        toml("ask = 'edit'\npath = '*.sql'"),
        toml("allow = 'edit'\npath = 'src/**'"),
    ]);
    let against = |path: &str| rules.against_edit(&rules.root.join(path)).map(|it| it.verdict);
    assert_eq!(against("migrations/a/b.txt"), Some(Verdict::Deny));
    assert_eq!(against("Migrations/a.sql"), Some(Verdict::Deny));
    assert_eq!(against("db/A.SQL"), Some(Verdict::Ask));
    assert_eq!(against("src/migrations/a.rs"), None);
    let edits = |paths: &[&str]| {
        let paths = paths.iter().map(|it| (*it).to_owned()).collect();
        rules.judge(&Access::Edit { paths }).verdict
    };
    assert_eq!(edits(&["src/a.rs"]), Some(Verdict::Allow));
    assert_eq!(edits(&["src/a.rs", "b.rs"]), None);
    assert_eq!(edits(&["SRC/a.rs"]), None);
    assert_eq!(edits(&[]), None);
}

proptest! {
    /// A denied command stays denied, whatever words come before it.
    #[test]
    fn a_denied_command_stays_denied_after_any_words(
        before in prop::sample::select(vec!["ls; ", "ls && ", "(ls; ", "if ls; then ", "timeout 5 ", "x=1 ", "echo $(", "! "]),
        word in "[a-z]{1,6}",
        quote in prop::sample::select(vec!["", "'", "\""]),
    ) {
        let rules = rules(&[WrittenRule::always("ls"), deny("rm")]);
        let after = match before {
            "(ls; " | "echo $(" => ")",
            "if ls; then " => "; fi",
            _ => "",
        };
        let command = format!("{before}{quote}rm{quote} {word}{after}");
        prop_assert_eq!(judged(&rules, &command).verdict, Some(Verdict::Deny), "{}", command);
    }

    /// Any text gets a judgement, and a text with anything but allowed words is not allowed.
    #[test]
    fn no_random_text_runs_unless_it_is_made_of_allowed_commands(text in "[ -~\n]{0,40}") {
        let rules = rules(&[WrittenRule::always("ls")]);
        if judged(&rules, &text).verdict == Some(Verdict::Allow) {
            prop_assert!(text.contains("ls"), "{:?}", text);
        }
    }
}
