//! The files by which Python finds a module that a command line names: `python -m a.b`. Python looks for them in the folder
//! in which it runs before it looks elsewhere, also for the modules of its own library that the module imports.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// Endings of a module's file, and the files in its folder that run. `*` stands for the version of Python and the machine:
/// `.cpython-312-x86_64-linux-gnu.so`.
const ENDINGS: [&str; 4] = [".py", ".pyc", ".so", ".*.so"];
const INNER: [&str; 2] = ["__init__.py", "__main__.py"];
/// Folders of virtual environments, of which `python` may be the one that runs.
const ENVIRONMENTS: [&str; 3] = [".venv", "env", "venv"];
/// The folders in which the versions of Python keep packages, below each of these.
const PREFIXES: [&str; 2] = ["/usr", "/usr/local"];
/// The most packages of the machine that a module is taken to import.
const MOST: usize = 2_000;
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
    let own = words[first].rsplit_once("/bin/").map(|it| it.0);
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
            packaged(&mut all, module, own);
        }
    }
    if !all.is_empty() {
        for it in LIBRARY.split_whitespace() {
            all.extend([format!("{it}.py"), format!("{it}/__init__.py")]);
        }
        for it in installed().into_iter().take(MOST) {
            let endings = [".py", ".so", ".*.so", "/__init__.py"];
            all.extend(endings.map(|ending| format!("{it}{ending}")));
        }
    }
    all
}

/// Adds the places of a module among the packages of virtual environments in the project.
fn packaged(all: &mut BTreeSet<String>, module: &str, own: Option<&str>) {
    let first = module.split('.').next().unwrap_or(module);
    for it in ENVIRONMENTS.into_iter().chain(own.filter(|it| !it.is_empty())) {
        let folder = format!("{it}/lib/*/site-packages/{first}");
        all.extend(ENDINGS.map(|ending| format!("{folder}{ending}")));
        all.insert(folder);
    }
}

/// The names of the packages of this machine and this user. A tool may import each of them.
fn installed() -> BTreeSet<String> {
    let entries = |it: &Path| fs::read_dir(it).into_iter().flatten().flatten();
    let home = env::var_os("HOME").map(|it| PathBuf::from(it).join(".local"));
    let folders = PREFIXES.iter().map(PathBuf::from).chain(home).map(|it| it.join("lib"));
    let versions = folders.flat_map(|it| entries(&it).map(|it| it.path()).collect::<Vec<_>>());
    let places = versions.flat_map(|it| ["dist-packages", "site-packages"].map(|of| it.join(of)));
    let names = places.flat_map(|it| entries(&it).map(|it| it.file_name()).collect::<Vec<_>>());
    let name = |it: String| it.split('.').next().map(str::to_owned).filter(|it| is_module(it));
    names.filter_map(|it| name(it.into_string().ok()?)).collect()
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
            ("python3 -m nbstripout", "nbstripout.*.so"),
            ("python -m nbstripout", ".venv/lib/*/site-packages/nbstripout"),
            ("tools/py/bin/python -m s.m", "tools/py/lib/*/site-packages/s.py"),
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
