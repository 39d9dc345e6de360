//! Finds the value of a word, if the value is clear from the word's text.

use super::simple::Word;

/// Characters that have no special meaning in a word without quotes.
fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_-./:=@%+,^~#!]".contains(c)
}

/// A part of a word.
pub(super) enum Part {
    /// Text in quotes: it is never a pattern.
    Quoted(String),
    Bare(String),
    /// The folder of the command: `$PWD`.
    Here,
    Open,
}

/// Joins the parts of a word. `source` is the word as it is written.
pub(super) fn joined(parts: Vec<Part>, source: &str) -> Word {
    let (mut value, mut is_pattern, mut is_braced) = (String::new(), false, false);
    let begins_here = matches!(parts.first(), Some(Part::Here));
    for part in parts {
        match part {
            Part::Here if value.is_empty() => value.push('.'),
            Part::Here | Part::Open => return Word::Open(source.to_owned()),
            Part::Quoted(text) => value.push_str(&text),
            Part::Bare(text) => {
                let Some(bare) = bare(&text) else { return Word::Open(source.to_owned()) };
                is_pattern |= bare.is_pattern;
                is_braced |= bare.is_braced;
                value.push_str(&bare.value);
            }
        }
    }
    let is_path = value == "." || value.starts_with("./");
    if begins_here && !is_path || is_braced && is_expanded(&value) {
        return Word::Open(source.to_owned());
    }
    if !is_pattern {
        return Word::Fixed(value);
    }
    // a pattern that names hidden files may stand for `.env`, and one that begins with a dash for an option
    let is_hidden = value.split('/').any(|it| it.starts_with('.') && it != ".");
    let is_clear = !value.starts_with('-') && !is_hidden;
    if is_clear { Word::Glob(value) } else { Word::Open(source.to_owned()) }
}

/// Whether braces in a text may have a meaning for bash: `{a,b}`, `{1..3}`, and `{a}` before a redirection. It leaves
/// `HEAD@{1}` and `{}` as they are.
fn is_expanded(text: &str) -> bool {
    let inner = text.split_once('{').and_then(|(head, rest)| Some((head, rest.rsplit_once('}')?)));
    inner.is_some_and(|(head, (inner, tail))| {
        let is_name = head.is_empty() && tail.is_empty() && !inner.is_empty();
        is_name || inner.contains(',') || inner.contains("..")
    })
}

struct Bare {
    value: String,
    is_pattern: bool,
    is_braced: bool,
}

/// The value of text without quotes, with its backslashes resolved. `None` if a character may have a special meaning.
fn bare(text: &str) -> Option<Bare> {
    let mut bare = Bare { value: String::new(), is_pattern: false, is_braced: false };
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next()? {
                '\n' => (),
                it => bare.value.push(it),
            },
            '*' | '?' | '[' => {
                bare.is_pattern = true;
                bare.value.push(c);
            }
            '{' | '}' => {
                bare.is_braced = true;
                bare.value.push(c);
            }
            it if is_plain(it) => bare.value.push(it),
            _ => return None,
        }
    }
    Some(bare)
}

/// The value of text between double quotes. `None` if the text may have a substitution.
pub(super) fn between_quotes(text: &str) -> Option<String> {
    let plain = text.replace("\\\\", "").replace("\\$", "").replace("\\`", "");
    let is_name = |it: &str| !it.is_empty() && !it.starts_with(' ');
    if plain.contains('`') || plain.split('$').skip(1).any(is_name) {
        return None;
    }
    let mut value = String::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '\\' {
            value.push(c);
            continue;
        }
        match chars.peek() {
            Some('\n') => drop(chars.next()),
            Some(&it @ ('$' | '`' | '"' | '\\')) => {
                chars.next();
                value.push(it);
            }
            _ => value.push('\\'),
        }
    }
    Some(value)
}

/// Makes a word fixed whose only substitution is `$?`, the number with which the last command ended. It stands as `$?`
/// in the value. Only for commands to which each number means the same.
pub(super) fn with_status(word: &mut Word) {
    let Word::Open(source) = word else { return };
    let inner = source.strip_prefix('"').and_then(|it| it.strip_suffix('"'));
    let rest = inner.unwrap_or(source).replace("$?", "");
    let is_known = |c: char| is_plain(c) || inner.is_some() && " ()[]{}<>;'*?&|".contains(c);
    if rest.chars().all(is_known) {
        *word = Word::Fixed(inner.unwrap_or(source).to_owned());
    }
}

/// What a substitution yields that only prints a here-document whose text is taken as it is: `$(cat <<'E' …)`.
pub(super) fn printed(substitution: &str) -> Option<String> {
    // the bash of macOS, 3.2, ends a substitution at a bracket in the here-document
    if cfg!(target_os = "macos") {
        return None;
    }
    let is_blank = [' ', '\t'];
    let inner = substitution.strip_prefix("$(")?.strip_suffix(')')?;
    let (head, rest) = inner.split_once('\n')?;
    let head = head.trim_matches(is_blank).strip_prefix("cat")?.trim_start_matches(is_blank);
    let mark = head.strip_prefix("<<")?.trim_start_matches(is_blank);
    let mark = ['\'', '"'].iter().find_map(|it| mark.strip_prefix(*it)?.strip_suffix(*it))?;
    if mark.is_empty() || !mark.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_') {
        return None;
    }
    let ends = |line: &&str| line.strip_suffix('\n') == Some(mark);
    let before: Vec<&str> = rest.split_inclusive('\n').take_while(|it| !ends(it)).collect();
    let body = before.concat();
    let after = rest[body.len()..].strip_prefix(mark)?;
    after.trim_matches([' ', '\t', '\n']).is_empty().then(|| body.trim_end_matches('\n').to_owned())
}
