//! Converts the reports of an agent to messages to the editor.

use super::{
    Agents, Copied, Exit, History, Jobs, Permissions, PlanOpened, Preview, Skills, ToNvim, Todo,
    Turns, Undo,
};
use crate::conversation::report::{Opened, Report};
use crate::event::SessionId;

impl ToNvim {
    /// Converts a report of this session's agent to a message.
    pub fn of(session: SessionId, report: Report) -> ToNvim {
        match report {
            Report::Opened(Opened { instead, root, ephemeral, reading, reviews, show, draft }) => {
                ToNvim::Session {
                    session,
                    instead,
                    root,
                    ephemeral,
                    reading,
                    reviews,
                    show,
                    draft: draft.text,
                    draft_context: draft.context,
                }
            }
            Report::Status(status) => ToNvim::Status { session, status },
            Report::Event { name, mut data } => {
                data.insert("session", session.0);
                ToNvim::Event { name, data }
            }
            Report::Notice { level, text } => ToNvim::Notice { level, text },
            Report::Bounce { text, context, why } => ToNvim::Bounce { session, text, context, why },
            Report::Copied(text) => ToNvim::Copied(Copied { text }),
            Report::History => ToNvim::History(History { session }),
            Report::Exit => ToNvim::Exit(Exit { session }),
            Report::Turns(turns) => ToNvim::Turns(Turns { session, turns }),
            Report::Undo(offer) => ToNvim::Undo(Undo { session, offer }),
            Report::Preview { entry, later, look, title, notes, files } => {
                ToNvim::Preview(Preview { session, entry, later, look, title, notes, files })
            }
            Report::Permissions(grants) => {
                let grants = grants.iter().map(Into::into).collect();
                ToNvim::Permissions(Permissions { session, grants })
            }
            Report::Agents { rows, open } => ToNvim::Agents(Agents { session, agents: rows, open }),
            Report::Skills(skills) => ToNvim::Skills(Skills { session, skills }),
            Report::Todo(items) => ToNvim::Todo(Todo { session, items }),
            Report::Plan(plan) => ToNvim::PlanOpened(PlanOpened { session, plan }),
            Report::Jobs(jobs) => ToNvim::Jobs(Jobs { session, jobs }),
            Report::Request { about, body } => ToNvim::Request { session, about, body },
        }
    }
}
