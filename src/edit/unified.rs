//! Shows the change of a text to a model, as a unified diff.

use crate::text::{Hunk, Text, diff_lines};
use std::fmt::Write;

/// How many lines are shown above and below a change.
const AROUND: u32 = 3;
/// The most characters of a line that are shown.
const WIDE: usize = 300;

/// The diff from `old` to `new` with at most `most` lines, and whether it is complete.
pub fn unified(old: &Text, new: &Text, most: usize) -> (String, bool) {
    let (before, after) = (lines(old), lines(new));
    let mut out = Out { lines: Vec::new(), most, more: 0, is_whole: true };
    walk(&before, &after, &mut |row| match row {
        Row::Head(head) => out.head(&head),
        Row::Lines(mark, lines) => out.push(mark, lines),
    });
    out.end()
}

/// The whole diff from `old` to `new`, without the lines that name the file. With these lines before it, `git apply`
/// accepts the diff.
pub fn whole_diff(old: &str, new: &str) -> String {
    let [before, after] = [old, new].map(|it| it.split_inclusive('\n').collect::<Vec<_>>());
    let mut out = String::new();
    walk(&before, &after, &mut |row| match row {
        Row::Head(head) => out.push_str(&format!("{head}\n")),
        Row::Lines(mark, lines) => {
            for line in lines {
                out.push(mark);
                out.push_str(line);
                if !line.ends_with('\n') {
                    out.push_str("\n\\ No newline at end of file\n");
                }
            }
        }
    });
    out
}

/// A part of a diff.
enum Row<'a> {
    Head(String),
    /// Lines with the same mark: ` `, `-` or `+`.
    Lines(char, &'a [&'a str]),
}

/// Calls `take` with each part of the diff between these lines, from the first hunk to the last.
fn walk(before: &[&str], after: &[&str], take: &mut impl FnMut(Row<'_>)) {
    for group in groups(&diff_lines(before.iter().copied(), after.iter().copied())) {
        let (Some(first), Some(last)) = (group.first(), group.last()) else { continue };
        let lead = first.old.start.min(AROUND);
        let tail = (before.len() - last.old.end as usize).min(AROUND as usize);
        let (from, count) = (first.old.start - lead, last.old.end - first.old.start + lead);
        let (to, size) = (first.new.start - lead, last.new.end - first.new.start + lead);
        let (old, new) = (place(from, count as usize + tail), place(to, size as usize + tail));
        take(Row::Head(format!("@@ -{old} +{new} @@")));
        let mut at = from as usize;
        for hunk in group {
            take(Row::Lines(' ', &before[at..hunk.old.start as usize]));
            take(Row::Lines('-', &before[hunk.old.start as usize..hunk.old.end as usize]));
            take(Row::Lines('+', &after[hunk.new.start as usize..hunk.new.end as usize]));
            at = hunk.old.end as usize;
        }
        take(Row::Lines(' ', &before[at..at + tail]));
    }
}

/// The lines of a text. An empty or missing file has none.
fn lines(text: &Text) -> Vec<&str> {
    if text.content.is_empty() { Vec::new() } else { text.lines().collect() }
}

/// The first line and the number of lines of one side, for the head of a hunk. If the side has no lines, the number of
/// the line before the hunk is given.
fn place(from: u32, count: usize) -> String {
    format!("{},{count}", from + u32::from(count > 0))
}

/// Groups hunks whose surrounding lines touch.
fn groups(hunks: &[Hunk]) -> impl Iterator<Item = &[Hunk]> {
    hunks.chunk_by(|one, next| next.old.start - one.old.end <= 2 * AROUND)
}

struct Out {
    lines: Vec<String>,
    most: usize,
    /// How many changed lines were left out because the diff would be too long.
    more: usize,
    is_whole: bool,
}

impl Out {
    fn head(&mut self, head: &str) {
        if self.lines.len() < self.most {
            self.lines.push(head.to_owned());
        }
    }

    fn push(&mut self, mark: char, lines: &[&str]) {
        for line in lines {
            if self.lines.len() >= self.most {
                self.more += usize::from(mark != ' ');
                continue;
            }
            let mut shown = String::from(mark);
            match line.char_indices().nth(WIDE) {
                Some((end, _)) => {
                    let _ = write!(shown, "{}…", &line[..end]);
                    self.is_whole &= mark == ' ';
                }
                None => shown.push_str(line),
            }
            self.lines.push(shown);
        }
    }

    fn end(mut self) -> (String, bool) {
        if self.more > 0 {
            self.lines.push(format!("… {} more changed lines: read the file", self.more));
        }
        (self.lines.join("\n"), self.is_whole && self.more == 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    #[expect(clippy::needless_pass_by_value, reason = "a table's row gives its snapshot away")]
    fn check(old: &str, new: &str, expected: Expect) {
        let (said, is_whole) = unified(&Text::new(old), &Text::new(new), 12);
        expected.assert_eq(&format!("{said}\nwhole: {is_whole}"));
    }

    fn numbers(last: u32) -> String {
        (1..=last).fold(String::new(), |text, n| text + &format!("{n}\n"))
    }

    #[test]
    fn a_diff_has_the_unified_format() {
        check(
            "1\n2\n3\n4\n5\n6\n7\n8\n9\n",
            "1\n2\n3\n4\nfive\n6\n7\n8\n9\nten\n",
            expect![[r#"
                @@ -2,8 +2,9 @@
                 2
                 3
                 4
                -5
                +five
                 6
                 7
                 8
                 9
                +ten
                whole: true"#]],
        );
        check(
            "",
            "new\n",
            expect![[r#"
            @@ -0,0 +1,1 @@
            +new
            whole: true"#]],
        );
        check(
            "old\nof two\n",
            "",
            expect![[r#"
            @@ -1,2 +0,0 @@
            -old
            -of two
            whole: true"#]],
        );
    }

    #[test]
    fn a_whole_diff_marks_a_missing_newline_at_the_end() {
        expect![[r#"
            @@ -1,2 +1,2 @@
             one
            -two
            \ No newline at end of file
            +two
        "#]]
        .assert_eq(&whole_diff("one\ntwo", "one\ntwo\n"));
        let long = "x".repeat(1000);
        assert_eq!(whole_diff("", &format!("{long}\n")), format!("@@ -0,0 +1,1 @@\n+{long}\n"));
    }

    #[test]
    fn distant_changes_are_separate_hunks() {
        let old = numbers(20);
        let new = old.replace("2\n3\n", "3\n").replace("19\n", "nineteen\n");
        let (said, _) = unified(&Text::new(&*old), &Text::new(new), 100);
        let heads: Vec<&str> = said.lines().filter(|it| it.starts_with("@@")).collect();
        assert_eq!(heads, ["@@ -1,5 +1,4 @@", "@@ -16,5 +15,5 @@"]);
    }

    #[test]
    fn lines_beyond_the_limit_of_a_diff_are_counted() {
        let new = numbers(30);
        check(
            "x\n",
            &new,
            expect![[r#"
            @@ -1,1 +1,30 @@
            -x
            +1
            +2
            +3
            +4
            +5
            +6
            +7
            +8
            +9
            +10
            … 20 more changed lines: read the file
            whole: false"#]],
        );
        let (said, is_whole) = unified(&Text::new("x\n"), &Text::new("ä".repeat(500)), 12);
        assert!(said.ends_with('…') && !is_whole, "{said}");
    }
}
