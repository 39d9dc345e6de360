//! The files that a patch would change, for `apply` and `am`. A patch from the standard input is read before git reads
//! it, and git gets the same text.

use super::glance::Glance;
use super::invocation::Invocation;
use std::fs::{self, File};
use std::io::{self, IsTerminal, Read, Seek};
use std::path::{Path, PathBuf};

/// The most bytes of a patch that are read from the standard input.
const LARGEST: u64 = 200_000_000;
/// Options of `apply` that decide which files a patch names. The first ones are letters.
const NAMING: [&str; 6] = ["p", "C", "directory", "exclude", "include", "recount"];

/// The paths that the patches of a command name. `None` if they cannot be known.
pub(super) fn patched(it: &Invocation, glance: &Glance) -> Option<Vec<String>> {
    let named = it.plain(&[]);
    let after = it.paths().unwrap_or_default().iter().map(String::as_str);
    let files: Vec<&str> = named.into_iter().chain(after).collect();
    let input = if files.is_empty() || files.contains(&"-") { Some(input()?) } else { None };
    let folder = tempfile::tempdir().ok()?;
    let copy = folder.path().join("input");
    if let Some(mut input) = input {
        io::copy(&mut input, &mut File::create(&copy).ok()?).ok()?;
        input.rewind().ok()?;
        rustix::stdio::dup2_stdin(&input).ok()?;
    }
    let copy = copy.to_str()?;
    let mut files: Vec<&str> = files.iter().map(|it| if *it == "-" { copy } else { it }).collect();
    if files.is_empty() {
        files.push(copy);
    }
    let options = naming(it);
    let mut all = numbered(glance, &options, &files);
    if it.verb == "am" {
        // a mail may be encoded
        for patch in mails(glance, folder.path(), &files) {
            let found = numbered(glance, &options, &[patch.to_str()?]);
            all = Some([all.unwrap_or_default(), found.unwrap_or_default()].concat());
        }
    }
    let is_empty = |it: &&str| fs::metadata(it).is_ok_and(|it| it.len() == 0);
    all.or_else(|| files.iter().all(is_empty).then(Vec::new))
}

/// The whole standard input, at its beginning. `None` if it is a terminal or too long.
fn input() -> Option<File> {
    let stdin = io::stdin();
    let mut file = tempfile::tempfile().ok()?;
    if stdin.is_terminal() {
        return None;
    }
    let count = io::copy(&mut stdin.lock().take(LARGEST + 1), &mut file).ok()?;
    file.rewind().ok()?;
    (count <= LARGEST).then_some(file)
}

/// The options for `apply` as git takes them.
fn naming(it: &Invocation) -> Vec<String> {
    let given = it.words.iter().filter_map(|it| it.strip_prefix("--")).map(|word| {
        let (name, value) = word.split_once('=').map_or((word, None), |it| (it.0, Some(it.1)));
        (name, value)
    });
    given
        .filter(|it| NAMING.contains(&it.0))
        .map(|(name, value)| match (name.len(), value) {
            (1, value) => format!("-{name}{}", value.unwrap_or_default()),
            (_, Some(value)) => format!("--{name}={value}"),
            (_, None) => format!("--{name}"),
        })
        .collect()
}

/// The paths before and after these patches. `None` if git cannot read them.
fn numbered(glance: &Glance, options: &[String], files: &[&str]) -> Option<Vec<String>> {
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    let mut all = Vec::new();
    for direction in [&[][..], &["-R"]] {
        let counting = ["apply", "--numstat", "-z"];
        let words = [&counting[..], direction, &options, &["--"], files].concat();
        let output = glance.run(&words)?;
        // each entry is the numbers of added and removed lines and the path, with tabs between them
        let entries = output.split(|it| *it == 0).filter(|it| !it.is_empty());
        let entries = entries.map(|it| String::from_utf8_lossy(it).into_owned());
        all.extend(entries.filter_map(|it| it.splitn(3, '\t').nth(2).map(str::to_owned)));
    }
    Some(all)
}

/// The patches in the mails of these files.
fn mails(glance: &Glance, folder: &Path, files: &[&str]) -> Vec<PathBuf> {
    let mut patches = Vec::new();
    for (at, file) in files.iter().enumerate() {
        let split = folder.join(at.to_string());
        let made = fs::create_dir(&split);
        let to = format!("-o{}", split.display());
        if made.is_err() || glance.run(&["mailsplit", &to, "-b", "--", file]).is_none() {
            continue;
        }
        for mail in fs::read_dir(&split).into_iter().flatten().flatten() {
            let mail = mail.path();
            let (message, patch) = (mail.with_extension("message"), mail.with_extension("patch"));
            let read = File::open(&mail).ok().zip(message.to_str()).zip(patch.to_str());
            if let Some(((mail, message), to)) = read
                && glance.fed(&["mailinfo", message, to], mail).is_some()
            {
                patches.push(patch);
            }
        }
    }
    patches
}
