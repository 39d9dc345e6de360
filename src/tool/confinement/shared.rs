//! What the commands of a conversation share: their network, and with the other conversations of the project the layers
//! over the caches of build tools.

use super::caches::Set;
use super::of_worktree;
use super::state::{Confinement, Layered, Shared};
use super::temporary::Temporary;
use crate::sandbox::network::{Files, Former, Held, Network};
use crate::tool::Desk;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

impl Confinement {
    /// What the commands of the conversation share. If the process that holds it was killed, it begins anew.
    pub(super) async fn joined(&self, desk: &Desk, made: &Temporary) -> io::Result<Shared> {
        // One after the other: two commands that begin at the same time share a network, and two conversations a set.
        let _turn = self.turn.0.acquire().await.map_err(io::Error::other)?;
        let shared = self.network.borrow().clone();
        if let Some(shared) = shared.filter(|it| it.network.holder().is_some()) {
            return Ok(shared);
        }
        // a set that is still locked is not taken twice
        self.network.send_replace(None);
        let mut layered = self.layered.borrow().clone();
        layered.holders.retain(|it| it.holder().is_some());
        let holder = layered.holders.iter().find_map(Former::holder);
        let (files, set) = if let (Some(holder), Some(set)) = (holder, layered.set.upgrade()) {
            (Files::Of(holder), Some(set))
        } else {
            let set = self.set(desk, made).await?.map(Arc::new);
            let layers = set.as_ref().map(|it| Files::Layered(it.layers.clone()));
            (layers.unwrap_or(Files::Real), set)
        };
        let is_new = matches!(files, Files::Layered(_));
        let held = Held { network: !self.settings.network, files };
        let network = Network::start(&self.program, &held).await?;
        let set = set.filter(|_| !is_new || network.has_layers());
        if let Some(set) = &set {
            if is_new {
                layered = Layered { set: Arc::downgrade(set), holders: Vec::new() };
            }
            layered.holders.push(network.former());
            self.layered.send_replace(layered);
        }
        let shared = Shared { network, set };
        self.network.send_replace(Some(shared.clone()));
        Ok(shared)
    }

    /// A new set of layers over the caches of build tools; `None` if none can be made.
    async fn set(&self, desk: &Desk, made: &Temporary) -> io::Result<Option<Set>> {
        let home = desk.home.clone().unwrap_or_default();
        let own = self.private.iter().chain([&made.all]).cloned();
        let kept: Vec<PathBuf> = own.chain(self.named(desk, &home)).collect();
        let (folder, root) = (self.layers.clone(), desk.root.clone());
        let roots: Vec<PathBuf> = of_worktree(&root).into_iter().chain([root]).collect();
        let taking = move || Set::take(&folder, &home, &roots, kept).ok();
        tokio::task::spawn_blocking(taking).await.map_err(io::Error::other)
    }
}
