//! Questions to the editor's language servers that wait for their answer, by id; one task owns them. What an edit
//! did to the diagnostics, in words.

use super::wire::{Checked, Found};
use crate::tool::clip;
use crate::tool::lsp::{Finding, Findings};
use crate::tool::path;
use std::collections::BTreeMap;
use std::path::Path;
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

/// Findings that are told one by one: new ones, and new ones in other files.
const NEW: usize = 50;
/// Characters of one.
const WIDE: usize = 400;

/// For the model: the diagnostics of a file after an edit, against those from before it.
pub fn report(root: &Path, it: &Checked) -> String {
    let shown = path::show(root, &it.path);
    if !it.fresh {
        return format!("Diagnostics of {shown}: {}.", it.notes.join("; "));
    }
    let mut lines = vec![format!("Diagnostics of {shown}: {}.", counts(it))];
    let list = |lines: &mut Vec<String>, what: &str, found: &[Finding], total: usize| {
        let one = |it: &Finding| {
            let place = format!("{}:{}", path::show(root, &it.path), u64::from(it.line) + 1);
            format!("{what} {place}: {}", clip::line(&clip::clean(&it.text), WIDE))
        };
        lines.extend(found.iter().take(NEW).map(one));
        let more = total.saturating_sub(found.len().min(NEW));
        if more > 0 {
            lines.push(format!("… {more} more of these"));
        }
    };
    let (first, then) = if it.known { ("new", "remaining") } else { ("here", "elsewhere") };
    list(&mut lines, first, &it.added, it.new as usize);
    list(&mut lines, then, &it.remaining, it.remain as usize);
    if !it.elsewhere.is_empty() {
        lines.push("Other files are worse now:".to_owned());
        list(&mut lines, "new", &it.elsewhere, it.elsewhere.len());
    }
    lines.extend(it.notes.iter().map(|note| format!("[{note}]")));
    lines.join("\n")
}

fn counts(it: &Checked) -> String {
    let Checked { new, fixed, remain, .. } = it;
    match (it.known, new.saturating_add(*fixed).saturating_add(*remain)) {
        (_, 0) => "none".to_owned(),
        (true, _) => format!("{new} new, {fixed} fixed, {remain} remaining"),
        (false, _) => format!(
            "{new} on the lines you changed, {remain} elsewhere; which of them are new is not known"
        ),
    }
}
