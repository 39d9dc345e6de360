//! Tests which simple commands `Script::parse` finds in a command line, and for which reasons it says that the line may do
//! more than run them.

use super::*;
use expect_test::{Expect, expect};
use proptest::prelude::*;

#[expect(clippy::needless_pass_by_value, reason = "a table's row gives its snapshot away")]
fn check(line: &str, expect: Expect) {
    let script = Script::parse(line);
    let mut said: Vec<String> = Vec::new();
    for it in script.commands.iter().filter(|it| it.is_certain()) {
        let words = it.words.iter().map(|it| match it {
            Word::Fixed(it) => format!("{it:?}"),
            Word::Glob(it) => format!("glob {it}"),
            Word::Open(it) => format!("open {it}"),
        });
        said.push(words.collect::<Vec<_>>().join(" "));
    }
    said.extend(script.doubts.iter().map(|it| format!("? {it}")));
    expect.assert_eq(&said.join("\n"));
}

#[test]
fn quotes_and_escapes_in_words_are_resolved_as_bash_resolves_them() {
    check(r#"a 'b c' "d e" f\ g h"i"'j'"#, expect![[r#""a" "b c" "d e" "f g" "hij""#]]);
    check(r#"a "b\"c\$d\\e\f" '\n' "" ''"#, expect![[r#""a" "b\"c$d\\e\\f" "\\n" "" """#]]);
    check("a x=y -o=z 5 {} src/*.rs", expect![[r#""a" "x=y" "-o=z" "5" "{}" glob src/*.rs"#]]);
    check("a \\\n b", expect![[r#""a" "b""#]]);
    check(
        r#"a "b $ c" "costs 5$""#,
        expect![[r#"
        "a" open "b $ c" "costs 5$"
        ? `"b $ c"` is known only when the command runs"#]],
    );
}

#[test]
fn a_command_line_is_split_into_its_simple_commands() {
    check(
        "a b; c && d || e | f & g",
        expect![[r#"
        "a" "b"
        "c"
        "d"
        "e"
        "f"
        "g""#]],
    );
    check(
        "(a; { b; }) && ! c",
        expect![[r#"
        "a"
        "b"
        "c""#]],
    );
    check("timeout 5 env CI=1 nice -n 3 a b", expect![[r#""a" "b""#]]);
    check(
        "sh -c 'a; bash -c \"b c\"'",
        expect![[r#"
        "a"
        "b" "c""#]],
    );
}

#[test]
fn a_dash_before_a_redirection_is_a_word_of_the_command() {
    check(
        "a b - <<'E' && c\n$x\nE",
        expect![[r#"
        "a" "b" "-"
        "c""#]],
    );
    check(
        "a <<'E' | b | c && d >x\n$x\nE",
        expect![[r#"
        "a"
        "b"
        "c"
        "d"
        ? `b | c && d` writes to `x`"#]],
    );
    check(
        "a - - <<-E | b - 2>&1\nx\n\tE\n",
        expect![[r#"
        "a" "-" "-"
        "b" "-""#]],
    );
    check("a -<<E\nx - <<E\nE", expect![[r#""a" "-""#]]);
    check(
        "- <<E\n- <<F\nE\nb - 3<<F\nF",
        expect![[r#"
        "-"
        "b" "-""#]],
    );
    check("a '- <<' # - <<E", expect![[r#""a" "- <<""#]]);
}

#[test]
fn a_here_document_that_cat_prints_unchanged_is_a_fixed_word() {
    check(
        "a -m \"$(cat <<'E'\nit's $x `b`)\n\n\nE\n)\" && c",
        expect![[r#"
        "a" "-m" "it's $x `b`)"
        "c""#]],
    );
    check("a \"b \\$c $( cat<< \"E\" \nd\nE\n) e\"", expect![[r#""a" "b $c d e""#]]);
    check("a \"$(cat <<'E'\nE\n)\"", expect![[r#""a" """#]]);
    check(
        "a \"$(cat <<E\nb\nE\n)\"",
        expect![[r#"
        "cat"
        "a" open "$(cat <<E
        b
        E
        )"
        ? `"$(cat <<E…` is known only when the command runs"#]],
    );
    check(
        "a \"$(cat <<'E'\nb\nE\nc)\"",
        expect![[r#"
        "cat"
        "c"
        "a" open "$(cat <<'E'
        b
        E
        c)"
        ? `"$(cat <<'E'…` is known only when the command runs"#]],
    );
}

#[test]
fn set_with_strict_options_is_no_doubt_and_the_exit_code_is_fixed_for_echo() {
    check(
        "set -euo pipefail; a; echo \"exit: $?\" $?",
        expect![[r#"
        "a"
        "echo" "exit: $?" "$?""#]],
    );
    check(
        "set -o posix; a $?",
        expect![[r#"
        "set" "-o" "posix"
        "a" open $?
        ? `set -o posix` changes what later commands do
        ? `$?` is known only when the command runs"#]],
    );
}

#[test]
fn a_doubt_quotes_the_part_of_the_command_line_that_causes_it() {
    check(
        "a $x",
        expect![[r#"
        "a" open $x
        ? `$x` is known only when the command runs"#]],
    );
    check(
        "a > b",
        expect![[r#"
        "a"
        ? `a` writes to `b`"#]],
    );
    check(
        "PATH=. a",
        expect![[r#"
        "a"
        ? `PATH=.` sets a variable
        ? `PATH` changes what the names of commands mean"#]],
    );
    check(
        "f() { a; }",
        expect![[r#"
        "a"
        ? `f() { a; }` is more than a list of commands"#]],
    );
    check(
        "a (",
        expect![[r#"
            "a"
            ? The command does not parse as bash
            ? `(` is more than a list of commands"#]],
    );
}

#[test]
fn command_lines_that_are_too_long_or_too_nested_become_doubts() {
    let long = format!("a {}", "b ".repeat(LONGEST));
    assert_eq!(Script::parse(&long).doubts, ["The command is longer than 4000 bytes"]);
    let deep =
        (0..8).fold("rm x".to_owned(), |it, _| format!("sh -c '{}'", it.replace('\'', r"'\''")));
    assert!(!Script::parse(&deep).doubts.is_empty());
    let nested = format!("{}a{}", "(".repeat(3_000), ")".repeat(3_000));
    assert!(Script::parse(&nested).commands.len() <= 1);
}

/// A part of a command line: words with and without quotes, words that have a meaning for bash, for the parser or for
/// Caliban, and separators.
fn part() -> impl Strategy<Value = String> {
    let known = "if then elif else fi do done case esac for in while until select function time coproc declare export local \
                 readonly typeset unset unsetenv let eval test true cd env timeout xargs sh -c sudo git exec printf -v 5 0x1 \
                 -1 1e3 -f -- - + : . .. ~ @ % , / && || | ; |& & ;; ! '' \"\" 'if' \"cd\"";
    let known: Vec<String> = known.split_whitespace().map(str::to_owned).collect();
    prop_oneof![
        4 => "[a-zA-Z0-9_./:@%+,-]{1,5}",
        4 => prop::sample::select(known),
        2 => "'[ -&(-~]{0,4}'",
        2 => "\"[a-z .,%-]{0,4}\"",
        1 => "[\n;|&]{1,2}",
        1 => Just(" ; ".to_owned()),
    ]
}

/// What the parser alone finds in a line, without `plain`.
fn parsed(line: &str) -> Script {
    let mut script = Script { folders: vec![String::new()], ..Script::default() };
    script.parsed(line, 0);
    script
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn the_quick_reader_finds_the_same_commands_as_the_parser(
        parts in prop::collection::vec((part(), "[ \n]|  |"), 1..9),
    ) {
        let line: String = parts.into_iter().map(|(part, gap)| part + &gap).collect();
        prop_assert_eq!(Script::parse(&line), parsed(&line), "{}", line);
    }
}

#[test]
fn each_text_in_nested_programs_is_suspected_once() {
    let nested = (0..4)
        .fold("rm x; ls y".to_owned(), |it, _| format!("watch '{}'", it.replace('\'', r"'\''")));
    let script = Script::parse(&nested);
    let removals = script.commands.iter().filter(|it| it.shown() == "rm x").count();
    assert_eq!(removals, 1);
}

#[test]
fn a_line_of_programs_in_the_arguments_of_each_other_is_given_up_early() {
    for part in ["find . -exec ", "fd -x ", "sudo ", "xargs ", "python -c 'system rm' "] {
        let script = Script::parse(&part.repeat(3_900 / part.len()));
        assert!(script.commands.len() < 4_000, "{part}: {}", script.commands.len());
        assert!(script.programs.len() < 10, "{part}: {}", script.programs.len());
    }
}
