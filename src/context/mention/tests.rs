use super::*;
use expect_test::{Expect, expect};
use proptest::prelude::*;

#[expect(clippy::needless_pass_by_value, reason = "a table's row gives its snapshot away")]
fn check(text: &str, expect: Expect) {
    let show = |it: Mention| {
        let lines = it.lines.map(|(a, b)| format!(" {a}-{b}")).unwrap_or_default();
        let meant = match it.meant {
            Meant::Path => "",
            Meant::Word => " word",
            Meant::Other => " other",
            Meant::Keyword(_) => " keyword",
            Meant::Page => " page",
            Meant::Symbol => " symbol",
        };
        format!("{}{lines}{meant}", it.path)
    };
    let found: Vec<String> = find(text).into_iter().map(show).collect();
    expect.assert_eq(&found.join(" | "));
}

#[test]
fn paths_after_an_at_sign_are_mentions_except_in_code_and_mail_addresses() {
    check("look at @src/a.rs, and @src/b.rs:10-40.", expect!["src/a.rs | src/b.rs 10-40"]);
    check("@dir/ (@a.rs:7) \"@b.rs\"", expect!["dir/ | a.rs 7-7 | b.rs"]);
    check("mail me@example.com or `x@y`", expect![""]);
    check("@\"with blank.rs\":3-4 @~/notes.md", expect!["with blank.rs 3-4 | ~/notes.md"]);
    check("@\"a @b.rs c\" @d.rs \"@e.rs\"", expect!["a @b.rs c | d.rs | e.rs"]);
    check("twice @a.rs @a.rs, ends @a.rs.", expect!["a.rs"]);
    check("@ alone, @: too, backwards @a.rs:9-3", expect!["a.rs:9-3"]);
}

/// This would take minutes if the whole text were read for each `@`.
#[test]
fn a_text_with_very_many_at_signs_is_searched_in_one_pass() {
    for piece in ["@w\n", "@w ", "(@a", " @a:9-3", " @\"", "`@a "] {
        let text = piece.repeat(100_000);
        assert!(find(&text).len() < 10, "{piece}");
    }
}

#[test]
fn paths_words_and_other_uses_of_an_at_sign_are_distinguished() {
    check(
        "fix @buffer and @diff, ask @someone.",
        expect!["buffer keyword | diff keyword | someone word"],
    );
    check(
        "@Makefile:3 @.gitignore @\"TODO list\"",
        expect!["Makefile 3-3 word | .gitignore word | TODO list"],
    );
    check("me@example.com <a@b.c> @me@example.social", expect!["me@example.social other"]);
    check("is @Override or @property right?", expect!["Override other | property other"]);
    check("@app.get(\"/\")\ndef f():", expect!["app.get other"]);
    check("@slow\n@other\nasync def f():", expect!["slow other | other other"]);
    check("@diff\nwhy?", expect!["diff keyword"]);
    check("at @3 o'clock, git show @~1 @^ @2x", expect!["3 other | ~1 | ^ other | 2x other"]);
    check("use `a @b c` and `@d`, ``@e ` @f``, @g", expect!["g word"]);
    check("```py\n@a\n@b.rs\n```\n@c.rs", expect!["c.rs"]);
    check("```\n@a.rs is read: no fence closes", expect!["a.rs"]);
}

#[test]
fn punctuation_after_a_web_address_is_not_part_of_the_mention() {
    check(
        "read @https://a.org/b?c=1,2#d. And @HTTP://b.org:8080, (see @https://c.org/x).",
        expect!["https://a.org/b?c=1,2#d page | HTTP://b.org:8080 page | https://c.org/x page"],
    );
    check(
        "@https://en.wikipedia.org/wiki/Rust_(language)! <@https://d.org> [@https://e.org/[1]]",
        expect!["https://en.wikipedia.org/wiki/Rust_(language) page | https://e.org/[1] page"],
    );
    check(
        "@\"https://a.org/b c\":3 `@https://x.org` me@https://y.org",
        expect!["https://a.org/b c page"],
    );
    check(
        "@https:/a @https @http:// @ftp://a.org",
        expect!["https:/a | https word | http:// page | ftp://a.org"],
    );
}

#[test]
fn only_a_whole_word_outside_of_code_is_a_keyword() {
    check(
        "(@buffer), \"@diff\" and @staged.",
        expect!["buffer keyword | diff keyword | staged keyword"],
    );
    check("@quickfix: see @loclist!", expect!["quickfix keyword | loclist keyword"]);
    check(
        "@buffer/x.rs @buffer.rs @./buffer @\"buffer\"",
        expect!["buffer/x.rs | buffer.rs | ./buffer | buffer"],
    );
    check(
        "@buffer:3 @Buffer @bufferx @buffers-",
        expect!["buffer 3-3 word | Buffer word | bufferx word | buffers- word"],
    );
    check("me@buffer `@diff` x@clipboard", expect![""]);
    check("```\n@selection\n```\n@selection", expect!["selection keyword"]);
    check("@diff(1)", expect!["diff other"]);
    check("@buffer\ndef f():", expect!["buffer other"]);
    check("@diagnostics @diagnostics", expect!["diagnostics keyword"]);
    check(
        "@symbol:a::b, @symbol: @symbol:x.y.",
        expect!["symbol:a::b symbol | symbol word | symbol:x.y symbol"],
    );
    for row in TABLE {
        let found = find(&write(row.name));
        assert_eq!(
            (found[0].path.as_str(), found[0].meant),
            (&*format!("./{}", row.name), Meant::Path)
        );
    }
}

proptest! {
    /// Completion inserts names of files as mentions, and each mention has to be read back as the same file.
    #[test]
    fn a_path_written_as_a_mention_is_read_back_as_the_same_path(
        path in "([ -~]|[@\"`\\\\:.~\n\ré日 \u{a0}]){1,12}",
        before in "(|look at |\\(|see `x` )",
        after in "(| and more|, then| `y`|\n)",
    ) {
        let same = |found: &str| found == path || found == format!("./{path}");
        let found = find(&format!("{before}{}{after}", write(&path)));
        prop_assert!(found.iter().any(|it| same(&it.path) && it.lines.is_none()), "{found:?}");
        let found = find(&format!("{}:3-4", write(&path)));
        prop_assert!(found.iter().any(|it| same(&it.path) && it.lines == Some((3, 4))), "{found:?}");
    }
}
