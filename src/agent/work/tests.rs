//! Tests how a tool that panics is answered, and how calls get unique ids.

use super::*;
use crate::edit::Proposal;
use crate::message::{Input as Arguments, Stop, Usage};
use crate::reach::{Folders, Reach};
use crate::text::Text;
use crate::tool::comment::Comment;
use crate::tool::disk::Disk;
use crate::tool::lsp;
use crate::tool::scene;
use crate::tool::{Arrival, Stamp, Unreadable, Workspace};
use futures::future::BoxFuture;
use serde_json::json;

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
    fn save(&self, paths: Vec<PathBuf>) -> BoxFuture<'_, Vec<PathBuf>> {
        self.0.save(paths)
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

#[tokio::test]
async fn a_call_is_answered_even_if_its_tool_panics() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    std::fs::write(root.join("a.txt"), "alpha\n").unwrap();
    let folders = Folders { root: root.clone(), ..Folders::default() };
    let desk = Desk {
        reach: Reach::new(&folders),
        rules: Arc::default(),
        confinement: tool::confinement::Confinement::default(),
        jobs: tool::jobs::Jobs::default(),
        workspace: Arc::new(Trap(Disk { root: root.clone() })),
        home: None,
        config: root.join("config"),
        output: mpsc::unbounded_channel().0,
        tools: tool::own(),
        seen: None,
        agreed: None,
        secrets: tool::environment::Secrets::default(),
        overflow: root.join("overflow"),
        program: PathBuf::new(),
        web: crate::web::Web::new(Vec::new(), PathBuf::new()),
        root,
    };
    let (results, mut answers) = mpsc::unbounded_channel();
    let observations = mpsc::unbounded_channel().0;
    let (watched, unsaved, keeper) = (Vec::new(), Vec::new(), None);
    let job = Job { desk, results, observations, watched, unsaved, keeper };
    let input = Arguments::Json(json!({"path": "a.txt"}));
    run(job, TurnId(1), ToolCall { id: CallId("c1".into()), tool: "read".into(), input }).await;
    let Some(Input::Answered { answer, .. }) = answers.recv().await else { panic!("no answer") };
    assert_eq!(answer, broken(&CallId("c1".into())));
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
