//! Tests checkpoints on a disk that works, and with contents that are damaged, old or too large.

use super::*;
use crate::store::RealDisk;
use std::fs;

struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    fn open(&self) -> Checkpoints {
        Checkpoints::open(
            Arc::new(RealDisk),
            self.dir.path().join("main.checkpoints"),
            Path::new("/p"),
        )
    }

    fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.dir.path().join("main.checkpoints").join(name)
    }
}

fn place() -> Place {
    Place { dir: tempfile::tempdir().unwrap() }
}

fn text(content: &str) -> Content {
    Content::Text(Text::new(content))
}

fn origin(turn: u32, cause: Cause) -> Origin {
    Origin { turn, title: format!("prompt {turn}"), cause }
}

#[test]
fn several_tasks_store_the_same_content_at_the_same_time() {
    let place = place();
    let blobs = place.open().blobs();
    for round in 0..100 {
        let content = text(&format!("the same in round {round}\n"));
        let store = || blobs.keep(&content).map(|_| ());
        let kept: Vec<io::Result<()>> = std::thread::scope(|scope| {
            let tasks: Vec<_> = (0..8).map(|_| scope.spawn(store)).collect();
            tasks.into_iter().map(|it| it.join().unwrap()).collect()
        });
        assert!(kept.iter().all(Result::is_ok), "{kept:?}");
        let name = BlobName::of(&content.bytes().unwrap());
        assert_eq!(fs::read(place.path(&name)).unwrap(), content.bytes().unwrap());
    }
}

/// A change of `a.txt`.
fn change(all: &mut Checkpoints, turn: u32, before: &Content, after: &Content) -> u32 {
    change_by(all, turn, Cause::Edit, [before, after])
}

fn change_by(
    all: &mut Checkpoints,
    turn: u32,
    cause: Cause,
    [before, after]: [&Content; 2],
) -> u32 {
    let blobs = all.blobs();
    let (before, after) = (blobs.keep(before).unwrap(), blobs.keep(after).unwrap());
    let new = New::content("/p/a.txt".into(), before, after);
    let (ids, written) = all.begin(&origin(turn, cause), vec![new]);
    written.unwrap();
    ids[0]
}

/// Each change as text: its entry, its content before and after, and whether a rewind could undo the change.
fn sides(all: &Checkpoints) -> Vec<String> {
    let blobs = all.blobs();
    let one = |it: &Kept| match blobs.read(it) {
        Ok(Content::Text(text)) => text.content.replace('\n', "|"),
        other => format!("{other:?}"),
    };
    let line = |it: &Change| {
        let (before, after) = it.sides();
        format!("{}: {} -> {} {}", it.entry, one(before), one(after), it.counts())
    };
    all.changes().iter().map(line).collect()
}

fn settle(all: &mut Checkpoints, now: &str) {
    all.settle(Path::new("/p/a.txt"), Some(&Text::new(now)), None).unwrap();
}

#[test]
fn changes_and_their_contents_survive_reopening() {
    let place = place();
    let mut all = place.open();
    change(&mut all, 1, &text("a\n"), &text("b\n"));
    change(&mut all, 1, &text("b\n"), &text("c\n"));
    change(&mut all, 2, &Content::Absent, &Content::Bytes(b"\xff\0".to_vec()));
    let before = sides(&all);
    assert_eq!(
        before,
        ["1: a| -> b| true", "1: b| -> c| true", "2: Ok(Absent) -> Ok(Bytes([255, 0])) true"]
    );
    assert_eq!(sides(&place.open()), before);
    // there are the log and four contents
    assert_eq!(fs::read_dir(place.path("")).unwrap().count(), 5);
}

#[test]
fn the_recorded_change_of_a_turn_has_only_what_the_user_accepted() {
    let place = place();
    let mut all = place.open();
    change(&mut all, 1, &text("a\nb\nc\nd\ne\n"), &text("A\nb\nc\nd\nE\n"));
    // the user rejects one hunk, reworks another one and adds a line
    settle(&mut all, "a\nb\nmine\nc\nd\nE!\n");
    let sided = "1: a|b|mine|c|d|e| -> a|b|mine|c|d|E!| true";
    assert_eq!(sides(&all), [sided]);
    // the user undoes the review's decisions in the buffer, and redoes them
    settle(&mut all, "a\nb\nc\nd\ne\n");
    assert_eq!(sides(&all), ["1: a|b|c|d|e| -> a|b|c|d|e| false"]);
    settle(&mut all, "a\nb\nmine\nc\nd\nE!\n");
    assert_eq!(sides(&all), [sided]);
    // a later change belongs to another turn
    change(&mut all, 2, &text("a\nb\nmine\nc\nd\nE!\n"), &text("x\n"));
    settle(&mut all, "y\n");
    assert_eq!(sides(&all), [sided, "2: a|b|mine|c|d|E!| -> y| true"]);
    assert_eq!(sides(&place.open()), sides(&all));
}

/// The user decides on an edit after a command has changed the file again.
#[test]
fn a_verdict_after_a_command_concerns_the_edit_as_it_was_before_the_command() {
    let check = |before: &Content, edited: &str, ran: &Content, now: &str, expected: [&str; 2]| {
        let place = place();
        let mut all = place.open();
        change(&mut all, 1, before, &text(edited));
        change_by(&mut all, 2, Cause::Command, [&text(edited), ran]);
        // a verdict that is taken back and given again
        settle(&mut all, "something else\n");
        settle(&mut all, now);
        assert_eq!(sides(&place.open()), expected, "{now:?}");
    };
    let (old, ran) = (text("a\nb\nc\n"), text("a\nBB\nc\n"));
    // accepted as the command left it
    let accepted = ["1: a|b|c| -> a|B|c| true", "2: a|B|c| -> a|BB|c| true"];
    check(&old, "a\nB\nc\n", &ran, "a\nBB\nc\n", accepted);
    // rejected: nothing is left to take back
    let rejected = ["1: a|b|c| -> a|b|c| false", "2: a|b|c| -> a|b|c| false"];
    check(&old, "a\nB\nc\n", &ran, "a\nb\nc\n", rejected);
    // the command changed another line than the edit that was rejected
    let apart = ["1: a|b|c| -> a|b|c| false", "2: a|b|c| -> a|b|C| true"];
    check(&old, "a\nB\nc\n", &text("a\nB\nC\n"), "a\nb\nC\n", apart);
    // a new file
    let made = ["1: Ok(Absent) -> x| true", "2: x| -> y| true"];
    check(&Content::Absent, "x\n", &text("y\n"), "y\n", made);
}

/// A session that is cleared counts its turns from one again.
#[test]
fn a_turn_after_clear_is_not_merged_with_an_earlier_turn_of_the_same_number() {
    let place = place();
    let mut all = place.open();
    change(&mut all, 1, &text("a\n"), &text("b\n"));
    all.clear().unwrap();
    change(&mut all, 1, &text("b\n"), &text("c\n"));
    change(&mut all, 1, &text("c\n"), &text("d\n"));
    // after the session is opened again, a turn gets a new entry, too
    change(&mut place.open(), 1, &text("d\n"), &text("e\n"));
    let expected = ["1: a| -> b| true", "2: b| -> c| true", "2: c| -> d| true", "3: d| -> e| true"];
    assert_eq!(sides(&place.open()), expected);
}

#[test]
fn a_change_that_was_rejected_or_not_made_cannot_be_rewound() {
    let place = place();
    let mut all = place.open();
    change(&mut all, 1, &text("a\n"), &Content::Absent);
    settle(&mut all, "a\n");
    change(&mut all, 2, &Content::Absent, &text("new\n"));
    all.settle(Path::new("/p/a.txt"), None, None).unwrap();
    let id = change(&mut all, 3, &text("a\n"), &text("b\n"));
    all.alter(id, |it| it.state = State::Void).unwrap();
    assert!(all.changes().iter().all(|it| !it.counts()), "{:?}", sides(&all));
}

#[test]
fn damaged_lines_and_contents_are_reported_and_the_others_are_kept() {
    let place = place();
    let mut all = place.open();
    change(&mut all, 1, &text("a\n"), &text("b\n"));
    change(&mut all, 2, &text("b\n"), &text("c\n"));
    let log = fs::read_to_string(place.path(LOG)).unwrap();
    let [one, two] = log.lines().collect::<Vec<_>>()[..] else { panic!("{log}") };
    // the log has a line that another program wrote, and a line that a crash cut off
    fs::write(place.path(LOG), format!("{one}\n{{\"id\": 7}}\n{}", &two[..40])).unwrap();
    let mut all = place.open();
    assert_eq!(sides(&all), ["1: a| -> b| true"]);
    change(&mut all, 3, &text("c\n"), &text("d\n"));
    assert_eq!(sides(&place.open()), ["1: a| -> b| true", "2: c| -> d| true"]);
    let Kept::Blob(name) = all.changes()[0].before.clone() else { panic!() };
    fs::write(place.path(&name), "x\n").unwrap();
    let read = |kept: &Kept| all.blobs().read(kept).unwrap_err();
    assert_eq!(read(&Kept::Blob(name.clone())), "is damaged");
    fs::remove_file(place.path(&name)).unwrap();
    assert_eq!(read(&Kept::Blob(name)), "is missing");
    let large = Content::Bytes(vec![0; (16 << 20) + 1]);
    let kept = all.blobs().keep(&large).unwrap();
    assert_eq!(read(&kept), "was too large to be kept (16 MB)");
}

#[test]
fn changes_that_are_too_old_are_deleted_with_their_contents() {
    let place = place();
    let mut all = place.open();
    change(&mut all, 1, &text("a\n"), &text("b\n"));
    change(&mut all, 2, &text("b\n"), &text("c\n"));
    let old = now() - AGE.as_secs() - 60;
    all.alter(1, |it| it.at = old).unwrap();
    assert_eq!(sides(&place.open()), ["2: b| -> c| true"]);
    // there are the log and the contents `b` and `c`
    assert_eq!(fs::read_dir(place.path("")).unwrap().count(), 3);
    for turn in 3..ENTRIES + 10 {
        change(&mut all, u32::try_from(turn).unwrap(), &text("c\n"), &text("d\n"));
    }
    let entries = place.open().changes().len();
    assert_eq!(entries, ENTRIES);
}

#[test]
fn the_oldest_turn_is_deleted_when_the_contents_are_too_large() {
    let place = place();
    let mut all = place.open();
    change(&mut all, 1, &text("a\n"), &text("b\n"));
    change(&mut all, 2, &text("b\n"), &text("c\n"));
    let Kept::Blob(first) = all.changes()[0].sides().0.clone() else { panic!("nothing kept") };
    // a sparse file, so that it has this length and takes no space
    fs::File::options().write(true).open(place.path(&first)).unwrap().set_len(ALL).unwrap();
    assert_eq!(sides(&place.open()), ["2: b| -> c| true"]);
    assert!(!place.path(&first).exists());
}

#[test]
fn a_line_of_the_log_with_the_highest_possible_number_is_ignored() {
    let place = place();
    let mut all = place.open();
    change(&mut all, 1, &text("a\n"), &text("b\n"));
    let log = fs::read_to_string(place.path(LOG)).unwrap();
    for name in ["id", "entry", "turn"] {
        let forged = log.replace(&format!("\"{name}\":1"), &format!("\"{name}\":{}", u32::MAX));
        fs::write(place.path(LOG), forged).unwrap();
        let mut all = place.open();
        assert!(all.changes().is_empty(), "{name}");
        let first = change(&mut all, 2, &text("b\n"), &text("c\n"));
        let second = change(&mut all, 3, &text("c\n"), &text("d\n"));
        assert!(first < second);
        assert_eq!(place.open().changes().len(), 2, "{name}");
    }
}
