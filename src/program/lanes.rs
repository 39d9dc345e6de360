//! A lane is the queue of messages to one session. While a task of the program opens, renames or closes the session,
//! messages to the session wait in the lane, in the order of their arrival. Other sessions are not delayed.

use crate::nvim::session_link::Handle;
use std::collections::{HashMap, VecDeque};

/// The session that a task works on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Lane {
    Session(Handle),
    /// A new session that has no name yet.
    Unnamed,
}

/// The lanes of running tasks, each with the messages that wait in it.
#[derive(Debug)]
pub(super) struct Lanes<T> {
    busy: HashMap<Lane, VecDeque<T>>,
}

impl<T> Default for Lanes<T> {
    fn default() -> Self {
        Lanes { busy: HashMap::new() }
    }
}

impl<T> Lanes<T> {
    /// Marks these lanes as used by a task. They must be free.
    pub(super) fn begin(&mut self, lanes: &[Lane]) {
        for lane in lanes {
            self.busy.entry(*lane).or_default();
        }
    }

    /// Returns the item if all its lanes are free. If not, the item waits in its first busy lane.
    pub(super) fn admit(&mut self, lanes: &[Lane], item: T) -> Option<T> {
        let busy = lanes.iter().find(|it| self.busy.contains_key(it));
        let Some(waiting) = busy.and_then(|it| self.busy.get_mut(it)) else { return Some(item) };
        waiting.push_back(item);
        None
    }

    /// Frees the lanes of a task that has ended. Returns the items that waited in them.
    pub(super) fn end(&mut self, lanes: &[Lane]) -> Vec<T> {
        lanes.iter().filter_map(|it| self.busy.remove(it)).flatten().collect()
    }

    pub(super) fn is_busy(&self, session: Handle) -> bool {
        self.busy.contains_key(&Lane::Session(session))
    }

    pub(super) fn is_idle(&self) -> bool {
        self.busy.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn lane(n: usize) -> Lane {
        match n {
            0 => Lane::Unnamed,
            n => Lane::Session((0..n).fold(Handle::default(), |it, _| it.next())),
        }
    }

    #[derive(Debug, Clone)]
    enum Act {
        /// A message to a session. The flag says whether the message begins a task.
        Say(usize, bool),
        End(usize),
    }

    fn acts() -> impl Strategy<Value = Vec<Act>> {
        let say = (0..4usize, any::<bool>()).prop_map(|(at, begins)| Act::Say(at, begins));
        prop::collection::vec(prop_oneof![say, (0..4usize).prop_map(Act::End)], 0..80)
    }

    /// Delivers an item to its session, unless a task works on the session.
    fn step(
        lanes: &mut Lanes<(usize, bool, usize)>,
        item: (usize, bool, usize),
        heard: &mut [Vec<usize>],
    ) {
        let at = lane(item.0);
        let Some((to, begins, number)) = lanes.admit(std::slice::from_ref(&at), item) else {
            return;
        };
        heard[to].push(number);
        if begins {
            lanes.begin(&[at]);
        }
    }

    proptest! {
        /// No message is lost, and each session gets its messages in the order in which they were sent.
        #[test]
        fn each_session_gets_all_its_messages_in_order_even_if_they_wait_for_tasks(acts in acts()) {
            let mut lanes = Lanes::default();
            let (mut said, mut heard) = (vec![Vec::new(); 4], vec![Vec::new(); 4]);
            for (number, act) in acts.into_iter().enumerate() {
                match act {
                    Act::Say(at, begins) => {
                        let is_free = !lanes.busy.contains_key(&lane(at));
                        said[at].push(number);
                        step(&mut lanes, (at, begins, number), &mut heard);
                        // the message waits only for tasks of its own session
                        prop_assert_eq!(heard[at].last() == Some(&number), is_free);
                    }
                    Act::End(at) => {
                        for item in lanes.end(&[lane(at)]) {
                            step(&mut lanes, item, &mut heard);
                        }
                    }
                }
            }
            while !lanes.is_idle() {
                for at in 0..4 {
                    for item in lanes.end(&[lane(at)]) {
                        step(&mut lanes, item, &mut heard);
                    }
                }
            }
            prop_assert_eq!(said, heard);
        }
    }
}
