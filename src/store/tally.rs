//! Counts how often the edits of a model fit the file, by model and by edit format. All projects share one small file
//! beside the sessions.

use super::shared;
use crate::edit::Format;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;

/// The most models that are kept. If there are more, those with the fewest edits are removed.
const MODELS: usize = 100;

/// The file and the entry in which the edits of one model are counted.
#[derive(Debug, Clone)]
pub struct Tally {
    pub file: PathBuf,
    /// The model's name, as `provider/model`.
    pub model: String,
    pub format: Format,
}

/// The number of calls whose edits fitted at once, and the number of calls whose edits did not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Count {
    pub fitted: u64,
    pub missed: u64,
}

/// The counts by model, then by format.
type Counts = BTreeMap<String, BTreeMap<String, Count>>;

impl Tally {
    /// Adds these numbers to the counts on disk. Blocks. An error is only logged.
    pub fn add(&self, count: Count) {
        if count != Count::default()
            && let Err(error) = self.added(count)
        {
            tracing::warn!("the edits could not be counted: {error}");
        }
    }

    fn added(&self, count: Count) -> io::Result<()> {
        shared::update(&self.file, |counts| self.add_to(counts, count))
    }

    fn add_to(&self, counts: &mut Counts, count: Count) {
        let formats = counts.entry(self.model.clone()).or_default();
        let sum = formats.entry(self.format.to_string()).or_default();
        sum.fitted = sum.fitted.saturating_add(count.fitted);
        sum.missed = sum.missed.saturating_add(count.missed);
        while counts.len() > MODELS {
            let total = |it: &BTreeMap<String, Count>| {
                it.values().fold(0_u64, |sum, it| sum.saturating_add(it.fitted))
            };
            let others = counts.iter().filter(|(model, _)| **model != self.model);
            let least =
                others.min_by_key(|(_, formats)| total(formats)).map(|(model, _)| model.clone());
            counts.remove(&least.unwrap_or_default());
        }
    }
}
