//! Keeps a conversation within its model's window: decides when old results are trimmed, and when the conversation is
//! compacted.

use super::models::Models;
use crate::context::compact::{self, Plan, Reach};
use crate::context::ledger::Entry;
use crate::context::parts::{self, Source};
use crate::context::size::{self, Limits, Scale};
use crate::context::trim;
use crate::conversation::Conversation;
use crate::conversation::report::Level;
use crate::edit::Format;
use crate::event::TurnId;
use crate::message::Role;
use crate::session::{Input, Phase, Session};
use crate::tool::Desk;

/// What was tried since the last reply.
#[derive(Debug, Clone, Copy)]
pub(super) struct Excess {
    pub(super) turn: TurnId,
    pub(super) tried: usize,
}

/// The limits for a conversation that does not fit: the window is at most as large as the request that was refused.
pub(super) fn squeezed(
    limits: &Limits,
    models: &Models,
    conversation: &Conversation,
    desk: &Desk,
    by: u64,
) -> Limits {
    let refused = whole_size(models, &conversation.session, desk);
    let window = if limits.window == 0 { refused } else { limits.window.min(refused) };
    let room = window.saturating_sub(fixed(models, &conversation.session, desk));
    Limits { window, full: room / by.max(1), ..*limits }
}

#[derive(Default)]
pub(super) struct Fitting {
    /// What the summary has to keep, if the user has asked for a compaction while a turn runs.
    wanted: Option<String>,
    /// The size of the conversation when a compaction failed. The next compaction waits until the conversation has
    /// grown.
    failed_at: Option<u64>,
    /// How the compaction that has begun is made.
    way: Way,
    /// What was tried since the last reply to make a request fit that was too long.
    pub(super) excess: Option<Excess>,
    /// The largest items, as `/context` listed them last.
    pub(super) listed: Vec<Entry>,
    /// The last estimate of a conversation that the provider has not counted, and its basis.
    estimate: Option<(Basis, u64)>,
}

/// How a compaction is made.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Way {
    /// Whether a model is asked for a summary.
    pub(super) asks: bool,
    /// Whether the turns become a line each if there is no summary.
    pub(super) drops: bool,
    pub(super) reach: Reach,
    /// 0, or the part of the room that the hand-off may use after a request that was too long.
    pub(super) squeeze: u64,
}

/// Everything that the estimated size of a conversation depends on. Counts suffice for messages: they are only added at
/// the end, or left out at the beginning.
#[derive(PartialEq)]
struct Basis {
    messages: usize,
    beginning: usize,
    trimmed: usize,
    model: String,
    tools: u64,
}

impl Fitting {
    /// As `size`, but keeps the estimate of a conversation that the provider has not counted: each status needs it.
    pub(super) fn shown_size(&mut self, models: &Models, session: &Session, desk: &Desk) -> u64 {
        let tools = tools(models, session, desk);
        if session.context > 0 {
            return parts::of_next(session, tools);
        }
        let basis = Basis {
            messages: session.messages.len(),
            beginning: session.beginning(),
            trimmed: session.trimmed.len(),
            model: session.model.clone(),
            tools,
        };
        match &self.estimate {
            Some((known, size)) if *known == basis => *size,
            _ => {
                let size = parts::of_next(session, tools);
                self.estimate = Some((basis, size));
                size
            }
        }
    }

    /// Called before a request: trims or compacts the conversation if it is too long. Returns true if a compaction
    /// begins. The request is then sent after the compaction.
    pub(super) fn prepare(
        &mut self,
        models: &Models,
        conversation: &mut Conversation,
        desk: &Desk,
    ) -> bool {
        // the model will continue its last reply, so everything before the reply has to stay the same
        if is_paused(conversation) {
            return false;
        }
        let Some(limits) = limits(models, &conversation.session) else { return false };
        if let Some(focus) = self.wanted.take() {
            return begin_for_user(models, conversation, desk, focus);
        }
        trim(&limits, models, conversation, desk);
        let size = size(models, &conversation.session, desk);
        let is_due = limits.compact.is_some_and(|at| size >= at)
            && !conversation.session.keeps_whole
            && self.failed_at.is_none_or(|at| size >= at.saturating_add(limits.growth()));
        if !is_due {
            return false;
        }
        let plan = plan(models, conversation, desk, Way::default()).ok();
        let Some(plan) = plan.filter(|it| it.fresh >= limits.growth()) else { return false };
        let model = conversation.session.model.clone();
        begin(conversation, &plan, model, String::new())
    }

    /// `/compact`: compacts the conversation at once, or before the next request if a turn runs.
    pub(super) fn ask(
        &mut self,
        models: &Models,
        conversation: &mut Conversation,
        desk: &Desk,
        focus: &str,
    ) {
        let told = match conversation.session.phase {
            Phase::Idle => {
                begin_for_user(models, conversation, desk, focus.to_owned());
                return;
            }
            Phase::Compacting { .. } => "The conversation is already being compacted.",
            _ => {
                self.wanted = Some(focus.to_owned());
                "The conversation will be compacted before the next request, or at the end of this turn."
            }
        };
        conversation.notice(Level::Info, told.into());
    }

    /// Begins the compaction that the user asked for while a turn ran, once that turn has ended. Returns false if none
    /// begins.
    pub(super) fn catch_up(
        &mut self,
        models: &Models,
        conversation: &mut Conversation,
        desk: &Desk,
    ) -> bool {
        let is_idle = conversation.session.phase == Phase::Idle;
        let Some(focus) = self.wanted.take_if(|_| is_idle) else { return false };
        begin_for_user(models, conversation, desk, focus)
    }

    /// Notes whether a compaction has succeeded or failed.
    pub(super) fn note(&mut self, input: &Input, models: &Models, session: &Session, desk: &Desk) {
        match input {
            Input::Compacted { .. } => self.failed_at = None,
            Input::NotCompacted { .. } => self.failed_at = Some(size(models, session, desk)),
            _ => (),
        }
    }

    /// Begins a compaction that is made in this way. Returns false if none begins.
    pub(super) fn begin_way(
        &mut self,
        models: &Models,
        conversation: &mut Conversation,
        desk: &Desk,
        way: Way,
    ) -> bool {
        let Ok(plan) = plan(models, conversation, desk, way) else { return false };
        let model = conversation.session.model.clone();
        self.way = way;
        begin(conversation, &plan, if way.asks { model } else { String::new() }, String::new())
    }

    /// How the compaction that has begun is made. After a failure, the turns become a line each if the model fails
    /// again.
    pub(super) fn take_way(&mut self, asks: bool, session: &Session) -> Way {
        let way = std::mem::take(&mut self.way);
        Way { asks, drops: way.drops || session.fruitless > 0, ..way }
    }
}

fn begin_for_user(
    models: &Models,
    conversation: &mut Conversation,
    desk: &Desk,
    focus: String,
) -> bool {
    match plan(models, conversation, desk, Way::default()) {
        Ok(plan) => {
            let model = conversation.session.model.clone();
            begin(conversation, &plan, model, focus)
        }
        Err(why) => {
            conversation.notice(Level::Warn, why);
            false
        }
    }
}

/// Called when the user has chosen another model. If the conversation is too long for the new model, the earlier model
/// summarises the conversation, or the user is told why that is not possible. While a turn runs, nothing happens here:
/// the length is checked before the next request.
pub(super) fn switched(
    models: &Models,
    conversation: &mut Conversation,
    desk: &Desk,
    before: &str,
) {
    let Some(limits) = limits(models, &conversation.session) else { return };
    let session = &conversation.session;
    let size = size(models, session, desk);
    let most = limits.compact.unwrap_or(limits.full);
    if session.phase != Phase::Idle || limits.window == 0 || size < most {
        return;
    }
    let is_off = limits.compact.is_none() || session.keeps_whole;
    let why = match plan(models, conversation, desk, Way::default()) {
        Ok(_) if is_off => "`/compact` makes it shorter.".to_owned(),
        Ok(plan) => {
            let is_able = !models.is_tour(before) && models.resolve(before).is_ok();
            let by = if is_able { before } else { &conversation.session.model }.to_owned();
            begin(conversation, &plan, by, String::new());
            return;
        }
        Err(why) => why,
    };
    let text = format!(
        "This conversation has about {} tokens; the limit for {} is {}. {why}",
        size::rounded(size),
        conversation.session.model,
        size::rounded(most),
    );
    conversation.take(Input::Tell { text });
}

/// The estimated number of tokens of the next request.
pub(super) fn size(models: &Models, session: &Session, desk: &Desk) -> u64 {
    parts::of_next(session, tools(models, session, desk))
}

/// As `size`, but at least the estimate of all texts of the request, which a provider may have counted wrongly.
pub(super) fn whole_size(models: &Models, session: &Session, desk: &Desk) -> u64 {
    let parts = parts::of(session, tools(models, session, desk));
    let all = Scale::of(session).tokens(parts.iter().map(|it| it.bytes).sum());
    all.max(size(models, session, desk))
}

/// The number of bytes that the tools' descriptions take in the next request.
pub(super) fn tools(models: &Models, session: &Session, desk: &Desk) -> u64 {
    let format =
        models.resolve(&session.model).map_or_else(|_| Format::default(), |it| it.facts.edits);
    size::of_tools(&desk.tools, format)
}

/// The sizes at which the conversation is made shorter for its model.
pub(super) fn limits(models: &Models, session: &Session) -> Option<Limits> {
    let chosen = models.resolve(&session.model).ok()?;
    Some(models.limits(&chosen, session.tuning))
}

/// A compaction for the conversation's model.
pub(super) fn plan(
    models: &Models,
    conversation: &mut Conversation,
    desk: &Desk,
    way: Way,
) -> Result<Plan, String> {
    if models.is_tour(&conversation.session.model) {
        return Err("The tour cannot summarise. Choose a model with /models.".into());
    }
    let limits = limits(models, &conversation.session).unwrap_or_default();
    conversation.read_outputs();
    let edits = |name: &str| desk.tools.find(name).is_some_and(|it| it.edits());
    let limits = match way.squeeze {
        0 => beside_fixed(&limits, fixed(models, &conversation.session, desk)),
        by => squeezed(&limits, models, conversation, desk, by),
    };
    compact::plan(&conversation.session, &limits, edits, way.reach)
}

/// The limits of a hand-off, which has no room for what every request has.
fn beside_fixed(limits: &Limits, fixed: u64) -> Limits {
    let room = limits.window.saturating_sub(fixed) / 4 * 3;
    Limits { full: limits.full.min(room), ..*limits }
}

/// The parts of the next request.
pub(super) fn parts<'a>(
    models: &Models,
    session: &'a Session,
    desk: &Desk,
) -> Vec<parts::Part<'a>> {
    parts::of(session, tools(models, session, desk))
}

/// The estimated tokens that every request has: the system prompt and the tools.
pub(super) fn fixed(models: &Models, session: &Session, desk: &Desk) -> u64 {
    let parts = parts(models, session, desk);
    let is_fixed = |it: &&parts::Part| {
        matches!(it.source, Source::System | Source::Tools | Source::Excerpt(_, None))
    };
    Scale::of(session).tokens(parts.iter().filter(is_fixed).map(|it| it.bytes).sum())
}

/// Begins a compaction. If a spending limit is reached, tells the user, asks the model nothing and returns false.
fn begin(conversation: &mut Conversation, plan: &Plan, model: String, focus: String) -> bool {
    if let Some(reached) = conversation.session.limit_reached() {
        let text = format!(
            "Not compacted: {reached}. Send a message, and Caliban asks you whether to go on."
        );
        conversation.notice(Level::Warn, text);
        return false;
    }
    let told = plan.announcement(&model);
    conversation.take(Input::Compact { model, focus, told });
    true
}

/// Replaces old results by one line each if the conversation has grown to the model's limit for this.
fn trim(limits: &Limits, models: &Models, conversation: &mut Conversation, desk: &Desk) {
    if limits.trim.is_none_or(|at| size(models, &conversation.session, desk) < at) {
        return;
    }
    conversation.read_outputs();
    let is_raw = |name: &str| desk.tools.find(name).is_some_and(|it| it.reads());
    // the newest results may have half of the tokens at which results are trimmed
    let whole = limits.trim.unwrap_or(0) / 2;
    let plan = trim::plan(&conversation.session, whole, is_raw);
    if let Some(plan) = plan.filter(|it| it.tokens >= limits.worth()) {
        let trim::Plan { items, tokens, told } = plan;
        conversation.take(Input::Trim { items, tokens, told });
    }
}

/// Whether the last message is a reply that is to be continued.
pub(super) fn is_paused(conversation: &Conversation) -> bool {
    let mut said = conversation.session.messages.iter().rev();
    said.find(|it| it.role != Role::Note).is_some_and(|it| it.role == Role::Assistant)
}

/// `/uncompact`: undoes the last compaction.
pub(super) fn undo(conversation: &mut Conversation) {
    let session = &conversation.session;
    if session.phase != Phase::Idle {
        return conversation.refuse_while_running();
    }
    if session.compactions.is_empty() {
        let text = "There is nothing to undo: this conversation is not compacted.";
        return conversation.notice(Level::Info, text.into());
    }
    let told = "The last compaction is undone: the model gets that part of the conversation in full again. From now on \
                only /compact compacts this conversation.";
    conversation.take(Input::Uncompact { told: told.into() });
}
