//! Git under other names, and its options before the subcommand.

use super::super::runs;
use super::super::script::Script;
use super::super::simple::{Simple, Surety, Word};

/// Adds the subcommand of git that runs under another name: `git-push`, or an alias that a setting or a variable holds.
/// Adds a push with further options if a setting may hold them, and the command of a remote: `ext::ssh a %S b`.
pub(super) fn of_git(script: &mut Script, simple: &Simple, name: &str, depth: usize) {
    const TRANSPORTS: &[&str] = &["=ext::", "url.ext::"];
    const RENAMES: &[&str] = &["alias.", "include.", "includeif."];
    let has =
        |is: &dyn Fn(&str) -> bool| simple.words[1..].iter().any(|it| is(setting(it).as_str()));
    let is_renaming =
        |it: &str| it == CONFIG_ENV || RENAMES.iter().any(|head| it.starts_with(head));
    let is_pushing = |it: &str| {
        let key = it.split('=').next().unwrap_or_default();
        let is_of_remote = matches!(key.rsplit('.').next(), Some("push" | "mirror"));
        key.starts_with("push.") || key.starts_with("remote.") && is_of_remote
    };
    let git = || Word::Fixed("git".into());
    if name == "git" {
        if has(&|it| it == CONFIG_ENV) {
            script.unclear("A variable holds a setting of `git`, which may run a command".into());
        }
        for it in simple.words.iter().map(Word::shown) {
            let inner = || TRANSPORTS.iter().find_map(|mark| Some(it.split_once(mark)?.1));
            if let Some(line) = it.strip_prefix("ext::").or_else(inner) {
                runs::line(script, line, depth);
            }
        }
    }
    let mut add = |words: Vec<Word>, surety| script.commands.push(Simple { words, surety });
    let verb = match name.strip_prefix("git-") {
        Some(verb) => Some(Word::Fixed(verb.into())),
        None if name != "git" => return,
        None => has(&is_renaming).then(|| Word::Open("alias".into())),
    };
    if let Some(verb) = verb {
        let words = [git(), verb].into_iter().chain(simple.words[1..].iter().cloned());
        add(words.collect(), Surety::Inner);
    }
    let has_settings = has(&|it| it == "config" || it == CONFIG_ENV)
        || simple.words.iter().any(|it| it.shown().starts_with("-c"));
    if has_settings && has(&is_pushing) {
        let open = || Word::Open("settings".into());
        add(simple.words.iter().cloned().chain([open()]).collect(), Surety::Inner);
        // a later push of the line uses what `git config` sets
        add(vec![git(), Word::Fixed("push".into()), open()], Surety::Guess);
    }
}

/// The option of git by which a variable holds a setting.
const CONFIG_ENV: &str = "--config-env";

/// An argument of git as the setting that it may be.
fn setting(word: &Word) -> String {
    let text = word.shown();
    if text.starts_with("--config-e") {
        return CONFIG_ENV.to_owned();
    }
    text.strip_prefix("-c").unwrap_or(text).to_ascii_lowercase()
}

impl Simple {
    /// A command of git without the options before its subcommand that change neither what the subcommand does nor
    /// what it runs, if it has such options. The folders of `-C` are in the script's `folders`.
    pub fn without_options(&self) -> Option<Simple> {
        let at = self.first_verb()?;
        let words = [&self.words[..1], &self.words[at..]].concat();
        (at > 1).then_some(Simple { words, surety: self.surety })
    }

    /// The position of git's subcommand.
    fn first_verb(&self) -> Option<usize> {
        const FLAGS: &[&str] = &[
            "--literal-pathspecs",
            "--no-advice",
            "--no-lazy-fetch",
            "--no-optional-locks",
            "--no-pager",
            "--no-replace-objects",
            "-P",
        ];
        const SETTINGS: &[&str] = &[
            "color.ui=always",
            "color.ui=auto",
            "color.ui=false",
            "color.ui=never",
            "core.pager=cat",
            "core.quotePath=false",
            "core.quotepath=false",
        ];
        let mut words = self.words.iter().map(Word::fixed);
        if words.next()? != Some("git") {
            return None;
        }
        let mut at = 1;
        loop {
            let value = self.words.get(at + 1).and_then(Word::fixed);
            at += match self.words.get(at)?.fixed()? {
                it if FLAGS.contains(&it) => 1,
                "-C" if value.is_some_and(|it| !it.is_empty()) => 2,
                "-c" if value.is_some_and(|it| SETTINGS.contains(&it)) => 2,
                it if it.starts_with('-') => return None,
                _ => return Some(at),
            };
        }
    }

    /// The folders in which git works because of its options `-C`.
    pub(super) fn folders(&self) -> Vec<Word> {
        let Some(verb) = self.first_verb() else { return Vec::new() };
        let pairs = self.words[..verb].windows(2);
        pairs.filter(|it| it[0].fixed() == Some("-C")).map(|it| it[1].clone()).collect()
    }
}
