//! Skills: folders with a `SKILL.md`. The model gets the name and description of each from the start, and its text on
//! demand.

use super::{Desk, disk, front, path};
use crate::text::unseen::spelt_out;
use serde::Deserialize;
use std::path::{Path, PathBuf};

const FILE: &str = "SKILL.md";
/// The most bytes of a `SKILL.md`, characters of a description (agentskills.io), and bytes of the list for the model.
const LIMIT: u64 = 64 * 1024;
const DESCRIPTION: usize = 1024;
const LIST: usize = 8 * 1024;
/// The most entries of a skills folder that are read, and files beside a `SKILL.md` that are listed.
const ENTRIES: usize = 500;
const BESIDE: usize = 50;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skill {
    pub name: String,
    /// The description in one line.
    pub description: String,
    /// The path of its `SKILL.md`.
    pub path: PathBuf,
    body: String,
}

/// The fields of the front matter that are read. Others are ignored.
#[derive(Deserialize)]
struct Front {
    name: Option<String>,
    description: Option<String>,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub struct Skills {
    /// The project's skills and then the user's, each in the order of their folders.
    pub found: Vec<Skill>,
    /// One sentence for each problem.
    pub problems: Vec<String>,
}

/// The available skills. If two have the same name, the project's counts.
pub fn find(desk: &Desk) -> Skills {
    let mut skills = Skills::default();
    for folder in [desk.root.join(".caliban/skills"), users(desk)] {
        for path in folders(&folder) {
            let shown = desk.shown(&path.join(FILE));
            match read(desk, &path.join(FILE)) {
                Ok((skill, problem)) => skills.add(skill, problem, &shown),
                Err(why) => skills.problems.push(format!("`{shown}` {why} It was left out.")),
            }
        }
    }
    if let (_, more @ 1..) = skills.list() {
        skills.problems.push(format!(
            "The model is not told of {more} skills: the list of skills has more than {} kB. Shorten their \
             descriptions.",
            LIST / 1024
        ));
    }
    skills
}

/// The user's own folder of skills.
pub fn users(desk: &Desk) -> PathBuf {
    desk.config.join("skills")
}

/// The folders with a `SKILL.md`, sorted by name.
fn folders(of: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(of).into_iter().flatten().flatten().take(ENTRIES);
    let mut folders: Vec<PathBuf> =
        entries.map(|it| it.path()).filter(|it| it.join(FILE).symlink_metadata().is_ok()).collect();
    folders.sort();
    folders
}

impl Skills {
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
            let names: Vec<&str> = self.found.iter().map(|it| it.name.as_str()).collect();
            if names.is_empty() {
                return format!("There is no skill `{name}`. There are no skills at all.");
            }
            format!("There is no skill `{name}`. There are: {}.", names.join(", "))
        })
    }

    /// The list of skills for the model, and how many of them did not fit.
    pub fn list(&self) -> (String, usize) {
        let mut list = String::new();
        for (at, it) in self.found.iter().enumerate() {
            let line = format!("- {}: {}\n", it.name, it.description);
            if list.len() + line.len() > LIST {
                return (list, self.found.len() - at);
            }
            list.push_str(&line);
        }
        (list, 0)
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
        format!(
            "The skill `{}`. Its relative paths begin at {shown}.{files}\n\n{}",
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

/// A skill, and perhaps a problem with it. The error follows the skill's path in a sentence.
fn read(desk: &Desk, path: &Path) -> Result<(Skill, Option<String>), String> {
    let is_users = path.starts_with(&desk.config);
    let real = std::fs::canonicalize(path).map_err(|_| "is a broken link.".to_owned())?;
    if !is_users && !path::inside(&desk.root, &real) {
        return Err("leads out of the project.".into());
    }
    if !is_users && !path::is_free(desk, &real) {
        return Err("leads to a file that Caliban does not read without asking you.".into());
    }
    let size = real.metadata().map_or(0, |it| it.len());
    if size > LIMIT {
        return Err(format!(
            "has {} kB, and a skill may have {}: move parts of it into files beside it.",
            size.div_ceil(1024),
            LIMIT / 1024
        ));
    }
    let text = disk::load(&real).map_err(|why| format!("{}.", why.say()))?.content;
    let (yaml, body) = front::split(&text).ok_or("has no front matter between two lines `---`.")?;
    let front: Front =
        front::parse(yaml).map_err(|why| format!("has front matter that is not YAML ({why})."))?;
    let name = front.name.ok_or("has no `name` in its front matter.")?;
    if !is_name(&name) {
        let name: String = name.chars().take(80).collect();
        return Err(format!(
            "has the name {name:?}: a name has at most 64 lower-case letters, digits and single hyphens."
        ));
    }
    let description = front.description.unwrap_or_default();
    let description = description.split_whitespace().collect::<Vec<_>>().join(" ");
    if description.is_empty() {
        return Err("has no `description` in its front matter.".into());
    }
    let (short, body) = (spelt_out(&description).0, spelt_out(body.trim()).0.into_owned());
    let mut problem = None;
    let description = match short.char_indices().nth(DESCRIPTION) {
        Some((end, _)) => {
            problem = Some(format!(
                "has a description of more than {DESCRIPTION} characters: it was cut."
            ));
            format!("{}…", &short[..end])
        }
        None => short.into_owned(),
    };
    let folder = path.parent().and_then(Path::file_name).unwrap_or_default();
    if folder != name.as_str() {
        let said = format!("has the name `{name}`, unlike its folder: `{name}` counts.");
        problem.get_or_insert(said);
    }
    Ok((Skill { name, description, path: path.to_owned(), body }, problem))
}

fn is_name(name: &str) -> bool {
    let is_part = |part: &str| {
        !part.is_empty() && part.bytes().all(|it| it.is_ascii_lowercase() || it.is_ascii_digit())
    };
    name.len() <= 64 && name.split('-').all(is_part)
}
