//! The change that a call makes in a file, as the user sees it in the chat.

use crate::text::{Hunk, Text, diff_lines, unseen};
use serde::{Deserialize, Serialize};

/// How many lines are shown above and below changed lines.
const AROUND: u32 = 2;
/// The most lines of a file's diff, and the most characters of a line.
const MOST: usize = 400;
const WIDE: usize = 2000;
/// The most bytes that both texts may have together; longer texts are not compared.
const LARGEST: usize = 8 * 1024 * 1024;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileDiff {
    /// The file's path as the user sees it; if the file is renamed, its new path.
    pub path: String,
    #[serde(default, skip_serializing_if = "Kind::is_changed")]
    pub kind: Kind,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hunks: Vec<DiffHunk>,
    /// How many lines are left out at the end.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub more: usize,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    #[default]
    Changed,
    New,
    Deleted,
    /// The file had this path, as the user sees it.
    RenamedFrom(String),
}

/// Changed lines that are near each other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiffHunk {
    /// The number of the first line in the old and in the new text, from 1.
    pub old: u32,
    pub new: u32,
    /// Each line begins with a sign: ` `, `-` or `+`.
    pub lines: Vec<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives the field by reference")]
fn is_zero(n: &usize) -> bool {
    *n == 0
}

impl Kind {
    fn is_changed(&self) -> bool {
        *self == Kind::Changed
    }

    /// What happens to the file, in words; empty if only its text changes.
    pub fn words(&self) -> String {
        match self {
            Kind::Changed => String::new(),
            Kind::New => "new file".to_owned(),
            Kind::Deleted => "deleted".to_owned(),
            Kind::RenamedFrom(path) => format!("renamed from {}", unseen::name(path)),
        }
    }
}

impl FileDiff {
    /// A file that is deleted or renamed.
    pub fn whole(path: String, kind: Kind) -> FileDiff {
        FileDiff { path, kind, hunks: Vec::new(), more: 0 }
    }

    /// The diff from `before`, which is `None` if there was no file, to `after`.
    pub fn between(path: String, before: Option<&Text>, after: &Text) -> FileDiff {
        let kind = if before.is_none() { Kind::New } else { Kind::Changed };
        let mut diff = FileDiff::whole(path, kind);
        if before.map_or(0, |it| it.content.len()) + after.content.len() > LARGEST {
            return diff;
        }
        let old: Vec<&str> = before.into_iter().flat_map(Text::lines).collect();
        let new: Vec<&str> = after.lines().collect();
        let hunks = diff_lines(old.iter().copied(), new.iter().copied());
        let mut room = MOST;
        for group in hunks.chunk_by(|a, b| b.old.start - a.old.end <= 2 * AROUND) {
            let hunk = joined(group, &old, &new);
            let shown = hunk.lines.len().min(room);
            diff.more += hunk.lines.len() - shown;
            room -= shown;
            let lines = hunk.lines.into_iter().take(shown).collect();
            if shown > 0 {
                diff.hunks.push(DiffHunk { lines, ..hunk });
            }
        }
        diff
    }
}

/// Joins neighbouring hunks into one, with the lines between and around them.
fn joined(group: &[Hunk], old: &[&str], new: &[&str]) -> DiffHunk {
    let (first, last) = (&group[0], &group[group.len() - 1]);
    let lead = first.old.start.min(first.new.start).min(AROUND);
    let mut from = first.old.start - lead;
    let (old_first, new_first) = (from + 1, first.new.start - lead + 1);
    let end = (last.old.end + AROUND).min(u32::try_from(old.len()).unwrap_or(u32::MAX));
    let mut lines = Vec::new();
    let mut push = |sign: char, side: &[&str], from: u32, to: u32| {
        let some = side.get(from as usize..to as usize).unwrap_or_default();
        lines.extend(some.iter().map(|it| signed(sign, it)));
    };
    for hunk in group {
        push(' ', old, from, hunk.old.start);
        push('-', old, hunk.old.start, hunk.old.end);
        push('+', new, hunk.new.start, hunk.new.end);
        from = hunk.old.end;
    }
    push(' ', old, from, end);
    DiffHunk { old: old_first, new: new_first, lines }
}

fn signed(sign: char, line: &str) -> String {
    let end = line.char_indices().nth(WIDE).map_or(line.len(), |it| it.0);
    format!("{sign}{}", &line[..end])
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    #[expect(clippy::needless_pass_by_value, reason = "a table's row gives its snapshot away")]
    fn check(before: Option<&str>, after: &str, expected: Expect) {
        let before = before.map(Text::new);
        let diff = FileDiff::between("a".into(), before.as_ref(), &Text::new(after));
        let mut said = diff.kind.words();
        for hunk in &diff.hunks {
            said.push_str(&format!("@{},{}\n{}\n", hunk.old, hunk.new, hunk.lines.join("\n")));
        }
        expected.assert_eq(&said);
    }

    #[test]
    fn a_diff_has_the_changed_lines_with_their_numbers_and_some_lines_around() {
        let nine = "l1\nl2\nl3\nl4\nl5\nl6\nl7\nl8\nl9\n".to_owned();
        check(
            Some(&nine),
            &nine.replace("l2\n", "L2\nL2b\n").replace("l9\n", ""),
            expect![[r#"
                @1,1
                 l1
                -l2
                +L2
                +L2b
                 l3
                 l4
                @7,8
                 l7
                 l8
                -l9
            "#]],
        );
        check(
            Some(&nine),
            &nine.replace("l4", "L4").replace("l7", "L7"),
            expect![[r#"
                @2,2
                 l2
                 l3
                -l4
                +L4
                 l5
                 l6
                -l7
                +L7
                 l8
                 l9
            "#]],
        );
        check(
            None,
            "one\ntwo\n",
            expect![[r#"
                new file@1,1
                +one
                +two
            "#]],
        );
    }

    #[test]
    fn only_the_beginning_of_a_long_diff_is_kept() {
        let after = Text::new("x\n".repeat(1000));
        let diff = FileDiff::between("a".into(), None, &after);
        assert_eq!((diff.hunks[0].lines.len(), diff.more), (400, 600));
    }
}
