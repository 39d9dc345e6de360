//! Finds the mention or the slash command before the cursor.

use crate::context::mention;
use crate::context::slash::{Argument, Row, TABLE};

/// The text that is to be completed.
#[derive(Debug, PartialEq, Eq)]
pub struct Token {
    pub kind: Kind,
    /// The byte of the line at which the text begins that completion replaces.
    pub start: usize,
    /// The text that the user has typed so far. For a mention, the path without quotes.
    pub query: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A mention, after an `@`.
    Mention,
    /// The name of a slash command.
    Command,
    /// A slash command's first argument.
    Argument(Argument),
}

/// The token before the cursor. `line` is the composer's line up to the cursor. `is_first` says whether all lines above
/// it are blank, because only there a slash begins a command.
pub fn at(line: &str, is_first: bool) -> Option<Token> {
    let command = || is_first.then(|| command(line)).flatten();
    // the `@` before the name of an agent begins no mention
    let agent = command().filter(|it| it.kind == Kind::Argument(Argument::Agent));
    agent.or_else(|| mention(line)).or_else(command)
}

fn mention(line: &str) -> Option<Token> {
    let (start, query) = mention::open(line)?;
    Some(Token { kind: Kind::Mention, start, query })
}

fn command(line: &str) -> Option<Token> {
    let start = line.len() - line.trim_start().len();
    let rest = line[start..].strip_prefix('/')?;
    let Some((word, argument)) = rest.split_once(char::is_whitespace) else {
        let is_word = rest.chars().all(|c| c.is_ascii_alphanumeric() || "_-:".contains(c));
        return is_word.then(|| Token { kind: Kind::Command, start, query: rest.to_owned() });
    };
    let row: &Row = TABLE.iter().find(|it| it.name == word)?;
    let (kind, query) = argued(row.argument?, argument.trim_start())?;
    let kind = Kind::Argument(kind);
    Some(Token { kind, start: line.len() - query.len(), query: query.to_owned() })
}

/// The kind of a command's unfinished argument, and the text of the argument. `None` if nothing completes it.
fn argued(argument: Argument, text: &str) -> Option<(Argument, &str)> {
    let words = text.split_once(char::is_whitespace);
    match (argument, words) {
        (Argument::Path, _) => Some((argument, text)),
        (Argument::Drop, None) => Some((Argument::Word(&["drop"]), text)),
        (Argument::Drop, Some(("drop", number))) => Some((argument, number.trim_start())),
        (_, words) => words.is_none().then_some((argument, text)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    #[expect(clippy::needless_pass_by_value, reason = "a table's row gives its snapshot away")]
    fn check(line: &str, expect: Expect) {
        let token = at(line, true);
        let shown = token.map(|it| format!("{:?} {} {:?}", it.kind, it.start, it.query));
        expect.assert_eq(&shown.unwrap_or_default());
    }

    #[test]
    fn the_token_before_the_cursor_is_found() {
        check("look at @", expect![[r#"Mention 8 """#]]);
        check("look at @src/a", expect![[r#"Mention 8 "src/a""#]]);
        check("@\"a b", expect![[r#"Mention 0 "a b""#]]);
        check("@\"a b\" and @\"c\\\" d", expect![[r#"Mention 11 "c\" d""#]]);
        check("/", expect![[r#"Command 0 """#]]);
        check("/git:co", expect![[r#"Command 0 "git:co""#]]);
        check("/mod", expect![[r#"Command 0 "mod""#]]);
        check("/models ", expect![[r#"Argument(Model) 8 """#]]);
        check("/models gpt", expect![[r#"Argument(Model) 8 "gpt""#]]);
        check("/export a b/c", expect![[r#"Argument(Path) 8 "a b/c""#]]);
        check("/context dr", expect![[r#"Argument(Word(["drop"])) 9 "dr""#]]);
        check("/context drop  1", expect![[r#"Argument(Drop) 15 "1""#]]);
        check("/new @rev", expect![[r#"Argument(Agent) 5 "@rev""#]]);
        check("/plan the @src/b", expect![[r#"Mention 10 "src/b""#]]);
    }

    #[test]
    fn prose_code_and_superfluous_arguments_have_no_token() {
        for line in [
            "",
            "me@example",
            "@a b",
            "@\"a b\" c",
            "use `x @a",
            "/usr/bin",
            "/copy x",
            "a /mod",
            "/review a b",
            "/new @a b",
        ] {
            assert_eq!(at(line, true), None, "{line}");
        }
        assert_eq!(at("/mod", false), None);
    }
}
