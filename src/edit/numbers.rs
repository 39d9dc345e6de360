//! Removes line numbers that were copied from the output of `read` or of a search.

/// `old` without the number before each line, and `new` without numbers if it has them. `None` if the numbers are not
/// consecutive, or if only some lines of `new` have them.
pub(super) fn stripped(old: &str, new: &str) -> Option<(String, String)> {
    let bare = |text: &str| -> Vec<Option<(u64, char, String)>> {
        text.strip_suffix('\n').unwrap_or(text).split('\n').map(numbered).collect()
    };
    let lines: Vec<_> = bare(old).into_iter().collect::<Option<_>>()?;
    if lines.windows(2).any(|pair| pair[0].0.checked_add(1) != Some(pair[1].0)) {
        return None;
    }
    let given = bare(new);
    let new = match given.iter().flatten().count() {
        0 => new.to_owned(),
        all if all == given.len() => joined(&given.into_iter().flatten().collect::<Vec<_>>(), new),
        _ => return None,
    };
    Some((joined(&lines, old), new))
}

/// The number before a line, the separator after the number, and the line itself.
fn numbered(line: &str) -> Option<(u64, char, String)> {
    let line = line.trim_start_matches([' ', '\t']);
    let digits = line.find(|c: char| !c.is_ascii_digit()).unwrap_or(line.len());
    let number = line[..digits].parse().ok()?;
    let mut rest = line[digits..].chars();
    let mark = rest.next().filter(|c| "\t:|→".contains(*c))?;
    Some((number, mark, rest.as_str().to_owned()))
}

fn joined(lines: &[(u64, char, String)], given: &str) -> String {
    // in `12: text` the blank is part of the separator, not of the line
    let is_spaced = lines.iter().all(|(_, mark, line)| {
        matches!(mark, ':' | '|') && (line.is_empty() || line.starts_with(' '))
    });
    let bare: Vec<&str> = lines
        .iter()
        .map(|(.., line)| &line[usize::from(is_spaced && !line.is_empty())..])
        .collect();
    let end = if given.ends_with('\n') { "\n" } else { "" };
    bare.join("\n") + end
}
