//! Sends a request once the files on disk are known of which it speaks.

use super::Agent;
use super::turn::Turn;
use crate::conversation::Conversation;
use crate::event::{Standing, TurnId};
use crate::session::{Input, Phase};
use crate::tool::Desk;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Takes in how the files are of which the next request of `turn` speaks, and sends the request.
pub(super) fn stood(agent: &mut Agent, turn: Option<TurnId>, files: Vec<Standing>) {
    let Agent { conversation, desk, sampler, .. } = agent;
    for it in files.iter().filter(|it| !it.is_held()) {
        agent.files.note_saved(conversation, &desk.root, &it.path, true);
    }
    conversation.take(Input::Stood { turn, files });
    let samples = matches!(conversation.session.phase, Phase::Sampling { .. });
    if let Some(turn) = turn.filter(|it| samples && conversation.session.turn() == Some(*it)) {
        sampler.sample(conversation, desk, &mut agent.turn, turn);
    }
}

/// A text that a verdict has called unsaved may be saved or gone: looks at the disk for the lines of the calls.
pub(super) fn look(conversation: &Conversation, desk: &Desk, turn: &Turn) {
    let claims = conversation.session.claims.iter();
    let paths: BTreeSet<PathBuf> = claims.map(|it| it.path.clone()).collect();
    if paths.is_empty() {
        return;
    }
    let (workspace, results) = (desk.workspace.clone(), turn.results());
    tokio::spawn(async move {
        let files = workspace.standings(paths.into_iter().collect()).await;
        let _ = results.send(Input::Stood { turn: None, files });
    });
}
