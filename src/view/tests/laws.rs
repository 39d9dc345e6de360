//! Tests that the transcript is the same at whatever times it is painted.

use super::*;
use crate::event::{Access, Failure};
use crate::session;
use proptest::prelude::*;

/// An event or progress, and whether the paint that follows succeeds.
#[derive(Debug, Clone)]
struct Act {
    kind: u8,
    pick: u8,
    paint: u8,
    words: String,
}

fn act() -> impl Strategy<Value = Act> {
    let words = prop_oneof![
        Just(" ".to_owned()),
        Just("\n\n".to_owned()),
        "[a-c *`ü\n]{1,30}",
        Just("word ".repeat(2000)),
        Just("line\n".repeat(500)),
    ];
    (0_u8..14, 0_u8..8, 0_u8..4, words).prop_map(|(kind, pick, paint, words)| Act {
        kind,
        pick,
        paint,
        words,
    })
}

/// A session that gets inputs as if from an agent, and the view that shows it.
struct Driven {
    session: Session,
    partial: Vec<Part>,
    ids: u32,
    told: Vec<Told>,
}

#[derive(Debug, Clone)]
enum Told {
    Event(Event),
    Delta(Delta),
    Toggle(u32, u32),
}

impl Told {
    fn to(&self, view: &mut View) {
        match self {
            Told::Event(event) => view.event(event, 0),
            Told::Delta(delta) => view.delta(delta, 0),
            Told::Toggle(id, line) => view.toggle(*id, *line),
        }
    }
}

impl Driven {
    fn new() -> Driven {
        let mut session = Session::default();
        let open = session::Input::Open {
            system: "s".into(),
            instructions: Vec::new(),
            model: "m".into(),
            root: "/".into(),
        };
        session.through(open);
        Driven { session, partial: Vec::new(), ids: 0, told: Vec::new() }
    }

    fn step(&mut self, input: session::Input) {
        let events = self.session.through(input).events;
        self.told.extend(events.into_iter().map(Told::Event));
    }

    fn say(&mut self, words: &str, thinking: bool) {
        if !matches!(self.session.phase, session::Phase::Sampling { .. }) {
            return;
        }
        let delta =
            if thinking { Delta::Thinking(words.into()) } else { Delta::Text(words.into()) };
        match (self.partial.last_mut(), thinking) {
            (Some(Part::Text { text }), false) | (Some(Part::Thinking { text, .. }), true) => {
                text.push_str(words);
            }
            (_, false) => self.partial.push(Part::Text { text: words.into() }),
            (_, true) => {
                self.partial.push(Part::Thinking { text: words.into(), signature: None });
            }
        }
        self.told.push(Told::Delta(delta));
    }

    fn begin_call(&mut self, pick: u8) {
        if matches!(self.session.phase, session::Phase::Sampling { .. }) {
            self.ids += 1;
            let (tool, input) = match pick {
                0..5 => ("read", json!({"path": format!("f{pick}")})),
                _ => ("shell", json!({"command": "ls"})),
            };
            let call = call(&format!("c{}", self.ids), tool, input);
            let delta = Delta::CallBegun { id: call.id.clone(), tool: call.tool.clone() };
            self.partial.push(Part::Call(call));
            self.told.push(Told::Delta(delta));
        }
    }

    fn reply(&mut self) {
        let blocks = std::mem::take(&mut self.partial);
        let (stop, usage) = (Stop::EndTurn, Usage::default());
        let reply = Reply { blocks, stop, usage, model: String::new(), by: String::new() };
        let act = Access::Act {
            command: String::new(),
            outside: None,
            background: false,
            hosts: Vec::new(),
            unlocked: Vec::new(),
        };
        let plan = |it: &ToolCall| Plan { call: it.id.clone(), access: act.clone() };
        let plans = reply.calls().map(plan).collect();
        let turn = self.session.turn().unwrap_or_default();
        self.step(session::Input::Replied { turn, reply, plans });
    }

    fn cancel(&mut self) {
        let blocks = std::mem::take(&mut self.partial);
        let (stop, usage) = (Stop::Cancelled, Usage::default());
        let partial = Some(Reply { blocks, stop, usage, model: String::new(), by: String::new() });
        self.step(session::Input::Cancel { partial });
    }

    fn act(&mut self, act: &Act) {
        let turn = self.session.turn().unwrap_or_default();
        let open =
            self.session.open().first().map_or(CallId("none".into()), |it| it.call.id.clone());
        match act.kind {
            0 | 1 => {
                let text = act.words.clone();
                self.step(session::Input::Send { text, context: Vec::new(), steer: act.pick > 5 });
            }
            2..=5 => self.say(&act.words, act.pick > 5),
            6 => self.begin_call(act.pick),
            7 | 8 => self.reply(),
            9 => self.step(session::Input::Rule { call: open, ruling: Ruling::Once }),
            10 => {
                self.told.push(Told::Delta(Delta::Output { call: open, text: act.words.clone() }));
            }
            11 => {
                let (text, summary) = (act.words.clone(), "1 line".to_owned());
                let answer = ToolAnswer {
                    id: open,
                    text,
                    failed: act.pick > 6,
                    summary,
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
                self.step(session::Input::Answered { turn, answer });
            }
            12 if act.pick > 5 => self.cancel(),
            12 if act.pick > 4 => {
                self.partial.clear();
                let failure = Failure::Cut;
                self.step(session::Input::Failed {
                    turn,
                    failure,
                    by: String::new(),
                    partial: None,
                    dice: 0,
                });
                self.step(session::Input::Rested { turn });
            }
            13 => {
                let id = u32::from(act.pick) * 4 + u32::from(act.paint);
                self.told.push(Told::Toggle(id, u32::from(act.pick)));
            }
            _ => (),
        }
    }
}

fn drive(acts: &[Act]) -> Vec<(Vec<Told>, u8)> {
    let mut driven = Driven::new();
    let mut told = Vec::new();
    for act in acts {
        driven.act(act);
        told.push((std::mem::take(&mut driven.told), act.paint));
    }
    told
}

/// The blocks that are the lines of folded runs.
fn runs(view: &View) -> Vec<u32> {
    let is_run = |it: &usize| {
        view.blocks[*it].is_shown() && matches!(view.blocks[*it].content, Content::Run(_))
    };
    (0..view.blocks.len()).filter(is_run).filter_map(|it| u32::try_from(it).ok()).collect()
}

/// The parts of a chat that are the same when it is opened again: texts, prompts, and calls with their results.
fn lasting(view: &mut View) -> String {
    let runs = runs(view);
    let mut buffer = Buffer::default();
    for run in &runs {
        if matches!(&view.blocks[*run as usize].content, Content::Run(it) if !it.is_open()) {
            view.toggle(*run, 0);
        }
    }
    view.repaint();
    buffer.drain(view);
    buffer.blocks.retain(|it| {
        matches!(it.shape, Shape::User | Shape::Text | Shape::Tool) && !runs.contains(&it.id)
    });
    for block in &mut buffer.blocks {
        block.right = block.right.replace(" · 0 ms", "");
        if block.lines.first().is_some_and(String::is_empty) {
            block.lines.remove(0);
        }
        if block.shape == Shape::Tool {
            block.lines[0] = block.lines[0].trim_start().to_owned();
        }
    }
    buffer.text()
}

/// Whether empty lines are where they have to be (see `has_gap`), and no two successful reads in a row are unfolded.
fn is_packed(view: &View, buffer: &Buffer) -> bool {
    let is_packed = |pair: &[Shown]| {
        let has_gap = pair[1].lines.first().is_some_and(String::is_empty);
        match (pair[0].shape, pair[1].shape) {
            (Shape::Tool | Shape::Thinking, Shape::Tool | Shape::Thinking) => !has_gap,
            // the gap above a growing text stays as it was
            (_, Shape::Text) => true,
            _ => has_gap,
        }
    };
    let single = |at: &Shown| match &view.blocks[at.id as usize].content {
        Content::Tool(it) if it.run.is_none() && it.name == "read" => {
            it.answer.as_ref().is_some_and(|it| !it.failed)
        }
        _ => false,
    };
    buffer.blocks.windows(2).all(|it| is_packed(it) && !(single(&it[0]) && single(&it[1])))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    /// If a chat is painted in several steps, some of which fail, the result is the same as if it is painted once at
    /// the end. Repainting does not change it.
    #[test]
    fn the_transcript_does_not_depend_on_when_it_is_painted(acts in prop::collection::vec(act(), 0..50)) {
        let (mut often, mut once) = (View::default(), View::default());
        let mut buffer = Buffer::default();
        for (told, paint) in drive(&acts) {
            for it in told {
                it.to(&mut often);
                it.to(&mut once);
            }
            match paint {
                0 => drop(often.take()),
                1 => {
                    let (reset, updates) = often.take();
                    buffer.apply(reset, &updates);
                    often.acknowledge();
                }
                2 => buffer.drain(&mut often),
                _ => (),
            }
        }
        buffer.drain(&mut often);
        let mut at_the_end = Buffer::default();
        at_the_end.drain(&mut once);
        prop_assert_eq!(buffer.text(), at_the_end.text());
        prop_assert_eq!(&buffer, &at_the_end);
        often.repaint();
        buffer.drain(&mut often);
        prop_assert_eq!(&buffer, &at_the_end);
    }

    /// A chat that is opened again shows the same texts, prompts and calls as before.
    #[test]
    fn a_reopened_chat_shows_the_same_blocks(acts in prop::collection::vec(act(), 0..50)) {
        let mut driven = Driven::new();
        let mut live = View::default();
        for act in acts.iter().filter(|it| it.kind != 13) {
            driven.act(act);
        }
        driven.cancel();
        driven.told.iter().for_each(|it| it.to(&mut live));
        let mut again = View::of(&driven.session, Vec::new());
        let mut buffer = Buffer::default();
        buffer.drain(&mut again);
        prop_assert!(is_packed(&again, &buffer), "{}", buffer.text());
        buffer = Buffer::default();
        buffer.drain(&mut live);
        prop_assert!(is_packed(&live, &buffer), "{}", buffer.text());
        prop_assert_eq!(lasting(&mut live), lasting(&mut again));
    }

    #[test]
    fn the_transcript_does_not_depend_on_where_a_text_is_cut(whole in "[a-c*`üé😀\n\r m0;\u{1b}\\[\\]\u{7}\u{9b}]{0,60}", cuts in prop::collection::vec(0_usize..60, 0..8)) {
        let mut places: Vec<usize> = cuts.into_iter().filter(|it| whole.is_char_boundary(*it)).collect();
        places.extend([0, whole.len()]);
        places.sort_unstable();
        let (mut cut, mut buffer) = (View::default(), Buffer::default());
        for pair in places.windows(2) {
            cut.delta(&Delta::Text(whole[pair[0]..pair[1]].into()), 0);
            buffer.drain(&mut cut);
        }
        cut.event(&replied(vec![text(&whole)]), 0);
        buffer.drain(&mut cut);
        let mut at_once = view_of(&[replied(vec![text(&whole)])]);
        let mut expected = Buffer::default();
        expected.drain(&mut at_once);
        let (in_pieces, whole) = (buffer.text(), expected.text());
        prop_assert_eq!(in_pieces.trim(), whole.trim());
    }
}
