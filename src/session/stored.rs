//! Makes a session that was loaded from disk harmless: anybody may have written its file, so the file alone must not
//! cause any action.

use super::{Session, Step, say};
use crate::event::{Event, HIGHEST, Mode, Profile, Queued, Recipient};
use crate::message::{Block, Usage, is_mark};
use crate::place::Place;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The most tokens that are accepted from a session's file, so low that sums of counts do not overflow.
const MOST_TOKENS: u64 = 1 << 52;
/// The highest cost that is accepted from a file, in USD.
const MOST_SPENT: f64 = 1e9;

impl Session {
    /// Whether the user has not said anything yet. Such a session gets no file.
    pub fn is_blank(&self) -> bool {
        self.turns == 0 && self.queue.is_empty()
    }

    /// The provider to which the conversation was sent last. A file of an earlier version tells the provider only by the
    /// model of the last reply.
    pub fn recipient(&self) -> Option<Recipient> {
        let by = || self.messages.iter().rev().find_map(|it| Recipient::of_model(&it.by));
        self.sent_to.clone().or_else(by)
    }

    /// Removes everything from a loaded session by which its file could cause an action: messages in the queue are held
    /// back, all permissions are removed, and files outside of the project are not watched. Lowers counters that are
    /// near their limit. `root` is the project's folder.
    pub fn distrust(&mut self, root: &Path) {
        self.granted.clear();
        if !is_mark(&self.mark) {
            self.mark.clear();
        }
        self.profile = self.profile.take().and_then(Profile::harmless);
        self.consult = None;
        self.forget_removed_plan();
        self.distrust_workers();
        self.later.clear();
        self.limits = self.limits.anew();
        self.unsaved.clear();
        root.clone_into(&mut self.root);
        let is_ours = |path: &PathBuf| Place::within(root, path.clone()).is_some();
        self.known.retain(|path, _| is_ours(path));
        self.reviewing.retain(is_ours);
        self.turns = self.turns.min(HIGHEST);
        self.last_job = self.last_job.min(HIGHEST);
        self.context = self.context.min(MOST_TOKENS);
        let cap = |it: u64| it.min(MOST_TOKENS);
        let Usage { input, output, cache_read, cache_write } = self.usage;
        self.usage = Usage {
            input: cap(input),
            output: cap(output),
            cache_read: cap(cache_read),
            cache_write: cap(cache_write),
        };
        self.spent = self.spent.clamp(0.0, MOST_SPENT);
        self.distrust_inquiries();
        self.hold_queue();
    }

    /// Holds back the messages in the queue. If an id occurs twice or is near the highest possible id, all messages get
    /// new ids.
    fn hold_queue(&mut self) {
        let ids: BTreeSet<u32> = self.queue.iter().map(|it| it.id).collect();
        if ids.len() < self.queue.len() || ids.last().is_some_and(|it| *it > HIGHEST) {
            for (id, message) in (1..).zip(&mut self.queue) {
                message.id = id;
            }
        }
        self.held = self.queue.iter().map(|it| it.id).collect();
        self.queued = self.held.last().copied().unwrap_or(0).max(self.queued.min(HIGHEST));
    }

    /// Continues a loaded session. If the session's mode allows more than the mode in the user's settings, the session
    /// gets the latter, and the user is told. The model is told if the mode differs from the one that it was told last.
    pub(super) fn resume(&mut self, setting: Mode, step: &mut Step) {
        let left = self.mode;
        let mode = left.min(setting);
        self.planning.before = self.planning.before.min(setting);
        if mode != left || self.told_mode() != mode {
            self.record(Event::ModeChosen { mode }, step);
        }
        if mode != left {
            self.record(Event::Told { text: say::narrowed(left, mode) }, step);
        }
    }

    /// The mode that the model was told last, or will be told with the next request. If the model was told none, the
    /// default mode.
    pub(super) fn told_mode(&self) -> Mode {
        let said = self.messages.iter().flat_map(|it| &it.blocks).filter_map(|it| match it {
            Block::Notice { text, .. } => Some(text),
            _ => None,
        });
        said.chain(self.notes.iter().map(|it| &it.text))
            .filter_map(|it| say::mode_of(it))
            .next_back()
            .unwrap_or_default()
    }

    /// The user sends one held message, or all of them in their order.
    pub(super) fn send_held(&mut self, id: Option<u32>, step: &mut Step) {
        let is_meant = |it: &Queued| self.held.contains(&it.id) && id.is_none_or(|id| id == it.id);
        let meant: Vec<Queued> = self.queue.iter().filter(|it| is_meant(it)).cloned().collect();
        for Queued { id, text, context, .. } in meant {
            self.record(Event::Unqueued { id }, step);
            // sends the held message like a new message of the user, with a new id
            self.send(text, context, false, step);
        }
    }

    /// The messages of the queue that are not held.
    pub(super) fn ready(&self) -> impl Iterator<Item = &Queued> {
        self.queue.iter().filter(|it| !self.held.contains(&it.id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Grant, TurnId};
    use crate::session::{Effect, Input, Phase};

    fn queued(id: u32, text: &str) -> Queued {
        Queued { id, text: text.into(), context: Vec::new(), steer: true }
    }

    /// A session such as a forged file may contain: with permissions, a queue, and the highest possible numbers.
    fn forged() -> Session {
        Session {
            queue: vec![queued(u32::MAX, "a"), queued(u32::MAX, "b")],
            queued: u32::MAX,
            mode: Mode::AutoEdit,
            root: "/".into(),
            turns: u32::MAX,
            context: u64::MAX,
            spent: f64::INFINITY,
            known: [("/p/a", ""), ("/etc/passwd", ""), ("/p/../x", ""), ("/p/.GIT/x", "")]
                .map(|(path, hash)| (PathBuf::from(path), hash.to_owned()))
                .into(),
            granted: vec![Grant::Act("rm -rf ~".into())],
            unsaved: vec!["a".into()],
            ..Session::default()
        }
    }

    #[test]
    fn a_session_loaded_from_disk_sends_nothing_until_the_user_does() {
        let mut session = forged();
        session.distrust(Path::new("/p"));
        assert_eq!((session.granted.len(), session.unsaved.len()), (0, 0));
        assert_eq!(session.known.keys().collect::<Vec<_>>(), [Path::new("/p/a")]);
        assert_eq!(session.root, Path::new("/p"));
        assert!(session.spent.is_finite(), "{}", session.spent);
        let again = {
            let mut again = session.clone();
            again.distrust(Path::new("/p"));
            again
        };
        assert_eq!(again, session);

        let step = session.step(Input::Resume { mode: Mode::Ask });
        assert_eq!(session.mode, Mode::Ask);
        assert!(step.effects.is_empty());
        // other inputs do not send held messages
        let empty = Input::Send { text: String::new(), context: Vec::new(), steer: false };
        assert!(session.step(empty).effects.is_empty());
        let mine = Input::Send { text: "mine".into(), context: Vec::new(), steer: false };
        let turn = TurnId(HIGHEST + 1);
        assert_eq!(session.step(mine).effects, [Effect::Sample { turn }]);
        assert_eq!(session.queue.len(), 2);
        let said = session.messages.last().unwrap();
        assert!(matches!(said.blocks.last(), Some(Block::Text { text }) if text == "mine"));
        assert!(said.blocks.iter().any(
            |it| matches!(it, Block::Notice { text, .. } if say::mode_of(text) == Some(Mode::Ask))
        ));
    }

    #[test]
    fn held_messages_can_be_sent_one_by_one_or_all_together() {
        let mut session = forged();
        session.distrust(Path::new("/p"));
        let ids: Vec<u32> = session.queue.iter().map(|it| it.id).collect();
        assert_eq!(session.step(Input::SendHeld { id: Some(9) }), Step::default());
        let step = session.step(Input::SendHeld { id: Some(ids[1]) });
        assert_eq!(step.effects.len(), 1);
        assert_eq!(session.queue.iter().map(|it| &*it.text).collect::<Vec<_>>(), ["a"]);
        // while a turn runs, the sent message waits in the queue like any other message
        assert!(session.step(Input::SendHeld { id: None }).effects.is_empty());
        assert!(session.held.is_empty() && session.queue.len() == 1);
        assert!(!session.queue[0].steer);
        assert!(matches!(session.phase, Phase::Sampling { .. }));
    }

    #[test]
    fn a_resumed_session_tells_the_model_its_mode() {
        for left in crate::event::MODES {
            for setting in crate::event::MODES {
                for told in crate::event::MODES {
                    let notes = vec![say::mode(told).into()];
                    let mut session = Session { mode: left, notes, ..Session::default() };
                    session.step(Input::Resume { mode: setting });
                    assert_eq!(session.mode, left.min(setting));
                    assert_eq!(session.notes, [say::mode(session.mode)]);
                }
            }
        }
    }
}
