//! What the task of the composer's completion is asked.

use super::asked::Asked;
use crate::agent::models::Models;
use crate::complete::{Near, Token};
use crate::nvim::wire::Offer;

pub(in crate::program) enum Order {
    /// Begins to list the project's files, because the user has entered a composer.
    Prepare,
    Ask(Box<Ask>),
    Listed(Vec<Offer>),
}

/// A question, and the data that its answer needs.
pub(in crate::program) struct Ask {
    pub(super) id: u32,
    pub(super) token: Token,
    /// How many bytes before the cursor the completed item replaces.
    pub(super) replaced: u32,
    pub(super) source: Source,
}

pub(in crate::program) enum Source {
    /// The files of the project, and those that the user is likely to mention.
    Files(Near),
    /// The files and folders that complete a typed path.
    Paths,
    Words(Vec<String>),
    /// The models of all providers. The flag says whether local servers without a key are asked too.
    Models(Box<Models>, bool),
    Asked(Box<Asked>),
}
