//! Completions that come from the disk, git, a language server or the session's agent.

use super::item::{apart, best, item};
use crate::agent::Command;
use crate::complete;
use crate::context::slash::{Row, TABLE};
use crate::context::{agents, commands, mention, targets};
use crate::nvim::wire::{CompletionItem, CompletionKind};
use crate::program::sessions::Agent;
use crate::store::Project;
use crate::tool::{Desk, skills};
use tokio::sync::oneshot;

pub(super) enum Asked {
    /// Built-in commands; with a desk also the user's own commands, and the skills.
    Commands(Option<Desk>),
    Skills(Desk),
    /// The named agents, each after an `@`.
    Agents(Desk),
    Symbols(Desk),
    Sessions(Project),
    /// The arguments of `/review`.
    Changes(Desk),
    /// The items that `/context drop` can take out.
    Largest(Agent),
}

impl Asked {
    /// The items that match, and whether there may be more soon.
    pub(super) async fn items(self, query: &str) -> (Vec<CompletionItem>, bool) {
        let query = query.to_owned();
        match self {
            Asked::Commands(desk) => {
                let more = desk.is_none();
                (apart(move || of_commands(&query, desk.as_ref())).await, more)
            }
            Asked::Skills(desk) => {
                let skills = move || best(&query, of_skills(&desk, "").into_iter());
                (apart(skills).await, false)
            }
            Asked::Agents(desk) => {
                let agents = move || {
                    let found = agents::load(&desk);
                    let named = found.iter().map(|it| {
                        item(CompletionKind::Word, format!("@{}", it.name), it.description.clone())
                    });
                    best(&query, named)
                };
                (apart(agents).await, false)
            }
            Asked::Symbols(desk) => {
                let items = of_symbols(&desk, &query).await;
                // a language server that is starting may have symbols soon
                let more = items.is_empty();
                (items, more)
            }
            Asked::Sessions(project) => {
                let list = move || {
                    let listed = project.list().into_iter();
                    let sessions =
                        listed.map(|it| item(CompletionKind::Session, it.name, it.title));
                    best(&query, sessions)
                };
                (apart(list).await, false)
            }
            Asked::Changes(desk) => {
                let named = targets::targets(&desk).await.into_iter();
                let items = named.map(|(it, about)| item(CompletionKind::Word, it, about));
                (best(&query, items), false)
            }
            Asked::Largest(agent) => (largest(&agent, &query).await, false),
        }
    }
}

fn of_commands(query: &str, desk: Option<&Desk>) -> Vec<CompletionItem> {
    let named = |name: &str, about| item(CompletionKind::Command, format!("/{name}"), about);
    let mut items: Vec<CompletionItem> =
        TABLE.iter().map(|it: &Row| named(it.name, it.help.to_owned())).collect();
    if let Some(desk) = desk {
        let own = commands::find(desk).found.into_iter();
        items.extend(own.map(|it| named(&it.name, it.about())));
        let mut skills = of_skills(desk, "/");
        // if a command and a skill have the same name, the command is called
        skills.retain(|it| items.iter().all(|had| had.label != it.label));
        items.extend(skills);
    }
    best(query, items.into_iter())
}

fn of_skills(desk: &Desk, before: &str) -> Vec<CompletionItem> {
    let found = skills::find(desk).found.into_iter();
    let named = |it: skills::Skill| (format!("{before}{}", it.name), it.description);
    found.map(named).map(|(name, about)| item(CompletionKind::Skill, name, about)).collect()
}

/// The symbols whose names match an unfinished mention such as `symbol:par`.
async fn of_symbols(desk: &Desk, query: &str) -> Vec<CompletionItem> {
    let name = complete::of_symbol(query).unwrap_or_default();
    let items = mention::symbols(desk, name).await.into_iter().map(|(label, about)| {
        let text = format!("@{label}");
        CompletionItem { label, text, is: CompletionKind::Symbol, about }
    });
    best(query, items)
}

/// The largest items of the conversation whose numbers begin with `query`, the largest item first.
async fn largest(agent: &Agent, query: &str) -> Vec<CompletionItem> {
    let (answer, items) = oneshot::channel();
    let _ = agent.send(Command::Largest(answer));
    let items = items.await.unwrap_or_default().into_iter().enumerate();
    let items = items.map(|(at, it)| item(CompletionKind::Word, (at + 1).to_string(), it));
    items.filter(|it| it.label.starts_with(query.trim())).collect()
}
