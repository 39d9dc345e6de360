//! The agent without an editor: stopped, or killed, at every poll of the agent's future and of the futures that it
//! waits for.

use crate::kit::chat::assert_grows;
use crate::kit::dialects::{DIALECTS, Dialect};
use crate::kit::http::Request;
use crate::kit::reply::Reply;
use crate::review::scene::edit;
use caliban::agent::models::Models;
use caliban::agent::{self, Answer, Command, Decided};
use caliban::context::prompt::Choice;
use caliban::conversation::report::{Glance, Show};
use caliban::edit::Proposal;
use caliban::event::{Delta, Event, Failure, Mode, Ruling, SessionId, Tuning, TurnId};
use caliban::message::{self, ToolAnswer};
use caliban::provider::dialect::{self, Asked, Quirks};
use caliban::provider::endpoint::UserProvider;
use caliban::provider::reading::Reading;
use caliban::provider::{Provider, Sampled};
use caliban::reach::{Folders, Reach};
use caliban::session::{Limits, Session};
use caliban::store::{Draft, Opened, Project, Unavailable};
use caliban::text::Text;
use caliban::tool::comment::Comment;
use caliban::tool::{
    self, Arrival, Desk, Source, Stamp, Toolset, Unreadable, Workspace, lsp, scene,
};
use futures::future::{BoxFuture, FutureExt};
use futures::stream::{self, BoxStream, StreamExt};
use serde_json::json;
use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::yield_now;
use tokio::time::timeout;

/// For each dialect: its name in the settings, a model, and the path of the base URL.
pub(super) const MODELS: [(&str, &str, &str); 5] = [
    ("anthropic", "anthropic/claude-sonnet-4-5", ""),
    ("openai-chat", "openai/gpt-5", "/v1"),
    ("openai-responses", "openai/gpt-5", "/v1"),
    ("gemini", "gemini/gemini-3-pro-preview", ""),
    ("ollama", "ollama/qwen3:8b", ""),
];

/// An interruption of the agent at a poll.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Blow {
    /// The user stops the turn.
    Stop,
    /// No future is polled any more, as when the program is killed.
    Kill,
}

/// The state that the test shares with the fake model and the fake workspace.
#[derive(Default)]
pub(super) struct World {
    pub(super) polls: usize,
    /// The interruption, and the number of the poll at which it comes.
    pub(super) blow: Option<(usize, Blow)>,
    pub(super) is_dead: bool,
    pub(super) inbox: Option<mpsc::UnboundedSender<Command>>,
    pub(super) script: VecDeque<Result<Reply, Failure>>,
    pub(super) requests: Vec<Request>,
    pub(super) refused: Vec<String>,
    /// The number of proposals that the workspace got.
    pub(super) proposed: usize,
}

pub(super) type Shared = Arc<Mutex<World>>;

/// Counts one poll, and carries out the interruption that is due at this poll. False if nothing may be polled any more.
fn count(world: &Shared) -> bool {
    let mut world = world.lock().unwrap();
    world.polls += 1;
    if let Some((at, blow)) = world.blow
        && at == world.polls
    {
        match (blow, &world.inbox) {
            (Blow::Stop, Some(inbox)) => drop(inbox.send(Command::Stop)),
            _ => world.is_dead = true,
        }
    }
    !world.is_dead
}

/// Wraps the future so that its polls are counted.
pub(super) fn counted<'a, T>(
    world: &Shared,
    future: impl Future<Output = T> + Send + 'a,
) -> BoxFuture<'a, T> {
    let (world, mut future) = (world.clone(), Box::pin(future));
    std::future::poll_fn(
        move |context| {
            if count(&world) { future.poll_unpin(context) } else { Poll::Pending }
        },
    )
    .boxed()
}

struct Model {
    world: Shared,
    theirs: &'static dyn Dialect,
    ours: dialect::Dialect,
    base: &'static str,
}

impl Model {
    /// Answers a request, and notes whether the real server would refuse it.
    fn answer(&self, request: &message::Request) -> Vec<Sampled> {
        let json = self.ours.body(request, Quirks { completion_tokens: true, ..Quirks::NONE });
        let path = self.ours.url(self.base, &request.model);
        let (method, headers, body) = ("POST".to_owned(), Vec::new(), Vec::new());
        let sent = Request { method, path, headers, body, json };
        let mut world = self.world.lock().unwrap();
        let fields = sent.json.as_object().unwrap();
        world.refused.extend(self.theirs.check(&sent, fields).err());
        world.requests.push(sent.clone());
        let reply = match world.script.pop_front() {
            Some(Err(failure)) => return vec![Sampled::Failed(failure)],
            reply => reply.map_or_else(|| Reply::said("Fine."), Result::unwrap),
        };
        let asked = Asked::new("test", request, world.requests.len() as u64);
        let (mut reading, mut out) = (Reading::new(self.ours, asked), Vec::new());
        reply.body(self.theirs, &sent).iter().for_each(|it| reading.push(it, &mut out));
        reading.end(&mut out);
        out
    }
}

impl Provider for Model {
    fn sample(&self, request: Arc<message::Request>) -> BoxStream<'static, Sampled> {
        let world = self.world.clone();
        let answer = VecDeque::from(self.answer(&request));
        stream::unfold(answer, move |mut answer| {
            let next = async move {
                yield_now().await;
                answer.pop_front().map(|it| (it, answer))
            };
            counted(&world, next)
        })
        .boxed()
    }

    fn shown(&self, _: &message::Request) -> Option<(String, String)> {
        None
    }
}

/// A workspace in which every file has the same text.
struct Files(Shared);

impl Workspace for Files {
    fn read<'a>(&'a self, _: &'a Path) -> BoxFuture<'a, Result<Source, Unreadable>> {
        counted(&self.0, async {
            yield_now().await;
            let text = Text::decode(b"alpha\n").unwrap();
            Ok(Source { text, pending: 0 })
        })
    }

    fn propose(&self, _: TurnId, proposals: Vec<Proposal>) -> BoxFuture<'_, Vec<Arrival>> {
        counted(&self.0, async move {
            self.0.lock().unwrap().proposed += 1;
            yield_now().await;
            vec![Arrival::Entered { hunks: 1 }; proposals.len()]
        })
    }

    fn changed(&self) -> BoxFuture<'_, Vec<PathBuf>> {
        counted(&self.0, async { Vec::new() })
    }

    fn save(&self, _: Vec<PathBuf>, _: Vec<PathBuf>) -> BoxFuture<'_, Vec<PathBuf>> {
        counted(&self.0, async { Vec::new() })
    }

    fn stamps(&self, paths: Vec<PathBuf>) -> BoxFuture<'_, Vec<Stamp>> {
        counted(&self.0, async move { vec![Stamp::Unknown; paths.len()] })
    }

    fn scene(&self, _: scene::Part) -> BoxFuture<'_, Result<scene::Scene, String>> {
        scene::absent()
    }
    fn comment(&self, _: Vec<Comment>) {}
    fn uncomment(&self) {}
    fn model_knows(&self, _: &Path, _: &Text) {}

    fn halt(&self, _: TurnId) {}

    fn restore(&self, _: Proposal) -> BoxFuture<'_, Result<String, String>> {
        counted(&self.0, async { Ok(String::new()) })
    }

    fn refresh(&self, _: PathBuf) -> BoxFuture<'_, ()> {
        counted(&self.0, async {})
    }

    fn consult(&self, _: lsp::Question) -> BoxFuture<'_, Result<lsp::Findings, String>> {
        counted(&self.0, async { Err(String::new()) })
    }
}

/// The name of the dialect's model, and models whose requests a fake `Model` answers.
pub(super) fn models(world: &Shared, at: usize) -> (&'static str, Models) {
    let (name, model, base) = MODELS[at];
    let (endpoint, _) = model.split_once('/').unwrap();
    let user = UserProvider { dialect: Some(name.into()), ..UserProvider::default() };
    let users = BTreeMap::from([(endpoint.to_owned(), user)]);
    let mut models = Models::new(users, BTreeMap::new(), Tuning::default());
    let ours = dialect::Dialect::named(name).unwrap();
    let (world, theirs) = (world.clone(), DIALECTS[at]);
    models.answer_by(endpoint, Arc::new(Model { world, theirs, ours, base }));
    (model, models)
}

/// The desk of an agent with these tools.
pub(super) fn desk(world: &Shared, root: &Path, tools: Toolset) -> Desk {
    let root = root.to_owned();
    let folders = Folders { root: root.clone(), ..Folders::default() };
    Desk {
        reach: Reach::new(&folders),
        rules: Arc::default(),
        confinement: tool::confinement::Confinement::default(),
        jobs: tool::jobs::Jobs::default(),
        session: String::new(),
        project: None,
        root: root.clone(),
        home: None,
        config: root.join("config"),
        workspace: Arc::new(Files(world.clone())),
        output: mpsc::unbounded_channel().0,
        tools,
        seen: None,
        agreed: None,
        skills: tool::skills::Usable::All,
        secrets: caliban::tool::environment::Secrets::default(),
        overflow: root.clone(),
        program: root,
        web: caliban::web::Web::new(Vec::new(), std::path::PathBuf::new()),
        servers: caliban::mcp::Servers::default(),
    }
}

/// Opens a session. Waits for its lock, which a process that another test has just started may have inherited for a
/// moment.
fn opened(project: &Project, id: &SessionId) -> Opened {
    loop {
        match project.open(id) {
            Err(Unavailable::Locked(_)) => std::thread::yield_now(),
            opened => return opened.unwrap(),
        }
    }
}

/// The setup of an agent whose session is not saved.
pub(super) fn setup(
    id: SessionId,
    desk: Desk,
    models: Models,
    screen: mpsc::UnboundedSender<Show>,
) -> agent::Setup {
    agent::Setup {
        id,
        desk,
        screen,
        store: None,
        session: Session::default(),
        replayed: false,
        partial: Vec::new(),
        draft: Draft::default(),
        models,
        tally: None,
        measures: None,
        glance: tokio::sync::watch::channel(Glance::default()).0,
        mode: Mode::Ask,
        agent: None,
        titles: false,
        limits: Limits::default(),
        choice: Choice::default(),
        permissions: agent::Permissions::default(),
        instructions: agent::Instructions::default(),
        instead: None,
        read_only: None,
        live: Vec::new(),
        recorded: Vec::new(),
        shown: false,
        outputs: mpsc::unbounded_channel().1,
        wishes: mpsc::unbounded_channel().0,
        places: mpsc::unbounded_channel().0,
        inherited: agent::Inherited::default(),
        intro: Vec::new(),
        warnings: Vec::new(),
    }
}

/// A conversation in the dialect `MODELS[at]`. It is saved in `project`, if there is one.
pub(super) struct Talk {
    pub(super) world: Shared,
    pub(super) at: usize,
    pub(super) project: Option<Project>,
    pub(super) root: PathBuf,
    pub(super) tools: Toolset,
    /// The number of polls until the first turn ended.
    pub(super) turn: usize,
    /// The model's texts that the chat was told to show.
    pub(super) seen: Vec<String>,
    /// The number of ended turns.
    pub(super) ended: usize,
}

impl Talk {
    fn desk(&self) -> Desk {
        desk(&self.world, &self.root, self.tools.clone())
    }

    fn setup(&self) -> (agent::Setup, mpsc::UnboundedReceiver<Show>) {
        let (model, models) = models(&self.world, self.at);
        let id = SessionId("main".into());
        let opened = self.project.as_ref().map(|it| opened(it, &id));
        let (store, session, replayed, partial) = match opened {
            Some(it) => (Some(it.store), it.session, it.replayed, it.partial),
            None => (None, None, false, Vec::new()),
        };
        let mut session = session.unwrap_or_default();
        model.clone_into(&mut session.model);
        let (screen, shown) = mpsc::unbounded_channel();
        let setup = agent::Setup {
            store,
            session,
            replayed,
            partial,
            ..setup(id, self.desk(), models, screen)
        };
        (setup, shown)
    }

    /// Sends the prompts, each after the end of the turn before.
    pub(super) fn run(&mut self, prompts: &[&str]) {
        let runtime = &mut tokio::runtime::Builder::new_current_thread();
        let runtime = runtime.enable_time().start_paused(true).build().unwrap();
        runtime.block_on(async {
            let (setup, mut shown) = self.setup();
            let (inbox, commands) = mpsc::unbounded_channel();
            self.world.lock().unwrap().inbox = Some(inbox.clone());
            tokio::spawn(counted(&self.world, agent::run(setup, commands)));
            for prompt in prompts {
                let (text, context) = ((*prompt).to_owned(), Vec::new());
                let _ = inbox.send(Command::Send { text, context, steer: false });
                self.watch(&inbox, &mut shown).await;
                let mut world = self.world.lock().unwrap();
                world.script.clear();
                if self.turn == 0 {
                    self.turn = world.polls;
                }
            }
        });
    }

    /// Does the user's part of a turn: accepts the edit, steers, declines the command.
    async fn watch(
        &mut self,
        inbox: &mpsc::UnboundedSender<Command>,
        shown: &mut mpsc::UnboundedReceiver<Show>,
    ) {
        // If nothing is shown for 600 seconds, the stop came before the turn began, or the agent was killed.
        while let Ok(Some(show)) = timeout(Duration::from_secs(600), shown.recv()).await {
            match show {
                Show::Delta(Delta::Text(text)) => self.seen.push(text),
                Show::Event(Event::Proposed { call, path, .. }) => {
                    assert_eq!(self.ended, 0, "proposed after the end");
                    let text = "The user accepted 1 change.".to_owned();
                    let answer = ToolAnswer::done(&call, text, "");
                    let answers = vec![answer];
                    let _ = inbox.send(Command::Reviewed(Decided {
                        claims: Vec::new(),
                        answers,
                        path,
                        saved: true,
                        text: None,
                    }));
                }
                Show::Event(Event::Asked { call, .. }) => {
                    assert_eq!(self.ended, 0, "asked after the end");
                    let (text, context) = ("this too".into(), Vec::new());
                    let _ = inbox.send(Command::Send { text, context, steer: true });
                    let ruling = Ruling::Denied { reason: String::new() };
                    let _ = inbox.send(Command::Rule { call, answer: Answer::Ruling(ruling) });
                }
                Show::Event(Event::Started { .. }) => {
                    assert_eq!(self.ended, 0, "started after the end");
                }
                Show::Event(Event::Ended { .. }) => {
                    self.ended += 1;
                    return;
                }
                _ => (),
            }
        }
    }
}

/// The replies of the model in the first turn.
fn script() -> VecDeque<Result<Reply, Failure>> {
    let calls =
        Reply::new().thinking("Hm.").text("I look.").call("c1", "read", json!({"path": "a.txt"}));
    let calls = calls.call("c2", "edit", edit("a.txt", &[("alpha", "beta")]));
    let more = Reply::new().thinking("And now.").text("More.");
    VecDeque::from([
        Ok(calls.call("c3", "shell", json!({"command": "true"}))),
        Err(Failure::RateLimited { after_ms: Some(50), said: String::new() }),
        Ok(more.call("c4", "read", json!({"path": "b.txt"}))),
        Ok(Reply::said("Done.")),
    ])
}

/// Checks one conversation that is interrupted at this poll. False if the first turn ended before that poll.
fn survives(at: usize, poll: usize, blow: Blow) -> bool {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    for file in ["a.txt", "b.txt"] {
        std::fs::write(root.join(file), "alpha\n").unwrap();
    }
    let project = (blow == Blow::Kill).then(|| Project::new(dir.path(), &root));
    let world = World { blow: Some((poll, blow)), script: script(), ..World::default() };
    let world = Arc::new(Mutex::new(world));
    let seen = Vec::new();
    let tools = tool::own();
    let mut talk = Talk { world: world.clone(), at, project, root, tools, turn: 0, seen, ended: 0 };
    match blow {
        Blow::Stop => talk.run(&["go @a.txt", "and now?", "and then?"]),
        Blow::Kill => {
            talk.run(&["go @a.txt"]);
            let mut world = world.lock().unwrap();
            (world.is_dead, world.blow) = (false, None);
            drop(world);
            talk.run(&["and now?", "and then?"]);
        }
    }
    if poll > talk.turn {
        return false;
    }
    let world = world.lock().unwrap();
    let case = format!("{} {blow:?} at poll {poll}", MODELS[at].0);
    assert_eq!(world.refused, [""; 0], "{case}");
    let outline = world.requests.last().unwrap().outline();
    // `Fine.` is left out, because the last answer comes after the last request.
    let seen = talk.seen.iter().map(String::as_str).filter(|it| *it != "Fine.");
    for text in seen.chain(["and now?", "assistant: Fine.", "and then?"]) {
        assert!(outline.contains(text), "{case}: {text} is missing in {outline}");
    }
    assert_grows(world.requests.clone());
    true
}

#[test]
fn an_agent_stopped_at_any_poll_sends_a_valid_next_request() {
    for at in 0..MODELS.len() {
        let mut poll = 1;
        while survives(at, poll, Blow::Stop) {
            poll += 1;
        }
        assert!(poll > 50, "{poll}");
    }
}

/// Each poll is tested in one dialect only, by turns: files on disk do not depend on the dialect.
#[test]
fn an_agent_killed_at_any_poll_resumes() {
    let mut poll = 1;
    while survives(poll % MODELS.len(), poll, Blow::Kill) {
        poll += 1;
    }
    assert!(poll > 50, "{poll}");
}
