//! Three-way merge: combines two texts that were made from the same base. The Lua plugin has its own merge in
//! `hunks/algebra`, which returns edits for a buffer under review. Where both sides have changed the same lines, the
//! plugin's merge keeps the user's lines.

use crate::text::{Hunk, Text, diff_lines};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Merged {
    /// The merged text. In a conflict, this text has the lines of `other`.
    pub text: Text,
    /// The number of places where `own` and `other` changed the same lines in different ways.
    pub conflicts: usize,
}

/// Compares `base` with `other`, and makes the same changes in `own`. Adjacent changes do not conflict. Two different
/// insertions at the same place do.
pub fn merge(base: &Text, own: &Text, other: &Text) -> Merged {
    let [olds, owns, others] = [base, own, other].map(lines);
    let ours = diff_lines(olds.iter().copied(), owns.iter().copied());
    let theirs = diff_lines(olds.iter().copied(), others.iter().copied());
    let (mut ours, mut theirs) = (&ours[..], &theirs[..]);
    let (mut out, mut at, mut conflicts) = (Vec::new(), 0, 0);
    while let Some((from, to, mine, its)) = next(&mut ours, &mut theirs) {
        out.extend_from_slice(&olds[at..from]);
        let (mine, its) = (
            (!mine.is_empty()).then(|| patched(&olds, from, to, mine, &owns)),
            (!its.is_empty()).then(|| patched(&olds, from, to, its, &others)),
        );
        conflicts += usize::from(mine.is_some() && its.is_some() && mine != its);
        out.extend(its.or(mine).unwrap_or_default());
        at = to;
    }
    out.extend_from_slice(&olds[at..]);
    let ends = pick(&base.eol(), own.eol(), other.eol());
    let content = match out.join("\n") {
        text if ends && !out.is_empty() => text + "\n",
        text => text,
    };
    let newline = pick(&base.newline, own.newline, other.newline);
    Merged { text: Text { content, newline, bom: pick(&base.bom, own.bom, other.bom) }, conflicts }
}

fn pick<T: PartialEq>(base: &T, own: T, other: T) -> T {
    if own == *base { other } else { own }
}

/// The lines of a text. An empty text has none.
fn lines(text: &Text) -> Vec<&str> {
    if text.content.is_empty() { Vec::new() } else { text.lines().collect() }
}

/// Takes the next changed range of the base: removes its hunks from both lists, and returns the range and these hunks.
fn next<'a>(
    ours: &mut &'a [Hunk],
    theirs: &mut &'a [Hunk],
) -> Option<(usize, usize, &'a [Hunk], &'a [Hunk])> {
    let place = |it: &Hunk| (it.old.start, it.old.end);
    let first = ours.first().into_iter().chain(theirs.first()).map(place).min()?;
    let (from, mut to) = first;
    let (mut mine, mut its) = (0, 0);
    let meets = |it: &Hunk, to: u32| {
        let (start, end) = place(it);
        start < to || (start, end) == first || start == end && start == to && from == to
    };
    loop {
        if let Some(hunk) = ours.get(mine).filter(|it| meets(it, to)) {
            (mine, to) = (mine + 1, to.max(hunk.old.end));
        } else if let Some(hunk) = theirs.get(its).filter(|it| meets(it, to)) {
            (its, to) = (its + 1, to.max(hunk.old.end));
        } else {
            break;
        }
    }
    let (taken, left) = ours.split_at(mine);
    *ours = left;
    let (taken_too, left) = theirs.split_at(its);
    *theirs = left;
    Some((from as usize, to as usize, taken, taken_too))
}

/// These lines of the base, with one side's changes applied.
fn patched<'a>(
    olds: &[&'a str],
    from: usize,
    to: usize,
    hunks: &[Hunk],
    news: &[&'a str],
) -> Vec<&'a str> {
    let (mut out, mut at) = (Vec::new(), from);
    for hunk in hunks {
        out.extend_from_slice(&olds[at..hunk.old.start as usize]);
        out.extend_from_slice(&news[hunk.new.start as usize..hunk.new.end as usize]);
        at = hunk.old.end as usize;
    }
    out.extend_from_slice(&olds[at..to]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Newline;
    use proptest::prelude::*;

    fn text(words: &str) -> Text {
        Text::new(words.split_whitespace().fold(String::new(), |all, it| all + it + "\n"))
    }

    #[test]
    fn a_merge_has_the_changes_of_both_sides() {
        let cases = [
            // base, own, other, merged, conflicts
            ("a b c", "a b c", "a x c", "a x c", 0),
            ("a b c", "a y c", "a b c", "a y c", 0),
            ("a b c d e", "a mine c d e", "a b c d back", "a mine c d back", 0),
            ("a b c", "a mine c", "a back c", "a back c", 1),
            ("a b c", "a same c", "a same c", "a same c", 0),
            // adjacent changes do not conflict
            ("a b c", "a b mine c", "a back c", "a back mine c", 0),
            ("a b c", "a mine b c", "a back c", "a mine back c", 0),
            ("a b c", "a mine c", "a b back", "a mine back", 0),
            // nobody can say which of two insertions at one place comes first
            ("a b", "a mine b", "a back b", "a back b", 1),
            ("a new1 new2 b", "a new1 mine new2 b", "a b", "a b", 1),
            ("a new1 new2 b", "a new1 new2 mine b", "a b", "a mine b", 0),
            ("a b c d", "d", "a b x d", "a b x d", 1),
            ("", "mine", "", "mine", 0),
            ("a", "", "a", "", 0),
            ("a", "", "b", "b", 1),
        ];
        for (base, own, other, merged, conflicts) in cases {
            let found = merge(&text(base), &text(own), &text(other));
            let words: Vec<&str> = found.text.content.split_whitespace().collect();
            assert_eq!(
                (words.join(" ").as_str(), found.conflicts),
                (merged, conflicts),
                "{base} | {own} | {other}"
            );
        }
    }

    #[test]
    fn line_ends_and_byte_order_marks_are_merged_too() {
        let dos =
            |content: &str| Text { content: content.to_owned(), newline: Newline::Dos, bom: true };
        let unix = Text::new("a\nb\n");
        assert_eq!(merge(&unix, &unix, &dos("a\nb")).text, dos("a\nb"));
        assert_eq!(merge(&dos("a\nb"), &unix, &dos("a\nb")).text, unix);
        assert_eq!(merge(&unix, &dos("a\nb\n"), &Text::new("x\nb\n")).text, dos("x\nb\n"));
    }

    fn any_text() -> impl Strategy<Value = Text> {
        prop::collection::vec("[abc]", 0..8).prop_map(|it| text(&it.join(" ")))
    }

    proptest! {
        #[test]
        fn a_side_without_changes_does_not_affect_the_merge(base in any_text(), other in any_text()) {
            for (own, other) in [(&base, &other), (&other, &base), (&other, &other)] {
                let found = merge(&base, own, other);
                prop_assert_eq!(found.conflicts, 0);
                prop_assert_eq!(&found.text, if *own == base { other } else { own });
            }
        }

        #[test]
        fn a_merge_without_conflicts_is_the_same_with_its_sides_exchanged(
            base in any_text(), own in any_text(), other in any_text()
        ) {
            let (one, two) = (merge(&base, &own, &other), merge(&base, &other, &own));
            prop_assert_eq!(one.conflicts, two.conflicts);
            if one.conflicts == 0 {
                prop_assert_eq!(one.text, two.text);
            }
        }
    }
}
