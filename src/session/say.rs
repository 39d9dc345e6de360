//! The program's own sentences for the model and for the user.

pub(super) use super::limits::too_many_requests;

use super::workers::{LAST, is_coordinating, is_held};
use super::wrote::REMINDER;
use crate::event::{Access, End, Failure, MODES, Matter, Mode};
use crate::message::{Block, CallId, Message, Reply, Stop, ToolAnswer, ToolCall};
use crate::policy::{Question, Reason};

/// What the model is told of a file that may have changed, and of one whose change is not known.
pub const MAY_DIFFER: &str =
    "The file may have changed since you saw it last. Read it before you rely on it.";
pub const NOT_KNOWN: &str =
    "Caliban no longer knows what changed. Read the file before you rely on it.";

/// The sentence for the user if a reply without calls has not ended normally.
pub(super) fn stop(reply: &Reply) -> Option<String> {
    let has_text =
        reply.blocks.iter().any(|it| matches!(it, Block::Text { text } if !text.trim().is_empty()));
    Some(match &reply.stop {
        Stop::EndTurn | Stop::StopSequence if has_text => return None,
        Stop::EndTurn | Stop::StopSequence | Stop::ToolUse => {
            "The model ended its turn without an answer. Send a message to go on.".into()
        }
        Stop::MaxTokens => {
            "The answer was cut at the model's output limit. Send `go on` to get the rest.".into()
        }
        Stop::Pause => "The model paused. Send a message to go on.".into(),
        Stop::Refusal => "The model refused to answer.".into(),
        Stop::ContextExceeded => {
            Failure::TooLong { said: String::new(), window: None, prompt: None }.to_string()
        }
        Stop::Cancelled => return None,
        Stop::Unknown(reason) => {
            format!("The answer ended with `{reason}`. Send a message to go on.")
        }
    })
}

/// Tells the user that the provider refused the model's earlier thoughts.
pub(super) fn thoughts_dropped(model: &str) -> String {
    format!(
        "The provider refused the earlier thoughts of {model}. Caliban repeats the request without them, and leaves \
         them out from now on."
    )
}

/// Whether the calls of a reply with this stop reason may run.
pub(super) fn may_act(stop: &Stop) -> bool {
    !matches!(stop, Stop::Refusal | Stop::ContextExceeded | Stop::Cancelled | Stop::Unknown(_))
}

/// Whether the model can answer once more after a reply with this stop reason.
pub(super) fn may_go_on(stop: &Stop) -> bool {
    matches!(stop, Stop::EndTurn | Stop::StopSequence | Stop::ToolUse | Stop::MaxTokens)
}

/// Whether the provider has paused the reply, so that it has to be sent back unchanged to be continued.
pub(super) fn is_paused(reply: &Reply) -> bool {
    reply.stop == Stop::Pause && !reply.blocks.is_empty() && reply.calls().next().is_none()
}

/// The question about a call. A command reads files from disk, so the user's consent to a command includes saving the
/// unsaved files.
pub(super) fn question(question: Question<'_>, unsaved: &[String]) -> Option<String> {
    let mut text = question.text()?;
    if matches!(question, Question::Run { .. } | Question::Input { .. }) && !unsaved.is_empty() {
        text.push_str(&saved_first(unsaved));
    }
    Some(text)
}

/// The end of a question about a command that reads unsaved files from disk.
pub(super) fn saved_first(unsaved: &[String]) -> String {
    format!(
        "\n{} will be saved first, with unsaved text of your own, unless it changed on disk.",
        unsaved.join(", ")
    )
}

/// The question about a command whose start could not be recorded on disk.
pub(super) fn unrecorded(question: &str, why: &str) -> String {
    format!(
        "Caliban could not record the start of this command on disk ({why}). Run it without this record?\n{question}"
    )
}

/// The question about a spending limit. `reached` names the limit and the amount spent.
pub(super) fn limit_reached(reached: &str) -> String {
    format!("The spending limit is reached: {reached}. Send the next request?")
}

/// The sentence for the user at the end of an unattended turn that reached a spending limit.
pub(super) fn limit_ended(reached: &str) -> String {
    format!("Stopped at the spending limit: {reached}.")
}

/// What the model is told before a turn that nobody attends.
pub(super) const UNATTENDED: &str = "The user does not attend this turn: nobody answers questions or reviews edits. A \
    call that needs the user's consent is denied at once. Do not wait for an answer and do not ask for one. Decide \
    open questions yourself, do all that you can do without the denied calls, and end with a short report: what you \
    did, what you assumed, and what you could not do.";

/// The answer to a call that would ask the user, in a turn that nobody attends.
pub(super) fn unattended(call: &CallId, question: &str) -> ToolAnswer {
    let text = format!(
        "Not run: nobody is here to answer the question “{question}”. Do not try the same thing another way. Go on \
         without it, or say at the end what you could not do and why."
    );
    ToolAnswer::failed(call, text, "denied: nobody is here")
}

/// The answer to a call of `ask` whose questions are open.
pub(super) fn asked(call: &CallId) -> ToolAnswer {
    let text = "Your questions are on the user's screen, and the turn ends here. The user's next message answers them.";
    ToolAnswer::done(call, text.to_owned(), "asked")
}

/// The answer to a call of `ask` where no user answers.
pub(super) fn nobody_answers(call: &CallId) -> ToolAnswer {
    let text = "Nobody is here to answer. Decide yourself, go on, and name in your final answer what you assumed.";
    ToolAnswer::done(call, text.to_owned(), "nobody is here")
}

/// The note for the model when the user has closed its questions.
pub(super) const UNANSWERED: &str = "The user closed your last questions without an answer. Go by what the user says \
    next, and do not ask the same again.";

/// The words at the end of the line of a call whose questions the user has closed.
pub const NO_ANSWER: &str = "closed without an answer";

/// The answer to a call that came after one that ends the turn.
pub(super) fn skipped(call: &CallId, tool: &str) -> ToolAnswer {
    let text = format!(
        "Skipped: your call of `{tool}` before this one ends the turn. Call again after the user's answer if you still \
         need this."
    );
    ToolAnswer::failed(call, text, "skipped")
}

/// What a subagent's model is told before its task.
pub const SUBAGENT: &str = "You are a subagent: another agent gives you one task and gets only your last reply. \
                                   Nobody answers questions. Work on the task until it is done, decide open questions \
                                   yourself, and end with a report: the result, the paths that prove it, what you \
                                   assumed, and what is not done.";

/// The question about an edit that waits for a review.
pub(super) fn review(paths: &[String]) -> String {
    format!("Change {}?", paths.iter().map(|it| format!("`{it}`")).collect::<Vec<_>>().join(", "))
}

/// The note for the model if the user refuses the project's instructions or rules and gives a reason.
pub(super) fn left_out(about: Matter, reason: &str) -> Option<String> {
    match about {
        Matter::Instructions => {
            Some(format!("The user refused the project's instructions, and says: {reason}"))
        }
        Matter::Rules => Some(format!(
            "The user does not let the project's rules allow calls, and says: {reason}"
        )),
        // the answer to the subagent's call gives the reason
        Matter::Subagent | Matter::Recipient | Matter::Port => None,
    }
}

/// The note for the model if the user gives a reason for stopping the turn at a spending limit.
pub(super) fn stopped_at_limit(reason: &str) -> String {
    format!("The user stopped the turn because the spending limit was reached, and says: {reason}")
}

pub(super) fn denied(
    call: &CallId,
    reason: &str,
    unsaved: &[String],
    is_unrecorded: bool,
) -> ToolAnswer {
    let mut text = if is_unrecorded {
        let says =
            if reason.is_empty() { String::new() } else { format!(" The user says: {reason}") };
        format!(
            "Not run: Caliban could not record the start of this command on disk (the disk may be full), and the \
             user does not want it run without that record. Other commands will fail in the same way until the disk \
             has room. Tools that only read still work.{says}"
        )
    } else if reason.is_empty() {
        "Not run: the user refused this call. Do not try the same thing another way; ask the user what to do instead."
            .into()
    } else {
        format!("Not run: the user refused, and says: {reason}")
    };
    if !unsaved.is_empty() {
        text.push_str(&format!("\nAccepted, but not on disk yet: {}.", unsaved.join(", ")));
    }
    ToolAnswer { verdict: true, ..ToolAnswer::failed(call, text, "denied") }
}

pub(super) fn not_run_undecided(call: &CallId) -> ToolAnswer {
    let text = "Not run: the user is still reviewing edits of the same reply. Call again if you still need this.".to_owned();
    ToolAnswer::failed(call, text, "not run")
}

/// The note for the model about this mode, which the user, a setting or Caliban itself has chosen.
pub(super) fn mode(mode: Mode) -> &'static str {
    match mode {
        Mode::Plan => {
            "Plan mode is on: calls that edit or run something are refused until the user leaves it. Do not change \
             anything yet. First read the code that the task touches, and ask about what you cannot find out. Then call \
             `plan` once, alone and last, with the whole plan: so exact that somebody else could carry it out without \
             asking, and as short as that allows. The user approves the plan, sends it back with comments, or drops it. \
             A plan that was sent back is submitted again as a whole."
        }
        Mode::Ask => {
            "Ask mode is on: you may propose edits and commands, and the user decides on each."
        }
        Mode::AutoEdit => {
            "Auto-edit mode is on: your edits are applied and written at once, and the user reviews them \
             afterwards. Each command still needs their consent."
        }
        Mode::Auto => {
            "Auto mode is on: your edits are applied and written at once, and commands run in the sandbox \
             without a question. Work on your own, check the result, and report at the end. What needs the network or \
             leaves the sandbox still needs the consent of the user, who may be away."
        }
    }
}

pub(super) fn is_mode(note: &str) -> bool {
    mode_of(note).is_some()
}

/// The mode that a note for the model is about; `None` for other notes.
pub fn mode_of(note: &str) -> Option<Mode> {
    MODES.into_iter().find(|it| mode(*it) == note)
}

/// Tells the user that the session's last mode allows more than the user's settings, so another mode is used.
pub(super) fn narrowed(left: Mode, mode: Mode) -> String {
    format!(
        "This conversation was left in {left} mode. It goes on in {mode} mode, the most that your settings allow. \
         `:Caliban mode {left}` returns to {left} mode."
    )
}

pub(super) fn refused(call: &ToolCall, reason: Reason<'_>) -> ToolAnswer {
    match reason {
        Reason::Never(why) => ToolAnswer::failed(&call.id, why.to_owned(), "refused"),
        Reason::Invalid(why) => ToolAnswer::failed(&call.id, why.to_owned(), "not valid"),
        Reason::PlanMode => planning(call),
        Reason::NoPlanMode => {
            let text = "Not shown: the user is not in plan mode, so go on without a plan, or write it in your answer.";
            ToolAnswer::failed(&call.id, text.to_owned(), "refused: no plan mode")
        }
        Reason::Rule(why) => {
            let text = format!(
                "Not run. {why} The user made this rule, so do not look for a way around it. Go on without the call, or \
                 tell the user what you need."
            );
            ToolAnswer::failed(&call.id, text, "denied by a rule")
        }
    }
}

fn planning(call: &ToolCall) -> ToolAnswer {
    let text = format!(
        "Not run: plan mode is on, and `{}` edits or runs something. Use only tools that read, then say \
         what you would do. The user leaves plan mode with `:Caliban mode ask`.",
        call.tool
    );
    ToolAnswer::failed(&call.id, text, "refused: plan mode")
}

/// What the model is told about a plan that it has submitted.
pub(super) fn submitted(call: &CallId, is_attended: bool) -> ToolAnswer {
    let (text, summary) = if is_attended {
        (
            "The user has the plan. They approve it, send it back or drop it. Do not begin before that.",
            "waits for you",
        )
    } else {
        ("Nobody is here to decide: the plan is the result of this turn.", "the result")
    };
    ToolAnswer::done(call, text.to_owned(), summary)
}

/// The words at the end of the line of a plan's call, once the model has submitted a newer plan.
pub const PLAN_REPLACED: &str = "replaced";

/// The note for the model about a plan that the user has dropped, and the sentence for the user.
pub(super) const PLAN_DROPPED: &str = "The user dropped the plan. Do not carry it out.";
pub(super) const PLAN_DROPPED_FOR_USER: &str =
    "You dropped the plan. The model is told with your next message.";

/// Whether a note for the model says that the user has dropped the plan.
pub fn is_dropped_plan(note: &str) -> bool {
    note == PLAN_DROPPED
}

pub(super) fn looping(call: &ToolCall, times: usize) -> String {
    format!(
        "{LOOPING} `{}` with these arguments {times} times and got the same answer. Do something else, or tell the \
         user what stops you.",
        call.tool
    )
}

/// Answers the calls that exceed the limit of one reply. Only the first answer says why, because there may be
/// thousands.
pub(super) fn over_limit(calls: &[&CallId], taken: usize) -> impl Iterator<Item = ToolAnswer> {
    let all = calls.len() + taken;
    calls.iter().enumerate().map(move |(n, call)| {
        let text = if n == 0 {
            format!(
                "{OVER_LIMIT}. Your reply had {all} calls. At most {taken} calls of one reply are run: the first \
                 {taken} are answered above, the others were not run. Send the calls that you still need again, \
                 at most {taken} in one reply."
            )
        } else {
            OVER_LIMIT.to_owned()
        };
        ToolAnswer::failed(call, text, "not taken")
    })
}

const OVER_LIMIT: &str = "Not run: too many calls";

/// Whether this is the answer to a call that exceeded the limit of one reply.
pub fn is_over_limit(answer: &ToolAnswer) -> bool {
    answer.failed && answer.text.starts_with(OVER_LIMIT)
}

/// Tells the user that the turn was stopped because the model kept repeating a call.
pub(super) fn runaway(call: &ToolCall, times: usize) -> String {
    format!(
        "Stopped: the model made the same `{}` call {times} times. Send a message to go on.",
        call.tool
    )
}

const LOOPING: &str = "Not run: you have called";

pub(super) fn is_looping(answer: &str) -> bool {
    answer.starts_with(LOOPING)
}

pub(super) fn is_answers(message: &Message) -> bool {
    message.blocks.iter().any(|it| matches!(it, Block::Answer(_)))
}

pub(super) fn never_begun(call: &CallId, why: &End) -> ToolAnswer {
    ToolAnswer::failed(call, format!("Not run: {}.", ended(why)), "not run")
}

pub(super) fn cut_short(call: &CallId, access: &Access, why: &End) -> ToolAnswer {
    let ended = ended(why);
    let text = match access {
        // if the user stopped the turn, the editor has applied no change; if the program ended, it is not known whether
        // the editor has applied one
        Access::Edit { .. } | Access::Format { .. } if *why == End::Cancelled => {
            format!(
                "Not applied: {ended} before the edit was in the user's buffer. Nothing changed."
            )
        }
        Access::Read | Access::Guarded(_) | Access::Fetch { .. } | Access::Search { .. } => {
            format!("Stopped while it ran: {ended}.")
        }
        Access::Workers(_) => format!("The wait ended: {ended}."),
        Access::Delegate { .. } => format!(
            "The subagent was stopped before it had finished: {ended}. It may have had effects: look for them before \
             you repeat the task."
        ),
        _ => format!(
            "Stopped while it ran: {ended}. The call may have had effects: look for them before you repeat the call."
        ),
    };
    let has_effects = access.acts() || matches!(access, Access::Delegate { .. });
    let summary = if has_effects && matches!(why, End::Interrupted | End::Copied) {
        "may have run"
    } else {
        "stopped"
    };
    ToolAnswer::failed(call, text, summary)
}

/// The note for the model about a turn that did not end by itself.
pub(super) fn aftermath(why: &End) -> Option<&'static str> {
    match why {
        End::Cancelled => Some("The user stopped the turn before it was finished."),
        End::Interrupted => Some(
            "The turn was interrupted because the editor or Caliban ended. What ran then may have had effects.",
        ),
        End::Copied => Some(
            "This conversation is a copy that was made in the middle of the turn. The turn goes on in the original: what \
             ran then may have had effects.",
        ),
        End::Done | End::Failed(_) | End::Stopped(_) => None,
    }
}

fn is_aftermath(note: &str) -> bool {
    [End::Cancelled, End::Interrupted, End::Copied].iter().any(|it| aftermath(it) == Some(note))
}

/// The subject of a note for the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum About {
    /// A setting of the conversation, such as its mode. Its present value is told anyway.
    Setting,
    /// The reply or the turn that the note belongs to.
    Turn,
    /// The end of the turn before it.
    LastTurn,
    /// Anything that is still true without the messages around the note.
    World,
}

pub(super) fn about(note: &str) -> About {
    if is_mode(note) || is_coordinating(note).is_some() {
        About::Setting
    } else if [UNATTENDED, REMINDER, LAST].contains(&note) || is_held(note) {
        About::Turn
    } else if is_aftermath(note) || is_dropped_plan(note) || [UNANSWERED, SUBAGENT].contains(&note)
    {
        About::LastTurn
    } else {
        About::World
    }
}

/// The note about the job whose end this answer reports; `None` if it reports none.
pub(super) fn job_end(answer: &ToolAnswer) -> Option<String> {
    answer.job_end.map(|job| format!("Job {job} has ended ({}).", answer.summary))
}

/// Whether the chat also shows this note for the model. Notes about modes, ends of turns, closed questions and dropped
/// plans are not shown, because the chat tells the user about these in other words.
pub fn is_for_both(note: &str) -> bool {
    let is_told = is_mode(note) || is_coordinating(note).is_some() || is_aftermath(note);
    !is_told && ![UNANSWERED, REMINDER].contains(&note) && !is_dropped_plan(note)
}

/// The sentence for the user at the end of a turn that did not end by itself.
pub fn ending(why: &End) -> Option<String> {
    match why {
        End::Done => None,
        End::Cancelled => Some("Stopped.".into()),
        End::Stopped(text) => Some(text.clone()),
        End::Failed(failure) => Some(failure.to_string()),
        End::Interrupted => Some(
            "Interrupted: Neovim or the program ended in the middle of the turn. Send a message to go \
                on."
            .into(),
        ),
        End::Copied => Some(
            "Copied in the middle of the turn, which goes on in the original. Send a message to go on here.".into(),
        ),
    }
}

/// The sentence for the user about the background jobs that go on after the turn was stopped.
pub(super) fn jobs_go_on(running: usize) -> Option<String> {
    match running {
        0 => None,
        1 => Some("1 job goes on in the background. Use /jobs to see it or to stop it.".to_owned()),
        n => Some(format!("{n} jobs go on in the background. Use /jobs to see or stop one.")),
    }
}

/// What the model of a copied conversation is told about the jobs of the original.
pub(super) const JOBS_STAY: &str = "The background jobs stay with the original of this conversation: they \
    cannot be read or stopped here.";

/// The sentence for the user about a compaction that was interrupted.
pub(super) fn compaction_ended(why: &End) -> String {
    match why {
        End::Interrupted => "Not compacted: Neovim or the program ended first.".into(),
        _ => "Not compacted: stopped. The conversation goes on as it was.".into(),
    }
}

pub(super) fn ended(why: &End) -> &'static str {
    match why {
        End::Cancelled => "the user stopped the turn",
        End::Interrupted => "the editor or Caliban ended",
        End::Copied => "this copy of the conversation was made",
        End::Done | End::Failed(_) | End::Stopped(_) => "the turn ended",
    }
}
