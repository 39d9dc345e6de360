//! Paints one session's transcript in the editor. Updates are first merged into the view (the model of the transcript).
//! At most one paint message is under way; later updates wait in the view, not in the editor.

use super::session_link::SessionLink;
use super::wire::ToNvim;
use crate::conversation::report::{Report, Show};
use crate::store::Outputs;
use crate::view::View;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

/// The time from the start of one paint of streamed text to the start of the next. At 20 paints a second text still
/// flows. Each paint costs the editor and this program together about a millisecond of processor time, even if it adds
/// one word.
const TEXT_PAUSE: Duration = Duration::from_millis(48);
/// The pause between the pieces of one large update, so that the editor can handle keys.
const PIECE_PAUSE: Duration = Duration::from_millis(8);
/// The pause after a paint that the editor refused.
const RETRY_PAUSE: Duration = Duration::from_millis(250);

/// Runs until the sender is dropped. A hidden session is painted once the agent reports it as opened.
pub async fn run(
    link: SessionLink,
    outputs: Option<Outputs>,
    is_hidden: bool,
    mut inbox: mpsc::UnboundedReceiver<Show>,
) {
    let began = Instant::now();
    let (view, reports) = (View::default(), Vec::new());
    let mut screen = Screen { link, outputs, view, began, reports, is_hidden };
    let mut due = began;
    loop {
        let mut urgent = false;
        if screen.is_hidden || !screen.view.is_dirty() {
            let Some(first) = inbox.recv().await else { return };
            urgent = screen.fold(first);
        }
        if screen.is_hidden {
            continue;
        }
        // Streamed text waits until the next paint is due, and is painted together with the text that arrives until
        // then.
        loop {
            while let Ok(next) = inbox.try_recv() {
                urgent |= screen.fold(next);
            }
            if urgent || Instant::now() >= due {
                break;
            }
            tokio::select! {
                () = sleep_until(due) => break,
                next = inbox.recv() => match next {
                    Some(next) => urgent |= screen.fold(next),
                    None => break,
                },
            }
        }
        let started = Instant::now();
        due = match screen.paint().await {
            Painted::All => started + TEXT_PAUSE,
            Painted::Piece => Instant::now() + PIECE_PAUSE,
            Painted::Failed if inbox.is_closed() => return,
            Painted::Failed => Instant::now() + RETRY_PAUSE,
        };
    }
}

enum Painted {
    All,
    /// A part of the update is painted; more pieces follow.
    Piece,
    /// The editor refused the paint or is gone. Nothing counts as painted.
    Failed,
}

struct Screen {
    link: SessionLink,
    /// The files with long outputs. `None` for a conversation that is never saved: it has all outputs in memory.
    outputs: Option<Outputs>,
    view: View,
    began: Instant,
    reports: Vec<Report>,
    /// Whether the user has not opened the session yet. Then nothing is painted.
    is_hidden: bool,
}

impl Screen {
    /// Merges one update into the view. Returns whether the update has to be painted at once.
    fn fold(&mut self, show: Show) -> bool {
        let now = self.now();
        match show {
            Show::Event(event) => self.view.event(&event, now),
            Show::Delta(delta) => {
                self.view.delta(&delta, now);
                return false;
            }
            Show::Toggle { block, line } => {
                let file = self.view.unread(block).zip(self.outputs.as_ref());
                if let Some(text) =
                    file.map(|(file, outputs)| outputs.read(&self.link.name(), file))
                {
                    self.view.read(block, text);
                }
                self.view.toggle(block, line);
            }
            Show::Explained { call, lines } => self.view.explain(&call, &lines),
            Show::Tell(report) if self.is_hidden => self.report(report),
            Show::Tell(report) => self.reports.push(report),
            Show::Now(report) => {
                self.report(report);
                return false;
            }
            Show::View(view) => self.view = *view,
            Show::Repaint => self.view.repaint(),
            Show::Told(_) => (),
            // only `caliban run` begins such a turn, and it has no screen
            Show::Ran(_) => return false,
        }
        true
    }

    fn now(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    async fn paint(&mut self) -> Painted {
        let (reset, updates) = self.view.take();
        if (reset || !updates.is_empty()) && !self.link.is_over() {
            let (above, now) = (self.view.is_above(), self.now());
            let paint = |session| ToNvim::Paint { session, reset, above, now, updates };
            if self.link.call(paint).await.is_none() {
                return Painted::Failed;
            }
        }
        self.view.acknowledge();
        for report in std::mem::take(&mut self.reports) {
            self.report(report);
        }
        if self.view.is_dirty() { Painted::Piece } else { Painted::All }
    }

    /// Sends a report to the editor. After the session has ended, another session may have its name. Then only reports
    /// that need no chat are sent: events for scripts, notices, and texts that go back to the user.
    fn report(&mut self, report: Report) {
        self.is_hidden &= !matches!(report, Report::Opened(_));
        let is_heard = match &report {
            Report::Event { .. } if self.is_hidden => false,
            Report::Event { .. }
            | Report::Notice { .. }
            | Report::Bounce { .. }
            | Report::Copied(_) => true,
            _ => !self.link.is_over() && !self.is_hidden,
        };
        if is_heard {
            self.link.tell(|session| ToNvim::of(session, report));
        }
    }
}
