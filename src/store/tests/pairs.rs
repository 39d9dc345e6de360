//! Tests that what the store writes is what it reads again, whatever text a person, a model or a provider gave it: one law
//! over all pairs of a writer and a reader.

#![expect(clippy::unnecessary_wraps, reason = "the functions of the table have one type")]

use super::*;
use crate::event::{Reading, Remark};
use crate::reach::{Folders, Reach};
use crate::rules::{self, Origin, Rules, Verdict, WrittenRule};
use crate::session::title;
use crate::store::checkpoints::{self, Cause, Checkpoints, Content, New, Said};
use proptest::prelude::*;

/// Writes a text in a folder. Returns what is read again and what has to be; `None` if the writer takes no such text.
type Pair = fn(&Path, &str) -> Option<(String, String)>;

const PAIRS: [(&str, Pair); 9] = [
    ("rule of “always”", always),
    ("answer about instructions", agreed),
    ("plan with comments", plan),
    ("history of prompts", history),
    ("title of a conversation", titled),
    ("note of a checkpoint", note),
    ("path and title of a change", change),
    ("repository of a project", hints),
    ("size of a model's request", measure),
];

/// Texts that a reader may take for something else, or cut.
fn hostile() -> Vec<String> {
    let long = "x".repeat(65_536);
    let all = [
        "plain",
        "a\u{200f}b",
        "a\u{2028}b\u{2029}c\u{85}d",
        "a\0b",
        "\u{ad}soft",
        "\u{1f1e9}\u{1f1ea}",
        "\u{feff}mark",
        "quote \" and ' and \\ and `",
        "# a\n\n- b\r\n```\n--> <!-- caliban {} -->",
        "$(touch x) ; rm -rf * | cat",
        " leading and trailing ",
        "tab\tand\u{1b}[31mcolour\u{7}",
        "\u{202e}left\u{202c}",
        "é e\u{301} 語 😀",
        "-v",
        "*",
        "~/.ssh",
        "..",
        "a/../b",
        &long,
        &format!("{long}\n{long}"),
    ];
    all.iter().map(|it| (*it).to_owned()).collect()
}

fn check(text: &str) {
    for (name, pair) in PAIRS {
        let dir = tempfile::tempdir().unwrap();
        if let Some((read, wanted)) = pair(dir.path(), text) {
            let shown: String = text.chars().take(100).collect();
            assert!(read == wanted, "{name}: {shown:?}\nread {read:.200}\nwanted {wanted:.200}");
        }
    }
}

#[test]
fn hostile_texts_are_read_again_as_they_were_written() {
    for it in hostile() {
        check(&it);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_text_is_read_again_as_it_was_written(text in any::<String>(), other in prop::sample::select(hostile())) {
        check(&text);
        check(&format!("{text}{}", other.chars().take(300).collect::<String>()));
    }
}

fn project(dir: &Path) -> Project {
    Project::new(dir, Path::new(ROOT))
}

fn opened(dir: &Path) -> Opened {
    loop {
        match project(dir).open(&main_id()) {
            Err(Unavailable::Locked(_)) => std::thread::yield_now(),
            opened => return opened.unwrap(),
        }
    }
}

/// The rule that the question offers for a command allows the same command afterwards.
fn always(dir: &Path, text: &str) -> Option<(String, String)> {
    let command = format!("ls '{}'", text.replace('\'', r"'\''"));
    let root = Path::new(ROOT);
    let reach = Reach::new(&Folders { root: root.to_owned(), ..Folders::default() });
    let judged = |rules: Vec<rules::Rule>| {
        let (command, hosts, unlocked) = (command.clone(), Vec::new(), Vec::new());
        let access = Access::Act { command, outside: None, background: false, hosts, unlocked };
        Rules::new(rules, root, &reach).judge(&access)
    };
    let offered = judged(Vec::new()).always;
    if offered.is_empty() {
        // a rule would allow too much, or bash would not take the text as one word
        assert!(text != "plain" && !text.starts_with("a\u{200f}b"), "{text:?}");
        return None;
    }
    let permitted = project(dir).permitted();
    permitted.add(WrittenRule::always(&offered)).unwrap();
    let (all, problems) = rules::read(&project(dir).permitted().all(), Origin::Always, "");
    let read = format!("{problems:?} {:?}", judged(all).verdict);
    Some((read, format!("[] {:?}", Some(Verdict::Allow))))
}

fn agreed(dir: &Path, text: &str) -> Option<(String, String)> {
    project(dir).agreed().note([(text, text)], Some(true)).unwrap();
    let read = project(dir).agreed().answer(text, text);
    Some((format!("{read:?}"), format!("{:?}", Some(true))))
}

fn plan(dir: &Path, text: &str) -> Option<(String, String)> {
    let call = CallId(text.to_owned());
    let remarks = vec![Remark { first: 1, last: 2, text: text.to_owned() }];
    let reading = Reading { text: text.to_owned(), remarks };
    opened(dir).store.save_plan(&call, &reading).unwrap();
    let read = opened(dir).store.plan(&call);
    let wanted = Reading { text: format!("{}\n", text.trim_end()), ..reading };
    Some((format!("{read:?}"), format!("{:?}", Some(wanted))))
}

/// Each line is a JSON string. A prompt that is too long is not kept.
fn history(dir: &Path, text: &str) -> Option<(String, String)> {
    let store = opened(dir).store;
    store.remember(text).unwrap();
    let all = fs::read_to_string(project(dir).dir().join("history")).ok()?;
    let read: Vec<String> = all.lines().map(|it| serde_json::from_str(it).unwrap()).collect();
    Some((format!("{read:?}"), format!("{:?}", [text])))
}

fn titled(dir: &Path, text: &str) -> Option<(String, String)> {
    let mut store = opened(dir).store;
    store.save(&Session { title: title(text), ..Session::default() }).unwrap();
    drop(store);
    Some((opened(dir).session.unwrap_or_default().title, title(text)))
}

fn checkpoints(dir: &Path) -> Checkpoints {
    Checkpoints::open(Arc::new(RealDisk), dir.join("main.checkpoints"), Path::new(ROOT))
}

fn origin(text: &str) -> checkpoints::Origin {
    checkpoints::Origin { turn: 1, title: text.to_owned(), cause: Cause::Command }
}

fn note(dir: &Path, text: &str) -> Option<(String, String)> {
    let said = Said::Branch { name: text.to_owned(), from: Some(text.to_owned()), to: None };
    let mut all = checkpoints(dir);
    all.note(&origin(text), said).unwrap();
    Some((format!("{:?}", checkpoints(dir).notes()), format!("{:?}", all.notes())))
}

/// A path that is not one of the project is not recorded.
fn change(dir: &Path, text: &str) -> Option<(String, String)> {
    let mut all = checkpoints(dir);
    let path = Path::new(ROOT).join(text);
    let kept = all.blobs().keep(&Content::of(text.as_bytes().to_vec())).unwrap();
    let new = New::content(path.clone(), kept.clone(), kept);
    let (_, written) = all.begin(&origin(text), vec![new]);
    written.unwrap();
    let read = checkpoints(dir);
    let paths: Vec<&Path> = read.changes().iter().map(|it| &*it.path).collect();
    assert!(all.changes().is_empty() || paths == [path], "{paths:?}");
    Some((format!("{:?}", read.changes()), format!("{:?}", all.changes())))
}

/// Another folder of the same repository is found again by its path.
fn hints(dir: &Path, text: &str) -> Option<(String, String)> {
    let name: String = text.chars().filter(|it| !"/\0".contains(*it)).take(50).collect();
    let (data, one, other) = (dir.join("data"), dir.join("one").join(&name), dir.join("other"));
    for it in [&one, &other] {
        fs::create_dir_all(it.join(".git/logs")).unwrap();
        fs::write(it.join(".git/logs/HEAD"), format!("0 {text:?}\n")).unwrap();
        fs::create_dir_all(Project::new(&data, it).dir()).unwrap();
        Project::new(&data, it).note_hints();
    }
    let found = Project::new(&data, &other).relatives();
    let read: Vec<&Path> = found.iter().map(Project::root).collect();
    Some((format!("{read:?}"), format!("{:?}", [&one])))
}

fn measure(dir: &Path, text: &str) -> Option<(String, String)> {
    let (file, measure) = (dir.join("measures"), crate::event::Measure { tokens: 7, bytes: 30 });
    measures::keep(&file, text.to_owned(), measure);
    let read = measures::read(&file);
    Some((format!("{:?}", read.get(text)), format!("{:?}", Some(&measure))))
}

/// The path of a project need not be UTF-8.
#[test]
fn a_project_whose_path_is_not_utf8_is_found_again() {
    use std::os::unix::ffi::OsStrExt;
    let dir = tempfile::tempdir().unwrap();
    let one = dir.path().join(std::ffi::OsStr::from_bytes(b"odd\xff"));
    let other = dir.path().join("other");
    for it in [&one, &other] {
        fs::create_dir_all(it.join(".git/logs")).unwrap();
        fs::write(it.join(".git/logs/HEAD"), "0 abc\n").unwrap();
        fs::create_dir_all(Project::new(dir.path(), it).dir()).unwrap();
        Project::new(dir.path(), it).note_hints();
    }
    let roots = |of: &Path| -> Vec<PathBuf> {
        let found = Project::new(dir.path(), of).relatives();
        found.iter().map(|it| it.root().to_owned()).collect()
    };
    assert_eq!((roots(&one), roots(&other)), (vec![other.clone()], vec![one.clone()]));
}
