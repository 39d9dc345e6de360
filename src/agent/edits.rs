//! The edits of one reply: resolved in order, each on the result of the one before, and proposed together.

use crate::edit::{self, Change, Misfit, Part, Proposal};
use crate::event::TurnId;
use crate::message::{CallId, ToolAnswer, ToolCall};
use crate::session::Input;
use crate::text::Text;
use crate::tool::{self, Arrival, Desk, Unreadable};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use tokio::sync::mpsc;

/// How often an edit is matched anew on a text that moved (DESIGN §5).
const TRIES: u32 = 5;

pub(super) struct Job {
    pub(super) desk: Desk,
    pub(super) results: mpsc::UnboundedSender<Input>,
    pub(super) knowing: mpsc::UnboundedSender<(PathBuf, String)>,
    /// Hashes of the texts as the model last knew them.
    pub(super) known: HashMap<PathBuf, String>,
}

/// The edits to one file.
struct Group {
    path: PathBuf,
    edits: Vec<(CallId, Change)>,
    from: From,
}

/// Where the text to match on comes from.
enum From {
    /// The workspace.
    Read,
    /// The editor gave it back, newer than what was read (`None`: there is no such file).
    Given(Option<Text>),
}

/// Every call ends in an `Answered` (a misfit, at once) or an `Entered` (its verdict comes later).
pub(super) async fn propose(job: Job, turn: TurnId, calls: Vec<ToolCall>) {
    let mut groups = job.group(turn, calls);
    for _ in 0..TRIES {
        let mut proposals = Vec::new();
        let mut asked = Vec::new();
        for mut group in std::mem::take(&mut groups) {
            if let Some(proposal) = job.resolve(turn, &mut group).await {
                proposals.push(proposal);
                asked.push(group);
            }
        }
        if proposals.is_empty() {
            return;
        }
        let arrivals = job.desk.workspace.propose(turn, proposals.clone()).await;
        for ((mut group, proposal), arrival) in asked.into_iter().zip(proposals).zip(arrivals) {
            match arrival {
                Arrival::Entered { hunks } => job.entered(turn, &proposal, hunks),
                Arrival::Refused(misfit) => job.misfits(turn, &group, &misfit, None),
                Arrival::Moved(text) => {
                    group.from = From::Given(text);
                    groups.push(group);
                }
                Arrival::Stopped => (),
            }
        }
    }
    let why = "the text keeps changing while the edit is being placed; try again later";
    for group in groups {
        job.misfits(turn, &group, &Misfit::Refused(why.into()), None);
    }
}

impl Job {
    fn group(&self, turn: TurnId, calls: Vec<ToolCall>) -> Vec<Group> {
        let mut groups: Vec<Group> = Vec::new();
        for call in calls {
            match self.parse(&call) {
                Ok((path, change)) => match groups.iter_mut().find(|it| it.path == path) {
                    Some(group) => group.edits.push((call.id, change)),
                    None => {
                        groups.push(Group {
                            path,
                            edits: vec![(call.id, change)],
                            from: From::Read,
                        });
                    }
                },
                Err(text) => self.refuse(turn, call.id, text),
            }
        }
        groups
    }

    fn parse(&self, call: &ToolCall) -> Result<(PathBuf, Change), String> {
        let (written, change) = tool::edit_of(call)?;
        Ok((tool::path::resolve(&self.desk, &written)?, change))
    }

    /// The group's proposal; calls that do not fit are answered and leave it.
    async fn resolve(&self, turn: TurnId, group: &mut Group) -> Option<Proposal> {
        let before = match std::mem::replace(&mut group.from, From::Read) {
            From::Given(text) => text,
            From::Read => match self.desk.workspace.read(&group.path).await {
                Ok(source) => Some(source.text),
                Err(Unreadable::Absent) => None,
                Err(why) => {
                    let why = format!("it {}", crate::context::mention::unreadable(&why));
                    self.misfits(turn, group, &Misfit::Refused(why), None);
                    return None;
                }
            },
        };
        let mut now = before.clone();
        let mut parts: Vec<Part> = Vec::new();
        let mut fitting = Vec::new();
        for (call, change) in std::mem::take(&mut group.edits) {
            let resolved = self
                .may_write(&group.path, now.as_ref(), &change, parts.is_empty())
                .and_then(|()| edit::resolve(now.as_ref(), &change));
            match resolved {
                Ok(after) => {
                    let from = now.replace(after.clone()).unwrap_or_default();
                    parts.push(Part { call: call.clone(), before: from, after });
                    fitting.push((call, change));
                }
                Err(misfit) => {
                    let shown = tool::path::show(&self.desk.root, &group.path);
                    self.refuse(turn, call, misfit.say(&shown, now.as_ref()));
                }
            }
        }
        group.edits = fitting;
        let after = parts.last()?.after.clone();
        Some(Proposal { parts, path: group.path.clone(), before, after })
    }

    /// A whole file is only written over a text the model knows.
    fn may_write(
        &self,
        path: &Path,
        before: Option<&Text>,
        change: &Change,
        first: bool,
    ) -> Result<(), Misfit> {
        let (Change::Write { .. }, Some(before), true) = (change, before, first) else {
            return Ok(());
        };
        if before.content.is_empty() {
            return Ok(());
        }
        match self.known.get(path) {
            None => Err(Misfit::Unread),
            Some(hash) if *hash == before.sha256_hex() => Ok(()),
            Some(_) => Err(Misfit::Stale { diff: String::new() }),
        }
    }

    fn entered(&self, turn: TurnId, proposal: &Proposal, hunks: u32) {
        let _ = self.knowing.send((proposal.path.clone(), proposal.after.sha256_hex()));
        for part in &proposal.parts {
            let (call, path) = (part.call.clone(), proposal.path.clone());
            let _ = self.results.send(Input::Entered { turn, call, path, hunks });
        }
    }

    fn misfits(&self, turn: TurnId, group: &Group, misfit: &Misfit, text: Option<&Text>) {
        let shown = tool::path::show(&self.desk.root, &group.path);
        for (call, _) in &group.edits {
            self.refuse(turn, call.clone(), misfit.say(&shown, text));
        }
    }

    fn refuse(&self, turn: TurnId, id: CallId, text: String) {
        let summary = "not applied".to_owned();
        let answer = ToolAnswer { id, text, failed: true, summary };
        let _ = self.results.send(Input::Answered { turn, answer });
    }
}
