//! Items that completion offers.

use crate::complete::{ITEMS, Query};
use crate::nvim::wire::{CompletionItem, CompletionKind};

pub(super) async fn apart(
    list: impl FnOnce() -> Vec<CompletionItem> + Send + 'static,
) -> Vec<CompletionItem> {
    tokio::task::spawn_blocking(list).await.unwrap_or_default()
}

/// The items whose names match best.
pub(super) fn best(
    query: &str,
    items: impl Iterator<Item = CompletionItem>,
) -> Vec<CompletionItem> {
    Query::new(query).best(items, |it| it.label.trim_start_matches('/'), ITEMS)
}

pub(super) fn item(is: CompletionKind, name: String, about: String) -> CompletionItem {
    CompletionItem { label: name.clone(), text: name, is, about }
}
