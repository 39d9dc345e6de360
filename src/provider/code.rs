//! Tells code from text in Markdown that arrives in pieces.

/// Whether the text that arrives next is code of Markdown.
#[derive(Debug, Default)]
pub(super) struct Code {
    is_fenced: bool,
    /// The last line so far.
    line: String,
}

impl Code {
    pub(super) fn add(&mut self, text: &str) {
        let mut lines = text.split('\n');
        self.line.push_str(lines.next().unwrap_or_default());
        for line in lines {
            self.is_fenced ^= is_fence(&self.line);
            self.line.clear();
            self.line.push_str(line);
        }
    }

    pub(super) fn is_code(&self) -> bool {
        let ticks = self.line.bytes().filter(|it| *it == b'`').count();
        self.is_fenced || is_fence(&self.line) || ticks % 2 == 1
    }

    pub(super) fn is_at_start(&self) -> bool {
        self.line.trim().is_empty()
    }
}

fn is_fence(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("```") || line.starts_with("~~~")
}
