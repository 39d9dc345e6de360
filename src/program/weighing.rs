//! Computes the sizes of the mentions in a composer, which are shown next to them, and collects their texts for a
//! preview.

use super::state::Program;
use crate::context::mention::{self, Brought};
use crate::context::request;
use crate::context::slash::{self, Parsed, Slash};
use crate::nvim::wire::{ToNvim, Weigh, Weighed, Weight};
use crate::text::unseen;
use crate::tool::Desk;
use crate::view::{sized, sized_together};

/// The most mentions in a text whose sizes are computed, and the most bytes of a preview.
const MOST: usize = 50;
const PREVIEW: usize = 1024 * 1024;

impl Program {
    /// Answers a composer's question about the sizes of its mentions, or about their preview. A newer question about
    /// sizes ends the work on an older one. Work on a preview is never ended.
    pub(super) fn weigh(&mut self, question: Weigh) {
        let Some(desk) = self.desk_of(Some(&question.session)) else { return };
        let (editor, is_preview) = (self.editor.clone(), question.preview.is_some());
        let work = tokio::spawn(async move {
            editor.tell(ToNvim::Weighed(weighed(&desk, question).await));
        });
        if is_preview {
            return;
        }
        if let Some(older) = self.weighing.replace(work) {
            older.abort();
        }
    }
}

async fn weighed(desk: &Desk, question: Weigh) -> Weighed {
    let Weigh { id, session, text, preview } = question;
    // the `@` before the name of an agent begins no mention
    let is_agent = matches!(slash::parse(&text), Parsed::Known(Slash::New | Slash::Agents, _));
    let brought = mention::each(desk, if is_agent { "" } else { &text }, MOST).await;
    let preview = preview.map(|context| {
        let of_mentions = brought.iter().flat_map(|it| &it.excerpts);
        let texts = context.iter().chain(of_mentions).map(|it| request::fenced(it, ""));
        let problems = brought.iter().flat_map(|it| it.problems.iter().cloned());
        let mut all = texts.chain(problems).collect::<Vec<_>>().join("\n\n");
        if let Some(at) =
            (0..=PREVIEW).rev().find(|it| all.is_char_boundary(*it) && all.len() > PREVIEW)
        {
            all.truncate(at);
            all.push_str("\n… and more");
        }
        unseen::spelt_out(&all).0.into_owned()
    });
    let mentions = brought.into_iter().map(weight).collect();
    Weighed { id, session, mentions, preview }
}

fn weight(it: Brought) -> Weight {
    let Brought { written, excerpts, problems } = it;
    let is_wrong = !problems.is_empty();
    let about = match excerpts.as_slice() {
        _ if is_wrong => problems.join(" "),
        [one] => sized(one),
        all => sized_together(all),
    };
    Weight { written, about, is_wrong }
}
