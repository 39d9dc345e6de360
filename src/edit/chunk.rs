//! Applies the chunks of a patch to a text. A chunk whose lines occur at several places must be told apart by the order
//! of the chunks, its anchors or its end-of-file mark; otherwise the patch is refused.

use super::back::{Splice, Step, splice};
use super::ladder::{self, Found, Place, lines_of_block};
use super::lines::{Lines, bare, indentation};
use super::misfit::Misfit;
use super::places::{absent, ambiguous, fitted, lines_of, refuse_placeholder, tolerated};
use crate::text::Text;
use std::ops::Range;

/// Lines of a file, and the lines that replace them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Chunk {
    /// Lines of the file above the chunk that tell where the chunk is; a patch has them after `@@`. Each anchor is
    /// searched below the anchor before it.
    pub anchors: Vec<String>,
    /// The lines to be replaced and the new lines, each with its newline.
    pub old: String,
    pub new: String,
    /// Whether the chunk is marked as the end of the file.
    pub is_last: bool,
}

impl Chunk {
    pub(super) fn push(&mut self, line: &str, is_old: bool, is_new: bool) {
        for (side, is_in) in [(&mut self.old, is_old), (&mut self.new, is_new)] {
            if is_in {
                side.extend([line, "\n"]);
            }
        }
    }

    /// Removes the empty lines that end both `old` and `new`.
    pub(super) fn trim(&mut self) {
        let ends = |text: &str| text == "\n" || text.ends_with("\n\n");
        while ends(&self.old) && ends(&self.new) {
            self.old.pop();
            self.new.pop();
        }
    }

    /// Whether the chunk has no lines, or only empty lines that it does not change.
    pub(super) fn is_blank(&self) -> bool {
        self.old == self.new && self.old.bytes().all(|it| it == b'\n')
    }
}

/// Applies the chunks. Returns a note for the model on the tolerated differences, and the step that undoes the patch.
pub(super) fn patch(text: &mut Text, chunks: &[Chunk]) -> Result<(String, Step), Misfit> {
    let lines = Lines::of(&text.content);
    let mut done: Vec<Splice> = Vec::new();
    let mut notes = Vec::new();
    for (at, chunk) in chunks.iter().enumerate() {
        let of = chunks.len();
        let what = if of == 1 { "The chunk".to_owned() } else { format!("Chunk {}", at + 1) };
        let placing = Placing { text, chunk, done: &done, lines: &lines };
        let (bytes, new, note) = placing.placed(&what).map_err(|misfit| Misfit::Chunk {
            at: at + 1,
            of,
            misfit: Box::new(misfit),
        })?;
        notes.extend(Some(note).filter(|it| !it.is_empty()));
        done.push((bytes, new));
    }
    done.sort_by_key(|(bytes, _)| (bytes.start, bytes.end));
    let stood = splice(&mut text.content, &done).ok_or(Misfit::Unchanged)?;
    Ok((notes.join("\n"), Step::Places(stood)))
}

struct Placing<'a> {
    text: &'a Text,
    chunk: &'a Chunk,
    /// The places and new texts of the chunks before this one.
    done: &'a [Splice],
    lines: &'a Lines<'a>,
}

impl Placing<'_> {
    /// Finds the chunk's place in the file. Returns the place, its new text, and a note on the tolerated differences.
    fn placed(&self, what: &str) -> Result<(Range<usize>, String, String), Misfit> {
        let (old, new) = (fitted(self.text, &self.chunk.old)?, fitted(self.text, &self.chunk.new)?);
        refuse_placeholder(&old, &new)?;
        if old.is_empty() {
            return self.inserted(&new).map(|(bytes, new)| (bytes, new, String::new()));
        }
        let content = &self.text.content;
        let sought = lines_of_block(&old);
        let block = |at| Place::of(self.lines.bytes(&(at..at + sought.len()), true));
        let exact: Vec<Place> =
            self.lines.equal(&sought, usize::MAX).into_iter().map(block).collect();
        let is_there = !exact.is_empty();
        let found = Found::exact(content, &old, &new, self.meant(exact))
            .or_else(|| ladder::climb(content, &old, &new, usize::MAX, |it| self.meant(it)));
        let found = found.ok_or_else(|| {
            if is_there {
                let why = "the lines of the chunk overlap another chunk: join the two chunks";
                return Misfit::Refused(why.to_owned());
            }
            absent(self.text, &old, &new)
        })?;
        let [place] = &found.places[..] else { return Err(ambiguous(content, found)) };
        let new = found.new_at(place).ok_or_else(|| absent(self.text, &old, &new))?.into_owned();
        let note = tolerated(what, content, &found.places, &found.rungs);
        let notes = [note, self.misplaced(what, place)?];
        let note = notes.into_iter().filter(|it| !it.is_empty()).collect::<Vec<_>>().join("\n");
        Ok((place.bytes.clone(), new, note))
    }

    /// A note for the model if the chunk's lines were found at another place than its anchors or its end-of-file mark
    /// say, otherwise empty. A place above the anchors is refused.
    fn misplaced(&self, what: &str, place: &Place) -> Result<String, Misfit> {
        let content = &self.text.content;
        let line = lines_of(content, &[place.bytes.start]).first().copied().unwrap_or(1);
        let first = self.scopes().iter().map(|it| it.start).min();
        if first.is_some_and(|first| place.bytes.end < first) {
            return Err(Misfit::Refused(format!(
                "the lines of the chunk are at line {line}, above the line that `@@` names. Let `@@` name a line above \
                 line {line}, or write `@@` alone"
            )));
        }
        let why = if first.is_none() && !self.chunk.anchors.is_empty() {
            "its `@@` line names a line that is not in the file"
        } else if self.chunk.is_last && place.bytes.end < content.len() {
            "its lines are not at the end of the file"
        } else {
            return Ok(String::new());
        };
        Ok(format!(
            "{what} does not match the file exactly: {why}. The edit was applied at line {line}."
        ))
    }

    /// Narrows the possible places by the order of the chunks, the end-of-file mark and the anchors. A criterion that
    /// no place meets is ignored.
    fn meant(&self, places: Vec<Place>) -> Vec<Place> {
        let cursor = self.done.iter().map(|it| it.0.end).max().unwrap_or(0);
        let apart = |it: &Place| {
            self.done
                .iter()
                .all(|(done, _)| it.bytes.end <= done.start || done.end <= it.bytes.start)
        };
        let free: Vec<Place> = places.into_iter().filter(apart).collect();
        let free = preferred(free, |it| it.bytes.start >= cursor);
        let end = self.text.content.len();
        let free = preferred(free, |it| self.chunk.is_last && it.bytes.end == end);
        let scopes = self.scopes();
        let within = |scope: &Range<usize>, it: &Place| {
            scope.start <= it.bytes.start && it.bytes.end <= scope.end
        };
        let free = preferred(free, |it| scopes.iter().any(|scope| within(scope, it)));
        let first = scopes.iter().map(|it| it.start).min();
        preferred(free, |it| first.is_some_and(|first| it.bytes.start >= first))
    }

    /// The scope of the last anchor, for each place where that anchor occurs: the lines below it, up to the next line
    /// that is not indented more than the anchor.
    fn scopes(&self) -> Vec<Range<usize>> {
        let mut scopes: Vec<Range<usize>> = std::iter::once(0..self.lines.len()).collect();
        for anchor in &self.chunk.anchors {
            let is_it = |at: &usize| self.lines.get(*at).trim() == anchor.trim();
            let places = scopes.iter().flat_map(|it| it.clone().filter(is_it));
            scopes = places.map(|at| self.below(at)).collect();
        }
        if self.chunk.anchors.is_empty() {
            return Vec::new();
        }
        scopes.into_iter().map(|it| self.lines.start(it.start)..self.lines.start(it.end)).collect()
    }

    fn below(&self, at: usize) -> Range<usize> {
        let depth = |at: usize| indentation(self.lines.get(at)).len();
        let is_out = |it: &usize| !bare(self.lines.get(*it)).is_empty() && depth(*it) <= depth(at);
        let end = (at + 1..self.lines.len()).find(is_out).unwrap_or(self.lines.len());
        at + 1..end
    }

    /// The place of a chunk that only adds lines: directly below its anchor, or at the end of the file.
    fn inserted(&self, new: &str) -> Result<(Range<usize>, String), Misfit> {
        let content = &self.text.content;
        let end = content.len();
        let at = match (&self.scopes()[..], self.chunk.anchors.is_empty()) {
            (_, true) => end,
            ([scope], _) => scope.start,
            ([], _) => {
                let old = self.chunk.anchors.join("\n");
                return Err(absent(self.text, &old, new));
            }
            (many, _) => {
                let above = |it: &Range<usize>| it.start.saturating_sub(1);
                let at = lines_of(content, &many.iter().map(above).collect::<Vec<_>>());
                return Err(Misfit::Ambiguous { at, by: Vec::new() });
            }
        };
        let is_open = at == end && !content.is_empty() && !content.ends_with('\n');
        let new = if is_open { format!("\n{}", &new[..new.len() - 1]) } else { new.to_owned() };
        Ok((at..at, new))
    }
}

/// The places for which `is` is true, or all places if there is none.
fn preferred(places: Vec<Place>, is: impl Fn(&Place) -> bool) -> Vec<Place> {
    if !places.iter().any(&is) {
        return places;
    }
    places.into_iter().filter(|it| is(it)).collect()
}
