//! The plan of a session, as the user has edited it: `name.plan.md` beside the session's file. The last line of the
//! file is a Markdown comment that names the plan's call and has the user's comments.

use super::{Project, Store};
use crate::event::{Reading, Remark, SessionId};
use crate::message::CallId;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The most bytes of a plan's file. A larger file is not read.
const LARGEST: u64 = 1_000_000;
const BEGIN: &str = "<!-- caliban ";
const END: &str = " -->";

#[derive(Serialize, Deserialize)]
struct Trailer {
    /// A hash of the id of the plan's call.
    plan: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    comments: Vec<Remark>,
}

fn file(name: &str) -> String {
    format!("{name}.plan.md")
}

/// The id of a call is a provider's text, so the file has a hash of it.
fn hash(call: &CallId) -> String {
    let digest = Sha256::digest(call.0.as_bytes());
    let number = digest.first_chunk::<8>().map_or(0, |it| u64::from_be_bytes(*it));
    format!("{number:016x}")
}

/// The content of a plan's file. Anybody may have written it.
fn parse(content: &str, call: &CallId) -> Option<Reading> {
    let (text, last) = content.trim_end().rsplit_once('\n')?;
    let trailer = last.strip_prefix(BEGIN)?.strip_suffix(END)?;
    let Trailer { plan, comments: remarks } = serde_json::from_str(trailer).ok()?;
    let text = text.trim_end_matches('\n').to_owned() + "\n";
    (plan == hash(call)).then_some(Reading { text, remarks })
}

fn render(call: &CallId, reading: &Reading) -> io::Result<String> {
    let trailer = Trailer { plan: hash(call), comments: reading.remarks.clone() };
    // no text in the trailer can end the Markdown comment
    let trailer = serde_json::to_string(&trailer)?.replace('>', "\\u003e");
    Ok(format!("{}\n\n{BEGIN}{trailer}{END}\n", reading.text.trim_end()))
}

impl Store {
    fn plan_path(&self) -> PathBuf {
        self.dir.join(file(&self.name))
    }

    /// The plan of this call as the user has edited it. `None` if there is no file, or if the file has another plan.
    pub fn plan(&self, call: &CallId) -> Option<Reading> {
        let path = self.plan_path();
        let is_small = |path: &Path| fs::symlink_metadata(path).is_ok_and(|it| it.len() <= LARGEST);
        let bytes = is_small(&path).then(|| self.disk.read(&path).ok()).flatten()?;
        parse(&String::from_utf8_lossy(&bytes), call)
    }

    pub fn save_plan(&self, call: &CallId, reading: &Reading) -> io::Result<()> {
        let text = render(call, reading)?;
        self.disk.replace_now(&self.dir, &file(&self.name), text.as_bytes())
    }

    pub fn remove_plan(&self) -> io::Result<()> {
        self.disk.remove_if_there(&self.plan_path())
    }
}

impl Project {
    /// Copies the plan of a session to a copy of the session.
    pub fn copy_plan(&self, from: &SessionId, to: &SessionId) -> io::Result<()> {
        match self.disk.read(&self.dir.join(file(&from.0))) {
            Ok(bytes) => self.disk.replace_now(&self.dir, &file(&to.0), &bytes),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading() -> Reading {
        let remarks = vec![Remark { first: 1, last: 2, text: "why --> this?\n<!-- x".into() }];
        Reading { text: "# Plan\n\n- a\n".into(), remarks }
    }

    #[test]
    fn a_plan_is_read_back_with_its_comments() {
        let call = CallId("c --> 1".into());
        let text = render(&call, &reading()).unwrap();
        assert_eq!(text.matches("-->").count(), 1, "{text}");
        assert_eq!(parse(&text, &call), Some(reading()));
    }

    #[test]
    fn the_file_of_another_plan_or_without_its_last_line_is_not_read() {
        let text = render(&CallId("c1".into()), &reading()).unwrap();
        assert_eq!(parse(&text, &CallId("c2".into())), None);
        assert_eq!(parse("# Plan\n", &CallId("c1".into())), None);
        assert_eq!(parse("", &CallId("c1".into())), None);
    }
}
