//! A turn that nobody attends: begins it, and reports its result.

use super::checkpoints::LastTurn;
use super::command_changes;
use super::rewind::changed;
use super::{Agent, slash};
use crate::conversation::Conversation;
use crate::conversation::ran::{Exit, Ran, Spent};
use crate::conversation::report::Show;
use crate::message::{Block, Role, ToolCall};
use crate::session::{Phase, Unattended};
use crate::store::Store;
use crate::tool::submit_plan;

/// Sends a message and begins a turn that nobody attends.
pub(super) fn run(agent: &mut Agent, text: String) {
    let conversation = &mut agent.conversation;
    if conversation.session.phase != Phase::Idle || agent.prompts.is_preparing() {
        return conversation.refuse_while_running();
    }
    if !slash::sends(&text) {
        let why = "This command sends no message to a model, so it cannot run unattended.";
        return conversation.bounce(text, Vec::new(), why.to_owned());
    }
    conversation.session.leave_unattended();
    slash::sent(agent, text, Vec::new(), false);
    // a message that is not being prepared was given back, and no turn begins
    if !agent.prompts.is_preparing() {
        agent.conversation.session.attend();
    }
}

/// Reports the result of the unattended turn once it has ended.
pub(super) fn end(agent: &mut Agent) {
    let Agent { conversation, desk, files, .. } = agent;
    let ended = conversation.session.unattended.take_if(|it| it.end.is_some());
    let Some(ended) = ended else { return };
    let mut ran = result(conversation, &ended);
    let changes = files.record.last_turn();
    let (desk, screen) = (desk.clone(), conversation.screen());
    let open = conversation.store.as_ref().map(Store::open_elsewhere).unwrap_or_default();
    tokio::spawn(async move {
        if let Some(LastTurn { changes, notes }) = changes.await {
            ran.gaps = command_changes::told(&desk.root, notes.iter()).await;
            if let Some((blobs, changes)) = changes {
                ran.files = changed::files(&desk, &blobs, &changes).await;
            }
            if let (false, Some(name)) = (ran.files.is_empty(), open.first()) {
                ran.gaps.push(open_elsewhere(name));
            }
        }
        // the send fails only when nobody listens any more
        let _ = screen.send(Show::Ran(Box::new(ran)));
    });
}

/// What the user is told if a Neovim has the project open, whose buffers a run does not know.
fn open_elsewhere(name: &str) -> String {
    format!(
        "A Neovim has this project open, with the conversation `{name}`. This run has changed the files on disk. If a \
         buffer there has unsaved changes of such a file, compare the two before you write the buffer: `:help W12`."
    )
}

fn result(conversation: &Conversation, ended: &Unattended) -> Ran {
    let session = &conversation.session;
    let used = session.usage.read().saturating_sub(ended.usage.read());
    let usd = session.spent - ended.spent;
    Ran {
        exit: Exit::of(ended),
        answer: answer(conversation, ended.messages),
        problem: Ran::problem_of(ended),
        denied: ended.denied.clone(),
        mode: session.mode,
        files: Vec::new(),
        gaps: Vec::new(),
        spent: Spent {
            input: used,
            output: session.usage.output.saturating_sub(ended.usage.output),
            usd: (usd > 0.0).then_some(usd),
        },
    }
}

/// The text of the last reply since the message with this index, and the plan that the reply has submitted.
fn answer(conversation: &Conversation, from: usize) -> String {
    let mut since = conversation.session.messages.iter().skip(from);
    let last = since.rfind(|it| it.role == Role::Assistant);
    let answers = conversation.session.messages.iter().rev().flat_map(|it| &it.blocks);
    let is_taken = |call: &ToolCall| {
        let is_answer = |it: &&Block| matches!(it, Block::Answer(it) if it.id == call.id);
        matches!(answers.clone().find(is_answer), Some(Block::Answer(it)) if !it.failed)
    };
    let texts = last.into_iter().flat_map(|it| &it.blocks).filter_map(|it| match it {
        Block::Text { text } => Some(text.clone()),
        Block::Call(call) if is_taken(call) => submit_plan::text(call),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n\n").trim().to_owned()
}
