//! The user's own slash commands: Markdown files in folders of the project and of the user. When a message calls a
//! command, the command's text goes with the message, with the user's arguments put in.

mod allowed;
#[cfg(test)]
mod tests;

pub use allowed::Allowed;

use super::slash;
use crate::text::unseen::spelt_out;
use crate::tool::Desk;
use crate::tool::front::{self, Page};
use serde::Deserialize;
use serde_json::Value;
use std::path::PathBuf;

/// The folders of commands in a project, and those in the home folder. If two commands have the same name, the first
/// one is used.
const PROJECTS: [&str; 2] = [".caliban/commands", ".claude/commands"];
const USERS: [&str; 1] = [".claude/commands"];

/// The most bytes of a file, and of a command's text with the arguments in it.
const LIMIT: u64 = 64 * 1024;
const EXPANDED: usize = 256 * 1024;
/// The most characters of a command's description, and of its hint (the names of its arguments).
const LINE: usize = 200;
/// The most command files, and how deep their folders may be nested.
const FILES: usize = 500;
const DEPTH: usize = 5;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// The names of the file's folders and of the file without `.md`, joined by colons: `git:commit` for
    /// `git/commit.md`.
    pub name: String,
    /// The description in the front matter; without one, the first line of the text.
    pub description: String,
    /// The arguments, as the author names them: `[file] [lines]`. May be empty.
    pub hint: String,
    pub path: PathBuf,
    /// The model that the author wants for the command.
    pub model: Option<String>,
    /// What the command's turn may do.
    pub allowed: Allowed,
    body: String,
    /// The number of invisible characters in the text.
    hidden: usize,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub struct Commands {
    /// The project's commands and then the user's, each in the order of their names.
    pub found: Vec<Command>,
    /// One sentence for each problem.
    pub problems: Vec<String>,
}

/// The fields of the front matter that are read. Others are ignored.
#[derive(Default, Deserialize)]
struct Front {
    description: Option<Value>,
    #[serde(rename = "argument-hint")]
    hint: Option<Value>,
    model: Option<Value>,
    /// The field grants nothing; it only narrows what the command's turn may do.
    #[serde(rename = "allowed-tools")]
    allowed: Option<Value>,
}

/// A file that may be a command.
struct File {
    name: String,
    path: PathBuf,
    is_users: bool,
}

#[derive(Default)]
struct Files {
    found: Vec<File>,
    problems: Vec<String>,
}

/// All commands. A built-in command hides a file of the same name.
pub fn find(desk: &Desk) -> Commands {
    let Files { found: files, mut problems } = files(desk);
    let mut found: Vec<Command> = Vec::new();
    for file in files {
        let shown = desk.shown(&file.path);
        let name = &file.name;
        if slash::is_built_in(name) {
            problems.push(format!(
                "`{shown}` has the name of the built-in command /{name}. It was left out."
            ));
            continue;
        }
        if found.iter().any(|it| it.name == *name) {
            problems.push(format!(
                "`{shown}` has the same name as another command, /{name}. It was left out."
            ));
            continue;
        }
        match read(desk, &file) {
            Ok(command) => {
                problems.extend(command.warning(desk));
                found.push(command);
            }
            Err(why) => problems.push(format!("`{shown}` {why} It was left out.")),
        }
    }
    Commands { found, problems }
}

/// The command of this name, if there is one. If the file with this name is not a valid command, the error is a
/// sentence that says why.
pub fn get(desk: &Desk, name: &str) -> Result<Option<Command>, String> {
    let mut first = None;
    for file in files(desk).found.iter().filter(|it| it.name == name) {
        match read(desk, file) {
            Ok(command) => return Ok(Some(command)),
            Err(why) => {
                first.get_or_insert(format!("`{}` {why}", desk.shown(&file.path)));
            }
        }
    }
    first.map_or(Ok(None), Err)
}

/// A sentence about the user's own file of the same name, if this command of the project is used in its place.
pub fn shadowed(desk: &Desk, command: &Command) -> Option<String> {
    let files = files(desk).found;
    let is_same = |it: &&File| it.name == command.name;
    let is_projects = files.iter().any(|it| it.path == command.path && !it.is_users);
    let own = files.iter().filter(is_same).find(|it| it.is_users).filter(|_| is_projects)?;
    let (name, used, own) = (&command.name, desk.shown(&command.path), desk.shown(&own.path));
    Some(format!("/{name} is `{used}` of the project. Your own `{own}` was not used."))
}

fn files(desk: &Desk) -> Files {
    let mut files = Files::default();
    let places = front::places(desk, &PROJECTS, "commands", &USERS);
    for page in front::pages(desk, &places, DEPTH, FILES) {
        match page {
            Ok(Page { names, path, is_users }) => {
                files.add(desk, File { name: names.join(":"), path, is_users });
            }
            Err(problem) => files.problems.push(problem),
        }
    }
    files
}

impl Files {
    fn add(&mut self, desk: &Desk, file: File) {
        if !slash::is_word(&file.name) {
            let shown = desk.shown(&file.path).escape_debug().to_string();
            return self.problems.push(format!(
                "`{shown}` is not a command: the names of a command's file and folders have only letters from a to z, \
                 digits, - and _. It was left out."
            ));
        }
        if self.found.len() == FILES {
            let text = format!("There are more than {FILES} commands. The others were left out.");
            if !self.problems.contains(&text) {
                self.problems.push(text);
            }
            return;
        }
        self.found.push(file);
    }
}

/// Reads a command's file. The error is the rest of a sentence that begins with the file's name.
fn read(desk: &Desk, file: &File) -> Result<Command, String> {
    let text = front::load(desk, &file.path, file.is_users, "a command", LIMIT)?;
    let (yaml, body) = front::split(&text).unwrap_or(("", &text));
    let fields: Front = match yaml.trim() {
        "" => Front::default(),
        _ => front::parse(&quoted_hint(yaml))
            .map_err(|why| format!("has front matter that is not YAML ({why})."))?,
    };
    let (body, hidden) = spelt_out(body.trim());
    if body.is_empty() {
        return Err("has no text.".into());
    }
    let first = body.lines().next().unwrap_or_default().trim_start_matches(['#', ' ']).to_owned();
    let description = words_of(fields.description).filter(|it| !it.trim().is_empty());
    let model = words_of(fields.model).map(|it| front::line(&it, LINE).0);
    Ok(Command {
        name: file.name.clone(),
        description: front::line(&description.unwrap_or(first), LINE).0,
        hint: front::line(&words_of(fields.hint).unwrap_or_default(), LINE).0,
        path: file.path.clone(),
        model: model.filter(|it| !it.is_empty() && it != "inherit"),
        allowed: Allowed::read(fields.allowed.as_ref(), |it| desk.tools.find(it).is_some()),
        hidden,
        body: body.into_owned(),
    })
}

/// The text of a front matter field, whose value may be a word, a number or a list.
fn words_of(field: Option<Value>) -> Option<String> {
    match field? {
        Value::String(text) => Some(text),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// Puts quotes around a hint in brackets. YAML takes `[file]` for a list, and `[file] [lines]` for a mistake.
fn quoted_hint(yaml: &str) -> String {
    let line = |line: &str| match line.strip_prefix("argument-hint:").map(str::trim) {
        Some(hint) if hint.starts_with('[') => format!("argument-hint: {}\n", Value::from(hint)),
        _ => format!("{line}\n"),
    };
    yaml.lines().map(line).collect()
}

impl Command {
    /// The arguments and the description, in one line.
    pub fn about(&self) -> String {
        let texts = [self.hint.as_str(), self.description.as_str()];
        texts.iter().filter(|it| !it.is_empty()).copied().collect::<Vec<_>>().join("  ")
    }

    /// The line about the command in `/help`.
    pub fn help(&self, desk: &Desk) -> String {
        let gap = if self.hint.is_empty() { "" } else { " " };
        let shown = desk.shown(&self.path);
        format!("/{}{gap}{}  {} ({shown})", self.name, self.hint, self.description)
    }

    /// What the user is told about entries of `allowed-tools` that Caliban cannot apply.
    pub fn unknown_tools(&self, desk: &Desk) -> Option<String> {
        let (shown, unknown) = (desk.shown(&self.path), &self.allowed.unknown);
        (!unknown.is_empty()).then(|| {
            let list = front::line(&unknown.join("`, `"), LINE).0;
            format!(
                "`allowed-tools` in `{shown}` is only partly applied. Caliban has no such tool, or cannot apply the \
                 limit in brackets: `{list}`."
            )
        })
    }

    /// A sentence for the user about hidden characters in the text.
    pub fn warning(&self, desk: &Desk) -> Option<String> {
        let (shown, hidden) = (desk.shown(&self.path), self.hidden);
        (hidden > 0).then(|| {
            format!(
                "`{shown}` contains {hidden} invisible characters. The model sees them as [U+…]."
            )
        })
    }

    /// The command's text with the arguments put in: all of them for `$ARGUMENTS`, and one for each of `$1` to `$9`. If
    /// an argument contains such a name, the name stays as it is. Arguments that the text does not name are added at
    /// its end.
    pub fn expand(&self, arguments: &str) -> Result<String, String> {
        let words = words(arguments);
        let mut filled = Filled { arguments, words, text: String::new(), is_named: false };
        let mut fence = None;
        for line in self.body.split_inclusive('\n') {
            let mark = ["```", "~~~"].into_iter().find(|it| line.trim_start().starts_with(it));
            match (mark, fence) {
                (Some(_), None) => fence = mark,
                (Some(_), Some(_)) if mark == fence => fence = None,
                _ => (),
            }
            filled.add(line, fence.is_some());
            if filled.text.len() > EXPANDED {
                break;
            }
        }
        if !filled.is_named && !arguments.is_empty() {
            filled.text.push_str(&format!("\n\nARGUMENTS: {arguments}"));
        }
        if filled.text.len() > EXPANDED {
            let (name, most) = (&self.name, EXPANDED / 1024);
            return Err(format!(
                "With these arguments the text of /{name} has more than {most} kB."
            ));
        }
        Ok(filled.text)
    }
}

/// A command's text in which arguments are put.
struct Filled<'a> {
    arguments: &'a str,
    words: Vec<String>,
    text: String,
    /// Whether the text names an argument.
    is_named: bool,
}

impl Filled<'_> {
    /// Adds a line with the arguments put in. A backslash before a `$` keeps it as it is. `$1` is no argument in a block
    /// of code, between braces as in `awk '{print $1}'`, and before digits as in `$1.50`.
    fn add(&mut self, line: &str, is_code: bool) {
        let mut rest = line;
        while let Some(at) = rest.find('$') {
            let (before, behind) = (&rest[..at], &rest[at + 1..]);
            let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
            let end = behind.find(|c: char| !is_name(c)).unwrap_or(behind.len());
            let (name, after) = behind.split_at(end);
            let so_far = &line[..line.len() - rest.len() + at];
            let is_literal = || is_code || in_braces(so_far) || is_amount(after);
            let argument =
                |digit: u8| self.words.get(usize::from(digit - b'1')).map_or("", String::as_str);
            let value = match name.as_bytes() {
                _ if before.ends_with('\\') => None,
                b"ARGUMENTS" => Some(self.arguments),
                [digit @ b'1'..=b'9'] if !is_literal() => Some(argument(*digit)),
                _ => None,
            };
            self.is_named |= value.is_some();
            let before = before.strip_suffix('\\').filter(|_| !is_code).unwrap_or(before);
            self.text.push_str(before);
            self.text.push_str(value.unwrap_or(&rest[at..=at + end]));
            rest = after;
        }
        self.text.push_str(rest);
    }
}

/// Whether a text ends between braces.
fn in_braces(text: &str) -> bool {
    text.rfind('{').is_some_and(|it| !text[it..].contains('}'))
}

/// Whether a text goes on as an amount of money does after its first digits.
fn is_amount(text: &str) -> bool {
    let rest = text.strip_prefix(['.', ',']);
    rest.is_some_and(|it| it.starts_with(|c: char| c.is_ascii_digit()))
}

/// The words of the arguments. Quotes join words: `"two words"`.
fn words(arguments: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for c in arguments.chars() {
        match quote {
            Some(it) if it == c => quote = None,
            // a quote within a word is an apostrophe
            None if matches!(c, '"' | '\'') && word.is_none() => {
                quote = Some(c);
                word = Some(String::new());
            }
            None if c.is_whitespace() => words.extend(word.take()),
            Some(_) | None => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}
