//! The plan of a conversation: keeps its text as the user edits it, and carries out the user's decision.

use super::prompts::Prompt;
use super::reading::{Decided, Plan};
use super::{Agent, PlanAct, PlanWanted, permissions};
use crate::conversation::Conversation;
use crate::conversation::report::{Level, PlanShown, Report, Show};
use crate::event::{Mode, PlanStage, PlanVerdict, Reading, Remark};
use crate::message::{Block, CallId, Excerpt, ExcerptKind};
use crate::regular;
use crate::session::{Input, Phase, Session};
use crate::store::Store;
use crate::text::cause;
use crate::tool::{self, Desk, submit_plan};
use crate::view::clean;
use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;

/// The most bytes of a plan that the user has edited. It goes into a message as a whole.
const LONGEST: usize = 200_000;
/// The most comments on a plan, and the most bytes of one.
const REMARKS: usize = 200;
const REMARK: usize = 10_000;

/// Shows a plan that has just been submitted, and forgets one that the conversation no longer has. When the session
/// `opens`, the plan is read from disk.
pub(super) fn catch_up(agent: &mut Agent, opens: bool) {
    let Agent { conversation, prompts, .. } = agent;
    let plan = &mut prompts.plan;
    let last = conversation.session.planning.last.as_ref();
    if last.map(|it| &it.call) == plan.call.as_ref() {
        return;
    }
    let Some(call) = last.map(|it| it.call.clone()) else {
        *plan = Plan::default();
        if let Some(Err(fault)) = conversation.store.as_ref().map(Store::remove_plan) {
            tracing::warn!("the plan's file could not be removed: {fault}");
        }
        return;
    };
    let kept = conversation.store.as_ref().filter(|_| opens).and_then(|it| it.plan(&call));
    let reading = kept.filter(|it| it.text.len() <= LONGEST).map(harmless);
    let is_kept = reading.is_some();
    plan.reading = reading.unwrap_or_else(|| submitted(&conversation.session, &call));
    plan.call = Some(call);
    if !is_kept {
        plan.keep(conversation);
    }
    if !opens {
        show(conversation, plan, false);
    }
}

/// The plan as the model has submitted it.
fn submitted(session: &Session, call: &CallId) -> Reading {
    let mut blocks = session.messages.iter().rev().flat_map(|it| &it.blocks);
    let call = blocks.find_map(|it| match it {
        Block::Call(it) if it.id == *call => Some(it),
        _ => None,
    });
    let text = call.and_then(submit_plan::text).unwrap_or_default();
    Reading { text, remarks: Vec::new() }
}

/// A plan without terminal escape sequences and invisible characters.
fn harmless(Reading { text, remarks }: Reading) -> Reading {
    let remark = |it: Remark| Remark { text: clean(&it.text), ..it };
    let remarks = remarks.into_iter().filter(|it| it.text.len() <= REMARK).take(REMARKS);
    Reading { text: clean(&text), remarks: remarks.map(remark).collect() }
}

fn show(conversation: &Conversation, plan: &Plan, asked: bool) {
    let Some(last) = &conversation.session.planning.last else { return };
    let Reading { text, remarks } = plan.reading.clone();
    let call = last.call.0.clone();
    let shown = PlanShown { call, stage: last.stage, text, remarks, asked };
    conversation.show(Show::Tell(Report::Plan(shown)));
}

impl Plan {
    fn keep(&self, conversation: &Conversation) {
        let (Some(store), Some(call)) = (&conversation.store, &self.call) else { return };
        if let Err(fault) = store.save_plan(call, &self.reading) {
            let text = format!("The plan could not be saved to disk: {}.", cause(&fault));
            conversation.notice(Level::Error, text);
        }
    }

    /// Takes the plan as it reads in the editor. The error is a sentence.
    fn take(
        &mut self,
        conversation: &Conversation,
        reading: Option<Reading>,
    ) -> Result<(), String> {
        let Some(reading) = reading.map(harmless).filter(|it| *it != self.reading) else {
            return Ok(());
        };
        if reading.text.len() > LONGEST {
            let most = LONGEST / 1000;
            return Err(format!(
                "The plan is longer than {most} kB, so your edits are not used. Make it shorter."
            ));
        }
        self.reading = reading;
        self.keep(conversation);
        Ok(())
    }
}

pub(super) fn carry_out(agent: &mut Agent, act: PlanAct) {
    if let Err(why) = done(agent, act) {
        agent.conversation.notice(Level::Warn, why);
    }
}

/// Carries out an act of the user's. The error is a sentence.
fn done(agent: &mut Agent, PlanAct { call, reading, what }: PlanAct) -> Result<(), String> {
    let Agent { conversation, prompts, desk, .. } = agent;
    let plan = &mut prompts.plan;
    let Some(last) = conversation.session.planning.last.clone() else {
        return without_plan(conversation, &what);
    };
    if call.is_some_and(|it| it != last.call) {
        if matches!(what, PlanWanted::Keep) {
            return Ok(());
        }
        show(conversation, plan, true);
        return Err("A newer plan has come. Read it, then decide.".to_owned());
    }
    plan.take(conversation, reading)?;
    match what {
        PlanWanted::Keep => Ok(()),
        PlanWanted::Show => {
            show(conversation, plan, true);
            Ok(())
        }
        PlanWanted::Save { file, force } => {
            let text = save(desk, &plan.reading.text, &file, force)?;
            conversation.notice(Level::Info, text);
            Ok(())
        }
        _ if last.stage != PlanStage::Waiting => {
            Err("You have already decided on this plan.".to_owned())
        }
        what => decided(agent, last.call, what),
    }
}

/// Handles what the user does if there is no plan: `Show` begins plan mode, everything else is refused.
fn without_plan(conversation: &mut Conversation, what: &PlanWanted) -> Result<(), String> {
    if matches!(what, PlanWanted::Show) && conversation.session.mode != Mode::Plan {
        conversation.take(Input::ChooseMode { mode: Mode::Plan });
        return Ok(());
    }
    Err("There is no plan yet. In plan mode the model makes one for your next message.".to_owned())
}

/// Carries out the user's decision on the plan that waits.
fn decided(agent: &mut Agent, call: CallId, what: PlanWanted) -> Result<(), String> {
    let Agent { conversation, prompts, .. } = agent;
    if prompts.is_preparing() {
        return Err("Another message is being sent. Decide after that.".to_owned());
    }
    match what {
        PlanWanted::Accept(mode) => {
            let mode = mode.unwrap_or(conversation.session.planning.before);
            if mode == Mode::Plan {
                let text = "The work cannot begin in plan mode. Choose another mode.";
                return Err(text.to_owned());
            }
            let context = vec![excerpt(&prompts.plan.reading.text)];
            let text = "I approve this plan. Carry it out.".to_owned();
            send(agent, text, context, Decided { call, verdict: PlanVerdict::Approve { mode } });
        }
        PlanWanted::Change(words) => {
            let (text, context) = change(&conversation.session, &prompts.plan, &words)?;
            send(agent, text, context, Decided { call, verdict: PlanVerdict::SendBack });
        }
        _ => conversation.take(Input::DecidePlan { call, verdict: PlanVerdict::Drop }),
    }
    Ok(())
}

fn send(agent: &mut Agent, text: String, context: Vec<Excerpt>, plan: Decided) {
    let steer = agent.conversation.session.phase != Phase::Idle;
    let plan = Some(plan);
    agent.prepare_message(Prompt { text, context, steer, plan, ..Prompt::default() });
}

/// Records a decision before its message is sent. Returns false if the message must not be sent, because another plan
/// has come meanwhile.
pub(super) fn decide(conversation: &mut Conversation, desk: &Desk, decided: Decided) -> bool {
    let Decided { call, verdict } = decided;
    if conversation.session.planning.waiting() != Some(&call) {
        let text =
            "A newer plan has come, so your decision was not sent. Read the new plan, then decide.";
        conversation.notice(Level::Warn, text.to_owned());
        return false;
    }
    conversation.take(Input::DecidePlan { call, verdict });
    if let PlanVerdict::Approve { mode } = verdict {
        permissions::warn_of_mode(conversation, desk, mode);
    }
    true
}

fn excerpt(text: &str) -> Excerpt {
    let (path, kind, text) = ("plan".to_owned(), ExcerptKind::Plan, text.to_owned());
    Excerpt { path, kind, text, ..Excerpt::default() }
}

/// The message that sends a plan back: the user's words, the plan if the user has edited it, and each comment with its
/// lines. The lines are the model's words, so they are no part of the message's text: nothing in them is a mention.
fn change(session: &Session, plan: &Plan, words: &str) -> Result<(String, Vec<Excerpt>), String> {
    let Reading { text, remarks } = &plan.reading;
    let words = words.trim();
    let is_edited = plan.call.as_ref().is_none_or(|it| submitted(session, it).text != *text);
    if words.is_empty() && remarks.is_empty() && !is_edited {
        return Err(
            "Say what to change: comment on a line, edit the plan, or add words.".to_owned()
        );
    }
    let lines: Vec<&str> = text.lines().collect();
    let mut context: Vec<Excerpt> = is_edited.then(|| excerpt(text)).into_iter().collect();
    context.extend(remarks.iter().map(|it| {
        let (first, last) = (it.first.max(1), it.last.max(it.first).max(1));
        let quoted = lines.iter().skip(first as usize - 1).take((last - first) as usize + 1);
        let quoted: Vec<String> =
            quoted.map(|it| format!("{}\n", format!("> {it}").trim_end())).collect();
        let text = format!("{}{}", quoted.concat(), it.text);
        let (path, kind) = ("plan".to_owned(), ExcerptKind::Remark);
        Excerpt { path, kind, lines: Some((first, last)), text, ..Excerpt::default() }
    }));
    let what = if is_edited { "I have edited the plan. " } else { "" };
    let words = if words.is_empty() { "Take my comments into account." } else { words };
    Ok((format!("{what}Change the plan: {words}"), context))
}

/// Writes a plan to a file of the project. Returns a sentence for the user, as the error does.
fn save(desk: &Desk, text: &str, file: &str, force: bool) -> Result<String, String> {
    let file = if file.is_empty() { "plan.md" } else { file };
    let path = tool::savable(desk, file)?;
    let shown = desk.shown(&path);
    let options = &mut File::options();
    options.write(true).create_new(!force).create(force).truncate(force);
    match regular::open_unlinked(options, &path).and_then(|mut it| it.write_all(text.as_bytes())) {
        Ok(()) => {
            refresh(desk, path);
            Ok(format!("The plan is saved as {shown}."))
        }
        Err(fault) if fault.kind() == io::ErrorKind::AlreadyExists => {
            Err(format!("{shown} already exists. `:Caliban! plan save {shown}` overwrites it."))
        }
        Err(fault) => Err(format!("{shown} could not be written: {}.", cause(&fault))),
    }
}

fn refresh(desk: &Desk, path: PathBuf) {
    let workspace = desk.workspace.clone();
    tokio::spawn(async move { workspace.refresh(path).await });
}
