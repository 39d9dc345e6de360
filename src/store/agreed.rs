//! Stores the user's answers about a project's texts: whether its instructions may be used, and whether its rules that
//! allow calls may be used. The answers are in two small files beside the project's sessions.

use super::{Project, shared};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::VecDeque;
use std::io;
use std::path::PathBuf;

/// The most answers that are kept. If there are more, the oldest are removed.
const ANSWERS: usize = 500;

/// The answers of one project.
#[derive(Debug, Clone)]
pub struct Agreed {
    file: PathBuf,
}

#[derive(Serialize, Deserialize)]
struct Answer {
    /// The hash of a file's path and text.
    hash: String,
    /// Whether the text may be used.
    used: bool,
}

impl Project {
    /// The answers about this project's instructions.
    pub fn agreed(&self) -> Agreed {
        // no session has this name, because session names do not begin with a dot
        Agreed { file: self.dir().join(".instructions") }
    }

    /// The answers about this project's permission rules that allow calls.
    pub fn agreed_rules(&self) -> Agreed {
        Agreed { file: self.dir().join(".rules") }
    }
}

impl Agreed {
    /// Whether the user lets this text be used; `None` if no answer is stored.
    pub fn answer(&self, path: &str, text: &str) -> Option<bool> {
        let hash = hash(path, text);
        let answers: VecDeque<Answer> = shared::read(&self.file);
        answers.iter().find(|it| it.hash == hash).map(|it| it.used)
    }

    /// Stores the user's answer about these paths and texts. `None` removes the stored answer. Blocks.
    pub fn note<'a>(
        &self,
        files: impl IntoIterator<Item = (&'a str, &'a str)>,
        used: Option<bool>,
    ) -> io::Result<()> {
        let hashes: Vec<String> = files.into_iter().map(|(path, text)| hash(path, text)).collect();
        shared::update(&self.file, |answers: &mut VecDeque<Answer>| {
            answers.retain(|it| !hashes.contains(&it.hash));
            let noted = |used| hashes.iter().map(move |it| Answer { hash: it.clone(), used });
            answers.extend(used.into_iter().flat_map(noted));
            while answers.len() > ANSWERS {
                answers.pop_front();
            }
        })
    }
}

fn hash(path: &str, text: &str) -> String {
    format!("{:x}", Sha256::digest(format!("{path}\0{text}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::Path;

    fn agreed(dir: &Path) -> Agreed {
        Agreed { file: dir.join("answers") }
    }

    #[test]
    fn an_answer_is_valid_for_one_text_of_one_file() {
        let dir = tempfile::tempdir().unwrap();
        let agreed = agreed(dir.path());
        assert_eq!(agreed.answer("AGENTS.md", "Be kind."), None);
        agreed.note([("AGENTS.md", "Be kind."), ("a/AGENTS.md", "Be brief.")], Some(true)).unwrap();
        agreed.note([("AGENTS.md", "Be rude.")], Some(false)).unwrap();
        assert_eq!(agreed.answer("AGENTS.md", "Be kind."), Some(true));
        assert_eq!(agreed.answer("AGENTS.md", "Be rude."), Some(false));
        assert_eq!(agreed.answer("AGENTS.md", "Be brief."), None);
        agreed.note([("AGENTS.md", "Be rude.")], Some(true)).unwrap();
        assert_eq!(agreed.answer("AGENTS.md", "Be rude."), Some(true));
        agreed.note([("AGENTS.md", "Be rude.")], None).unwrap();
        assert_eq!(agreed.answer("AGENTS.md", "Be rude."), None);
    }

    #[test]
    fn a_damaged_file_counts_as_empty_and_is_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let agreed = agreed(dir.path());
        for damaged in ["", "{", "[1]", "[{\"hash\":\"x\"}]"] {
            fs::write(&agreed.file, damaged).unwrap();
            assert_eq!(agreed.answer("AGENTS.md", "x"), None);
        }
        agreed.note([("AGENTS.md", "x")], Some(true)).unwrap();
        assert_eq!(agreed.answer("AGENTS.md", "x"), Some(true));
    }

    #[test]
    fn the_oldest_answers_are_removed_first() {
        let dir = tempfile::tempdir().unwrap();
        let agreed = agreed(dir.path());
        let names: Vec<String> = (0..=ANSWERS).map(|it| it.to_string()).collect();
        agreed.note(names.iter().map(|it| (it.as_str(), "x")), Some(true)).unwrap();
        assert_eq!(agreed.answer("0", "x"), None);
        assert_eq!(agreed.answer("1", "x"), Some(true));
    }
}
