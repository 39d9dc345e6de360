//! Images that a provider does not take: too many, too large, or one that it cannot read. The provider does not say
//! which image it cannot read, so the program leaves out one after the other until a reply comes. Only an image without
//! which the same request was answered is known to be at fault.

use super::models::full_name;
use super::sampler::{Sampler, Seen, Trial};
use crate::context::request::images_of;
use crate::context::size;
use crate::conversation::Conversation;
use crate::event::Limit;
use crate::message::{Block, Image, Request};
use crate::provider::lesson::Lesson;
use crate::session::{Input, Session};
use std::collections::BTreeSet;

/// The most images that are left out one by one. After these, all suspects are left out together.
const SINGLY: usize = 12;

impl Trial {
    /// The images that the next request leaves out.
    fn hidden(&self) -> &[String] {
        match self.suspects.get(self.at) {
            Some(one) if self.at < SINGLY => std::slice::from_ref(one),
            _ => &self.suspects,
        }
    }

    /// Whether all suspects are left out already.
    fn is_over(&self) -> bool {
        self.suspects.len() == 1 || self.at >= self.suspects.len().min(SINGLY)
    }
}

impl Sampler {
    /// The request without the images that the search leaves out.
    pub(super) fn hiding(&self, mut base: Request) -> Request {
        if self.seen.model == base.model {
            base.sight.doubtful.extend(self.seen.doubtful.iter().cloned());
            match self.seen.trial.as_ref().map_or(&[][..], Trial::hidden) {
                [one] => drop(base.sight.unreadable.insert(one.clone())),
                several => base.sight.doubtful.extend(several.iter().cloned()),
            }
        }
        base
    }

    /// Takes in a limit that an error names. Returns false if a request that keeps to the limit would be the same as the
    /// refused one.
    pub(super) fn keeps_to(
        &mut self,
        conversation: &mut Conversation,
        by: &str,
        limit: Limit,
    ) -> bool {
        let Ok(chosen) = self.models.resolve(by) else { return false };
        let Some((_, sent)) = self.sent.clone() else { return false };
        let images: Vec<&Image> = of(&sent).collect();
        let count = u32::try_from(images.len()).unwrap_or(u32::MAX);
        let lesson = match limit {
            Limit::Reply(most) if most < sent.max_tokens => Lesson::Reply(most),
            Limit::Side(side) if images.iter().any(|it| it.width.max(it.height) > side) => {
                Lesson::Side(side)
            }
            Limit::Images(most) if most > 0 && most < count => Lesson::Images(most),
            Limit::Images(_) | Limit::Side(_) if count > 0 => Lesson::Images(count / 2),
            Limit::Image => return self.search(&sent),
            Limit::Bytes => {
                let bytes = images.iter().filter_map(|it| it.bytes()).map(|it| it.len() as u64);
                let bytes: u64 = bytes.sum();
                // images that are a small part of the request are not what makes it too large
                if bytes < size::of_request(&sent) / 4 || bytes == 0 {
                    return false;
                }
                Lesson::Bytes(bytes / 2)
            }
            Limit::Images(_) | Limit::Side(_) | Limit::Reply(_) => return false,
        };
        self.teach(conversation, &chosen, lesson);
        true
    }

    /// Leaves out the next image that may be one that the provider cannot read. Returns false if there is none.
    fn search(&mut self, sent: &Request) -> bool {
        if self.seen.model != sent.model {
            self.seen = Seen { model: sent.model.clone(), ..Seen::default() };
        }
        let Seen { accepted, trial, .. } = &mut self.seen;
        if let Some(trial) = trial.as_mut().filter(|it| !it.is_over()) {
            trial.at += 1;
            return true;
        }
        let mut known = BTreeSet::new();
        let mut files: Vec<String> = of(sent).map(|it| it.file.clone()).collect();
        files.reverse();
        files.retain(|it| known.insert(it.clone()));
        let new: Vec<String> = files.iter().filter(|it| !accepted.contains(*it)).cloned().collect();
        // an image that was accepted before may be at fault too, if no other is
        let suspects = if new.is_empty() { files } else { new };
        let is_some = !suspects.is_empty();
        let before = trial.take().map(|it| it.suspects).unwrap_or_default();
        let at = if before.is_empty() { 0 } else { SINGLY };
        let suspects = [before, suspects].concat();
        *trial = is_some.then_some(Trial { suspects, at });
        is_some
    }

    /// Called after a reply: the provider has accepted the request with its images.
    pub(super) fn accepted(&mut self, conversation: &mut Conversation) {
        let Some((_, sent)) = self.sent.clone() else { return };
        if self.seen.model != sent.model {
            self.seen = Seen { model: sent.model.clone(), ..Seen::default() };
        }
        self.seen.accepted.extend(of(&sent).map(|it| it.file.clone()));
        let Some(trial) = self.seen.trial.take() else { return };
        let Ok(chosen) = self.models.resolve(&conversation.session.model) else { return };
        let names: Vec<String> =
            trial.hidden().iter().map(|it| name(&conversation.session, it)).collect();
        match trial.hidden() {
            [one] => self.teach(conversation, &chosen, Lesson::Unreadable(one.clone())),
            several => self.seen.doubtful.extend(several.iter().cloned()),
        }
        let model = full_name(&chosen);
        let text = match &*names {
            [one] => format!("The provider cannot read {one}: {model} gets a sentence instead."),
            several => format!(
                "The provider cannot read at least one of these images: {}. {model} gets a sentence instead of each.",
                several.join(", ")
            ),
        };
        conversation.take(Input::Tell { text });
    }
}

/// The images of a request, in order.
fn of(request: &Request) -> impl Iterator<Item = &Image> {
    request.messages.iter().flat_map(|it| &it.blocks).flat_map(images_of)
}

/// The name of an image for the user.
fn name(session: &Session, file: &str) -> String {
    let blocks = session.messages.iter().flat_map(|it| &it.blocks);
    let mut paths = blocks.filter_map(|it| match it {
        Block::Excerpt(it) if it.image.as_ref().is_some_and(|it| it.file == file) => Some(&it.path),
        _ => None,
    });
    paths.next_back().map_or_else(|| "an image that a tool read".to_owned(), Clone::clone)
}
