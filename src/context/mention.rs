//! Mentions in a prompt: `@path`, `@path:10-40` and `@dir/`. They are found in the text, read through the workspace,
//! and added to the prompt as labelled excerpts. The prompt keeps the path, so that its sentence still reads well.

mod code;

use crate::message::{Excerpt, ExcerptKind};
use crate::reach::{Reach, Reading};
use crate::text::cause;
use crate::tool::{Desk, Unreadable, path, walk};
use std::collections::BTreeSet;

/// The most bytes of a mentioned file that are added to the prompt. Larger files have to be read in parts.
const LIMIT: usize = 256 * 1024;
/// The most entries of a mentioned folder.
const ENTRIES: usize = 500;

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mention {
    pub path: String,
    pub lines: Option<(u32, u32)>,
    pub meant: Meant,
}

/// What an `@` word means if no file has this name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Meant {
    /// The path of a file that is missing.
    Path,
    /// An ordinary word.
    Word,
    /// Something else: a decorator, an address, a number.
    Other,
}

/// The mentions of a text. An `@` counts at the beginning of a word and outside of code. A path with blanks is
/// written `@"a b.rs"`.
pub fn find(text: &str) -> Vec<Mention> {
    let mut found = BTreeSet::new();
    let mut mentions = Vec::new();
    // the end of a quoted path, because an `@` within the quotes belongs to the path
    let mut end = 0;
    let lines = code::Lines::of(text);
    let code = code::spans(&lines);
    for (at, _) in text.match_indices('@') {
        let before = text[..at].chars().next_back();
        if at < end || before.is_some_and(|c| !c.is_whitespace() && !"([{,;\"'".contains(c)) {
            continue;
        }
        let span = code.get(code.partition_point(|it| it.end <= at));
        if span.is_some_and(|it| it.start < at) {
            continue;
        }
        let quoted = text[at + 1..].strip_prefix('"').and_then(|it| it.find('"'));
        end = quoted.map_or(end, |length| at + 2 + length);
        let Some(mut mention) = parse(&text[at + 1..]) else { continue };
        if quoted.is_none() {
            mention.meant = meant(&lines, at, &mention.path);
        }
        if found.insert((mention.path.clone(), mention.lines)) {
            mentions.push(mention);
        }
    }
    mentions
}

fn parse(rest: &str) -> Option<Mention> {
    let (word, rest) = if let Some(quoted) = rest.strip_prefix('"') {
        quoted.split_once('"')?
    } else {
        let end = rest.find(|c: char| c.is_whitespace() || "`\"'<>|()[]{},;".contains(c));
        rest.split_at(end.unwrap_or(rest.len()))
    };
    let word = word.trim_end_matches(['.', '!', '?', ':']);
    let tail = rest.strip_prefix(':').and_then(|it| it.split(char::is_whitespace).next());
    let (path, lines) = match tail.and_then(range) {
        Some(lines) => (word, Some(lines)),
        None => word
            .rsplit_once(':')
            .and_then(|(path, lines)| Some((path, Some(range(lines)?))))
            .unwrap_or((word, None)),
    };
    let (path, meant) = (path.to_owned(), Meant::Path);
    (!path.is_empty()).then_some(Mention { path, lines, meant })
}

/// The meaning of the word behind the `@` at this byte, if the word has no quotes.
fn meant(lines: &code::Lines<'_>, at: usize, word: &str) -> Meant {
    let is_address = word.contains('@') && !word.contains('/');
    let begins = |c: char| c.is_alphabetic() || c == '_';
    if is_address || lines.is_decorator(at, word) {
        Meant::Other
    } else if looks_like_path(word) {
        Meant::Path
    } else if word.trim_start_matches('.').starts_with(begins) {
        Meant::Word
    } else {
        Meant::Other
    }
}

/// A range of lines, `10-40` or `10`, counted from 1.
fn range(text: &str) -> Option<(u32, u32)> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let (first, last) = (first.parse().ok()?, last.parse().ok()?);
    (1 <= first && first <= last).then_some((first, last))
}

/// Whether a word behind an `@` that names no file was probably meant as a path.
pub(super) fn looks_like_path(path: &str) -> bool {
    path.contains('/') || path.starts_with('~') || (path.contains('.') && !path.starts_with('.'))
}

/// The excerpt that a mention adds to the prompt, and a warning for the user before it is sent.
struct Found {
    excerpt: Excerpt,
    warning: Option<String>,
}

/// Reads the files that a prompt mentions. Returns the excerpts and the problems: one sentence for each mention that
/// could not be read, or that the user may not want to send.
pub async fn resolve(desk: &Desk, text: &str) -> (Vec<Excerpt>, Vec<String>) {
    let mut excerpts = Vec::new();
    let mut problems = Vec::new();
    for mention in find(text) {
        match read(desk, &mention).await {
            Ok(Some(found)) => {
                excerpts.push(found.excerpt);
                problems.extend(found.warning);
            }
            Ok(None) => (),
            Err(problem) => problems.push(problem),
        }
    }
    (excerpts, problems)
}

async fn read(desk: &Desk, mention: &Mention) -> Result<Option<Found>, String> {
    let written = &mention.path;
    let led = path::lead(desk, written).map_err(|why| format!("`@{written}`: {why}"))?;
    let absolute = led.path;
    let warning = match led.reading {
        Reading::Free => None,
        Reading::Asked(why) => Some(format!("`@{written}` {why}. Its text would go to the model.")),
        Reading::Never(_) if mention.meant != Meant::Path && !absolute.exists() => {
            return absent(mention);
        }
        Reading::Never(why) => return Err(format!("`@{written}` {why}.")),
    };
    let shown = path::show(&desk.root, &absolute);
    match desk.read(&absolute).await {
        Ok(source) => {
            let mut excerpt = cut(&source.text.content, mention, shown)?;
            let undecided = source.undecided();
            if !undecided.is_empty() && !excerpt.text.ends_with('\n') {
                excerpt.text.push('\n');
            }
            excerpt.text.push_str(&undecided);
            Ok(Some(Found { excerpt, warning }))
        }
        Err(Unreadable::Folder) => {
            let (reach, dir) = (desk.reach.clone(), absolute);
            let listing = tokio::task::spawn_blocking(move || list(&reach, &dir))
                .await
                .map_err(|error| format!("`@{written}`: {}.", cause(&error)))?;
            let excerpt = Excerpt {
                path: format!("{}/", shown.trim_end_matches('/')),
                lines: None,
                filetype: String::new(),
                kind: ExcerptKind::Folder,
                text: listing,
            };
            Ok(Some(Found { excerpt, warning: None }))
        }
        Err(Unreadable::Absent) => absent(mention),
        Err(why) => Err(format!("`@{written}` {}.", why.say())),
    }
}

fn absent(mention: &Mention) -> Result<Option<Found>, String> {
    let written = &mention.path;
    match mention.meant {
        Meant::Path => Err(format!("`@{written}` {}.", Unreadable::Absent.say())),
        Meant::Word => Err(format!("`@{written}` names no file.")),
        Meant::Other => Ok(None),
    }
}

fn cut(content: &str, mention: &Mention, shown: String) -> Result<Excerpt, String> {
    let written = &mention.path;
    let text = match mention.lines {
        None => content.to_owned(),
        Some((first, last)) => {
            let total = content.lines().count();
            if first as usize > total.max(1) {
                return Err(format!(
                    "`@{written}:{first}` is past the end: the file has {total} lines."
                ));
            }
            let n = (last - first + 1) as usize;
            content.lines().skip(first as usize - 1).take(n).collect::<Vec<_>>().join("\n")
        }
    };
    if text.len() > LIMIT {
        return Err(format!(
            "`@{written}` has {} kB; at most {} kB can be sent. Mention a part of it: \
                `@{written}:1-400`.",
            text.len() / 1024,
            LIMIT / 1024
        ));
    }
    Ok(Excerpt {
        path: shown,
        lines: mention.lines,
        filetype: String::new(),
        kind: ExcerptKind::File,
        text,
    })
}

/// The files below a folder, two levels deep, without ignored ones.
fn list(reach: &Reach, dir: &std::path::Path) -> String {
    let walk = walk::walker(reach, dir)
        .require_git(true)
        .max_depth(Some(2))
        .sort_by_file_path(Ord::cmp)
        .build();
    let mut lines: Vec<String> = walk
        .flatten()
        .skip(1)
        .take(ENTRIES + 1)
        .map(|it| {
            let path = it.path().strip_prefix(dir).unwrap_or(it.path()).display().to_string();
            let is_dir = it.file_type().is_some_and(|it| it.is_dir());
            if is_dir { format!("{path}/") } else { path }
        })
        .collect();
    if lines.len() > ENTRIES {
        lines.truncate(ENTRIES);
        lines.push("… and more".into());
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    #[expect(clippy::needless_pass_by_value, reason = "a table's row gives its snapshot away")]
    fn check(text: &str, expect: Expect) {
        let show = |it: Mention| {
            let lines = it.lines.map(|(a, b)| format!(" {a}-{b}")).unwrap_or_default();
            let meant = ["", " word", " other"][it.meant as usize];
            format!("{}{lines}{meant}", it.path)
        };
        let found: Vec<String> = find(text).into_iter().map(show).collect();
        expect.assert_eq(&found.join(" | "));
    }

    #[test]
    fn mentions_are_found_outside_of_code_and_addresses() {
        check("look at @src/a.rs, and @src/b.rs:10-40.", expect!["src/a.rs | src/b.rs 10-40"]);
        check("@dir/ (@a.rs:7) \"@b.rs\"", expect!["dir/ | a.rs 7-7 | b.rs"]);
        check("mail me@example.com or `x@y`", expect![""]);
        check("@\"with blank.rs\":3-4 @~/notes.md", expect!["with blank.rs 3-4 | ~/notes.md"]);
        check("@\"a @b.rs c\" @d.rs \"@e.rs\"", expect!["a @b.rs c | d.rs | e.rs"]);
        check("twice @a.rs @a.rs, ends @a.rs.", expect!["a.rs"]);
        check("@ alone, @: too, backwards @a.rs:9-3", expect!["a.rs:9-3"]);
    }

    /// Reading the whole text for each `@` would take minutes.
    #[test]
    fn very_many_mentions_are_found_in_one_pass() {
        for piece in ["@w\n", "@w ", "(@a", " @a:9-3", " @\"", "`@a "] {
            let text = piece.repeat(400_000);
            assert!(find(&text).len() < 10, "{piece}");
        }
    }

    #[test]
    fn a_missing_path_a_word_and_other_uses_of_at_signs_differ() {
        check(
            "fix @buffer and @diff, ask @someone.",
            expect!["buffer word | diff word | someone word"],
        );
        check(
            "@Makefile:3 @.gitignore @\"TODO list\"",
            expect!["Makefile 3-3 word | .gitignore word | TODO list"],
        );
        check("me@example.com <a@b.c> @me@example.social", expect!["me@example.social other"]);
        check("is @Override or @property right?", expect!["Override other | property other"]);
        check("@app.get(\"/\")\ndef f():", expect!["app.get other"]);
        check("@slow\n@other\nasync def f():", expect!["slow other | other other"]);
        check("@diff\nwhy?", expect!["diff word"]);
        check("at @3 o'clock, git show @~1 @^ @2x", expect!["3 other | ~1 | ^ other | 2x other"]);
        check("use `a @b c` and `@d`, ``@e ` @f``, @g", expect!["g word"]);
        check("```py\n@a\n@b.rs\n```\n@c.rs", expect!["c.rs"]);
        check("```\n@a.rs is read: no fence closes", expect!["a.rs"]);
    }
}
