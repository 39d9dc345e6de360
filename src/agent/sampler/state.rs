//! What an agent keeps of its requests and their models.

use crate::agent::agreed::Recipients;
use crate::agent::fitting::Fitting;
use crate::agent::models::Models;
use crate::event::{Measure, Tuning, TurnId};
use crate::message::{Request, Usage};
use crate::provider::Provider;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::time::Instant;

pub(in crate::agent) struct Lent {
    pub(in crate::agent) turn: Option<TurnId>,
    /// The full name of the model that the command asks for.
    pub(in crate::agent) model: String,
    /// The conversation's own model and its settings.
    pub(in crate::agent) own: (String, Tuning),
}

/// The images that a model's provider has accepted in this program, and the search for one that it cannot read.
#[derive(Default)]
pub(in crate::agent) struct Seen {
    pub(in crate::agent) model: String,
    pub(in crate::agent) accepted: BTreeSet<String>,
    /// Images that this conversation leaves out, because one of them is at fault.
    pub(in crate::agent) doubtful: BTreeSet<String>,
    pub(in crate::agent) trial: Option<Trial>,
}

pub(in crate::agent) struct Trial {
    /// The files of the images that may be at fault, the newest first.
    pub(in crate::agent) suspects: Vec<String>,
    pub(in crate::agent) at: usize,
}

/// The last answered request, and its use of the provider's cache.
pub(in crate::agent) struct Cached {
    pub(in crate::agent) sent: Sent,
    pub(in crate::agent) usage: Usage,
    pub(in crate::agent) at: Instant,
}

/// The last request, and the provider that it went to.
pub(in crate::agent) type Sent = (Arc<dyn Provider>, Arc<Request>);

pub(in crate::agent) struct Sampler {
    pub(in crate::agent) models: Models,
    /// Whether to ask the model for a title.
    pub(in crate::agent) titles: bool,
    /// The file that counts how many of the model's edits fitted; `None` if edits are not counted.
    pub(in crate::agent) tally: Option<PathBuf>,
    /// The file in which the sizes of requests are kept for other conversations.
    pub(in crate::agent) measures: Option<PathBuf>,
    /// The model and the measure that were kept last.
    pub(in crate::agent) kept: Option<(String, Measure)>,
    pub(in crate::agent) sent: Option<Sent>,
    /// The last answered request, and the state of its provider's cache after it.
    pub(in crate::agent) cached: Option<Cached>,
    /// The percentage of the last request that the provider read from its cache.
    pub(in crate::agent) hit: Option<u32>,
    /// Keeps the requests within the model's window.
    pub(in crate::agent) fitting: Fitting,
    /// The images that the provider has accepted, and the search for one that it cannot read.
    pub(in crate::agent) seen: Seen,
    /// The model that a slash command has asked for, while the command's turn runs.
    pub(in crate::agent) lent: Option<Lent>,
    /// To whom the conversation may be sent.
    pub(in crate::agent) recipients: Recipients,
}
