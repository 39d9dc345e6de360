//! The questions of subagents, which the user answers in the parent's conversation. Subagents that want to send to the
//! same provider share one question, and its answer holds for those that ask later.

use super::team::{Child, Children, Sending, Whom};
use crate::agent::Command;
use crate::agent::command::Answer;
use crate::conversation::Conversation;
use crate::event::{Matter, Offer, Recipient, Ruling, TurnId};
use crate::message::CallId;
use crate::session::{Consult, Input};

impl Sending {
    /// The answer that the user has given already.
    fn known(&self, turn: Option<TurnId>, to: &Recipient) -> Option<Ruling> {
        let refused = self.refused.iter().find(|it| it.0 == turn && it.1.is(to));
        let is_agreed = self.agreed.iter().any(|it| it.is(to));
        if is_agreed { Some(Ruling::Once) } else { refused.map(|it| it.2.clone()) }
    }

    fn answered(&mut self, turn: Option<TurnId>, id: &CallId, ruling: &Ruling) {
        for (_, to) in self.open.extract_if(.., |it| it.0 == *id) {
            match ruling {
                Ruling::Denied { .. } => self.refused.push((turn, to, ruling.clone())),
                Ruling::Once | Ruling::Session => self.agreed.push(to),
            }
        }
    }
}

impl Children {
    /// Asks the user the question of a subagent about its own `call`, unless the user is being asked the same for another
    /// one, or has answered it.
    pub(super) fn ask(
        &mut self,
        conversation: &mut Conversation,
        of: &Whom,
        call: CallId,
        question: &str,
        offer: Offer,
    ) {
        let Some(child) = self.all.iter_mut().find(|it| it.whom == *of) else { return };
        let mut same = None;
        if let Some(to) = &offer.to {
            if let Some(ruling) = self.sending.known(conversation.session.turn(), to) {
                return child.answer(call, Answer::Ruling(ruling));
            }
            same = self.sending.open.iter().find(|it| it.1.is(to)).map(|it| it.0.clone());
        }
        if let Some(id) = same {
            return child.asked.push((id, call));
        }
        let name = child.session.as_ref().map_or("subagent", |it| it.0.as_str());
        let id = CallId::of_subagent(name, &call);
        // a worker has the name that it has in the chat's line about it
        let question = match of {
            Whom::Worker(worker) => format!("{worker}: {question}"),
            Whom::Call(_) => format!("{name}: {question}"),
        };
        child.asked.push((id.clone(), call));
        self.sending.open.extend(offer.to.clone().map(|it| (id.clone(), it)));
        let about = Matter::Subagent;
        conversation.take(Input::Consult(Consult { id, about, question, offer }));
    }

    /// Withdraws those of these questions that no subagent asks any more.
    pub(super) fn withdraw(
        &mut self,
        conversation: &mut Conversation,
        ids: impl IntoIterator<Item = CallId>,
    ) {
        for id in ids {
            if !self.all.iter().flat_map(|it| &it.asked).any(|it| it.0 == id) {
                self.sending.open.retain(|it| it.0 != id);
                conversation.take(Input::Withdraw { id });
            }
        }
    }

    /// Passes the user's answer on to the subagents that asked this question. Returns false if no subagent asked it.
    pub(in crate::agent) fn rule(
        &mut self,
        conversation: &mut Conversation,
        id: &CallId,
        answer: &Answer,
    ) -> bool {
        let mut is_asked = false;
        for child in &mut self.all {
            let calls: Vec<_> = child.asked.extract_if(.., |it| it.0 == *id).collect();
            is_asked |= !calls.is_empty();
            for (_, call) in calls {
                child.answer(call, answer.clone());
            }
        }
        if !is_asked {
            return false;
        }
        let ruling = match answer {
            Answer::Ruling(ruling) => ruling.clone(),
            Answer::Always | Answer::Change(_) => Ruling::Once,
        };
        self.sending.answered(conversation.session.turn(), id, &ruling);
        conversation.take(Input::Rule { call: id.clone(), ruling });
        true
    }
}

impl Child {
    fn answer(&self, call: CallId, answer: Answer) {
        // the send fails if the subagent has ended
        let _ = self.commands.send(Command::Rule { call, answer });
    }
}
