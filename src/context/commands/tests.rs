//! Tests which files are commands, and how arguments are put into their texts.

use super::*;
use crate::tool::tests::{Room, room};
use expect_test::{Expect, expect};
use rustix::fs::{CWD, Mode, mkfifoat};
use std::fs;
use std::os::unix::fs::symlink;

fn told(room: &Room) -> String {
    let Commands { found, problems } = find(&room.desk);
    let found = found.iter().map(|it| format!("{}\n", it.help(&room.desk)));
    found.chain(problems.iter().map(|it| format!("! {it}\n"))).collect()
}

#[test]
fn the_name_of_a_project_or_user_command_includes_its_subfolders() {
    let room = room();
    room.file(".caliban/commands/fix.md", "---\ndescription: Fixes\n---\nDo.");
    room.file(".caliban/commands/git/log/long.md", "# Shows the log\n\nAll of it.");
    room.file(".caliban/commands/notes.txt", "no command");
    room.file(".claude/commands/fix.md", "another");
    room.file(".claude/commands/help.md", "mine");
    room.file("../home/.config/caliban/commands/fix.md", "hidden");
    room.file("../home/.config/caliban/commands/own.md", "---\nargument-hint: [a] [b]\n---\nOwn.");
    room.file(
        "../home/.claude/commands/last.md",
        "\u{feff}---\r\ndescription: >\r\n  Two\r\n  lines\r\n---\r\nIt.",
    );
    expect![[r"
        /fix  Fixes (.caliban/commands/fix.md)
        /git:log:long  Shows the log (.caliban/commands/git/log/long.md)
        /own [a] [b]  Own. (~/.config/caliban/commands/own.md)
        /last  Two lines (~/.claude/commands/last.md)
        ! `.claude/commands/fix.md` has the same name as another command, /fix. It was left out.
        ! `.claude/commands/help.md` has the name of the built-in command /help. It was left out.
        ! `~/.config/caliban/commands/fix.md` has the same name as another command, /fix. It was left out.
    "]]
    .assert_eq(&told(&room));
}

#[test]
fn files_that_are_not_valid_commands_are_reported_and_left_out() {
    let room = room();
    let at = |name: &str| room.desk.root.join(".caliban/commands").join(name);
    room.file(".caliban/commands/empty.md", "---\ndescription: x\n---\n\n");
    room.file(".caliban/commands/yaml.md", "---\ndescription: \"x\n---\nDo.");
    room.file(".caliban/commands/large.md", "x".repeat(1 << 20));
    room.file(".caliban/commands/binary.md", b"\0\x01");
    room.file(".caliban/commands/two words.md", "Do.");
    room.file(".caliban/commands/$(touch x)\n`.md", "Do.");
    room.file(".caliban/commands/.hidden.md", "Do.");
    room.file(".caliban/commands/tags.md", "Do.\u{e0041}\u{200b}");
    room.file("../home/secret.md", "a secret");
    room.file("../home/folder/more.md", "a secret");
    symlink(room.desk.root.join("../home/secret.md"), at("out.md")).unwrap();
    symlink(room.desk.root.join("../home/folder"), at("outside")).unwrap();
    symlink("gone", at("broken.md")).unwrap();
    symlink(".", at("circle")).unwrap();
    mkfifoat(CWD, at("pipe.md"), Mode::RUSR | Mode::WUSR).unwrap();
    expect![[r"
        /tags  Do.[U+E0041][U+200B] (.caliban/commands/tags.md)
        ! `.caliban/commands/$(touch x)\n`.md` is not a command: the names of a command's file and folders have only letters from a to z, digits, - and _. It was left out.
        ! `.caliban/commands/outside` leads out of the project. It was left out.
        ! `.caliban/commands/two words.md` is not a command: the names of a command's file and folders have only letters from a to z, digits, - and _. It was left out.
        ! `.caliban/commands/binary.md` is a binary file. It was left out.
        ! `.caliban/commands/broken.md` is a broken link. It was left out.
        ! `.caliban/commands/empty.md` has no text. It was left out.
        ! `.caliban/commands/large.md` has 1024 kB, but a command may have at most 64: move parts of it into other files. It was left out.
        ! `.caliban/commands/out.md` leads out of the project. It was left out.
        ! `.caliban/commands/pipe.md` cannot be read: it is a device, a pipe or a socket. It was left out.
        ! `.caliban/commands/tags.md` contains 2 invisible characters. The model sees them as [U+…].
        ! `.caliban/commands/yaml.md` has front matter that is not YAML (line 2 column 14: unclosed quote). It was left out.
    "]]
    .assert_eq(&told(&room));
    let refused = get(&room.desk, "pipe").unwrap_err();
    assert!(refused.starts_with("`.caliban/commands/pipe.md` "), "{refused}");
    assert_eq!(get(&room.desk, "hidden"), Ok(None));
}

#[test]
fn the_users_command_folder_may_be_a_symbolic_link() {
    let room = room();
    room.file("../dots/tidy.md", "Tidy.");
    fs::create_dir_all(room.desk.config.parent().unwrap()).unwrap();
    fs::create_dir_all(&room.desk.config).unwrap();
    symlink(room.desk.root.join("../dots"), room.desk.config.join("commands")).unwrap();
    assert_eq!(told(&room), "/tidy  Tidy. (~/.config/caliban/commands/tidy.md)\n");
}

#[test]
fn command_files_beyond_the_depth_or_number_limit_are_left_out() {
    let room = room();
    room.file(".caliban/commands/a/b/c/d/e.md", "deep");
    room.file(".caliban/commands/a/b/c/d/e/f.md", "too deep");
    for n in 0..600 {
        room.file(&format!(".claude/commands/x{n}.md"), "x");
    }
    let Commands { found, problems } = find(&room.desk);
    assert_eq!(found.len(), FILES);
    assert_eq!(found[0].name, "a:b:c:d:e");
    assert_eq!(problems, ["There are more than 500 commands. The others were left out."]);
}

#[expect(clippy::needless_pass_by_value, reason = "a table's row gives its snapshot away")]
fn check(body: &str, arguments: &str, expect: Expect) {
    let room = room();
    room.file(".caliban/commands/it.md", body);
    let command = get(&room.desk, "it").unwrap().unwrap();
    expect.assert_eq(&command.expand(arguments).unwrap());
}

#[test]
fn placeholders_in_a_commands_arguments_are_not_replaced() {
    check("Fix $ARGUMENTS now.", "12 \"a b\"", expect![[r#"Fix 12 "a b" now."#]]);
    check("$1, $2 and $3|", "12 \"a b\"", expect!["12, a b and |"]);
    check("$1 $ARGUMENTS", "$2 $ARGUMENTS", expect!["$2 $2 $ARGUMENTS"]);
    check("$10 ${1} $0 $x $ARGUMENTSx $ $$1", "a", expect!["$10 ${1} $0 $x $ARGUMENTSx $ $a"]);
    check("$1|$2", "don't 'it is'", expect!["don't|it is"]);
    check("Costs $1.2M, $1,000 or \\$1; $1.", "a", expect!["Costs $1.2M, $1,000 or $1; a."]);
    check("awk '{print $1}' $1 ${2} {$2}", "a b", expect!["awk '{print $1}' a ${2} {$2}"]);
    check(
        "$1\n```sh\necho $1 \\$x $ARGUMENTS\n```\n$1",
        "a",
        expect!["a\n```sh\necho $1 \\$x a\n```\na"],
    );
    check("~~~\n```\n$1\n~~~\n$1", "a", expect!["~~~\n```\n$1\n~~~\na"]);
    check("Do \\$ARGUMENTS.", "", expect!["Do $ARGUMENTS."]);
    check("Do it.", "12 \"a b\"", expect!["Do it.\n\nARGUMENTS: 12 \"a b\""]);
    check("awk '{print $1}'", "$2", expect!["awk '{print $1}'\n\nARGUMENTS: $2"]);
    check("Do $3.", "a", expect!["Do ."]);
    check("--- no front matter\n$1", "é", expect!["--- no front matter\né"]);
    check("---\nmodel: x\nallowed-tools: Bash(git add:*), Read\n---\nDo.", "", expect!["Do."]);
}

#[test]
fn arguments_that_make_a_commands_text_too_long_are_refused() {
    let room = room();
    room.file(".caliban/commands/it.md", "$ARGUMENTS ".repeat(5000));
    let command = get(&room.desk, "it").unwrap().unwrap();
    let why = command.expand(&"x".repeat(10_000)).unwrap_err();
    assert_eq!(why, "With these arguments the text of /it has more than 256 kB.");
}

#[test]
fn the_model_in_a_commands_front_matter_is_read() {
    let room = room();
    let model = |front: &str| {
        room.file(".caliban/commands/it.md", format!("---\n{front}\n---\nDo."));
        get(&room.desk, "it").unwrap().unwrap().model
    };
    assert_eq!(model("model: openai/gpt-5 # fast"), Some("openai/gpt-5".to_owned()));
    assert_eq!(model("model: inherit"), None);
    assert_eq!(model("model: [a]"), None);
}
