//! Commands whose purpose is to send something to other machines. In auto mode the user is asked about such a command
//! if a stranger's text is in the conversation and no complete sandbox contains the command, even if a rule allows it.

use crate::bash::{Script, Simple};

/// Programs that send, whatever their arguments are.
const PROGRAMS: &[&str] = &[
    "aria2c", "aws", "az", "curl", "dig", "doctl", "drill", "finger", "flyctl", "ftp", "gcloud",
    "gh", "glab", "gsutil", "heroku", "host", "http", "https", "kubectl", "lftp", "mail", "mailx",
    "msmtp", "mutt", "nc", "ncat", "netcat", "netlify", "nslookup", "ping", "rclone", "rsync",
    "s3cmd", "scp", "sendmail", "sftp", "socat", "ssh", "swaks", "telnet", "tftp", "vercel",
    "wget", "wrangler", "xh",
];

/// Programs that send if one of these words is among their arguments.
const VERBS: &[(&str, &[&str])] = &[
    (
        "git",
        &[
            "clone",
            "fetch",
            "ls-remote",
            "pull",
            "push",
            "remote",
            "send-email",
            "send-pack",
            "submodule",
        ],
    ),
    ("hg", &["clone", "email", "incoming", "outgoing", "pull", "push"]),
    ("svn", &["checkout", "co", "commit", "ci", "update", "up"]),
    ("cargo", &["login", "owner", "publish", "yank"]),
    ("npm", &["dist-tag", "login", "publish", "unpublish"]),
    ("pnpm", &["login", "publish"]),
    ("yarn", &["login", "npm", "publish"]),
    ("twine", &["upload"]),
    ("uv", &["publish"]),
    ("poetry", &["publish"]),
    ("gem", &["push"]),
    ("docker", &["login", "pull", "push"]),
    ("podman", &["login", "pull", "push"]),
    ("helm", &["push", "upgrade"]),
    ("terraform", &["apply", "push"]),
];

/// Whether a command of the script sends something out. A program whose name is not known counts as one that sends, and
/// an argument whose value is not known as one of the words in `VERBS`.
pub(super) fn sends(script: &Script) -> bool {
    script.commands.iter().any(sending)
}

/// Whether a program sends, whatever its arguments are or with this subcommand.
pub(super) fn is_known(program: &str, verb: &str) -> bool {
    PROGRAMS.contains(&program) || VERBS.iter().any(|it| it.0 == program && it.1.contains(&verb))
}

fn sending(simple: &Simple) -> bool {
    let Some(name) = simple.name() else { return true };
    let verbs = VERBS.iter().find(|it| it.0 == name).map(|it| it.1);
    PROGRAMS.contains(&name)
        || verbs.is_some_and(|verbs| {
            simple.words[1..].iter().any(|it| it.fixed().is_none_or(|it| verbs.contains(&it)))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_that_send_are_known_by_their_names_and_verbs() {
        let is_sent = |line: &str| sends(&Script::parse(line));
        for line in [
            "git push",
            "git -C a push origin",
            "cargo test && git push",
            "timeout 5 curl https://a.org",
            "/usr/bin/curl a.org",
            "echo a | mail -s b c@d.org",
            "find . -exec scp {} a: \\;",
            "git $verb",
            "$program a",
            "npm publish",
        ] {
            assert!(is_sent(line), "{line}");
        }
        for line in ["git status", "cargo test", "make push", "npm test", "echo push", "ls curl"] {
            assert!(!is_sent(line), "{line}");
        }
    }
}
