//! A model that a command asks for. The conversation uses it for the command's turn only.

use super::{Agent, models};
use crate::event::{Tuning, TurnId};
use crate::session::{Input, Phase};

pub(super) struct Lent {
    turn: Option<TurnId>,
    /// The full name of the command's model.
    model: String,
    /// The conversation's own model and its settings.
    own: (String, Tuning),
}

impl Agent {
    /// Takes a message. `model` is the model that the message's command asks for.
    pub(super) fn send(&mut self, message: Input, model: Option<String>) {
        if let Some(model) = model {
            self.lend_model(&model);
        }
        self.conversation.take(message);
        if let Some(lent) = &mut self.lent {
            lent.turn = lent.turn.or(self.conversation.session.turn());
        }
    }

    fn lend_model(&mut self, wanted: &str) {
        let session = &self.conversation.session;
        let chosen = match self.sampler.chosen(session, wanted) {
            Ok(_) if session.phase != Phase::Idle => Err("A turn is running.".to_owned()),
            chosen => chosen,
        };
        match chosen {
            Ok((chosen, tuning)) => {
                let model = models::full_name(&chosen);
                let own = (session.model.clone(), session.tuning);
                if model != own.0 {
                    self.change_model(&chosen, tuning);
                    self.lent = Some(Lent { turn: None, model, own });
                }
            }
            Err(why) => {
                let current = self.lent.as_ref().map_or(&session.model, |it| &it.own.0);
                let text = format!(
                    "The command asks for the model `{wanted}`. {why} The message goes to {current}."
                );
                self.conversation.take(Input::Tell { text });
            }
        }
    }

    /// Returns to the conversation's own model once the command's turn is over, unless the user has chosen another one.
    pub(super) fn take_back_model(&mut self) {
        let turn = self.conversation.session.turn();
        let Some(lent) = self.lent.take_if(|it| it.turn != turn || turn.is_none()) else { return };
        self.return_model(lent);
    }

    pub(super) fn return_model(&mut self, lent: Lent) {
        let (model, tuning) = lent.own;
        if self.conversation.session.model == lent.model
            && let Ok(chosen) = self.sampler.models.resolve(&model)
        {
            self.change_model(&chosen, tuning);
        }
    }
}
