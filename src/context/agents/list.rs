//! An `agents.md`: each agent begins with a line `# name`, which is followed by front matter and by the agent's prompt.

use super::definition::Definition;
use crate::event::is_agent;

/// The agents of a list, in their order. The text before the first agent is for people. A heading without front matter
/// below it, or in a block of code, is a part of the prompt around it. The error is a sentence.
pub(super) fn split<'a>(text: &'a str, shown: &str) -> Vec<Result<Definition<'a>, String>> {
    let heads = heads(text);
    let ends = heads.iter().skip(1).map(|it| it.at).chain([text.len()]);
    let parts = heads.iter().zip(ends);
    parts.map(|(head, end)| definition(head, &text[head.at..end], shown)).collect()
}

/// The line `# name` of an agent.
struct Head<'a> {
    name: &'a str,
    /// Where the line begins in the text.
    at: usize,
    /// The number of the line, from 1.
    line: usize,
}

fn heads(text: &str) -> Vec<Head<'_>> {
    let mut heads = Vec::new();
    let (mut fence, mut in_front): (Option<&str>, bool) = (None, false);
    let (mut last, mut at): (Option<Head<'_>>, usize) = (None, 0);
    for (number, whole) in (1..).zip(text.split_inclusive('\n')) {
        let line = whole.trim_end();
        let mark = ["```", "~~~"].into_iter().find(|it| line.trim_start().starts_with(it));
        if in_front {
            in_front = line != "---";
        } else if mark.is_some() && fence.is_none_or(|it| Some(it) == mark) {
            fence = if fence.is_some() { None } else { mark };
            last = None;
        } else if fence.is_none() {
            let name = line.strip_prefix("# ").map(str::trim);
            match name {
                Some(name) => last = Some(Head { name, at, line: number }),
                None if line == "---" => {
                    in_front = last.is_some();
                    heads.extend(last.take());
                }
                None if line.is_empty() => (),
                None => last = None,
            }
        }
        at += whole.len();
    }
    heads
}

fn definition<'a>(head: &Head<'a>, text: &'a str, shown: &str) -> Result<Definition<'a>, String> {
    let line = head.line;
    if !is_agent(head.name) {
        let name: String = head.name.chars().take(80).collect();
        return Err(super::definition::bad_name(shown, line, &name));
    }
    let after = text.find('\n').map_or("", |at| &text[at + 1..]);
    let empty = after.split_inclusive('\n').take_while(|it| it.trim().is_empty());
    let (lines, bytes) = empty.fold((0, 0), |(lines, bytes), it| (lines + 1, bytes + it.len()));
    let definition = Definition::new(head.name, &after[bytes..], line + 1 + lines, shown)?;
    Ok(Definition { line, written: text, ..definition })
}
