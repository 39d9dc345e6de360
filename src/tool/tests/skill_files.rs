//! Tests which folders are skills, and what the model and the user are told about each skill.

use super::*;

fn told(room: &Room) -> String {
    let skills = skills::find(&room.desk);
    let found = skills
        .found
        .iter()
        .map(|it| format!("{}: {} ({})\n", it.name, it.description, room.desk.shown(&it.path)));
    let problems = skills.problems.iter().map(|it| format!("! {it}\n"));
    found.chain(problems).collect()
}

/// Makes a skill in the folder `it` with this text, and compares what the model and the user are told about it.
#[expect(clippy::needless_pass_by_value, reason = "a table's row gives its snapshot away")]
fn check(text: &str, expect: Expect) {
    let room = room();
    room.file(".caliban/skills/it/SKILL.md", text);
    expect.assert_eq(&told(&room));
}

#[test]
fn the_front_matter_of_a_skill_is_read_in_every_style_of_yaml() {
    check(
        "---\nname: it\ndescription: Does it.\n---\nBody",
        expect![[r#"
        it: Does it. (.caliban/skills/it/SKILL.md)
    "#]],
    );
    check(
        "\u{feff}---\r\nname: 'it'\r\ndescription: \"Says \\\"it\\\": well\"\r\nmetadata:\r\n  name: no\r\n---\r\n",
        expect![[r#"
            it: Says "it": well (.caliban/skills/it/SKILL.md)
        "#]],
    );
    check(
        "---\ndescription: >-\n  Does it\n  on two lines.\n\nname: it # so\n---",
        expect![[r#"
        it: Does it on two lines. (.caliban/skills/it/SKILL.md)
    "#]],
    );
    check(
        "---\nname: it\ndescription: plain,\n  and on: it goes\n---\n",
        expect![[r#"
        it: plain, and on: it goes (.caliban/skills/it/SKILL.md)
    "#]],
    );
    check(
        "---\nname: \"it\" # note\ndescription: 'it''s'\n---\n",
        expect![[r#"
        it: it's (.caliban/skills/it/SKILL.md)
    "#]],
    );
}

#[test]
fn a_skill_without_valid_front_matter_is_reported_and_left_out() {
    check(
        "# It\n",
        expect![[r#"
        ! `.caliban/skills/it/SKILL.md` has no front matter between two lines `---`. It was left out.
    "#]],
    );
    check(
        "---\nname: it\n",
        expect![[r#"
        ! `.caliban/skills/it/SKILL.md` has no front matter between two lines `---`. It was left out.
    "#]],
    );
    check(
        "---\nname: it\n---\n",
        expect![[r#"
        ! `.caliban/skills/it/SKILL.md` has no `description` in its front matter. It was left out.
    "#]],
    );
    check(
        "---\nname: it\ndescription:\n---\n",
        expect![[r#"
        ! `.caliban/skills/it/SKILL.md` has no `description` in its front matter. It was left out.
    "#]],
    );
    check(
        "---\ndescription: x\n---\n",
        expect![[r#"
        ! `.caliban/skills/it/SKILL.md` has no `name` in its front matter. It was left out.
    "#]],
    );
    check(
        "---\nname: it\ndescription: \"cut\n---\n",
        expect![[r#"
        ! `.caliban/skills/it/SKILL.md` has front matter that is not YAML (line 3 column 14: unclosed quote). It was left out.
    "#]],
    );
}

#[test]
fn a_wrong_name_or_size_of_a_skill_is_reported() {
    for name in ["It", "../etc", "a--b", "-a", "a b", r#""\x1b[2J""#, "</skills>", "''"] {
        let room = room();
        room.file(
            ".caliban/skills/it/SKILL.md",
            format!("---\nname: {name}\ndescription: x\n---\n"),
        );
        let told = told(&room);
        assert!(told.starts_with("! `.caliban/skills/it/SKILL.md` has the name "), "{told}");
        assert!(!told.contains('\u{1b}'), "{told}");
    }
    check(
        &format!("---\nname: {}\ndescription: x\n---\n", "a".repeat(65)),
        expect![[r#"
            ! `.caliban/skills/it/SKILL.md` has the name "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", but a name has at most 64 characters: lower-case letters, digits, and single hyphens between them. It was left out.
        "#]],
    );
    check(
        &format!("---\nname: it\ndescription: x\n---\n{}", "x\n".repeat(40_000)),
        expect![[r#"
        ! `.caliban/skills/it/SKILL.md` has 79 kB, but a skill may have at most 64: move parts of it into other files. It was left out.
    "#]],
    );
    check(
        "---\nname: other\ndescription: x\u{e0041}\n---\n",
        expect![[r#"
        other: x[U+E0041] (.caliban/skills/it/SKILL.md)
        ! `.caliban/skills/it/SKILL.md` has the name `other`, but its folder has another name. Caliban uses `other`.
    "#]],
    );
}

#[test]
fn a_project_skill_hides_the_users_and_may_not_be_a_link_out_of_the_project() {
    let room = room();
    let text = |name: &str, of: &str| format!("---\nname: {name}\ndescription: {of}\n---\n");
    room.file(".caliban/skills/a/SKILL.md", text("a", "the project's"));
    room.file(".caliban/skills/b/SKILL.md", text("a", "again"));
    room.file("../home/.config/caliban/skills/a/SKILL.md", text("a", "the user's"));
    room.file("../home/.config/caliban/skills/c/SKILL.md", text("c", "the user's"));
    room.file("../outside/SKILL.md", text("d", "elsewhere"));
    let link =
        |to: &str, at: &str| std::os::unix::fs::symlink(to, room.desk.root.join(at)).unwrap();
    link("../../../outside", ".caliban/skills/d");
    link("nowhere", ".caliban/skills/e");
    link("../../../../outside", "../home/.config/caliban/skills/d");
    fs::create_dir(room.desk.root.join(".caliban/skills/empty")).unwrap();
    fs::create_dir_all(room.desk.root.join(".caliban/skills/f/SKILL.md")).unwrap();
    expect![[r#"
        a: the project's (.caliban/skills/a/SKILL.md)
        c: the user's (~/.config/caliban/skills/c/SKILL.md)
        d: elsewhere (~/.config/caliban/skills/d/SKILL.md)
        ! `.caliban/skills/b/SKILL.md` has the same name as another skill, `a`. It was left out.
        ! `.caliban/skills/d/SKILL.md` leads out of the project. It was left out.
        ! `.caliban/skills/f/SKILL.md` is a folder. It was left out.
        ! `~/.config/caliban/skills/a/SKILL.md` has the same name as another skill, `a`. It was left out.
    "#]].assert_eq(&told(&room));
}

/// There are four skill folders in the project and three of the user, the nearer ones first, and a folder that is a
/// symbolic link to another one.
#[test]
fn skills_in_the_folders_of_other_agents_are_found_and_the_first_of_equal_names_is_used() {
    let room = room();
    let text = |name: &str, of: &str| format!("---\nname: {name}\ndescription: {of}\n---\n");
    let folders = [
        ".caliban/skills",
        ".agents/skills",
        ".skills",
        "../home/.config/caliban/skills",
        "../home/.agents/skills",
        "../home/.claude/skills",
    ];
    for (n, folder) in folders.into_iter().enumerate() {
        room.file(&format!("{folder}/own{n}/SKILL.md"), text(&format!("own{n}"), folder));
        room.file(&format!("{folder}/same/SKILL.md"), text("same", folder));
    }
    fs::create_dir(room.desk.root.join(".claude")).unwrap();
    std::os::unix::fs::symlink("../.agents/skills", room.desk.root.join(".claude/skills")).unwrap();
    expect![[r#"
        own0: .caliban/skills (.caliban/skills/own0/SKILL.md)
        same: .caliban/skills (.caliban/skills/same/SKILL.md)
        own1: .agents/skills (.agents/skills/own1/SKILL.md)
        own2: .skills (.skills/own2/SKILL.md)
        own3: ../home/.config/caliban/skills (~/.config/caliban/skills/own3/SKILL.md)
        own4: ../home/.agents/skills (~/.agents/skills/own4/SKILL.md)
        own5: ../home/.claude/skills (~/.claude/skills/own5/SKILL.md)
        ! `.agents/skills/same/SKILL.md` has the same name as another skill, `same`. It was left out.
        ! `.skills/same/SKILL.md` has the same name as another skill, `same`. It was left out.
        ! `~/.config/caliban/skills/same/SKILL.md` has the same name as another skill, `same`. It was left out.
        ! `~/.agents/skills/same/SKILL.md` has the same name as another skill, `same`. It was left out.
        ! `~/.claude/skills/same/SKILL.md` has the same name as another skill, `same`. It was left out.
    "#]]
    .assert_eq(&told(&room));
}

#[test]
fn optional_fields_are_read_as_the_specification_says_and_others_are_ignored() {
    let room = room();
    let front = "name: it\ndescription: |\n  Does it.\n  # no comment\n# a comment\nlicense: MIT\n\
        compatibility: >-\n  Needs git\n  and jq\nmetadata:\n  author: me\n  version: \"1.0\"\n\
        allowed-tools: Bash(git:*) Read\nuser-invocable: [1, {a: b}]\n";
    let text = format!("\u{feff}---\n{front}---\nBody\n").replace('\n', "\r\n");
    room.file(".skills/it/SKILL.md", text);
    room.file(".skills/odd/SKILL.md", "---\nname: odd\ndescription: x\ncompatibility: [1]\n---\n");
    let long = "y".repeat(600);
    let text = format!("---\nname: long\ndescription: x\ncompatibility: {long}\n---\n");
    room.file(".skills/long/SKILL.md", text);
    let skills = skills::find(&room.desk);
    let shown =
        |it: &skills::Skill| format!("{}: {} | {}\n", it.name, it.description, it.compatibility);
    let shown: String = skills.found.iter().map(shown).collect();
    let cut = format!("{}…", "y".repeat(500));
    assert_eq!(
        shown,
        format!("it: Does it. # no comment | Needs git and jq\nlong: x | {cut}\nodd: x | \n")
    );
    assert!(skills.problems.is_empty(), "{:?}", skills.problems);
    assert!(skills.found[0].text(&room.desk).contains("Its requirements: Needs git and jq\n"));
}

#[test]
fn long_descriptions_and_long_lists_of_skills_are_cut() {
    let room = room();
    for n in 10..30 {
        let description = "long ".repeat(220);
        let text = format!("---\nname: s{n}\ndescription: {description}\n---\n");
        room.file(&format!(".caliban/skills/s{n}/SKILL.md"), text);
    }
    let skills = skills::find(&room.desk);
    let (list, more) = skills.list();
    assert_eq!((skills.found.len(), list.lines().count(), more), (20, 7, 13));
    assert_eq!(skills.found[0].description.chars().count(), 1025);
    assert_eq!(
        skills.problems[0],
        "`.caliban/skills/s10/SKILL.md` has a description of more than 1024 characters: it was cut."
    );
}

#[tokio::test]
async fn a_skill_is_loaded_with_the_list_of_its_files() {
    let room = room();
    let text = "---\nname: a\ndescription: x\n---\n\nRun `scripts/x.sh`.\n";
    room.file(".caliban/skills/a/SKILL.md", text);
    room.file(".caliban/skills/a/scripts/x.sh", "");
    room.file(".caliban/skills/a/notes.md", "");
    room.file("../home/.config/caliban/skills/u/SKILL.md", text.replace("name: a", "name: u"));
    room.check(
        "skill",
        &[json!({"name": "a"}), json!({"name": "u"}), json!({"name": "../a"})],
        &expect![[r#"
            > {"name":"a"}
            (3 lines)
            The skill `a`. Paths in the skill are relative to .caliban/skills/a. Other files in its folder: notes.md, scripts/x.sh.

            Run `scripts/x.sh`.
            > {"name":"u"}
            (3 lines)
            The skill `u`. Paths in the skill are relative to ~/.config/caliban/skills/u.

            Run `scripts/x.sh`.
            > {"name":"../a"}
            ! (failed)
            There is no skill `../a`. The skills are: a, u.
        "#]],
    )
    .await;
    let rest = json!({ "path": room.desk.config.join("skills/u/SKILL.md") });
    assert_eq!(access(&room.desk, &call("read", rest)), Access::Read);
    // the user's skills for other agents may be read without consent too; edits of such skills in a project are always
    // reviewed
    room.file("../home/.agents/skills/v/SKILL.md", text.replace("name: a", "name: v"));
    let path = "~/.agents/skills/v/SKILL.md";
    assert_eq!(access(&room.desk, &call("read", json!({ "path": path }))), Access::Read);
    let writing = path::lead(&room.desk, path).unwrap().writing;
    assert!(matches!(writing, Writing::Reviewed(_)), "{writing:?}");
}
