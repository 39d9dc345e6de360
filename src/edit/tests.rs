use super::*;
use crate::text::diff;
use expect_test::{Expect, expect, expect_file};
use proptest::prelude::*;
use serde_json::Value;
use std::fs;
use std::path::Path;

fn change(json: &Value) -> Change {
    if let Some(text) = json["text"].as_str() {
        return Change::Write { text: text.to_owned() };
    }
    let edits = json["edits"].as_array().unwrap().iter();
    let string = |value: &Value| value.as_str().unwrap().to_owned();
    Change::Replace(
        edits
            .map(|edit| Replacement {
                old: string(&edit["old"]),
                new: string(&edit["new"]),
                everywhere: edit["everywhere"] == true,
            })
            .collect(),
    )
}

fn check_case(dir: &Path) {
    let before = fs::read(dir.join("before")).ok().map(|bytes| Text::decode(&bytes).unwrap());
    let json = serde_json::from_slice(&fs::read(dir.join("edit.json")).unwrap()).unwrap();
    match resolve(before.as_ref(), &change(&json)) {
        Ok(text) => {
            let wanted = fs::read(dir.join("after"))
                .unwrap_or_else(|_| panic!("{} should not fit", dir.display()));
            let got = text.encode();
            assert!(
                got == wanted,
                "{}: {:?} is not {:?}",
                dir.display(),
                String::from_utf8_lossy(&got),
                String::from_utf8_lossy(&wanted)
            );
        }
        Err(misfit) => {
            let said = misfit.say("src/a.rs", before.as_ref());
            assert!(!dir.join("after").exists(), "{}: {said}", dir.display());
            expect_file![dir.join("misfit")].assert_eq(&format!("{said}\n"));
        }
    }
}

#[test]
fn cases() {
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
    Change::Replace(vec![Replacement {
        old: old.to_owned(),
        new: new.to_owned(),
        everywhere: false,
    }])
}

#[test]
fn big_texts_are_no_trouble() {
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
    let misfit = resolve(Some(&minified), &replace("var a=1;", "")).unwrap_err();
    assert!(misfit.say("a", Some(&minified)).len() < 1_000);

    let same = Text::new("a".repeat(1_000_000));
    let old = "a".repeat(500_000);
    assert!(matches!(resolve(Some(&same), &replace(&old, "")), Err(Misfit::Ambiguous { .. })));
}

fn part(before: &str, after: &str) -> Part {
    Part { call: CallId("c".into()), before: Text::new(before), after: Text::new(after) }
}

fn check_outcome(before: &str, after: &str, settled: Option<&str>, expect: &Expect) {
    let settled = settled.map(Text::new);
    let outcome = outcome(&part(before, after), settled.as_ref());
    let mut said = outcome.say("a.rs", &[]);
    if let Some(settled) = &settled {
        said.push('\n');
        said.push_str(&elsewhere(&part(before, after), settled));
    }
    expect.assert_eq(said.trim_end());
}

#[test]
fn outcomes() {
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
            The file changed elsewhere too, by the user or a formatter:
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
            The file changed elsewhere too, by the user or a formatter:
            @@ line 2
            +mine"#]],
    );
}

#[test]
fn equal_lines_do_not_mislead() {
    let judged = |before, after, settled: &str| {
        let outcome = outcome(&part(before, after), Some(&Text::new(settled)));
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
fn reasons_find_their_part() {
    let part = part("a\nb\nc\n", "a\nB\n");
    assert!(concerns(&part, &["B".to_owned()]));
    assert!(!concerns(&part, &["a".to_owned()]));
}

proptest! {
    #[test]
    fn only_the_match_changes(
        head in "(\u{feff})?[ab\r\né]{0,9}", old in "[xy\r\n]{1,4}", new in "[zé\n]{0,4}",
        tail in "[ab\r\né]{0,9}",
    ) {
        let file = format!("{head}{old}{tail}");
        let text = Text::decode(file.as_bytes()).unwrap();
        prop_assume!(text.newline == crate::text::Newline::Unix);
        let fits = resolve(Some(&text), &replace(&old, &new));
        let sites = (0..file.len()).filter(|at| {
            file.as_bytes()[*at..].starts_with(old.as_bytes())
        }).count();
        match fits {
            Ok(after) => {
                prop_assert_eq!(sites, 1);
                prop_assert_eq!(after.encode(), format!("{head}{new}{tail}").into_bytes());
            }
            Err(misfit) => prop_assert!(
                sites > 1 || old == new, "{:?}", misfit
            ),
        }
    }

    #[test]
    fn dos_stays_dos(lines in proptest::collection::vec("[ab]{1,3}", 1..6), at in 0usize..6) {
        let at = at % lines.len();
        let numbered: Vec<String> =
            lines.iter().enumerate().map(|(n, line)| format!("{n}{line}\r\n")).collect();
        let text = Text::decode(numbered.concat().as_bytes()).unwrap();
        let old = numbered[at].replace("\r\n", "\n");
        let after = resolve(Some(&text), &replace(&old, "new\nlines\n")).unwrap();
        let mut wanted = numbered.clone();
        wanted[at] = "new\r\nlines\r\n".to_owned();
        prop_assert_eq!(after.encode(), wanted.concat().into_bytes());
    }

    /// Any choice among the hunks is found again, with the user's own lines put in elsewhere.
    #[test]
    fn every_choice_is_heard(
        lines in proptest::collection::vec((0u8..4, any::<bool>(), any::<bool>()), 1..40),
    ) {
        let (mut before, mut after, mut settled) = (vec![], vec![], vec![]);
        for (n, (kind, keep, own)) in lines.iter().enumerate() {
            let (old, new) = match kind {
                0 => (vec![], vec![format!("new {n}")]),
                1 => (vec![format!("old {n}")], vec![]),
                2 => (vec![format!("old {n}")], vec![format!("new {n}"), "}".to_owned()]),
                _ => (vec![], vec![]),
            };
            settled.extend(if *keep { new.clone() } else { old.clone() });
            before.extend(old);
            after.extend(new);
            for side in [&mut before, &mut after, &mut settled] {
                side.extend([format!("apart {n}"), "}".to_owned()]);
            }
            if *own {
                settled.push(format!("own {n}"));
            }
            for side in [&mut before, &mut after, &mut settled] {
                side.push(format!("between {n}"));
            }
        }
        let part = part(&before.join("\n"), &after.join("\n"));
        let hunks = diff(&part.before, &part.after).len();
        prop_assume!(hunks > 0 && hunks == lines.iter().filter(|(kind, ..)| *kind < 3).count());
        let heard = outcome(&part, Some(&Text::new(settled.join("\n"))));
        let kept = lines.iter().filter(|(kind, keep, _)| *kind < 3 && *keep).count();
        prop_assert_eq!(heard.count(Fate::Reworked), 0);
        prop_assert_eq!(heard.count(Fate::Kept), kept);
        prop_assert_eq!(heard.count(Fate::Undone), hunks - kept);
    }
}
