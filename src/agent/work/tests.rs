//! Tests how calls are answered if a tool panics, and how calls get unique ids.

use super::*;
use crate::agent::edits;
use crate::edit::Proposal;
use crate::event::Access;
use crate::message::{Input as Arguments, Stop, ToolAnswer, ToolCall, Usage};
use crate::reach::{Folders, Reach};
use crate::text::Text;
use crate::tool::comment::Comment;
use crate::tool::disk::Disk;
use crate::tool::lsp;
use crate::tool::scene;
use crate::tool::{Arrival, Calls, Stamp, Tool, Unreadable, Workspace};
use futures::future::BoxFuture;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use tokio::sync::watch;

/// A workspace that panics on each read.
struct Trap(Disk);

impl Workspace for Trap {
    fn read<'a>(&'a self, path: &'a Path) -> BoxFuture<'a, Result<Source, Unreadable>> {
        panic!("{}", path.display())
    }
    fn propose(&self, turn: TurnId, proposals: Vec<Proposal>) -> BoxFuture<'_, Vec<Arrival>> {
        self.0.propose(turn, proposals)
    }
    fn changed(&self) -> BoxFuture<'_, Vec<PathBuf>> {
        self.0.changed()
    }
    fn save(&self, paths: Vec<PathBuf>, agreed: Vec<PathBuf>) -> BoxFuture<'_, Vec<PathBuf>> {
        self.0.save(paths, agreed)
    }
    fn consult(&self, question: lsp::Question) -> BoxFuture<'_, Result<lsp::Findings, String>> {
        self.0.consult(question)
    }
    fn stamps(&self, paths: Vec<PathBuf>) -> BoxFuture<'_, Vec<Stamp>> {
        self.0.stamps(paths)
    }
    fn scene(&self, _: scene::Part) -> BoxFuture<'_, Result<scene::Scene, String>> {
        scene::absent()
    }
    fn comment(&self, _: Vec<Comment>) {}
    fn uncomment(&self) {}
    fn model_knows(&self, path: &Path, text: &Text) {
        self.0.model_knows(path, text);
    }
    fn halt(&self, turn: TurnId) {
        self.0.halt(turn);
    }
    fn restore(&self, change: Proposal) -> BoxFuture<'_, Result<String, String>> {
        self.0.restore(change)
    }
    fn refresh(&self, path: PathBuf) -> BoxFuture<'_, ()> {
        self.0.refresh(path)
    }
}

/// A desk in an empty project, and its folder. `trap` has the workspace panic on each read.
fn desk(trap: bool) -> (Desk, tempfile::TempDir) {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    std::fs::write(root.join("a.txt"), "alpha\n").unwrap();
    let folders = Folders { root: root.clone(), ..Folders::default() };
    let disk = Disk { root: root.clone(), is_apart: false };
    let workspace: Arc<dyn Workspace> = if trap { Arc::new(Trap(disk)) } else { Arc::new(disk) };
    let desk = Desk {
        reach: Reach::new(&folders),
        rules: Arc::default(),
        confinement: tool::confinement::Confinement::default(),
        jobs: tool::jobs::Jobs::default(),
        workspace,
        session: String::new(),
        project: None,
        home: None,
        config: root.join("config"),
        output: mpsc::unbounded_channel().0,
        tools: tool::own().with(panics("panics_at_once", true)).with(panics("panics_later", false)),
        seen: None,
        agreed: None,
        skills: tool::skills::Usable::All,
        secrets: tool::environment::Secrets::default(),
        overflow: root.join("overflow"),
        program: PathBuf::new(),
        web: crate::web::Web::new(Vec::new(), PathBuf::new()),
        servers: crate::mcp::Servers::default(),
        root,
    };
    (desk, dir)
}

/// A tool that panics while its access is determined, or while it runs.
fn panics(name: &str, at_once: bool) -> Tool {
    Tool {
        name: name.to_owned(),
        purpose: String::new(),
        schema: json!({ "type": "object", "properties": {} }),
        author: tool::Author::Files,
        work: tool::Work::reads(
            move |_: &Value| if at_once { panic!("at once") } else { Vec::new() },
            |_, _, _| panic!("later"),
        ),
    }
}

fn call(id: &str, tool: &str, args: Value) -> ToolCall {
    ToolCall { id: CallId(id.into()), tool: tool.into(), input: Arguments::Json(args) }
}

/// The call, read from a reply of its own.
fn read_call(desk: &Desk, call: &ToolCall) -> Arc<Call> {
    Calls::default().of(desk, call)
}

fn broken(id: &str) -> ToolAnswer {
    Ran::broken(&CallId(id.to_owned())).answer
}

/// Runs a call to its end, and returns its answer.
async fn ran(desk: &Desk, call: ToolCall) -> ToolAnswer {
    let (results, mut answers) = mpsc::unbounded_channel();
    let observations = mpsc::unbounded_channel().0;
    let (watched, unsaved, keeper) = (Vec::new(), Vec::new(), None);
    let agreed = Vec::new();
    let job = Job { desk: desk.clone(), results, observations, watched, unsaved, agreed, keeper };
    let call = read_call(desk, &call);
    run(job, TurnId(1), call).await;
    let Some(Input::Answered { answer, .. }) = answers.recv().await else { panic!("no answer") };
    answer
}

#[tokio::test]
async fn a_call_is_answered_even_if_its_tool_or_the_editor_panics() {
    let (trapped, _dir) = desk(true);
    let read = || call("c1", "read", json!({ "path": "a.txt" }));
    assert_eq!(ran(&trapped, read()).await, broken("c1"));
    let (desk, _dir) = desk(false);
    let answer = ran(&desk, call("c2", "panics_later", json!({}))).await;
    assert_eq!(answer, broken("c2"));
    // the next call works
    assert_eq!(ran(&desk, read()).await.text, "1\talpha\n");
}

#[test]
fn a_call_whose_access_cannot_be_determined_is_refused_and_the_others_are_not() {
    let (desk, _dir) = desk(false);
    let calls =
        [call("c1", "panics_at_once", json!({})), call("c2", "read", json!({ "path": "a.txt" }))];
    let blocks = calls.into_iter().map(Block::Call).collect();
    let (stop, usage) = (Stop::ToolUse, Usage::default());
    let reply = Reply { blocks, stop, usage, model: String::new(), by: String::new() };
    let calls = Calls::default().read(&desk, &reply, 9, &BTreeMap::new());
    assert_eq!(calls[0].access, Access::Never(broken("c1").text));
    assert_eq!(calls[1].access, Access::Read);
    let touched: Vec<&PathBuf> = calls.iter().flat_map(|it| &it.touched).collect();
    assert_eq!(touched, [&desk.root.join("a.txt")]);
}

#[tokio::test]
async fn edits_are_answered_even_if_the_editor_panics() {
    let (desk, _dir) = desk(true);
    let (results, mut answers) = mpsc::unbounded_channel();
    let edit = json!({ "path": "a.txt", "edits": [{ "old": "alpha", "new": "beta" }] });
    let calls = [call("c1", "edit", edit.clone()), call("c2", "edit", edit)];
    let calls = calls.iter().map(|it| read_call(&desk, it)).collect();
    let job = edits::Job {
        desk,
        results,
        observations: mpsc::unbounded_channel().0,
        known: BTreeMap::new(),
        at_once: false,
        unattended: false,
        agreed: BTreeMap::new(),
        post: None,
        tally: None,
        keeper: None,
    };
    let stopped = watch::channel(false).1;
    edits::propose(job, TurnId(1), calls, stopped).await;
    for id in ["c1", "c2"] {
        let Some(Input::Answered { answer, .. }) = answers.recv().await else { panic!("none") };
        assert_eq!(answer, broken(id));
    }
}

/// Otherwise the user's answer to such a call would count for a question of the program's.
#[test]
fn no_call_of_a_model_has_an_id_of_the_programs_own() {
    let asked = CallId::own("port-1-1");
    for id in [&*asked.0, "caliban:", "caliban:caliban:port-1-1", "caliban:child/caliban:c"] {
        let call = |id: &str| {
            let input = Arguments::Json(json!({}));
            Block::Call(ToolCall { id: CallId(id.to_owned()), tool: "read".into(), input })
        };
        let (stop, usage) = (Stop::ToolUse, Usage::default());
        let blocks = vec![call(id), call(id), call("call-2")];
        let reply = Reply { blocks, stop, usage, model: String::new(), by: String::new() };
        let reply = sendable(reply, &Session::default());
        let ids: Vec<&str> = reply.calls().map(|it| &*it.id.0).collect();
        assert_eq!(ids, ["call-2", "call-3", "call-2-2"]);
    }
}

/// This takes minutes if the search for a free id begins at 1 for each call.
#[test]
fn calls_with_the_same_id_get_unique_ids_in_linear_time() {
    let call = |id: String| {
        let input = Arguments::Json(json!({}));
        Block::Call(ToolCall { id: CallId(id), tool: "read".into(), input })
    };
    let taken = (2..10_000).map(|n| call(format!("c-{n}")));
    let same = (0..20_000).map(|n| call(if n % 2 == 0 { "c".into() } else { String::new() }));
    let blocks: Vec<Block> = taken.chain(same).collect();
    let (count, stop, usage) = (blocks.len(), Stop::ToolUse, Usage::default());
    let reply = Reply { blocks, stop, usage, model: String::new(), by: String::new() };
    let reply = sendable(reply, &Session::default());
    let ids: HashSet<&CallId> = reply.calls().map(|it| &it.id).collect();
    assert_eq!(ids.len(), count);
}
