//! The rules about a command line: each of its simple commands is compared with each rule.

use super::judgement::Judgement;
use super::meaning::{self, Fit, fit, fit_arguments};
use super::project::Rules;
use super::rule::{Origin, Rule, STAR, Target, Verdict};
use super::tree::WRITERS;
use super::{narrow, safe, star};
use crate::bash::options::{Manner, is_idle};
use crate::bash::{Program, Script, Simple, Surety, Word, shown};
use crate::event::in_one_line;
use crate::reach::{Reading, Writing};
use std::cmp::Reverse;
use std::path::{Component, Path, PathBuf};

/// Programs that show the names of the files in their arguments, and neither their content nor more because of an
/// option.
const NAMERS: &[&str] = &["basename", "dirname", "echo", "ls", "stat"];

/// Programs that only print their arguments.
const SAYERS: &[&str] = &["echo", "printf"];

/// How the rules decide about one simple command.
enum Part<'a> {
    Allowed(&'a Rule),
    /// A rule allows commands that begin like this one, but not this command, for the reason in this sentence.
    Hindered(String),
    NoRule,
}

/// A rule that asks about or denies a command.
struct Against<'a> {
    rule: &'a Rule,
    verdict: Verdict,
    fit: Fit,
    surety: Surety,
    /// The command.
    shown: String,
}

impl Against<'_> {
    /// How much the rule has to say: of several rules, the user hears about the one with the most.
    fn weight(&self) -> (Verdict, Fit, Reverse<Surety>) {
        (self.verdict, self.fit, Reverse(self.surety))
    }

    /// Tells the user and the model, in a sentence, what the rule has against the command.
    fn said(&self) -> String {
        match (&self.rule.target, self.fit) {
            (Target::Command(wanted), _) if self.surety == Surety::Guess => {
                self.rule.said(&format!(
                    "`{}`, which the command may run: it has `{}` among its words",
                    meaning::shown(wanted),
                    self.shown
                ))
            }
            (Target::Command(wanted), Fit::Perhaps) => self.rule.said(&format!(
                "`{}`, which `{}` may be: its words are known only when it runs",
                meaning::shown(wanted),
                self.shown
            )),
            _ => self.rule.said(&format!("`{}`", self.shown)),
        }
    }
}

impl Rules {
    pub(super) fn script(&self, script: &Script) -> Judgement {
        if let Some(it) = self.against(script) {
            let (verdict, why) = (Some(it.verdict), it.said());
            return Judgement { verdict, why, ..Judgement::default() };
        }
        let is_strict =
            |it: &Rule| it.verdict > Verdict::Allow && matches!(it.target, Target::Command(_));
        if let Some(it) = script.unclear.as_ref().filter(|_| self.all.iter().any(is_strict)) {
            let (verdict, why) = (Some(Verdict::Ask), format!("{}.", capital(it)));
            return Judgement { verdict, why, ..Judgement::default() };
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

    /// The strictest rule that asks about or denies a command of the script, and that command.
    fn against(&self, script: &Script) -> Option<Against<'_>> {
        let rules = self.all.iter().filter(|it| it.verdict > Verdict::Allow);
        let pairs = rules.clone().flat_map(|rule| script.commands.iter().map(move |it| (rule, it)));
        let found = pairs.filter_map(|(rule, it)| self.objection(script, rule, it));
        let programs = rules.flat_map(|rule| script.programs.iter().map(move |it| (rule, it)));
        let in_programs = programs.filter_map(|(rule, it)| rule.in_program(it));
        found.chain(in_programs).max_by_key(Against::weight)
    }

    /// What a rule that asks or denies has against a command. If it is not sure that the rule is about the command, or
    /// that the command runs, the user is asked.
    fn objection<'a>(
        &self,
        script: &Script,
        rule: &'a Rule,
        simple: &Simple,
    ) -> Option<Against<'a>> {
        let fit = match rule.fit(&simple.words) {
            Fit::No => return None,
            Fit::Sure => Fit::Sure,
            Fit::Perhaps => match self.forms(script, simple) {
                // the names for which a pattern stands are known
                Some(Ok(forms)) => {
                    let fits = forms.iter().map(|it| rule.fit(&it.words));
                    fits.max().filter(|it| *it > Fit::No)?
                }
                Some(Err(_)) | None => Fit::Perhaps,
            },
        };
        Some(rule.against(fit, simple.surety, simple.shown()))
    }

    fn part<'a>(&'a self, script: &Script, simple: &Simple) -> Part<'a> {
        match (self.as_written(script, simple), simple.without_options()) {
            (Part::Allowed(rule), _) => Part::Allowed(rule),
            (other, None) => other,
            (other, Some(plain)) => match self.as_written(script, &plain) {
                Part::NoRule => other,
                it => it,
            },
        }
    }

    fn as_written<'a>(&'a self, script: &Script, simple: &Simple) -> Part<'a> {
        let mut hindered = None;
        for rule in self.all.iter().filter(|it| it.verdict == Verdict::Allow) {
            let Some(covered) = rule.covers(simple) else { continue };
            let stray = match rule.origin {
                Origin::Safe => safe::beyond(simple, covered.len()),
                Origin::Limit => None,
                Origin::Settings | Origin::Project | Origin::Always => star::task(simple, covered),
            };
            let stray = stray.map(|it| format!("{}.", capital(&it)));
            let spread = || (rule.origin == Origin::Safe).then(|| self.spread(script, simple))?;
            match stray.or_else(|| self.beyond(script, simple, covered)).or_else(spread) {
                None => return Part::Allowed(rule),
                Some(why) => drop(hindered.get_or_insert(why)),
            }
        }
        hindered.map_or(Part::NoRule, Part::Hindered)
    }

    /// Why a rule that allows the first words of a command (`covered`, the rule's words) does not allow the whole command: an
    /// argument is risky or names a path that is not allowed. `None` if the rule allows the command. A pattern is judged
    /// by each name for which it stands.
    fn beyond(&self, script: &Script, simple: &Simple, covered: &[String]) -> Option<String> {
        // names for which a pattern stands are no texts
        let has_pattern = simple.words.iter().any(|it| matches!(it, Word::Glob(_)));
        let texts = if has_pattern { Vec::new() } else { texts(simple) };
        let beyond = |it: &Simple| self.beyond_words(script, it, covered, &texts);
        match self.forms(script, simple) {
            None => beyond(simple),
            Some(Ok(forms)) => forms.iter().find_map(beyond),
            Some(Err(why)) => Some(why),
        }
    }

    fn beyond_words(
        &self,
        script: &Script,
        simple: &Simple,
        covered: &[String],
        texts: &[usize],
    ) -> Option<String> {
        if let Some(why) = star::risk(simple, covered) {
            return Some(format!("{}.", capital(&why)));
        }
        let name = simple.name().unwrap_or_default();
        let all = simple
            .words
            .iter()
            .enumerate()
            .filter(|it| it.0 >= covered.len() || it.0 > 0 && !star::is_named(covered, it.0));
        let arguments = all.filter(|it| !texts.contains(&it.0)).map(|it| it.1);
        let mut globs = arguments.clone().filter_map(|it| match it {
            Word::Glob(it) => Some(it.as_str()),
            Word::Fixed(_) | Word::Open(_) => None,
        });
        if let Some(why) = globs.find_map(|it| self.unclear(script, name, it)) {
            return Some(why);
        }
        let shown = arguments.filter_map(|it| match it {
            Word::Fixed(it) | Word::Glob(it) => Some(it.as_str()),
            Word::Open(_) => None,
        });
        let all = shown.flat_map(|it| places(it, name));
        let is_writer = WRITERS.contains(&name);
        let why = all.into_iter().find_map(|it| {
            let changed = || is_writer.then(|| self.kept(script, it)).flatten();
            self.closed(script, it).or_else(changed)
        });
        why.or_else(|| self.followed(script, simple, texts))
    }

    /// If a pattern may stand for a protected file, or for one whose name reads as an option, a sentence that says so.
    fn unclear(&self, script: &Script, name: &str, glob: &str) -> Option<String> {
        let begins_open = glob.starts_with(['*', '?', '[']);
        let has_kind = || {
            glob.rsplit_once('.')
                .is_some_and(|it| it.1.bytes().all(|it| it.is_ascii_alphanumeric()))
        };
        if begins_open && !(NAMERS.contains(&name) && has_kind()) {
            return Some(format!("`{glob}` is known only when the command runs."));
        }
        let reach = self.reach.as_ref()?;
        let places = script.folders.iter().filter_map(|it| resolved(&self.root, it, glob));
        let reading = places.map(|it| reach.reading_all(&it)).max()?;
        match reading {
            Reading::Asked(why) | Reading::Never(why) => {
                Some(format!("`{glob}` may stand for a file that {why}."))
            }
            Reading::Free => None,
        }
    }

    /// Why the rules cannot allow the script at all, whatever its commands are.
    fn hindrance(&self, script: &Script) -> Option<String> {
        let doubt = script.doubts.first().map(|it| format!("{}.", capital(it)));
        let elsewhere = || script.folders.iter().find_map(|it| self.closed(script, it));
        doubt
            .or_else(|| script.listed.iter().find_map(|it| self.unlisted(script, it)))
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
                Reading::Free => self.astray(folder, written),
            }
        })
    }

    /// If a path is one that is always reviewed before it is written, a sentence that says so.
    fn kept(&self, script: &Script, written: &str) -> Option<String> {
        let reach = self.reach.as_ref()?;
        script.folders.iter().find_map(|folder| {
            let path = resolved(&self.root, folder, written)?;
            match reach.writing(&path) {
                Writing::Reviewed(why) | Writing::Never(why) => Some(format!("`{written}` {why}.")),
                Writing::Free => self.kept_behind(folder, written),
            }
        })
    }

    /// Explains to the user how the rules judge a command line: one line for each simple command, with its rule, and one
    /// line if the rules cannot allow the command line whatever its commands are.
    pub fn explain(&self, line: &str) -> Vec<String> {
        let script = Script::parse(line);
        let mut lines = Vec::new();
        for simple in script.certain() {
            let against = self.all.iter().filter(|it| it.verdict > Verdict::Allow);
            let strictest = against
                .filter_map(|it| self.objection(&script, it, simple))
                .max_by_key(Against::weight);
            let said = match (strictest, self.part(&script, simple)) {
                (Some(it), _) if it.fit == Fit::Perhaps || it.surety == Surety::Guess => {
                    format!("needs your consent. {}", it.said())
                }
                (Some(Against { rule, .. }), _) | (None, Part::Allowed(rule)) => rule.line(),
                (None, Part::Hindered(why)) => format!("needs your consent. {why}"),
                (None, Part::NoRule) => {
                    "needs your consent. No permission rule allows it.".to_owned()
                }
            };
            lines.push(format!("{}: {said}", in_one_line(&simple.shown())));
        }
        let objects = |it: &Simple| {
            let mut against = self.all.iter().filter(|it| it.verdict > Verdict::Allow);
            against.any(|rule| self.objection(&script, rule, it).is_some())
        };
        let hidden = Some(self.script(&script))
            .filter(|it| it.verdict > Some(Verdict::Allow) && !script.certain().any(objects));
        let whole = match hidden {
            Some(Judgement { verdict: Some(Verdict::Deny), why, .. }) => Some(why),
            Some(Judgement { why, .. }) => Some(format!("needs your consent. {why}")),
            None => self.hindrance(&script).map(|it| format!("needs your consent. {it}")),
        };
        lines.extend(whole.map(|it| format!("the whole command: {it}")));
        lines
    }
}

impl Script {
    fn certain(&self) -> impl Iterator<Item = &Simple> {
        self.commands.iter().filter(|it| it.is_certain())
    }
}

impl Rule {
    /// The rule's words, if this rule is about commands that begin like this one.
    pub(super) fn covers(&self, simple: &Simple) -> Option<&[String]> {
        let Target::Command(wanted) = &self.target else { return None };
        let heads = simple.words.get(..wanted.len())?;
        let is_same = |(wanted, word): (&String, &Word)| match word.fixed() {
            Some(it) => wanted == STAR || wanted == it,
            None => false,
        };
        wanted.iter().zip(heads).all(is_same).then_some(wanted.as_slice())
    }

    /// Whether a rule that asks or denies applies to a command.
    fn fit(&self, words: &[Word]) -> Fit {
        match &self.target {
            Target::Command(wanted) => fit(wanted, words),
            Target::Edit(_) | Target::Fetch(_) | Target::Network(_) | Target::Remote(_) => Fit::No,
        }
    }

    fn against(&self, fit: Fit, surety: Surety, shown: String) -> Against<'_> {
        let is_sure = fit == Fit::Sure && surety < Surety::Guess;
        let verdict = if is_sure { self.verdict } else { Verdict::Ask };
        Against { rule: self, verdict, fit, surety, shown }
    }

    /// If a rule that asks or denies applies to a text that a command runs, what it has against it.
    fn in_program(&self, program: &Program) -> Option<Against<'_>> {
        const WIDTH: usize = 8;
        let Target::Command(wanted) = &self.target else { return None };
        let is_meant = |it: &[Word]| {
            self.fit(it) == Fit::Sure
                || wanted.first() == Some(&program.name)
                    && fit_arguments(&program.name, &wanted[1..], it) == Fit::Sure
        };
        let words = &program.words;
        // the last word alone is no command of a program that needs arguments: `npx eslint rm`
        let is_idle = program.are_arguments && wanted.first().is_some_and(|it| is_idle(it));
        let end = words.len().saturating_sub(usize::from(is_idle));
        let mut parts =
            (0..end).map(|at| &words[at..words.len().min(at + WIDTH)]).filter(|it| is_meant(it));
        let shown = |it: &[Word]| format!("{} … {}", program.name, shown(&it[..it.len().min(2)]));
        let surety = if program.is_sure { Surety::Inner } else { Surety::Guess };
        parts.next().map(|it| self.against(Fit::Sure, surety, shown(it)))
    }
}

/// The positions of the words of a command that are texts and no paths.
pub(super) fn texts(simple: &Simple) -> Vec<usize> {
    if simple.name().is_some_and(|it| SAYERS.contains(&it)) {
        return (1..simple.words.len()).collect();
    }
    let words = simple.words.get(1..).unwrap_or_default();
    let texts = Manner::told(simple).map_or(Vec::new(), |it| it.texts(words));
    texts.into_iter().map(|it| it + 1).collect()
}

/// The parts of an argument that may be paths: the whole argument, the parts after `=`, `:`, `@` and commas, and what
/// follows one or more short options, as in `-f.env` and `-rf.env`. For programs that split lines, a single character after a short option is a
/// separator and no path.
fn places<'a>(word: &'a str, name: &str) -> impl Iterator<Item = &'a str> {
    const SPLITTERS: &[&str] = &["awk", "column", "cut", "join", "paste", "sort"];
    let whole = (!word.starts_with('-')).then_some(word);
    let glued = word.strip_prefix('-').filter(|it| !it.starts_with('-'));
    let glued = glued.into_iter().flat_map(|it| it.char_indices().skip(1).map(|(at, _)| &it[at..]));
    let is_mark = move |it: &&str| it.chars().count() < 2 && SPLITTERS.contains(&name);
    let glued = glued.filter(move |it| !is_mark(it));
    let inner = word.split(['=', ':', '@', ',']).skip(1);
    whole.into_iter().chain(glued).chain(inner)
}

/// The path that an argument means, without following symbolic links. `None` if it is outside of the root.
pub(super) fn resolved(root: &Path, folder: &str, written: &str) -> Option<PathBuf> {
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
