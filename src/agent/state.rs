//! The parts of an agent, each of which owns one thing.

use super::files::Files;
use super::guidance::Guidance;
use super::opening::Opening;
use super::prompts::Prompts;
use super::sampler::Sampler;
use super::turn::Turn;
use crate::conversation::Conversation;
use crate::tool::Desk;

pub(super) struct Agent {
    pub(super) conversation: Conversation,
    /// The root folder, files, rules and settings that the session's tools work with.
    pub(super) desk: Desk,
    pub(super) sampler: Sampler,
    pub(super) guidance: Guidance,
    pub(super) files: Files,
    pub(super) turn: Turn,
    pub(super) prompts: Prompts,
    pub(super) opening: Opening,
}
