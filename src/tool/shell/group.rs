//! A command's process group: what is in it ends when this is dropped.

use crate::tool::ProcessNews;
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::Child;
use tokio::sync::mpsc::UnboundedSender;

pub(super) struct Group {
    id: Option<Pid>,
    news: UnboundedSender<ProcessNews>,
}

impl Group {
    /// The group of a child that leads one.
    pub(super) fn of(child: &Child, news: UnboundedSender<ProcessNews>) -> Group {
        let id = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        let group = Group { id, news };
        group.tell(ProcessNews::Began);
        group
    }

    /// Asks the group to end, or ends it. One that is gone already is no fault.
    pub(super) fn end(&self, now: bool) {
        if let Some(id) = self.id {
            let signal = if now { Signal::KILL } else { Signal::TERM };
            let _ = kill_process_group(id, signal);
        }
    }

    fn tell(&self, news: fn(u32) -> ProcessNews) {
        if let Some(id) = self.id {
            let _ = self.news.send(news(id.as_raw_nonzero().get().unsigned_abs()));
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.end(true);
        self.tell(ProcessNews::Ended);
    }
}
