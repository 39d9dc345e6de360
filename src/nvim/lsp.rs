//! The questions to the editor's language servers that are not answered yet, by id. One task owns the questions.
//! `reviews` numbers proposals in the same way, but keeps a proposal after its first answer, because the user may
//! decide on the proposal again.

use super::wire::Found;
use crate::tool::lsp::Findings;
use std::collections::BTreeMap;
use tokio::sync::{mpsc, oneshot};

pub enum Order {
    /// A question is about to be sent. `id` receives the question's number, `waiter` the answer.
    Register {
        id: oneshot::Sender<u32>,
        waiter: oneshot::Sender<Result<Findings, String>>,
    },
    Found(Found),
}

/// Runs until the sender is dropped. `first_id` differs each time the program starts, so an answer to a question of an
/// earlier program matches no id.
pub async fn run(first_id: u32, mut inbox: mpsc::UnboundedReceiver<Order>) {
    let mut next = first_id;
    let mut waiting: BTreeMap<u32, oneshot::Sender<Result<Findings, String>>> = BTreeMap::new();
    while let Some(order) = inbox.recv().await {
        match order {
            Order::Register { id, waiter } => {
                // Drops questions of stopped turns, because nobody waits for their answers.
                waiting.retain(|_, it| !it.is_closed());
                next = next.wrapping_add(1);
                waiting.insert(next, waiter);
                let _ = id.send(next);
            }
            Order::Found(Found { id, findings, more, notes, rewrites, formatter, why }) => {
                if let Some(waiter) = waiting.remove(&id) {
                    let found = Findings { findings, more, notes, rewrites, formatter };
                    let _ = waiter.send(why.map_or(Ok(found), Err));
                }
            }
        }
    }
}
