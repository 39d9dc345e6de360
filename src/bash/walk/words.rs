//! Reads the words of a command from the syntax tree and the line.

use super::super::simple::{Simple, Surety, Word};
use super::super::word::{self, Part};
use super::Walk;
use tree_sitter::Node;

impl Walk<'_> {
    /// The words of nodes. The parser divides some words, such as `'a'\b`, into nodes without a gap.
    pub(super) fn words(&mut self, nodes: &[Node<'_>]) -> Vec<Word> {
        let is_one = |a: &Node<'_>, b: &Node<'_>| a.end_byte() == b.start_byte();
        nodes.chunk_by(is_one).map(|it| self.word(it)).collect()
    }

    /// Joins nodes without a gap between them to one word.
    pub(super) fn word(&mut self, nodes: &[Node<'_>]) -> Word {
        let mut parts = Vec::new();
        for node in nodes {
            self.parts(*node, &mut parts);
        }
        let start = nodes.first().map_or(0, Node::start_byte);
        let end = nodes.last().map_or(start, Node::end_byte);
        word::joined(parts, self.text.get(start..end).unwrap_or_default())
    }

    fn parts(&mut self, node: Node<'_>, parts: &mut Vec<Part>) {
        let text = self.of(node).to_owned();
        match node.kind() {
            "word" => parts.push(Part::Bare(text)),
            "number" if node.named_child_count() == 0 => parts.push(Part::Bare(text)),
            "raw_string" if text.len() >= 2 => {
                parts.push(Part::Quoted(text[1..text.len() - 1].to_owned()));
            }
            "simple_expansion" | "expansion" if is_here(&text) => parts.push(Part::Here),
            "string" => match text.strip_prefix('"').and_then(rest_of_here) {
                Some(rest) => {
                    parts.push(Part::Here);
                    parts.push(Part::Quoted(rest.to_owned()));
                }
                None => parts.push(self.string(node)),
            },
            "concatenation" => {
                let mut cursor = node.walk();
                let all: Vec<Node<'_>> = node.children(&mut cursor).collect();
                let gapless = all.windows(2).all(|it| it[0].end_byte() == it[1].start_byte());
                if !gapless {
                    parts.push(Part::Open);
                }
                for child in all {
                    if child.is_named() {
                        self.parts(child, parts);
                    } else {
                        parts.push(Part::Bare(self.of(child).to_owned()));
                    }
                }
            }
            _ => {
                self.substitutions(node);
                if matches!(node.kind(), "command_substitution" | "process_substitution") {
                    self.children(node);
                }
                parts.push(Part::Open);
            }
        }
    }

    /// Reads text in double quotes from the source, because the tree omits blanks between the parts of such a text.
    fn string(&mut self, node: Node<'_>) -> Part {
        if let Some(value) = self.fixed(node) {
            return Part::Quoted(value);
        }
        self.substitutions(node);
        Part::Open
    }

    /// The value of text in double quotes, if it is clear: the text has no substitutions but here-documents that `cat`
    /// prints unchanged.
    fn fixed(&mut self, node: Node<'_>) -> Option<String> {
        let mut cursor = node.walk();
        let parts: Vec<Node<'_>> = node.named_children(&mut cursor).collect();
        let (mut value, mut at) = (String::new(), node.start_byte() + 1);
        let end = node.end_byte().checked_sub(1)?;
        for part in parts.iter().filter(|it| it.kind() != "string_content") {
            let before = self.text.get(at..part.start_byte())?;
            let text = word::printed(self.of(*part))?;
            value.extend([word::between_quotes(before)?, text]);
            if before.ends_with(['$', '\\']) {
                return None;
            }
            at = part.end_byte();
            let words = vec![Word::Fixed("cat".into())];
            self.script.commands.push(Simple { words, surety: Surety::Inner });
        }
        value.push_str(&word::between_quotes(self.text.get(at..end)?)?);
        let whole = self.of(node);
        (whole.len() > 1 && whole.starts_with('"') && whole.ends_with('"')).then_some(value)
    }
}

/// Whether an expansion yields the folder of the command.
fn is_here(expansion: &str) -> bool {
    matches!(expansion, "$PWD" | "${PWD}")
}

/// What follows `$PWD` in a text, up to its closing quote, if the rest has no other expansion.
fn rest_of_here(text: &str) -> Option<&str> {
    let rest =
        text.strip_prefix("$PWD").or_else(|| text.strip_prefix("${PWD}"))?.strip_suffix('"')?;
    let is_plain = |c: char| !"$`\\\"!".contains(c);
    (rest.is_empty() || rest.starts_with('/') && rest.chars().all(is_plain)).then_some(rest)
}
