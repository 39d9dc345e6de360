//! The background jobs of a conversation: the list for the user, and what the conversation is told about them.

pub(super) mod ports;

use super::Agent;
use crate::conversation::Conversation;
use crate::conversation::report::{JobRow, Level, Report, Show};
use crate::session::{Input, Session};
use crate::tool::Desk;
use crate::tool::jobs::{Notice, Row, shown};

pub(super) fn note(agent: &mut Agent, notice: Notice) {
    let input = match notice {
        Notice::Listens { job, port, command } => {
            return ports::offer(agent, (job, port), &command);
        }
        Notice::Closed { job, port } => return ports::withdraw(agent, (job, port)),
        Notice::Opened { job, port, outside } => ports::opened(job, port, outside),
        Notice::Began { job, command } => Input::JobBegan { job, command },
        Notice::Ended { job, note } => {
            let files = agent.desk.workspace.clone();
            tokio::spawn(async move { files.command(true).await });
            Input::JobEnded { job, note }
        }
        Notice::Decided(decisions) => Input::Log { decisions },
        Notice::Told(text) => Input::Tell { text },
    };
    agent.conversation.take(input);
}

/// Shows the jobs to the user, who can stop one.
pub(super) fn list(conversation: &Conversation, desk: &Desk) {
    let row = |it: &Row| JobRow {
        id: it.id,
        command: it.shown(),
        ended: it.ended.clone(),
        age: it.began.elapsed().as_secs(),
        ports: it.ports(),
    };
    let jobs: Vec<JobRow> = desk.jobs.rows().iter().map(row).collect();
    if jobs.is_empty() {
        return conversation.notice(Level::Info, "No background job has run here.".to_owned());
    }
    conversation.show(Show::Tell(Report::Jobs(jobs)));
}

/// The ends of the jobs that ran when the conversation was closed: no job outlives the program.
pub(super) fn lost(session: &Session) -> Vec<Input> {
    let lost = session.running_jobs().map(|(job, it)| {
        let note = format!(
            "Job {job} ({}) is lost: it ended when the editor or Caliban ended. It may have changed files before that.",
            shown(&it.command)
        );
        Input::JobEnded { job, note }
    });
    lost.collect()
}
