//! Tests that messages to a session wait while a task of the program works on it, and that messages to other sessions
//! do not wait.

use super::*;
use crate::agent::Act;
use crate::agent::models::Models;
use crate::context::instructions::Places;
use crate::conversation::report::Copy;
use crate::mcp::Servers;
use crate::nvim::reviews::Order;
use crate::nvim::wire::{DeleteSession, RenameSession, WireConfig};
use crate::site::places;
use crate::store::Project;
use crate::tool::confinement::Confinement;
use std::path::Path;

type Inbox = mpsc::UnboundedReceiver<Command>;

/// A program without an editor, and the orders that the program sends to the task of the reviews.
fn program(dir: &Path) -> (Program, Ends, mpsc::UnboundedReceiver<Order>) {
    let root = dir.to_owned();
    let reach = places::reach(&root);
    let project = Project::new(&dir.join("sessions"), &root);
    let archive = Archive { project: project.clone(), reach: reach.clone() };
    let site = Site {
        places: Places { cwd: root.clone(), config: root.clone(), root, home: None, reach },
        config: WireConfig::default(),
        models: Models::default(),
        confinement: Confinement::default(),
        project,
        keys: dir.join("keys.json"),
        servers: Servers::default(),
    };
    let (reviews, orders) = mpsc::unbounded_channel();
    let (done, done_end) = mpsc::unbounded_channel();
    let (notes, notes_end) = mpsc::unbounded_channel();
    let (wishes, wishes_end) = mpsc::unbounded_channel();
    let (places, places_end) = mpsc::unbounded_channel();
    let noted = tokio::spawn(archive::note(archive.clone(), notes_end));
    let program = Program {
        site,
        sessions: Sessions::new(Editor::gone()),
        editor: Editor::gone(),
        archive,
        model: None,
        live: Vec::new(),
        left: Vec::new(),
        current: None,
        reviews,
        questions: mpsc::unbounded_channel().0,
        completion: mpsc::unbounded_channel().0,
        weighing: None,
        wishes,
        places,
        lanes: Lanes::default(),
        done,
        notes,
    };
    (program, Ends { wishes: wishes_end, places: places_end, done: done_end, noted }, orders)
}

fn id(name: &str) -> SessionId {
    SessionId(name.to_owned())
}

fn open(program: &mut Program, name: &str) -> Inbox {
    let (agent, inbox) = mpsc::unbounded_channel();
    program.sessions.begin(&id(name), agent, false);
    inbox
}

fn handle(program: &Program, name: &str) -> Handle {
    program.sessions.find(&id(name)).unwrap()
}

fn runs(program: &Program, name: &str) -> bool {
    program.sessions.runs(handle(program, name))
}

fn heard(inbox: &mut Inbox) -> Vec<&'static str> {
    let mut heard = Vec::new();
    while let Ok(command) = inbox.try_recv() {
        heard.push(match command {
            Command::Retry => "retry",
            Command::Stop => "stop",
            Command::Quit(_) => "quit",
            Command::Reviewed(_) => "reviewed",
            Command::Present { .. } => "present",
            _ => "another command",
        });
    }
    heard
}

fn retry(program: &mut Program, name: &str) {
    program.step(Incoming::from_editor(FromNvim::Retry { session: id(name) }));
}

async fn end_one(program: &mut Program, ends: &mut Ends) {
    let done = ends.done.recv().await.unwrap();
    program.step(Incoming::TaskDone(done));
}

fn reviewed() -> Reviewed {
    Reviewed {
        session: id("a"),
        decisions: Vec::new(),
        proposals: vec![1],
        texts: Vec::new(),
        path: "a.txt".into(),
        was: None,
        elsewhere: None,
        deleted: false,
        gone: false,
        closed: false,
        outside: false,
        whole_left: false,
        absent: false,
        is_former_there: false,
        disk: None,
        text: None,
        eol: true,
        saved: true,
        unsaved: String::new(),
        reasons: Vec::new(),
        formattings: Vec::new(),
    }
}

#[tokio::test]
async fn a_verdict_reaches_its_session_before_later_messages_and_delays_no_other_session() {
    let dir = tempfile::tempdir().unwrap();
    let (mut program, mut ends, mut orders) = program(dir.path());
    let (mut a, mut b) = (open(&mut program, "a"), open(&mut program, "b"));
    program.step(Incoming::from_editor(FromNvim::Reviewed(reviewed())));
    retry(&mut program, "a");
    retry(&mut program, "b");
    assert_eq!((heard(&mut a), heard(&mut b)), (vec![], vec!["retry"]));
    let Some(Order::Settled(of)) = orders.recv().await else { panic!("no review") };
    let verdict = Verdict {
        session: of.session,
        answers: Vec::new(),
        claims: Vec::new(),
        path: of.reviewed.path,
        was: None,
        saved: true,
        text: None,
    };
    assert!(of.done.send(vec![verdict]).is_ok());
    end_one(&mut program, &mut ends).await;
    assert_eq!((heard(&mut a), heard(&mut b)), (vec!["reviewed", "retry"], vec![]));
    assert!(program.lanes.is_idle());
}

#[tokio::test]
async fn messages_to_a_session_wait_for_its_rename_and_messages_to_others_do_not() {
    let dir = tempfile::tempdir().unwrap();
    let (mut program, mut ends, _orders) = program(dir.path());
    let (mut a, mut b) = (open(&mut program, "a"), open(&mut program, "b"));
    let rename = RenameSession { session: id("a"), name: "new".to_owned() };
    program.step(Incoming::from_editor(FromNvim::RenameSession(rename)));
    retry(&mut program, "a");
    // the editor may use the new name before the program knows it
    program.step(Incoming::from_editor(FromNvim::Stop { session: id("new") }));
    retry(&mut program, "b");
    let Some(Command::Act(Act::Rename { done, .. })) = a.recv().await else { panic!("no rename") };
    assert_eq!((heard(&mut a), heard(&mut b)), (vec![], vec!["retry"]));
    assert!(done.send(Ok(())).is_ok());
    end_one(&mut program, &mut ends).await;
    assert_eq!(heard(&mut a), ["retry", "stop"]);
    assert!(runs(&program, "new") && runs(&program, "a"));
}

#[tokio::test]
async fn closing_a_session_delays_no_messages_to_other_sessions() {
    let dir = tempfile::tempdir().unwrap();
    let (mut program, mut ends, _orders) = program(dir.path());
    let (mut a, mut b) = (open(&mut program, "a"), open(&mut program, "b"));
    let delete = DeleteSession { session: id("a") };
    program.step(Incoming::from_editor(FromNvim::DeleteSession(delete)));
    program.step(Incoming::from_editor(FromNvim::Open { session: Some(id("a")) }));
    retry(&mut program, "b");
    assert_eq!((heard(&mut a), heard(&mut b)), (vec!["stop", "quit"], vec!["retry"]));
    assert!(ends.done.try_recv().is_err());
    drop(a);
    // first the session is closed and deleted, then it is opened again
    end_one(&mut program, &mut ends).await;
    end_one(&mut program, &mut ends).await;
    assert!(!runs(&program, "a") && program.lanes.is_busy(handle(&program, "a")));
    end_one(&mut program, &mut ends).await;
    assert!(runs(&program, "a") && program.lanes.is_idle());
}

#[tokio::test]
async fn messages_to_a_name_reach_the_session_that_has_the_name_now() {
    let dir = tempfile::tempdir().unwrap();
    let (mut program, mut ends, _orders) = program(dir.path());
    let mut had_it = open(&mut program, "a");
    program.sessions.rename(handle(&program, "a"), &id("new"));
    program.step(Incoming::from_editor(FromNvim::Open { session: Some(id("a")) }));
    retry(&mut program, "a");
    end_one(&mut program, &mut ends).await;
    assert_eq!(heard(&mut had_it), Vec::<&str>::new());
    assert!(runs(&program, "a") && program.lanes.is_idle());
    retry(&mut program, "new");
    assert_eq!(heard(&mut had_it), ["retry"]);
}

#[tokio::test]
async fn a_sessions_former_name_leads_to_it_until_another_session_gets_that_name() {
    let dir = tempfile::tempdir().unwrap();
    let (mut program, _ends, _orders) = program(dir.path());
    let _a = open(&mut program, "a");
    let sessions = &mut program.sessions;
    let a = sessions.find(&id("a")).unwrap();
    for to in ["b", "c"] {
        sessions.rename(a, &id(to));
    }
    let found = |of: &Sessions| ["a", "b", "c"].map(|it| of.find(&id(it)) == Some(a));
    assert_eq!(found(sessions), [true; 3]);
    // a task reserves the name and then fails
    let reserved = sessions.reserve(&id("a"));
    assert_eq!(found(sessions), [false, true, true]);
    sessions.settle(reserved);
    assert_eq!(found(sessions), [true; 3]);
    let other = sessions.begin(&id("a"), mpsc::unbounded_channel().0, false).0.session;
    assert_eq!((sessions.find(&id("a")), found(sessions)), (Some(other), [false, true, true]));
    sessions.close(other);
    sessions.settle(other);
    assert_eq!(found(sessions), [false, true, true]);
    sessions.rename(a, &id("a"));
    assert_eq!((found(sessions), sessions.taken()), ([true; 3], vec!["a".to_owned()]));
}

#[tokio::test]
async fn requests_of_an_ended_session_do_not_affect_a_new_session_of_its_name() {
    let dir = tempfile::tempdir().unwrap();
    let (mut program, _ends, _orders) = program(dir.path());
    let mut old_inbox = open(&mut program, "a");
    let old = program.sessions.link(handle(&program, "a")).unwrap();
    assert!(!old.is_over());
    let mut new = open(&mut program, "a");
    assert!(old.is_over() && handle(&program, "a") != old.session);
    let copy = Copy { session: Box::default(), name: None };
    for wish in [Wish::Rename { text: "b".to_owned() }, Wish::Models, Wish::Copy(copy)] {
        program.step(Incoming::Wish(old.session, wish));
        assert!(program.lanes.is_idle());
    }
    program.tell(old.session, Command::Retry);
    assert_eq!((heard(&mut new), heard(&mut old_inbox)), (vec![], vec![]));
    // a review belongs to a session's name, because another Neovim may have had the session in the meantime
    let verdict = Verdict {
        session: Some(old.session),
        answers: Vec::new(),
        claims: Vec::new(),
        path: "a.txt".into(),
        was: None,
        saved: true,
        text: None,
    };
    program.verdict(&id("a"), verdict);
    assert_eq!(heard(&mut new), ["reviewed"]);
}

#[tokio::test]
async fn waiting_messages_are_delivered_before_the_program_ends() {
    let dir = tempfile::tempdir().unwrap();
    let (mut program, ends, mut orders) = program(dir.path());
    let (mut a, mut b) = (open(&mut program, "a"), open(&mut program, "b"));
    program.step(Incoming::from_editor(FromNvim::Reviewed(reviewed())));
    retry(&mut program, "a");
    let ending = tokio::spawn(program.quit(ends));
    // a session without a task ends at once
    assert!(matches!(b.recv().await, Some(Command::Quit(_))));
    assert_eq!(heard(&mut a), Vec::<&str>::new());
    let Some(Order::Settled(of)) = orders.recv().await else { panic!("no review") };
    assert!(of.done.send(Vec::new()).is_ok());
    assert!(matches!(a.recv().await, Some(Command::Retry)));
    assert!(matches!(a.recv().await, Some(Command::Quit(_))));
    drop((a, b));
    ending.await.unwrap();
}
