//! The rules about a command line: each of its simple commands is compared with each rule.

use super::{Judgement, Rule, Rules, Target, Verdict, narrow};
use crate::bash::{Script, Simple, Word, risk};
use crate::reach::Reading;
use std::path::{Component, Path, PathBuf};

/// How the rules decide about one simple command.
enum Part<'a> {
    Allowed(&'a Rule),
    /// A rule allows commands that begin like this one, but not this command, for the reason in this sentence.
    Hindered(String),
    NoRule,
}

impl Rules {
    pub(super) fn script(&self, script: &Script) -> Judgement {
        if let Some((rule, simple)) = self.against(script) {
            let why = rule.said(&format!("`{}`", simple.shown()));
            return Judgement { verdict: Some(rule.verdict), why, ..Judgement::default() };
        }
        let is_strict =
            |it: &Rule| it.verdict > Verdict::Allow && matches!(it.target, Target::Command(_));
        if script.is_open && self.all.iter().any(is_strict) {
            let why = script.doubts.first().map_or(String::new(), |it| format!("{}.", capital(it)));
            return Judgement { verdict: Some(Verdict::Ask), why, ..Judgement::default() };
        }
        let parts: Vec<_> = script.certain().map(|it| (it, self.part(script, it))).collect();
        let is_known = parts.iter().any(|(_, it)| !matches!(it, Part::NoRule));
        let is_missing = |(_, it): &&(&Simple, Part)| matches!(it, Part::NoRule);
        let missing: Vec<&Simple> = parts.iter().filter(is_missing).map(|(it, _)| *it).collect();
        let hindered = parts.into_iter().find_map(|(_, it)| match it {
            Part::Hindered(why) => Some(why),
            Part::Allowed(_) | Part::NoRule => None,
        });
        let (verdict, why, always) = match (self.hindrance(script).or(hindered), missing.first()) {
            (None, None) if is_known => (Some(Verdict::Allow), String::new(), String::new()),
            (None, first) => {
                let why = first.map(|it| format!("No permission rule allows `{}`.", it.shown()));
                (None, why.unwrap_or_default(), narrow::proposed(script, &missing))
            }
            (Some(why), _) => (None, why, String::new()),
        };
        let why = if is_known { why } else { String::new() };
        Judgement { verdict, why, always, ..Judgement::default() }
    }

    /// The strictest rule that asks about or denies a command of the script.
    fn against<'a>(&'a self, script: &'a Script) -> Option<(&'a Rule, &'a Simple)> {
        let rules = self.all.iter().filter(|it| it.verdict > Verdict::Allow);
        let pairs = rules.flat_map(|rule| script.commands.iter().map(move |it| (rule, it)));
        pairs
            .filter(|(rule, it)| rule.is_about(it))
            .max_by_key(|(rule, it)| (rule.verdict, it.is_certain))
    }

    fn part<'a>(&'a self, script: &Script, simple: &Simple) -> Part<'a> {
        let mut hindered = None;
        for rule in self.all.iter().filter(|it| it.verdict == Verdict::Allow) {
            let Some(covered) = rule.covers(simple) else { continue };
            match self.beyond(script, simple, covered) {
                None => return Part::Allowed(rule),
                Some(why) => drop(hindered.get_or_insert(why)),
            }
        }
        hindered.map_or(Part::NoRule, Part::Hindered)
    }

    /// Why a rule that allows the first words of a command (`covered` words) does not allow the whole command: an
    /// argument is risky or names a path that is not allowed. `None` if the rule allows the command.
    fn beyond(&self, script: &Script, simple: &Simple, covered: usize) -> Option<String> {
        if let Some((_, why)) = risk(simple).filter(|(at, _)| *at >= covered) {
            return Some(format!("{}.", capital(&why)));
        }
        let arguments = simple.words[covered..].iter();
        let shown = arguments.filter_map(|it| match it {
            Word::Fixed(it) | Word::Glob(it) => Some(it.as_str()),
            Word::Open(_) => None,
        });
        shown.flat_map(places).find_map(|it| self.closed(script, it))
    }

    /// Why the rules cannot allow the script at all, whatever its commands are.
    fn hindrance(&self, script: &Script) -> Option<String> {
        let doubt = script.doubts.first().map(|it| format!("{}.", capital(it)));
        let elsewhere = || script.folders.iter().find_map(|it| self.closed(script, it));
        doubt
            .or_else(elsewhere)
            .or_else(|| script.inputs.iter().find_map(|it| self.closed(script, it)))
    }

    /// If a path is outside of the project or may be read only with consent, a sentence that says so.
    fn closed(&self, script: &Script, written: &str) -> Option<String> {
        let reach = self.reach.as_ref()?;
        if matches!(written, "/dev/null" | "/dev/stdin" | "/dev/stdout" | "/dev/stderr" | "") {
            return None;
        }
        script.folders.iter().find_map(|folder| {
            let Some(path) = resolved(&self.root, folder, written) else {
                return Some(format!("`{written}` is outside the project."));
            };
            match reach.reading(&path) {
                Reading::Asked(why) | Reading::Never(why) => Some(format!("`{written}` {why}.")),
                Reading::Free => None,
            }
        })
    }

    /// Explains to the user how the rules judge a command line: one line for each simple command, with its rule.
    pub fn explain(&self, line: &str) -> String {
        let script = Script::parse(line);
        let mut lines = Vec::new();
        for simple in script.certain() {
            let against = self.all.iter().filter(|it| it.verdict > Verdict::Allow);
            let strictest = against.filter(|it| it.is_about(simple)).max_by_key(|it| it.verdict);
            let said = match (strictest, self.part(&script, simple)) {
                (Some(rule), _) | (None, Part::Allowed(rule)) => rule.line(),
                (None, Part::Hindered(why)) => format!("asks. {why}"),
                (None, Part::NoRule) => {
                    "needs your consent. No permission rule allows it.".to_owned()
                }
            };
            lines.push(format!("  {}: {said}", simple.shown()));
        }
        lines.extend(self.hindrance(&script).map(|it| format!("  asks. {it}")));
        lines.join("\n")
    }
}

impl Script {
    fn certain(&self) -> impl Iterator<Item = &Simple> {
        self.commands.iter().filter(|it| it.is_certain)
    }
}

impl Rule {
    /// If this rule allows commands that begin like this one, the number of words that the rule names. Otherwise
    /// `None`.
    fn covers(&self, simple: &Simple) -> Option<usize> {
        let Target::Command(wanted) = &self.target else { return None };
        let heads = simple.words.get(..wanted.len())?;
        let is_same = |(wanted, word): (&String, &Word)| match word.fixed() {
            Some(it) => wanted == "*" || wanted == it,
            None => false,
        };
        wanted.iter().zip(heads).all(is_same).then_some(wanted.len())
    }

    /// Whether a rule that asks or denies applies to a command. Options between the rule's words are ignored: a rule
    /// about `git push` applies to `git -C a push`.
    fn is_about(&self, simple: &Simple) -> bool {
        let Target::Command(wanted) = &self.target else { return false };
        let Some((first, rest)) = wanted.split_first() else { return true };
        let is_named = first == "*"
            || simple.name() == Some(first)
            || simple.words.first().and_then(Word::fixed) == Some(first);
        is_named && follows(rest, simple.words.get(1..).unwrap_or_default())
    }
}

/// Whether the words begin with the wanted words in this order, with only options and their values between them.
fn follows(wanted: &[String], words: &[Word]) -> bool {
    // the positions in `words` at which the next wanted word may be
    let mut next = vec![false; words.len() + 1];
    next[0] = true;
    for wanted in wanted {
        let mut after = vec![false; words.len() + 1];
        for (at, word) in words.iter().enumerate() {
            if !next[at] {
                continue;
            }
            if word.fixed().is_none_or(|it| wanted == "*" || it == wanted) {
                after[at + 1] = true;
            }
            if word.fixed().is_none_or(|it| it.starts_with(['-', '+'])) {
                next[at + 1] = true;
                next[(at + 2).min(words.len())] = true;
            }
        }
        next = after;
    }
    next.contains(&true)
}

/// The parts of an argument that may be paths: the whole argument, and the parts behind `=`, `:`, `@` and commas.
fn places(word: &str) -> impl Iterator<Item = &str> {
    let whole = (!word.starts_with('-')).then_some(word);
    let inner = word.split(['=', ':', '@', ',']).skip(1);
    whole.into_iter().chain(inner)
}

/// The path that an argument means, without following symbolic links. `None` if it is outside of the root.
fn resolved(root: &Path, folder: &str, written: &str) -> Option<PathBuf> {
    if written.starts_with('~') || folder.starts_with('~') {
        return None;
    }
    let mut path = PathBuf::new();
    for part in root.join(folder).join(written).components() {
        match part {
            Component::ParentDir => drop(path.pop()),
            Component::CurDir => (),
            it => path.push(it),
        }
    }
    path.starts_with(root).then_some(path)
}

/// A clause with a capital letter at its start.
fn capital(clause: &str) -> String {
    let mut chars = clause.chars();
    chars.next().map(|it| it.to_uppercase().chain(chars).collect()).unwrap_or_default()
}
