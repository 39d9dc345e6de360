//! Finds the code in a prompt, and words with `@` (such as decorators) in code that is not marked as code.

use std::ops::Range;

/// Names of decorators, annotations and comment tags that people write with an `@` in ordinary sentences.
const NAMES: [&str; 62] = [
    // Python
    "abstractmethod",
    "cached_property",
    "classmethod",
    "contextmanager",
    "dataclass",
    "fixture",
    "lru_cache",
    "overload",
    "override",
    "property",
    "staticmethod",
    "wraps",
    // Java, Kotlin, TypeScript, Swift
    "AfterEach",
    "Autowired",
    "Bean",
    "BeforeEach",
    "Binding",
    "Builder",
    "Component",
    "Composable",
    "Controller",
    "Deprecated",
    "Directive",
    "Entity",
    "FunctionalInterface",
    "Inject",
    "Injectable",
    "Input",
    "JvmStatic",
    "MainActor",
    "NgModule",
    "NonNull",
    "NotNull",
    "Nullable",
    "ObservedObject",
    "Output",
    "Override",
    "Published",
    "Repository",
    "RestController",
    "SafeVarargs",
    "Service",
    "State",
    "SuppressWarnings",
    "Test",
    "Transactional",
    "discardableResult",
    "escaping",
    "objc",
    // comments
    "deprecated",
    "param",
    "return",
    "returns",
    "throws",
    "ts-expect-error",
    "ts-ignore",
    "ts-nocheck",
    "typedef",
    // style sheets
    "import",
    "keyframes",
    "media",
    "supports",
];

/// Words with which the line of code below a decorator may begin.
const DECORATED: [&str; 18] = [
    "abstract",
    "async",
    "class",
    "def",
    "enum",
    "export",
    "final",
    "fn",
    "fun",
    "func",
    "function",
    "interface",
    "internal",
    "private",
    "protected",
    "public",
    "static",
    "struct",
];

/// A text divided into lines.
pub(super) struct Lines<'a> {
    text: &'a str,
    /// Each line with the byte at which it begins.
    all: Vec<(usize, &'a str)>,
    /// For each line, whether the first line below it that does not begin with an `@` is code.
    decorate: Vec<bool>,
}

impl Lines<'_> {
    pub(super) fn of(text: &str) -> Lines<'_> {
        let all = lines(text);
        let mut decorate = vec![false; all.len()];
        for n in (1..all.len()).rev() {
            let line = all[n].1.trim();
            decorate[n - 1] = if line.starts_with('@') { decorate[n] } else { is_code(line) };
        }
        Lines { text, all, decorate }
    }

    /// Whether the word after the `@` at this byte is a decorator or similar: the word is a known name, a `(` follows
    /// it, or it is alone on its line above a line of code.
    pub(super) fn is_decorator(&self, at: usize, word: &str) -> bool {
        let is_name = |it: &str| {
            !it.is_empty() && it.chars().all(|c| c.is_alphanumeric() || "_-".contains(c))
        };
        let end = at + 1 + word.len();
        if NAMES.contains(&word) || self.text[end..].starts_with('(') {
            return word.split('.').all(is_name);
        }
        let n = self.all.partition_point(|it| it.0 <= at).saturating_sub(1);
        let Some((start, line)) = self.all.get(n) else { return false };
        let behind = line.get(end - start..).unwrap_or_default();
        let is_alone = self.text[*start..at].trim().is_empty() && behind.trim().is_empty();
        is_alone && is_name(word) && self.decorate[n]
    }
}

/// The byte ranges of code in a text, in order: between fences, and between backticks within a line.
pub(super) fn spans(Lines { all: lines, .. }: &Lines<'_>) -> Vec<Range<usize>> {
    let mut spans = Vec::new();
    let mut unclosed = [usize::MAX; 2];
    let mut i = 0;
    while i < lines.len() {
        let (start, line) = lines[i];
        let close = fence(line).and_then(|mark| closing(&lines[i + 1..], mark, &mut unclosed));
        i += 1;
        if let Some(close) = close {
            i += close;
            let (last, line) = lines[i];
            spans.push(start..last + line.len());
            i += 1;
        } else {
            inline(start, line, &mut spans);
        }
    }
    spans
}

/// Each line with the byte at which it begins.
fn lines(text: &str) -> Vec<(usize, &str)> {
    let mut at = 0;
    let lines = text.split_inclusive('\n').map(|line| {
        at += line.len();
        (at - line.len(), line)
    });
    lines.collect()
}

/// If the line is a fence, the fence's character and how many of them the line has.
fn fence(line: &str) -> Option<(char, usize)> {
    let line = line.trim();
    let mark = line.chars().next().filter(|it| "`~".contains(*it))?;
    let count = line.chars().take_while(|it| *it == mark).count();
    // if backticks follow on the same line, it is inline code
    (count >= 3 && !(mark == '`' && line[count..].contains('`'))).then_some((mark, count))
}

/// The number of lines before the fence that closes the given fence; `None` if no fence closes it. `unclosed` has, for
/// each fence character, the shortest length for which no closing fence was found. For a fence of this length or longer
/// the text is not searched again.
fn closing(
    lines: &[(usize, &str)],
    (mark, count): (char, usize),
    unclosed: &mut [usize; 2],
) -> Option<usize> {
    let unclosed = &mut unclosed[usize::from(mark == '~')];
    if count >= *unclosed {
        return None;
    }
    let closes =
        |line: &str| line.trim().len() >= count && line.trim().chars().all(|it| it == mark);
    let found = lines.iter().position(|(_, line)| closes(line));
    if found.is_none() {
        *unclosed = count;
    }
    found
}

/// Adds the ranges of inline code in a line: between two equally long rows of backticks. A backtick after a backslash
/// begins no code.
fn inline(start: usize, line: &str, spans: &mut Vec<Range<usize>>) {
    let mut at = 0;
    while let Some(open) = line[at..].find('`').map(|it| at + it) {
        if is_escaped(&line[..open]) {
            at = open + 1;
            continue;
        }
        let count = backticks(&line[open..]);
        at = open + count;
        let mut seek = at;
        while let Some(close) = line[seek..].find('`').map(|it| seek + it) {
            let length = backticks(&line[close..]);
            seek = close + length;
            if length == count {
                spans.push(start + open..start + seek);
                at = seek;
                break;
            }
        }
    }
}

/// Whether the character after this text is escaped: the text ends in an odd number of backslashes.
fn is_escaped(before: &str) -> bool {
    before.bytes().rev().take_while(|it| *it == b'\\').count() % 2 == 1
}

/// The number of backticks at the beginning of a text.
fn backticks(text: &str) -> usize {
    text.bytes().take_while(|it| *it == b'`').count()
}

/// Whether a line looks like code: it begins like a definition that a decorator may be above.
fn is_code(line: &str) -> bool {
    let first = line.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    DECORATED.contains(&first) && line.ends_with(['{', '(', ')', ':', ';', ','])
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    #[expect(clippy::needless_pass_by_value, reason = "a table's row gives its snapshot away")]
    fn check(text: &str, expect: Expect) {
        let found: Vec<String> =
            spans(&Lines::of(text)).into_iter().map(|it| text[it].to_owned()).collect();
        expect.assert_eq(&found.join(" | ").replace('\n', "⏎"));
    }

    #[test]
    fn code_spans_and_fenced_code_blocks_are_found() {
        check("a `b` c ``d ` e`` f", expect!["`b` | ``d ` e``"]);
        check("one ` alone\nand ` another", expect![""]);
        check("a ```b``` c", expect!["```b```"]);
        check("x\n```rust\n`@a`\n```\ny `z`", expect!["```rust⏎`@a`⏎```⏎ | `z`"]);
        check("  ~~~\n```\n~~~~", expect!["  ~~~⏎```⏎~~~~"]);
        check("````\n```\n````\n```", expect!["````⏎```⏎````⏎"]);
        check("```\nnever closed, `a`", expect!["`a`"]);
        check("```\n~~~\n```\n~~~", expect!["```⏎~~~⏎```⏎"]);
        check("é `ü` ``", expect!["`ü`"]);
        check(r"a \` b `c` \\`d`", expect!["`c` | `d`"]);
    }

    #[test]
    fn a_decorator_is_recognised_by_its_name_or_by_the_line_below_it() {
        let is =
            |text: &str, word: &str| Lines::of(text).is_decorator(text.find('@').unwrap(), word);
        assert!(is("why is @Override missing", "Override"));
        assert!(is("@app.route(\"/\")", "app.route"));
        assert!(is("@retry\n@slow\n  def run(self):\n", "retry"));
        assert!(is("@Inject\nprivate final int x;", "Inject"));
        assert!(!is("@buffer", "buffer"));
        assert!(!is("@buffer\nfix this", "buffer"));
        assert!(!is("@diff\nclass A is wrong", "diff"));
        assert!(!is("see @retry\ndef f():", "retry"));
        assert!(!is("@main.py\ndef f():", "main.py"));
        assert!(!is("@src/a.rs(1)", "src/a.rs"));
    }
}
