//! The files by which Python finds a module that a command line names: `python -m a.b`. Python looks for them in the folder
//! in which it runs before it looks elsewhere, also for the modules of its own library that the module imports.

use std::collections::BTreeSet;

/// Endings of a module's file, and the files in its folder that run.
const ENDINGS: [&str; 4] = [".py", ".pyc", ".so", ".abi3.so"];
const INNER: [&str; 2] = ["__init__.py", "__main__.py"];
/// Modules of Python's own library that tools import.
const LIBRARY: &str = "__future__ _collections_abc _weakrefset abc argparse ast asyncio base64 bisect builtins bz2 codecs \
    collections colorsys concurrent configparser contextlib contextvars copy copyreg csv ctypes dataclasses datetime decimal \
    difflib dis email encodings enum errno fcntl fileinput fnmatch fractions functools genericpath getopt getpass gettext \
    glob gzip hashlib heapq hmac html http imp importlib inspect io itertools json keyword linecache locale logging lzma \
    math mimetypes multiprocessing numbers opcode operator optparse os pathlib pickle pkgutil platform posixpath pprint \
    queue quopri random re readline reprlib runpy secrets select selectors shlex shutil signal site sitecustomize socket \
    sre_compile ssl stat string struct subprocess sys sysconfig tempfile textwrap threading time token tokenize tomllib \
    traceback types typing typing_extensions unicodedata unittest urllib usercustomize uuid warnings weakref xml zipfile \
    zipimport zlib";

/// The paths of the modules that a text names, relative to the folder in which it runs. What is in a folder among them
/// counts as a whole.
pub(super) fn named(text: &str) -> BTreeSet<String> {
    let is_between = |c: char| c.is_whitespace() || ";|&()<>\"'`={},".contains(c);
    let words: Vec<&str> = text.split(is_between).filter(|it| !it.is_empty()).collect();
    let is_python = |it: &str| {
        let name = it.rsplit('/').next().unwrap_or_default();
        ["python", "pypy"].iter().any(|of| name.starts_with(of)) || it == "py"
    };
    let mut all = BTreeSet::new();
    let Some(first) = words.iter().position(|it| is_python(it)) else { return all };
    for (at, word) in words.iter().enumerate().skip(first) {
        let Some(letters) = word.strip_prefix('-').filter(|it| !it.starts_with('-')) else {
            continue;
        };
        let Some((before, glued)) = letters.split_once('m').filter(|it| it.0.len() < 4) else {
            continue;
        };
        let module = if glued.is_empty() { words.get(at + 1).copied() } else { Some(glued) };
        let is_letter = before.bytes().all(|it| it.is_ascii_alphabetic());
        if let Some(module) = module.filter(|it| is_letter && is_module(it)) {
            add(&mut all, module);
        }
    }
    if !all.is_empty() {
        for it in LIBRARY.split_whitespace() {
            all.extend([format!("{it}.py"), format!("{it}/__init__.py")]);
        }
    }
    all
}

fn is_module(word: &str) -> bool {
    let is_name = |it: &str| it.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_');
    let begins = |it: &str| it.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    word.split('.').all(|it| begins(it) && is_name(it))
}

/// Adds the files of a module and of the packages around it.
fn add(all: &mut BTreeSet<String>, module: &str) {
    let names: Vec<&str> = module.split('.').collect();
    for n in 1..=names.len() {
        let path = names[..n].join("/");
        all.extend(ENDINGS.iter().map(|it| format!("{path}{it}")));
        all.extend(INNER.iter().map(|it| format!("{path}/{it}")));
    }
    // the other files of a package that has a name of one part are those of a tool, not of the project
    if let [only] = names[..] {
        all.insert(only.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_by_which_python_finds_a_module_are_known() {
        for (line, path) in [
            ("\"/usr/bin/python3\" -m nbstripout", "nbstripout.py"),
            ("\"/usr/bin/python3\" -m nbstripout", "nbstripout"),
            ("\"/usr/bin/python3\" -m nbstripout", "json.py"),
            ("python3 -m s.m", "s/m.py"),
            ("python3 -m s.m", "s/__init__.py"),
            ("python3 -m s.m", "s.py"),
            ("sh -c 'cd x; python -Bm a.b.c --x'", "a/b/c/__main__.py"),
            ("python -ma", "a.py"),
        ] {
            assert!(named(line).contains(path), "{line}: {path}");
        }
        assert!(!named("python3 -m s.m").contains("s"));
        for line in ["git commit -m message", "python3 s/m.py", "grep -m 1 python", "python -c 'm'"]
        {
            assert!(named(line).is_empty(), "{line}: {:?}", named(line));
        }
    }
}
