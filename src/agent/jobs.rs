//! The background jobs of a conversation: the list for the user, and what the conversation is told about them.

pub(super) mod ports;

use super::permits::Ports;
use crate::conversation::Conversation;
use crate::conversation::report::{JobRow, Level, Report, Show};
use crate::session::Input;
use crate::tool::Desk;
use crate::tool::jobs::{Notice, Row};

/// Takes in what has happened to a job. A subagent's jobs end with its task, so nobody is asked about their ports:
/// `ports` is `None` then.
pub(super) fn note(
    conversation: &mut Conversation,
    desk: &Desk,
    ports: Option<&mut Ports>,
    notice: Notice,
) {
    let input = match notice {
        Notice::Listens { job, port, command } => {
            let Some(ports) = ports else { return };
            return ports::offer((conversation, desk), ports, (job, port), &command);
        }
        Notice::Closed { job, port } => {
            let Some(ports) = ports else { return };
            return ports::withdraw(conversation, ports, (job, port));
        }
        Notice::Opened { job, port, outside } => ports::opened(job, port, outside),
        Notice::Began { job, command } => Input::JobBegan { job, command },
        Notice::Ended { job, note } => Input::JobEnded { job, note },
        Notice::Decided(decisions) => Input::Log { decisions },
        Notice::Told(text) => Input::Tell { text },
    };
    conversation.take(input);
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
