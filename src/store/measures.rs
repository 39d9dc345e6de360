//! Keeps, for each model, the size of the last request whose tokens the provider counted. Other conversations use this
//! size to estimate theirs. All projects share one small file beside the sessions.

use super::shared;
use crate::event::Measure;
use std::collections::BTreeMap;
use std::path::Path;

/// How many models are kept at most.
const MODELS: usize = 200;

type Measures = BTreeMap<String, Measure>;

/// The measures in a file; none if the file is missing or damaged.
pub fn read(file: &Path) -> Measures {
    shared::read(file)
}

/// Keeps the measure of a model. Blocks; an error is only logged.
pub fn keep(file: &Path, model: String, measure: Measure) {
    let kept = shared::update(file, |all: &mut Measures| {
        if all.len() >= MODELS && !all.contains_key(&model) {
            all.pop_first();
        }
        all.insert(model, measure);
    });
    if let Err(error) = kept {
        tracing::warn!("the size of a request could not be kept: {error}");
    }
}
