//! Mentions in a prompt: `@path`, `@path:10-40`, `@dir/`, `@https://…`, and keywords such as `@buffer`. They are found
//! in the text, read through the workspace or the web, and added to the prompt as labelled excerpts. The mention stays
//! in the prompt's text too, so that the sentence still reads well.

mod code;
mod keyword;
mod page;
mod quote;
mod symbol;
#[cfg(test)]
mod tests;

pub use keyword::{Keyword, Row, TABLE};
pub use quote::{spell, write};
pub use symbol::{SYMBOL, offered as symbols};

use crate::message::{Excerpt, ExcerptKind};
use crate::reach::{Reach, Reading};
use crate::regular::direct;
use crate::text::cause;
use crate::tool::image::{self, Loaded};
use crate::tool::pdf;
use crate::tool::{Desk, Unreadable, path, walk};
use futures::{StreamExt, stream};
use std::collections::BTreeSet;

/// The most bytes of a mentioned file that are added to the prompt. Larger files have to be read in parts.
const LIMIT: usize = 256 * 1024;
/// The most entries of a mentioned folder.
const ENTRIES: usize = 500;
/// How many mentions are read at the same time.
const READERS: usize = 4;

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mention {
    /// The mention as the user wrote it, with its `@`.
    pub written: String,
    pub path: String,
    pub lines: Option<(u32, u32)>,
    pub meant: Meant,
}

impl Mention {
    fn of(path: String, lines: Option<(u32, u32)>) -> Mention {
        Mention { written: String::new(), path, lines, meant: Meant::Path }
    }
}

/// The meaning of a word after an `@` if no file has this name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Meant {
    /// The path of a file that does not exist.
    Path,
    /// A keyword, even if there is a file with this name.
    Keyword(Keyword),
    /// A symbol of the project's code.
    Symbol,
    /// An address of the web.
    Page,
    /// An ordinary word, which may also be the name of a file.
    Word,
    /// Not a mention: a decorator, a mail address, a number.
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
        if at < end || !begins_word(&text[..at]) {
            continue;
        }
        let span = code.get(code.partition_point(|it| it.end <= at));
        if span.is_some_and(|it| it.start < at) {
            continue;
        }
        let quoted = text[at + 1..].strip_prefix('"').and_then(quote::read);
        end = quoted.as_ref().map_or(end, |(_, length)| at + 2 + length);
        let mention = match quoted {
            Some((path, length)) => {
                in_quotes(path, &text[at + 2 + length..]).map(|(it, more)| (it, 1 + length + more))
            }
            None => bare(&text[at + 1..])
                .map(|(it, length)| (Mention { meant: meant(&lines, at, &it), ..it }, length)),
        };
        let Some((mention, length)) = mention else { continue };
        if found.insert((mention.path.clone(), mention.lines)) {
            let written = text[at..at + 1 + length].to_owned();
            mentions.push(Mention { written, ..mention });
        }
    }
    mentions
}

/// The mention that is still being written at the end of `line`: the byte of its `@`, and its path so far.
pub fn open(line: &str) -> Option<(usize, String)> {
    let at = line.match_indices('@').map(|(at, _)| at).filter(|at| begins_word(&line[..*at]));
    let mut end = 0;
    let mut open = None;
    for at in at {
        if at < end {
            continue;
        }
        let rest = &line[at + 1..];
        open = match rest.strip_prefix('"') {
            Some(quoted) => match quote::read(quoted) {
                Some((_, length)) => {
                    end = at + 2 + length;
                    None
                }
                None => {
                    return Some((at, quote::read_open(quoted)?)).filter(|_| !in_code(line, at));
                }
            },
            None if rest.contains(|c: char| c.is_whitespace() || quote::ENDS.contains(c)) => None,
            None => Some((at, rest.to_owned())),
        };
    }
    open.filter(|(at, _)| !in_code(line, *at))
}

/// Whether this byte is in inline code: an odd number of backticks is before it.
fn in_code(line: &str, at: usize) -> bool {
    line[..at].matches('`').count() % 2 == 1
}

/// Whether an `@` after this text is at the beginning of a word.
fn begins_word(before: &str) -> bool {
    before.chars().next_back().is_none_or(|c| c.is_whitespace() || "([{,;\"'".contains(c))
}

/// A mention whose path is in quotes, and the number of bytes of its range of lines. `rest` is the text after the
/// closing quote.
fn in_quotes(path: String, rest: &str) -> Option<(Mention, usize)> {
    let lines = rest.strip_prefix(':').and_then(|it| {
        let end = it.find(|c: char| !(c.is_ascii_digit() || c == '-'));
        let lines = it.split_at(end.unwrap_or(it.len())).0.trim_end_matches('-');
        Some((range(lines)?, 1 + lines.len()))
    });
    let length = lines.map_or(0, |it| it.1);
    if page::is_address(&path) {
        return Some((Mention { meant: Meant::Page, ..Mention::of(path, None) }, 0));
    }
    (!path.is_empty()).then_some((Mention::of(path, lines.map(|it| it.0)), length))
}

/// A mention whose path is not in quotes, and its number of bytes. `rest` is the text after the `@`.
fn bare(rest: &str) -> Option<(Mention, usize)> {
    if page::is_address(rest) {
        let length = page::length(rest);
        let mention = Mention::of(rest[..length].to_owned(), None);
        return Some((Mention { meant: Meant::Page, ..mention }, length));
    }
    let end = rest.find(|c: char| c.is_whitespace() || quote::ENDS.contains(c));
    let word = rest[..end.unwrap_or(rest.len())].trim_end_matches(quote::TRAILING);
    let (path, lines) = word
        .rsplit_once(':')
        .and_then(|(path, lines)| Some((path, Some(range(lines)?))))
        .unwrap_or((word, None));
    (!path.is_empty()).then_some((Mention::of(path.to_owned(), lines), word.len()))
}

/// The meaning of a word without quotes after the `@` at this byte.
fn meant(lines: &code::Lines<'_>, at: usize, mention: &Mention) -> Meant {
    let word = mention.path.as_str();
    if mention.meant == Meant::Page {
        return Meant::Page;
    }
    let is_address = word.contains('@') && !word.contains('/');
    let begins = |c: char| c.is_alphabetic() || c == '_';
    if is_address || lines.is_decorator(at, word) {
        Meant::Other
    } else if let Some(keyword) = Keyword::of(word).filter(|_| mention.lines.is_none()) {
        Meant::Keyword(keyword)
    } else if word.strip_prefix(SYMBOL).is_some_and(|it| !it.is_empty()) {
        Meant::Symbol
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

/// Whether a word after an `@` was probably meant as a path, although no such file exists.
pub(super) fn looks_like_path(path: &str) -> bool {
    path.contains('/') || path.starts_with('~') || (path.contains('.') && !path.starts_with('.'))
}

/// The excerpt that a mention adds to the prompt, and a warning for the user before the prompt is sent.
struct Found {
    excerpt: Excerpt,
    warning: Option<String>,
}

/// Reads the files that a prompt mentions. Returns the excerpts and the problems: one sentence for each mention that
/// could not be read, or that the user may not want to send.
pub async fn resolve(desk: &Desk, text: &str) -> (Vec<Excerpt>, Vec<String>) {
    read_all(desk, find(text)).await
}

/// The hosts of the pages that a text mentions.
pub fn hosts(text: &str) -> Vec<String> {
    let pages = find(text).into_iter().filter(|it| it.meant == Meant::Page);
    let mut hosts: Vec<String> = pages.filter_map(|it| page::host(&it)).collect();
    hosts.dedup();
    hosts
}

/// The excerpts that one mention in a text adds.
pub struct Brought {
    /// The mention as it is written in the text.
    pub written: String,
    pub excerpts: Vec<Excerpt>,
    pub problems: Vec<String>,
}

/// Like `resolve`, but separately for each of the first `most` mentions of a text. An ordinary word after an `@` is
/// left out if there is no such file. Fetches no web pages.
pub async fn each(desk: &Desk, text: &str, most: usize) -> Vec<Brought> {
    let mut all = Vec::new();
    for mention in find(text).into_iter().take(most) {
        let written = mention.written.clone();
        let (excerpts, problems) = if mention.meant == Meant::Page {
            match page::announced(&mention) {
                Ok(it) => (vec![it], Vec::new()),
                Err(problem) => (Vec::new(), vec![problem]),
            }
        } else {
            read_all(desk, vec![mention]).await
        };
        if !(excerpts.is_empty() && problems.is_empty()) {
            all.push(Brought { written, excerpts, problems });
        }
    }
    all
}

/// Like `resolve`, for the text of a slash command. Leaves out what the user's message mentions too. A command that
/// belongs to the project can add only files of the project.
pub async fn resolve_command(
    desk: &Desk,
    command: &Excerpt,
    message: &str,
) -> (Vec<Excerpt>, Vec<String>) {
    let said = find(message);
    let is_users = command.path.starts_with(['/', '~']);
    let mut refused = Vec::new();
    let mut mentions = find(&command.text);
    mentions.retain_mut(|it| {
        let is_inside =
            || path::lead(desk, &it.path).is_ok_and(|led| path::inside(&desk.root, &led.path));
        let is_near = is_users
            || match it.meant {
                Meant::Keyword(keyword) => keyword.is_of_project(),
                Meant::Page => false,
                Meant::Symbol => true,
                _ => is_inside(),
            };
        if !is_near {
            let (of, path) = (&command.path, &it.path);
            refused.push(format!("`{of}` mentions `@{path}`, which leads out of the project."));
        }
        // the author of the command cannot be asked about a word that names no file
        if it.meant == Meant::Word {
            it.meant = Meant::Other;
        }
        is_near && !said.iter().any(|said| said.path == it.path && said.lines == it.lines)
    });
    let (excerpts, problems) = read_all(desk, mentions).await;
    (excerpts, refused.into_iter().chain(problems).collect())
}

async fn read_all(desk: &Desk, mentions: Vec<Mention>) -> (Vec<Excerpt>, Vec<String>) {
    let mut excerpts = Vec::new();
    let mut problems = Vec::new();
    let mut images = 0;
    let one = |mention| async move { (found(desk, &mention).await, mention.path) };
    let mut reads = stream::iter(mentions).map(one).buffered(READERS);
    while let Some((read, path)) = reads.next().await {
        let found = match read {
            Ok(found) => found,
            Err(problem) => {
                problems.push(problem);
                continue;
            }
        };
        for Found { excerpt, warning } in found {
            images += usize::from(excerpt.image.is_some());
            if excerpt.image.is_some() && images > image::MOST {
                let most = image::MOST;
                problems
                    .push(format!("At most {most} images per message: `@{path}` is one too many."));
                continue;
            }
            excerpts.push(excerpt);
            problems.extend(warning);
        }
    }
    (excerpts, problems)
}

/// Everything that one mention adds to the prompt.
async fn found(desk: &Desk, mention: &Mention) -> Result<Vec<Found>, String> {
    let excerpts = match mention.meant {
        Meant::Keyword(keyword) => keyword::read(desk, keyword, mention).await?,
        Meant::Symbol => symbol::read(desk, mention).await?,
        Meant::Page => vec![page::read(desk, mention).await?],
        Meant::Path | Meant::Word | Meant::Other => {
            return Ok(read(desk, mention).await?.into_iter().collect());
        }
    };
    Ok(excerpts.into_iter().map(|excerpt| Found { excerpt, warning: None }).collect())
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
    let read = desk.read(&absolute).await;
    if pdf::may_be(&read)
        && let Some(text) = pdf::load(desk, &absolute).await
    {
        let text = text.map_err(|why| format!("`@{written}` {why}."))?;
        let excerpt = cut(text.content, mention, shown)?;
        return Ok(Some(Found { excerpt, warning }));
    }
    match read {
        Ok(source) => {
            let undecided = source.undecided();
            let mut excerpt = cut(source.text.content, mention, shown)?;
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
                kind: ExcerptKind::Folder,
                text: listing,
                ..Excerpt::default()
            };
            Ok(Some(Found { excerpt, warning: None }))
        }
        Err(Unreadable::Absent) => absent(mention),
        Err(Unreadable::Binary) => match image::load(&absolute).await {
            Some(Ok(Loaded { image, said: text })) => {
                let image = Some(image);
                let excerpt = Excerpt { path: shown, text, image, ..Excerpt::default() };
                Ok(Some(Found { excerpt, warning }))
            }
            Some(Err(why)) => Err(format!("`@{written}` {why}.")),
            None => Err(format!("`@{written}` {}.", Unreadable::Binary.say())),
        },
        Err(why) => Err(format!("`@{written}` {}.", why.say())),
    }
}

fn absent(mention: &Mention) -> Result<Option<Found>, String> {
    let written = &mention.path;
    match mention.meant {
        Meant::Path => Err(format!("`@{written}` {}.", Unreadable::Absent.say())),
        Meant::Word if written == "url" => {
            Err("`@url`: write the address of the page after the `@`: `@https://example.org/page`."
                .to_owned())
        }
        Meant::Word | Meant::Keyword(_) => Err(format!("`@{written}` names no file.")),
        Meant::Other | Meant::Page | Meant::Symbol => Ok(None),
    }
}

fn cut(content: String, mention: &Mention, shown: String) -> Result<Excerpt, String> {
    let written = &mention.path;
    let text = match mention.lines {
        None => content,
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
    Ok(Excerpt { path: shown, lines: mention.lines, text, ..Excerpt::default() })
}

/// Lists the files in a folder and in its subfolders, two levels deep, without ignored files.
fn list(reach: &Reach, dir: &std::path::Path) -> String {
    let walk = walk::walker(reach, dir)
        .require_git(true)
        .max_depth(Some(2))
        .sort_by_file_path(Ord::cmp)
        .build();
    let mut lines: Vec<String> = walk
        .flatten()
        .skip(1)
        .filter(|it| direct::metadata(it.path()).is_ok())
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
