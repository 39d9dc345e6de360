//! Markdown files with front matter (YAML between two lines `---`), in folders of the project and of the user.

use super::{Desk, disk, path};
use crate::text::unseen::spelt_out;
use serde::de::DeserializeOwned;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// A folder in which files with front matter are looked for.
pub struct Place {
    pub path: PathBuf,
    pub is_users: bool,
}

/// The folders to look in: `projects` in the project, `own` in the user's configuration folder for Caliban, and `homes`
/// in the home folder.
pub fn places(desk: &Desk, projects: &[&str], own: &str, homes: &[&str]) -> Vec<Place> {
    let projects: Vec<PathBuf> = projects.iter().map(|it| desk.root.join(it)).collect();
    let homes = desk.home.iter().flat_map(|home| homes.iter().map(|it| home.join(it)));
    let users = std::iter::once(desk.config.join(own)).chain(homes);
    // if the project is the home folder, its folders count only once
    let users: Vec<PathBuf> = users.filter(|it| !projects.contains(it)).collect();
    let place = |is_users| move |path| Place { path, is_users };
    projects.into_iter().map(place(false)).chain(users.into_iter().map(place(true))).collect()
}

/// A Markdown file in one of the folders.
pub struct Page {
    /// The names of the folders below the place, and the name of the file without `.md`.
    pub names: Vec<String>,
    pub path: PathBuf,
    pub is_users: bool,
}

/// The Markdown files of these places and of the folders in them, which may be nested `depth` deep. The files of a
/// folder are sorted by name. Hidden files are left out. At most `most` folders are read, and `most` entries of each.
/// The error is a sentence about a folder that was left out.
pub fn pages(
    desk: &Desk,
    places: &[Place],
    depth: usize,
    most: usize,
) -> Vec<Result<Page, String>> {
    let mut walk = Walk { desk, most, pages: Vec::new(), seen: HashSet::new() };
    for place in places {
        walk.folder(place, &place.path, &[], depth);
    }
    walk.pages
}

struct Walk<'a> {
    desk: &'a Desk,
    most: usize,
    pages: Vec<Result<Page, String>>,
    /// The real paths of the folders that were read, so that no folder is read twice through a symbolic link.
    seen: HashSet<PathBuf>,
}

impl Walk<'_> {
    fn folder(&mut self, place: &Place, folder: &Path, names: &[String], depth: usize) {
        let Ok(real) = folder.canonicalize() else { return };
        if depth == 0 || self.seen.len() == self.most || !self.seen.insert(real.clone()) {
            return;
        }
        if !place.is_users && !path::inside(&self.desk.root, &real) {
            let shown = self.desk.shown(folder);
            let text = format!("`{shown}` leads out of the project. It was left out.");
            return self.pages.push(Err(text));
        }
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().take(self.most);
        let mut paths: Vec<PathBuf> = entries.map(|it| it.path()).collect();
        paths.sort();
        for path in paths {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if name.starts_with('.') {
                continue;
            }
            let names_with = |name: &str| [names, &[name.to_owned()]].concat();
            if path.is_dir() {
                self.folder(place, &path, &names_with(&name), depth - 1);
            } else if let Some(stem) = name.strip_suffix(".md") {
                let (names, is_users) = (names_with(stem), place.is_users);
                self.pages.push(Ok(Page { names, path, is_users }));
            }
        }
    }
}

/// The text of a file of at most `most` bytes. `noun` is the word for the kind of file: `a skill`. A symbolic link in
/// the project may lead only to a file of the project that may be read without consent. The error is the rest of a
/// sentence that begins with the file's name.
pub fn load(
    desk: &Desk,
    path: &Path,
    is_users: bool,
    noun: &str,
    most: u64,
) -> Result<String, String> {
    let real = std::fs::canonicalize(path).map_err(|_| "is a broken link.".to_owned())?;
    if !is_users && !path::inside(&desk.root, &real) {
        return Err("leads out of the project.".into());
    }
    if !is_users && !path::is_free(desk, &real) {
        return Err("leads to a file that Caliban does not read without asking you.".into());
    }
    let size = real.metadata().map_or(0, |it| it.len());
    if size > most {
        return Err(format!(
            "has {} kB, but {noun} may have at most {}: move parts of it into other files.",
            size.div_ceil(1024),
            most / 1024
        ));
    }
    Ok(disk::load(&real).map_err(|why| format!("{}.", why.say()))?.content)
}

/// A text in one line, with invisible characters spelt out, and whether it was cut to `most` characters.
pub fn line(text: &str, most: usize) -> (String, bool) {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let text = spelt_out(&text).0.into_owned();
    match text.char_indices().nth(most) {
        Some((end, _)) => (format!("{}…", &text[..end]), true),
        None => (text, false),
    }
}

/// A list for the model: the names and descriptions that fit into `most` bytes, and the number of the others.
pub fn list<'a>(all: impl IntoIterator<Item = (&'a str, &'a str)>, most: usize) -> (String, usize) {
    let (mut list, mut more) = (String::new(), 0);
    for (name, description) in all {
        let colon = if description.is_empty() { "" } else { ": " };
        let line = format!("- {name}{colon}{description}\n");
        if more > 0 || list.len() + line.len() > most {
            more += 1;
        } else {
            list.push_str(&line);
        }
    }
    (list, more)
}

/// Splits a file into the YAML of its front matter and the text after it.
pub fn split(text: &str) -> Option<(&str, &str)> {
    let rest = text.strip_prefix("---")?.trim_start_matches([' ', '\t']).strip_prefix('\n')?;
    let mut at = 0;
    for line in rest.split_inclusive('\n') {
        if line.trim_end() == "---" {
            return Some((&rest[..at], &rest[at + line.len()..]));
        }
        at += line.len();
    }
    None
}

/// The fields of `yaml`. The error is the first line of the parser's message.
///
/// Many authors write a colon in a value without quotes (`description: Use it when: …`), or begin a value with a sign that
/// has a meaning (`[beta] Lints`, `@owner`), which is not valid YAML. If the YAML cannot be parsed, such values of the
/// outermost fields are read as if they had quotes.
pub fn parse<T: DeserializeOwned>(yaml: &str) -> Result<T, String> {
    parse_at(yaml, 1)
}

/// Does the same as `parse` for YAML whose first line `---` is the file's line `line`.
pub fn parse_at<T: DeserializeOwned>(yaml: &str, line: usize) -> Result<T, String> {
    // empty lines before the YAML make the line numbers in errors correct
    let before = "\n".repeat(line);
    let lines = |yaml: &str| serde_saphyr::from_str(&format!("{before}{yaml}"));
    let parsed = lines(yaml).or_else(|fault| lines(&quoted(yaml)).map_err(|_| fault));
    parsed.map_err(|fault| {
        let said = fault.to_string();
        let first = said.lines().next().unwrap_or_default();
        first.trim_start_matches("error: ").trim_end_matches('.').to_owned()
    })
}

/// Puts quotes around each value of an outermost field that has no quotes and contains `: ` or begins with a sign that
/// has a meaning in YAML. The value's lines are joined.
fn quoted(yaml: &str) -> String {
    let mut fields: Vec<Vec<&str>> = Vec::new();
    for line in yaml.lines() {
        match fields.last_mut() {
            Some(field) if line.starts_with([' ', '\t']) => field.push(line.trim()),
            _ => fields.push(vec![line]),
        }
    }
    let quoted = |field: &Vec<&str>| {
        let whole = field.join(" ");
        let (key, value) = whole.split_once(": ")?;
        let value = value.trim_start();
        let is_plain = !key.starts_with(['-', '#'])
            && !value.starts_with(['"', '\'', '|', '>', '[', '{', '&', '*', '!']);
        let is_odd = is_plain && whole.matches(": ").count() > 1 || begins_oddly(value);
        let value = serde_json::Value::from(value.trim_end());
        is_odd.then(|| format!("{key}: {value}"))
    };
    let fields = fields.iter().map(|it| quoted(it).unwrap_or_else(|| it.join("\n  ")));
    fields.collect::<Vec<_>>().join("\n")
}

/// Whether a value begins with a sign that no text may begin with, or with brackets that end before the text does.
fn begins_oddly(value: &str) -> bool {
    let goes_on = |close: char| {
        let rest = value.split_once(close).map_or("", |it| it.1).trim_start();
        !rest.is_empty() && !rest.starts_with(['#', close])
    };
    match value.chars().next() {
        Some('@' | '`' | '%') => true,
        Some('[') => goes_on(']'),
        Some('{') => goes_on('}'),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn check(yaml: &str, expected: Result<&[(&str, &str)], &str>) {
        let parsed = parse::<BTreeMap<String, String>>(yaml);
        let expected = expected
            .map(|it| it.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect());
        assert_eq!(parsed, expected.map_err(str::to_owned), "{yaml}");
    }

    #[test]
    fn yaml_is_read_and_colons_in_unquoted_values_are_tolerated() {
        check("a: x # note\n", Ok(&[("a", "x")]));
        check("a: \"x\" # note\n", Ok(&[("a", "x")]));
        check("a: |\n  x\n  y\n", Ok(&[("a", "x\ny\n")]));
        check("a: >-\r\n  x\r\n  y\r\n", Ok(&[("a", "x y")]));
        check("a: Use it when: always\nb: y\n", Ok(&[("a", "Use it when: always"), ("b", "y")]));
        check("a: one\n  two: three\n", Ok(&[("a", "one two: three")]));
        check("a: [beta] Lints: all\n", Ok(&[("a", "[beta] Lints: all")]));
        check("a: {x} and {y}\nb: `c` d\n", Ok(&[("a", "{x} and {y}"), ("b", "`c` d")]));
        check("a: @owner\nc: %d\n", Ok(&[("a", "@owner"), ("c", "%d")]));
    }

    #[test]
    fn an_error_in_yaml_names_its_line() {
        check("a: x\nb: \"y\n", Err("line 3 column 4: unclosed quote"));
        check("a: [x\n", Err("line 2 column 4: expected string scalar"));
    }

    /// In this YAML each alias doubles the text, so a few lines would grow to gigabytes.
    #[test]
    fn yaml_that_grows_by_aliases_is_refused() {
        let mut yaml = "a0: &a0 [x, x]\n".to_owned();
        for n in 1..40 {
            let before = n - 1;
            yaml.push_str(&format!("a{n}: &a{n} [*a{before}, *a{before}]\n"));
        }
        assert!(parse::<serde_json::Value>(&yaml).is_err());
    }
}
