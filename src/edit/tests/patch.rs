//! The grammar of `apply_patch`: what other harnesses do with a patch, safer where that is unsafe.

use super::*;
use proptest::prelude::*;

/// What a patch makes of these files, or why it makes nothing of them.
fn told(files: &[(&str, &str)], patch: &str) -> String {
    let edits = match parse_patch(patch) {
        Ok(edits) => edits,
        Err(fault) => return fault,
    };
    let texts = files
        .iter()
        .map(|(path, text)| (path.into(), Some(Text::decode(text.as_bytes()).unwrap())));
    match apply(&texts.collect(), &edits, |_, _, _| Ok(())) {
        Ok(files) => {
            let one = |it: Changed| {
                let bytes = String::from_utf8(it.after.encode()).unwrap();
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

/// `body` between the marks, of a file `a`.
fn check(text: &str, body: &str, expect: &Expect) {
    let patch = format!("*** Begin Patch\n*** Update File: a\n{body}*** End Patch\n");
    expect.assert_eq(&told(&[("a", text)], &patch));
}

#[test]
fn a_patch_over_several_files_changes_all_or_none() {
    let patch = "*** Begin Patch\n*** Add File: new\n+one\n+\n+two\n*** Update File: a\n@@\n one\n-two\n+2\n\
        *** Update File: b\n@@\n-x\n+y\n*** End Patch";
    let files = [("a", "one\ntwo\nthree\n"), ("b", "x\n")];
    expect![[r#"
        new: "one\n\ntwo\n"
        a: "one\n2\nthree\n"
        b: "y\n""#]]
    .assert_eq(&told(&files, patch));
    expect!["Nothing of the patch was applied. The chunk does not fit (`old`: its lines but the added ones). `old` is not in b. Nothing in it is like it: read the file again."].assert_eq(&told(&[files[0], ("b", "z\n")], patch));
}

#[test]
fn what_a_shell_or_a_reader_puts_around_a_patch_is_left_out() {
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
fn the_first_chunk_needs_no_mark_and_an_empty_line_is_context() {
    check(
        "a\n\nb\nc\nd\n",
        " a\n\n-b\n+B\n@@\n c\n+new\n",
        &expect![[r#"a: "a\n\nB\nc\nnew\nd\n""#]],
    );
    check("a\nb\n", "-a\n+A\n\n", &expect![[r#"a: "A\nb\n""#]]);
}

#[test]
fn anchors_tell_equal_blocks_apart() {
    let text = "class A:\n    def f(self):\n        x = 1\n\n    def g(self):\n        x = 1\n\nclass B:\n    def f(self):\n        x = 1\n";
    let change = "-        x = 1\n+        x = 2\n";
    check(
        text,
        &format!("@@\n{change}"),
        &expect![[r#"
        Nothing of the patch was applied. The chunk does not fit (`old`: its lines but the added ones). `old` is at 3 places in a and must be at exactly one:
        3:         x = 1
        6:         x = 1
        10:         x = 1
        Add lines around it, or above it `@@` and the line it stands below."#]],
    );
    check(
        text,
        &format!("@@     def g(self):\n{change}"),
        &expect![[
            r#"a: "class A:\n    def f(self):\n        x = 1\n\n    def g(self):\n        x = 2\n\nclass B:\n    def f(self):\n        x = 1\n""#
        ]],
    );
    check(
        text,
        &format!("@@ class B:\n{change}"),
        &expect![[
            r#"a: "class A:\n    def f(self):\n        x = 1\n\n    def g(self):\n        x = 1\n\nclass B:\n    def f(self):\n        x = 2\n""#
        ]],
    );
    check(
        text,
        &format!("@@ class A:\n@@     def f(self):\n{change}"),
        &expect![[
            r#"a: "class A:\n    def f(self):\n        x = 2\n\n    def g(self):\n        x = 1\n\nclass B:\n    def f(self):\n        x = 1\n""#
        ]],
    );
    check(
        text,
        &format!("@@ def f(self):\n{change}"),
        &expect![[r#"
        Nothing of the patch was applied. The chunk does not fit (`old`: its lines but the added ones). `old` is at 2 places in a and must be at exactly one:
        3:         x = 1
        10:         x = 1
        Add lines around it, or above it `@@` and the line it stands below."#]],
    );
    check(
        text,
        &format!("@@ class A:\n{change}"),
        &expect![[r#"
        Nothing of the patch was applied. The chunk does not fit (`old`: its lines but the added ones). `old` is at 2 places in a and must be at exactly one:
        3:         x = 1
        6:         x = 1
        Add lines around it, or above it `@@` and the line it stands below."#]],
    );
    check(
        text,
        &format!("@@ -6,1 +6,1 @@ def g(self):\n{change}"),
        &expect![[
            r#"a: "class A:\n    def f(self):\n        x = 1\n\n    def g(self):\n        x = 2\n\nclass B:\n    def f(self):\n        x = 1\n""#
        ]],
    );
}

#[test]
fn an_anchor_that_is_not_there_decides_nothing() {
    check("a\nb\n", "@@ def f():\n-b\n+B\n", &expect![[r#"a: "a\nB\n""#]]);
    check(
        "b\nb\n",
        "@@ def f():\n-b\n+B\n",
        &expect![[r#"
        Nothing of the patch was applied. The chunk does not fit (`old`: its lines but the added ones). `old` is at 2 places in a and must be at exactly one:
        1: b
        2: b
        Add lines around it, or above it `@@` and the line it stands below."#]],
    );
    check(
        "a\n",
        "@@ def f():\n+B\n",
        &expect![
            "Nothing of the patch was applied. The chunk does not fit (`old`: its lines but the added ones). `old` is not in a. Nothing in it is like it: read the file again."
        ],
    );
}

#[test]
fn chunks_come_in_the_files_order_where_that_tells_them_apart() {
    let text = "x\na\nx\nb\nx\n";
    check(text, "@@\n a\n-x\n+X\n@@\n-x\n+Y\n", &expect![[r#"a: "x\na\nX\nb\nY\n""#]]);
    check("a\nb\nc\n", "@@\n-c\n+C\n@@\n-a\n+A\n", &expect![[r#"a: "A\nb\nC\n""#]]);
    check(
        "a\nb\nc\n",
        "@@\n-b\n+B\n@@\n b\n-c\n",
        &expect![
            "Nothing of the patch was applied. Chunk 2 of 2 does not fit (`old`: its lines but the added ones). a was not changed: its lines overlap those of another chunk: make one of both."
        ],
    );
}

#[test]
fn the_end_of_the_file_is_preferred_where_a_chunk_says_so() {
    check("x\na\nx\n", "@@\n-x\n+X\n*** End of File\n", &expect![[r#"a: "x\na\nX\n""#]]);
    check("x\na\n", "@@\n-x\n+X\n*** End of File\n", &expect![[r#"a: "X\na\n""#]]);
    check(
        "x\nx\na\n",
        "@@\n-x\n+X\n*** End of File\n",
        &expect![[r#"
        Nothing of the patch was applied. The chunk does not fit (`old`: its lines but the added ones). `old` is at 2 places in a and must be at exactly one:
        1: x
        2: x
        Add lines around it, or above it `@@` and the line it stands below."#]],
    );
}

#[test]
fn lines_alone_are_put_below_their_anchor_or_at_the_end() {
    check(
        "a\n\nfn f() {\n}\n",
        "@@ fn f() {\n+    go();\n",
        &expect![[r#"a: "a\n\nfn f() {\n    go();\n}\n""#]],
    );
    check("a\n", "@@\n+b\n+c\n", &expect![[r#"a: "a\nb\nc\n""#]]);
    check("", "+b\n", &expect![[r#"a: "b\n""#]]);
    check(
        "f\nf\n",
        "@@ f\n+b\n",
        &expect![[r#"
        Nothing of the patch was applied. The chunk does not fit (`old`: its lines but the added ones). `old` is at 2 places in a and must be at exactly one:
        1: f
        2: f
        Add lines around it, or above it `@@` and the line it stands below."#]],
    );
}

#[test]
fn the_final_newline_stays_as_it_is() {
    check("a\nb", "@@\n-b\n+B\n", &expect![[r#"a: "a\nB""#]]);
    check(
        "b\nb",
        "@@\n b\n+c\n",
        &expect![[r#"
        Nothing of the patch was applied. The chunk does not fit (`old`: its lines but the added ones). `old` is at 2 places in a and must be at exactly one:
        1: b
        2: b
        Add lines around it, or above it `@@` and the line it stands below."#]],
    );
    check("a\nb", "@@\n b\n+c\n", &expect![[r#"a: "a\nb\nc""#]]);
    check("a", "@@\n+b\n*** End of File\n", &expect![[r#"a: "a\nb""#]]);
    check("a\r\nb\r\n", "@@\n a\n-b\n+B\n+c\n", &expect![[r#"a: "a\r\nB\r\nc\r\n""#]]);
    check("\u{feff}a\nb\n", "@@\n-a\n+A\n", &expect![[r#"a: "\u{feff}A\nb\n""#]]);
}

#[test]
fn the_ladder_holds_for_chunks() {
    check(
        "a  \nb\n",
        "@@\n a\n-b\n+B\n",
        &expect![[
            r#"a: "a  \nB\n" The chunk is not there exactly; it was matched at lines 1-2 ignoring blanks at line ends."#
        ]],
    );
    check(
        "if x:\n    a\n    b\n",
        "@@\n a\n-b\n+B\n",
        &expect![[
            r#"a: "if x:\n    a\n    B\n" The chunk is not there exactly; it was matched at lines 2-3 at another indentation. The new text was shifted to it."#
        ]],
    );
    check(
        "say(“a”)\n",
        "@@\n-say(\"a\")\n+say(\"b\")\n",
        &expect![[
            r#"a: "say(“b”)\n" The chunk is not there exactly; it was matched at line 1 taking typographic quotes, dashes and spaces for plain ones."#
        ]],
    );
    check(
        "a\nb\n",
        "@@\n a\n-b\n+B\n \n@@\n",
        &expect![[
            r#"a: "a\nB\n" The chunk is not there exactly; it was matched at lines 1-2 without the blank line at its end."#
        ]],
    );
    check(
        "\ta\n    b\n",
        "@@\n a\n-b\n+B\n",
        &expect![[r#"
        Nothing of the patch was applied. The chunk does not fit (`old`: its lines but the added ones). `old` is not in a. The file is indented with tabs, `old` with spaces.
        The nearest block begins at line 1 (- `old`, + the file):
        -a
        -b
        +	a
        +    b"#]],
    );
}

#[test]
fn chunks_that_do_not_fit_teach() {
    check(
        "a\nb\nc\n",
        "@@\n-a\n+A\n@@\n b\n-d\n+D\n",
        &expect![[r#"
        Nothing of the patch was applied. Chunk 2 of 2 does not fit (`old`: its lines but the added ones). `old` is not in a.
        The nearest block begins at line 2 (- `old`, + the file):
         b
        -d
        +c"#]],
    );
    check(
        "a\n",
        "@@\n-a\n+# ... rest of the code unchanged ...\n",
        &expect![
            "Nothing of the patch was applied. The chunk does not fit (`old`: its lines but the added ones). a was not changed: the line `# ... rest of the code unchanged ...` stands for text that was left out, and would be written as it is. Send the whole text, or a smaller replacement that leaves the rest alone."
        ],
    );
    check(
        "a\n",
        "@@\n a\n",
        &expect!["Nothing of the patch was applied. This would change nothing: a stays as it is."],
    );
}

#[test]
fn what_would_overwrite_is_refused() {
    let add = "*** Begin Patch\n*** Add File: a\n+x\n*** End Patch";
    expect![
        "Nothing of the patch was applied. a exists already. Use `*** Update File:` to change it."
    ]
    .assert_eq(&told(&[("a", "y\n")], add));
    let absent = "*** Begin Patch\n*** Update File: none\n@@\n-y\n+z\n*** End Patch";
    expect![
        "Nothing of the patch was applied. none does not exist. Use `*** Add File:` to create it."
    ]
    .assert_eq(&told(&[], absent));
}

#[test]
fn files_are_deleted_and_moved_with_their_changes() {
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
        Nothing of the patch was applied. a was not changed: the same call deletes or renames it, or changes what that would meet.
        --
        Nothing of the patch was applied. a was not changed: the same call deletes or renames it, or changes what that would meet.
        --
        Nothing of the patch was applied. a was not changed: the same call deletes or renames it, or changes what that would meet.
        --
        Nothing of the patch was applied. b was not changed: the same call deletes or renames it, or changes what that would meet.
        --
        Nothing of the patch was applied. c was not changed: the same call deletes or renames it, or changes what that would meet.
        --
        Nothing of the patch was applied. a was not changed: the same call deletes or renames it, or changes what that would meet.
        --
        Nothing of the patch was applied. The chunk does not fit (`old`: its lines but the added ones). `old` is not in a. Nothing in it is like it: read the file again.
        --
        Line 2 of the patch: expected `*** Add File:`, `*** Update File:` or `*** Delete File:` and a path, got `*** Move to: c`. Nothing was done."#]].assert_eq(&all.map(patch).join("\n--\n"));
}

#[test]
fn what_is_no_patch_is_refused_with_its_line() {
    let all = [
        "",
        "--- a\n+++ b\n@@ -1 +1 @@\n-a\n+b\n",
        "*** Begin Patch\n*** Update File: a\n@@\n-a\n+b\n",
        "*** Begin Patch\n*** End Patch",
        "*** Begin Patch\nnonsense\n*** End Patch",
        "*** Begin Patch\n*** Update File: a\n*** End Patch",
        "*** Begin Patch\n*** Update File: a\n@@\n-a\nb\n*** End Patch",
        "*** Begin Patch\n*** Add File: a\nb\n*** End Patch",
        "*** Begin Patch\n*** Update File: a\n@@\n-a\n*** End of File\n-b\n*** End Patch",
    ];
    let said: Vec<String> = all.iter().map(|it| told(&[("a", "a\n")], it)).collect();
    expect![[r#"
        A patch begins with `*** Begin Patch`; nothing was done.
        A patch begins with `*** Begin Patch`; nothing was done.
        The patch does not end with `*** End Patch`, so nothing was done: it may have been cut off. Send it again, in smaller pieces if it is long.
        The patch changes no file, so nothing was done.
        Line 2 of the patch: expected `*** Add File:`, `*** Update File:` or `*** Delete File:` and a path, got `nonsense`. Nothing was done.
        Line 2 of the patch: expected lines to change, got `*** End Patch`. Nothing was done.
        Line 5 of the patch: expected a line with ` `, `-` or `+` before it, got `b`. Nothing was done.
        Line 3 of the patch: expected a line with `+` before it, got `b`. Nothing was done.
        Line 6 of the patch: expected `@@` before the next lines, got `lines without it`. Nothing was done."#]].assert_eq(&said.join("\n"));
}

proptest! {
    /// Whatever a model sends, nothing breaks, and what is taken changes nothing that is in no chunk.
    #[test]
    fn any_text_is_a_patch_or_a_fault(
        lines in proptest::collection::vec(
            "(\\*\\*\\* (Begin Patch|End Patch|End of File|(Add|Update|Delete) File: [ab]|Move to: b)|@@( a)?|[ +-]?[abé\\*]{0,2})", 0..12),
    ) {
        let patch = format!("*** Begin Patch\n*** Update File: a\n{}\n*** End Patch", lines.join("\n"));
        told(&[("a", "a\nb\na\n\nab\né\n")], &patch);
    }

    /// The patch that a diff of two texts is makes the one of the other.
    #[test]
    fn a_diff_makes_the_new_text(
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
