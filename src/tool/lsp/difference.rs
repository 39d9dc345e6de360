//! Tells the model how an edit changed the diagnostics of a file.

use super::question::Finding;
use crate::tool::{clip, path};
use std::path::{Path, PathBuf};

/// The most findings of each list that are shown.
const NEW: usize = 50;
/// The most characters of a finding.
const WIDE: usize = 400;

/// How an edit changed the diagnostics (findings) of a file. The numbers count all findings; the lists have only the
/// first ones.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The file's absolute path.
    pub path: PathBuf,
    pub added: Vec<Finding>,
    pub remaining: Vec<Finding>,
    /// New findings in other files.
    pub elsewhere: Vec<Finding>,
    /// Sentences about the language servers, for example that one did not answer.
    pub notes: Vec<String>,
    pub new: u32,
    pub fixed: u32,
    pub remain: u32,
    /// Whether the diagnostics before the edit are known. If not, `added` has the findings on the changed lines, and
    /// `remaining` has the other findings in the file.
    pub known: bool,
    /// Whether at least one server has reported on the new text.
    pub fresh: bool,
}

impl Difference {
    /// The text for the model.
    pub fn say(&self, root: &Path) -> String {
        let it = self;
        let shown = path::show(root, &it.path);
        if !it.fresh {
            return format!("Diagnostics of {shown}: {}.", it.notes.join("; "));
        }
        let mut lines = vec![format!("Diagnostics of {shown}: {}.", counts(it))];
        let list = |lines: &mut Vec<String>, what: &str, found: &[Finding], total: usize| {
            let one = |it: &Finding| {
                let place = format!("{}:{}", path::show(root, &it.path), u64::from(it.line) + 1);
                format!("{what} {place}: {}", clip::line(&clip::clean(&it.text), WIDE))
            };
            lines.extend(found.iter().take(NEW).map(one));
            let more = total.saturating_sub(found.len().min(NEW));
            if more > 0 {
                lines.push(format!("… {more} more of these"));
            }
        };
        let (first, then) = if it.known { ("new", "remaining") } else { ("here", "elsewhere") };
        list(&mut lines, first, &it.added, it.new as usize);
        list(&mut lines, then, &it.remaining, it.remain as usize);
        if !it.elsewhere.is_empty() {
            lines.push("New diagnostics in other files:".to_owned());
            list(&mut lines, "new", &it.elsewhere, it.elsewhere.len());
        }
        lines.extend(it.notes.iter().map(|note| format!("[{note}]")));
        lines.join("\n")
    }
}

fn counts(it: &Difference) -> String {
    let Difference { new, fixed, remain, .. } = it;
    match (it.known, new.saturating_add(*fixed).saturating_add(*remain)) {
        (_, 0) => "none".to_owned(),
        (true, _) => format!("{new} new, {fixed} fixed, {remain} remaining"),
        (false, _) => format!(
            "{new} on the lines you changed, {remain} elsewhere; it is not known which of them are new"
        ),
    }
}
