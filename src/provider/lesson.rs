//! What the errors of a provider teach about a model. It is known until the program ends.

use crate::message::{Parameter, Sight};
use std::collections::BTreeSet;

/// One thing that a provider's error, or its reply, has taught about a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lesson {
    /// The server refuses this parameter.
    LeaveOut(Parameter),
    /// The most tokens of a request together with its reply. `None` if a reply has shown that an earlier number is not
    /// true any more.
    Window(Option<u32>),
    /// The most tokens of a reply.
    Reply(u32),
    /// The most images of a request.
    Images(u32),
    /// The most bytes of a request's images together.
    Bytes(u64),
    /// The most pixels of an image's width and of its height.
    Side(u32),
    /// The file of an image that the provider cannot read.
    Unreadable(String),
}

/// All that is known about one model in this way.
#[derive(Debug, Clone, Default)]
pub struct Taught {
    pub without: BTreeSet<Parameter>,
    pub window: Option<u32>,
    pub reply: Option<u32>,
    pub sight: Sight,
}

impl Taught {
    /// Takes in a lesson. Returns false if it says nothing new.
    pub fn learn(&mut self, lesson: &Lesson) -> bool {
        let to = |known: &mut Option<u32>, it: Option<u32>| std::mem::replace(known, it) != it;
        match lesson {
            Lesson::LeaveOut(parameter) => self.without.insert(*parameter),
            Lesson::Window(window) => to(&mut self.window, *window),
            Lesson::Reply(most) => to(&mut self.reply, Some(*most)),
            Lesson::Images(most) => to(&mut self.sight.most, Some(*most)),
            Lesson::Bytes(most) => self.sight.bytes.replace(*most) != Some(*most),
            Lesson::Side(side) => to(&mut self.sight.side, Some(*side)),
            Lesson::Unreadable(file) => self.sight.unreadable.insert(file.clone()),
        }
    }
}
