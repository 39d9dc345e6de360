//! The field `allowed-tools` of a command: the tools that the model may use in the command's turn. A tool has Caliban's
//! name or the name that other agents use.

use serde_json::Value;

/// The names of tools in other agents, each with Caliban's tools for the same work. `web_search` is listed too, because
/// the model's provider may search the web where Caliban has no tool for it.
const NAMES: [(&str, &[&str]); 18] = [
    ("Bash", &["shell"]),
    ("Read", &["read"]),
    ("LS", &["list"]),
    ("Glob", &["glob"]),
    ("Grep", &["grep"]),
    ("Edit", &["edit", "apply_patch", "rename_symbol"]),
    ("MultiEdit", &["edit", "apply_patch", "rename_symbol"]),
    ("Write", &["write", "apply_patch"]),
    ("WebFetch", &["fetch"]),
    ("WebSearch", &["web_search"]),
    ("web_search", &["web_search"]),
    ("TodoRead", &["todo"]),
    ("TodoWrite", &["todo"]),
    ("Skill", &["skill"]),
    ("AskUserQuestion", &["ask"]),
    ("SlashCommand", &[]),
    ("Task", &["task"]),
    ("Agent", &["task"]),
];

/// What a slash command allows in its turn.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Allowed {
    /// Names of tools, and of commands such as `shell(git add)`. Empty if the slash command allows all tools.
    pub tools: Vec<String>,
    /// The entries that name no tool of Caliban, or a limit that Caliban cannot apply, as their author wrote them.
    pub unknown: Vec<String>,
}

impl Allowed {
    /// `is_tool` says whether a name is that of one of Caliban's own tools.
    pub fn read(field: Option<&Value>, is_tool: impl Fn(&str) -> bool) -> Allowed {
        let mut allowed = Allowed::default();
        for written in items(field) {
            let (name, rest) = written.split_once('(').unwrap_or((&written, ""));
            let named = NAMES.iter().find(|it| it.0 == name).map(|it| it.1.to_vec());
            let own = || is_tool(name).then(|| vec![name]);
            match (named.or_else(own), rest.strip_suffix(')').unwrap_or(rest)) {
                (Some(names), "" | "*") => allowed.add(names.iter().map(|it| (*it).to_owned())),
                (Some(names), words) if names == ["shell"] && words_of(words).is_some() => {
                    allowed.add(words_of(words).map(|it| format!("shell({it})")));
                }
                // the limit in the brackets cannot be applied, so the whole tool is allowed, as without the field
                (Some(names), _) => {
                    allowed.add(names.iter().map(|it| (*it).to_owned()));
                    allowed.unknown.push(written.clone());
                }
                (None, _) => allowed.unknown.push(written.clone()),
            }
        }
        allowed
    }

    fn add(&mut self, names: impl IntoIterator<Item = String>) {
        for name in names {
            if !self.tools.contains(&name) {
                self.tools.push(name);
            }
        }
    }
}

/// The first words of a command, written as `git add:*`, `git add *` or `git add`. `None` if the text has another star
/// or a character with a meaning for the shell.
fn words_of(written: &str) -> Option<String> {
    let words = written.trim().trim_end_matches('*').trim_end_matches(':').trim();
    let is_plain = |c: char| c.is_alphanumeric() || "_-./:@+=, ".contains(c);
    (!words.is_empty() && words.chars().all(is_plain)).then(|| words.to_owned())
}

/// The entries of a list, or of a text with commas or blanks between the entries. Commas and blanks within brackets do
/// not divide the text.
fn items(field: Option<&Value>) -> Vec<String> {
    match field {
        Some(Value::Array(list)) => {
            list.iter().filter_map(Value::as_str).map(|it| it.trim().to_owned()).collect()
        }
        Some(Value::String(text)) => {
            let mut items = vec![String::new()];
            let mut depth = 0_u32;
            for c in text.chars() {
                match c {
                    '(' => depth += 1,
                    ')' => depth = depth.saturating_sub(1),
                    _ => (),
                }
                if depth == 0 && (c == ',' || c.is_whitespace()) {
                    items.push(String::new());
                } else if let Some(item) = items.last_mut() {
                    item.push(c);
                }
            }
            items.retain(|it| !it.is_empty());
            items
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};
    use serde_json::json;

    #[expect(clippy::needless_pass_by_value, reason = "a table's row gives its values away")]
    fn check(field: Value, expect: Expect) {
        let is_tool = |it: &str| ["read", "shell", "grep"].contains(&it);
        let Allowed { tools, unknown } = Allowed::read(Some(&field), is_tool);
        expect.assert_eq(&format!("{}; {}", tools.join(", "), unknown.join(", ")));
    }

    #[test]
    fn tools_are_named_as_in_other_agents_or_as_in_caliban() {
        check(
            json!("Bash(git add:*), Bash(git status), Read"),
            expect!["shell(git add), shell(git status), read; "],
        );
        check(json!(["Bash(npm run *)", "grep", "Read"]), expect!["shell(npm run), grep, read; "]);
        check(json!("Read Grep Bash"), expect!["read, grep, shell; "]);
        check(json!("Edit"), expect!["edit, apply_patch, rename_symbol; "]);
        check(json!("Bash(*)"), expect!["shell; "]);
        check(json!("AskUserQuestion"), expect!["ask; "]);
    }

    #[test]
    fn an_unknown_tool_or_limit_is_reported_and_does_not_narrow_the_turn() {
        check(json!("mcp__git__log, Read"), expect!["read; mcp__git__log"]);
        check(json!("Read(src/**)"), expect!["read; Read(src/**)"]);
        check(json!("Bash(git * main)"), expect!["shell; Bash(git * main)"]);
        check(json!("Bash(ls; rm)"), expect!["shell; Bash(ls; rm)"]);
        check(json!(7), expect!["; "]);
        check(json!("NotebookEdit"), expect!["; NotebookEdit"]);
    }
}
