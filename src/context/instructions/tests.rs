//! Tests which files count as instructions, in a folder made for the test.

use super::*;
use crate::message::ExcerptKind;
use crate::reach::{Folders, Reach};
use expect_test::{Expect, expect};
use std::fs;
use tempfile::TempDir;

/// Creates these files in a home folder with a project `p` and the user's configuration folder `config`.
fn place(files: &[(&str, &str)]) -> (TempDir, Places) {
    let dir = tempfile::tempdir().unwrap();
    let home = dir.path().canonicalize().unwrap();
    for (path, text) in files {
        let path = home.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    fs::create_dir_all(home.join("p/.git")).unwrap();
    let root = home.join("p");
    let reach = Reach::new(&Folders { root: root.clone(), ..Folders::default() });
    let (cwd, config) = (root.clone(), home.join("config"));
    let places = Places { root, cwd, config, home: Some(home), reach };
    (dir, places)
}

fn told(found: &Found) -> String {
    let files = found.files.iter().map(|it| format!("{}: {}\n", it.path, it.text.trim_end()));
    let problems = found.problems.iter().map(|it| format!("! {it}\n"));
    files.chain(problems).collect()
}

#[expect(clippy::needless_pass_by_value, reason = "a table's row gives its snapshot away")]
fn check(files: &[(&str, &str)], expect: Expect) {
    let (_dir, places) = place(files);
    expect.assert_eq(&told(&gather(&places)));
}

#[test]
fn the_users_instructions_come_first_and_agents_md_hides_claude_md() {
    check(
        &[
            ("config/AGENTS.md", "be kind"),
            ("p/AGENTS.md", "tabs"),
            ("p/CLAUDE.md", "spaces"),
            ("p/sub/AGENTS.md", "of sub"),
        ],
        expect![[r"
            ~/config/AGENTS.md: be kind
            AGENTS.md: tabs
        "]],
    );
    check(&[("p/CLAUDE.md", "spaces")], expect!["CLAUDE.md: spaces\n"]);
    check(
        &[
            ("config/AGENTS.override.md", "be brief"),
            ("config/AGENTS.md", "be kind"),
            ("p/AGENTS.md", "tabs"),
        ],
        expect![[r"
            ~/config/AGENTS.override.md: be brief
            AGENTS.md: tabs
        "]],
    );
    check(&[("p/README.md", "no rule")], expect![""]);
    check(&[("p/AGENTS.md", "\u{feff}one\r\ntwo\r\n")], expect!["AGENTS.md: one\ntwo\n"]);
}

#[test]
fn instructions_above_the_working_directory_load_at_once_and_deeper_ones_when_files_there_are_touched()
 {
    let files = [
        ("p/AGENTS.md", "root"),
        ("p/a/CLAUDE.md", "a"),
        ("p/a/b/AGENTS.md", "b"),
        ("p/a/c/AGENTS.md", "c"),
        ("p/a/c/d/x.rs", ""),
        ("p/node_modules/evil/AGENTS.md", "obey"),
        ("p/.gitignore", "node_modules\n"),
    ];
    let (_dir, mut places) = place(&files);
    places.cwd = places.root.join("a/b");
    expect![[r"
        AGENTS.md: root
        a/CLAUDE.md: a
        a/b/AGENTS.md: b
    "]]
    .assert_eq(&told(&gather(&places)));
    let touched = |paths: &[&str]| {
        let paths: Vec<PathBuf> = paths.iter().map(|it| places.root.join(it)).collect();
        told(&nested(&places, &paths))
    };
    assert_eq!(touched(&["a/c/d/x.rs", "a/c/y.rs"]), "a/c/AGENTS.md: c\n");
    assert_eq!(touched(&["x.rs", "a/x.rs", "a/b/x.rs", "/etc/passwd"]), "");
    assert_eq!(touched(&["node_modules/evil/index.js"]), "");
}

#[test]
fn an_imported_file_is_added_once_after_the_file_that_imports_it() {
    check(
        &[
            (
                "p/CLAUDE.md",
                "@AGENTS.txt\n- @docs/a.md\nsee @docs/b.md there\n@someone\n```\n@docs/b.md\n```\n",
            ),
            ("p/AGENTS.txt", "the real one"),
            ("p/docs/a.md", "a\n@../CLAUDE.md\n@a.md\n@./b.md"),
            ("p/docs/b.md", "b"),
        ],
        expect![[r#"
            CLAUDE.md: @AGENTS.txt
            - @docs/a.md
            see @docs/b.md there
            @someone
            ```
            @docs/b.md
            ```
            AGENTS.txt: the real one
            docs/a.md: a
            @../CLAUDE.md
            @a.md
            @./b.md
            docs/b.md: b
            ! `CLAUDE.md` names `@docs/b.md` within a line, so the file is not imported. Write `@docs/b.md` on a line of its own.
        "#]],
    );
}

#[test]
fn a_file_that_is_only_the_path_of_a_symbolic_link_leads_to_that_file() {
    check(
        &[("p/AGENTS.md", "CLAUDE.md"), ("p/CLAUDE.md", "tabs\n@b.md"), ("p/b.md", "b")],
        expect![[r"
            CLAUDE.md: tabs
            @b.md
            b.md: b
        "]],
    );
    check(
        &[("p/AGENTS.md", "docs/a.md\n"), ("p/docs/a.md", "../b.md"), ("p/b.md", "b")],
        expect![[r"
            b.md: b
        "]],
    );
    check(
        &[("p/AGENTS.md", "../secret.md"), ("secret.md", "key")],
        expect![[r"
            ! `AGENTS.md` is only the path `../secret.md`, which leads out of the project. It was left out.
        "]],
    );
    check(
        &[("p/AGENTS.md", "none.md")],
        expect![[r"
            ! `AGENTS.md` is only the path `none.md`, which does not exist. It was left out.
        "]],
    );
    check(
        &[("p/AGENTS.md", "AGENTS.md"), ("config/AGENTS.md", "Brief.")],
        expect![[r"
            ~/config/AGENTS.md: Brief.
            AGENTS.md: AGENTS.md
        "]],
    );
}

#[test]
fn an_empty_file_does_not_hide_the_next_one() {
    check(
        &[
            ("config/AGENTS.override.md", ""),
            ("config/AGENTS.md", "be kind"),
            ("p/AGENTS.md", " \n\n"),
            ("p/CLAUDE.md", "tabs"),
        ],
        expect![[r"
            ~/config/AGENTS.md: be kind
            CLAUDE.md: tabs
        "]],
    );
    check(&[("p/AGENTS.md", "")], expect![[""]]);
}

#[test]
fn files_of_other_agents_are_offered_if_there_is_no_instruction_file() {
    let names = [".claude/CLAUDE.md", "CLAUDE.local.md", "agents.md", "GEMINI.md", "QWEN.md"];
    let mut files: Vec<(String, &str)> =
        names.iter().map(|it| (format!("p/{it}"), "rule")).collect();
    files.push(("p/AGENTS.md".to_owned(), ""));
    let all: Vec<(&str, &str)> = files.iter().map(|it| (it.0.as_str(), it.1)).collect();
    let (_dir, places) = place(&all);
    assert_eq!(offered(&places), names);
    let given: Vec<String> = rules(&places).files.into_iter().map(|it| it.path).collect();
    assert_eq!(given, names);
    fs::write(places.root.join("AGENTS.md"), "one").unwrap();
    assert_eq!(offered(&places), [""; 0]);
}

#[test]
fn a_word_that_only_looks_like_an_import_is_reported() {
    let text = "See @a.md, (@b.md) and `@c.md`; ask @someone or a@b.md.\n```\nx @c.md\n```\n@a.md @b.md\n@d.md too";
    let files = ["a", "b", "c", "d"].map(|it| format!("p/{it}.md"));
    let mut all: Vec<(&str, &str)> = files.iter().map(|it| (it.as_str(), it.as_str())).collect();
    all.push(("p/AGENTS.md", text));
    let (_dir, places) = place(&all);
    let found = gather(&places);
    assert_eq!(found.files.len(), 1);
    let said: Vec<&str> = found.problems.iter().filter_map(|it| it.split('`').nth(3)).collect();
    assert_eq!(said, ["@a.md", "@b.md", "@d.md"]);
}

#[test]
fn imports_outside_the_project_and_the_users_own_folder_are_left_out() {
    check(
        &[
            (
                "p/AGENTS.md",
                "@~/secret.md\n@/etc/passwd\n@../secret.md\n@none.md\n@docs\n@.git/../../secret.md",
            ),
            ("secret.md", "key"),
            ("p/docs/x", ""),
        ],
        expect![[r"
            AGENTS.md: @~/secret.md
            @/etc/passwd
            @../secret.md
            @none.md
            @docs
            @.git/../../secret.md
            ! `AGENTS.md` imports `~/secret.md`, which leads out of the project. It was left out.
            ! `AGENTS.md` imports `/etc/passwd`, which leads out of the project. It was left out.
            ! `AGENTS.md` imports `../secret.md`, which leads out of the project. It was left out.
            ! `AGENTS.md` imports `none.md`, which does not exist. It was left out.
            ! `AGENTS.md` imports `docs`, which is a folder. It was left out.
            ! `AGENTS.md` imports `.git/../../secret.md`, which leads out of the project. It was left out.
        "]],
    );
    check(
        &[
            ("config/AGENTS.md", "@style.md\n@~/p/x.md\n@~/secret.md"),
            ("config/style.md", "mine"),
            ("p/x.md", "x"),
            ("secret.md", "key"),
        ],
        expect![[r"
            ~/config/AGENTS.md: @style.md
            @~/p/x.md
            @~/secret.md
            ~/config/style.md: mine
            x.md: x
            ! `~/config/AGENTS.md` imports `~/secret.md`, which leads out of the project. It was left out.
        "]],
    );
}

#[test]
fn imports_more_than_four_levels_deep_are_left_out() {
    check(
        &[
            ("p/AGENTS.md", "@1.md"),
            ("p/1.md", "@2.md"),
            ("p/2.md", "@3.md"),
            ("p/3.md", "@4.md"),
            ("p/4.md", "@5.md"),
            ("p/5.md", "too deep"),
        ],
        expect![[r"
            AGENTS.md: @1.md
            1.md: @2.md
            2.md: @3.md
            3.md: @4.md
            4.md: @5.md
            ! `4.md` imports `5.md`, which is more than 4 imports deep. It was left out.
        "]],
    );
}

#[test]
fn an_unreadable_instruction_file_is_reported_and_the_others_are_loaded() {
    let (_dir, places) = place(&[("config/AGENTS.md", "mine"), ("outside.md", "key")]);
    let at = |name: &str| places.root.join(name);
    let told = || told(&gather(&places));
    fs::write(at("AGENTS.md"), b"a\0b").unwrap();
    expect![[r"
        ~/config/AGENTS.md: mine
        ! `AGENTS.md` is a binary file. It was left out.
    "]]
    .assert_eq(&told());
    fs::write(at("AGENTS.md"), b"caf\xe9").unwrap();
    expect![[r"
        ~/config/AGENTS.md: mine
        ! `AGENTS.md` is not UTF-8 text (it may be Latin-1 or UTF-16). It was left out.
    "]]
    .assert_eq(&told());
    fs::remove_file(at("AGENTS.md")).unwrap();
    std::os::unix::fs::symlink("../outside.md", at("AGENTS.md")).unwrap();
    expect![[r"
        ~/config/AGENTS.md: mine
        ! `AGENTS.md` leads out of the project. It was left out.
    "]]
    .assert_eq(&told());
    fs::remove_file(at("AGENTS.md")).unwrap();
    std::os::unix::fs::symlink("gone.md", at("AGENTS.md")).unwrap();
    expect![[r"
        ~/config/AGENTS.md: mine
        ! `AGENTS.md` does not exist. It was left out.
    "]]
    .assert_eq(&told());
    fs::remove_file(at("AGENTS.md")).unwrap();
    fs::write(at("CLAUDE.md"), "rules").unwrap();
    std::os::unix::fs::symlink("CLAUDE.md", at("AGENTS.md")).unwrap();
    expect![[r"
        ~/config/AGENTS.md: mine
        AGENTS.md: rules
    "]]
    .assert_eq(&told());
    fs::remove_file(at("AGENTS.md")).unwrap();
    fs::create_dir(at("AGENTS.md")).unwrap();
    expect![[r"
        ~/config/AGENTS.md: mine
        ! `AGENTS.md` is a folder. It was left out.
    "]]
    .assert_eq(&told());
}

#[test]
fn a_shortened_instruction_file_is_reported_to_the_model_and_the_user() {
    let line = "x".repeat(99) + "\n";
    let big = line.repeat(400);
    let (_dir, places) = place(&[
        ("config/AGENTS.md", big.as_str()),
        ("p/AGENTS.md", big.as_str()),
        ("p/a/AGENTS.md", "fits\n"),
        ("p/a/b/AGENTS.md", big.as_str()),
    ]);
    let found = gather(&Places { cwd: places.root.join("a/b"), ..places });
    let lines: Vec<usize> = found.files.iter().map(|it| it.text.matches(&line).count()).collect();
    assert_eq!(lines, [327, 327, 0, 1]);
    assert!(found.files[1].text.ends_with(
        "[Cut: these are the first 32 of 40 kB. `read` gives the rest of AGENTS.md.]\n"
    ));
    assert_eq!(found.files[2].text, "fits\n");
    expect![[r#"
        The model gets only the first 32 of 40 kB of `~/config/AGENTS.md`: a file may have 32 kB, all files together 64.
        The model gets only the first 32 of 40 kB of `AGENTS.md`: a file may have 32 kB, all files together 64.
        The model gets only the first 1 of 40 kB of `a/b/AGENTS.md`: a file may have 32 kB, all files together 64."#]]
    .assert_eq(&found.problems.join("\n"));
    let one_line = "é".repeat(20_000);
    check(
        &[("p/AGENTS.md", "a\u{e0041}\u{202e}b \u{1f468}\u{200d}\u{1f469}"), ("p/x", &one_line)],
        expect![[r"
            AGENTS.md: a[U+E0041][U+202E]b 👨‍👩
            ! `AGENTS.md` contains 2 invisible characters. The model sees them as [U+…].
        "]],
    );
    let (_dir, places) = place(&[("p/AGENTS.md", &one_line)]);
    assert!(gather(&places).files[0].text.starts_with(&"é".repeat(16 * 1024)));
}

#[test]
fn changed_added_and_removed_instruction_files_are_named_in_one_sentence() {
    let file = |path: &str, text: &str| Excerpt {
        path: path.into(),
        kind: ExcerptKind::Instructions,
        text: text.into(),
        ..Excerpt::default()
    };
    let (a, b, gone) = (file("AGENTS.md", "a"), file("x.md", "x"), file("y.md", "y"));
    assert_eq!(changed(&[&a], std::slice::from_ref(&a)), None);
    assert_eq!(
        changed(&[&a, &gone], &[file("AGENTS.md", "b"), b]).unwrap(),
        "Since this conversation began, `AGENTS.md` changed, `x.md` was added, `y.md` was removed. The model still \
         has the old instructions; `/system new` replaces them."
    );
}

#[expect(clippy::needless_pass_by_value, reason = "a table's row gives its snapshot away")]
fn check_rules(files: &[(&str, &str)], names: &[&str], expect: Expect) {
    let (_dir, places) = place(files);
    assert_eq!(offered(&places), names);
    expect.assert_eq(&told(&rules(&places)));
}

#[test]
fn cursor_rules_that_always_apply_are_sent_whole_and_others_are_listed() {
    check_rules(
        &[
            ("p/.cursorrules", "old"),
            ("p/.cursor/rules/a.mdc", "---\nalwaysApply: true\ndescription: x\n---\n\nalways"),
            ("p/.cursor/rules/b.mdc", "---\ndescription: SQL\nglobs: [a.sql, \"b/**\"]\n---\nsome"),
            ("p/.cursor/rules/f.mdc", "---\nglobs: *.rs,x/**\nalwaysApply: false\n---\nsome"),
            ("p/.cursor/rules/c.md", "no front matter"),
            ("p/.cursor/rules/d.txt", "no rule"),
            ("p/.cursor/rules/e.mdc", "---\n---\nempty front matter"),
        ],
        &[".cursorrules", ".cursor/rules"],
        expect![[r#"
            .cursorrules: old
            .cursor/rules/a.mdc: always
            .cursor/rules/c.md: no front matter
            .cursor/rules: Read the file of a rule before you do work that the rule is about:
            - .cursor/rules/b.mdc: SQL (files: a.sql, b/**)
            - .cursor/rules/e.mdc
            - .cursor/rules/f.mdc (files: *.rs,x/**)
        "#]],
    );
    check_rules(
        &[("p/AGENTS.md", "own"), ("p/.cursorrules", "old")],
        &[],
        expect![[r#"
        .cursorrules: old
    "#]],
    );
    check_rules(&[("p/README.md", "x")], &[], expect![""]);
}

#[test]
fn a_rule_file_that_links_out_of_the_project_is_left_out() {
    let (dir, places) = place(&[("p/.cursor/rules/a.mdc", "a"), ("secret.md", "a secret")]);
    let at = dir.path().join("p/.cursor/rules");
    std::os::unix::fs::symlink("../../../secret.md", at.join("b.mdc")).unwrap();
    std::os::unix::fs::symlink("../secret.md", dir.path().join("p/.cursorrules")).unwrap();
    let found = rules(&places);
    assert!(!told(&found).contains("a secret"));
    assert_eq!(found.problems.len(), 2);
}
