//! Reads the summary in a model's reply. No form is refused: sections are known by what their headings mean, and a text
//! without headings is a summary too.

use crate::message::{Block, Input, Reply, Stop};
use serde_json::Value;

/// The headings of a summary's sections, and what each section has to say.
pub(super) const SECTIONS: [(&str, &str); 8] = [
    ("Goal", "what the user wants, with their own words where these matter"),
    ("Constraints", "what the user demands, prefers or forbids"),
    ("Done", "what is finished, with the paths of the files, and what was tested"),
    ("In progress", "what was begun and is not finished, and how far it is"),
    ("Decisions", "what was decided and why, and what was tried and does not work"),
    ("Open questions", "what the user or the agent still has to answer"),
    ("Files to re-read", "the paths whose text the next steps need"),
    ("Next step", "the one thing to do next"),
];

/// A summary as the model has written it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Summary {
    pub(super) text: String,
    /// The sections that the text has, as places in `SECTIONS`. Empty if no heading is known.
    pub(super) has: Vec<usize>,
    /// Whether the text ends in the middle.
    pub(super) is_cut: bool,
}

/// Beginnings of words in a heading that tell the section, in the order in which they are looked for.
const MEANINGS: [(usize, &[&str]); 8] = [
    (7, &["next"]),
    (5, &["question", "unanswered", "unclear"]),
    (6, &["file", "re-read", "reread"]),
    (3, &["progress", "in-progress", "ongoing", "begun", "unfinished"]),
    (4, &["decision", "decided", "finding"]),
    (1, &["constraint", "preference", "requirement", "rule"]),
    (2, &["done", "completed", "finished", "accomplish"]),
    (0, &["goal", "objective", "purpose", "intent"]),
];

/// The most words of a heading.
const WORDS: usize = 6;

/// The summary in a reply. The error is a clause that says why there is none.
pub(super) fn read(reply: &Reply) -> Result<Summary, String> {
    let is_cut = match reply.stop {
        Stop::EndTurn | Stop::StopSequence | Stop::ToolUse => false,
        Stop::MaxTokens | Stop::ContextExceeded => true,
        Stop::Refusal => return Err("the model refused to write a summary".into()),
        _ => return Err("the summary is not complete".into()),
    };
    let texts = reply.blocks.iter().filter_map(|it| match it {
        Block::Text { text } => Some(text.as_str()),
        _ => None,
    });
    let mut text = unwrapped(&texts.collect::<String>()).to_owned();
    if text.is_empty() {
        // a model may put the summary into the arguments of a tool that it was not offered
        text = reply.calls().find_map(|it| written(&it.input)).unwrap_or_default();
    }
    if let Some(said) = serde_json::from_str(&text).ok().as_ref().and_then(of_json) {
        text = said;
    }
    match (text.is_empty(), is_cut, reply.calls().next()) {
        (false, ..) => {
            let (text, has) = sections(&text);
            Ok(Summary { text, has, is_cut })
        }
        (true, true, _) => Err("the reply was at the output limit before the summary began".into()),
        (true, _, Some(_)) => Err("the model called a tool instead of writing a summary".into()),
        (true, ..) => Err("the summary is empty".into()),
    }
}

/// The text without a fence or a tag around all of it.
fn unwrapped(text: &str) -> &str {
    let mut text = text.trim();
    if let Some(inner) = text.strip_prefix("```").and_then(|it| it.strip_suffix("```"))
        && let Some((_, inner)) = inner.split_once('\n')
        && !inner.contains("\n```")
    {
        text = inner.trim();
    }
    let tagged = text.split_once("<summary>").and_then(|(_, it)| it.split_once("</summary>"));
    tagged.map_or(text, |(inner, _)| inner.trim())
}

fn written(input: &Input) -> Option<String> {
    match input {
        Input::Json(value) => of_json(value),
        Input::Broken { .. } => None,
    }
}

/// An object of texts, as sections.
fn of_json(value: &Value) -> Option<String> {
    let fields = value.as_object().filter(|it| !it.is_empty())?;
    let is_summary = fields.keys().any(|it| meaning(&it.replace('_', " ")).is_some());
    if let (Some(inner), false) = (fields.values().next(), is_summary) {
        return match inner {
            Value::String(text) if fields.contains_key("summary") => {
                Some(unwrapped(text).to_owned())
            }
            inner if fields.len() == 1 => of_json(inner),
            _ => None,
        };
    }
    let one = |(name, it): (&String, &Value)| {
        let heading = name.replace('_', " ");
        format!("## {heading}\n{}", said(it))
    };
    Some(fields.iter().map(one).collect::<Vec<_>>().join("\n\n"))
}

fn said(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => {
            items.iter().map(|it| format!("- {}", said(it))).collect::<Vec<_>>().join("\n")
        }
        Value::Null => "None.".to_owned(),
        other => other.to_string(),
    }
}

/// A line that is a heading, or begins with one.
struct Heading<'a> {
    line: usize,
    name: &'a str,
    /// The text after the heading, in the same line.
    rest: &'a str,
    section: Option<usize>,
}

/// The text with this program's headings, from the first heading on, and the sections that it has.
fn sections(text: &str) -> (String, Vec<usize>) {
    let lines: Vec<&str> = text.lines().collect();
    let mut headings: Vec<Heading<'_>> =
        lines.iter().enumerate().filter_map(|(at, line)| heading(at, line)).collect();
    // headings in another language: all sections in their order
    if headings.len() == SECTIONS.len() {
        headings.iter_mut().enumerate().for_each(|(at, it)| it.section = Some(at));
    }
    let mut has: Vec<usize> = Vec::new();
    for it in &mut headings {
        it.section = it.section.filter(|section| !has.contains(section));
        has.extend(it.section);
    }
    if has.is_empty() {
        return (text.trim().to_owned(), has);
    }
    let mut said = Vec::new();
    for (at, line) in lines.iter().enumerate().skip(headings[0].line) {
        match headings.iter().find(|it| it.line == at) {
            Some(Heading { section: Some(section), rest, .. }) => {
                said.push(format!("## {}", SECTIONS[*section].0));
                said.extend((!rest.is_empty()).then(|| (*rest).to_owned()));
            }
            Some(it) if it.rest.is_empty() => said.push(format!("## {}", it.name)),
            _ => said.push((*line).to_owned()),
        }
    }
    (said.join("\n").trim().to_owned(), has)
}

fn heading(line: usize, text: &str) -> Option<Heading<'_>> {
    let text = text.trim();
    let bare = text.trim_start_matches(|it: char| it.is_whitespace() || "#*_".contains(it));
    let bare = bare.strip_prefix(|it: char| it.is_ascii_digit()).map_or(bare, |it| {
        let it = it.trim_start_matches(|it: char| it.is_ascii_digit());
        it.strip_prefix(['.', ')', ':']).unwrap_or(bare)
    });
    let marks = |it: &str| ["#", "**", "__"].iter().any(|mark| it.trim_start().starts_with(mark));
    let is_marked = marks(text) || marks(bare);
    let (name, rest) = match bare.split_once([':', '：']) {
        Some((name, rest)) => (name, rest),
        None => (bare, ""),
    };
    let around = |it: char| it.is_whitespace() || "#*_:".contains(it);
    let (name, rest) = (name.trim_matches(around), rest.trim_start_matches(around));
    // a mark of emphasis that closes behind the text
    let rest = rest.trim();
    let section = meaning(name);
    let is_whole = rest.is_empty();
    let is_bare_list = text.starts_with(['-', '+', '•']);
    let is_heading = match section {
        _ if name.is_empty() || name.split_whitespace().count() > WORDS || is_bare_list => false,
        Some(_) => {
            is_marked
                || is_whole && (text.ends_with([':', '：']) || is_exact(name))
                || is_exact(name)
        }
        None => {
            is_marked
                && is_whole
                && (text.starts_with('#') || text.trim_end_matches(':').ends_with("**"))
        }
    };
    is_heading.then_some(Heading { line, name, rest, section })
}

fn is_exact(name: &str) -> bool {
    SECTIONS.iter().any(|it| it.0.eq_ignore_ascii_case(name))
}

/// The section that a heading means.
fn meaning(name: &str) -> Option<usize> {
    if let Some(at) = SECTIONS.iter().position(|it| it.0.eq_ignore_ascii_case(name)) {
        return Some(at);
    }
    let name = name.to_lowercase();
    let has = |word: &&str| name.split_whitespace().any(|it| it.starts_with(*word));
    MEANINGS.iter().find(|(_, words)| words.iter().any(has)).map(|it| it.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{CallId, ToolCall, Usage};
    use serde_json::json;

    fn reply(blocks: Vec<Block>, stop: Stop) -> Reply {
        Reply { blocks, stop, usage: Usage::default(), model: String::new(), by: String::new() }
    }

    fn said(text: &str) -> Summary {
        read(&reply(vec![Block::Text { text: text.into() }], Stop::EndTurn)).unwrap()
    }

    fn all(one: impl Fn(usize, &str) -> String) -> String {
        let sections = SECTIONS.iter().enumerate();
        sections.map(|(n, (name, _))| one(n, name) + "\nText.\n").collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn a_summary_with_all_sections_is_read_in_every_form_of_its_headings() {
        let plain = all(|_, name| format!("## {name}"));
        let french = [
            "But",
            "Contraintes",
            "Fait",
            "En cours",
            "Décisions",
            "Questions ouvertes",
            "À relire",
            "Suite",
        ];
        let forms = [
            plain.clone(),
            all(|_, name| format!("# {}:", name.to_uppercase())),
            all(|n, name| format!("## {}. {name}", n + 1)),
            all(|n, name| format!("{}) **{name}**", n + 1)),
            all(|n, name| format!("{}. {name}:", n + 1)),
            all(|_, name| format!("**{name}:**")),
            all(|_, name| format!("__{name}__")),
            all(|_, name| format!("### **{name}**")),
            all(|_, name| name.to_owned()),
            all(|_, name| format!("{name}:")),
            all(|n, _| format!("## {}", french[n])),
            all(|n, _| format!("**{}**", french[n])),
            format!("Here is the summary:\n\n{plain}"),
            format!("```markdown\n{plain}```"),
            format!("<summary>\n{plain}</summary>\nI hope that this helps."),
        ];
        let expected = plain.trim();
        for form in forms {
            let Summary { text, has, is_cut } = said(&form);
            assert_eq!((text.as_str(), has.len(), is_cut), (expected, 8, false), "{form}");
        }
        let inline = all(|_, name| format!("**{name}:** Text.")).replace(" Text.\nText.", " Text.");
        assert_eq!(said(&inline).text, expected);
    }

    #[test]
    fn sections_are_known_by_meaning_and_others_are_kept() {
        let text = "## Objective\nA.\n## Completed work\nB.\n## Risks\nC.\n## Next steps\nD.\n## Key files\nE.";
        let Summary { text, has, .. } = said(text);
        assert_eq!(has, [0, 2, 7, 6]);
        assert_eq!(
            text,
            "## Goal\nA.\n## Done\nB.\n## Risks\nC.\n## Next step\nD.\n## Files to re-read\nE."
        );
    }

    #[test]
    fn a_text_without_headings_is_a_summary() {
        for text in [
            "The user wants a faster parser. Next, run the tests.",
            "- goal: fast\n- done: nothing",
        ] {
            assert_eq!(said(text), Summary { text: text.into(), has: vec![], is_cut: false });
        }
    }

    #[test]
    fn json_and_the_arguments_of_a_call_are_sections() {
        let value = json!({ "goal": "A.", "open_questions": ["B?", "C?"], "next_step": null });
        let expected = "## Goal\nA.\n\n## Open questions\n- B?\n- C?\n\n## Next step\nNone.";
        assert_eq!(said(&value.to_string()).text, expected);
        assert_eq!(said(&format!("```json\n{value}\n```")).text, expected);
        assert_eq!(said(&json!({ "summary": "## Goal\nA." }).to_string()).text, "## Goal\nA.");
        let call = |input| {
            let call = ToolCall { id: CallId("c".into()), tool: "summary".into(), input };
            read(&reply(vec![Block::Call(call)], Stop::ToolUse))
        };
        assert_eq!(call(Input::Json(json!({ "summary": value }))).unwrap().text, expected);
        let none = call(Input::Json(json!({ "path": "a.rs" }))).unwrap_err();
        assert_eq!(none, "the model called a tool instead of writing a summary");
    }

    #[test]
    fn only_a_reply_without_a_text_or_without_an_end_is_no_summary() {
        let text = || vec![Block::Text { text: "## Goal\nA".into() }];
        let cut = read(&reply(text(), Stop::MaxTokens)).unwrap();
        assert_eq!((cut.text.as_str(), cut.is_cut), ("## Goal\nA", true));
        for (blocks, stop, why) in [
            (vec![], Stop::EndTurn, "the summary is empty"),
            (vec![], Stop::MaxTokens, "the reply was at the output limit before the summary began"),
            (text(), Stop::Refusal, "the model refused to write a summary"),
            (text(), Stop::Cancelled, "the summary is not complete"),
        ] {
            assert_eq!(read(&reply(blocks, stop)).unwrap_err(), why);
        }
    }
}
