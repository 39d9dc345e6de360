//! Tests the chat as the user sees it: updates are applied to a model of the buffer, by the rules of `BlockUpdate`.

mod consulted;
mod laws;
mod runs;

use super::*;
use crate::event::{Awaited, Failure, Matter, Offer, Plan, Ruling, Tuning, TurnId};
use crate::message::ToolAnswer;
use crate::message::{Excerpt, ExcerptKind, Input, Reply, Stop, Usage};
use expect_test::{Expect, expect};
use serde_json::{Value, json};

/// A block as the editor has it.
#[derive(Debug, Clone, PartialEq)]
struct Shown {
    id: u32,
    shape: Shape,
    lines: Vec<String>,
    right: String,
    below: Vec<String>,
    call: Option<String>,
    done: bool,
}

#[derive(Debug, Clone, Default, PartialEq)]
struct Buffer {
    blocks: Vec<Shown>,
}

impl Buffer {
    fn apply(&mut self, reset: bool, updates: &[BlockUpdate]) {
        if reset {
            self.blocks.clear();
        }
        for update in updates {
            self.one(update);
        }
    }

    fn one(&mut self, update: &BlockUpdate) {
        let at = self.blocks.iter().position(|it| it.id == update.id);
        if update.remove {
            at.map(|at| self.blocks.remove(at));
            return;
        }
        let at = at.unwrap_or_else(|| {
            let new = Shown {
                id: update.id,
                shape: update.shape,
                lines: Vec::new(),
                right: String::new(),
                below: Vec::new(),
                call: None,
                done: false,
            };
            let at = self.blocks.iter().take_while(|it| it.id < new.id).count();
            self.blocks.insert(at, new);
            at
        });
        let block = &mut self.blocks[at];
        if let Some(lines) = &update.lines {
            assert!(lines.iter().all(|it| !it.contains('\n')), "a line of two lines");
            block.lines.truncate(update.at as usize);
            block.lines.extend(lines.iter().cloned());
            block.call.clone_from(&update.call);
        }
        if let Some(text) = &update.append {
            let mut pieces = text.split('\n');
            match (block.lines.last_mut(), pieces.next()) {
                (Some(last), Some(first)) => last.push_str(first),
                (None, Some(first)) => block.lines.push(first.to_owned()),
                _ => (),
            }
            block.lines.extend(pieces.map(str::to_owned));
        }
        block.shape = update.shape;
        block.done = update.done;
        block.right = update.right.clone().unwrap_or(std::mem::take(&mut block.right));
        block.below = update.below.clone().unwrap_or(std::mem::take(&mut block.below));
    }

    /// Paints until there are no more updates.
    fn drain(&mut self, view: &mut View) {
        for _ in 0..100_000 {
            if !view.is_dirty() {
                return;
            }
            let (reset, updates) = view.take();
            self.apply(reset, &updates);
            view.acknowledge();
        }
        panic!("the view never comes to rest");
    }

    fn text(&self) -> String {
        let mut text = String::new();
        for block in &self.blocks {
            let head = block.lines.iter().position(|it| !it.is_empty());
            for (n, line) in block.lines.iter().enumerate() {
                text.push_str(line);
                if Some(n) == head && !block.right.is_empty() {
                    text.push_str(&format!("  ⟩ {}", block.right));
                }
                text.push('\n');
            }
            block.below.iter().for_each(|it| text.push_str(&format!("{it}\n")));
        }
        text
    }
}

fn queued(text: &str, context: Vec<Excerpt>) -> Queued {
    Queued { id: 1, text: text.into(), context, steer: false }
}

fn prompted(text: &str) -> Event {
    Event::Prompted { turn: TurnId(1), message: queued(text, Vec::new()) }
}

fn call(id: &str, tool: &str, input: Value) -> ToolCall {
    ToolCall { id: CallId(id.into()), tool: tool.into(), input: Input::Json(input) }
}

fn replied(blocks: Vec<Part>) -> Event {
    let (stop, usage) = (Stop::EndTurn, Usage::default());
    let reply = Reply { blocks, stop, usage, model: String::new(), by: String::new() };
    Event::Replied { turn: TurnId(1), reply, plans: Vec::<Plan>::new() }
}

fn text(text: &str) -> Part {
    Part::Text { text: text.into() }
}

fn answered(id: &str, text: &str, summary: &str) -> Event {
    let answer = ToolAnswer {
        id: CallId(id.into()),
        text: text.into(),
        failed: false,
        summary: summary.into(),
        output: None,
        images: Vec::new(),
        job_end: None,
        foreign: None,
        inquiry: None,
        fault: false,
        verdict: false,
        reversed: false,
        session: None,
        diff: Vec::new(),
        shown: None,
        changed: None,
    };
    Event::Answered { turn: TurnId(1), answer }
}

fn started(id: &str) -> Event {
    Event::Started { turn: TurnId(1), call: CallId(id.into()) }
}

fn output(id: &str, text: &str) -> Delta {
    Delta::Output { call: CallId(id.into()), text: text.into() }
}

/// The view after these events, one second apart.
fn view_of(events: &[Event]) -> View {
    let mut view = View::default();
    for (event, second) in events.iter().zip(1..) {
        view.event(event, second * 1000);
    }
    view
}

fn shown(view: &mut View) -> String {
    let mut buffer = Buffer::default();
    view.repaint();
    buffer.drain(view);
    buffer.text()
}

#[expect(clippy::needless_pass_by_value, reason = "a table's row gives its snapshot away")]
fn check(events: &[Event], expect: Expect) {
    expect.assert_eq(&shown(&mut view_of(events)));
}

#[test]
fn a_turn_is_shown_with_its_prompt_thought_reply_and_tool_lines() {
    let selection = Excerpt {
        path: "src/a.rs".into(),
        lines: Some((3, 4)),
        filetype: "rust".into(),
        kind: ExcerptKind::Selection,
        text: "let x;\nlet y;".into(),
        ..Excerpt::default()
    };
    let message = queued("What is\nthis?\n", vec![selection]);
    check(
        &[
            Event::Prompted { turn: TurnId(1), message },
            replied(vec![
                Part::Thinking { text: "Hm.\nAha.".into(), signature: None },
                text("I *look*.\n\n"),
                Part::Call(call("c1", "read", json!({"path": "src/a.rs", "lines": "10-40"}))),
                Part::Call(call("c2", "shell", json!({"command": "make\ntest", "time": null}))),
                Part::Call(ToolCall {
                    id: CallId("c3".into()),
                    tool: "edit".into(),
                    input: Input::Broken { text: "{\"path\": \"a".into(), why: "EOF".into() },
                }),
            ]),
            started("c1"),
            answered("c1", "10\tfn main() {}", "31 lines"),
            Event::Asked {
                turn: TurnId(1),
                call: CallId("c2".into()),
                question: "Run `make`?\nIt acts.".into(),
                offer: Offer::default(),
            },
        ],
        expect![[r#"
            What is
            this?
            ▏selection  src/a.rs:3-4  2 lines  4 tokens

            ▸ Thought
            I *look*.

            ▸ read  path="src/a.rs" lines="10-40"  ⟩ 31 lines · 1 s
            ▸ shell  make⏎test  ⟩ waiting for you
            ▸ edit  {"path": "a  (arguments cut off)

            ? Run `make`?
              It acts.
              y once   s this session   n no   e no, because …   i explain
        "#]],
    );
}

#[test]
fn an_answered_question_disappears_and_a_verdict_remains() {
    let ask = |id: &str| Event::Asked {
        turn: TurnId(1),
        call: CallId(id.into()),
        question: "Run it?".into(),
        offer: Offer::default(),
    };
    let rule = |id: &str, ruling| Event::Ruled { turn: TurnId(1), call: CallId(id.into()), ruling };
    check(
        &[
            prompted("go"),
            replied(vec![
                Part::Call(call("c1", "shell", json!({"command": "a"}))),
                Part::Call(call("c2", "shell", json!({"command": "b"}))),
                Part::Call(call("c3", "edit", json!({"path": "p", "edits": []}))),
            ]),
            ask("c1"),
            rule("c1", Ruling::Once),
            started("c1"),
            ask("c2"),
            rule("c2", Ruling::Denied { reason: "no".into() }),
            Event::Proposed {
                turn: TurnId(1),
                call: CallId("c3".into()),
                path: "p".into(),
                what: Awaited::hunks(1),
                diff: None,
            },
            Event::Noted { text: "1 hunk kept.".into(), call: None },
            Event::Retried { turn: TurnId(1), failure: Failure::Cut, wait_ms: 1500 },
            ask("c1"),
            Event::Ended { turn: TurnId(1), why: End::Cancelled },
        ],
        expect![[r#"
            go

            ▸ shell  a  ⟩ not run
            ▸ shell  b  ⟩ not run
            ▸ edit  p  ⟩ under review

            ! 1 hunk kept.

            ! Stopped.
        "#]],
    );
}

#[test]
fn a_failed_reply_is_replaced_by_the_reply_of_its_retry() {
    let mut view = view_of(&[prompted("go")]);
    let mut buffer = Buffer::default();
    view.delta(&Delta::Text("half an".into()), 0);
    view.delta(&Delta::CallBegun { id: CallId("c1".into()), tool: "read".into() }, 0);
    buffer.drain(&mut view);
    assert_eq!(buffer.text(), "go\n\nhalf an\n\n▸ read …\n");
    view.event(&Event::Retried { turn: TurnId(1), failure: Failure::Cut, wait_ms: 1 }, 0);
    view.delta(&Delta::Text("a whole".into()), 0);
    view.event(&replied(vec![text("a whole")]), 0);
    buffer.drain(&mut view);
    expect![[r#"
        go

        a whole
    "#]]
    .assert_eq(&buffer.text());
}

/// Every text that can come from outside contains control characters here.
/// A sequence in a command encloses text that is run like the rest.
#[test]
fn escape_sequences_in_what_the_model_calls_are_spelt_out() {
    for (begin, end) in [
        ("\x1b_", "\x1b\\"),
        ("\x1b]0;", "\x07"),
        ("\x1bP", "\x1b\\"),
        ("\u{9b}", "m"),
        ("\x1b[", "m"),
    ] {
        let command = format!("x='{begin}'; touch hidden; y='{end}'; ls");
        let mut view = view_of(&[
            prompted("go"),
            replied(vec![Part::Call(call("c1", "shell", json!({ "command": command })))]),
        ]);
        let shown = shown(&mut view);
        assert!(shown.contains("touch hidden") && shown.contains("[U+00"), "{shown}");
    }
}

#[test]
fn control_characters_are_never_painted() {
    let evil = "a\x1b[31mb\r\nc\0d\u{7f}\u{9b}\u{85}e\tf\x08\x0c";
    let mut view = view_of(&[
        prompted(evil),
        replied(vec![
            text(evil),
            Part::Thinking { text: evil.into(), signature: None },
            Part::Call(call("c1", "read", json!({"path": evil, "x": evil, "y": {"z": evil}}))),
            Part::Call(call("c2", "shell", json!({"command": evil}))),
            Part::Call(call(
                "c3",
                "edit",
                json!({"path": evil, "edits": [{"old": evil, "new": evil}]}),
            )),
            Part::Call(call("c4", evil, json!([evil]))),
        ]),
        Event::Asked {
            turn: TurnId(1),
            call: CallId("c2".into()),
            question: evil.into(),
            offer: Offer::default(),
        },
        answered("c1", evil, evil),
        Event::Told { text: evil.into() },
        Event::ModelChosen { model: evil.into(), tuning: Tuning::default() },
        Event::Prompted {
            turn: TurnId(2),
            message: queued(
                "x",
                vec![Excerpt {
                    path: evil.into(),
                    filetype: evil.into(),
                    text: evil.into(),
                    note: evil.into(),
                    ..Excerpt::default()
                }],
            ),
        },
        Event::Ended { turn: TurnId(1), why: End::Stopped(evil.into()) },
    ]);
    view.delta(&Delta::CallBegun { id: CallId("c9".into()), tool: evil.into() }, 0);
    view.delta(&output("c2", evil), 0);
    view.delta(&Delta::Thinking(evil.into()), 0);
    view.delta(&Delta::Text(evil.into()), 0);
    (0..20).for_each(|id| view.toggle(id, 0));
    let text = shown(&mut view);
    let bad: Vec<char> =
        text.chars().filter(|it| it.is_control() && !"\n\t".contains(*it)).collect();
    assert!(bad.is_empty(), "{bad:?} in {text}");
}

#[test]
fn toggling_a_block_unfolds_or_folds_it() {
    let mut view = view_of(&[
        replied(vec![
            Part::Thinking { text: "Hm.\nAha.".into(), signature: None },
            Part::Call(call(
                "c1",
                "edit",
                json!({"path": "p", "edits": [{"old": "a\nb", "new": "c"}]}),
            )),
        ]),
        answered("c1", "1 hunk kept", "kept"),
    ]);
    let closed = shown(&mut view);
    view.toggle(0, 0);
    view.toggle(1, 0);
    view.toggle(99, 0);
    expect![[r#"
        ▾ Thought
          Hm.
          Aha.
        ▾ edit  p  ⟩ kept · 1 s
            -a
            -b
            +c
            1 hunk kept
    "#]]
    .assert_eq(&shown(&mut view));
    view.toggle(0, 0);
    view.toggle(1, 0);
    assert_eq!(shown(&mut view), closed);
}

#[test]
fn live_output_is_shown_up_to_a_limit_and_replaced_by_the_result() {
    let events =
        [replied(vec![Part::Call(call("c1", "shell", json!({"command": "seq"})))]), started("c1")];
    let mut view = view_of(&events);
    let mut buffer = Buffer::default();
    for n in 0..1000 {
        view.delta(&output("c1", &format!("line {n}\n")), 0);
        if n % 7 == 0 {
            buffer.drain(&mut view);
        }
    }
    buffer.drain(&mut view);
    let text = buffer.text();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!((lines.len(), lines[1], lines[400]), (403, "    line 0", "    line 399"));
    assert_eq!(lines[402], "    … the rest is shown when the command ends");
    view.event(&answered("c1", "line 0\n…", "exit 0"), 2500);
    buffer.drain(&mut view);
    assert_eq!(buffer.text(), "▸ shell  seq  ⟩ exit 0 · 500 ms\n");
    view.delta(&output("c1", "late\n"), 0);
    assert!(!view.is_dirty());
}

#[test]
fn a_very_long_line_is_painted_in_pieces() {
    let long = "ü".repeat(500_000);
    let mut view = View::default();
    view.delta(&Delta::Text(long.clone()), 0);
    let mut buffer = Buffer::default();
    while view.is_dirty() {
        let (reset, updates) = view.take();
        let size: usize = updates.iter().map(|it| it.append.as_ref().map_or(0, String::len)).sum();
        assert!(size < 10_000, "{size} bytes in one paint");
        buffer.apply(reset, &updates);
        view.acknowledge();
    }
    assert!(buffer.blocks[0].lines == [long.as_str()]);
    let mut view = view_of(&[
        replied(vec![Part::Call(call("c1", "shell", json!({"command": long})))]),
        answered("c1", &long, &long),
    ]);
    view.toggle(0, 0);
    let longest = shown(&mut view).lines().map(|it| it.chars().count()).max();
    assert!(longest < Some(500_000 + 200));
}

#[test]
fn a_replys_texts_before_and_after_a_hidden_signature_are_shown_as_one_text() {
    let signature =
        Part::Raw { provider: "gemini".into(), value: json!({ "thoughtSignature": "c2ln" }) };
    let reply = replied(vec![text("One sen"), signature, text("tence.")]);
    let mut live = View::default();
    live.delta(&Delta::Text("One sen".into()), 0);
    live.delta(&Delta::Text("tence.".into()), 0);
    live.event(&reply, 0);
    assert_eq!(shown(&mut live), shown(&mut view_of(&[reply])));
}
