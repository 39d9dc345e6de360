//! Rules in the form in which the user writes them, in the settings and in a project's file, and the examples in them.

use super::groups::{apart, group};
use super::rule::{Origin, Pattern, REMOTE, Rule, Target, Verdict, is_plain};
use crate::bash::Script;
use crate::nearest;
use ignore::gitignore::GitignoreBuilder;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The most rules of one place.
const MOST: usize = 1_000;

/// A rule as the user writes it. Exactly one of `allow`, `ask` and `deny` is set; its value is a tool.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct WrittenRule {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allow: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ask: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deny: Option<String>,
    /// The first words of a command; `*` stands for any word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// A pattern for files, as in a `.gitignore`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The name of a host, or `*.` and a domain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// The name of a group of hosts for `network`, such as `cargo`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Examples to which the rule has to apply.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub matches: Vec<String>,
    /// Examples to which the rule must not apply.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spares: Vec<String>,
}

/// The tools for which there are rules.
const TOOLS: [&str; 4] = ["shell", "edit", "fetch", "network"];

/// The valid rules, and the problems of the others as sentences that begin with `place`. If a rule that asks or denies
/// is not valid, every call needs consent.
pub fn read(written: &[WrittenRule], origin: Origin, place: &str) -> (Vec<Rule>, Vec<String>) {
    let (mut rules, mut problems) = (Vec::new(), Vec::new());
    let mut is_cautious = written.len() > MOST;
    if is_cautious {
        problems.push(format!(
            "{place}: there are more than {MOST} rules. Until there are fewer, every command, edit and web page needs \
             your consent."
        ));
    }
    for (n, it) in written.iter().take(MOST).enumerate() {
        match it.rule(origin) {
            Ok(rule) => rules.push(rule),
            Err(why) => {
                let is_strict = it.ask.is_some() || it.deny.is_some();
                is_cautious |= is_strict;
                let rest = if is_strict {
                    " Until you correct it, every command, edit and web page needs your consent."
                } else {
                    ""
                };
                problems.push(format!("{place}, rule {}: {why}.{rest}", n + 1));
            }
        }
    }
    if is_cautious {
        rules.extend(caution(origin, "some rules cannot be used"));
    }
    (rules, problems)
}

/// The rules of a project's file that allow calls.
pub fn allowing(text: &str) -> Vec<Rule> {
    let rules = from_project(text, Some(true)).0.into_iter();
    rules.filter(|it| it.verdict == Verdict::Allow).collect()
}

/// The rules of a project's file, and the problems of the file. Rules that allow are left out unless the user has agreed
/// to this text: by itself, a project may only forbid. `answer` is `None` if the user was not asked.
pub fn from_project(text: &str, answer: Option<bool>) -> (Vec<Rule>, Vec<String>) {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct File {
        #[serde(default)]
        rule: Vec<WrittenRule>,
    }
    const PLACE: &str = ".caliban/permissions.toml";
    let file: File = match toml::from_str(text) {
        Ok(file) => file,
        Err(fault) => {
            let before = fault.span().and_then(|it| text.get(..it.start)).unwrap_or_default();
            let at = before.matches('\n').count() + 1;
            let why = fault.message().lines().next().unwrap_or_default();
            let problem = format!(
                "{PLACE}, line {at}: {why}. Until you correct the file, every command, edit and web page needs your \
                 consent."
            );
            return (caution(Origin::Project, "the project's rules cannot be read"), vec![problem]);
        }
    };
    let (mut rules, mut problems) = read(&file.rule, Origin::Project, PLACE);
    let before = rules.len();
    rules.retain(|it| it.verdict > Verdict::Allow || answer == Some(true));
    if rules.len() < before && answer.is_none() {
        problems.push(format!(
            "{PLACE} has rules that allow calls. They are not used until you agree to this text of the file."
        ));
    }
    (rules, problems)
}

/// Rules that require consent for every call.
pub fn caution(origin: Origin, reason: &str) -> Vec<Rule> {
    let targets = [
        Target::Command(Vec::new()),
        Target::Edit(None),
        Target::Fetch(None),
        Target::Network(Vec::new()),
        Target::Remote(None),
    ];
    let rule = |target| Rule { verdict: Verdict::Ask, origin, target, reason: reason.to_owned() };
    targets.map(rule).into()
}

impl WrittenRule {
    /// The rule for a command that the user always allows.
    pub fn always(command: &str) -> WrittenRule {
        let (allow, command) = (Some("shell".to_owned()), Some(command.to_owned()));
        WrittenRule { allow, command, ..WrittenRule::default() }
    }

    /// The rule that opens a host to commands.
    pub fn connecting(host: &str) -> WrittenRule {
        let (allow, host) = (Some("network".to_owned()), Some(host.to_owned()));
        WrittenRule { allow, host, ..WrittenRule::default() }
    }

    /// The rule; an error is a sentence without a full stop.
    pub fn rule(&self, origin: Origin) -> Result<Rule, String> {
        let given =
            [(&self.allow, Verdict::Allow), (&self.ask, Verdict::Ask), (&self.deny, Verdict::Deny)];
        let mut given = given.into_iter().filter_map(|(tool, it)| Some((tool.as_deref()?, it)));
        let (Some((tool, verdict)), None) = (given.next(), given.next()) else {
            return Err(
                "give one of `allow`, `ask` and `deny`, such as deny = \"shell\"".to_owned()
            );
        };
        let target = self.target(tool, verdict)?;
        let reason = self.reason.iter().flat_map(|it| it.split_whitespace()).collect::<Vec<_>>();
        let reason = reason.join(" ").trim_end_matches('.').to_owned();
        let rule = Rule { verdict, origin, target, reason };
        self.check(&rule)?;
        Ok(rule)
    }

    fn target(&self, kind: &str, verdict: Verdict) -> Result<Target, String> {
        let all = [
            ("command", "shell", &self.command),
            ("path", "edit", &self.path),
            ("host", "fetch", &self.host),
        ];
        if kind.starts_with(REMOTE) {
            return self.remote(kind, verdict);
        }
        if !TOOLS.contains(&kind) {
            let hint = nearest::find(kind, TOOLS)
                .map(|it| format!("; `{it}` is the nearest name"))
                .unwrap_or_default();
            return Err(format!(
                "there are rules for shell, edit, fetch and network, not for `{kind}`{hint}"
            ));
        }
        if kind == "network" {
            return self.network(verdict).map(Target::Network);
        }
        if let Some((field, of, _)) = all.iter().find(|it| it.1 != kind && it.2.is_some()) {
            return Err(format!("`{field}` is for rules about {of}, not about {kind}"));
        }
        let given = all.iter().find(|it| it.1 == kind).and_then(|it| it.2.as_deref());
        if verdict == Verdict::Allow && given.is_none() && kind != "edit" {
            let field = if kind == "shell" { "command" } else { "host" };
            return Err(format!("a rule that allows {kind} needs `{field}`"));
        }
        match kind {
            "shell" => given.map_or(Ok(Vec::new()), words).map(Target::Command),
            "edit" => given.map(|it| pattern(it, verdict)).transpose().map(Target::Edit),
            _ => given.map(host).transpose().map(Target::Fetch),
        }
    }

    /// A rule about the tools of servers with this name.
    fn remote(&self, name: &str, verdict: Verdict) -> Result<Target, String> {
        let fields = [
            ("command", self.command.is_some()),
            ("path", self.path.is_some()),
            ("host", self.host.is_some()),
            ("group", self.group.is_some()),
        ];
        if let Some((field, _)) = fields.iter().find(|it| it.1) {
            return Err(format!("`{field}` is not for rules about tools of servers"));
        }
        let is_name = |it: &str| it.chars().all(|c| c.is_ascii_alphanumeric() || "_-*".contains(c));
        let server = name[REMOTE.len()..].split("__").next().unwrap_or_default();
        if server.is_empty() || !is_name(name) {
            return Err(format!(
                "`{name}` names no tool of a server. Write `mcp__server__tool`, or `mcp__server` for all tools of the \
                 server"
            ));
        }
        if verdict == Verdict::Allow && server.contains('*') {
            return Err(format!("`{name}`: a rule that allows needs the whole name of the server"));
        }
        Ok(Target::Remote(Some(name.to_owned())))
    }

    /// The hosts of a rule about connections.
    fn network(&self, verdict: Verdict) -> Result<Vec<String>, String> {
        if self.command.is_some() || self.path.is_some() {
            return Err("a rule about the network has `host` or `group`".to_owned());
        }
        if verdict == Verdict::Ask {
            return Err("a rule about the network can only allow or deny, because a running command cannot ask you"
                .to_owned());
        }
        match (&self.host, &self.group) {
            (Some(_), Some(_)) => Err("give `host` or `group`, not both".to_owned()),
            (None, Some(name)) => group(name),
            (Some(it), None) => connection(it).map(|it| vec![it]),
            (None, None) if verdict == Verdict::Allow => {
                Err("a rule that allows network needs `host` or `group`".to_owned())
            }
            (None, None) => Ok(Vec::new()),
        }
    }

    /// Checks that the rule applies to its examples, and not to those that it must spare.
    fn check(&self, rule: &Rule) -> Result<(), String> {
        let wrong = |it: &&String, wanted| rule.fits(it) != wanted;
        if let Some(it) = self.matches.iter().find(|it| wrong(it, true)) {
            return Err(format!("the rule does not match `{it}`, which `matches` lists"));
        }
        if let Some(it) = self.spares.iter().find(|it| wrong(it, false)) {
            return Err(format!("the rule matches `{it}`, which `spares` lists"));
        }
        Ok(())
    }
}

impl Rule {
    /// Whether the rule applies to an example: a command, a path or a host.
    fn fits(&self, example: &str) -> bool {
        let rules = super::Rules { all: vec![self.clone()], ..super::Rules::default() };
        match &self.target {
            Target::Command(_) => {
                rules.script(&Script::parse(example)).verdict == Some(self.verdict)
            }
            Target::Edit(_) => self.is_about_file(std::path::Path::new(example)),
            Target::Fetch(_) => self.is_about_host(example),
            Target::Remote(_) => self.is_about_remote(example),
            Target::Network(_) => {
                let (host, port) = apart(example);
                self.is_about_connection(host, port.unwrap_or(443))
            }
        }
    }
}

/// The words of a command in a rule. A word in quotes may contain blanks.
fn words(command: &str) -> Result<Vec<String>, String> {
    let plain: Vec<String> = command.split_whitespace().map(str::to_owned).collect();
    if !plain.is_empty() && plain.iter().all(|it| is_plain(it)) {
        return Ok(plain);
    }
    let script = Script::parse(command);
    let mut certain = script.commands.iter().filter(|it| it.is_certain());
    let only = match (certain.next(), certain.next()) {
        (Some(it), None) if script.doubts.is_empty() && script.folders.len() == 1 => it,
        _ => return Err(not_words(command)),
    };
    only.words
        .iter()
        .map(|it| it.fixed().map(str::to_owned).ok_or_else(|| not_words(command)))
        .collect()
}

fn not_words(command: &str) -> String {
    format!(
        "command = `{command}` is not a single command with fixed words. Name its first words, such as `git push`"
    )
}

/// The pattern for files. In a rule that asks or denies, the pattern ignores case, because some file systems do.
fn pattern(text: &str, verdict: Verdict) -> Result<Pattern, String> {
    let mut builder = GitignoreBuilder::new("");
    let refused = |it: &dyn fmt::Display| {
        format!("path = `{text}` is not a pattern as in a `.gitignore`: {it}")
    };
    builder.case_insensitive(verdict > Verdict::Allow).map_err(|it| refused(&it))?;
    if text.trim().is_empty() || text.starts_with(['!', '#', '~']) || text.contains('\n') {
        return Err(refused(&"name files of the project, such as `/migrations/` or `*.sql`"));
    }
    builder.add_line(None, text).map_err(|it| refused(&it))?;
    let matcher = builder.build().map_err(|it| refused(&it))?;
    Ok(Pattern { text: text.to_owned(), matcher })
}

fn host(text: &str) -> Result<String, String> {
    let lower = text.to_ascii_lowercase();
    let name = lower.strip_prefix("*.").unwrap_or(&lower);
    let is_host = |it: &str| it.chars().all(|c| c.is_ascii_alphanumeric() || "-.:[]".contains(c));
    if name.is_empty() || !is_host(name) {
        return Err(format!(
            "host = `{text}` is not a host. Write `example.org` or `*.example.org`"
        ));
    }
    Ok(lower)
}

/// A host with or without a port, for connections.
fn connection(text: &str) -> Result<String, String> {
    let wrong = || {
        format!(
            "host = `{text}` is not a host. Write `example.org`, `*.example.org` or `example.org:8080`"
        )
    };
    let lower = host(text)?;
    let (name, port) = apart(&lower);
    let rest = name.strip_prefix("*.").unwrap_or(name);
    let is_name = url::Host::parse(rest).is_ok_and(|it| it.to_string() == rest);
    let has_bad_port = name.len() < lower.len() && port.is_none_or(|it| it == 0);
    if is_name && !has_bad_port { Ok(lower) } else { Err(wrong()) }
}
