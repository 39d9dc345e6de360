mod decision;
mod formatted;
mod kept;
mod ladder;
mod laws;
mod patch;
mod plan;

use super::*;
use crate::message::CallId;
use crate::text::Text;
use expect_test::{Expect, expect, expect_file};
use serde_json::Value;
use std::fs;
use std::path::Path;

const PATH: &str = "src/a.rs";

fn edits(json: &Value) -> Vec<Edit> {
    let edit = |change| Edit { path: PATH.into(), change };
    if let Some(text) = json["text"].as_str() {
        return vec![edit(Change::Write { text: text.to_owned() })];
    }
    let string = |value: &Value| value.as_str().unwrap().to_owned();
    let replacement = |one: &Value| Replacement {
        old: string(&one["old"]),
        new: string(&one["new"]),
        everywhere: one["everywhere"] == true,
    };
    json["edits"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| edit(Change::Replace(replacement(one))))
        .collect()
}

/// Compares the result of one case with the expected one: the changed file and the note on tolerated differences, or
/// the misfit.
fn check_case(dir: &Path) {
    let before = fs::read(dir.join("before")).ok().map(|bytes| Text::decode(&bytes).unwrap());
    let json = serde_json::from_slice(&fs::read(dir.join("edit.json")).unwrap()).unwrap();
    let mut texts = Texts::from([(PATH.into(), before)]);
    match apply(&mut texts, &edits(&json), |_, _, _| Ok(())) {
        Ok(files) => {
            let [Changed { note, .. }] = &files[..] else { panic!("{files:?}") };
            let after = texts[Path::new(PATH)].clone().unwrap();
            let wanted = fs::read(dir.join("after"))
                .unwrap_or_else(|_| panic!("{} should not fit: {after:?}", dir.display()));
            let got = after.encode();
            assert!(
                got == wanted,
                "{}: {:?} is not {:?}",
                dir.display(),
                String::from_utf8_lossy(&got),
                String::from_utf8_lossy(&wanted)
            );
            if !note.is_empty() || dir.join("note").exists() {
                expect_file![dir.join("note")].assert_eq(&format!("{note}\n"));
            }
        }
        Err(refusal) => {
            let said = refusal.say(PATH);
            assert!(!dir.join("after").exists(), "{}: {said}", dir.display());
            expect_file![dir.join("misfit")].assert_eq(&format!("{said}\n"));
        }
    }
}

#[test]
fn each_edit_case_in_the_data_folder_gives_its_expected_text_or_error() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/edits");
    let entries = fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path());
    let mut dirs: Vec<_> = entries.filter(|path| path.is_dir()).collect();
    dirs.sort();
    assert!(dirs.len() >= 25, "only {} cases", dirs.len());
    for dir in dirs {
        check_case(&dir);
    }
}

fn replace(old: &str, new: &str) -> Change {
    Change::Replace(Replacement { old: old.to_owned(), new: new.to_owned(), everywhere: false })
}

/// A text after a change, with the note for the model.
#[derive(Debug)]
struct Fit {
    text: Text,
    note: String,
}

fn resolve(before: Option<&Text>, change: &Change) -> Result<Fit, Misfit> {
    let mut text = before.cloned();
    let result = super::resolve(&mut text, change);
    assert!(result.is_ok() || text.as_ref() == before, "a misfit has changed the text");
    Ok(Fit { note: result?, text: text.unwrap_or_default() })
}

#[test]
fn a_misfit_in_a_huge_file_is_explained_in_a_short_message() {
    let lines =
        (0..20_000).map(|n| format!("    let x{} = {n};\n", n % 500)).collect::<Vec<_>>().concat();
    let text = Text::new(lines);
    let old = (300..900).map(|n| format!("    let x{n} = {n};\n")).collect::<Vec<_>>().concat();
    let misfit = resolve(Some(&text), &replace(&old, "")).unwrap_err();
    assert!(matches!(misfit, Misfit::Absent { nearest: Some(301), .. }));
    assert!(misfit.say("a", Some(&text)).len() < 10_000);

    let minified = Text::new("var a=1;".repeat(5_000_000 / 8));
    let misfit = resolve(Some(&minified), &replace("var b=1;", "")).unwrap_err();
    assert!(misfit.say("a", Some(&minified)).len() < 1_000);
    let long = Text::new(format!("{}var special=2;{}", &minified.content, &minified.content));
    let said =
        resolve(Some(&long), &replace("var  special=3;", "")).unwrap_err().say("a", Some(&long));
    assert!(
        said.contains("line 1, around column 5000005:\n…") && said.contains("special=2"),
        "{said}"
    );
    let misfit = resolve(Some(&minified), &replace("var a=1;", "")).unwrap_err();
    assert!(misfit.say("a", Some(&minified)).len() < 1_000);

    let same = Text::new("a".repeat(1_000_000));
    let old = "a".repeat(500_000);
    assert!(matches!(resolve(Some(&same), &replace(&old, "")), Err(Misfit::Ambiguous { .. })));
}

fn part(before: &str, after: &str) -> Revision<'static> {
    let [before, after] = [before, after].map(|it| &*Box::leak(Box::new(Text::new(it))));
    Revision { before, after }
}

fn check_outcome(before: &str, after: &str, settled: Option<&str>, expect: &Expect) {
    let settled = settled.map(Text::new);
    let outcome = outcome(part(before, after), settled.as_ref());
    let mut said = outcome.say("a.rs", &[], &mut Reported::default());
    if let Some(settled) = &settled {
        said.push('\n');
        said.push_str(&elsewhere(part(before, after), settled, None, &Reported::default()));
    }
    expect.assert_eq(said.trim_end());
}

#[test]
fn a_verdict_tells_which_hunks_were_accepted_rejected_or_reworked() {
    let (before, after) = ("a\nb\nc\nd\ne\nf\n", "a\nB\nc\nd\nE\nE2\nf\n");
    check_outcome(before, after, Some(after), &expect!["The user accepted 2 changes in a.rs."]);
    check_outcome(
        before,
        after,
        Some(before),
        &expect!["The user rejected 2 changes in a.rs: they are undone."],
    );
    check_outcome(
        before,
        after,
        None,
        &expect!["The user rejected 2 changes in a.rs: they are undone."],
    );
    check_outcome(
        before,
        after,
        Some("new\na\nb\nc\nd\nE\nE2\nf\nmore\n"),
        &expect![[r#"
            Of 2 changes in a.rs: 1 accepted, 1 rejected and undone.
            line 3, rejected, reads as before:
            b
            line 6, accepted:
            E
            E2
            The file changed elsewhere too:
            @@ line 1
            +new
            @@ line 9
            +more"#]],
    );
    check_outcome(
        before,
        after,
        Some("a\nB\nc\nD\nE\nmine\nf\n"),
        &expect![[r#"
            Of 2 changes in a.rs: 1 accepted, 1 reworked by the user.
            line 2, accepted:
            B
            line 5, reworked, now reads:
            D
            E
            mine"#]],
    );
    check_outcome(
        "a\nb\n",
        "a\n",
        Some("a\nmine\n"),
        &expect![[r#"
            The user accepted the change in a.rs.
            The file changed elsewhere too:
            @@ line 2
            +mine"#]],
    );
}

#[test]
fn changes_outside_the_hunks_are_reported_to_the_model_once() {
    let part = part("a\nb\nc\nd\n", "a\nB\nc\nd\n");
    let (told, settled) = (Text::new("a\nB\nc\nmine\nd\n"), Text::new("a\nb\nc\nmine\nd\nlast\n"));
    expect![[r#"
        The file changed elsewhere too:
        @@ line 6
        +last"#]]
    .assert_eq(&elsewhere(part, &settled, Some(&told), &Reported::default()));
    assert_eq!(elsewhere(part, &settled, Some(&settled), &Reported::default()), "");
    let beside = Text::new("a\nB\nc\nmine\ntoo\n");
    expect![[r#"
        The file changed elsewhere too:
        @@ line 5
        -d
        +too"#]]
    .assert_eq(&elsewhere(part, &beside, Some(&told), &Reported::default()));
    expect![[r#"
        The file changed elsewhere too:
        @@ line 4
        -mine"#]]
    .assert_eq(&elsewhere(part, part.after, Some(&told), &Reported::default()));
}

/// The user has replaced the whole text. The model is told each line once, even if the line is in the place of several
/// hunks.
#[test]
fn lines_that_replace_several_hunks_are_told_to_the_model_once() {
    let numbers =
        |word: &str| (1..=9).fold(String::new(), |text, n| text + &format!("{word}{n}\n"));
    let before = numbers("l");
    let after = before.replace("l2", "L2").replace("l8", "L8\nL8b");
    let told = |settled: &str| {
        let (part, settled) = (part(&before, &after), Text::new(settled));
        let said = outcome(part, Some(&settled)).say("a", &[], &mut Reported::default());
        said + "\n" + &elsewhere(part, &settled, None, &Reported::default())
    };
    expect![[r#"
        Of 2 changes in a: 2 reworked by the user.
        line 2, reworked, now reads:
        other 1
        other 2
        other 3
        other 4
        other 5
        other 6
        other 7
        other 8
        other 9
        line 8, reworked: its current text is quoted above.
    "#]]
    .assert_eq(&told(&numbers("other ")));
    expect![[r#"
        Of 2 changes in a: 1 rejected and undone, 1 reworked by the user.
        line 2, reworked, now reads:
        m1
        m2
        m3
        line 8, rejected, reads as before:
        l8
    "#]]
    .assert_eq(&told(&before.replace("l1\nl2\nl3\n", "m1\nm2\nm3\n")));
    expect![[r#"
        Of 2 changes in a: 2 reworked by the user.
        line 2, reworked, now reads:
        m1
        m2
        line 8, reworked, now reads:
        L8b
    "#]]
    .assert_eq(&told(&after.replace("l1\nL2\nl3\nl4\nl5\nl6\nl7\nL8\n", "m1\nm2\n")));
    expect![[r#"
        Of 2 changes in a: 1 accepted, 1 reworked by the user.
        line 2, accepted:
        L2
        line 8, reworked, now reads:
        six
        seven
        L8
        L8c
    "#]]
    .assert_eq(&told(&after.replace("l6\nl7\nL8\nL8b", "six\nseven\nL8\nL8c")));
}

#[test]
fn equal_lines_next_to_a_hunk_do_not_change_its_outcome() {
    let judged = |before, after, settled: &str| {
        let outcome = outcome(part(before, after), Some(&Text::new(settled)));
        (outcome.count(Fate::Kept), outcome.count(Fate::Undone), outcome.count(Fate::Reworked))
    };
    assert_eq!(judged("A\n}\nB\n", "A\n}\n}\nB\n", "A\n}\nB2\n"), (0, 1, 0));
    assert_eq!(judged("A\n}\nB\n", "A\n}\n}\nB\n", "A\n}\n}\nB2\n"), (1, 0, 0));
    assert_eq!(judged("A\n}\n}\nB\n", "A\n}\nB\n", "A2\n}\n}\nB\n"), (0, 1, 0));
    assert_eq!(judged("a\nb", "a\nb\n", "a\nb"), (0, 1, 0));
    assert_eq!(judged("a\nb", "a\nb\n", "a\nb\n"), (1, 0, 0));
    assert_eq!(judged("", "a\nb\n", "a\nb\nc\n"), (1, 0, 0));
}

#[test]
fn overlapping_edits_of_a_file_each_get_their_own_outcome() {
    let parts = [part("a\nb\nc\nd\n", "a\nB\nC\nd\n"), part("a\nB\nC\nd\n", "a\nB\nCC\nD\n")];
    let told = |settled: &str| {
        let settled = Text::new(settled);
        let mut told = Reported::default();
        let said = [0, 1]
            .map(|at| outcome_among(&parts, at, Some(&settled), &[]).say("a", &[], &mut told));
        said.join("\n")
    };
    expect![[r#"
        The user rejected the change in a: it is undone.
        The user rejected the change in a: it is undone."#]]
    .assert_eq(&told("a\nb\nc\nd\n"));
    expect![[r#"
        Of the change in a: 1 changed again by a later edit.
        line 2, changed again by a later edit, now reads:
        B
        CC
        D
        The user accepted the change in a."#]]
    .assert_eq(&told("a\nB\nCC\nD\n"));
    expect![[r#"
        The user accepted the change in a.
        The user rejected the change in a: it is undone."#]]
    .assert_eq(&told("a\nB\nC\nd\n"));
}

/// A later edit may leave none of the lines of an earlier one, as a rejection does.
#[test]
fn an_edit_that_a_later_edit_replaces_as_a_whole_is_not_rejected() {
    use crate::edit::{Decision, decisions, follow};
    let told = |texts: &[&str], settled: &str, decision: Decision| {
        let parts: Vec<_> = texts.windows(2).map(|it| part(it[0], it[1])).collect();
        let settled = Text::new(settled);
        let mut told = Reported::default();
        let said = (0..parts.len()).map(|at| {
            let mut outcome = outcome_among(&parts, at, Some(&settled), &[]);
            follow(&mut outcome, parts[at], Some(&settled), &decisions(&parts, at, &[decision]));
            outcome.say("f", &[], &mut told)
        });
        said.collect::<Vec<_>>().join("\n")
    };
    let cases = [
        told(&["", "z1\n", "z2\n"], "z2\n", Decision::Accepted),
        told(&["", "z1\n", "z2\n"], "", Decision::Rejected),
        told(&["", "z1\n", "z2\n", "z3\n"], "z3\n", Decision::Accepted),
        told(&["a\n", "a\nb\n", "a\nc\n"], "a\nc\n", Decision::Accepted),
        told(&["a\n", "a\nb\n", "a\nc\n"], "a\n", Decision::Rejected),
        told(&["a\n", "a\nb\n", "a\nc\n"], "a\nmine\n", Decision::Reworked),
    ];
    expect![[r#"
        Of the change in f: 1 changed again by a later edit.
        line 1, changed again by a later edit, now reads:
        z2
        The user accepted the change in f.
        --
        The user rejected the change in f: it is undone.
        The user rejected the change in f: it is undone.
        --
        Of the change in f: 1 changed again by a later edit.
        line 1, changed again by a later edit, now reads:
        z3
        Of the change in f: 1 changed again by a later edit.
        line 1, changed again by a later edit: its current text is quoted above.
        The user accepted the change in f.
        --
        Of the change in f: 1 changed again by a later edit.
        line 2, changed again by a later edit, now reads:
        c
        The user accepted the change in f.
        --
        The user rejected the change in f: it is undone.
        The user rejected the change in f: it is undone.
        --
        Of the change in f: 1 reworked by the user.
        line 2, reworked, now reads:
        mine
        Of the change in f: 1 reworked by the user.
        line 2, reworked: its current text is quoted above."#]]
    .assert_eq(&cases.join("\n--\n"));
}
