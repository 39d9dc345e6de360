//! Circles in the Rust code of `src`: files of which each takes a name from the next, and the last one from the first.
//! A name counts for the file that defines the name, also if it is taken through a re-export. The files that are still in
//! a circle are listed in `circling.txt`, which only becomes shorter.

use super::source::Source;
use std::collections::{BTreeMap, BTreeSet};

/// A file as a module. A module's name is its path from the root, as in `agent::rewind`.
#[derive(Default)]
struct Module {
    file: String,
    children: BTreeSet<String>,
    /// What the file defines outside of functions and `impl` blocks.
    items: BTreeSet<String>,
    /// Those of them that a path may go on from.
    types: BTreeSet<String>,
    /// What `use` brings in: the name here, and its path. The name of a glob import is `*`.
    uses: Vec<(String, Vec<String>)>,
    /// What the file takes: the paths in its code, and of `use`. What it only hands on is not among them.
    taken: Vec<Vec<String>>,
}

/// No path has more parts.
const LONGEST: usize = 8;

type Modules = BTreeMap<String, Module>;
/// The names that a file takes from each other file.
type Arrows<'a> = BTreeMap<&'a str, BTreeMap<&'a str, BTreeSet<String>>>;

/// The circles of these files, and the rows of `known` that are in none.
pub(super) fn circles(files: &[(String, String)], known: &[&str]) -> Vec<String> {
    let modules: Modules = files.iter().map(|(path, text)| module(path, text)).collect();
    let mut arrows = Arrows::new();
    for (name, module) in &modules {
        for (to, taken) in module.taken.iter().flat_map(|path| defined(&modules, name, path)) {
            if to != module.file {
                arrows.entry(&module.file).or_default().entry(to).or_default().insert(taken);
            }
        }
    }
    let reached: BTreeMap<&str, BTreeSet<&str>> =
        arrows.keys().map(|from| (*from, reached(from, &arrows))).collect();
    let mut found = Vec::new();
    let mut circling: BTreeSet<&str> = BTreeSet::new();
    for (from, all) in reached.iter().filter(|(from, all)| all.contains(*from)) {
        if circling.contains(from) {
            continue;
        }
        let ring = all.iter().filter(|it| reached.get(*it).is_some_and(|back| back.contains(from)));
        let ring: BTreeSet<&str> = ring.copied().collect();
        circling.extend(&ring);
        if !ring.iter().all(|it| known.contains(it)) {
            found.push(told(&ring, &arrows));
        }
    }
    let free = known.iter().filter(|it| !circling.contains(*it));
    found.extend(free.map(|it| format!("{it}: is in no circle any more and leaves the list")));
    found
}

/// A circle and the names that tie it.
fn told(ring: &BTreeSet<&str>, arrows: &Arrows) -> String {
    let mut told = format!("a circle of {} files", ring.len());
    for (from, to, names) in ring.iter().flat_map(|from| {
        arrows[from].iter().filter(|(to, _)| ring.contains(*to)).map(move |(to, it)| (from, to, it))
    }) {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        told.push_str(&format!("\n  {from} takes from {to}: {}", names.join(", ")));
    }
    told
}

fn reached<'a>(from: &'a str, arrows: &Arrows<'a>) -> BTreeSet<&'a str> {
    let (mut seen, mut open) = (BTreeSet::new(), vec![from]);
    while let Some(at) = open.pop() {
        let next = arrows.get(at).into_iter().flat_map(|it| it.keys().copied());
        open.extend(next.filter(|it| seen.insert(*it)));
    }
    seen
}

/// The files that define what a path means in a module, each with the name that is taken from it. Paths into other
/// crates mean nothing.
fn defined<'a>(all: &'a Modules, at: &str, path: &[String]) -> BTreeSet<(&'a str, String)> {
    let mut found = BTreeSet::new();
    let mut open = vec![(at.to_owned(), path.to_vec())];
    let mut seen = BTreeSet::new();
    while let Some((at, path)) = open.pop() {
        let (Some(module), Some((first, rest))) = (all.get(&at), path.split_first()) else {
            continue;
        };
        if path.len() > LONGEST || !seen.insert((at.clone(), path.clone())) {
            continue;
        }
        match first.as_str() {
            "crate" => open.push((String::new(), rest.to_vec())),
            "self" => open.push((at.clone(), rest.to_vec())),
            "super" => {
                let parent = at.rsplit_once("::").map_or("", |(parent, _)| parent);
                open.push((parent.to_owned(), rest.to_vec()));
            }
            _ => {
                if (if rest.is_empty() { &module.items } else { &module.types }).contains(first) {
                    found.insert((module.file.as_str(), first.clone()));
                }
                if module.children.contains(first) {
                    let child = format!("{at}::{first}").trim_start_matches("::").to_owned();
                    open.push((child, rest.to_vec()));
                }
                open.extend(module.imported(&path).into_iter().map(|path| (at.clone(), path)));
            }
        }
    }
    found
}

impl Module {
    /// What a path may mean whose first part is brought in by `use`.
    fn imported(&self, path: &[String]) -> Vec<Vec<String>> {
        let (first, rest) = (&path[0], &path[1..]);
        // `use x::x` brings in the item: a longer path goes on from the module
        let is_meant =
            |import: &[String]| import.len() > 1 && (rest.is_empty() || import[0] != *first);
        let named = self.uses.iter().filter(|(name, import)| name == first && is_meant(import));
        let named: Vec<_> = named.map(|(_, import)| [import, rest].concat()).collect();
        if !named.is_empty() || self.items.contains(first) || self.children.contains(first) {
            return named;
        }
        let globs = self.uses.iter().filter(|(name, _)| name == "*");
        globs.map(|(_, import)| [&import[..import.len() - 1], path].concat()).collect()
    }
}

/// The module that a file is.
fn module(path: &str, text: &str) -> (String, Module) {
    let place = path.trim_start_matches("src/").trim_end_matches(".rs");
    let place = place.trim_end_matches("/mod").replace('/', "::");
    let name = if place == "lib" { String::new() } else { place };
    let code = Source::new(text).shipped();
    let words = words(&code);
    let mut module = Module { file: path.to_owned(), ..Module::default() };
    let (mut own, mut handed) = (BTreeSet::new(), Vec::new());
    // the depths at which modules within the file begin, from which each `super` leads to the one around
    let mut inner: Vec<i32> = Vec::new();
    let (mut depth, mut at) = (0, 0);
    while at < words.len() {
        let next = words.get(at + 1).copied().unwrap_or_default();
        match words[at] {
            "{" => depth += 1,
            "}" => {
                depth -= 1;
                inner.retain(|it| *it < depth);
            }
            "mod" if words.get(at + 2) == Some(&"{") => inner.push(depth),
            "use" if next != "<" => {
                let is_public = at > 0 && ["pub", ")"].contains(&words[at - 1]);
                let mut found = Vec::new();
                at = uses(&words, at + 1, &[], &mut found);
                for (_, path) in &mut found {
                    within(&inner, path);
                }
                module.uses.extend(found.iter().cloned());
                if is_public {
                    handed.extend(found);
                } else {
                    module.taken.extend(found.into_iter().map(|(_, path)| path));
                }
            }
            "mod" if words.get(at + 2) == Some(&";") => drop(module.children.insert(next.into())),
            "struct" | "enum" | "trait" | "type" if depth == 0 => {
                module.items.insert(next.to_owned());
                module.types.insert(next.to_owned());
            }
            "fn" | "const" | "static" if depth == 0 => drop(module.items.insert(next.to_owned())),
            word if next == "::" && is_name(word) => {
                let mut path = vec![word.to_owned()];
                while words.get(at + 1) == Some(&"::") && is_name(words[at + 2]) {
                    path.push(words[at + 2].to_owned());
                    at += 2;
                }
                own.insert(word);
                within(&inner, &mut path);
                module.taken.push(path);
            }
            word => drop(own.insert(word)),
        }
        at += 1;
    }
    let taken = handed.into_iter().filter(|(name, _)| own.contains(name.as_str()));
    module.taken.extend(taken.map(|(_, path)| path));
    (name, module)
}

/// Leaves out the beginning of a path that leads from a module within the file to the file.
fn within(inner: &[i32], path: &mut Vec<String>) {
    let own = path.iter().take(inner.len()).take_while(|it| *it == "super").count();
    path.drain(..own);
}

/// Reads one tree of a `use` item from `at`, and returns where the tree ends.
fn uses(
    words: &[&str],
    at: usize,
    before: &[String],
    found: &mut Vec<(String, Vec<String>)>,
) -> usize {
    let mut path = before.to_vec();
    let mut at = at;
    loop {
        match words[at] {
            "{" => {
                at += 1;
                while words[at] != "}" {
                    at = uses(words, at, &path, found);
                    at += usize::from(words[at] == ",");
                }
                return at + 1;
            }
            "::" => (),
            "as" => {
                found.push((words[at + 1].to_owned(), path));
                return at + 2;
            }
            "self" if !path.is_empty() => (),
            "," | ";" | "}" => {
                let name = path.last().cloned().unwrap_or_default();
                found.push((name, path));
                return at;
            }
            word => path.push(word.to_owned()),
        }
        at += 1;
    }
}

fn is_name(word: &str) -> bool {
    word.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// The words of the code, `::`, and each other sign alone.
fn words(code: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = code.trim_start();
    while let Some(first) = rest.chars().next() {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let end = if is_word(first) {
            rest.find(|c| !is_word(c)).unwrap_or(rest.len())
        } else if rest.starts_with("::") {
            2
        } else {
            first.len_utf8()
        };
        found.push(&rest[..end]);
        rest = rest[end..].trim_start();
    }
    found
}

/// Checks the circles that are reported for these modules, given by path and text.
#[track_caller]
fn check(modules: &[(&str, &str)], known: &[&str], expected: &[&str]) {
    let files = modules.iter().map(|(place, text)| (format!("src/{place}"), (*text).to_owned()));
    let files: Vec<(String, String)> = files.collect();
    assert_eq!(circles(&files, known), expected, "of {modules:?}");
}

#[test]
fn a_circle_is_told_with_the_names_that_tie_it() {
    let lib = ("lib.rs", "pub mod a;\npub mod b;");
    let b = ("b.rs", "use crate::a::{X, y as z};\npub struct Y;");
    let circle = "a circle of 2 files\n  src/a.rs takes from src/b.rs: Y\n  \
                  src/b.rs takes from src/a.rs: X, y";
    let a = ("a.rs", "pub struct X;\npub fn y() { crate::b::Y::of() }");
    check(&[lib, a, b], &[], &[circle]);
    check(&[lib, a, b], &["src/a.rs", "src/b.rs"], &[]);
    check(&[lib, a, b], &["src/a.rs"], &[circle]);
    let gone = "src/a.rs: is in no circle any more and leaves the list";
    check(&[lib, ("a.rs", ""), b], &["src/a.rs"], &[gone]);
    // neither an import of a module, nor tests, nor names of other crates tie anything
    for text in ["use crate::b;", "#[cfg(test)]\nmod t { use crate::b::Y; }", "use std::b::Y;"] {
        check(&[lib, ("a.rs", &format!("{text}\npub struct X;\npub fn y() {{}}")), b], &[], &[]);
    }
}

#[test]
fn a_name_is_taken_from_the_file_that_defines_it() {
    let circle = "a circle of 2 files\n  src/a/c.rs takes from src/a/mod.rs: T\n  \
                  src/a/mod.rs takes from src/a/c.rs: f";
    let c = ("a/c.rs", "use super::{self as own, T};\npub fn f(_: T) {}");
    let check = |text: &str, expected: &[&str]| {
        let text = format!("mod c;\nmod d;\npub(crate) struct T;\n{text}");
        let d = ("a/d.rs", "pub(super) use super::c::f as given;\npub use crate::a::T;");
        check(&[("lib.rs", "mod a;"), ("a/mod.rs", &text), c, d], &[], expected);
    };
    for text in [
        "fn g() { c::f() }",
        "use c::f as h;",
        "use d::given;",
        "fn g() { d::given() }",
        "mod within { fn g() { super::c::f() } }",
    ] {
        check(text, &[circle]);
    }
    check("pub use c::f;\nfn g() { f() }", &[circle]);
    // what a file only hands on is nothing that it takes
    check("pub use c::f;", &[]);
    check("pub use c::f as h;\nfn f() {}", &[]);
}

#[test]
fn files_of_the_program_take_names_in_no_circle() {
    let known: Vec<&str> = include_str!("circling.txt").lines().collect();
    let found = circles(&super::shipped(), &known);
    assert!(found.is_empty(), "\n{}", found.join("\n"));
}
