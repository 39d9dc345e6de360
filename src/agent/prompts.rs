//! The user's messages before they are sent: the files that they mention are read first, one message after the other.

use super::known::{self, Cause, Observation, Watched};
use super::reading::{Decided, Plan};
use crate::context::{mention, review};
use crate::conversation::Conversation;
use crate::conversation::report::Level;
use crate::message::{Excerpt, ExcerptKind};
use crate::session::Input;
use crate::store::Draft;
use crate::text::Text;
use crate::tool::{self, Desk};
use std::path::PathBuf;
use tokio::sync::{mpsc, watch};

/// The most problems of one message that are listed.
const PROBLEMS: usize = 5;

#[derive(Default)]
pub(super) struct Prompt {
    pub(super) text: String,
    pub(super) context: Vec<Excerpt>,
    pub(super) steer: bool,
    /// The model that the message's command asks for.
    pub(super) model: Option<String>,
    /// The files whose changes the model is told of with the message.
    pub(super) watched: Vec<Watched>,
    /// The words after `/review`, which say what to review. The message and its diff are made from them.
    pub(super) review: Option<String>,
    /// The user's decision on a plan, which the message tells the model.
    pub(super) plan: Option<Decided>,
    /// What the user has typed, for the history of sent messages.
    pub(super) typed: Option<String>,
}

impl Prompt {
    /// Adds what the user has typed to the history of sent messages.
    pub(super) fn remember(&self, conversation: &Conversation) {
        if let (Some(typed), Some(store)) = (&self.typed, &conversation.store)
            && let Err(error) = store.remember(typed)
        {
            tracing::warn!("the prompt could not be remembered: {error}");
        }
    }
}

pub(super) struct Prepared {
    prompt: Prompt,
    found: Vec<Excerpt>,
    problems: Vec<String>,
    /// Why there is no diff to review. The message is not sent, even if the user sends the same text again.
    refused: Option<String>,
    /// The texts of files that the model gets with the message: mentioned files, and changes of known files.
    observations: Vec<Observation>,
}

pub(super) struct Prompts {
    /// Messages whose mentions have to be read, in order.
    queue: mpsc::UnboundedSender<Prompt>,
    /// The number of messages that were ever put into the queue.
    sent: u64,
    /// The user has withdrawn the first messages up to this number: nothing more is read or fetched for them.
    stopped: watch::Sender<u64>,
    /// The number of messages in the queue, and how many of them the user has withdrawn.
    preparing: u32,
    withdrawn: u32,
    /// The text of the last message that was given back to the user because a mention could not be read. If the user
    /// sends the same text again, it is sent without these files.
    bounced: Option<String>,
    /// The text in the composer.
    pub(super) draft: Draft,
    /// The plan, as the user edits it.
    pub(super) plan: Plan,
}

impl Prompts {
    pub(super) fn new(desk: &Desk, draft: Draft) -> (Prompts, mpsc::UnboundedReceiver<Prepared>) {
        let (queue, prompts) = mpsc::unbounded_channel();
        let (prepared, prepared_end) = mpsc::unbounded_channel();
        let (stopped, stops) = watch::channel(0);
        tokio::spawn(read(desk.clone(), prompts, stops, prepared));
        let prompts = Prompts {
            queue,
            sent: 0,
            stopped,
            preparing: 0,
            withdrawn: 0,
            bounced: None,
            draft,
            plan: Plan::default(),
        };
        (prompts, prepared_end)
    }

    /// Puts a message into the queue, to have the files read that it mentions.
    pub(super) fn prepare(&mut self, prompt: Prompt) {
        self.preparing += 1;
        self.sent += 1;
        let _ = self.queue.send(prompt);
    }

    /// Whether a message has been sent whose mentions are still being read.
    pub(super) fn is_preparing(&self) -> bool {
        self.preparing > 0
    }

    /// Withdraws all messages that have not been sent. They are given back to the user.
    pub(super) fn withdraw(&mut self) {
        self.withdrawn = self.preparing;
        self.stopped.send_replace(self.sent);
    }

    /// Returns a message that may be sent, with its excerpts and observations. Returns `None` if the message goes back
    /// to the user, because a file could not be read or the user has withdrawn the message.
    pub(super) fn prepared(
        &mut self,
        conversation: &Conversation,
        prepared: Prepared,
    ) -> Option<(Prompt, Vec<Observation>)> {
        let Prepared { mut prompt, found, problems, refused, observations } = prepared;
        self.preparing -= 1;
        if self.withdrawn > 0 {
            self.withdrawn -= 1;
            let why = "You stopped this message before it was sent.".to_owned();
            conversation.bounce(prompt.text, prompt.context, why);
            return None;
        }
        if let Some(why) = refused {
            conversation.bounce(prompt.text, prompt.context, format!("{why} Nothing was sent."));
            return None;
        }
        let insists = self.bounced.take().is_some_and(|it| it == prompt.text);
        if !problems.is_empty() && !insists {
            self.bounced = Some(prompt.text.clone());
            let more = problems.len().saturating_sub(PROBLEMS);
            let more = if more > 0 { format!(" And {more} more.") } else { String::new() };
            let why = format!(
                "{}{more} Nothing was sent. Send the message again to send it unchanged.",
                problems[..problems.len().min(PROBLEMS)].join(" ")
            );
            conversation.bounce(prompt.text, prompt.context, why);
            return None;
        }
        prompt.context.extend(found);
        Some((prompt, observations))
    }

    pub(super) fn keep_draft(&mut self, conversation: &mut Conversation, draft: Draft) {
        if draft == self.draft {
            return;
        }
        self.draft = draft;
        if let Some(store) = &mut conversation.store
            && let Err(error) = store.save_draft(self.draft.clone())
        {
            conversation.warn_of_disk(&error);
        }
    }
}

/// Takes a message out of the queue, and if `edit` is true gives it back to the composer. The agent decides this,
/// because a turn that has just ended may have sent the message already.
pub(super) fn unqueue(conversation: &mut Conversation, id: u32, edit: bool) {
    let queued = conversation.session.queue.iter().find(|it| it.id == id).cloned();
    conversation.take(Input::Unqueue { id });
    match queued {
        Some(it) if edit => conversation.bounce(it.text, it.context, String::new()),
        Some(_) => {}
        None => conversation.notice(Level::Warn, "The message is no longer in the queue.".into()),
    }
}

/// Checks the known files for changes and reads the mentioned files, one message after the other, so that messages keep
/// their order.
async fn read(
    desk: Desk,
    mut prompts: mpsc::UnboundedReceiver<Prompt>,
    mut stops: watch::Receiver<u64>,
    prepared: mpsc::UnboundedSender<Prepared>,
) {
    let mut number = 0;
    while let Some(mut prompt) = prompts.recv().await {
        number += 1;
        let (made, refused) = diff(&desk, &mut prompt).await;
        let looks = known::look(&*desk.workspace, &prompt.watched).await;
        let (seen, mut texts) = mpsc::unbounded_channel();
        let reading = Desk { seen: Some(seen), ..desk.clone() };
        let (found, problems) = tokio::select! {
            mentioned = mentioned(&reading, &prompt) => mentioned,
            // a mentioned web page may take long to fetch, so the user can stop the wait
            _ = stops.wait_for(|it| *it >= number) => (Vec::new(), Vec::new()),
        };
        let found: Vec<Excerpt> = made.into_iter().chain(found).collect();
        drop(reading);
        let mut observations = Vec::new();
        while let Some(it) = texts.recv().await {
            observations.push(in_excerpts(&desk, &found, it.path, it.source.text));
        }
        // if the message shows a whole file, the model needs no diff of that file, so whole files come first
        observations.sort_by_key(|it| matches!(it, Observation::Learnt { stood: Some(_), .. }));
        observations.push(Observation::Looked(Cause::User, looks, Vec::new()));
        if prepared.send(Prepared { prompt, found, problems, refused, observations }).is_err() {
            return;
        }
    }
}

/// The excerpts of everything that a message and its slash command mention, and the problems in reading it.
async fn mentioned(desk: &Desk, prompt: &Prompt) -> (Vec<Excerpt>, Vec<String>) {
    let (mut found, mut problems) = mention::resolve(desk, &prompt.text).await;
    for command in prompt.context.iter().filter(|it| it.kind == ExcerptKind::Command) {
        let (more, why) = mention::resolve_command(desk, command, &prompt.text).await;
        found.extend(more);
        problems.extend(why);
    }
    (found, problems)
}

/// The task and the diff of a review, or the reason why there is no diff. Also sets the text of the prompt.
async fn diff(desk: &Desk, prompt: &mut Prompt) -> (Vec<Excerpt>, Option<String>) {
    let Some(words) = &prompt.review else { return (Vec::new(), None) };
    match review::prepare(desk, words, &prompt.text).await {
        Ok((text, excerpts)) => {
            prompt.text = text;
            (excerpts, None)
        }
        Err(why) => (Vec::new(), Some(why)),
    }
}

/// The observation of a file's text that was read for a mention: the model sees all of the text or a part of it.
fn in_excerpts(desk: &Desk, found: &[Excerpt], path: PathBuf, text: Text) -> Observation {
    let shown = tool::path::show(&desk.root, &path);
    let is_whole = found
        .iter()
        .any(|it| it.kind == ExcerptKind::File && it.path == shown && it.lines.is_none());
    Observation::Learnt { path, stood: (!is_whole).then(|| text.clone()), text }
}
