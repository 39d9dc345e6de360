//! Tests that a session read from disk is the session that was written: after a save, after a crash during any write,
//! and after a person's edit of the file.

mod file;
mod journal;
mod laws;
mod listing;
mod outputs;
mod pairs;
mod shelf;
mod tally;
mod together;

use super::*;
use crate::event::{Access, Plan};
use crate::message::{
    Block, CallId, Excerpt, ExcerptKind, Input as Arguments, Reply, Stop, ToolAnswer, ToolCall,
    Usage,
};
use crate::session::Input;
use expect_test::expect;
use serde_json::{Value, json};
use std::collections::BTreeSet;

struct Place {
    _dir: tempfile::TempDir,
    project: Project,
}

const ROOT: &str = "/home/me/My Project";

fn place() -> Place {
    let dir = tempfile::tempdir().unwrap();
    let project = Project::new(dir.path(), Path::new(ROOT));
    Place { _dir: dir, project }
}

impl Place {
    fn path(&self, name: &str) -> PathBuf {
        self.project.dir().join(name)
    }

    fn open(&self) -> Opened {
        self.try_open().unwrap()
    }

    /// Opens the session. Tries again if it is locked, because a process that another test has just started may inherit
    /// the lock for a moment.
    fn try_open(&self) -> Result<Opened, Unavailable> {
        loop {
            match self.project.open(&main_id()) {
                Err(Unavailable::Locked(_)) => std::thread::yield_now(),
                opened => return opened,
            }
        }
    }

    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        fs::create_dir_all(self.project.dir()).unwrap();
        fs::write(self.path(name), bytes).unwrap();
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// The names of the files in the folder, except lock files.
    fn files(&self) -> Vec<String> {
        let entries = fs::read_dir(self.project.dir()).into_iter().flatten().flatten();
        let mut names: Vec<String> =
            entries.map(|it| it.file_name().into_string().unwrap()).collect();
        names.retain(|it| Path::new(it).extension() != Some("lock".as_ref()));
        names.sort();
        names
    }
}

fn main_id() -> SessionId {
    SessionId("main".into())
}

fn text(text: &str) -> Block {
    Block::Text { text: text.into() }
}

fn call(id: &str) -> ToolCall {
    let input = Arguments::Json(json!({"path": "src/a.rs", "lines": "1-9"}));
    ToolCall { id: CallId(id.into()), tool: "read".into(), input }
}

fn answer(id: &str) -> ToolAnswer {
    let text = "1\tfn main() {}\n".to_owned();
    ToolAnswer {
        id: CallId(id.into()),
        text,
        failed: false,
        summary: "1 line".into(),
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
    }
}

fn send(text: &str) -> Input {
    Input::Send { text: text.into(), context: Vec::new(), steer: false }
}

fn replied(session: &Session, blocks: Vec<Block>) -> Input {
    let usage = Usage { input: 100, output: 20, cache_read: 3, cache_write: 4 };
    let reply =
        Reply { blocks, stop: Stop::EndTurn, usage, model: String::new(), by: String::new() };
    let plan = |it: &ToolCall| Plan { call: it.id.clone(), access: Access::Read };
    let plans = reply.calls().map(plan).collect();
    Input::Replied { turn: session.turn().unwrap_or_default(), reply, plans }
}

fn opened() -> Session {
    let mut session = Session::default();
    let system = "You are Caliban.\nBe brief.".to_owned();
    session.through(Input::Open {
        system,
        instructions: Vec::new(),
        model: "mine/m-1".into(),
        root: "/p".into(),
    });
    session
}

/// A session with every kind of block, in which no turn runs.
fn everything() -> Session {
    let mut session = opened();
    let excerpt = Excerpt {
        path: "src/a.rs".into(),
        lines: Some((1, 9)),
        filetype: "rust".into(),
        kind: ExcerptKind::Selection,
        text: "fn main() {}".into(),
        note: "cut".into(),
        keyword: String::new(),
        tools: Vec::new(),
        image: None,
    };
    let context = vec![excerpt];
    session.through(Input::Send {
        text: "What is \"this\"?\n\nSay.".into(),
        context,
        steer: false,
    });
    let thinking = Block::Thinking { text: "Let me see.".into(), signature: Some("c2ln".into()) };
    let broken = Arguments::Broken { text: "{\"path\": ".into(), why: "EOF".into() };
    let cut = ToolCall { id: CallId("c2".into()), tool: "edit".into(), input: broken };
    let raw = Block::Raw { provider: "mine".into(), value: json!({"type": "search"}) };
    let blocks = vec![thinking, raw, text("I look."), Block::Call(call("c1")), Block::Call(cut)];
    session.through(replied(&session, blocks));
    let turn = session.turn().unwrap();
    session.through(Input::Answered { turn, answer: answer("c1") });
    let failed = ToolAnswer { failed: true, ..answer("c2") };
    session.through(Input::Answered { turn, answer: failed });
    session.through(replied(&session, vec![text("A program: `main`.")]));
    session.through(send("and?"));
    session.through(Input::Cancel { partial: None });
    session.through(send("later"));
    session.through(send("later still"));
    session.through(Input::Cancel { partial: None });
    session.through(Input::ReviewLost { path: "/p/a".into() });
    session
}

/// The session as it is after saving and loading: permissions, the list of unsaved files and which
/// messages are held are not saved.
fn as_saved(session: &Session) -> Session {
    let queued = session.queue.iter().map(|it| it.id).max().unwrap_or(0);
    let session = Session { held: BTreeSet::new(), queued, ..session.clone() };
    Session { granted: Vec::new(), unsaved: Vec::new(), ..session }
}

/// The text of a session's file, with the times replaced.
fn masked(json: &str) -> String {
    let mask = |line: &str| match line.split_once("\": \"2") {
        Some((key, _)) if key.ends_with("ated") => format!("{key}\": \"…\","),
        _ => line.to_owned(),
    };
    json.lines().map(mask).collect::<Vec<_>>().join("\n") + "\n"
}

#[test]
fn the_folder_for_a_projects_sessions_begins_with_the_projects_name() {
    for (root, folder) in [
        ("/home/me/My Project", "my-project-42276b69"),
        ("/", "-8a5edab2"),
        ("/x/…", "-d60e1807"),
        ("/x/a\nb", "a-b-7ef924e3"),
    ] {
        let dir = Project::new(Path::new("/d"), Path::new(root)).dir().to_owned();
        assert_eq!(dir.to_str().unwrap(), format!("/d/{folder}"));
    }
}

#[test]
fn only_valid_session_names_are_accepted() {
    let long = "x".repeat(64);
    let too_long = "x".repeat(65);
    for name in ["a", "main", "A-b_9", "-", long.as_str()] {
        assert!(is_name(name), "{name}");
    }
    for name in ["", "../x", "a/b", ".", "a.b", "naïve", "a b", "a\n", "a\0", too_long.as_str()] {
        assert!(!is_name(name), "{name:?}");
    }
}

#[test]
fn a_free_name_is_the_name_of_no_file_and_of_no_open_session() {
    let place = place();
    let free = |base: &str| place.project.free_name(base, |it| it == "main-4");
    assert_eq!(free("main"), "main");
    for file in ["main.json", "main-2.journal", "main-3.draft"] {
        place.write(file, "");
    }
    assert_eq!(free("main"), "main-5");
    let long = "x".repeat(64);
    place.write(&format!("{long}.json"), "");
    assert!(is_name(&free(&long)) && free(&long) != long);
    assert_eq!(place.project.names(), ["main".to_owned(), long]);
}

#[test]
fn the_last_used_session_is_remembered_and_a_forged_name_in_its_record_is_ignored() {
    let place = place();
    assert_eq!(place.project.last(), None);
    place.project.set_last(&main_id()).unwrap();
    assert_eq!(place.project.last(), Some(main_id()));
    place.write("last", "../../etc/passwd\n");
    assert_eq!(place.project.last(), None);
}

#[test]
fn a_session_is_open_for_writing_in_only_one_program_at_a_time() {
    let place = place();
    let first = place.open();
    let locked = || match place.project.open(&main_id()) {
        Err(unavailable @ Unavailable::Locked(_)) => unavailable.say("main"),
        other => panic!("not locked: {other:?}"),
    };
    let own = std::os::unix::process::parent_id();
    let said = format!("is open in another Neovim (process {own}, since 2");
    assert!(locked().contains(&said), "{}", locked());
    // the text in the lock file is only shown: a forged text has no effect and cannot disturb the display
    place.write("main.lock", format!("x\u{1b}[31m{}\n/run/\u{7}it", "y".repeat(500)));
    assert!(locked().contains("(x[31myyyy") && locked().len() < 200, "{}", locked());
    let Err(Unavailable::Locked(holder)) = place.project.open(&main_id()) else {
        panic!("not locked")
    };
    assert_eq!(holder.server, "/run/it");
    place.write("main.lock", "");
    assert!(locked().ends_with("another Neovim."));
    drop(first);
    place.write("main.lock", "process 1, since ever");
    assert!(place.try_open().is_ok());
}

#[test]
fn a_draft_is_kept_on_disk_until_it_is_empty() {
    let place = place();
    let excerpt = Excerpt { path: "a".into(), text: "x".into(), ..Excerpt::default() };
    let draft = Draft { text: "half a\nthought — ".into(), context: vec![excerpt] };
    place.open().store.save_draft(draft.clone()).unwrap();
    let mut again = place.open();
    assert_eq!(again.draft, draft);
    again.store.save_draft(Draft { text: " \n".into(), context: Vec::new() }).unwrap();
    again.store.save_draft(Draft::default()).unwrap();
    assert_eq!(place.files(), ["main.journal"]);
    again.store.discard().unwrap();
    assert_eq!(place.files(), [""; 0]);
    drop(again);
    place.write("main.draft", "{ not json");
    assert_eq!(place.open().draft, Draft::default());
}

#[test]
fn text_typed_in_a_read_only_session_joins_the_draft() {
    for (draft, unsent, joined) in [
        ("", "mine", "mine"),
        ("mine", "mine", "mine"),
        ("mine", "mine and more", "mine and more"),
        ("more of mine", "mine", "more of mine"),
        ("theirs", "mine", "theirs\n\nmine"),
        ("theirs", "", "theirs"),
    ] {
        let place = place();
        let json = |text: &str| json!({ "text": text }).to_string();
        place.write("main.draft", json(draft));
        place.write("main.unsent", json(unsent));
        assert_eq!(place.project.unsent(&main_id()).text, unsent);
        for _ in 0..2 {
            assert_eq!(place.open().draft.text, joined);
        }
        assert_eq!(place.path("main.unsent").exists(), unsent.is_empty());
    }
    let place = place();
    place.write("main.draft", json!({"text": "theirs"}).to_string());
    place.write("main.unsent", "{ not json");
    assert_eq!(place.open().draft.text, "theirs");
    assert_eq!(place.read("main.unsent"), "{ not json");
}

#[test]
fn a_session_folder_that_cannot_be_created_is_reported() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("sessions"), "a file").unwrap();
    let project = Project::new(&dir.path().join("sessions"), Path::new("/p"));
    let unavailable = project.open(&main_id()).unwrap_err();
    expect!["The conversation `main` cannot be opened: not a directory."]
        .assert_eq(&unavailable.say("main"));
    assert_eq!(project.free_name("main", |_| false), "main");
}

#[test]
fn a_cleared_conversation_goes_to_the_trash() {
    let place = place();
    let mut opened = place.open();
    opened.store.trash(&everything()).unwrap();
    opened.store.trash(&everything()).unwrap();
    assert_eq!(place.files(), ["main.journal", "trash"]);
    let trashed: Value = serde_json::from_str(&place.read("trash/main-2.json")).unwrap();
    assert_eq!(trashed["messages"].as_array().unwrap().len(), everything().messages.len());
}
