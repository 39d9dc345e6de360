//! A tool, the kinds of work that tools do, and what a call asks for once its arguments are read.

use super::allowed::Consented;
use super::desk::Desk;
use super::lsp::question::Question;
use crate::edit::{Edit, Format};
use crate::event::{Access, Isolation, WorkerAct};
use crate::message::{Builtin, CallId, Image, ToolSpec};
use crate::web::address::Address;
use futures::future::BoxFuture;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::sync::Arc;

/// A task for a subagent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct Task {
    /// A few words for the user.
    pub description: String,
    /// Everything that the subagent is told.
    pub prompt: String,
    /// The named agent that the subagent is.
    pub agent: Option<String>,
    #[serde(default)]
    pub isolation: Isolation,
}

/// A tool: one that is built into Caliban, or one that is defined while the program runs.
pub struct Tool {
    pub name: String,
    /// Tells the model what the tool does and when to use it. The first sentence is also in the system prompt and in
    /// the help.
    pub purpose: String,
    /// JSON Schema of the arguments.
    pub schema: Value,
    pub author: Author,
    pub work: Work,
}

impl Tool {
    /// The tool as a model sees it.
    pub(super) fn spec(&self) -> ToolSpec {
        let Tool { name, purpose, schema, .. } = self;
        ToolSpec { name: name.clone(), purpose: purpose.clone(), schema: schema.clone() }
    }

    /// The tool's identity, if it is built into Caliban.
    pub fn builtin(&self) -> Option<Builtin> {
        Builtin::of(&self.name)
    }

    /// Whether the tool's calls have effects outside of Caliban. All earlier events have to be safe on disk before such
    /// a call runs.
    pub fn acts(&self) -> bool {
        matches!(self.work, Work::Act(_))
    }

    /// Whether the tool's answers only contain text that was read or printed, so that the model can get the text again
    /// by another call. A second call of `comment`, for example, would show the comments twice.
    pub fn reads(&self) -> bool {
        matches!(self.author, Author::Files | Author::Command | Author::Web) && !self.edits()
    }

    /// Whether the tool's calls propose edits, which the user decides on.
    pub fn edits(&self) -> bool {
        matches!(self.work, Work::Edit { .. } | Work::Refactor(_))
    }

    /// Whether the tool's calls may change files without a review.
    pub fn changes(&self) -> bool {
        let is_own = matches!(self.work, Work::Own(_)) && self.author == Author::Known;
        is_own || matches!(self.work, Work::Act(_) | Work::Delegate(_))
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Done {
    /// The text of the answer for the model.
    pub text: String,
    /// Caliban's own lines below the text. Unlike the text, they were never written by a stranger.
    pub after: String,
    /// A few words for the right end of the tool's line: `80 lines`, `7 matches`.
    pub summary: String,
    /// Whether a command ended badly.
    pub fault: bool,
    pub images: Vec<Image>,
    /// The job whose end the text reports.
    pub job_end: Option<u32>,
    /// Lines for the log of permissions.
    pub decisions: Vec<String>,
    /// Sentences for the user alone.
    pub told: Vec<String>,
    /// Lines for the user alone, which the chat shows below the call's line.
    pub shown: Vec<String>,
    /// The locked paths that a git command would change. The command did not start, and runs again if the user agrees.
    pub locked: Vec<String>,
    /// Whether the text is Caliban's own, although the tool also returns texts of others.
    pub is_known: bool,
}

impl Done {
    pub fn new(text: String, summary: impl Into<String>) -> Done {
        Done { text, summary: summary.into(), ..Done::default() }
    }

    /// A text of Caliban's own.
    pub(super) fn known(text: String, summary: impl Into<String>) -> Done {
        Done { is_known: true, ..Done::new(text, summary) }
    }
}

/// Who may have written what a tool's calls return. A stranger's text is fenced for the model, and what the model does
/// after it has read one is asked about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Author {
    /// Caliban or the user.
    Known,
    /// Whoever wrote the files that the call reads: for files outside of the project, a stranger.
    Files,
    /// A command, whose output may come from anywhere.
    Command,
    /// Anybody on the web.
    Web,
    /// The owner of something else, which has this name.
    Stranger(String),
}

/// The kind of work that a tool does, which decides how its calls are treated. Each kind reads a call's arguments once,
/// into a type of its own.
pub enum Work {
    /// The tool reads. Its calls run at the same time as other reads.
    Read(Reads<Reading>),
    /// The tool edits files. It only reads a call. The agent resolves the paths, which are as the model wrote them, and
    /// proposes the edits of several calls together. The tool is offered to models that write edits in one of
    /// `formats`.
    Edit { read: Reads<Vec<Edit>>, formats: Vec<Format> },
    /// The tool edits files with the help of a language server, which is asked for the edits before they are proposed: a
    /// `Deed::Refactor`. A question that changes nothing is a `Deed::Read`.
    Refactor(Reads<Deed>),
    /// The tool uses only Caliban's own data: the todo list, the texts of skills, the jobs that the model has started.
    /// Its calls run like reads, and change no other files.
    Own(Reads<Run>),
    /// The tool fetches a web page.
    Fetch(Reads<Fetching>),
    /// The tool searches the web.
    Search(Reads<Searching>),
    /// The tool ends the turn, because the user has to answer before the model goes on. Where no user answers, the turn
    /// goes on.
    Last(Reads<Access>),
    /// The tool gives a task to a subagent. The agent carries the call out.
    Delegate(Reads<Task>),
    /// The tool leads the workers of a coordinator. The session carries the call out.
    Lead(Reads<WorkerAct>),
    /// The tool runs a command, or sends input to a running one.
    Act(Reads<Acting>),
}

/// Reads arguments that fit the schema. The error tells the model which argument is wrong, why, which values are valid,
/// and what to try.
pub type Reads<T> = Arc<dyn Fn(&Desk, Value) -> Result<T, String> + Send + Sync>;

/// What a call asks for.
pub enum Deed {
    Read(Reading),
    Edit(Vec<Edit>),
    Refactor(Question),
    Own(Run),
    Fetch(Fetching),
    Search(Searching),
    Last(Access),
    Delegate(Task),
    Lead(WorkerAct),
    Act(Acting),
}

/// The future of a running call. The error is for the model, like that of `Reads`.
pub type Running<'a> = BoxFuture<'a, Result<Done, String>>;
/// Carries a call out.
pub type Run = Arc<dyn for<'a> Fn(&'a Desk, CallId) -> Running<'a> + Send + Sync>;
/// A `Run` of this closure.
pub fn runner<F>(run: F) -> Run
where
    F: for<'a> Fn(&'a Desk, CallId) -> Running<'a> + Send + Sync + 'static,
{
    Arc::new(run)
}

/// Carries out a call that reads these paths, which are those of `Reading::paths`, in the same order.
pub(super) type RunOn = Arc<dyn for<'a> Fn(&'a Desk, Vec<Consented>) -> Running<'a> + Send + Sync>;

pub struct Reading {
    /// The paths that the call reads, as the model wrote them. They are checked before the call begins, and again when
    /// it runs.
    pub paths: Vec<String>,
    pub(super) run: RunOn,
}

pub struct Fetching {
    /// The address as the model wrote it.
    pub url: String,
    /// The address to which the call sends a request; `None` if it sends none.
    pub address: Option<Address>,
    pub run: Run,
}

pub struct Searching {
    pub query: String,
    /// The host to which the query goes.
    pub host: String,
    pub run: Run,
}

pub struct Acting {
    /// What the user has to consent to.
    pub access: Access,
    pub run: Run,
}

impl Deed {
    /// The files and folders that the call names, as the model wrote them.
    pub(super) fn paths(&self) -> Vec<String> {
        let shown = |path: &std::path::Path| path.to_string_lossy().into_owned();
        match self {
            Deed::Read(it) => it.paths.clone(),
            Deed::Edit(edits) => edits.iter().flat_map(Edit::paths).map(shown).collect(),
            Deed::Refactor(question) => question.path.as_deref().map(shown).into_iter().collect(),
            Deed::Own(_)
            | Deed::Fetch(_)
            | Deed::Search(_)
            | Deed::Last(_)
            | Deed::Delegate(_)
            | Deed::Lead(_)
            | Deed::Act(_) => Vec::new(),
        }
    }
}

impl Reading {
    pub(super) fn new<A, F>(args: A, paths: Vec<String>, run: F) -> Reading
    where
        A: Clone + Send + Sync + 'static,
        F: for<'a> Fn(&'a Desk, A, Vec<Consented>) -> Running<'a> + Send + Sync + 'static,
    {
        Reading { paths, run: Arc::new(move |desk, paths| run(desk, args.clone(), paths)) }
    }
}

/// The arguments as a value of the tool's own type.
pub(super) fn typed<A: DeserializeOwned>(args: Value) -> Result<A, String> {
    serde_json::from_value(args).map_err(|fault| fault.to_string())
}

impl Work {
    /// Work that reads the files and folders that `paths` finds in the arguments. `run` gets them led through their
    /// links, judged, and agreed to.
    pub fn reads<A, P, F>(paths: P, run: F) -> Work
    where
        A: DeserializeOwned + Clone + Send + Sync + 'static,
        P: Fn(&A) -> Vec<String> + Send + Sync + 'static,
        F: for<'a> Fn(&'a Desk, A, Vec<Consented>) -> Running<'a> + Copy + Send + Sync + 'static,
    {
        Work::Read(Arc::new(move |_, args| {
            let args: A = typed(args)?;
            let paths = paths(&args);
            Ok(Reading::new(args, paths, run))
        }))
    }

    /// Work on Caliban's own data.
    pub fn own<A, F>(run: F) -> Work
    where
        A: DeserializeOwned + Clone + Send + Sync + 'static,
        F: for<'a> Fn(&'a Desk, A) -> Running<'a> + Clone + Send + Sync + 'static,
    {
        Work::Own(Arc::new(move |_, args| {
            let (args, run): (A, F) = (typed(args)?, run.clone());
            Ok(runner(move |desk, _| run(desk, args.clone())))
        }))
    }

    /// Work that edits. `parse` finds the edits in the arguments.
    pub(super) fn edits<A: DeserializeOwned + 'static>(
        parse: fn(A) -> Result<Vec<Edit>, String>,
        formats: &[Format],
    ) -> Work {
        Work::Edit { read: Arc::new(move |_, args| parse(typed(args)?)), formats: formats.to_vec() }
    }

    /// Work to which the user has to consent. `access` says to what.
    pub(super) fn acts<A, F>(access: fn(&Desk, &A) -> Result<Access, String>, run: F) -> Work
    where
        A: DeserializeOwned + Clone + Send + Sync + 'static,
        F: for<'a> Fn(&'a Desk, CallId, A) -> Running<'a> + Copy + Send + Sync + 'static,
    {
        Work::Act(Arc::new(move |desk, args| {
            let args: A = typed(args)?;
            let access = access(desk, &args)?;
            Ok(Acting { access, run: runner(move |desk, id| run(desk, id, args.clone())) })
        }))
    }
}
