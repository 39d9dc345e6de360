//! Numbers as users read them.

/// A number of things: `1 line`, `2 lines`, `0 matches`. `one` is their noun for one of them.
pub fn counted(count: impl TryInto<u64>, one: &str) -> String {
    let count = count.try_into().unwrap_or(u64::MAX);
    format!("{count} {}", noun(count, one))
}

/// The noun for so many things.
pub fn noun(count: u64, one: &str) -> String {
    match one.strip_suffix('y') {
        _ if count == 1 => one.to_owned(),
        Some(stem) if !stem.ends_with(['a', 'e', 'o']) => format!("{stem}ies"),
        _ if one.ends_with("ch") => format!("{one}es"),
        _ => format!("{one}s"),
    }
}

/// `1234567` as `1,234,567`.
pub fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (at, digit) in digits.char_indices() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::counted;

    #[test]
    fn a_noun_after_a_number_is_plural_unless_there_is_one() {
        for (count, one, text) in [
            (0, "line", "0 lines"),
            (1, "line", "1 line"),
            (2, "line", "2 lines"),
            (1, "match", "1 match"),
            (3, "match", "3 matches"),
            (2, "entry", "2 entries"),
            (2, "key", "2 keys"),
        ] {
            assert_eq!(counted(count, one), text);
        }
    }
}
