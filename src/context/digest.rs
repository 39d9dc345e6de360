//! The state of a coordinator's workers, as a text that goes with one request and is stored nowhere.

use super::fence::{self, tagged};
use crate::event::{Worker, WorkerId, WorkerState};
use crate::message::{Origin, Role};
use crate::session::Session;

/// The text after everything else in the next request. Empty for a conversation without workers, and if the request
/// continues a reply.
pub fn of(session: &Session) -> String {
    let workers = &session.workers;
    let mut said = session.messages.iter().rev().filter(|it| it.role != Role::Note);
    let continues = said.next().is_some_and(|it| it.role == Role::Assistant);
    if !workers.is_on || workers.all.is_empty() || continues {
        return String::new();
    }
    let open = || workers.all.iter().filter(|it| !it.1.state.is_over() || it.1.is_unread());
    let mut lines: Vec<String> = open().map(|(id, it)| line(*id, it)).collect();
    let read = workers.all.len() - lines.len();
    match (read, lines.is_empty()) {
        (0, _) => (),
        (_, true) => lines.push("All have ended, and you have their results.".to_owned()),
        (n, false) => lines.push(format!("You have the results of {n} more.")),
    }
    let text = tagged("workers", "", &lines.join("\n"));
    let notices = open().filter(|it| !it.1.notice.is_empty());
    let notices: Vec<String> = notices.map(|(id, it)| format!("{id}: {}", it.notice)).collect();
    if notices.is_empty() {
        return text;
    }
    let notices = format!("Their last notices:\n{}", notices.join("\n"));
    format!("{text}\n{}", fence::fenced(&session.mark, &Origin::Subagent, &notices))
}

fn line(id: WorkerId, it: &Worker) -> String {
    let state = match it.state {
        WorkerState::Running if it.waits => "running, waits for the user".to_owned(),
        WorkerState::Running if it.is_dismissed => "is being stopped".to_owned(),
        state if it.is_unread() => format!("{}, unread", state.name()),
        state => state.name().to_owned(),
    };
    format!("{id} {} · {} · {state}", it.order.role.name(), it.order.title)
}
