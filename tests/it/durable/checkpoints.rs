//! Tests checkpoints after a crash at any disk call: every checkpoint that was confirmed before the crash exists, with
//! its contents.

use super::machine::{FakeDisk, Fault, Machine, Unsynced};
use caliban::event::TurnId;
use caliban::store::checkpoints::{Cause, Change, Checkpoints, Content, Kept, New, Origin};
use caliban::text::Text;
use std::io;
use std::path::Path;
use std::sync::Arc;

fn open(disk: &Arc<FakeDisk>, dir: &Path) -> Checkpoints {
    Checkpoints::open(disk.clone(), dir.join("main.checkpoints"), Path::new("/p"))
}

/// The changes that the log confirmed as saved, and the number of disk calls until then.
struct Told {
    calls: usize,
    changes: Vec<Change>,
}

/// Two turns change a file, then the user decides on the second change, in spite of a disk error. Returns the disk and
/// the confirmed saves.
fn play(dir: &Path, fault: Option<Fault>) -> (Arc<FakeDisk>, Vec<Told>) {
    let disk = FakeDisk::new(Machine::default(), dir, fault);
    let mut all = open(&disk, dir);
    let mut told = vec![Told { calls: 0, changes: Vec::new() }];
    for TurnId(turn) in [TurnId(1), TurnId(2)] {
        let blobs = all.blobs();
        let keep = |text: String| {
            let content = Content::Text(Text::new(text));
            blobs.keep(&content).unwrap_or_else(|it| Kept::Lost(it.to_string()))
        };
        let (before, after) = (keep(format!("{turn}\n")), keep(format!("{}\n", turn + 1)));
        let new = New::content("/p/a.txt".into(), before, after);
        let origin = Origin { turn, title: "please".into(), cause: Cause::Edit };
        let (_, written) = all.begin(&origin, vec![new]);
        if written.is_ok() {
            told.push(Told { calls: disk.count(), changes: all.changes().to_vec() });
        }
    }
    if all.settle(Path::new("/p/a.txt"), Some(&Text::new("3\nmine\n")), None).is_ok() {
        told.push(Told { calls: disk.count(), changes: all.changes().to_vec() });
    }
    (disk, told)
}

/// Opens the log on this disk. Each change must be in one of these states, and every change of the first state must
/// exist. Then checks that the log can save another change.
fn check(machine: &Machine, states: &[&[Change]], dir: &Path, at: &str) {
    let disk = FakeDisk::new(machine.clone(), dir, None);
    let mut all = open(&disk, dir);
    let found = all.changes().to_vec();
    assert!(found.len() >= states[0].len(), "{at}: {found:?}\nlost of\n{states:?}");
    for change in &found {
        assert!(states.iter().any(|it| it.contains(change)), "{at}: {change:?} of\n{states:?}");
        let (before, after) = change.sides();
        for kept in [before, after] {
            assert!(all.blobs().read(kept).is_ok(), "{at}: {kept:?} of {change:?}");
        }
    }
    let (before, after) = (Kept::Absent, Kept::Absent);
    let new = New::content("/p/b.txt".into(), before, after);
    let origin = Origin { turn: 9, title: String::new(), cause: Cause::Edit };
    all.begin(&origin, vec![new]).1.unwrap();
    assert_eq!(open(&disk, dir).changes().len(), found.len() + 1, "{at}");
}

#[test]
fn a_crash_at_any_disk_call_loses_no_confirmed_checkpoint() {
    let (dir, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (disk, told) = play(dir.path(), None);
    let mut machine = Machine::default();
    for (n, op) in disk.ops().iter().enumerate() {
        let at = format!("call {n}, {op:?}");
        let last = told.iter().rposition(|it| it.calls <= n).unwrap();
        // the change whose write is under way may be saved or missing, but not damaged
        let states: Vec<&[Change]> =
            told[last..].iter().take(2).map(|it| &it.changes[..]).collect();
        check(&machine, &states, other.path(), &at);
        for torn in op.torn() {
            let mut machine = machine.clone();
            machine.apply(&torn).unwrap();
            check(&machine, &states, other.path(), &format!("{at}, torn"));
        }
        for data in [Unsynced::Kept, Unsynced::Lost, Unsynced::Zeroed] {
            for are_names_kept in [true, false] {
                let at = format!("no power at {at}, {data:?}, names kept: {are_names_kept}");
                let machine = machine.without_power(data, are_names_kept);
                check(&machine, &states, other.path(), &at);
            }
        }
        machine.apply(op).unwrap();
    }
    assert!(disk.count() > 15, "{}", disk.count());
}

#[test]
fn a_failing_disk_loses_no_checkpoint_confirmed_before() {
    let (dir, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let count = play(dir.path(), None).0.count();
    for from in 0..count {
        let kind = io::ErrorKind::StorageFull;
        let (disk, told) = play(dir.path(), Some(Fault { from, until: from + 2, kind }));
        let machine = disk.machine();
        let disk = FakeDisk::new(machine, other.path(), None);
        let found = open(&disk, other.path());
        let is_there = |it: &Change| found.changes().iter().any(|other| other.id == it.id);
        let said = told.last().map_or(&[][..], |it| &it.changes);
        assert!(told.len() < 2 || said.iter().any(is_there), "{from}");
        let all = found.changes().iter().flat_map(|it| [it.sides().0, it.sides().1]);
        for kept in all.filter(|it| matches!(it, Kept::Blob(_))) {
            assert!(found.blobs().read(kept).is_ok(), "{from}: {kept:?}");
        }
    }
}
