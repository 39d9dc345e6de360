//! Decides whether a call may run, by the mode, the user's rules and the permissions for the session. No other code
//! decides this.

use crate::event::{Access, Grant, Guarded, Mode, Remote};
use crate::rules::{Judgement, Leak, Verdict};
use crate::text::unseen::{self, exact};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision<'a> {
    Allow,
    /// The user decides.
    Ask(Question<'a>),
    Deny(Reason<'a>),
}

/// A question to the user, and when it is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Question<'a> {
    /// Asked before a read that needs the user's consent.
    Read(&'a Guarded),
    /// Asked before a command runs. `outside` is the model's reason to run the command outside of the sandbox. `judged`
    /// says why the command needs consent, and which rule would allow it.
    Run {
        command: &'a str,
        outside: Option<&'a str>,
        background: bool,
        /// The locked paths that git would change.
        unlocked: &'a [String],
        judged: &'a Judgement,
        /// Whether the command is the user's own, in place of the model's.
        is_changed: bool,
    },
    /// Asked before one of the user's formatters gets the text of a file.
    Format { command: &'a str, path: &'a str, judged: &'a Judgement },
    /// Asked before a text is sent to the input of a job.
    Input { job: u32, command: &'a str, text: &'a str, judged: &'a Judgement },
    /// Asked before a web page is fetched.
    Fetch(&'a str, &'a Judgement),
    /// Asked before a query is sent to a search service at a host.
    Search(&'a str, &'a str, &'a Judgement),
    /// Asked before a tool of a server is called.
    Remote(&'a Remote, &'a Judgement),
    /// Asked after an edit of these files is in the buffers; the review itself is the question.
    Review(&'a [String]),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason<'a> {
    /// The call is not allowed in any mode. The text tells the model why.
    Never(&'a str),
    /// The tool does not exist, or its arguments are wrong. The text tells the model why.
    Invalid(&'a str),
    PlanMode,
    /// A plan is submitted only in plan mode.
    NoPlanMode,
    /// A rule of the user denies the call. The sentence names the rule's subject and reason.
    Rule(&'a str),
}

/// Checks the strictest conditions first. A permission for the session overrides a rule that asks, because the question
/// in which the user gave the permission has named the rule.
pub fn decide<'a>(
    mode: Mode,
    grants: &[Grant],
    judged: &'a Judgement,
    access: &'a Access,
) -> Decision<'a> {
    let is_granted = || access.is_granted(grants);
    let is_allowed = judged.verdict == Some(Verdict::Allow);
    let is_plan = mode == Mode::Plan;
    match access {
        Access::Never(why) => Decision::Deny(Reason::Never(why)),
        Access::Invalid(why) => Decision::Deny(Reason::Invalid(why)),
        _ if is_plan && is_refused_in_plan_mode(access) => Decision::Deny(Reason::PlanMode),
        _ if judged.verdict == Some(Verdict::Deny) => Decision::Deny(Reason::Rule(&judged.why)),
        Access::Read | Access::Ask { .. } | Access::Delegate { .. } | Access::Workers(_) => {
            Decision::Allow
        }
        Access::Plan if is_plan => Decision::Allow,
        Access::Plan => Decision::Deny(Reason::NoPlanMode),
        Access::Edit { .. } if mode >= Mode::AutoEdit || is_allowed => Decision::Allow,
        Access::Edit { .. } => ask(access, judged),
        _ if asks_anew(mode, judged, access, is_granted()) => ask(access, judged),
        _ if is_granted() => Decision::Allow,
        Access::Act { .. } | Access::Format { .. } | Access::Input { .. }
            if mode == Mode::Auto && judged.verdict.is_none() && judged.is_contained =>
        {
            Decision::Allow
        }
        Access::Act { .. }
        | Access::Format { .. }
        | Access::Fetch { .. }
        | Access::Search { .. }
        | Access::Remote(_)
            if is_allowed =>
        {
            Decision::Allow
        }
        access => ask(access, judged),
    }
}

/// Whether a call asks though a rule, or a permission for the session, allows such calls.
fn asks_anew(mode: Mode, judged: &Judgement, access: &Access, is_granted: bool) -> bool {
    let leaks = mode == Mode::Auto && judged.leak.is_some();
    match access {
        Access::Fetch { .. } | Access::Search { .. } => leaks,
        Access::Act { unlocked, .. } => {
            !(unlocked.is_empty() && judged.opens.is_empty()) || leaks && !is_granted
        }
        Access::Remote(it) => mode == Mode::Plan && !it.only_reads || leaks && !is_granted,
        _ => false,
    }
}

impl Decision<'_> {
    /// The same decision, about a command that the user has changed if `is_changed`.
    #[must_use]
    pub fn of_user(self, is_changed: bool) -> Self {
        match self {
            Decision::Ask(Question::Run {
                command, outside, background, unlocked, judged, ..
            }) => Decision::Ask(Question::Run {
                command,
                outside,
                background,
                unlocked,
                judged,
                is_changed,
            }),
            other => other,
        }
    }
}

/// The question about a call. A call about which there is none is refused.
fn ask<'a>(access: &'a Access, judged: &'a Judgement) -> Decision<'a> {
    Decision::Ask(match access {
        Access::Fetch { url, .. } => Question::Fetch(url, judged),
        Access::Search { query, host } => Question::Search(query, host, judged),
        Access::Remote(it) => Question::Remote(it, judged),
        Access::Guarded(it) => Question::Read(it),
        Access::Act { command, outside, background, unlocked, .. } => {
            let (outside, background) = (outside.as_deref(), *background);
            Question::Run { command, outside, background, unlocked, judged, is_changed: false }
        }
        Access::Format { command, path } => Question::Format { command, path, judged },
        Access::Input { job, command, text, .. } => {
            Question::Input { job: *job, command, text, judged }
        }
        Access::Edit { paths } => Question::Review(paths),
        Access::Read
        | Access::Ask { .. }
        | Access::Delegate { .. }
        | Access::Workers(_)
        | Access::Plan
        | Access::Never(_)
        | Access::Invalid(_) => {
            return Decision::Deny(Reason::Never("Not run: there is no question about this call."));
        }
    })
}

/// Whether a call is refused in plan mode. What a tool of a server does is not known: it asks there.
fn is_refused_in_plan_mode(access: &Access) -> bool {
    access.edits() || access.acts() && !matches!(access, Access::Remote(_))
}

impl Question<'_> {
    /// The sentence for the chat. `None` for an edit, because its review is the question.
    pub fn text(self) -> Option<String> {
        Some(match self {
            Question::Read(it) => look(it),
            // the question shows the whole command, with invisible characters spelt out
            Question::Run { command, outside, background, unlocked, judged, is_changed } => {
                let (this, own) = if is_changed { YOURS } else { ("this", "") };
                let place = place(outside.is_some(), background, judged);
                let more = details(outside, unlocked, judged);
                match exact(command.trim_end()) {
                    lines if lines.contains('\n') => format!("Run {this}{place}?{more}\n{lines}"),
                    line => format!("Run {own}`{line}`{place}?{more}"),
                }
            }
            Question::Format { command, path, judged } => {
                let why = because(judged);
                format!("Format `{}` with your `{}`?{why}", exact(path), exact(command))
            }
            Question::Input { job, command, text, judged } => {
                let to = format!("to job {job}, `{}`?{}", in_one_line(command), because(judged));
                let (line, enter) = match text.strip_suffix('\n') {
                    Some(line) => (line, " and Enter"),
                    None => (text, ""),
                };
                match exact(line) {
                    lines if lines.contains('\n') => format!("Send this{enter} {to}\n{lines}"),
                    line if line.is_empty() => format!("Send Enter {to}"),
                    line => format!("Send `{line}`{enter} {to}"),
                }
            }
            Question::Fetch(url, judged) => {
                format!("Fetch `{}`?{}", exact(url), because(judged))
            }
            Question::Search(query, host, judged) => {
                format!("Search the web ({host}) for `{}`?{}", exact(query), because(judged))
            }
            Question::Remote(it, judged) => format!(
                "Call {} of the server {}?{}\n{}",
                quoted(&it.tool),
                quoted(&it.server),
                because(judged),
                exact(&it.arguments)
            ),
            Question::Review(_) => return None,
        })
    }

    /// The part of the text that the user decides on; empty if it is the whole text.
    pub fn subject(&self) -> &str {
        match self {
            Question::Read(it) if it.others.is_empty() => &it.path,
            Question::Run { command, .. } => command.trim_end(),
            Question::Format { path, .. } => path,
            Question::Input { text, .. } => text.strip_suffix('\n').unwrap_or(text),
            Question::Fetch(subject, _) | Question::Search(subject, ..) => subject,
            Question::Remote(it, _) => &it.arguments,
            Question::Read(_) | Question::Review(_) => "",
        }
    }
}

/// How the question names a command that the user has changed: one of several lines, and before one of one line.
const YOURS: (&str, &str) = ("your command", "your command ");

/// Where a command runs, and the hosts that consent opens to it.
fn place(is_outside: bool, background: bool, judged: &Judgement) -> String {
    let hosts = judged.opens.join("`, `");
    let hosts = if hosts.is_empty() { hosts } else { format!(" with connections to `{hosts}`") };
    let place = match (is_outside, background) {
        (false, false) => "",
        (false, true) => " in the background",
        (true, false) => " outside of the sandbox",
        (true, true) => " in the background, outside of the sandbox",
    };
    format!("{place}{hosts}")
}

/// What the question about a command says of it.
fn details(outside: Option<&str>, unlocked: &[String], judged: &Judgement) -> String {
    let reason = outside.map(|it| format!("\nThe model says: {}", in_one_line(it)));
    let reason = reason.unwrap_or_default();
    let touched = [&*judged.touched.text(), reach(outside.is_some(), judged)].join(" ");
    let touched = match touched.trim() {
        "" => String::new(),
        text => format!("\n{}", exact(text)),
    };
    format!("{}{}{touched}{reason}", because(judged), changes_locked(unlocked))
}

/// Where a command gets that uses the network and whose words do not name all hosts.
fn reach(is_outside: bool, judged: &Judgement) -> &'static str {
    let it = &judged.touched;
    match () {
        () if !it.reaches_more || !judged.opens.is_empty() => "",
        () if judged.is_contained && !is_outside => "It reaches only hosts that a rule allows.",
        () if it.hosts.is_empty() => "It names no host, and may reach any.",
        () => "It may reach others too.",
    }
}

/// The line of a question that names the locked paths which git would change.
fn changes_locked(unlocked: &[String]) -> String {
    let named: Vec<String> = unlocked.iter().map(|it| quoted(it)).collect();
    if named.is_empty() {
        return String::new();
    }
    format!(
        "\nIt changes files that commands may not change: {}. With your consent git changes them, for this one command.",
        named.join(", ")
    )
}

/// A name in backticks, which cannot end its own quotation, and is one line.
fn quoted(name: &str) -> String {
    let spelt = unseen::name(&exact(name)).replace('`', "[U+0060]");
    let cut = if spelt.chars().nth(NAME).is_some() { "…" } else { "" };
    format!("`{}{cut}`", spelt.chars().take(NAME).collect::<String>())
}

fn look(it: &Guarded) -> String {
    if !it.others.is_empty() {
        let lines: Vec<String> = it.all().map(one_of_several).collect();
        return format!(
            "Let {} look at these {} files?\n{}",
            it.tool,
            lines.len(),
            lines.join("\n")
        );
    }
    let Guarded { tool, path, is_outside, why, .. } = it;
    let place = if *is_outside { ", outside the project" } else { "" };
    let why = why.as_ref().map(|it| format!(" It {it}.")).unwrap_or_default();
    format!("Let {tool} look at `{path}`{place}?{why}")
}

/// A line for each of several files in a question.
fn one_of_several(it: &Guarded) -> String {
    let place = if it.is_outside { ", outside the project" } else { "" };
    let why = it.why.as_ref().map(|it| format!(": it {it}")).unwrap_or_default();
    format!("- `{}`{place}{why}", it.path)
}

/// The most characters of a name, or of a text in one line.
const NAME: usize = 300;

/// A text in one line that is not too long.
fn in_one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let line: String = words.join(" ").chars().take(NAME).collect();
    exact(&line).into_owned()
}

/// Why the user is asked about a call: sentences that come after the question.
fn because(judged: &Judgement) -> String {
    let why =
        if judged.why.is_empty() { String::new() } else { format!(" {}", exact(&judged.why)) };
    let leak = match judged.leak {
        Some(Leak::Unnamed) => {
            " Neither you, a page nor a search result has named this address. Untrusted text in this conversation may \
             have asked for it."
        }
        Some(Leak::Sending) => {
            " This command sends something out. Untrusted text in this conversation may have asked for it."
        }
        Some(Leak::Connecting) => {
            " Untrusted text in this conversation may have asked for the connection."
        }
        Some(Leak::Arguments) => {
            " The arguments go to the server. Untrusted text in this conversation may have asked for it."
        }
        Some(Leak::Query) => {
            " The query leaves this machine. Untrusted text in this conversation may have asked for it."
        }
        None => "",
    };
    why + leak
}

#[cfg(test)]
mod tests;
