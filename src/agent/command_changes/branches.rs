//! The branches and tags that a command has made, moved or deleted, besides the branch that is checked out and
//! those of Caliban's own worktrees.

use crate::store::checkpoints::Said;
use crate::tool::git::head::{Head, short};
use crate::tool::worktree;
use std::collections::BTreeSet;

/// The most branches and tags that are named. The others are counted.
const NAMED: usize = 20;

pub(super) fn changed(from: &Head, to: &Head) -> Vec<Said> {
    let names: BTreeSet<&String> = from.named.keys().chain(to.named.keys()).collect();
    let is_own = |it: &str| short(it).starts_with(worktree::BRANCH);
    let is_out = |it: &str| to.branch.as_deref() == Some(it);
    let of = |name: &String| {
        let [was, now] = [from, to].map(|it| it.named.get(name).map(|it| short(it).to_owned()));
        let is_new = was != now && !is_out(name) && !is_own(name);
        is_new.then(|| Said::Branch { name: name.clone(), from: was, to: now })
    };
    let mut said: Vec<Said> = names.into_iter().filter_map(of).collect();
    let more = said.len().saturating_sub(NAMED);
    said.truncate(NAMED);
    said.extend((more > 0).then_some(Said::Branches(more)));
    said
}
