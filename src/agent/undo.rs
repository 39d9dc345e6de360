//! `/undo`: takes the conversation back to before a message of the user. A copy of the whole conversation is saved
//! first, so nothing is lost. The message goes back into the composer. If the user wants it, the files that the later
//! turns changed are rewound.

use super::{Agent, Rewind, Undo};
use crate::context::mention;
use crate::conversation::Conversation;
use crate::conversation::report::{Back, Branch, Level, Report, Show, UndoOffer, Wish};
use crate::event::SessionId;
use crate::message::{self, Excerpt, ExcerptKind};
use crate::session::{Input, Phase, Prompt, title};
use crate::tool::{self, Desk};
use crate::view::View;

/// `/undo`, or `/undo 2` for the last message but one.
pub(super) fn slash(agent: &mut Agent, rest: &str) {
    let count = if rest.is_empty() { Ok(1) } else { rest.parse::<usize>() };
    if let Some(after) = count.ok().and_then(|it| it.checked_sub(1)) {
        return carry_out(agent, Undo::Message { after });
    }
    let text = "`/undo` takes a number: `/undo 2` takes back your last two messages.";
    agent.conversation.notice(Level::Warn, text.into());
}

pub(super) fn carry_out(agent: &mut Agent, undo: Undo) {
    if let Some(why) = obstacle(agent) {
        return agent.conversation.notice(Level::Warn, why);
    }
    let session = &agent.conversation.session;
    match undo {
        Undo::Message { after } => match session.prompt(after) {
            Some(prompt) => offer_undo(agent, &prompt),
            None => nothing_to_undo(&agent.conversation),
        },
        Undo::Chosen { message, files } => match session.prompt_at(message) {
            Some(prompt) => keep(&mut agent.conversation, prompt.at, files),
            None => nothing_to_undo(&agent.conversation),
        },
        Undo::Kept { back, name } => match session.prompt_at(back.message) {
            Some(prompt) if session.turns == back.turns => go_back(agent, prompt, &back, &name),
            _ => {
                let text = format!(
                    "The conversation went on meanwhile, so it was not taken back. A copy is saved as `{name}`."
                );
                agent.conversation.notice(Level::Warn, text);
            }
        },
    }
}

/// Why `/undo` is not possible now.
fn obstacle(agent: &Agent) -> Option<String> {
    let session = &agent.conversation.session;
    if session.phase != Phase::Idle || agent.prompts.is_preparing() {
        return Some("A turn is running. Stop it first (<C-c>).".to_owned());
    }
    let what = match &session.reviewing[..] {
        [] => return None,
        [path] => tool::path::show(&agent.desk.root, path),
        paths => format!("{} files", paths.len()),
    };
    Some(format!("You have not decided on the changes in {what}. Accept or reject them first."))
}

fn nothing_to_undo(conversation: &Conversation) {
    let text = "There is no message of yours to go back to.";
    conversation.notice(Level::Warn, text.into());
}

/// Asks the user about the files that the later turns changed. If there are none, goes back at once.
fn offer_undo(agent: &mut Agent, prompt: &Prompt) {
    let conversation = &mut agent.conversation;
    let changed = prompt.turn.and_then(|it| agent.files.record.since(conversation, it));
    let Some(changed) = changed else { return keep(conversation, prompt.at, false) };
    let files = changed.paths.iter().map(|it| agent.desk.shown(it)).collect();
    let message = u32::try_from(prompt.at).unwrap_or(u32::MAX);
    let offer = UndoOffer { message, title: named(prompt), files };
    conversation.show(Show::Tell(Report::Undo(offer)));
}

/// The first line of a message, for the user.
fn named(prompt: &Prompt) -> String {
    let is_answer = prompt.context.iter().any(|it| it.kind == ExcerptKind::Answers);
    if prompt.text.is_empty() && is_answer {
        "your answers".to_owned()
    } else {
        title(&prompt.text)
    }
}

/// Asks the program to save a copy of the conversation. The program answers with `Undo::Kept`.
fn keep(conversation: &mut Conversation, message: usize, files: bool) {
    conversation.read_outputs();
    let session = Box::new(conversation.session.fork(None));
    let back = Back { message, files, turns: session.turns };
    let in_memory = conversation.store.is_none();
    conversation.wish(Wish::Branch(Branch { session, in_memory, back }));
}

fn go_back(agent: &mut Agent, prompt: Prompt, back: &Back, name: &SessionId) {
    let conversation = &mut agent.conversation;
    conversation.session.go_back(prompt.at);
    let instructions = agent.guidance.gathered().files;
    let intro = agent.opening.intro(&instructions, &agent.guidance.offered(conversation));
    conversation.show(Show::View(Box::new(View::of(&conversation.session, intro))));
    conversation.save_whole();
    agent.files.tracker(conversation, &agent.desk).remember();
    let text = format!(
        "You went back to before “{}”. The whole conversation is kept as `{name}`: /sessions \
         opens it.",
        named(&prompt)
    );
    conversation.take(Input::Tell { text });
    let typed = message::typed(prompt.text.clone(), &prompt.context);
    let context = own(prompt.context, &prompt.text, &agent.desk);
    // The message goes back into the composer only after the transcript is shown.
    let (text, why) = (typed, String::new());
    conversation.show(Show::Tell(Report::Bounce { text, context, why }));
    let changed = prompt.turn.filter(|_| back.files);
    if let Some(changed) = changed.and_then(|it| agent.files.record.since(conversation, it)) {
        let wanted = Rewind::Preview { entry: changed.entry, later: true, look: false };
        agent.files.record.rewind(conversation, &agent.desk, wanted);
    }
}

/// The excerpts that the user had added to a message, without excerpts that come from its mentions: these are added
/// again when the message is sent.
fn own(mut context: Vec<Excerpt>, text: &str, desk: &Desk) -> Vec<Excerpt> {
    let mentions = mention::find(text);
    let is_mentioned = |it: &Excerpt| {
        mentions.iter().any(|mention| {
            let path = tool::path::resolve(desk, &mention.path).map(|it| desk.shown(&it));
            mention.lines == it.lines
                && path
                    .is_ok_and(|path| path.trim_end_matches('/') == it.path.trim_end_matches('/'))
        })
    };
    context.retain(|it| match it.kind {
        _ if it.is_made() => false,
        ExcerptKind::Selection
        | ExcerptKind::Hunk
        | ExcerptKind::Skill
        | ExcerptKind::Plan
        | ExcerptKind::Remark => true,
        ExcerptKind::File | ExcerptKind::Folder => !is_mentioned(it),
        _ => false,
    });
    context
}
