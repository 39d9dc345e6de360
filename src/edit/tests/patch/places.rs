//! How the place of each chunk of a patch is found.

use super::*;

#[test]
fn an_anchor_selects_one_of_several_equal_blocks() {
    let text = "class A:\n    def f(self):\n        x = 1\n\n    def g(self):\n        x = 1\n\nclass B:\n    def f(self):\n        x = 1\n";
    let change = "-        x = 1\n+        x = 2\n";
    check(
        text,
        &format!("@@\n{change}"),
        &expect![[r#"
        No part of the patch was applied. The chunk does not fit. Here `old` means the chunk's lines without the added lines. `old` is at 3 places in a and must be at exactly one place:
        3:         x = 1
        6:         x = 1
        10:         x = 1
        Add surrounding lines to the chunk, or a line `@@ ` with the class or function that contains them."#]],
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
        No part of the patch was applied. The chunk does not fit. Here `old` means the chunk's lines without the added lines. `old` is at 2 places in a and must be at exactly one place:
        3:         x = 1
        10:         x = 1
        Add surrounding lines to the chunk, or a line `@@ ` with the class or function that contains them."#]],
    );
    check(
        text,
        &format!("@@ class A:\n{change}"),
        &expect![[r#"
        No part of the patch was applied. The chunk does not fit. Here `old` means the chunk's lines without the added lines. `old` is at 2 places in a and must be at exactly one place:
        3:         x = 1
        6:         x = 1
        Add surrounding lines to the chunk, or a line `@@ ` with the class or function that contains them."#]],
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
fn an_anchor_that_is_not_in_the_file_is_ignored_and_reported() {
    check(
        "a\nb\n",
        "@@ def f():\n-b\n+B\n",
        &expect![[
            r#"a: "a\nB\n" The chunk does not match the file exactly: its `@@` line names a line that is not in the file. The edit was applied at line 2."#
        ]],
    );
    check(
        "a \nb\n",
        "@@ def f():\n-a\n+A\n",
        &expect![[r#"
            a: "A \nb\n" The chunk does not match the file exactly. The edit was applied at line 1, ignoring blanks at line ends.
            The chunk does not match the file exactly: its `@@` line names a line that is not in the file. The edit was applied at line 1."#]],
    );
    check(
        "b\nb\n",
        "@@ def f():\n-b\n+B\n",
        &expect![[r#"
        No part of the patch was applied. The chunk does not fit. Here `old` means the chunk's lines without the added lines. `old` is at 2 places in a and must be at exactly one place:
        1: b
        2: b
        Add surrounding lines to the chunk, or a line `@@ ` with the class or function that contains them."#]],
    );
    check(
        "a\n",
        "@@ def f():\n+B\n",
        &expect![
            "No part of the patch was applied. The chunk does not fit. Here `old` means the chunk's lines without the added lines. `old` is not in a. Nothing in the file is similar: read it again."
        ],
    );
}

#[test]
fn the_order_of_chunks_selects_one_of_several_equal_blocks() {
    let text = "x\na\nx\nb\nx\n";
    check(text, "@@\n a\n-x\n+X\n@@\n-x\n+Y\n", &expect![[r#"a: "x\na\nX\nb\nY\n""#]]);
    check("a\nb\nc\n", "@@\n-c\n+C\n@@\n-a\n+A\n", &expect![[r#"a: "A\nb\nC\n""#]]);
    check(
        "a\nb\nc\n",
        "@@\n-b\n+B\n@@\n b\n-c\n",
        &expect![
            "No part of the patch was applied. Chunk 2 of 2 does not fit. Here `old` means the chunk's lines without the added lines. a was not changed: the lines of the chunk overlap another chunk: join the two chunks."
        ],
    );
}

#[test]
fn a_chunk_marked_end_of_file_is_matched_at_the_end_first() {
    check("x\na\nx\n", "@@\n-x\n+X\n*** End of File\n", &expect![[r#"a: "x\na\nX\n""#]]);
    check(
        "x\na\n",
        "@@\n-x\n+X\n*** End of File\n",
        &expect![[
            r#"a: "X\na\n" The chunk does not match the file exactly: its lines are not at the end of the file. The edit was applied at line 1."#
        ]],
    );
    check(
        "x\nx\na\n",
        "@@\n-x\n+X\n*** End of File\n",
        &expect![[r#"
        No part of the patch was applied. The chunk does not fit. Here `old` means the chunk's lines without the added lines. `old` is at 2 places in a and must be at exactly one place:
        1: x
        2: x
        Add surrounding lines to the chunk, or a line `@@ ` with the class or function that contains them."#]],
    );
}

#[test]
fn a_chunk_that_only_adds_lines_adds_them_below_its_anchor_or_at_the_end_of_the_file() {
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
        No part of the patch was applied. The chunk does not fit. Here `old` means the chunk's lines without the added lines. `old` is at 2 places in a and must be at exactly one place:
        1: f
        2: f
        Add surrounding lines to the chunk, or a line `@@ ` with the class or function that contains them."#]],
    );
}

#[test]
fn a_patch_keeps_the_files_final_newline_and_line_ends() {
    check("a\nb", "@@\n-b\n+B\n", &expect![[r#"a: "a\nB""#]]);
    check(
        "b\nb",
        "@@\n b\n+c\n",
        &expect![[r#"
        No part of the patch was applied. The chunk does not fit. Here `old` means the chunk's lines without the added lines. `old` is at 2 places in a and must be at exactly one place:
        1: b
        2: b
        Add surrounding lines to the chunk, or a line `@@ ` with the class or function that contains them."#]],
    );
    check("a\nb", "@@\n b\n+c\n", &expect![[r#"a: "a\nb\nc""#]]);
    check("a", "@@\n+b\n*** End of File\n", &expect![[r#"a: "a\nb""#]]);
    check("a\r\nb\r\n", "@@\n a\n-b\n+B\n+c\n", &expect![[r#"a: "a\r\nB\r\nc\r\n""#]]);
    check("\u{feff}a\nb\n", "@@\n-a\n+A\n", &expect![[r#"a: "\u{feff}A\nb\n""#]]);
}

#[test]
fn chunks_are_matched_with_the_same_tolerances_as_edits() {
    check(
        "a  \nb\n",
        "@@\n a\n-b\n+B\n",
        &expect![[
            r#"a: "a  \nB\n" The chunk does not match the file exactly. The edit was applied at lines 1-2, ignoring blanks at line ends."#
        ]],
    );
    check(
        "if x:\n    a\n    b\n",
        "@@\n a\n-b\n+B\n",
        &expect![[
            r#"a: "if x:\n    a\n    B\n" The chunk does not match the file exactly. The edit was applied at lines 2-3, with another indentation. The new text was indented to match."#
        ]],
    );
    check(
        "say(“a”)\n",
        "@@\n-say(\"a\")\n+say(\"b\")\n",
        &expect![[
            r#"a: "say(“b”)\n" The chunk does not match the file exactly. The edit was applied at line 1, treating typographic quotes, dashes and spaces as plain ones."#
        ]],
    );
    check(
        "a\nb\n",
        "@@\n a\n-b\n+B\n \n@@\n",
        &expect![[
            r#"a: "a\nB\n" The chunk does not match the file exactly. The edit was applied at lines 1-2, without the blank line at its end."#
        ]],
    );
    check(
        "\ta\n    b\n",
        "@@\n a\n-b\n+B\n",
        &expect![[r#"
        No part of the patch was applied. The chunk does not fit. Here `old` means the chunk's lines without the added lines. `old` is not in a. The file is indented with tabs, `old` with spaces.
        The nearest block begins at line 1 (- `old`, + the file):
        -a
        -b
        +	a
        +    b"#]],
    );
}

#[test]
fn lines_found_only_above_the_anchor_of_their_chunk_are_not_changed() {
    let text = "class A:\n    x = 1\n\nclass B:\n    y = 1\n";
    check(
        text,
        "@@ class B:\n-    x = 1\n+    x = 2\n",
        &expect![
            "No part of the patch was applied. The chunk does not fit. Here `old` means the chunk's lines without the added lines. a was not changed: the lines of the chunk are at line 2, above the line that `@@` names. Let `@@` name a line above line 2, or write `@@` alone."
        ],
    );
    // lines below the anchor, and lines around it, are changed
    check(
        text,
        "@@ class A:\n-    y = 1\n+    y = 2\n",
        &expect![[r#"a: "class A:\n    x = 1\n\nclass B:\n    y = 2\n""#]],
    );
    check(
        text,
        "@@ class B:\n class B:\n-    y = 1\n+    y = 2\n",
        &expect![[r#"a: "class A:\n    x = 1\n\nclass B:\n    y = 2\n""#]],
    );
    check(
        text,
        "@@ class B:\n-\n class B:\n",
        &expect![[r#"a: "class A:\n    x = 1\nclass B:\n    y = 1\n""#]],
    );
    check("x\ny", "@@ y\n x\n-y\n+Y\n", &expect![[r#"a: "x\nY""#]]);
}

#[test]
fn a_chunk_that_matches_exactly_is_not_applied_at_a_similar_place() {
    check("a \nb\na\n", "-a\n+A\n", &expect![[r#"a: "a \nb\nA\n""#]]);
    check(
        "  a\nb\na \n",
        "-a\n+A\n",
        &expect![[
            r#"a: "  a\nb\nA \n" The chunk does not match the file exactly. The edit was applied at line 3, ignoring blanks at line ends."#
        ]],
    );
    check(
        "a \nb\na\t\n",
        "-a\n+A\n",
        &expect![[r#"
        No part of the patch was applied. The chunk does not fit. Here `old` means the chunk's lines without the added lines. `old` is at 2 places in a, ignoring blanks at line ends, and must be at exactly one place:
        1: a 
        3: a	
        Add surrounding lines to the chunk, or a line `@@ ` with the class or function that contains them."#]],
    );
}

#[test]
fn typographic_dashes_quotes_and_spaces_match_plain_ones() {
    let plain = |all: std::ops::RangeInclusive<char>, as_plain| all.map(move |it| (it, as_plain));
    let all = plain('\u{2010}'..='\u{2015}', "-")
        .chain(plain('\u{2018}'..='\u{201b}', "'"))
        .chain(plain('\u{201c}'..='\u{201f}', "\""))
        .chain(plain('\u{2002}'..='\u{200a}', " "))
        .chain([('\u{2212}', "-"), ('\u{a0}', " "), ('\u{202f}', " "), ('\u{205f}', " ")])
        .chain([('\u{3000}', " ")]);
    for (it, as_plain) in all {
        let patch = format!(
            "*** Begin Patch\n*** Update File: a\n-x{as_plain}y\n+x{as_plain}z\n*** End Patch"
        );
        let said = told(&[("a", &format!("x{it}y\n"))], &patch);
        let kept =
            format!("a: {:?} The chunk does not match the file exactly", format!("x{it}z\n"));
        assert!(said.starts_with(&kept), "{it:?}: {said}");
    }
}

#[test]
fn an_empty_last_line_that_the_file_lacks_is_dropped() {
    check(
        "a\nb\nc\n",
        " a\n-b\n+B\n\n@@\n-c\n+C\n",
        &expect![[
            r#"a: "a\nB\nC\n" Chunk 1 does not match the file exactly. The edit was applied at lines 1-2, without the blank line at its end."#
        ]],
    );
    check("a\nb\n", " a\n-b\n+B\n\n", &expect![[r#"a: "a\nB\n""#]]);
    check("a\nb\n\nc\n", " a\n-b\n+B\n\n@@\n-c\n", &expect![[r#"a: "a\nB\n\n""#]]);
}

#[test]
fn a_chunk_may_remove_lines_without_adding_any() {
    check("a\nb\nc\n", "@@\n a\n-b\n c\n", &expect![[r#"a: "a\nc\n""#]]);
    check("a\nb\n", "@@\n-a\n-b\n", &expect![[r#"a: """#]]);
}
