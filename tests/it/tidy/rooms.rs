//! The layers of the Lua code, here called rooms: a file of `lua/caliban` imports only from its own room and the rooms
//! below, imports form no circle, and only the files in `FACES` lie directly in `lua/caliban`.

use super::names::without_comments;
use std::collections::{BTreeMap, BTreeSet};

/// The rooms from top to bottom, each a folder or a file of `lua/caliban`. A file belongs to the longest path that
/// contains it. A folder's `init` may be above the folder's other rooms. `program/dispatch` is above all rooms that it
/// passes the program's messages to.
pub(super) const ROOMS: [&str; 18] = [
    "command",
    "health",
    "init",
    "status",
    "program/dispatch",
    "sessions",
    "context",
    "chat",
    "review/init",
    "review/ui",
    "review/restore",
    "review",
    "lsp",
    "review/hunks",
    "program",
    "config",
    "editor",
    "version",
];

/// The modules that users and other plugins call, or that every other module may import.
const FACES: [&str; 6] = ["command", "config", "health", "init", "status", "version"];

/// Modules that only the files of one room may import, each with that room.
const INNER: [(&str, &str); 3] = [
    ("editor/slices", "review/hunks"),
    ("review/hunks/rope", "review/hunks"),
    ("review/hunks/moved", "review/hunks"),
];

/// The code before a module's name that imports the module.
const IMPORTS: [&str; 4] = ["require(", "require, ", "loaded[", "preload["];

/// A file's path below `lua/caliban`, without its ending.
fn place(path: &str) -> Option<&str> {
    path.strip_prefix("lua/caliban/")?.strip_suffix(".lua")
}

/// The index in `rooms` of the room that a file lies in.
fn room(place: &str, rooms: &[&str]) -> Option<usize> {
    let inside = |room: &&str| {
        place.strip_prefix(*room).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let longest = rooms.iter().copied().filter(inside).max_by_key(|room| room.len())?;
    rooms.iter().position(|room| *room == longest)
}

/// The modules of Caliban that a file imports, with line numbers: `require('caliban.x')` anywhere, also inside a
/// function, and `package.loaded`.
fn named(text: &str) -> Vec<(usize, String)> {
    let code = without_comments(text);
    let mut found = Vec::new();
    for (at, _) in code.match_indices("caliban") {
        let Some(quote) = code[..at].chars().next_back().filter(|it| ['\'', '"'].contains(it))
        else {
            continue;
        };
        let rest = &code[at..];
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_' && c != '.');
        let name = &rest[..end.unwrap_or(rest.len())];
        // strings that look like modules may also be a file type or an autocommand group
        let before = &code[..at - 1];
        let is_import = IMPORTS.iter().any(|it| before.ends_with(it));
        if rest[name.len()..].starts_with(quote) && is_import {
            found.push((1 + code[..at].matches('\n').count(), name.to_owned()));
        }
    }
    found
}

/// The path, one of `places`, of the file that defines a module.
fn resolve<'a>(module: &str, places: &BTreeSet<&'a str>) -> Option<&'a str> {
    let own = module.strip_prefix("caliban")?.trim_start_matches('.').replace('.', "/");
    let init = if own.is_empty() { "init".to_owned() } else { format!("{own}/init") };
    places.get(own.as_str()).or_else(|| places.get(init.as_str())).copied()
}

/// The violations of the rules about rooms and circles in these files.
pub(super) fn imports(files: &[(String, String)], rooms: &[&str]) -> Vec<String> {
    let places: BTreeSet<&str> = files.iter().filter_map(|(path, _)| place(path)).collect();
    let mut found = Vec::new();
    let mut edges: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (path, text) in files {
        let Some(from) = place(path) else { continue };
        let own = room(from, rooms);
        if own.is_none() {
            found.push(format!("{path}: lies in no room"));
        }
        for (line, module) in named(text) {
            let Some(to) = resolve(&module, &places) else {
                if module.ends_with('.') {
                    found.push(format!("{path}:{line}: a module's name is put together"));
                }
                continue;
            };
            if to == from {
                continue;
            }
            edges.entry(from).or_default().insert(to);
            if room(to, rooms) < own {
                found.push(format!("{path}:{line}: imports {module}, which stands above it"));
            }
        }
    }
    found.extend(circles(&edges));
    found
}

/// Imports of modules that only another room may import.
pub(super) fn inner(path: &str, text: &str) -> Vec<String> {
    let Some(from) = place(path) else { return Vec::new() };
    let mut found = Vec::new();
    for (line, module) in named(text) {
        let name = module.trim_start_matches("caliban.").replace('.', "/");
        let room = INNER.iter().find(|(inner, _)| *inner == name).map(|(_, room)| *room);
        if let Some(room) = room.filter(|it| !from.starts_with(&format!("{it}/"))) {
            found.push(format!("{path}:{line}: imports {module}, as {room} alone may"));
        }
    }
    found
}

/// Each circle of imports once, found by a depth-first walk along the imports.
fn circles<'a>(edges: &BTreeMap<&'a str, BTreeSet<&'a str>>) -> Vec<String> {
    fn walk<'a>(
        at: &'a str,
        edges: &BTreeMap<&'a str, BTreeSet<&'a str>>,
        way: &mut Vec<&'a str>,
        done: &mut BTreeSet<&'a str>,
        found: &mut Vec<String>,
    ) {
        if let Some(begin) = way.iter().position(|it| *it == at) {
            found.push(format!("lua/caliban: in a circle: {} → {at}", way[begin..].join(" → ")));
            return;
        }
        if !done.insert(at) {
            return;
        }
        way.push(at);
        for to in edges.get(at).into_iter().flatten() {
            walk(to, edges, way, done, found);
        }
        way.pop();
    }
    let (mut way, mut done, mut found) = (Vec::new(), BTreeSet::new(), Vec::new());
    for from in edges.keys() {
        walk(from, edges, &mut way, &mut done, &mut found);
    }
    found
}

/// Files directly in `lua/caliban` that are not in `FACES`.
pub(super) fn strays(path: &str, _: &str) -> Vec<String> {
    let stray = place(path).filter(|it| !it.contains('/') && !FACES.contains(it));
    stray.map(|_| format!("{path}: is no face and belongs in a folder")).into_iter().collect()
}
