//! Questions to the editor's language servers that wait for their answer, by id; one task owns them. `reviews` gives ids
//! to proposals likewise, but keeps a proposal after its answer, for its verdicts: a question ends with its one answer.

use super::wire::Found;
use crate::tool::lsp::Findings;
use std::collections::BTreeMap;
use tokio::sync::{mpsc, oneshot};

pub enum Order {
    /// A question is about to be sent; its id, and the one who waits.
    Register {
        id: oneshot::Sender<u32>,
        waiter: oneshot::Sender<Result<Findings, String>>,
    },
    Found(Found),
}

/// Runs until the sender is dropped. `first_id` differs from run to run, so that answers to a dead
/// program's questions are not taken for ours.
pub async fn run(first_id: u32, mut inbox: mpsc::UnboundedReceiver<Order>) {
    let mut next = first_id;
    let mut waiting: BTreeMap<u32, oneshot::Sender<Result<Findings, String>>> = BTreeMap::new();
    while let Some(order) = inbox.recv().await {
        match order {
            Order::Register { id, waiter } => {
                // Of turns that were stopped: nobody waits for those any more.
                waiting.retain(|_, it| !it.is_closed());
                next = next.wrapping_add(1);
                waiting.insert(next, waiter);
                let _ = id.send(next);
            }
            Order::Found(Found { id, findings, more, notes, rewrites, why }) => {
                if let Some(waiter) = waiting.remove(&id) {
                    let found = Findings { findings, more, notes, rewrites };
                    let _ = waiter.send(why.map_or(Ok(found), Err));
                }
            }
        }
    }
}
