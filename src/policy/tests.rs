//! Tests the decision for each kind of access in each mode.

use super::*;
use crate::event::MODES;
use expect_test::{Expect, expect};
use std::sync::LazyLock;

fn guarded(tool: &str, path: &str, is_outside: bool, why: Option<&str>) -> Access {
    let (tool, path) = (tool.to_owned(), path.to_owned());
    let why = why.map(str::to_owned);
    Access::Guarded(Guarded { tool, path, is_outside, why, others: Vec::new() })
}

fn act(command: &str) -> Access {
    Access::Act {
        command: command.into(),
        outside: None,
        background: false,
        hosts: Vec::new(),
        unlocked: Vec::new(),
    }
}

fn input(job: u32, text: &str) -> Access {
    Access::Input { job, command: "psql".into(), text: text.into(), is_contained: true }
}

fn fetch(url: &str, host: &str) -> Access {
    Access::Fetch { url: url.into(), host: host.into() }
}

fn edit() -> Access {
    Access::Edit { paths: vec!["src/a.rs".into(), "b.rs".into()] }
}

/// The decision without rules.
fn decided<'a>(mode: Mode, grants: &[Grant], access: &'a Access) -> Decision<'a> {
    static NONE: LazyLock<Judgement> = LazyLock::new(Judgement::default);
    decide(mode, grants, &NONE, access)
}

#[expect(clippy::needless_pass_by_value, reason = "a table's row gives its snapshot away")]
fn check(mode: Mode, grants: &[Grant], access: &Access, expect: Expect) {
    expect.assert_eq(&format!("{:?}", decided(mode, grants, access)));
}

#[test]
fn a_call_that_only_reads_gets_the_same_decision_in_every_mode() {
    let keys = guarded("read", ".env", false, Some("holds keys"));
    for mode in MODES {
        check(mode, &[], &Access::Read, expect!["Allow"]);
        check(
            mode,
            &[],
            &keys,
            expect![[
                r#"Ask(Read(Guarded { tool: "read", path: ".env", is_outside: false, why: Some("holds keys"), others: [] }))"#
            ]],
        );
        check(mode, &keys.grants(), &keys, expect!["Allow"]);
        check(mode, &[], &Access::Never("no".into()), expect![[r#"Deny(Never("no"))"#]]);
    }
}

#[test]
fn an_edit_is_denied_in_plan_mode_reviewed_in_ask_mode_and_made_in_auto_edit_mode() {
    check(Mode::Plan, &[], &edit(), expect!["Deny(PlanMode)"]);
    check(Mode::Ask, &[], &edit(), expect![[r#"Ask(Review(["src/a.rs", "b.rs"]))"#]]);
    check(Mode::AutoEdit, &[], &edit(), expect!["Allow"]);
}

#[test]
fn a_command_needs_consent_and_is_denied_in_plan_mode() {
    let granted = [Grant::Act("make".into())];
    check(Mode::Plan, &[], &act("make"), expect!["Deny(PlanMode)"]);
    check(Mode::Plan, &granted, &act("make"), expect!["Deny(PlanMode)"]);
    for mode in [Mode::Ask, Mode::AutoEdit] {
        check(
            mode,
            &[],
            &act("make"),
            expect![[
                r#"Ask(Run { command: "make", outside: None, background: false, unlocked: [], judged: Judgement { verdict: None, why: "", is_contained: false, leak: None, always: "", touched: Touched { files: [], removes: false, others: Nothing, folders: [], hosts: [], reaches_more: false }, opens: [], unruled: [] }, is_changed: false })"#
            ]],
        );
        check(mode, &granted, &act("make"), expect!["Allow"]);
    }
}

#[test]
fn fetching_a_page_needs_consent_in_every_mode_until_its_host_is_allowed() {
    let page = fetch("https://a.org/x", "a.org");
    for mode in MODES {
        check(
            mode,
            &[],
            &page,
            expect![[
                r#"Ask(Fetch("https://a.org/x", Judgement { verdict: None, why: "", is_contained: false, leak: None, always: "", touched: Touched { files: [], removes: false, others: Nothing, folders: [], hosts: [], reaches_more: false }, opens: [], unruled: [] }))"#
            ]],
        );
        check(mode, &[Grant::Fetch("a.org".into())], &page, expect!["Allow"]);
        let others = [Grant::Act("a.org".into()), Grant::Fetch("b.org".into())];
        let decision = decided(mode, &others, &page);
        assert!(matches!(decision, Decision::Ask(_)), "{decision:?}");
        let port = fetch("https://a.org:8443/x", "a.org:8443");
        let decision = decided(mode, &[Grant::Fetch("a.org".into())], &port);
        assert!(matches!(decision, Decision::Ask(_)), "{decision:?}");
    }
}

#[test]
fn input_to_a_job_needs_consent_to_its_exact_text_and_is_denied_in_plan_mode() {
    let said = |text: &str| match decided(Mode::Ask, &[], &input(2, text)) {
        Decision::Ask(question) => question.text().unwrap(),
        other => format!("{other:?}"),
    };
    expect![[r#"
        Send `yes` and Enter to job 2, `psql`?
        Send Enter to job 2, `psql`?
        Send `a[U+202E]b[U+0003]` to job 2, `psql`?
        Send this and Enter to job 2, `psql`?
        one
        two"#]]
    .assert_eq(&["yes\n", "\n", "a\u{202e}b\u{3}", "one\ntwo\n"].map(said).join("\n"));
    check(Mode::Plan, &[], &input(2, "yes\n"), expect!["Deny(PlanMode)"]);
    let contained = Judgement { is_contained: true, ..Judgement::default() };
    let text = input(2, "yes\n");
    assert_eq!(decide(Mode::Auto, &[], &contained, &text), Decision::Allow);
    assert!(matches!(decided(Mode::Auto, &[], &text), Decision::Ask(_)));
    // a permission applies to one job
    let grants: Vec<Grant> = input(2, "a").grants();
    assert_eq!(decided(Mode::Ask, &grants, &text), Decision::Allow);
    assert!(matches!(decided(Mode::Ask, &grants, &input(3, "a")), Decision::Ask(_)));
}

#[test]
fn a_permission_allows_only_the_exact_path_command_or_host() {
    let read = guarded("read", "make", true, None);
    let grants: Vec<Grant> = [&read, &act("make")].into_iter().flat_map(Access::grants).collect();
    let asked = [
        guarded("grep", "make", true, None),
        guarded("read", "make2", true, None),
        act("make "),
        act("make all"),
        act(""),
    ];
    for access in asked {
        let decision = decided(Mode::Ask, &grants, &access);
        assert!(matches!(decision, Decision::Ask(_)), "{access:?}: {decision:?}");
        let crossed: Vec<Grant> = match access {
            Access::Act { .. } => grants[..1].to_vec(),
            _ => grants[1..].to_vec(),
        };
        assert_eq!(decided(Mode::Ask, &crossed, &access), decision);
    }
    for mode in MODES {
        let never = Access::Never("make".into());
        assert_eq!(decided(mode, &grants, &never), decided(mode, &[], &never));
        assert_eq!(decided(mode, &grants, &edit()), decided(mode, &[], &edit()));
    }
}

/// A mode never denies or asks about a call that the previous mode allows, and never denies a call that the previous
/// mode asks about.
#[test]
fn each_mode_allows_everything_that_the_previous_one_allows() {
    let rank = |mode, grants: &[Grant], access| match decided(mode, grants, access) {
        Decision::Deny(_) => 0,
        Decision::Ask(_) => 1,
        Decision::Allow => 2,
    };
    let all = [
        Access::Read,
        guarded("read", "a", true, None),
        edit(),
        act("a"),
        input(1, "a"),
        fetch("https://a.org/", "a.org"),
        Access::Never(String::new()),
    ];
    for access in &all {
        let own: Vec<Grant> = access.grants();
        for grants in [&[][..], &own] {
            let ranks = MODES.map(|mode| rank(mode, grants, access));
            assert!(ranks.is_sorted(), "{access:?} with {grants:?}: {ranks:?}");
        }
    }
}

#[test]
fn a_question_names_the_tool_the_path_and_the_whole_command() {
    let check = |access: &Access, wanted: &str| {
        let Decision::Ask(question) = decided(Mode::Ask, &[], access) else { panic!("{access:?}") };
        assert_eq!(question.text().unwrap_or_default(), wanted);
    };
    let keys = Some("holds keys");
    check(&guarded("read", ".env", false, keys), "Let read look at `.env`? It holds keys.");
    check(&guarded("grep", "/etc", true, None), "Let grep look at `/etc`, outside the project?");
    check(
        &guarded("read", "/b/.env", true, keys),
        "Let read look at `/b/.env`, outside the project? It holds keys.",
    );
    check(&fetch("https://a.org/b", "a.org"), "Fetch `https://a.org/b`?");
    check(&act("make\n"), "Run `make`?");
    check(&act("make\nrm \u{202e}x"), "Run this?\nmake\nrm [U+202E]x");
    check(&edit(), "");
}

fn judged(verdict: Verdict) -> Judgement {
    Judgement { verdict: Some(verdict), why: "A rule says so.".into(), ..Judgement::default() }
}

#[test]
fn rules_allow_and_deny_commands_but_plan_mode_denies_all_of_them() {
    let all = [edit(), act("make"), fetch("https://a.org/x", "a.org")];
    for access in &all {
        let grants: Vec<Grant> = access.grants();
        for mode in MODES {
            let denying = judged(Verdict::Deny);
            let decision = decide(mode, &grants, &denying, access);
            assert!(matches!(decision, Decision::Deny(_)), "{access:?}: {decision:?}");
        }
        let allowing = judged(Verdict::Allow);
        assert_eq!(decide(Mode::Ask, &[], &allowing, access), Decision::Allow);
    }
    let allowing = judged(Verdict::Allow);
    for access in &all[..2] {
        let decision = decide(Mode::Plan, &[], &allowing, access);
        assert_eq!(decision, Decision::Deny(Reason::PlanMode));
    }
}

#[test]
fn no_rule_lets_a_protected_file_be_read_without_a_question() {
    let keys = guarded("read", ".env", false, Some("holds keys"));
    let allowing = judged(Verdict::Allow);
    assert!(matches!(decide(Mode::Ask, &[], &allowing, &keys), Decision::Ask(_)));
}

#[test]
fn the_question_about_a_call_names_the_rule_that_asks() {
    let asking = judged(Verdict::Ask);
    let (make, lines) = (act("make"), act("make\nls"));
    let text = |access| match decide(Mode::Ask, &[], &asking, access) {
        Decision::Ask(question) => question.text().unwrap_or_default(),
        decision => panic!("{decision:?}"),
    };
    assert_eq!(text(&make), "Run `make`? A rule says so.");
    assert_eq!(text(&lines), "Run this? A rule says so.\nmake\nls");
}

#[test]
fn auto_mode_runs_sandboxed_commands_unless_a_rule_asks_or_denies() {
    let contained = Judgement { is_contained: true, ..Judgement::default() };
    for mode in [Mode::Ask, Mode::AutoEdit] {
        assert!(matches!(decide(mode, &[], &contained, &act("make")), Decision::Ask(_)));
    }
    assert_eq!(decide(Mode::Auto, &[], &contained, &act("make")), Decision::Allow);
    let make = act("make");
    assert!(matches!(decided(Mode::Auto, &[], &make), Decision::Ask(_)));
    for (verdict, is_asked) in [(Verdict::Ask, true), (Verdict::Deny, false)] {
        let judged = Judgement { is_contained: true, ..judged(verdict) };
        let decision = decide(Mode::Auto, &[], &judged, &make);
        assert_eq!(matches!(decision, Decision::Ask(_)), is_asked, "{decision:?}");
        assert_ne!(decision, Decision::Allow);
    }
}

#[test]
fn in_auto_mode_an_address_that_nobody_has_named_needs_consent() {
    let page = fetch("https://a.org/x", "a.org");
    let grants = [Grant::Fetch("a.org".into())];
    let unnamed = Judgement { leak: Some(Leak::Unnamed), ..judged(Verdict::Allow) };
    assert_eq!(decide(Mode::AutoEdit, &grants, &unnamed, &page), Decision::Allow);
    let Decision::Ask(question) = decide(Mode::Auto, &grants, &unnamed, &page) else { panic!() };
    let text = question.text().unwrap();
    assert!(
        text.contains("Neither you, a page nor a search result has named this address"),
        "{text}"
    );
}

#[test]
fn in_auto_mode_a_command_that_sends_after_a_strangers_text_needs_consent() {
    let push = act("git push");
    let allowed = judged(Verdict::Allow);
    let tainted = Judgement { leak: Some(Leak::Sending), ..allowed.clone() };
    assert_eq!(decide(Mode::Auto, &[], &allowed, &push), Decision::Allow);
    assert_eq!(decide(Mode::AutoEdit, &[], &tainted, &push), Decision::Allow);
    let Decision::Ask(question) = decide(Mode::Auto, &[], &tainted, &push) else { panic!() };
    let text = question.text().unwrap();
    assert!(text.contains("sends something out"), "{text}");
    let granted = [Grant::Act("git push".into())];
    assert_eq!(decide(Mode::Auto, &granted, &tainted, &push), Decision::Allow);
}

#[test]
fn git_that_changes_locked_files_needs_consent_in_every_mode_whatever_the_rules_say() {
    let unlocked = vec!["AGENTS.md".to_owned(), "a\u{202e}\n  `b".to_owned()];
    let access = Access::Act {
        command: "git checkout x".into(),
        outside: None,
        background: false,
        hosts: Vec::new(),
        unlocked,
    };
    let judged =
        Judgement { verdict: Some(Verdict::Allow), is_contained: true, ..Judgement::default() };
    let granted = [Grant::Act("git checkout x".into())];
    for mode in [Mode::Ask, Mode::AutoEdit, Mode::Auto] {
        let Decision::Ask(question) = decide(mode, &granted, &judged, &access) else {
            panic!("{mode}");
        };
        let text = question.text().unwrap();
        assert!(
            text.contains("commands may not change: `AGENTS.md`, `a[U+202E][U+000A]  [U+0060]b`."),
            "{text}"
        );
    }
    let denied = Judgement { verdict: Some(Verdict::Deny), ..judged };
    assert!(matches!(decide(Mode::Auto, &granted, &denied, &access), Decision::Deny(_)));
}

/// What the server says about itself frees nothing: in plan mode a tool that only reads may follow a rule or a permission,
/// every other one asks.
#[test]
fn a_tool_of_a_server_needs_consent_in_every_mode() {
    let called = |only_reads| {
        let (server, tool) = ("git".to_owned(), "log` of `me".to_owned());
        let (name, arguments) = ("mcp__git__log".to_owned(), "{\"of\":\"a\u{202e}b\"}".to_owned());
        Access::Remote(Remote { server, tool, name, arguments, only_reads })
    };
    let granted = [Grant::Remote("mcp__git__log".into())];
    let by_rule = Judgement { verdict: Some(Verdict::Allow), ..Judgement::default() };
    for (mode, only_reads) in MODES.into_iter().flat_map(|it| [(it, false), (it, true)]) {
        let access = called(only_reads);
        let Decision::Ask(question) = decided(mode, &[], &access) else { panic!("{mode}") };
        let text = "Call `log[U+0060] of [U+0060]me` of the server `git`?\n{\"of\":\"a[U+202E]b\"}";
        assert_eq!(question.text().unwrap(), text);
        let is_free = mode != Mode::Plan || only_reads;
        let allows = |it: Decision| it == Decision::Allow;
        assert_eq!(allows(decide(mode, &granted, &Judgement::default(), &access)), is_free);
        assert_eq!(allows(decide(mode, &[], &by_rule, &access)), is_free, "{mode}");
        let tainted = Judgement { leak: Some(Leak::Arguments), ..by_rule.clone() };
        let is_asked = mode == Mode::Auto || !is_free;
        assert_eq!(allows(decide(mode, &[], &tainted, &access)), !is_asked, "{mode}");
        assert_eq!(allows(decide(mode, &granted, &tainted, &access)), is_free, "{mode}");
        let denied = Judgement { verdict: Some(Verdict::Deny), ..Judgement::default() };
        let decision = decide(mode, &granted, &denied, &access);
        assert!(matches!(decision, Decision::Deny(_)), "{mode}: {decision:?}");
    }
}
