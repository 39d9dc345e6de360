//! Tests laws of the session on random sequences of inputs.

use super::gate::{self, Gates, may_begin};
use super::*;
use crate::context::ledger::Ledger;
use crate::context::{parts, request, size};
use crate::event::{Measure, PlanVerdict};
use crate::provider::dialect::{Dialect, Quirks};
use proptest::prelude::*;
use serde_json::Value;

/// Checks what every provider requires of a request, independent of any dialect.
pub(super) fn assert_valid(session: &Session) {
    let request = request::build(session, crate::message::Request::default());
    let mut open: Vec<&CallId> = Vec::new();
    let mut seen = std::collections::HashSet::new();
    for (n, message) in request.messages.iter().enumerate() {
        assert!(!message.blocks.is_empty(), "an empty message");
        assert!(n > 0 || message.role == Role::User, "the first is not the user's");
        let given: Vec<&CallId> = message
            .blocks
            .iter()
            .filter_map(|it| match it {
                Block::Answer(answer) => Some(&answer.id),
                _ => None,
            })
            .collect();
        assert_eq!(given, open, "the calls and the next message's answers differ");
        open.clear();
        for block in &message.blocks {
            match block {
                Block::Call(call) => {
                    assert!(seen.insert(&call.id), "a call twice");
                    open.push(&call.id);
                }
                Block::Text { text } => assert!(!text.trim().is_empty(), "an empty text"),
                Block::Answer(answer) => assert!(!answer.text.is_empty(), "an empty answer"),
                _ => (),
            }
        }
    }
    assert!(open.is_empty(), "a call without an answer");
    assert_adds_up(session);
}

/// Checks that the sections of the ledger add up to the size of the next request.
fn assert_adds_up(session: &Session) {
    let ledger = Ledger::of(session, 999, size::Limits::default());
    assert_eq!(ledger.sections.iter().sum::<u64>(), ledger.total);
    assert_eq!(ledger.total, parts::of_next(session, 999));
    assert!(ledger.largest.iter().map(|it| it.tokens).sum::<u64>() <= ledger.total);
}

/// A random act. Together with the session's state it becomes an input.
#[derive(Debug, Clone)]
enum Act {
    Send(bool),
    Reply(Vec<u8>),
    /// A reply that ends with this stop reason.
    Stop(Stop, bool),
    Fail(Failure, bool),
    Answer(usize),
    Enter(usize),
    Landed,
    Apply(usize),
    Review(usize),
    /// The user answers the open question, or too late a question that is not open any more.
    Rule(u8),
    /// A running call needs another access: to edit, to format, or one that is never given.
    Need(usize, u8),
    /// The user changes the command that asks, to a text with or without a hidden character.
    Change(bool),
    /// The user responds to the model's question.
    Respond(Response),
    Unrecorded(usize),
    Rested,
    Cancel(bool),
    Note,
    Lost,
    Unqueue,
    Late,
    Mode,
    /// The user decides on the plan.
    Decide(u8),
    /// Trims the call that was answered this many calls ago, and the excerpt with this number.
    Trim(u32),
    /// A provider's count of tokens, and the number of bytes of the request.
    Measure(u64, u64),
    Compact,
    /// A summary arrives, or the compaction fails.
    Summary(bool),
    Uncompact,
    Workers(u8),
    /// The calls that have waited longest pass the first gate.
    Admit,
    /// The calls that have waited longest pass the second gate.
    Release,
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        2 => any::<bool>().prop_map(Act::Send),
        4 => prop::collection::vec(0_u8..7, 0..5).prop_map(Act::Reply),
        1 => (stop(), any::<bool>()).prop_map(|(stop, calls)| Act::Stop(stop, calls)),
        2 => (failure(), any::<bool>()).prop_map(|(failure, partial)| Act::Fail(failure, partial)),
        5 => (0_usize..5).prop_map(Act::Answer),
        3 => (0_usize..5).prop_map(Act::Enter),
        2 => Just(Act::Landed),
        2 => (0_usize..5).prop_map(Act::Apply),
        3 => (0_usize..5).prop_map(Act::Review),
        4 => (0_u8..6).prop_map(Act::Rule),
        2 => (0_usize..5, 0_u8..3).prop_map(|(at, kind)| Act::Need(at, kind)),
        2 => any::<bool>().prop_map(Act::Change),
        4 => response().prop_map(Act::Respond),
        1 => (0_usize..5).prop_map(Act::Unrecorded),
        1 => Just(Act::Rested),
        1 => any::<bool>().prop_map(Act::Cancel),
        1 => Just(Act::Note),
        1 => Just(Act::Lost),
        1 => Just(Act::Unqueue),
        1 => Just(Act::Late),
        1 => Just(Act::Mode),
        1 => (0_u8..3).prop_map(Act::Decide),
        1 => (0_u32..9).prop_map(Act::Trim),
        1 => (count(), count()).prop_map(|(tokens, bytes)| Act::Measure(tokens, bytes)),
        2 => Just(Act::Compact),
        2 => any::<bool>().prop_map(Act::Summary),
        1 => Just(Act::Uncompact),
        9 => (0_u8..30).prop_map(Act::Workers),
        9 => Just(Act::Admit),
        9 => Just(Act::Release),
    ]
}

fn response() -> impl Strategy<Value = Response> {
    prop_oneof![
        (0_usize..3).prop_map(Response::Mark),
        prop::collection::vec(0_usize..3, 0..3).prop_map(Response::Choose),
        Just(Response::Done),
        Just(Response::Words("mine".into())),
        Just(Response::Skip),
        Just(Response::Back),
    ]
}

fn count() -> impl Strategy<Value = u64> {
    prop::sample::select(vec![0, 1, 15, 40, 1 << 52, u64::MAX])
}

/// A random spending limit. Each reply has 15 tokens.
fn tokens() -> impl Strategy<Value = Option<u64>> {
    prop::option::weighted(0.3, 1_u64..80)
}

fn stop() -> impl Strategy<Value = Stop> {
    let unknown = Stop::Unknown("flare".into());
    let known = [Stop::Pause, Stop::Pause, Stop::MaxTokens, Stop::Refusal, Stop::ContextExceeded];
    prop::sample::select(known.into_iter().chain([unknown]).collect::<Vec<_>>())
}

fn failure() -> impl Strategy<Value = Failure> {
    let said = String::new;
    prop::sample::select(vec![
        Failure::Cut,
        Failure::TooLong { said: said(), window: None, prompt: None },
        Failure::Thoughts { status: 400, said: said() },
    ])
}

fn partial(has_any: bool) -> Option<Reply> {
    let Input::Replied { reply, .. } = reply(T1, "half a", &[]) else { unreachable!() };
    has_any.then_some(reply)
}

fn replied(session: &Session, turn: TurnId, kinds: &[u8], n: usize) -> Input {
    let tools = ["read", "peek", "edit", "run", "other", "ask", "plan"];
    let ids: Vec<String> = (0..kinds.len()).map(|i| format!("c{n}-{i}")).collect();
    let calls: Vec<(&str, &str)> =
        ids.iter().zip(kinds).map(|(id, kind)| (id.as_str(), tools[usize::from(*kind)])).collect();
    let text = if n.is_multiple_of(3) { "" } else { "words" };
    let said = reply(turn, text, &calls);
    let Input::Replied { turn, mut reply, plans } = said else { unreachable!() };
    if n.is_multiple_of(2) {
        let signature = Some(format!("signed-{n}"));
        reply.blocks.insert(0, Block::Thinking { text: String::new(), signature });
    }
    Input::Replied { turn, reply: Reply { by: session.model.clone(), ..reply }, plans }
}

fn input(session: &Session, gate: &mut Gates, act: &Act, n: usize) -> Input {
    let turn = session.turn().unwrap_or_default();
    let open = |at: usize| {
        let open = session.open();
        if open.is_empty() { "none".to_owned() } else { open[at % open.len()].call.id.0.clone() }
    };
    match act {
        Act::Send(true) => steer(&format!("steer {n}")),
        Act::Send(false) => mentioning(n),
        Act::Reply(kinds) => replied(session, turn, kinds, n),
        Act::Stop(stop, has_calls) => {
            let id = format!("c{n}");
            let calls = [(id.as_str(), "read")];
            let said = reply(turn, "so far", if *has_calls { &calls } else { &[] });
            let Input::Replied { turn, reply, plans } = said else { unreachable!() };
            Input::Replied { turn, reply: Reply { stop: stop.clone(), ..reply }, plans }
        }
        Act::Fail(failure, has_partial) => {
            let (failure, by) = (failure.clone(), session.model.clone());
            Input::Failed { turn, failure, by, partial: partial(*has_partial), dice: 500 }
        }
        Act::Answer(at) => answered(turn, &open(*at)),
        Act::Enter(at) => entered(turn, &open(*at)),
        Act::Landed => Input::Landed { turn },
        Act::Apply(at) => applied(&open(*at)),
        Act::Review(at) => files::verdict("/p/a", vec![answer(&open(*at))]),
        Act::Rule(_) | Act::Change(_) => ruled(session, act),
        Act::Respond(response) => inquiries::respond(session, response.clone()),
        Act::Need(at, kind) => {
            Input::Needed { turn, call: CallId(open(*at)), access: access(*kind) }
        }
        Act::Unrecorded(at) => {
            Input::Unrecorded { turn, call: CallId(open(*at)), why: "no space".into() }
        }
        Act::Rested => Input::Rested { turn },
        Act::Cancel(has_partial) => Input::Cancel { partial: partial(*has_partial) },
        Act::Note => Input::ReviewLost { path: format!("/p/{n}").into() },
        Act::Lost => Input::ReviewLost { path: "/p/a".into() },
        Act::Unqueue => Input::Unqueue { id: session.queued },
        Act::Late => answered(TurnId(turn.0.wrapping_sub(1)), &open(0)),
        Act::Mode => Input::ChooseMode { mode: session.mode.next() },
        Act::Decide(kind) => decided(session, *kind),
        Act::Trim(at) => trimmed(session, *at),
        Act::Measure(tokens, bytes) => {
            let measure = Measure { tokens: *tokens, bytes: *bytes };
            Input::Measure { model: session.model.clone(), measure }
        }
        Act::Compact => {
            let (model, told) = (session.model.clone(), "Compacting.".to_owned());
            Input::Compact { model, focus: String::new(), told }
        }
        Act::Summary(is_one) => summarised(session, turn, n, *is_one),
        Act::Uncompact => Input::Uncompact { told: "Undone.".into() },
        Act::Workers(act) => workers::input(turn, n, *act),
        Act::Admit => gate.admit(),
        Act::Release => gate.release(),
    }
}

/// The user's decision on the plan that waits.
fn decided(session: &Session, kind: u8) -> Input {
    let call = session.planning.waiting().cloned().unwrap_or(CallId("none".into()));
    let verdict = match kind {
        0 => PlanVerdict::Approve { mode: Mode::AutoEdit },
        1 => PlanVerdict::SendBack,
        _ => PlanVerdict::Drop,
    };
    Input::DecidePlan { call, verdict }
}

/// The user's answer to the open question.
fn ruled(session: &Session, act: &Act) -> Input {
    let id = match &session.phase {
        Phase::Limited { id, .. } => id.0.clone(),
        _ => session.asking().map_or("none".into(), |it| it.call.id.0.clone()),
    };
    match act {
        Act::Rule(0 | 1) => rule(&id, Ruling::Once),
        Act::Rule(at @ 4..) => {
            let open = session.open().iter().rev().nth(usize::from(at - 4));
            rule(open.map_or("none", |it| &it.call.id.0), Ruling::Once)
        }
        Act::Rule(2) => rule(&id, Ruling::Session),
        Act::Change(is_plain) => {
            let command = if *is_plain { "mine" } else { "mine\u{202e}" }.to_owned();
            Input::Change { call: CallId(id), command }
        }
        _ => rule(&id, Ruling::Denied { reason: String::new() }),
    }
}

fn access(kind: u8) -> Access {
    match kind {
        0 => Access::Edit { paths: vec!["a".into()] },
        1 => Access::Format { command: "fmt".into(), path: "a".into() },
        _ => Access::Never("it is gone".into()),
    }
}

/// A message with an excerpt.
fn mentioning(n: usize) -> Input {
    let text = format!("send {n}");
    let (path, kind) = ("a".to_owned(), ExcerptKind::File);
    let excerpt = Excerpt { path, kind, text: text.clone(), ..Excerpt::default() };
    Input::Send { text, context: vec![excerpt], steer: false }
}

fn summarised(session: &Session, turn: TurnId, n: usize, is_one: bool) -> Input {
    let (usage, cost) = (Usage::default(), Some(0.5));
    if !is_one {
        return Input::NotCompacted {
            turn,
            why: "Not compacted.".into(),
            is_lasting: true,
            usage,
            cost,
        };
    }
    let (at, summary, told) = (session.boundary(), "short".to_owned(), "Compacted.".to_owned());
    let handoff = Handoff {
        at,
        summary,
        text: format!("hand-off {n}"),
        saved: 3,
        told,
        left_out: Vec::new(),
    };
    Input::Compacted { turn, handoff, usage, cost }
}

fn trimmed(session: &Session, at: u32) -> Input {
    let blocks = session.messages.iter().rev().flat_map(|it| &it.blocks);
    let mut answered = blocks.filter_map(|it| match it {
        Block::Answer(it) => Some(&it.id),
        _ => None,
    });
    let call = answered.nth(at as usize).cloned().unwrap_or(CallId("none".into()));
    let trim = |item| Trim { item, line: "trimmed".into() };
    let items = vec![trim(Item::Call(call)), trim(Item::Excerpt(at))];
    Input::Trim { items, tokens: 7, told: "Trimmed.".into() }
}

/// The next request in each dialect, without cache marks.
fn bodies(session: &Session) -> Vec<Value> {
    let base = crate::message::Request { max_tokens: 9, ..Default::default() };
    let request = request::build(session, base);
    let body = |dialect: Dialect| {
        let mut body = dialect.body(&request, Quirks::default());
        unmark(&mut body);
        body
    };
    [
        Dialect::Anthropic,
        Dialect::OpenAiChat,
        Dialect::OpenAiResponses,
        Dialect::Gemini,
        Dialect::Ollama,
    ]
    .map(body)
    .into()
}

fn unmark(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.shift_remove("cache_control");
            fields.values_mut().for_each(unmark);
        }
        Value::Array(items) => items.iter_mut().for_each(unmark),
        _ => {}
    }
}

/// Whether the later body continues the earlier one: each of its lists begins with the earlier list, and all other
/// fields are equal.
fn goes_on(before: &Value, after: &Value) -> bool {
    before.as_object().unwrap().iter().all(|(name, value)| match (value, &after[name]) {
        (Value::Array(before), Value::Array(after)) => after.starts_with(before),
        (before, after) => before == after,
    })
}

/// Whether requests after this event may have other texts than the requests before it.
fn is_boundary(event: &Event) -> bool {
    matches!(event, Event::Trimmed { .. } | Event::Compacted { .. } | Event::Uncompacted { .. })
}

/// The session after these events.
fn replayed(limits: Limits, events: &[Event]) -> Session {
    let mut session = Session { limits, ..opened() };
    for it in events {
        session.apply(it);
    }
    session
}

/// Checks that the session can be continued after a stop, and after the program has ended.
fn assert_valid_after_an_end(session: &Session, limits: Limits, events: &[Event]) {
    let mut stopped = session.clone();
    stopped.step(Input::Cancel { partial: None });
    stopped.step(send("after"));
    assert_valid(&stopped);
    let mut crashed = replayed(limits, events);
    crashed.step(Input::Leave { partial: None });
    assert!(crashed.phase == Phase::Idle);
    assert_valid(&crashed);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    /// For any sequence of inputs, with a stop at any point: the next request is valid, no call is answered twice, no
    /// call begins without permission from the policy or the user, nothing is changed in plan mode, nothing is sent
    /// while a spending limit is reached, and a replay of the events gives the same session. Each request continues the
    /// previous one, except after refused thoughts were left out, or something was trimmed or compacted.
    #[test]
    fn after_any_inputs_each_call_has_one_answer_and_the_next_request_is_valid(
        acts in prop::collection::vec(act(), 0..60),
        (of_session, of_turn) in (tokens(), tokens()),
        lets_in_at_once in any::<bool>(),
    ) {
        let limits =
            Limits { session: Limit::new(None, of_session), turn: Limit::new(None, of_turn), requests: None };
        let mut session = Session { limits, ..opened() };
        let mut events = Vec::new();
        let mut asked = Vec::new();
        let mut is_cut = false;
        let mut answers = std::collections::HashSet::new();
        let mut gate = Gates::default();
        for (n, act) in acts.iter().enumerate() {
            let input = input(&session, &mut gate, act, n);
            let step = gate.step(&mut session, input, lets_in_at_once);
            is_cut |= step.events.iter().any(is_boundary);
            for event in &step.events {
                if let Event::Answered { answer, .. } = event {
                    prop_assert!(answers.insert(answer.id.clone()), "answered twice: {}", answer.id);
                }
            }
            for effect in step.effects.iter().filter(|_| session.mode == Mode::Plan) {
                let changes = match effect {
                    Effect::Run { call, .. } => call.tool == "run",
                    Effect::Propose { .. } => true,
                    _ => false,
                };
                prop_assert!(!changes, "something changes in plan mode");
            }
            if step.effects.iter().any(|it| matches!(it, Effect::Sample { .. })) {
                prop_assert_eq!(session.limit_reached(), None);
                let bodies = bodies(&session);
                if step.events.iter().any(|it| matches!(it, Event::ThoughtsDropped { .. })) {
                    asked.clear();
                    prop_assert!(bodies.iter().all(|it| !it.to_string().contains("signed-")));
                }
                if std::mem::take(&mut is_cut) {
                    asked.clear();
                }
                for (before, after) in std::iter::zip(&asked, &bodies) {
                    prop_assert!(goes_on(before, after), "what was sent has changed");
                }
                asked = bodies;
                assert_valid(&session);
            }
            workers::assert_law(&session, &step);
            events.extend(step.events);
            prop_assert!(step.effects.iter().all(|it| may_begin(&session, it, &events)));
            assert_valid_after_an_end(&session, limits, &events);
        }
        let mut again = replayed(limits, &events);
        gate::leave([&mut again, &mut session]);
        if let (Phase::Resting { turn, requests, tries }, Phase::Sampling { .. }) =
            (again.phase.clone(), &session.phase)
        {
            again.phase = Phase::Sampling { turn, requests, tries };
        }
        prop_assert_eq!(again, session);
    }
}
