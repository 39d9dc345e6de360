//! The arguments that completion offers after `/review`: branches, commits and words.

use crate::text::unseen;
use crate::tool::Desk;
use crate::tool::git;
use std::time::Duration;

/// How long git may take to list the branches or the commits.
const PATIENCE: Duration = Duration::from_secs(2);
/// The arguments that name no branch and no commit, each with its meaning.
const WORDS: [(&str, &str); 3] = [
    ("@diff", "what is not committed"),
    ("@staged", "what is staged for the next commit"),
    ("clear", "removes the comments of the last review"),
];
/// The arguments of git that list the branches with the newest commits, and the last commits.
const LISTS: [&[&str]; 2] = [
    &[
        "for-each-ref",
        "--sort=-committerdate",
        "--count=30",
        "--format=%(refname:lstrip=2)%09%(contents:subject)",
        "refs/heads",
        "refs/remotes",
    ],
    &["log", "--max-count=15", "--format=%h%x09%s"],
];

/// The words, branches and commits, each with a few words about it.
pub async fn targets(desk: &Desk) -> Vec<(String, String)> {
    let words = WORDS.map(|(word, about)| (word.to_owned(), about.to_owned()));
    let mut all = words.to_vec();
    for arguments in LISTS {
        let listed = git::output(&desk.root, arguments, PATIENCE).await.unwrap_or_default();
        for line in String::from_utf8_lossy(&listed).lines() {
            let (name, about) = line.split_once('\t').unwrap_or((line, ""));
            // a branch that is named like one of the words is left out
            if !name.is_empty() && all.iter().all(|(it, _)| it != name) {
                all.push((name.to_owned(), unseen::spelt_out(about).0.into_owned()));
            }
        }
    }
    all
}
