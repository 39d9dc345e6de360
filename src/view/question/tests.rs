//! Tests which rows of a question are shown, and which are hidden in folds.

use super::*;
use expect_test::{Expect, expect};

#[expect(clippy::needless_pass_by_value, reason = "reads better where it is called")]
fn check(question: &str, shown: Expect) {
    let question = Question::new(question, Keys::Call);
    let cut = |it: &String| match it.char_indices().nth(70) {
        Some((at, _)) => format!("{}~{}", &it[..at], it.chars().count()),
        None => it.clone(),
    };
    let lines: Vec<String> = question.lines().iter().map(cut).collect();
    let closed: Vec<u32> = question.closed().collect();
    shown.assert_eq(&format!("{}\nfolds: {closed:?}", lines[..lines.len() - 1].join("\n")));
}

#[test]
fn a_short_question_is_shown_completely() {
    check(
        "Run this?\necho a\n\n# why\n  echo b",
        expect![[r#"
            ? Run this?
              echo a
              
              # why
                echo b
            folds: []"#]],
    );
}

#[test]
fn long_comments_and_runs_of_blanks_in_a_command_are_shown_as_their_size() {
    let comment = format!("Run this?\ncurl x.com | sh; #{}\necho ok", "x".repeat(20_000));
    check(
        &comment,
        expect![[r#"
            ? Run this?
              curl x.com | sh; #xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx~202
            ▸ [19.8k characters that follow a #: <CR> opens]
            ↪xxxxxxxxxxxxxxxxxx
              echo ok
            folds: [2]"#]],
    );
    let blanks =
        format!("Run this?\nrm a{}; rm b{}\nls{}", " ".repeat(500), "\n \t".repeat(60), "\n");
    check(
        &blanks,
        expect![[r#"
            ? Run this?
              rm a[500 blanks]; rm b
              [60 blank lines]
              ls
            folds: []"#]],
    );
    let comments = format!("Run this?\nls\n{}rm x", "# all is well\n".repeat(30));
    check(
        &comments,
        expect![[r#"
            ? Run this?
              ls
            ▸ [30 lines that begin with #, 419 characters: <CR> opens]
              rm x
            folds: [2]"#]],
    );
}

#[test]
fn a_long_line_goes_on_in_the_next_row_at_a_word() {
    let words: Vec<String> = (100..200).map(|n| format!("touch-{n}")).collect();
    let question = Question::new(&format!("Run this?\n{}", words.join(" ")), Keys::Call);
    let lines = question.lines();
    let rows = &lines[1..lines.len() - 1];
    assert!(rows.len() > 4, "{rows:?}");
    for row in rows {
        let of_row = row.trim_start_matches(['↪', ' ']).trim_end();
        assert!(of_row.split(' ').all(|it| words.iter().any(|word| word == it)), "{row}");
    }
}

#[test]
fn a_question_shows_the_first_and_last_lines_of_a_long_command() {
    let lines: Vec<String> = (1..=300).map(|n| format!("echo {n}")).collect();
    let question = Question::new(&format!("Run this?\n{}", lines.join("\n")), Keys::Call);
    let shown = question.lines();
    assert_eq!(shown.len(), HEAD + 1 + TAIL + 1);
    assert_eq!(shown[HEAD - 1], "  echo 19");
    assert_eq!(shown[HEAD], "▸ [269 lines, 2.3k characters: <CR> opens]");
    assert_eq!(shown[HEAD + 1], "  echo 289");
}

#[test]
fn folds_open_in_steps_until_every_row_is_shown() {
    let text: String = (0..3000).map(|n| n.to_string() + &"#".repeat(n % 900) + "\n").collect();
    let mut question = Question::new(&format!("Run this?\n{text}"), Keys::Call);
    let mut opened = 0;
    while let Some(at) = { question.closed().next() } {
        let before = question.lines().len();
        assert!(question.open(at as usize));
        assert!(question.lines().len() < before + STEP + 1);
        opened += 1;
    }
    assert!(opened > 50);
    assert!(!question.open(0) && !question.open(99_999));
    let mut whole = String::new();
    for line in &question.lines()[..question.rows.len()] {
        let goes_on = line.starts_with('↪');
        let text: String = line.chars().skip(if goes_on { 1 } else { 2 }).collect();
        whole.push_str(if goes_on { "" } else { "\n" });
        whole.push_str(&text);
    }
    assert_eq!(whole.trim(), format!("Run this?\n{text}").trim());
}

#[test]
fn a_question_of_a_megabyte_is_shown_in_few_and_short_lines() {
    for text in
        ["x".repeat(1 << 20), "x\n".repeat(1 << 19), "\n".repeat(1 << 20), "# é\n".repeat(1 << 18)]
    {
        let question = Question::new(&format!("Run this?\n{text}"), Keys::Call);
        let lines = question.lines();
        assert!(lines.len() <= MOST + 1 && lines.iter().all(|it| it.len() < 3 * LINE));
    }
}
