//! Computes the differing lines of long texts piece by piece. The library `imara-diff` counts all lines again after
//! each hunk, so for a long text in one piece the time would grow with the number of hunks times the number of lines.

use imara_diff::{Algorithm, Diff, InternedInput};
use std::ops::Range;

/// A changed place: the lines `old` of one text are replaced by the lines `new` of another text. Lines are counted from
/// 0, ranges are half open, and either range may be empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hunk {
    pub old: Range<u32>,
    pub new: Range<u32>,
}

/// The hunks that turn the lines `old` into the lines `new`.
pub fn diff_lines<'a>(
    old: impl Iterator<Item = &'a str>,
    new: impl Iterator<Item = &'a str>,
) -> Vec<Hunk> {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.collect(), new.collect());
    hunks(&old, &new)
}

/// Texts with fewer lines are compared in one piece.
const LONG: usize = 2_000;
/// The fewest lines of a piece.
const PIECE: usize = 256;

/// The hunks that turn `old` into `new`, in ascending order and never adjacent.
fn hunks(old: &[&str], new: &[&str]) -> Vec<Hunk> {
    if old == new {
        return Vec::new();
    }
    if old.len().max(new.len()) <= LONG {
        return of_piece(old, new);
    }
    hunks_between(old, new, &cuts(old, new, PIECE))
}

/// The hunks of all pieces. The texts are divided into pieces at `cuts`.
fn hunks_between(old: &[&str], new: &[&str], cuts: &[(usize, usize)]) -> Vec<Hunk> {
    let mut hunks = Vec::new();
    let mut from = (0, 0);
    for &to in cuts.iter().chain([&(old.len(), new.len())]) {
        let moved = |span: Range<u32>, by: usize| {
            let by = u32::try_from(by).unwrap_or(u32::MAX);
            span.start.saturating_add(by)..span.end.saturating_add(by)
        };
        let (own, other) = (&old[from.0..to.0], &new[from.1..to.1]);
        if own != other {
            let found = of_piece(own, other).into_iter();
            hunks.extend(
                found.map(|it| Hunk { old: moved(it.old, from.0), new: moved(it.new, from.1) }),
            );
        }
        from = to;
    }
    hunks
}

fn of_piece(old: &[&str], new: &[&str]) -> Vec<Hunk> {
    let mut input = InternedInput::default();
    input.update_before(old.iter().copied());
    input.update_after(new.iter().copied());
    let mut diff = Diff::compute(Algorithm::Histogram, &input);
    diff.postprocess_lines(&input);
    diff.hunks().map(|hunk| Hunk { old: hunk.before, new: hunk.after }).collect()
}

/// Places at which both texts may be cut, at least `piece` lines apart. In both texts, the line above such a place and
/// the line below it are next to each other, and each of them occurs exactly once. So no hunk crosses the place.
fn cuts(old: &[&str], new: &[&str], piece: usize) -> Vec<(usize, usize)> {
    let mut cuts = Vec::new();
    let mut last = (0, 0);
    for pair in longest_ascending(&unique_lines(old, new)).windows(2) {
        let [(old, new), next] = [pair[0], pair[1]];
        let at = (old + 1, new + 1);
        if next == at && at.0 - last.0 >= piece && at.1 - last.1 >= piece {
            cuts.push(at);
            last = at;
        }
    }
    cuts
}

/// The line numbers, in both texts, of the lines that occur exactly once in each text. In the order of the old text.
fn unique_lines(old: &[&str], new: &[&str]) -> Vec<(usize, usize)> {
    let mut input = InternedInput::default();
    input.update_before(old.iter().copied());
    input.update_after(new.iter().copied());
    let count = input.interner.num_tokens() as usize;
    // for each line, how often it occurs, and where it occurs last
    let mut places = [vec![(0_u32, 0); count], vec![(0_u32, 0); count]];
    for (side, tokens) in places.iter_mut().zip([&input.before, &input.after]) {
        for (at, token) in tokens.iter().enumerate() {
            let place = &mut side[token.0 as usize];
            *place = (place.0 + 1, at);
        }
    }
    let pair = |(at, token): (usize, &imara_diff::Token)| {
        let [old, new] = [0, 1].map(|side: usize| places[side][token.0 as usize]);
        (old.0 == 1 && new.0 == 1).then_some((at, new.1))
    };
    input.before.iter().enumerate().filter_map(pair).collect()
}

/// The longest subsequence of these pairs in which both numbers ascend.
fn longest_ascending(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    // `ends`: for each length, the last pair of the run that ends lowest; `before`: for each pair, the pair before it
    // in its run
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(pairs.len());
    for (at, pair) in pairs.iter().enumerate() {
        let length = ends.partition_point(|end| pairs[*end].1 < pair.1);
        before.push(length.checked_sub(1).map(|it| ends[it]));
        if length == ends.len() {
            ends.push(at);
        } else {
            ends[length] = at;
        }
    }
    let mut run = Vec::with_capacity(ends.len());
    let mut at = ends.last().copied();
    while let Some(pair) = at {
        run.push(pairs[pair]);
        at = before[pair];
    }
    run.reverse();
    run
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn lines() -> impl Strategy<Value = Vec<String>> {
        proptest::collection::vec("[a-z]{1,2}", 0..60)
    }

    /// A text, and the same text after some edits.
    fn edited() -> impl Strategy<Value = (Vec<String>, Vec<String>)> {
        let edits = proptest::collection::vec((0_usize..60, 0_usize..3, lines()), 0..6);
        (lines(), edits).prop_map(|(old, edits)| {
            let mut new = old.clone();
            for (at, gone, come) in edits {
                let at = at.min(new.len());
                let end = (at + gone).min(new.len());
                new.splice(at..end, come.into_iter().take(3));
            }
            (old, new)
        })
    }

    fn strs(lines: &[String]) -> Vec<&str> {
        lines.iter().map(String::as_str).collect()
    }

    proptest! {
        #[test]
        fn hunks_found_piece_by_piece_make_the_new_text((old, new) in edited(), piece in 1_usize..8) {
            let (old, new) = (strs(&old), strs(&new));
            let hunks = hunks_between(&old, &new, &cuts(&old, &new, piece));
            let (mut made, mut at): (Vec<&str>, _) = (Vec::new(), 0);
            for it in &hunks {
                made.extend(&old[at..it.old.start as usize]);
                made.extend(&new[it.new.start as usize..it.new.end as usize]);
                at = it.old.end as usize;
            }
            made.extend(&old[at..]);
            prop_assert_eq!(made, new);
            for pair in hunks.windows(2) {
                prop_assert!(pair[0].old.end < pair[1].old.start);
                prop_assert!(pair[0].new.end < pair[1].new.start);
            }
        }

        #[test]
        fn the_longest_ascending_run_ascends_on_both_sides(
            news in Just((0..30).collect::<Vec<usize>>()).prop_shuffle()
        ) {
            let pairs: Vec<_> = news.into_iter().enumerate().collect();
            let run = longest_ascending(&pairs);
            prop_assert!(run.windows(2).all(|it| it[0].0 < it[1].0 && it[0].1 < it[1].1));
        }
    }

    #[test]
    fn a_text_without_moved_lines_is_cut_between_unchanged_lines() {
        let old: Vec<String> = (0..100).map(|it| format!("line {it}")).collect();
        let mut new = old.clone();
        new[10] = "other".to_owned();
        new.insert(50, "more".to_owned());
        let cuts = cuts(&strs(&old), &strs(&new), 30);
        assert_eq!(cuts, [(30, 30), (60, 61), (90, 91)]);
    }
}
