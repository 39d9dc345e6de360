//! `/context`: shows what fills the model's window, and takes single items out.

use super::{Agent, fitting};
use crate::context::ledger::{self, Entry, Ledger};
use crate::conversation::report::Level;
use crate::session::{Input, Phase};
use crate::text::{grouped, noun};

pub(super) fn slash(agent: &mut Agent, rest: &str) {
    let (word, number) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let dropped = match word {
        "" => Ok(()),
        "drop" => drop_item(agent, number.trim()),
        _ => Err("Use `/context` alone, or with `drop` and a number: `/context drop 1`.".into()),
    };
    match dropped {
        Ok(()) => {
            let ledger = of(agent);
            let items = if ledger.is_bound() { 0 } else { ledger.largest.len() };
            let items = u32::try_from(items).unwrap_or_default();
            agent.conversation.take(Input::List { text: ledger.table(), items });
            agent.sampler.fitting.listed = ledger.largest;
        }
        Err(why) => agent.conversation.notice(Level::Warn, why),
    }
}

pub(super) fn of(agent: &mut Agent) -> Ledger {
    agent.conversation.read_outputs();
    let (models, session) = (&agent.sampler.models, &agent.conversation.session);
    let limits = fitting::limits(models, session).unwrap_or_default();
    let is_bound = models.resolve(&session.model).is_ok_and(|it| it.facts.bound);
    Ledger::of(session, fitting::tools(models, session, &agent.desk), limits).bound(is_bound)
}

/// A few words about each item that `/context drop` can take out, in the order of the items' numbers. The numbers are
/// those of the last list that the user has seen; without such a list, the items are numbered now.
pub(super) fn largest(agent: &mut Agent) -> Vec<String> {
    if agent.sampler.fitting.listed.is_empty() {
        let ledger = of(agent);
        if !ledger.is_bound() {
            agent.sampler.fitting.listed = ledger.largest;
        }
    }
    let said =
        |it: &Entry| format!("{}  {} {}", it.name, grouped(it.tokens), noun(it.tokens, "token"));
    agent.sampler.fitting.listed.iter().map(said).collect()
}

/// Takes out the item that the last list has under this number. The error is a sentence.
fn drop_item(agent: &mut Agent, number: &str) -> Result<(), String> {
    let conversation = &mut agent.conversation;
    if conversation.read_only.is_some() {
        return Err("This conversation is read-only here. /fork continues it in a copy.".into());
    }
    if conversation.session.phase != Phase::Idle {
        return Err("A turn is running. Stop it first (<C-c>).".into());
    }
    let number = number.parse::<usize>().ok().and_then(|it| it.checked_sub(1));
    let entry = number.and_then(|it| agent.sampler.fitting.listed.get(it)).cloned();
    let entry =
        entry.ok_or("The last list has no item with this number. /context lists the items.")?;
    let session = &conversation.session;
    let chosen = agent.sampler.models.resolve(&session.model);
    if chosen.is_ok_and(|it| it.facts.bound) {
        return Err(format!(
            "The thoughts of {} are valid only with the messages before them, so nothing can be taken out. /compact \
             makes the conversation shorter.",
            session.model
        ));
    }
    conversation.read_outputs();
    let session = &conversation.session;
    let tools = fitting::tools(&agent.sampler.models, session, &agent.desk);
    let is_raw = |name: &str| agent.desk.tools.find(name).is_some_and(|it| it.reads());
    let removal = ledger::removal(session, tools, &entry, is_raw)?;
    let ledger::Removal { items, tokens, told } = removal;
    conversation.take(Input::Trim { items, tokens, told });
    Ok(())
}
