//! The rules. Each gets the path and text of a file and returns the violations.

use super::source::Source;
use std::collections::BTreeSet;
use std::path::Path;

/// The maximal number of lines of a file and of a function.
const FILE: usize = 500;
const FUNCTION: usize = 60;

/// The modules that a file declares for tests alone, each as its path without the ending.
pub(super) fn test_modules(path: &str, text: &str) -> Vec<String> {
    let stem = path.strip_suffix(".rs").unwrap_or(path);
    let folder = match stem.rsplit_once('/') {
        Some((folder, "mod" | "lib" | "main")) => folder,
        _ => stem,
    };
    let code = Source::new(text).code;
    let declared = code.split("#[cfg(test)]").skip(1).filter_map(|rest| {
        let (before, name) = rest.split(';').next()?.rsplit_once("mod ")?;
        (!before.contains('{')).then(|| format!("{folder}/{}", name.trim()))
    });
    declared.collect()
}

fn is_lua(path: &str) -> bool {
    Path::new(path).extension().is_some_and(|ending| ending == "lua")
}

/// Files that are too long. Generated files may have any length.
pub(super) fn length(path: &str, text: &str) -> Vec<String> {
    let lines = text.lines().count();
    let generated = path.starts_with("lua/caliban/program/wire/");
    if lines > FILE && !generated {
        vec![format!("{path}: {lines} lines, at most {FILE}")]
    } else {
        Vec::new()
    }
}

pub(super) fn functions(path: &str, text: &str) -> Vec<String> {
    let long = Source::new(text).functions().into_iter().filter(|(_, _, lines)| *lines > FUNCTION);
    long.map(|(name, line, lines)| {
        format!("{path}:{line}: fn {name} has {lines} lines, at most {FUNCTION}")
    })
    .collect()
}

pub(super) fn module_doc(path: &str, text: &str) -> Vec<String> {
    if text.starts_with("//!") { Vec::new() } else { vec![format!("{path}: no module doc on top")] }
}

/// Issue numbers and unfinished work in comments.
pub(super) fn comments(path: &str, text: &str) -> Vec<String> {
    let comments = if is_lua(path) { lua_comments(text) } else { Source::new(text).comments };
    let mut found = Vec::new();
    for (number, line) in comments.lines().enumerate() {
        let at = format!("{path}:{}", number + 1);
        for (hash, _) in line.match_indices('#') {
            let digits = line[hash + 1..].chars().take_while(char::is_ascii_digit).count();
            let next = line[hash + 1 + digits..].chars().next();
            if digits > 0 && !next.is_some_and(char::is_alphanumeric) {
                found.push(format!("{at}: an issue number"));
            }
        }
        for word in ["TODO", "FIXME"] {
            if line.contains(word) {
                found.push(format!("{at}: {word}"));
            }
        }
    }
    found
}

fn lua_comments(text: &str) -> String {
    let lines = text.lines().map(|line| line.find("--").map_or("", |at| &line[at..]));
    lines.collect::<Vec<_>>().join("\n")
}

/// Code that may not be in shipped Rust files, in addition to code that clippy denies.
pub(super) fn forbidden(path: &str, text: &str) -> Vec<String> {
    let code = Source::new(text).shipped();
    let mut found = Vec::new();
    for (number, line) in code.lines().enumerate() {
        let dense: String = line.split_whitespace().collect();
        let is_static = line.split_whitespace().any(|word| word == "static");
        let has_lock = dense.contains("Mutex<") || dense.contains("RwLock<");
        let named =
            [".unwrap()", "println!", "print!", "todo!", "unimplemented!", "dbg!", "staticmut"];
        let mut why: Vec<&str> =
            named.into_iter().filter(|needle| dense.contains(needle)).collect();
        why.extend((is_static && has_lock).then_some("a static lock"));
        why.extend((dense.contains("Arc<") && has_lock).then_some("a shared lock"));
        found.extend(why.first().map(|why| format!("{path}:{}: {why}", number + 1)));
    }
    found
}

/// Places that start git in another way than `bounded::git`, which ties git to the program and sets it a limit of time.
pub(super) fn loose_git(path: &str, text: &str) -> Vec<String> {
    let code = Source::new(text).shipped();
    let is_start = |it: &(usize, (&str, &str))| {
        it.1.0.contains("Command::new(") && it.1.1.contains("Command::new(\"git\")")
    };
    let lines = code.lines().zip(text.lines()).enumerate().filter(is_start);
    lines.map(|(at, _)| format!("{path}:{}: git without a leash", at + 1)).collect()
}

/// Comparisons of a tool's name with a text. A tool's identity is a `Builtin`.
pub(super) fn tool_names(path: &str, text: &str) -> Vec<String> {
    let code = Source::new(text).shipped();
    let is_compared = |line: &str| {
        let dense: String = line.split_whitespace().collect();
        let name = ["tool", "tool.name", "tool.as_str()", "tool.name.as_str()"];
        name.iter().any(|name| {
            let is_literal = |after: &str| {
                let after = after.strip_prefix(['&', '*']).unwrap_or(after);
                !after.starts_with(char::is_alphabetic)
            };
            let with = |sign: &str| {
                dense
                    .match_indices(&format!("{name}{sign}"))
                    .any(|(at, it)| is_literal(&dense[at + it.len()..]))
            };
            with("==") || with("!=") || name.ends_with("()") && dense.contains(&format!("{name}{{"))
        })
    };
    let lines = code.lines().enumerate().filter(|it| is_compared(it.1));
    lines.map(|(at, _)| format!("{path}:{}: a tool's name is compared", at + 1)).collect()
}

/// The module that a file of `src/` belongs to: `a` for `src/a.rs` and `src/a/b.rs`.
fn module(path: &str) -> Option<&str> {
    path.strip_prefix("src/")?.split('/').next()?.split('.').next()
}

/// Imports that break the order of the modules: a module may import only modules that are before it in `order`.
pub(super) fn imports(path: &str, text: &str, order: &[String]) -> Vec<String> {
    let place = |name: &str| order.iter().position(|module| module == name);
    let Some(own) = module(path).and_then(place) else { return Vec::new() };
    let code = Source::new(text).shipped();
    let mut found = Vec::new();
    for (at, needle) in code.match_indices("crate::") {
        let line = 1 + code[..at].matches('\n').count();
        let below =
            imported(&code[at + needle.len()..]).into_iter().filter(|name| place(name) > Some(own));
        found.extend(
            below.map(|name| {
                format!("{path}:{line}: imports {name}, which stands below it in lib.rs")
            }),
        );
    }
    found
}

/// The modules named after `crate::`: one, or the first words of a braced list.
fn imported(rest: &str) -> Vec<String> {
    let name = |text: &str| {
        text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>()
    };
    let Some(list) = rest.strip_prefix('{') else { return vec![name(rest)] };
    let (mut names, mut depth, mut item) = (Vec::new(), 0, String::new());
    for c in list.chars() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => names.push(name(std::mem::take(&mut item).trim())),
            _ => {}
        }
        if c != ',' || depth > 0 {
            item.push(c);
        }
    }
    names.push(name(item.trim()));
    names
}

/// The names of `pub mod` lines, in their order.
pub(super) fn order(lib: &str) -> Vec<String> {
    let lines = lib.lines().filter_map(|line| line.strip_prefix("pub mod "));
    lines.map(|name| name.trim_end_matches(';').to_owned()).collect()
}

pub(super) fn blocking_requests(path: &str, text: &str) -> Vec<String> {
    let code = text.lines().map(|line| line.split("--").next().unwrap_or_default());
    let lines = code.enumerate().filter(|(_, line)| line.contains("rpcrequest"));
    lines
        .map(|(number, _)| format!("{path}:{}: rpcrequest blocks the editor", number + 1))
        .collect()
}

/// Buffers that do not come from the module whose buffers other plugins leave alone.
pub(super) fn own_buffers(path: &str, text: &str) -> Vec<String> {
    if path == "lua/caliban/editor/scratch.lua" {
        return Vec::new();
    }
    let code = text.lines().map(|line| line.split("--").next().unwrap_or_default());
    let lines = code.enumerate().filter(|(_, line)| line.contains("nvim_create_buf(false"));
    lines
        .map(|(number, _)| format!("{path}:{}: a buffer not made by editor.scratch", number + 1))
        .collect()
}

/// The help tags that a help file defines twice, or that it refers to but does not define. Only Caliban's own tags,
/// which begin with `caliban`, are checked.
pub(super) fn help_tags(path: &str, text: &str) -> Vec<String> {
    let of = |mark: char| {
        let words = text.lines().enumerate().flat_map(move |(number, line)| {
            let words = line.split(|c: char| c.is_whitespace() || "().,;".contains(c));
            words.map(move |word| (number + 1, word))
        });
        words.filter_map(move |(number, word)| {
            let tag = word.strip_prefix(mark)?.strip_suffix(mark)?;
            tag.starts_with("caliban").then_some((number, tag))
        })
    };
    let mut defined = BTreeSet::new();
    let twice: Vec<_> = of('*').filter(|(_, tag)| !defined.insert(*tag)).collect();
    let absent = of('|').filter(|(_, tag)| !defined.contains(tag));
    let twice = twice.iter().map(|(number, tag)| format!("{path}:{number}: *{tag}* twice"));
    twice.chain(absent.map(|(number, tag)| format!("{path}:{number}: no *{tag}*"))).collect()
}

/// Places where an error's own text reaches users or models. They should use `text::cause`, which leaves out the
/// operating system's error numbers.
pub(super) fn raw_errors(path: &str, text: &str) -> Vec<String> {
    let is_raw = |line: &str| {
        line.contains("{error}")
            && !line.contains("tracing::")
            && !line.trim_start().starts_with("//")
    };
    let lines = text.lines().enumerate().filter(|(_, line)| is_raw(line));
    lines.map(|(number, _)| format!("{path}:{}: an error without `cause`", number + 1)).collect()
}

/// Mentions of package registries' hosts. The list is in pieces, so that this file contains no host.
pub(super) fn registries(path: &str, text: &str) -> Vec<String> {
    let hosts = [
        ["crates", "io"],
        ["pypi", "org"],
        ["pythonhosted", "org"],
        ["npmjs", "org"],
        ["npmjs", "com"],
        ["debian", "org"],
        ["luarocks", "org"],
    ];
    let hosts = hosts.map(|parts| parts.join("."));
    let held = hosts.iter().filter(|host| text.contains(host.as_str()));
    held.map(|host| format!("{path}: names {host}")).collect()
}

/// Public names that have no tag in the help.
pub(super) fn untagged<'a>(tags: impl IntoIterator<Item = &'a str>, help: &str) -> Vec<String> {
    let missing = tags.into_iter().filter(|tag| !help.contains(&format!("*{tag}*")));
    missing.map(|tag| format!("doc/caliban.txt: no tag *{tag}*")).collect()
}

/// `CalibanName` words outside comments: highlight groups and events.
pub(super) fn public_words(path: &str, text: &str) -> Vec<String> {
    let text: String = if is_lua(path) {
        text.lines()
            .map(|line| line.split("--").next().unwrap_or_default())
            .collect::<Vec<_>>()
            .join("\n")
    } else {
        let comments = Source::new(text).comments;
        text.chars()
            .zip(comments.chars())
            .map(|(c, comment)| if comment == ' ' { c } else { ' ' })
            .collect()
    };
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
    let named = words.filter(|word| {
        word.strip_prefix("Caliban")
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_uppercase()))
    });
    named.map(str::to_owned).collect()
}

/// The settings: the fields of the class `caliban.Config` in the Lua source of the settings.
pub(super) fn settings(config: &str) -> Vec<String> {
    let class = config.lines().skip_while(|line| !line.ends_with(" caliban.Config")).skip(1);
    let fields = class.map_while(|line| line.strip_prefix("---@field "));
    fields
        .map(|field| field.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect())
        .collect()
}

/// The names of a file's tests: `fn name() {` after `#[test]`, `function T.name()`.
pub(super) fn tests(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut is_test = false;
    for line in text.lines().map(str::trim) {
        let name = match line.strip_prefix("function T.") {
            Some(rest) => Some(rest),
            None if is_test => line.strip_prefix("fn ").or_else(|| line.strip_prefix("async fn ")),
            None => None,
        };
        if let Some((name, _)) = name.and_then(|rest| rest.split_once('(')) {
            found.push(name.to_owned());
        }
        is_test = line.contains("test]") || is_test && line.starts_with('#');
    }
    found
}

/// Paths of this repository that a text names but that do not exist.
pub(super) fn absent_paths(exists: impl Fn(&str) -> bool) -> impl Fn(&str, &str) -> Vec<String> {
    const FOLDERS: [&str; 7] =
        ["src/", "lua/", "tests/", "scripts/", "doc/", "benches/", ".github/"];
    move |path, text| {
        let is_apart = |c: char| !(c.is_ascii_alphanumeric() || "._-/".contains(c));
        let mut found = Vec::new();
        for (number, line) in text.lines().enumerate() {
            for name in line.split(is_apart).map(|it| it.trim_end_matches(['.', '/'])) {
                if FOLDERS.iter().any(|folder| name.starts_with(folder)) && !exists(name) {
                    found.push(format!("{path}:{}: there is no {name}", number + 1));
                }
            }
        }
        found
    }
}

/// Test names in a text that are not in `known`. Words in backticks with an underscore count as test names.
pub(super) fn cases_of(known: &BTreeSet<String>) -> impl Fn(&str, &str) -> Vec<String> {
    |path, text| {
        let is_name = |it: &&str| it.contains('_');
        let mut found = Vec::new();
        for (number, line) in text.lines().enumerate() {
            for name in line.split('`').skip(1).step_by(2).filter(is_name) {
                if !known.contains(name) {
                    found.push(format!("{path}:{}: there is no test {name}", number + 1));
                }
            }
        }
        found
    }
}

/// The lines of a help file that are wider than 78 columns.
pub(super) fn wide_help(path: &str, text: &str) -> Vec<String> {
    let widths = text.lines().map(|it| it.chars().count()).enumerate();
    let wide = widths.filter(|(_, width)| *width > 78);
    wide.map(|(at, width)| format!("{path}:{}: {width} columns", at + 1)).collect()
}
