//! Finds the known word that is most similar to a misspelt one.

/// The known word that needs the fewest edits to become `word`: at most two edits, and fewer than `word` has bytes.
pub fn find<S: AsRef<str>>(word: &str, known: impl IntoIterator<Item = S>) -> Option<S> {
    if word.len() > 64 {
        return None;
    }
    let word = word.to_lowercase();
    let near = known.into_iter().map(|it| (distance(it.as_ref(), &word), it));
    let near = near.filter(|(distance, _)| *distance <= 2 && *distance < word.len());
    near.min_by_key(|(distance, _)| *distance).map(|(_, name)| name)
}

/// The number of edits between two short words (Levenshtein).
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.bytes().enumerate() {
        let mut corner = row[0];
        row[0] = i + 1;
        for (j, y) in b.bytes().enumerate() {
            let cost = corner + usize::from(x != y);
            corner = row[j + 1];
            row[j + 1] = cost.min(corner + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}
