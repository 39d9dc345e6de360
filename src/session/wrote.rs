//! A reply whose call is written as text, so that it did not run. The model is told once how to call. If it writes another
//! call as text instead, the turn ends, and the user is told.

use super::{Input, Phase, Session, Step};
use crate::event::{End, Event, TurnId};
use crate::message::{Block, Reply, Role};

/// What a model is told that has written a call as text.
pub(super) const REMINDER: &str = "Your last reply has a tool call that is written as text. It was not run: only calls \
    in the form that this API has for tool calls are run. Make the call again in that form, not in the text. If you \
    only meant to show a call, say so, and end your answer.";

/// The sentence for the user about a call that is written as text.
pub fn reminded(tool: &str) -> String {
    format!(
        "The model wrote a call of `{tool}` as text, so the call did not run. Caliban tells the model how to make calls, \
         and asks once more."
    )
}

/// The sentence for the user at the end of a turn whose model goes on writing its calls as text.
fn wrote_calls(tool: &str, model: &str) -> String {
    format!(
        "The model writes its calls as text, the last one of `{tool}`, so they do not run. To have Caliban read such \
         calls, set models['{model}'].calls = 'text' (:help caliban-calls-as-text), or choose another model with :Caliban \
         model."
    )
}

impl Session {
    pub(super) fn take_reply(&mut self, input: Input, step: &mut Step) {
        match input {
            Input::Replied { turn, reply, plans } if self.is_sampling(turn) => {
                self.replied(turn, reply, plans, step);
            }
            Input::Wrote { turn, reply, tool } if self.is_sampling(turn) => {
                self.wrote(turn, reply, tool, step);
            }
            _ => (),
        }
    }

    /// Takes a reply without calls in whose text a call of this tool stands.
    fn wrote(&mut self, turn: TurnId, reply: Reply, tool: String, step: &mut Step) {
        let is_told = self.reminded;
        self.record(Event::Replied { turn, reply, plans: Vec::new() }, step);
        if !is_told {
            self.record(Event::Reminded { turn, tool }, step);
            return self.sample_if_answered(turn, step);
        }
        if let Some(it) = &mut self.unattended {
            it.wrote_calls = true;
        }
        self.end(turn, End::Stopped(wrote_calls(&tool, &self.model)), step);
    }

    /// Tells the model how to call, and counts another request.
    pub(super) fn remind(&mut self, turn: TurnId, tool: &str) {
        self.reminded = true;
        self.say(Role::Note, vec![Block::Text { text: reminded(tool) }]);
        self.notes.push(REMINDER.into());
        let notes = self.take_notes();
        self.say(Role::User, notes);
        if let Phase::Sampling { requests, .. } | Phase::Resting { requests, .. } = self.phase {
            let requests = requests.saturating_add(1);
            self.phase = Phase::Sampling { turn, requests, tries: 1 };
        }
    }
}
