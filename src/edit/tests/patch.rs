//! Tests the format of `apply_patch`. Patches that other coding agents accept are accepted, but where the rules of the
//! others are unsafe, the rules here are stricter.

mod places;

use super::*;
use proptest::prelude::*;

/// The result of applying a patch to these files, or the reason why the patch is refused.
fn told(files: &[(&str, &str)], patch: &str) -> String {
    let edits = match parse_patch(patch) {
        Ok(edits) => edits,
        Err(fault) => return fault,
    };
    let mut texts = files
        .iter()
        .map(|(path, text)| (path.into(), Some(Text::decode(text.as_bytes()).unwrap())))
        .collect();
    match apply(&mut texts, &edits, |_, _, _| Ok(())) {
        Ok(files) => {
            let one = |it: Changed| {
                let after = texts[&it.path].as_ref().unwrap();
                let bytes = String::from_utf8(after.encode()).unwrap();
                let whole = match &it.whole {
                    Some(Whole::Delete) => "deleted".to_owned(),
                    Some(Whole::Rename { to }) => format!("-> {}", to.display()),
                    None => String::new(),
                };
                format!("{}: {bytes:?} {}{whole}", it.path.display(), it.note).trim_end().to_owned()
            };
            files.into_iter().map(one).collect::<Vec<_>>().join("\n")
        }
        Err(refusal) => refusal.say(&refusal.path.display().to_string()),
    }
}

/// Applies a patch to the file `a` with this text, and compares the result. `body` is the part of the patch below its
/// header.
fn check(text: &str, body: &str, expect: &Expect) {
    let patch = format!("*** Begin Patch\n*** Update File: a\n{body}*** End Patch\n");
    expect.assert_eq(&told(&[("a", text)], &patch));
}

#[test]
fn a_patch_of_several_files_changes_all_of_them_or_none() {
    let patch = "*** Begin Patch\n*** Add File: new\n+one\n+\n+two\n*** Update File: a\n@@\n one\n-two\n+2\n\
        *** Update File: b\n@@\n-x\n+y\n*** End Patch";
    let files = [("a", "one\ntwo\nthree\n"), ("b", "x\n")];
    expect![[r#"
        new: "one\n\ntwo\n"
        a: "one\n2\nthree\n"
        b: "y\n""#]]
    .assert_eq(&told(&files, patch));
    expect![
        "No part of the patch was applied. The chunk does not fit. Here `old` means the chunk's lines without the added lines. `old` is not in b. Nothing in the file is similar: read it again."
    ]
    .assert_eq(&told(&[files[0], ("b", "z\n")], patch));
}

#[test]
fn lines_that_a_shell_or_markdown_puts_around_a_patch_are_ignored() {
    let bare = "*** Begin Patch\n*** Update File: a\n-x\n+y\n*** End Patch";
    for wrapped in [
        format!("<<EOF\n{bare}\nEOF"),
        format!("<<'EOF'\n{bare}\nEOF\n"),
        format!("apply_patch <<\"EOF\"\n{bare}\nEOF"),
        format!("```diff\n{bare}\n```\n"),
        format!("\n\n  {bare}  \n\n"),
        bare.replace('\n', "\r\n"),
    ] {
        assert_eq!(told(&[("a", "x\n")], &wrapped), "a: \"y\\n\"", "{wrapped}");
    }
}

#[test]
fn the_first_chunk_needs_no_at_signs_and_an_empty_line_is_context() {
    check(
        "a\n\nb\nc\nd\n",
        " a\n\n-b\n+B\n@@\n c\n+new\n",
        &expect![[r#"a: "a\n\nB\nc\nnew\nd\n""#]],
    );
    check("a\nb\n", "-a\n+A\n\n", &expect![[r#"a: "A\nb\n""#]]);
}

#[test]
fn blanks_around_the_markers_and_between_the_files_of_a_patch_are_ignored() {
    let files = [("a", "x\n"), ("b", "y\n"), ("c", "z\n")];
    let padded = "*** Begin Patch \n\n  *** Add File:  new \n+one\n\n\n\t*** Update File: a  \n@@\n-x\n+X\n\n\n\
        *** Delete File: b \n \n   *** Update File:c\n *** Move to: d \n\n@@\n-z\n+Z\n*** End of File \n\n *** End Patch";
    expect![[r#"
        new: "one\n"
        a: "X\n"
        b: "y\n" deleted
        c: "Z\n" -> d"#]]
    .assert_eq(&told(&files, padded));
    // a blank before the mark makes the line a line of the file
    let body = "@@\n *** End of File\n-x\n+X\n";
    check("x\n*** End of File\nx\ny\n", body, &expect![[r#"a: "x\n*** End of File\nX\ny\n""#]]);
}

#[test]
fn a_patch_that_is_already_applied_is_reported_as_such() {
    check(
        "a\nlong enough\n",
        "@@\n a\n-short\n+long enough\n",
        &expect![
            "No part of the patch was applied. The chunk does not fit. Here `old` means the chunk's lines without the added lines. `old` is not in a, and `new` is there already, at line 1. If that is the change you meant, nothing is left to do."
        ],
    );
}

#[test]
fn a_chunk_that_does_not_fit_is_reported_with_the_nearest_lines() {
    check(
        "a\nb\nc\n",
        "@@\n-a\n+A\n@@\n b\n-d\n+D\n",
        &expect![[r#"
        No part of the patch was applied. Chunk 2 of 2 does not fit. Here `old` means the chunk's lines without the added lines. `old` is not in a.
        The nearest block begins at line 2 (- `old`, + the file):
         b
        -d
        +c"#]],
    );
    check(
        "a\n",
        "@@\n-a\n+# ... rest of the code unchanged ...\n",
        &expect![
            "No part of the patch was applied. The chunk does not fit. Here `old` means the chunk's lines without the added lines. a was not changed: the line `# ... rest of the code unchanged ...` is a placeholder for text that you left out, and would be written as it is. Send the whole text, or a smaller replacement."
        ],
    );
    check(
        "a\n",
        "@@\n a\n",
        &expect![
            "No part of the patch was applied. This edit would change nothing, so a stays as it is."
        ],
    );
}

#[test]
fn a_patch_that_would_overwrite_a_file_is_refused() {
    let add = "*** Begin Patch\n*** Add File: a\n+x\n*** End Patch";
    expect![
        "No part of the patch was applied. a already exists. Use `*** Update File:` to change it."
    ]
    .assert_eq(&told(&[("a", "y\n")], add));
    let absent = "*** Begin Patch\n*** Update File: none\n@@\n-y\n+z\n*** End Patch";
    expect![
        "No part of the patch was applied. none does not exist. Use `*** Add File:` to create it."
    ]
    .assert_eq(&told(&[], absent));
}

#[test]
fn a_patch_deletes_and_moves_files_and_refuses_contradictory_operations() {
    let patch = |body: &str| {
        let files = [("a", "y\n"), ("b", "x\n")];
        told(&files, &format!("*** Begin Patch\n{body}*** End Patch"))
    };
    let all = [
        "*** Delete File: a\n*** Update File: b\n@@\n-x\n+X\n",
        "*** Update File: a\n*** Move to: dir/c\n@@\n-y\n+z\n",
        "*** Update File: a\n*** Move to: c\n",
        "*** Update File: a\n*** Move to: a\n@@\n-y\n+z\n",
        "*** Delete File: none\n",
        "*** Delete File: a\n*** Delete File: a\n",
        "*** Delete File: a\n*** Add File: a\n+new\n",
        "*** Update File: a\n@@\n-y\n+z\n*** Delete File: a\n",
        "*** Update File: a\n*** Move to: c\n*** Update File: b\n*** Move to: c\n",
        "*** Update File: a\n*** Move to: c\n*** Add File: c\n+new\n",
        "*** Add File: c\n+new\n*** Update File: a\n*** Move to: c\n",
        "*** Update File: a\n*** Move to: c\n@@\n-nothing like it\n+z\n*** Delete File: b\n",
        "*** Move to: c\n",
    ];
    expect![[r#"
        a: "y\n" deleted
        b: "X\n"
        --
        a: "z\n" -> dir/c
        --
        a: "y\n" -> c
        --
        a: "z\n"
        --
        none does not exist.
        --
        No part of the patch was applied. a was not changed: the same call also deletes or renames this file, or uses its new path.
        --
        No part of the patch was applied. a was not changed: the same call also deletes or renames this file, or uses its new path.
        --
        No part of the patch was applied. a was not changed: the same call also deletes or renames this file, or uses its new path.
        --
        No part of the patch was applied. b was not changed: the same call also deletes or renames this file, or uses its new path.
        --
        No part of the patch was applied. c was not changed: the same call also deletes or renames this file, or uses its new path.
        --
        No part of the patch was applied. a was not changed: the same call also deletes or renames this file, or uses its new path.
        --
        No part of the patch was applied. The chunk does not fit. Here `old` means the chunk's lines without the added lines. `old` is not in a. Nothing in the file is similar: read it again.
        --
        Line 2 of the patch: expected `*** Add File:`, `*** Update File:` or `*** Delete File:` and a path, got `*** Move to: c`. Nothing was done."#]].assert_eq(&all.map(patch).join("\n--\n"));
}

#[test]
fn a_malformed_patch_is_refused_with_the_number_of_its_wrong_line() {
    let all = [
        "",
        "--- a\n+++ b\n@@ -1 +1 @@\n-a\n+b\n",
        "*** Begin Patch\n*** Update File: a\n@@\n-a\n+b\n",
        "*** Begin Patch\n*** End Patch",
        "*** Begin Patch\nnonsense\n*** End Patch",
        "*** Begin Patch\n*** Update File: a\n*** End Patch",
        "*** Begin Patch\n*** Update File: a\n@@\n-a\nb\n*** End Patch",
        "*** Begin Patch\n*** Add File: a\nb\n*** End Patch",
        "*** Begin Patch\n*** Add File: a\n+b\n\n+c\n*** End Patch",
        "*** Begin Patch\n*** Add File: new\n*** End Patch",
        "*** Begin Patch\n*** Frobnicate File: a\n*** End Patch",
        "*** Begin Patch\n*** Update File: a\n@@\n-a\n*** End of File\n-b\n*** End Patch",
    ];
    let said: Vec<String> = all.iter().map(|it| told(&[("a", "a\n")], it)).collect();
    expect![[r#"
        The patch does not begin with `*** Begin Patch`, so nothing was done.
        The patch does not begin with `*** Begin Patch`, so nothing was done.
        The patch does not end with `*** End Patch`, so nothing was done: it may have been cut off. Send it again, in smaller pieces if it is long.
        The patch changes no file, so nothing was done.
        Line 2 of the patch: expected `*** Add File:`, `*** Update File:` or `*** Delete File:` and a path, got `nonsense`. Nothing was done.
        Line 2 of the patch: expected lines to change, got `*** End Patch`. Nothing was done.
        Line 5 of the patch: expected a line that begins with ` `, `-` or `+`, got `b`. Nothing was done.
        Line 3 of the patch: expected a line that begins with `+`, got `b`. Nothing was done.
        Line 4 of the patch: expected a line that begins with `+`, got ``. Nothing was done.
        new: ""
        Line 2 of the patch: expected `*** Add File:`, `*** Update File:` or `*** Delete File:` and a path, got `*** Frobnicate File: a`. Nothing was done.
        Line 6 of the patch: expected `@@` above these lines, got `lines without it`. Nothing was done."#]].assert_eq(&said.join("\n"));
}

proptest! {
    /// Any text can be read as a patch without a panic, and no line outside of the chunks changes.
    #[test]
    fn reading_any_text_as_a_patch_does_not_panic(
        lines in proptest::collection::vec(
            "(\\*\\*\\* (Begin Patch|End Patch|End of File|(Add|Update|Delete) File: [ab]|Move to: b)|@@( a)?|[ +-]?[abé\\*]{0,2})", 0..12),
    ) {
        let patch = format!("*** Begin Patch\n*** Update File: a\n{}\n*** End Patch", lines.join("\n"));
        told(&[("a", "a\nb\na\n\nab\né\n")], &patch);
    }

    /// The diff of two texts, written as a patch, turns the first text into the second.
    #[test]
    fn applying_a_diff_as_a_patch_gives_the_new_text(
        kept in proptest::collection::vec((any::<bool>(), any::<bool>()), 1..20), ends in any::<bool>(),
    ) {
        let (mut before, mut after, mut body) = (String::new(), String::new(), "@@\n".to_owned());
        for (n, (was, is)) in kept.iter().enumerate() {
            for (side, is_in) in [(&mut before, *was || !is), (&mut after, *is || !was)] {
                if is_in {
                    side.push_str(&format!("line {n}\n"));
                }
            }
            body.push(match (was, is) { (true, false) => '-', (false, true) => '+', _ => ' ' });
            body.push_str(&format!("line {n}\n"));
        }
        prop_assume!(before != after && !before.is_empty());
        if !ends {
            before.pop();
            after.pop();
        }
        let patch = format!("*** Begin Patch\n*** Update File: a\n{body}*** End Patch");
        prop_assert_eq!(told(&[("a", &before)], &patch), format!("a: {after:?}"));
    }
}
