//! Skills: folders with a `SKILL.md`. The model gets the names and descriptions of all skills at the beginning of a
//! conversation, and the text of a skill when it asks for it.

use super::{Desk, front};
use crate::message::{Excerpt, ExcerptKind};
use crate::text::{counted, unseen::spelt_out};
use serde::Deserialize;
use serde_json::Value;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

pub use super::usable::Usable;

/// The folders of skills in a project, and those in the home folder. If two skills have the same name, the first one is
/// used.
const PROJECTS: [&str; 4] = [".caliban/skills", ".agents/skills", ".claude/skills", ".skills"];
pub const USERS: [&str; 2] = [".agents/skills", ".claude/skills"];

pub const FILE: &str = "SKILL.md";
/// The most bytes of a `SKILL.md`, the most characters of a description and of a compatibility note (from the
/// specification at agentskills.io), and the most bytes of the list for the model.
const LIMIT: u64 = 64 * 1024;
const DESCRIPTION: usize = 1024;
const COMPATIBILITY: usize = 500;
const LIST: usize = 8 * 1024;
/// The most entries of a skills folder that are read, and the most files beside a `SKILL.md` that are listed.
const ENTRIES: usize = 500;
const BESIDE: usize = 50;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skill {
    pub name: String,
    /// The description in one line.
    pub description: String,
    /// The skill's requirements, in one line; empty if it names none.
    pub compatibility: String,
    /// The path of the skill's `SKILL.md`.
    pub path: PathBuf,
    body: String,
    /// The whole text of the file.
    written: String,
    is_users: bool,
}

/// The fields of the front matter that are read. Others are ignored: `allowed-tools` grants nothing, and `license` and
/// `metadata` are for people.
#[derive(Deserialize)]
struct Front {
    name: Option<Value>,
    description: Option<Value>,
    compatibility: Option<Value>,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub struct Skills {
    /// The project's skills and then the user's, each in the order of their folders.
    pub found: Vec<Skill>,
    /// The project's skills that are not used, because the user has not agreed to their text.
    pub unused: Vec<Skill>,
    /// One sentence for each problem.
    pub problems: Vec<String>,
    /// The names of the folders whose skill was left out, each with the sentence that says why.
    left_out: Vec<(String, String)>,
}

/// The available skills. If two skills have the same name, the first one is used. A file that is found through two
/// folders counts once.
pub fn find(desk: &Desk) -> Skills {
    search(desk, &desk.skills)
}

/// The files of the project's skills, also of those to which the user has not agreed.
pub fn of_project(desk: &Desk) -> Vec<Excerpt> {
    let found = search(desk, &Usable::All).found.into_iter();
    let file = |it: Skill| Excerpt {
        path: desk.shown(&it.path),
        kind: ExcerptKind::Skill,
        text: it.written,
        ..Excerpt::default()
    };
    found.filter(|it| !it.is_users).map(file).collect()
}

fn search(desk: &Desk, usable: &Usable) -> Skills {
    let mut skills = Skills::default();
    let mut seen = HashSet::new();
    for place in places(desk) {
        for path in folders(&place.path) {
            let path = path.join(FILE);
            let real = path.canonicalize().unwrap_or_default();
            if seen.contains(&real) {
                continue;
            }
            let shown = desk.shown(&path);
            match read(desk, &path, place.is_users) {
                Ok((skill, _)) if !place.is_users && !usable.has(&shown, &skill.written) => {
                    skills.unused.push(skill);
                }
                Ok((skill, problem)) => {
                    seen.insert(real);
                    skills.add(skill, problem, &shown);
                }
                Err(why) => skills.leave_out(&path, format!("`{shown}` {why} It was left out.")),
            }
        }
        skills.problems.extend(misnamed(desk, &place.path));
    }
    if let (_, more @ 1..) = skills.list() {
        skills.problems.push(format!(
            "The list of skills is longer than {} kB, so the model does not see {}. Shorten the \
             descriptions of skills.",
            LIST / 1024,
            counted(more, "skill")
        ));
    }
    skills
}

/// The folders in which skills are looked for, as the user would write them.
pub fn named(desk: &Desk) -> Vec<String> {
    places(desk).iter().map(|it| desk.shown(&it.path)).collect()
}

fn places(desk: &Desk) -> Vec<front::Place> {
    front::places(desk, &PROJECTS, "skills", &USERS)
}

/// The folders with a `SKILL.md`, sorted by name.
fn folders(of: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(of).into_iter().flatten().flatten().take(ENTRIES);
    let mut folders: Vec<PathBuf> =
        entries.map(|it| it.path()).filter(|it| it.join(FILE).symlink_metadata().is_ok()).collect();
    folders.sort();
    folders
}

/// A sentence for each folder without a `SKILL.md` that has a file whose name differs from this one in upper and lower
/// case only.
fn misnamed(desk: &Desk, of: &Path) -> Vec<String> {
    let entries = |of: &Path| std::fs::read_dir(of).into_iter().flatten().flatten().take(ENTRIES);
    let is_wrong = |it: &PathBuf| {
        let name = it.file_name().unwrap_or_default();
        name != FILE && name.eq_ignore_ascii_case(FILE) && !it.with_file_name(FILE).exists()
    };
    let mut found: Vec<PathBuf> = entries(of)
        .filter(|it| it.path().is_dir())
        .flat_map(|it| entries(&it.path()).map(|it| it.path()).collect::<Vec<_>>())
        .filter(is_wrong)
        .collect();
    found.sort();
    let said = |it: &PathBuf| {
        format!("`{}` is not a skill: the file's name has to be `{FILE}`.", desk.shown(it))
    };
    found.iter().map(said).collect()
}

impl Skills {
    fn leave_out(&mut self, path: &Path, why: String) {
        let folder = path.parent().and_then(Path::file_name).unwrap_or_default();
        self.left_out.push((folder.to_string_lossy().into_owned(), why.clone()));
        self.problems.push(why);
    }

    fn add(&mut self, skill: Skill, problem: Option<String>, shown: &str) {
        if self.found.iter().any(|it| it.name == skill.name) {
            let text = format!("`{shown}` has the same name as another skill, `{}`.", skill.name);
            return self.problems.push(format!("{text} It was left out."));
        }
        self.problems.extend(problem.map(|it| format!("`{shown}` {it}")));
        self.found.push(skill);
    }

    pub fn get(&self, name: &str) -> Result<&Skill, String> {
        self.found.iter().find(|it| it.name == name).ok_or_else(|| {
            if self.is_unused(name) {
                return format!(
                    "The skill `{name}` of the project is not used, because the user has not agreed to its text. \
                     `/rules` asks about refused texts again."
                );
            }
            if let Some((_, why)) = self.left_out.iter().find(|it| it.0 == name) {
                return format!("There is no skill `{name}`. {why}");
            }
            let names: Vec<&str> = self.found.iter().map(|it| it.name.as_str()).collect();
            if names.is_empty() {
                return format!("There is no skill `{name}`. There are no skills at all.");
            }
            format!("There is no skill `{name}`. The skills are: {}.", names.join(", "))
        })
    }

    /// Whether a skill of this name is not used, because the user has not agreed to its text.
    pub fn is_unused(&self, name: &str) -> bool {
        let is_named = |it: &Skill| it.name == name;
        !self.found.iter().any(is_named) && self.unused.iter().any(is_named)
    }

    /// The list of skills for the model, and the number of skills that did not fit into the list.
    pub fn list(&self) -> (String, usize) {
        front::list(self.found.iter().map(|it| (&*it.name, &*it.description)), LIST)
    }
}

impl Skill {
    /// The skill's text for the model, with the paths of its folder and files.
    pub fn text(&self, desk: &Desk) -> String {
        let folder = self.path.parent().unwrap_or(&self.path);
        let shown = desk.shown(folder);
        let beside = beside(folder);
        let files = if beside.is_empty() {
            String::new()
        } else {
            format!(" Other files in its folder: {}.", beside.join(", "))
        };
        let needs = if self.compatibility.is_empty() {
            String::new()
        } else {
            format!(" Its requirements: {}", self.compatibility)
        };
        format!(
            "The skill `{}`. Paths in the skill are relative to {shown}.{files}{needs}\n\n{}",
            self.name, self.body
        )
    }
}

/// The files in a skill's folder, two levels deep, except its `SKILL.md`.
fn beside(folder: &Path) -> Vec<String> {
    let walk = ignore::WalkBuilder::new(folder)
        .standard_filters(false)
        .max_depth(Some(2))
        .sort_by_file_path(Ord::cmp)
        .build();
    let files = walk.flatten().filter(|it| it.file_type().is_some_and(|it| it.is_file()));
    let names =
        files.filter_map(|it| Some(it.path().strip_prefix(folder).ok()?.display().to_string()));
    names.filter(|it| it != FILE).take(BESIDE).collect()
}

/// Reads a skill. Returns the skill, and a problem with it, if any. The error is the rest of a sentence that begins
/// with the skill's path.
fn read(desk: &Desk, path: &Path, is_users: bool) -> Result<(Skill, Option<String>), String> {
    let text = front::load(desk, path, is_users, "a skill", LIMIT)?;
    let (yaml, body) = front::split(&text).ok_or("has no front matter between two lines `---`.")?;
    let front: Front =
        front::parse(yaml).map_err(|why| format!("has front matter that is not YAML ({why})."))?;
    let name = words_of(front.name).ok_or("has no `name` in its front matter.")?;
    if !is_name(&name) {
        let name: String = name.chars().take(80).collect();
        return Err(format!(
            "has the name {name:?}, but a name has at most 64 characters: lower-case letters, digits, and single \
             hyphens between them."
        ));
    }
    let (description, is_cut) =
        front::line(&words_of(front.description).unwrap_or_default(), DESCRIPTION);
    if description.is_empty() {
        return Err("has no `description` in its front matter.".into());
    }
    let folder = path.parent().and_then(Path::file_name).unwrap_or_default();
    let cut = || format!("has a description of more than {DESCRIPTION} characters: it was cut.");
    let other = || {
        format!("has the name `{name}`, but its folder has another name. Caliban uses `{name}`.")
    };
    let problem = is_cut.then(cut).or_else(|| (folder != name.as_str()).then(other));
    let compatibility = front.compatibility.as_ref().and_then(Value::as_str);
    let compatibility = front::line(compatibility.unwrap_or_default(), COMPATIBILITY).0;
    let body = spelt_out(body.trim()).0.into_owned();
    let (path, written) = (path.to_owned(), text);
    Ok((Skill { name, description, compatibility, path, body, written, is_users }, problem))
}

/// The text of a field, whose value may be a word, a number or a list of words.
fn words_of(field: Option<Value>) -> Option<String> {
    match field? {
        Value::String(text) => Some(text),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(it) => Some(it.to_string()),
        Value::Array(all) => {
            let words: Vec<String> = all.into_iter().filter_map(|it| words_of(Some(it))).collect();
            Some(words.join(", "))
        }
        Value::Null | Value::Object(_) => None,
    }
}

fn is_name(name: &str) -> bool {
    let is_part = |part: &str| {
        !part.is_empty() && part.bytes().all(|it| it.is_ascii_lowercase() || it.is_ascii_digit())
    };
    name.len() <= 64 && name.split('-').all(is_part)
}
