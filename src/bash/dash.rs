//! Parses a command line in spite of a fault of the parser: it skips a word `-` before a here-document and before a
//! redirection that begins with a number, as in `git commit -F - <<E` and `cat - 2>&1`. Such a word is parsed again as
//! a letter. The tree has the same positions, and the walk over the tree reads all words from the line itself.

use std::ops::Range;
use tree_sitter::Tree;

/// The syntax tree of a line. `None` if the line is too complicated.
pub(super) fn tree(line: &str) -> Option<Tree> {
    let tree = super::tree::tree(line)?;
    let skipped = skipped(line, &leaves(&tree));
    if skipped.is_empty() {
        return Some(tree);
    }
    let mut letters = line.as_bytes().to_vec();
    for at in skipped {
        letters[at] = b'x';
    }
    super::tree::tree(&String::from_utf8(letters).ok()?)
}

/// The ranges of the nodes without children, in the order of the line.
pub(super) fn leaves(tree: &Tree) -> Vec<Range<usize>> {
    let mut leaves = Vec::new();
    let mut cursor = tree.root_node().walk();
    loop {
        if !cursor.goto_first_child() {
            leaves.push(cursor.node().byte_range());
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    return leaves;
                }
            }
        }
    }
}

/// The texts between the leaves, and before and after them.
pub(super) fn gaps<'a>(line: &'a str, leaves: &[Range<usize>]) -> Vec<(usize, &'a str)> {
    let ends = std::iter::once(0).chain(leaves.iter().map(|it| it.end));
    let starts = leaves.iter().map(|it| it.start).chain([line.len()]);
    let gap = |(from, to): (usize, usize)| Some((from, line.get(from..to)?));
    ends.zip(starts).filter_map(gap).collect()
}

/// The positions of the words `-` that are in no leaf, or that the parser has joined to the `<<` behind them.
fn skipped(line: &str, leaves: &[Range<usize>]) -> Vec<usize> {
    let bytes = line.as_bytes();
    let begins_word = |at: usize| at > 0 && matches!(bytes[at - 1], b' ' | b'\t' | b'\n');
    let in_gap = |(from, gap): (usize, &str)| {
        (gap.replace("\\\n", "").trim() == "-").then(|| from + gap.find('-').unwrap_or_default())
    };
    let in_arrow = |it: &Range<usize>| line.get(it.clone())?.starts_with("-<<").then_some(it.start);
    let gaps = gaps(line, leaves).into_iter().filter_map(in_gap);
    gaps.chain(leaves.iter().filter_map(in_arrow)).filter(|at| begins_word(*at)).collect()
}
