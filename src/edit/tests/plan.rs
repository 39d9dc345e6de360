//! Tests calls that change several files.

use super::*;
use crate::edit::Rung;

fn texts(files: &[(&str, Option<&str>)]) -> Texts {
    files.iter().map(|(path, text)| (path.into(), text.map(Text::new))).collect()
}

/// Applies a call's edits to these files. Returns the new text of each file with the note on tolerated differences, or
/// the error. Checks that a refused call leaves all files unchanged.
fn over(
    files: &[(&str, Option<&str>)],
    edits: &[(&str, &str, &str)],
) -> Result<String, Box<Refusal>> {
    let mut now = texts(files);
    let edits: Vec<Edit> = edits
        .iter()
        .map(|(path, old, new)| Edit { path: path.into(), change: replace(old, new) })
        .collect();
    let done = apply(&mut now, &edits, |_, _, _| Ok(()));
    if done.is_err() {
        assert!(texts(files).iter().all(|(path, text)| now[path] == *text));
    }
    let line = |it: Changed| {
        let after = now[&it.path].clone().unwrap();
        let before = it.back.before(after.clone()).map(|it| it.content);
        format!("{} {before:?} -> {:?} {}\n", it.path.display(), after.content, it.note)
    };
    Ok(done?.into_iter().map(line).collect())
}

fn told(done: Result<String, Box<Refusal>>) -> String {
    done.unwrap_or_else(|refusal| refusal.say(&refusal.path.display().to_string()))
}

#[test]
fn a_call_changes_all_its_files_or_none_of_them() {
    let files = [("a", Some("one\ntwo\n")), ("b", Some("one \n")), ("c", None)];
    let edits =
        [("a", "one", "1"), ("b", "one\n", "uno\n"), ("a", "1\ntwo", "2"), ("c", "", "new\n")];
    expect![[r#"
        a Some("one\ntwo\n") -> "2\n" 
        b Some("one \n") -> "uno \n" $.edits[1]: `old` does not match the file exactly. The edit was applied at line 1, ignoring blanks at line ends.
        c None -> "new\n" 
    "#]]
    .assert_eq(&told(over(&files, &edits)));
    let last = [&edits[..], &[("b", "two", "2")]].concat();
    expect![
        "$.edits[4] does not fit, so no edit was applied. `old` is not in b. Nothing in the file is similar: read it again."
    ]
    .assert_eq(&told(over(&files, &last)));
    let absent = [("a", "one", "1"), ("c", "one", "1")];
    expect![
        "$.edits[1] does not fit, so no edit was applied. c does not exist. Use write to create it."
    ]
    .assert_eq(&told(over(&files, &absent)));
}

#[test]
fn a_file_whose_edits_cancel_each_other_is_left_alone() {
    let files = [("a", Some("one\n")), ("b", Some("two\n"))];
    let there_and_back = [("a", "one", "1"), ("b", "two", "2"), ("a", "1", "one")];
    assert_eq!(told(over(&files, &there_and_back)), "b Some(\"two\\n\") -> \"2\\n\" \n");
    let none = over(&files, &[there_and_back[0], there_and_back[2]]).unwrap_err();
    assert_eq!(none.misfit, Misfit::Unchanged);
}

#[test]
fn a_call_changes_no_file_if_one_of_its_files_may_not_be_changed() {
    let mut texts = texts(&[("a", Some("one\n")), ("b", Some("one\n"))]);
    let edit = |path: &str| Edit { path: path.into(), change: replace("one", "1") };
    let may = |path: &Path, _: Option<&Text>, _: &Change| {
        if path.ends_with("b") { Err(Misfit::Refused("it is b".to_owned())) } else { Ok(()) }
    };
    let refusal = apply(&mut texts, &[edit("a"), edit("b")], may).unwrap_err();
    assert_eq!((refusal.at, refusal.of), (1, 2));
    assert_eq!(refusal.misfit, Misfit::Refused("it is b".to_owned()));
}

#[test]
fn an_edit_that_matches_several_places_with_the_same_tolerance_is_refused() {
    let text = Text::new("a \nb\na\t\n");
    let misfit = resolve(Some(&text), &replace("a\n", "c\n")).unwrap_err();
    assert_eq!(misfit, Misfit::Ambiguous { at: vec![1, 3], by: vec![Rung::Blanks] });
}
