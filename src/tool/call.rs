//! A call of the model's, which is read once, when the reply is complete: its tool, its arguments in the tool's own
//! type, the access that it needs, and the files that it names. Everything later asks this value.

use super::allowed::{self, Consented, Resolved};
use super::lsp::question::Question;
use super::schema::Form;
use super::task::Task;
use super::work::{Acting, Author, Deed, Reading, Work};
use super::{Desk, Done, Tool, path};
use crate::edit::{Edit, kept};
use crate::event::{Access, Guarded, Plan};
use crate::message::{Aside, CallId, Foreign, Input, Origin, Reply, ToolAnswer, ToolCall};
use crate::text::secret;
use crate::web::address::Address;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, HashMap};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;

/// The most bytes of an error, as a model reads it.
const LONGEST_ERROR: usize = 4_000;
const BROKEN: &str = "The tool failed inside Caliban, not because of your call. Try another way.";

/// A call that was read.
pub struct Call {
    /// The call as the model made it.
    pub made: ToolCall,
    /// The access that the call needs.
    pub access: Access,
    /// The files and folders that the call names. Empty if the call cannot run.
    pub touched: Vec<PathBuf>,
    /// `None` if there is no such tool.
    tool: Option<Arc<Tool>>,
    /// What the arguments ask for. `None` if the call cannot run.
    deed: Option<Deed>,
    /// Whether the arguments could not be read.
    is_misread: bool,
}

impl Call {
    /// Reads a call. Follows symbolic links on disk, but runs nothing. `kept` are the texts that a call may name instead
    /// of sending them again.
    pub fn read(desk: &Desk, made: &ToolCall, kept: &BTreeMap<String, String>) -> Call {
        let tool = desk.tools.find(&made.tool);
        let deed = match tool {
            None => Err(desk.tools.unknown(&made.tool)),
            Some(tool) => fitted(tool, made).and_then(|args| tool.read(desk, args, kept)),
        };
        let is_misread = deed.is_err();
        let judged = deed.and_then(|deed| {
            let name = tool.map_or("", |it| &it.name);
            Ok((access(desk, name, &deed)?, deed))
        });
        let (access, deed) = match judged {
            Ok((access, deed)) => (access, Some(deed)),
            Err(said) if is_misread => (Access::Invalid(short(&said)), None),
            Err(said) => (Access::Never(short(&said)), None),
        };
        let named = deed.as_ref().map(Deed::paths).unwrap_or_default();
        let touched = named.iter().filter_map(|it| path::resolve(desk, it).ok()).collect();
        Call { made: made.clone(), access, touched, tool: tool.cloned(), deed, is_misread }
    }

    /// A call that made Caliban fail while it was read.
    fn broken(made: &ToolCall) -> Call {
        Call {
            made: made.clone(),
            access: Access::Never(BROKEN.to_owned()),
            touched: Vec::new(),
            tool: None,
            deed: None,
            is_misread: false,
        }
    }

    pub fn id(&self) -> &CallId {
        &self.made.id
    }

    /// What the session gets to know of the call.
    pub fn plan(&self) -> Plan {
        Plan { call: self.made.id.clone(), access: self.access.clone() }
    }

    /// Whether the call runs a command, or sends input to a running one.
    pub fn acts(&self) -> bool {
        self.tool.as_ref().is_some_and(|it| it.acts())
    }

    /// Whether the call may change files without a review.
    pub fn changes(&self) -> bool {
        self.tool.as_ref().is_some_and(|it| it.changes())
    }

    /// Whether the call starts a command that goes on after its answer.
    pub fn runs_apart(&self) -> bool {
        matches!(self.access, Access::Act { background: true, .. })
    }

    /// Whether this is a call of an edit tool whose arguments cannot be read.
    pub fn is_malformed_edit(&self) -> bool {
        let is_edit = |it: &Arc<Tool>| matches!(it.work, Work::Edit { .. });
        self.is_misread && self.tool.as_ref().is_some_and(is_edit)
    }

    /// The task of a call on which a subagent works.
    pub fn task(&self) -> Option<&Task> {
        match &self.deed {
            Some(Deed::Delegate(task)) => Some(task),
            _ => None,
        }
    }

    /// The question to a language server whose answer has the edits of the call; `None` for other calls.
    pub fn question(&self) -> Option<&Question> {
        match &self.deed {
            Some(Deed::Refactor(question)) => Some(question),
            _ => None,
        }
    }

    /// The edits of an edit call, with their paths resolved anew: their links may have changed since the call was read.
    pub fn edits(&self, desk: &Desk) -> Result<Resolved, String> {
        match &self.deed {
            Some(Deed::Edit(edits)) => allowed::all_resolved(desk, edits.clone()),
            _ => Err(format!("{} is not an edit.", self.made.tool)),
        }
    }

    /// Where the call's result comes from, if a stranger may have written it.
    fn origin(&self, desk: &Desk) -> Option<Origin> {
        let (deed, tool) = (self.deed.as_ref()?, self.tool.as_ref()?);
        match (&tool.author, deed) {
            (Author::Known, _) => None,
            (Author::Command, _) => Some(Origin::Command),
            (Author::Stranger(_), Deed::Act(Acting { access: Access::Remote(it), .. })) => {
                Some(Origin::Stranger(format!("the server {}", it.server)))
            }
            (Author::Stranger(name), _) => Some(Origin::Stranger(name.clone())),
            (Author::Web, Deed::Fetch(it)) => Some(Origin::Web(it.url.clone())),
            (Author::Web, Deed::Search(it)) => {
                Some(Origin::Web(format!("search results for {}", it.query)))
            }
            (Author::Web, _) => Some(Origin::Web(tool.name.clone())),
            (Author::Files, _) => agreed_outside(desk).or_else(|| {
                deed.paths().iter().find_map(|it| outside(desk, &path::resolve(desk, it).ok()?))
            }),
        }
    }
}

/// The first file outside of the project that the running call has consent to read.
fn agreed_outside(desk: &Desk) -> Option<Origin> {
    let outside = desk.agreed.as_ref()?.all().find(|it| it.is_outside)?;
    Some(Origin::Outside(outside.path.clone()))
}

/// The origin of a file's text; `None` for a file of the project or of the user's own configuration.
fn outside(desk: &Desk, path: &std::path::Path) -> Option<Origin> {
    if path::inside(&desk.root, path) {
        return None;
    }
    if path::inside(&desk.overflow, path) {
        return Some(Origin::Command);
    }
    (!desk.reach.is_open(path)).then(|| Origin::Outside(desk.shown(path)))
}

/// The calls of the last reply, by id.
#[derive(Default)]
pub struct Calls(HashMap<CallId, Arc<Call>>);

impl Calls {
    /// Reads the first `most` calls of a reply, and forgets those of the reply before. `kept` are the texts of the
    /// conversation's calls that these calls name. If reading a call panics, the call is refused.
    pub fn read(
        &mut self,
        desk: &Desk,
        reply: &Reply,
        most: usize,
        kept: &BTreeMap<String, String>,
    ) -> Vec<Arc<Call>> {
        let read = |made: &ToolCall| {
            let call = catch_unwind(AssertUnwindSafe(|| Call::read(desk, made, kept)));
            Arc::new(call.unwrap_or_else(|_| Call::broken(made)))
        };
        let all: Vec<Arc<Call>> = reply.calls().take(most).map(read).collect();
        self.0 = all.iter().map(|it| (it.made.id.clone(), it.clone())).collect();
        all
    }

    /// The call as it was read. A command that the user has changed since is read again.
    pub fn of(&self, desk: &Desk, made: &ToolCall) -> Arc<Call> {
        match self.0.get(&made.id) {
            Some(call) if call.made == *made => call.clone(),
            _ => Arc::new(Call::read(desk, made, &BTreeMap::new())),
        }
    }
}

/// The access that a call needs, by what its arguments ask for.
fn access(desk: &Desk, tool: &str, deed: &Deed) -> Result<Access, String> {
    Ok(match deed {
        Deed::Read(Reading { paths, .. }) => {
            let mut all: Vec<Guarded> = Vec::new();
            for written in paths {
                let found = allowed::guarded(desk, tool, written)?;
                all.extend(found.filter(|it| all.iter().all(|known| known.path != it.path)));
            }
            let mut all = all.into_iter();
            let first = all.next().map(|it| Guarded { others: all.collect(), ..it });
            first.map_or(Access::Read, Access::Guarded)
        }
        Deed::Edit(edits) => {
            let mut paths: Vec<String> = Vec::new();
            for path in
                allowed::all_resolved(desk, edits.clone())?.edits.iter().flat_map(Edit::paths)
            {
                let path = path::unmistakable(&desk.root, path);
                if !paths.contains(&path) {
                    paths.push(path);
                }
            }
            Access::Edit { paths }
        }
        Deed::Refactor(question) => {
            let path = question.path.clone().unwrap_or_default();
            let found = allowed::editable(desk, &path.to_string_lossy())?.path;
            Access::Edit { paths: vec![path::unmistakable(&desk.root, &found)] }
        }
        Deed::Own(_) => Access::Read,
        Deed::Delegate(task) => Access::Delegate { title: task.description.clone() },
        Deed::Last(access) => access.clone(),
        Deed::Lead(act) => Access::Workers(act.clone()),
        Deed::Act(it) => it.access.clone(),
        Deed::Search(it) => Access::Search { query: it.query.clone(), host: it.host.clone() },
        Deed::Fetch(it) => match &it.address {
            None => Access::Read,
            Some(address) => fetched(desk, address)?,
        },
    })
}

fn fetched(desk: &Desk, address: &Address) -> Result<Access, String> {
    let url = address.as_str();
    let known = desk.secrets.known_to_commands();
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    if secret::marked(url, &known).1 > 0 {
        return Err("url: it holds a key or another secret. Leave the secret out.".to_owned());
    }
    desk.web.check(address).map_err(|why| format!("url: `{url}` {why}."))?;
    Ok(Access::Fetch { url: url.to_owned(), host: address.host() })
}

/// What came of a call that ran.
pub struct Ran {
    pub answer: ToolAnswer,
    /// Lines for the log of permissions.
    pub decisions: Vec<String>,
    /// Sentences for the user alone.
    pub told: Vec<String>,
    /// The access without which the call cannot run.
    pub needed: Option<Access>,
}

impl Ran {
    pub fn new(answer: ToolAnswer) -> Ran {
        Ran { answer, decisions: Vec::new(), told: Vec::new(), needed: None }
    }

    /// The answer to a call whose tool has panicked.
    pub fn broken(id: &CallId) -> Ran {
        Ran::new(ToolAnswer::failed(id, BROKEN.to_owned(), "failed"))
    }
}

/// Runs a call that reads or acts. An error becomes the answer's text.
pub async fn run(desk: &Desk, call: &Call) -> Ran {
    let id = call.made.id.clone();
    let done = match &call.deed {
        Some(Deed::Read(it)) => match consented(desk, &it.paths) {
            Ok(paths) => (it.run)(desk, paths).await,
            Err(said) => Err(said),
        },
        Some(Deed::Own(run)) => run(desk, id).await,
        Some(Deed::Act(it)) => (it.run)(desk, id).await,
        Some(Deed::Search(it)) => (it.run)(desk, id).await,
        Some(Deed::Fetch(it)) => (it.run)(desk, id).await,
        Some(Deed::Edit(_) | Deed::Refactor(_) | Deed::Delegate(_) | Deed::Lead(_)) => {
            Err(format!("{} proposes; it does not run.", call.made.tool))
        }
        Some(Deed::Last(_)) => Err(format!("{} ends the turn; it does not run.", call.made.tool)),
        None => match &call.access {
            Access::Never(said) | Access::Invalid(said) => Err(said.clone()),
            _ => Err(BROKEN.to_owned()),
        },
    };
    match done {
        Ok(Done {
            text,
            after,
            summary,
            fault,
            images,
            job_end,
            decisions,
            told,
            shown,
            locked,
            is_known,
        }) => {
            let origin = call.origin(desk).filter(|_| !is_known);
            let foreign = origin.map(|from| Foreign { from, own: after.lines().count() });
            let parts = [text, after].into_iter().filter(|it| !it.is_empty());
            let text = parts.collect::<Vec<_>>().join("\n");
            let shown = Aside::of(shown);
            let done = ToolAnswer::done(&call.made.id, text, summary);
            let answer = ToolAnswer { fault, images, job_end, foreign, shown, ..done };
            Ran { answer, decisions, told, needed: unlocking(&call.access, locked) }
        }
        Err(said) => Ran::new(ToolAnswer::failed(&call.made.id, short(&said), "failed")),
    }
}

fn consented(desk: &Desk, paths: &[String]) -> Result<Vec<Consented>, String> {
    paths.iter().map(|it| allowed::readable(desk, it)).collect()
}

/// The access of a git command that changes these locked paths; `None` if there are none.
fn unlocking(access: &Access, locked: Vec<String>) -> Option<Access> {
    match access.clone() {
        Access::Act { command, outside, background, hosts, .. } if !locked.is_empty() => {
            Some(Access::Act { command, outside, background, hosts, unlocked: locked })
        }
        _ => None,
    }
}

/// An error without its middle if it is long, as it may repeat a huge argument.
pub fn short(said: &str) -> String {
    if said.len() <= LONGEST_ERROR {
        return said.to_owned();
    }
    let half = LONGEST_ERROR / 2;
    let (head, tail) = (&said.as_bytes()[..half], &said.as_bytes()[said.len() - half..]);
    format!("{} […] {}", String::from_utf8_lossy(head), String::from_utf8_lossy(tail))
}

/// A call's arguments in the form that the schema of its tool requires.
fn fitted(tool: &Tool, call: &ToolCall) -> Result<Value, String> {
    let given = match &call.input {
        Input::Json(Value::Null) => Value::Object(Map::new()),
        Input::Json(value) => value.clone(),
        Input::Broken { text, why } => return Err(broken(&tool.name, text, why)),
    };
    tool.form().fit(given)
}

fn broken(name: &str, text: &str, why: &str) -> String {
    if why.contains("EOF") || text.is_empty() {
        return format!(
            "Your call of {name} was cut off after {} bytes of its arguments, so nothing was done. \
             Send it again in smaller pieces.",
            text.len()
        );
    }
    format!(
        "The arguments of your call of {name} are not JSON, so nothing was done: {why}. \
         Send the call again."
    )
}

impl Tool {
    fn form(&self) -> Form<'_> {
        Form { tool: &self.name, purpose: &self.purpose, schema: &self.schema }
    }

    /// Reads arguments that fit the schema.
    fn read(
        &self,
        desk: &Desk,
        args: Value,
        kept: &BTreeMap<String, String>,
    ) -> Result<Deed, String> {
        match &self.work {
            Work::Edit { read, .. } => read(desk, kept::filled(args, kept)?).map(Deed::Edit),
            Work::Read(read) => read(desk, args).map(Deed::Read),
            Work::Refactor(read) => read(desk, args),
            Work::Own(read) => read(desk, args).map(Deed::Own),
            Work::Fetch(read) => read(desk, args).map(Deed::Fetch),
            Work::Search(read) => read(desk, args).map(Deed::Search),
            Work::Last(read) => read(desk, args).map(Deed::Last),
            Work::Delegate(read) => read(desk, args).map(Deed::Delegate),
            Work::Lead(read) => read(desk, args).map(Deed::Lead),
            Work::Act(read) => read(desk, args).map(Deed::Act),
        }
    }
}
