//! The life of one subagent, as a task of its parent: gets its session, works, and ends when nobody waits for it any
//! more.

use super::progress::Progress;
use super::team::{News, Whom};
use super::worktrees::Apart;
use crate::agent::command::Work;
use crate::agent::{self, ChildCommand, Command, Inherited, Setup, work};
use crate::conversation::report::{Report, Show, Wait};
use crate::event::{Isolation, Mode, Recipient, Tuning, TurnId};
use crate::message::{Builtin, ToolAnswer, ToolCall};
use crate::session::{Input, Limits, Session};
use crate::tool::Toolset;
use futures::FutureExt;
use futures::future::BoxFuture;
use std::path::PathBuf;
use tokio::sync::{mpsc, oneshot};

/// What a subagent begins with.
pub(super) struct Beginning {
    pub(super) agent: Option<String>,
    pub(super) model: String,
    pub(super) tuning: Tuning,
    /// The provider to which the parent's conversation is sent.
    pub(super) sent_to: Option<Recipient>,
    pub(super) mode: Mode,
    /// The tools of the subagent.
    pub(super) tools: Toolset,
    /// The most requests of its turn, unless the user's settings allow fewer.
    pub(super) requests: Option<u32>,
    /// The files and folders that its commands may write; `None` is the whole project.
    pub(super) owned: Option<Vec<PathBuf>>,
    pub(super) inherited: Inherited,
}

/// One subagent's work, from the parent's side.
pub(in crate::agent) struct Job {
    pub(in crate::agent) whom: Whom,
    pub(super) work: Work,
    pub(super) beginning: Beginning,
    pub(super) commands: mpsc::UnboundedSender<Command>,
    pub(super) inbox: mpsc::UnboundedReceiver<Command>,
    pub(super) place: oneshot::Receiver<Result<Box<Setup>, String>>,
    pub(super) news: mpsc::UnboundedSender<(Whom, News)>,
    pub(in crate::agent) overflow: PathBuf,
    /// The files that the parent knows, to be compared before and after.
    pub(in crate::agent) files: work::Job,
}

/// Tells a subagent to stop, to save its session and to end, when its parent no longer waits for it.
struct Leash(mpsc::UnboundedSender<Command>);

impl Drop for Leash {
    fn drop(&mut self) {
        // the sends fail if the subagent has ended
        let _ = self.0.send(Command::Stop);
        let _ = self.0.send(Command::Quit(oneshot::channel().0));
    }
}

/// Has a subagent work on a call, and answers the call with the subagent's last reply.
pub(super) async fn attend(job: Job, turn: TurnId, call: ToolCall) {
    let (id, results, overflow) = (call.id, job.files.results.clone(), job.overflow.clone());
    let answer = match worked(job).await {
        Ok(progress) => progress.answer(&id, &overflow),
        Err(why) => ToolAnswer::failed(
            &id,
            format!("{why} Do the task yourself, if it is not done."),
            "failed",
        ),
    };
    let _ = results.send(Input::Answered { turn, answer });
}

/// Has a subagent work until its turn has ended, and compares the files that the parent knows before and after. The
/// error is a sentence: why the subagent could not begin, or that it has failed.
pub(in crate::agent) async fn worked(job: Job) -> Result<Progress, String> {
    let look = job.files.look().await.of_call();
    let Job { whom, work, beginning, commands, inbox, place, news, .. } = job;
    let could_not = |why: &str| format!("The subagent could not begin: {why}");
    let setup = match place.await {
        Ok(Ok(setup)) => *setup,
        Ok(Err(why)) => return Err(could_not(&why)),
        Err(_) => return Err(could_not("Caliban is ending.")),
    };
    let (session, screen) = (setup.id.clone(), setup.screen.clone());
    let (shown, mut shows) = mpsc::unbounded_channel();
    let is_unattended = work.is_unattended;
    let _leash = Leash(commands.clone());
    let tell = |it| drop(news.send((whom.clone(), it)));
    let (mut setup, mut apart) = (beginning.of(setup, shown), None);
    if work.task.isolation == Isolation::Worktree {
        tell(News::Doing("checks out a worktree".to_owned(), 0, 0));
        let (title, news) = (&work.task.description, (whom.clone(), news.clone()));
        let begun = Apart::begin(&mut setup, commands.clone(), title, news).await;
        apart = Some(begun.map_err(|why| could_not(&why))?);
    }
    let root = setup.desk.root.clone();
    tokio::spawn(start(setup, inbox));
    tell(News::Began(session.clone()));
    // the send fails only if the subagent has panicked
    let _ = commands.send(Command::Child(ChildCommand::Work(Box::new(work))));
    let mut progress = Progress::new(session, root, is_unattended);
    while let Some(show) = shows.recv().await {
        match &show {
            Show::Event(event) => progress.event(event).into_iter().for_each(tell),
            Show::Tell(Report::Status(status)) => {
                tell(News::Reviewing(status.waiting_for == Some(Wait::Review)));
            }
            Show::Explained { call, lines } => {
                tell(News::Explained { call: call.clone(), lines: lines.clone() });
            }
            _ => (),
        }
        let _ = screen.send(show);
        if progress.has_ended() {
            if let Some(apart) = apart {
                apart.finish(&mut progress).await;
            }
            look.again(Vec::new()).await;
            return Ok(progress);
        }
    }
    look.again(Vec::new()).await;
    let text = "The subagent failed inside Caliban before its task was done. It may have had effects: look for them before \
                you repeat the task.";
    Err(text.to_owned())
}

/// Runs a subagent's agent. The type of the future is hidden because an agent has futures of this kind itself.
fn start(setup: Setup, inbox: mpsc::UnboundedReceiver<Command>) -> BoxFuture<'static, ()> {
    agent::run(setup, inbox).boxed()
}

impl Beginning {
    /// The parts of the subagent's agent. `screen` receives everything that the subagent shows.
    fn of(self, setup: Setup, screen: mpsc::UnboundedSender<Show>) -> Setup {
        let Beginning { agent, model, tuning, sent_to, mode, tools, requests, owned, inherited } =
            self;
        let mut desk = setup.desk;
        if let Some(owned) = owned {
            desk.confinement = desk.confinement.owning(owned);
        }
        desk.tools = tools.only(|it| {
            it.builtin() == Some(Builtin::Notify) || desk.tools.find(&it.name).is_some()
        });
        // what a subagent spends counts for its parent
        let requests = setup.limits.requests.into_iter().chain(requests).min();
        Setup {
            desk,
            screen,
            session: Session { model, sent_to, tuning, ..setup.session },
            mode,
            inherited,
            agent,
            titles: false,
            limits: Limits { requests, ..Limits::default() },
            ..setup
        }
    }
}
