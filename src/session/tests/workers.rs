//! Tests of a coordinator: its calls about workers, the workers' ends, and the end of its turn.

use super::*;
use crate::event::{HandOff, Order, Post, WorkerAct, WorkerId, WorkerRole, WorkerState};
use crate::message::Foreign;
use crate::message::Origin;

/// What a call of this tool does: `w:spawn 3` orders three workers, `w:await w1 w2` waits for these.
pub(super) fn act(tool: &str) -> WorkerAct {
    let mut words = tool.trim_start_matches("w:").split(' ').map(str::to_owned);
    let name = words.next().unwrap_or_default();
    let rest: Vec<String> = words.collect();
    let order = |n: usize| Order {
        role: WorkerRole::Explorer,
        title: format!("Task {n}"),
        prompt: format!("Do {n}."),
        owns: Vec::new(),
        isolation: crate::event::Isolation::Shared,
    };
    let number = || rest[0].parse::<usize>().unwrap();
    match &*name {
        "spawn" => WorkerAct::Spawn((1..=number()).map(order).collect()),
        "list" => WorkerAct::List,
        "await" => WorkerAct::Await { workers: rest, is_any: false },
        "any" => WorkerAct::Await { workers: rest, is_any: true },
        "result" => WorkerAct::Result(rest[0].clone()),
        _ => WorkerAct::Stop(rest[0].clone()),
    }
}

pub(super) fn coordinator() -> Session {
    let mut session = opened();
    session.through(Input::Worker(WorkerInput::Coordinate { is_on: true }));
    session.through(send("go"));
    session
}

pub(super) fn ended(worker: u32) -> Input {
    let result = HandOff { text: format!("result {worker}"), foreign: None, is_partial: false };
    let worker = WorkerId(worker);
    let (is_whole, requests, tokens) = (true, 2, 10);
    Input::Worker(WorkerInput::Ended { worker, result, is_whole, requests, tokens })
}

/// A random input about workers.
pub(super) fn input(turn: TurnId, n: usize, act: u8) -> Input {
    let tools = ["w:spawn 3", "w:spawn 9", "w:await", "w:any", "w:result w1", "w:stop w2"];
    let worker = u32::from(act) % 12;
    match act {
        0..=2 => Input::Worker(WorkerInput::Coordinate { is_on: act < 2 }),
        3..=5 => Input::Worker(WorkerInput::Dismiss { worker: WorkerId(worker) }),
        6..=17 => reply(turn, "", &[(&format!("c{n}"), tools[usize::from(act) % 6])]),
        _ => ended(worker),
    }
}

/// At most eight workers run, and none after the turn. No answer ends the turn of a coordinator while a worker runs or
/// a result is unread.
pub(super) fn assert_law(session: &Session, step: &Step) {
    assert!(session.workers.running().count() <= 8);
    assert!(session.turn().is_some() || session.workers.active().count() == 0);
    // a call that ends the turn stops the workers; a real coordinator has no tool for such a call
    let by_call = step.events.iter().any(|it| matches!(it, Event::Answered { .. }));
    let ends = |it: &Event| matches!(it, Event::Ended { why: End::Done, .. });
    if session.workers.is_on && !by_call && step.events.iter().any(ends) {
        assert_eq!(session.workers.unread().count(), 0);
    }
}

/// The calls of a reply, each with the text of its answer.
pub(super) fn answers(session: &Session) -> Vec<(String, String)> {
    let last = session.messages.iter().rfind(|it| say::is_answers(it)).unwrap();
    let answers = last.blocks.iter().filter_map(|it| match it {
        Block::Answer(it) => Some((it.id.0.clone(), it.text.clone())),
        _ => None,
    });
    answers.collect()
}

/// Makes a call, and returns its answer, or an empty text if the call waits.
pub(super) fn told(session: &mut Session, id: &str, tool: &str) -> String {
    let turn = session.turn().unwrap();
    session.through(reply(turn, "", &[(id, tool)]));
    if matches!(session.phase, Phase::Acting { .. }) {
        return String::new();
    }
    answers(session).pop().unwrap().1
}

pub(super) fn states(session: &Session) -> Vec<WorkerState> {
    session.workers.all.values().map(|it| it.state).collect()
}

#[test]
fn eight_workers_run_at_once_and_the_others_begin_in_their_order() {
    let mut session = coordinator();
    let step = session.through(reply(T1, "", &[("c1", "w:spawn 10")]));
    let begun = |step: &Step| {
        let all = step.effects.iter().filter_map(|it| match it {
            Effect::Employ { worker, order, .. } => Some((worker.0, order.prompt.clone())),
            _ => None,
        });
        all.collect::<Vec<_>>()
    };
    assert_eq!(begun(&step).len(), 8);
    assert_eq!(begun(&step)[0], (1, "Do 1.".to_owned()));
    let text = answers(&session).pop().unwrap().1;
    assert!(text.starts_with("w1 explorer · Task 1 · running\n"), "{text}");
    assert!(text.ends_with("w10 explorer · Task 10 · waits in line"), "{text}");
    let step = session.through(ended(3));
    assert_eq!(begun(&step), [(9, "Do 9.".to_owned())]);
    // the end of a worker that does not run changes nothing
    assert_eq!(session.through(ended(3)), Step::default());
    assert_eq!(session.through(ended(77)), Step::default());
}

#[test]
fn an_order_of_too_many_workers_begins_none() {
    let mut session = coordinator();
    assert_eq!(
        told(&mut session, "c1", "w:spawn 50"),
        "No worker was begun: 50 more would make 50, and at most 32 workers may run, wait in line or have an unread result. \
         Ask for fewer, or read results first."
    );
    assert!(session.workers.all.is_empty());
    told(&mut session, "c2", "w:spawn 30");
    assert!(
        told(&mut session, "c3", "w:spawn 3")
            .starts_with("No worker was begun: 3 more would make 33")
    );
}

#[test]
fn a_coordinator_waits_for_all_workers_or_for_the_first() {
    let mut session = coordinator();
    told(&mut session, "c1", "w:spawn 2");
    assert_eq!(told(&mut session, "c2", "w:any"), "");
    session.through(ended(2));
    assert_eq!(
        answers(&session)[0].1,
        "w2 explorer (Task 2): finished\nresult 2\nw1 is still running."
    );
    assert_eq!(told(&mut session, "c3", "w:await w1 w2"), "");
    session.through(ended(1));
    assert_eq!(
        answers(&session)[0].1,
        "w1 explorer (Task 1): finished\nresult 1\nYou already have the result of w2."
    );
    assert_eq!(
        told(&mut session, "c4", "w:await"),
        "No worker is running, and you have every result."
    );
    assert!(told(&mut session, "c5", "w:result w2").ends_with("result 2"));
}

#[test]
fn calls_about_unknown_workers_are_answered_at_once() {
    let mut session = coordinator();
    assert_eq!(
        told(&mut session, "c1", "w:await w1"),
        "There is no worker `w1`: you have begun none."
    );
    told(&mut session, "c2", "w:spawn 1");
    for tool in ["w:await main", "w:result w2", "w:stop me"] {
        let text = told(&mut session, &format!("d-{tool}"), tool);
        assert!(text.starts_with("There is no worker `"), "{text}");
        assert!(text.ends_with("Yours are w1."), "{text}");
    }
    assert_eq!(
        told(&mut session, "c3", "w:result w1"),
        "w1 is still running. `await_workers` waits for it."
    );
}

#[test]
fn results_that_are_too_long_for_one_answer_come_one_by_one() {
    let mut session = coordinator();
    told(&mut session, "c1", "w:spawn 3");
    for worker in 1..=3 {
        let result = HandOff { text: "x".repeat(40_000), foreign: None, is_partial: false };
        let worker = WorkerId(worker);
        let (is_whole, requests, tokens) = (true, 1, 1);
        session.through(Input::Worker(WorkerInput::Ended {
            worker,
            result,
            is_whole,
            requests,
            tokens,
        }));
    }
    let text = told(&mut session, "c2", "w:await");
    assert!(text.len() < 70_000);
    assert!(text.ends_with(
        "w2 has ended. `worker_result` gives its result.\nw3 has ended. `worker_result` gives its result."
    ));
    assert_eq!(session.workers.unread().count(), 2);
}

#[test]
fn a_strangers_text_in_one_result_marks_the_whole_answer() {
    let mut session = coordinator();
    told(&mut session, "c1", "w:spawn 3");
    for (worker, foreign) in [(1, Some(Origin::Command)), (2, Some(Origin::Subagent))] {
        let Input::Worker(WorkerInput::Ended { result, .. }) = ended(worker) else {
            unreachable!()
        };
        let result = HandOff { foreign, ..result };
        let worker = WorkerId(worker);
        let (is_whole, requests, tokens) = (true, 1, 1);
        session.through(Input::Worker(WorkerInput::Ended {
            worker,
            result,
            is_whole,
            requests,
            tokens,
        }));
    }
    let turn = session.turn().unwrap();
    session.through(reply(turn, "", &[("c2", "w:any")]));
    let last = session.messages.iter().rfind(|it| say::is_answers(it)).unwrap();
    let Block::Answer(answer) = &last.blocks[0] else { panic!() };
    let foreign = Foreign { from: Origin::Subagent, own: 1 };
    assert_eq!(answer.foreign.as_ref(), Some(&foreign));
    assert_eq!(foreign.split(&answer.text).1, "w3 is still running.");
    assert!(session.is_tainted());
}

#[test]
fn a_message_of_the_user_ends_the_wait_and_says_who_still_runs() {
    let mut session = coordinator();
    told(&mut session, "c1", "w:spawn 2");
    assert_eq!(told(&mut session, "c2", "w:await"), "");
    session.through(Input::Worker(WorkerInput::Waits { worker: WorkerId(2), waits: true }));
    let step = session.through(steer("hurry"));
    assert!(step.effects.iter().any(|it| matches!(it, Effect::Sample { .. })));
    assert_eq!(
        answers(&session)[0].1,
        "The user has sent a message, which follows. Answer it, then wait again.\nw1 is still running.\nw2 waits for the \
         user."
    );
    let Some(Block::Text { text }) = session.messages.last().unwrap().blocks.last() else {
        panic!()
    };
    assert_eq!(text, "hurry");
    assert_eq!(states(&session), [WorkerState::Running; 2]);
}

#[test]
fn the_third_answer_before_the_workers_are_done_ends_the_turn() {
    let mut session = coordinator();
    told(&mut session, "c1", "w:spawn 2");
    session.through(ended(1));
    for n in 0..2 {
        let text = if n == 0 { "" } else { "early" };
        let step = session.through(reply(T1, text, &[]));
        assert!(matches!(step.effects[..], [Effect::Sample { .. }]), "{n}: {:?}", step.effects);
        let Some(Block::Notice { text, .. }) = session.messages.last().unwrap().blocks.last()
        else {
            panic!()
        };
        assert_eq!(
            text,
            "Your answer is held. Not finished yet: w2. Call `await_workers` or `stop_worker`. You have not read the result of \
             w1. Call `await_workers`. Then answer."
        );
    }
    let step = session.through(reply(T1, "early again", &[]));
    assert!(
        step.effects.iter().any(|it| matches!(it, Effect::Dismiss { worker: WorkerId(2), .. }))
    );
    assert!(matches!(
        step.events.last(),
        Some(Event::Ended { why: End::Stopped(text), .. })
            if text.starts_with("Stopped: the model answered three times before its workers were done. Caliban stopped 1 worker.")
    ));
    assert_eq!(states(&session), [WorkerState::Finished, WorkerState::Stopped]);
    // the model gets the results with the user's next message, marked as a worker's
    let texts: Vec<&str> = session.instructions.iter().map(|it| it.text.as_str()).collect();
    assert!(
        texts[0].ends_with("result 1") && texts[1].contains("The turn ended before"),
        "{texts:?}"
    );
    assert!(session.instructions.iter().all(|it| it.origin() == Some(Origin::Subagent)));
    assert_eq!(session.workers.unread().count(), 0);
    session.through(send("and?"));
    let step = session.through(reply(TurnId(2), "done", &[]));
    assert!(matches!(step.events.last(), Some(Event::Ended { why: End::Done, .. })));
}

#[test]
fn an_answer_after_all_results_are_read_ends_the_turn() {
    let mut session = coordinator();
    told(&mut session, "c1", "w:spawn 1");
    session.through(reply(T1, "early", &[]));
    assert_eq!(told(&mut session, "c2", "w:await"), "");
    session.through(ended(1));
    let step = session.through(reply(T1, "It is done.", &[]));
    assert!(matches!(step.events.last(), Some(Event::Ended { why: End::Done, .. })));
}

#[test]
fn workers_do_not_outlive_their_turn() {
    let failure = Failure::Rejected { status: 400, said: "no".into() };
    let by = "mine/m".to_owned();
    let failed = Input::Failed { turn: T1, failure, by, partial: None, dice: 0 };
    for (input, state, text) in [
        (failed, WorkerState::Stopped, "The turn ended before"),
        (Input::Cancel { partial: None }, WorkerState::Stopped, "The user stopped the turn"),
        (
            Input::Leave { partial: None },
            WorkerState::Failed,
            "Interrupted: the editor or Caliban ended",
        ),
        (ending_in(Stop::Refusal, "No.", &[]), WorkerState::Stopped, "The turn ended before"),
    ] {
        let mut session = coordinator();
        told(&mut session, "c1", "w:spawn 9");
        session.through(Input::Worker(WorkerInput::Noticed {
            worker: WorkerId(1),
            text: "half\n  of it".into(),
        }));
        let step = session.through(input);
        assert_eq!(session.phase, Phase::Idle);
        // either the agent ends the workers, or it drops everything of the turn
        let ends = |it: &&Effect| matches!(it, Effect::Dismiss { .. });
        let is_aborted = matches!(step.effects[..], [Effect::Abort { .. }]);
        assert!(is_aborted || step.effects.iter().filter(ends).count() == 8, "{text}");
        assert_eq!(states(&session), [state; 9]);
        let result = session.workers.all[&WorkerId(1)].result.clone().unwrap();
        assert!(result.is_partial && result.text.contains(text), "{}", result.text);
        assert!(result.text.contains("Its last notice: half of it"), "{}", result.text);
        assert_eq!(result.foreign, Some(Origin::Subagent));
        // the results wait for the coordinator
        assert_eq!(session.workers.unread().count(), 9);
    }
}

#[test]
fn a_stopped_worker_hands_off_and_a_waiting_one_never_begins() {
    let mut session = coordinator();
    told(&mut session, "c1", "w:spawn 9");
    assert_eq!(told(&mut session, "c2", "w:stop w9"), "w9 was stopped before it began.");
    assert_eq!(
        told(&mut session, "c3", "w:stop w1"),
        "w1 was told to stop. `await_workers` returns what it has done."
    );
    session.through(ended(1));
    assert_eq!(session.workers.all[&WorkerId(1)].state, WorkerState::Stopped);
    assert_eq!(told(&mut session, "c4", "w:stop w1"), "w1 has already ended.");
    let step = session.through(Input::Worker(WorkerInput::Dismiss { worker: WorkerId(2) }));
    assert!(matches!(&step.effects[..], [Effect::Dismiss { worker: WorkerId(2), .. }]));
    assert_eq!(session.notes.last().unwrap(), "The user stopped w2.");
    let again = session.through(Input::Worker(WorkerInput::Dismiss { worker: WorkerId(2) }));
    assert_eq!(again, Step::default());
}

#[test]
fn coordinator_mode_cannot_end_while_a_worker_runs() {
    let mut session = opened();
    for is_on in [true, false, true] {
        session.through(Input::Worker(WorkerInput::Coordinate { is_on }));
    }
    assert_eq!(session.notes.len(), 1);
    assert_eq!(is_coordinating(&session.notes[0]), Some(true));
    session.through(send("go"));
    told(&mut session, "c1", "w:spawn 1");
    let off = Input::Worker(WorkerInput::Coordinate { is_on: false });
    assert_eq!(session.through(off.clone()), Step::default());
    session.through(Input::Cancel { partial: None });
    session.through(off);
    assert!(!session.workers.is_on);
    assert!(session.instructions[0].text.contains("The user stopped the turn"));
}

#[test]
fn a_worker_edits_only_the_paths_that_it_owns() {
    let parent = crate::event::Parent {
        session: crate::event::SessionId("main".into()),
        call: CallId("c1".into()),
        is_tainted: false,
        limits: Vec::new(),
        post: Some(Post {
            worker: WorkerId(1),
            role: WorkerRole::Implementer,
            owns: vec!["src/a.rs".into(), "docs".into()],
        }),
        is_copy: false,
    };
    let mut session = opened();
    session.through(Input::Assign { parent });
    assert!(session.notes[0].contains("You may edit only these paths: `src/a.rs`, `docs`."));
    let edit = |paths: &[&str]| {
        let mut access = Access::Edit { paths: paths.iter().map(|it| (*it).to_owned()).collect() };
        session.keep_to_owned(&mut access);
        matches!(access, Access::Edit { .. })
    };
    assert!(edit(&["src/a.rs", "docs/x/y.md", "docs"]));
    for path in ["src/a.rss", "src", "docsx/a", "src/a.rs.bak", "/docs/a", ""] {
        assert!(!edit(&[path]), "{path}");
        assert!(!edit(&["docs/a", path]), "{path}");
    }
    let mut format = Access::Format { command: "fmt".into(), path: "src/b.rs".into() };
    session.keep_to_owned(&mut format);
    assert!(matches!(format, Access::Never(text) if text.contains("`src/b.rs` is not yours")));
}

#[test]
fn going_back_to_before_the_workers_forgets_them_and_keeps_coordinator_mode() {
    let mut session = coordinator();
    told(&mut session, "c1", "w:spawn 1");
    session.through(ended(1));
    session.through(Input::Cancel { partial: None });
    let at = session.prompt(0).unwrap().at;
    session.go_back(at);
    assert!(session.workers.all.is_empty() && session.workers.is_on);
    assert!(session.notes.iter().any(|it| is_coordinating(it) == Some(true)));
}

#[test]
fn workers_from_a_forged_file_are_limited_and_never_run() {
    let mut session = coordinator();
    told(&mut session, "c1", "w:spawn 2");
    let mut forged = session.clone();
    let one = forged.workers.all[&WorkerId(1)].clone();
    for n in 0..5_000 {
        forged.workers.all.insert(WorkerId(n), one.clone());
    }
    forged
        .workers
        .all
        .insert(WorkerId(9_000), crate::event::Worker { notice: "x".repeat(200_000), ..one });
    forged.distrust(std::path::Path::new("/p"));
    assert_eq!(forged.workers.all.len(), 200);
    assert_eq!(forged.workers.all[&WorkerId(9_000)].notice.len(), 300);
    assert!(forged.workers.all.values().all(|it| it.state == WorkerState::Failed));
    assert!(forged.workers.last >= 4_999);
}
