//! The permission rules that were made in a project when the user answered “always” to a question. They are in one
//! small file beside the project's sessions.

use super::{Project, shared};
use crate::rules::WrittenRule;
use std::io;
use std::path::PathBuf;

/// The most rules that are kept. If there are more, the oldest are removed.
const RULES: usize = 500;

/// The rules of one project.
#[derive(Debug, Clone)]
pub struct Permitted {
    file: PathBuf,
}

impl Project {
    pub fn permitted(&self) -> Permitted {
        // no session has this name, because session names do not begin with a dot
        Permitted { file: self.dir().join(".permissions") }
    }
}

impl Permitted {
    /// The rules in the order in which they were made. A damaged file counts as empty, so that more calls need consent.
    pub fn all(&self) -> Vec<WrittenRule> {
        shared::read(&self.file)
    }

    /// Adds a rule. Blocks.
    pub fn add(&self, rule: WrittenRule) -> io::Result<()> {
        shared::update(&self.file, |all: &mut Vec<WrittenRule>| {
            all.retain(|it| *it != rule);
            all.push(rule);
            let over = all.len().saturating_sub(RULES);
            all.drain(..over);
        })
    }

    /// Removes all rules but these. Blocks.
    pub fn keep(&self, is_kept: impl FnMut(&WrittenRule) -> bool) -> io::Result<()> {
        shared::update(&self.file, |all: &mut Vec<WrittenRule>| all.retain(is_kept))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_is_kept_once_and_can_be_removed() {
        let dir = tempfile::tempdir().unwrap();
        let permitted = Permitted { file: dir.path().join("rules") };
        let (test, check) = (WrittenRule::always("cargo test"), WrittenRule::always("cargo check"));
        for it in [&test, &check, &test] {
            permitted.add(it.clone()).unwrap();
        }
        assert_eq!(permitted.all(), [check.clone(), test.clone()]);
        permitted.keep(|it| *it != test).unwrap();
        assert_eq!(permitted.all(), [check]);
        std::fs::write(&permitted.file, "{").unwrap();
        assert_eq!(permitted.all(), []);
    }
}
