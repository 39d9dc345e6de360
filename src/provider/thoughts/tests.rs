use super::*;
use crate::message::{CallId, Reply, Stop, Usage};
use proptest::prelude::*;

/// The text and the thoughts of a reply that arrives in these pieces, each thought in braces.
fn read(pieces: &[&str]) -> String {
    let mut thoughts = Thoughts::default();
    let mut out = Vec::new();
    let mut values: Vec<Sampled> =
        pieces.iter().map(|it| Sampled::Delta(Delta::Text((*it).to_owned()))).collect();
    let text = Block::Text { text: pieces.concat() };
    let (stop, usage, none) = (Stop::EndTurn, Usage::default(), String::new());
    values.push(Sampled::Done(Reply {
        blocks: vec![text],
        stop,
        usage,
        model: none.clone(),
        by: none,
    }));
    thoughts.pass(&mut values, &mut out);
    let Some(Sampled::Done(reply)) = out.pop() else { panic!("{out:?}") };
    let kept: String = reply
        .blocks
        .iter()
        .map(|it| match it {
            Block::Text { text } => text.clone(),
            Block::Thinking { text, .. } => format!("{{{text}}}"),
            other => panic!("{other:?}"),
        })
        .collect();
    let (mut text, mut thought) = (String::new(), String::new());
    for it in &out {
        match it {
            Sampled::Delta(Delta::Text(more)) => text.push_str(more),
            Sampled::Delta(Delta::Thinking(more)) => thought.push_str(more),
            Sampled::Delta(Delta::WasThought { bytes }) => {
                thought.push_str(&text.split_off(text.len() - bytes));
            }
            other => panic!("{other:?}"),
        }
    }
    let of = |is_thought: bool| -> String {
        let blocks = reply.blocks.iter().filter_map(|it| match it {
            Block::Text { text } if !is_thought => Some(text.as_str()),
            Block::Thinking { text, .. } if is_thought => Some(text.as_str()),
            _ => None,
        });
        blocks.collect()
    };
    assert_eq!((text, thought), (of(false), of(true)), "shown and kept are the same");
    kept
}

/// Checks a text as a whole, cut in two at every place, and character by character.
#[track_caller]
fn check(text: &str, expected: &str) {
    assert_eq!(read(&[text]), expected, "{text:?}");
    for at in (0..=text.len()).filter(|it| text.is_char_boundary(*it)) {
        let (head, tail) = text.split_at(at);
        assert_eq!(read(&[head, tail]), expected, "{text:?} cut at {at}");
    }
    let single: Vec<String> = text.chars().map(String::from).collect();
    let single: Vec<&str> = single.iter().map(String::as_str).collect();
    assert_eq!(read(&single), expected, "{text:?} in single characters");
}

#[test]
fn a_thought_between_tags_is_no_text() {
    check("<think>Hm.</think>Yes.", "{Hm.}Yes.");
    check("\n<think>\nHm.\n</think>\n\nYes.", "{\nHm.\n}Yes.");
    check("<thinking>Hm.</thinking> Yes.", "{Hm.}Yes.");
    check("[THINK]Hm.[/THINK]Yes.", "{Hm.}Yes.");
    check("◁think▷Hm.◁/think▷Yes.", "{Hm.}Yes.");
    check("<think></think>Yes.", "Yes.");
    check("<think>\n\n</think>\n\nYes.", "{\n\n}Yes.");
    check("<think>a < b</thin></think>Yes.", "{a < b</thin>}Yes.");
    check("<think>One.</think>\n<think>Two.</think>\nYes.", "{One.}{Two.}Yes.");
    check("<think>Never closed", "{Never closed}");
    check("<think>Never closed</thi", "{Never closed</thi}");
    let harmony =
        "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Yes.";
    check(harmony, "{Hm.}Yes.");
}

#[test]
fn a_thought_whose_first_tag_never_arrives_ends_at_its_last_tag() {
    check("Hm.\n</think>\n\nYes.", "{Hm.\n}Yes.");
    check("Hm. Well.</think>\nYes.", "{Hm. Well.}Yes.");
    check("Hm.\n</think>Yes.", "{Hm.\n}Yes.");
    check("Hm.</thinking>", "{Hm.}");
    check("</think>\n\nYes.", "Yes.");
    check("Hm [x] < y.\n</think>\n1 </think>\n", "{Hm [x] < y.\n}1 </think>\n");
}

#[test]
fn a_text_about_tags_stays_text() {
    for text in [
        "The tag `</think>` ends it.",
        "A model writes <think> and </think> around its thoughts.",
        "Use this:\n```\nHm.\n</think>\nYes.\n```\nDone.",
        "```xml\n<think>Hm.</think>\n```",
        "  indented",
        "<thin",
        "< 3",
        "[x] done\n[ ] open\n",
        "a<b and [c] and </thi",
        "",
        "  ",
        "🦀 <",
    ] {
        check(text, text);
    }
}

#[test]
fn each_run_of_text_may_begin_with_a_thought() {
    let text = |it: &str| Sampled::Delta(Delta::Text(it.to_owned()));
    let call = Delta::CallBegun { id: CallId("c".into()), tool: "read".into() };
    let mut values = vec![
        text("I look.<th"),
        Sampled::Delta(call.clone()),
        text("<think>Hm."),
        text("</think>"),
        Sampled::Delta(call.clone()),
        text("Well.</think>"),
        Sampled::Failed(crate::event::Failure::Cut),
    ];
    let mut out = Vec::new();
    Thoughts::default().pass(&mut values, &mut out);
    let expected = vec![
        text("I look."),
        text("<"),
        text("th"),
        Sampled::Delta(call.clone()),
        Sampled::Delta(Delta::Thinking("Hm.".into())),
        Sampled::Delta(call),
        text("Well."),
        Sampled::Delta(Delta::WasThought { bytes: 5 }),
        Sampled::Failed(crate::event::Failure::Cut),
    ];
    assert_eq!(out, expected);
}

proptest! {
    #[test]
    fn the_result_does_not_depend_on_the_pieces(
        parts in prop::collection::vec(prop::sample::select(vec![
            "<think>", "</think>", "</thinking>", "[THINK]", "[/THINK]", "<", "[", "`", "```\n", "\n", " ", "Hm.", "é",
            "◁", "think>", "/", "<|channel|>", "analysis<|message|>", "<|end|>",
        ]), 0..12),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
    ) {
        let text = parts.concat();
        let ends: Vec<usize> = (0..=text.len()).filter(|it| text.is_char_boundary(*it)).collect();
        let mut at: Vec<usize> = cuts.iter().map(|it| *it.get(&ends)).collect();
        at.extend([0, text.len()]);
        at.sort_unstable();
        let pieces: Vec<&str> = at.windows(2).map(|it| &text[it[0]..it[1]]).collect();
        prop_assert_eq!(read(&pieces), read(&[&text]));
    }
}
