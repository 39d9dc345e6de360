//! Finds code, comments and tests in Rust source without a parser.

/// The source as two texts of the same length: `code` has blanks for comments and the contents of literals, `comments`
/// has blanks for everything else.
pub(super) struct Source {
    pub(super) code: String,
    pub(super) comments: String,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Code,
    Comment,
    Literal,
}

impl Source {
    pub(super) fn new(text: &str) -> Source {
        let characters: Vec<char> = text.chars().collect();
        let mut kinds = vec![Kind::Code; characters.len()];
        let mut at = 0;
        while at < characters.len() {
            let (kind, end) = token(&characters, at);
            kinds[at..end].fill(kind);
            at = end;
        }
        let only = |wanted: Kind| {
            let shown = characters.iter().zip(&kinds);
            shown.map(|(c, kind)| if *c == '\n' || *kind == wanted { *c } else { ' ' }).collect()
        };
        Source { code: only(Kind::Code), comments: only(Kind::Comment) }
    }

    /// The code with blanks for `#[cfg(test)]` items.
    pub(super) fn shipped(&self) -> String {
        let mut code = self.code.clone();
        while let Some(start) = code.find("#[cfg(test)]") {
            let brace = code[start..].find(['{', ';']).map(|offset| start + offset);
            let end = match brace {
                Some(open) if code.as_bytes()[open] == b'{' => closing(&code, open),
                Some(semicolon) => semicolon,
                None => code.len() - 1,
            };
            let item = code[start..=end].to_owned();
            let blank: String = item.chars().map(|c| if c == '\n' { c } else { ' ' }).collect();
            code.replace_range(start..=end, &blank);
        }
        code
    }

    /// The name, first line (from 1) and number of lines of each function with a body.
    pub(super) fn functions(&self) -> Vec<(String, usize, usize)> {
        let mut found = Vec::new();
        for (at, _) in self.code.match_indices("fn ") {
            let is_word =
                self.code[..at].chars().next_back().is_none_or(|c| c.is_whitespace() || c == '(');
            let rest = &self.code[at + 3..];
            let name: String =
                rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            let Some(open) = rest.find(['{', ';']).map(|offset| at + 3 + offset) else { continue };
            if !is_word || name.is_empty() || self.code.as_bytes()[open] == b';' {
                continue;
            }
            let end = closing(&self.code, open);
            let line = 1 + self.code[..at].matches('\n').count();
            found.push((name, line, 1 + self.code[at..end].matches('\n').count()));
        }
        found
    }
}

/// The offset of the brace that closes the brace at `open`.
fn closing(code: &str, open: usize) -> usize {
    let mut depth = 0;
    for (offset, byte) in code.as_bytes()[open..].iter().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return open + offset;
        }
    }
    code.len() - 1
}

/// The kind of the token that begins at `at`, and its end.
fn token(text: &[char], at: usize) -> (Kind, usize) {
    let after = |offset: usize| text.get(at + offset).copied().unwrap_or(' ');
    let until = |from: usize, found: &dyn Fn(usize) -> bool| {
        (from..text.len()).find(|i| found(*i)).unwrap_or(text.len())
    };
    match text[at] {
        '/' if after(1) == '/' => (Kind::Comment, until(at, &|i| text[i] == '\n')),
        '/' if after(1) == '*' => (Kind::Comment, block_comment(text, at)),
        'r' if at == 0 || !word(text[at - 1]) || text[at - 1] == 'b' => {
            let hashes = text[at + 1..].iter().take_while(|c| **c == '#').count();
            if after(1 + hashes) != '"' {
                return (Kind::Code, at + 1);
            }
            let ends = |i: usize| {
                text[i] == '"'
                    && text[i + 1..].iter().take(hashes).filter(|c| **c == '#').count() == hashes
            };
            let end = until(at + hashes + 2, &ends);
            (Kind::Literal, (end + 1 + hashes).min(text.len()))
        }
        '"' => (Kind::Literal, quoted(text, at, '"')),
        '\'' if after(1) == '\\' || after(2) == '\'' => (Kind::Literal, quoted(text, at, '\'')),
        _ => (Kind::Code, at + 1),
    }
}

fn word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn quoted(text: &[char], at: usize, quote: char) -> usize {
    let mut i = at + 1;
    while i < text.len() && text[i] != quote {
        i += if text[i] == '\\' { 2 } else { 1 };
    }
    (i + 1).min(text.len())
}

fn block_comment(text: &[char], at: usize) -> usize {
    let (mut i, mut depth) = (at, 0);
    while i + 1 < text.len() {
        match (text[i], text[i + 1]) {
            ('/', '*') => depth += 1,
            ('*', '/') => depth -= 1,
            _ => {
                i += 1;
                continue;
            }
        }
        i += 2;
        if depth == 0 {
            return i;
        }
    }
    text.len()
}
