//! A pattern for a name, in which `*` stands for any characters.

use memchr::memmem;

#[derive(Clone, PartialEq, Eq)]
pub(super) enum Pattern {
    /// A pattern without a `*`.
    Name(String),
    Open {
        head: String,
        /// The texts between two `*`.
        middles: Vec<String>,
        tail: String,
        /// The least number of bytes of a name that fits.
        least: usize,
    },
}

impl Pattern {
    pub(super) fn new(pattern: &str) -> Pattern {
        let Some((head, rest)) = pattern.split_once('*') else {
            return Pattern::Name(pattern.to_owned());
        };
        let mut middles: Vec<String> = rest.split('*').map(str::to_owned).collect();
        let tail = middles.pop().unwrap_or_default();
        let least = pattern.bytes().filter(|it| *it != b'*').count();
        Pattern::Open { head: head.to_owned(), middles, tail, least }
    }

    pub(super) fn fits(&self, name: &str) -> bool {
        match self {
            Pattern::Name(it) => it == name,
            Pattern::Open { head, middles, tail, least } => {
                let name = name.as_bytes();
                name.len() >= *least
                    && name.starts_with(head.as_bytes())
                    && name.ends_with(tail.as_bytes())
                    && follow(middles, &name[head.len()..name.len() - tail.len()])
            }
        }
    }
}

/// Whether a name could fit both a pattern of the table and a pattern of a shell, in which `*` stands for any characters,
/// and `?` and brackets stand for one. What a `*` at the end of the table's pattern stands for is left out if one of the
/// patterns begins with any characters: no pattern such as `*.md` is about keys only because a file `id_rsa.md` is
/// possible.
pub(super) fn overlap(pattern: &str, shell: &str) -> bool {
    let is_open = shell.starts_with(['*', '?', '[']) || pattern.starts_with('*');
    let stem = pattern.strip_suffix('*').filter(|_| is_open);
    let (one, other) = (pieces(stem.unwrap_or(pattern), false), pieces(shell, true));
    // whether the rest of the table's pattern from each piece on can fit the rest of the shell's pattern
    let mut below = vec![false; other.len() + 1];
    for at in (0..=one.len()).rev() {
        let mut row = vec![false; other.len() + 1];
        for to in (0..=other.len()).rev() {
            let next = |it: &[bool], to: usize| it.get(to).copied().unwrap_or_default();
            row[to] = match (one.get(at), other.get(to)) {
                (None, None) => true,
                (Some(Piece::Any), None) => below[to],
                (None, Some(Piece::Any)) => next(&row, to + 1),
                (Some(Piece::Any), Some(_)) => below[to] || next(&row, to + 1),
                (Some(_), Some(Piece::Any)) => next(&row, to + 1) || below[to],
                (Some(Piece::Char(a)), Some(Piece::Char(b))) => a == b && next(&below, to + 1),
                (Some(_), Some(_)) => next(&below, to + 1),
                (Some(_), None) | (None, Some(_)) => false,
            };
        }
        below = row;
    }
    below[0]
}

enum Piece {
    Any,
    One,
    Char(char),
}

fn pieces(pattern: &str, is_shell: bool) -> Vec<Piece> {
    let (mut pieces, mut rest) = (Vec::new(), pattern);
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        pieces.push(match c {
            '*' => Piece::Any,
            '?' if is_shell => Piece::One,
            '[' if is_shell => {
                rest = rest.split_once(']').map_or("", |it| it.1);
                Piece::Any
            }
            it => Piece::Char(it),
        });
    }
    pieces
}

/// Whether the name contains the texts one after the other.
fn follow(texts: &[String], mut name: &[u8]) -> bool {
    texts.iter().all(|it| match memmem::find(name, it.as_bytes()) {
        Some(at) => {
            name = &name[at + it.len()..];
            true
        }
        None => false,
    })
}
