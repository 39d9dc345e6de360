//! The keywords that mean something in the editor: buffers, the selection, lists, the clipboard.

use crate::message::{Excerpt, ExcerptKind};
use crate::reach::Reading;
use crate::text::unseen;
use crate::tool::scene::{Part, Scene, Thing};
use crate::tool::{Desk, path};
use crate::view::grouped;
use std::path::PathBuf;

/// The most bytes of the texts that one keyword adds. A larger text is cut.
const LIMIT: usize = 256 * 1024;

/// The first lines of a text that fit into the limit, and a note if lines are missing. `noun` is the subject of the
/// note's sentence. `total` is the full number of lines if the text was cut before.
pub(super) fn fitting(mut text: String, noun: &str, total: Option<u32>) -> (String, String) {
    let all = text.lines().count().max(total.unwrap_or(0) as usize);
    let is_long = text.len() > LIMIT;
    if is_long {
        let end = (0..=LIMIT).rev().find(|it| text.is_char_boundary(*it)).unwrap_or(0);
        // if the first line alone is too long, it is cut within the line
        text.truncate(text[..end].rfind('\n').map_or(end, |it| it + 1));
    }
    let kept = text.lines().count();
    let note = if kept < all {
        let (kept, all) = (grouped(kept as u64), grouped(all as u64));
        format!("{noun} is cut: {kept} of {all} lines")
    } else if is_long {
        format!("{noun} is cut: the first {} kB of its line", LIMIT / 1024)
    } else {
        String::new()
    };
    (text, note)
}

/// The things that a part of the editor has, such as the open buffers, and how many more there are. Fails if there is
/// none.
async fn things(desk: &Desk, part: Part) -> Result<(Vec<Thing>, u32), String> {
    let Scene { things, more, why } = desk.workspace.scene(part).await?;
    let none =
        || if why.is_empty() { "There is nothing to add for this word.".to_owned() } else { why };
    if things.is_empty() { Err(none()) } else { Ok((things, more)) }
}

/// The only thing in a part of the editor that has just one.
async fn thing(desk: &Desk, part: Part) -> Result<Thing, String> {
    let (things, _) = things(desk, part).await?;
    things.into_iter().next().ok_or_else(String::new)
}

/// The file of the buffer beside the chat, if the buffer shows a file.
pub(in crate::context::mention) async fn file_beside(desk: &Desk) -> Result<Option<File>, String> {
    let thing = thing(desk, Part::Buffer).await?;
    thing.is_file.then(|| File::of(desk, &thing)).transpose()
}

/// A file that is open in the editor. Because the user has not named the file, a file that may be read only with
/// consent is refused.
pub(in crate::context::mention) struct File {
    pub(in crate::context::mention) path: PathBuf,
    pub(super) shown: String,
}

impl File {
    fn of(desk: &Desk, thing: &Thing) -> Result<File, String> {
        let led = path::lead(desk, &thing.name)?;
        let shown = path::show(&desk.root, &led.path);
        let name = one_line(&shown);
        match led.reading {
            Reading::Free => Ok(File { path: led.path, shown }),
            Reading::Never(why) => Err(format!("`{name}` {why}.")),
            Reading::Asked(why) => {
                Err(format!("`{name}` {why}. To send its text, mention the file by its path."))
            }
        }
    }

    /// The text of the file as it is in the editor.
    async fn read(&self, desk: &Desk) -> Result<String, String> {
        let source = desk.read(&self.path).await;
        let source = source.map_err(|why| format!("`{}` {}.", one_line(&self.shown), why.say()))?;
        let mut text = source.text.content.clone();
        let undecided = source.undecided();
        if !undecided.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(&undecided);
        Ok(text)
    }
}

pub(super) async fn buffer(desk: &Desk) -> Result<Vec<Excerpt>, String> {
    let thing = thing(desk, Part::Buffer).await?;
    if !thing.is_file {
        let (path, filetype) = (name(&thing), thing.filetype);
        let (text, note) = fitting(thing.text.unwrap_or_default(), "The buffer", thing.total);
        let kind = ExcerptKind::Buffer;
        return some(Excerpt { path, filetype, kind, text, note, ..Excerpt::default() });
    }
    let file = File::of(desk, &thing)?;
    let (text, note) = fitting(file.read(desk).await?, "The file", None);
    let lines = (!note.is_empty()).then(|| (1, count(&text)));
    some(Excerpt { path: file.shown, lines, text, note, ..Excerpt::default() })
}

/// A list of the open files, and the texts of those files that fit into the limit. The file that was used last comes
/// first.
pub(super) async fn buffers(desk: &Desk) -> Result<Vec<Excerpt>, String> {
    let (things, more) = things(desk, Part::Buffers).await?;
    let mut room = LIMIT;
    let mut excerpts = Vec::new();
    let mut names = Vec::new();
    for thing in &things {
        let file = match File::of(desk, thing) {
            Ok(file) => file,
            Err(why) => {
                names.push(format!("(not sent) {why}"));
                continue;
            }
        };
        let name = one_line(&file.shown);
        match file.read(desk).await {
            Ok(text) if text.len() <= room => {
                room -= text.len();
                names.push(name);
                excerpts.push(Excerpt { path: file.shown, text, ..Excerpt::default() });
            }
            Ok(text) => names.push(format!("(not sent) `{name}` has {} kB.", text.len() / 1024)),
            Err(why) => names.push(format!("(not sent) {why}")),
        }
    }
    let sent = excerpts.len();
    let all = things.len() + more as usize;
    let (text, note) = fitting(names.join("\n"), "The list", u32::try_from(all).ok());
    let cut = format!("The open files are cut: the texts of {sent} of {all} are sent");
    let note = if note.is_empty() && sent < all { cut } else { note };
    let (path, kind) = ("the open files".to_owned(), ExcerptKind::List);
    excerpts.insert(0, Excerpt { path, kind, text, note, ..Excerpt::default() });
    Ok(excerpts)
}

pub(super) async fn selection(desk: &Desk) -> Result<Vec<Excerpt>, String> {
    let thing = thing(desk, Part::Selection).await?;
    let path = if thing.is_file { File::of(desk, &thing)?.shown } else { name(&thing) };
    let (text, note) = fitting(thing.text.unwrap_or_default(), "The selection", thing.total);
    let (lines, filetype, kind) = (thing.lines, thing.filetype, ExcerptKind::Selection);
    some(Excerpt { path, lines, filetype, kind, text, note, ..Excerpt::default() })
}

pub(super) async fn clipboard(desk: &Desk) -> Result<Vec<Excerpt>, String> {
    let thing = thing(desk, Part::Clipboard).await?;
    let (text, note) = fitting(thing.text.unwrap_or_default(), "The clipboard", thing.total);
    let (path, kind) = ("clipboard".to_owned(), ExcerptKind::Clipboard);
    some(Excerpt { path, kind, text, note, ..Excerpt::default() })
}

pub(super) async fn quickfix(desk: &Desk) -> Result<Vec<Excerpt>, String> {
    list(desk, Part::Quickfix, "quickfix list").await
}

pub(super) async fn loclist(desk: &Desk) -> Result<Vec<Excerpt>, String> {
    list(desk, Part::Loclist, "location list").await
}

/// The entries of a quickfix or location list, one on each line. Entries of files that may be read only with consent
/// are left out.
async fn list(desk: &Desk, part: Part, title: &str) -> Result<Vec<Excerpt>, String> {
    let (things, more) = things(desk, part).await?;
    let mut left_out = 0;
    let mut entries = Vec::new();
    for thing in &things {
        let name = match File::of(desk, thing) {
            _ if !thing.is_file => one_line(&thing.name),
            Ok(file) => one_line(&file.shown),
            Err(_) => {
                left_out += 1;
                continue;
            }
        };
        let line = thing.lines.map(|(first, _)| format!(":{first}")).unwrap_or_default();
        let text = one_line(thing.text.as_deref().unwrap_or_default());
        let place = format!("{name}{line}");
        entries.push(if place.is_empty() { text } else { format!("{place}: {text}") });
    }
    let all = u32::try_from(entries.len()).unwrap_or(u32::MAX).saturating_add(more);
    let (mut text, note) = fitting(entries.join("\n"), "The list", Some(all));
    if left_out > 0 {
        let entries = if left_out == 1 { "1 entry" } else { &format!("{left_out} entries") };
        text.push_str(&format!("\n[left out: {entries} of protected files]"));
    }
    let (path, kind) = (title.to_owned(), ExcerptKind::List);
    some(Excerpt { path, kind, text, note, ..Excerpt::default() })
}

/// Returns the excerpt. Fails if the excerpt has no text.
fn some(excerpt: Excerpt) -> Result<Vec<Excerpt>, String> {
    if excerpt.text.trim().is_empty() {
        return Err(match excerpt.kind {
            ExcerptKind::Clipboard => "The clipboard has no text.".to_owned(),
            _ => format!("`{}` has no text.", one_line(&excerpt.path)),
        });
    }
    Ok(vec![excerpt])
}

/// The name of a buffer that shows no file.
fn name(thing: &Thing) -> String {
    if thing.name.is_empty() { "[No Name]".to_owned() } else { one_line(&thing.name) }
}

fn count(text: &str) -> u32 {
    u32::try_from(text.lines().count()).unwrap_or(u32::MAX)
}

/// A text on one line, in which each invisible character is spelt out.
fn one_line(text: &str) -> String {
    let flat: String = text.chars().map(|it| if it.is_control() { ' ' } else { it }).collect();
    unseen::spelt_out(flat.trim()).0.into_owned()
}
