//! The names of servers' tools, as rules name them and as the model calls them: `mcp__server__tool`.

use sha2::{Digest, Sha256};

/// The longest name of a tool that all providers take.
const LONGEST: usize = 64;
const HEAD: &str = "mcp__";
const BETWEEN: &str = "__";

/// A part of a name, with `_` in place of each character that a provider does not take.
fn clean(part: &str) -> String {
    let taken = |it: char| it.is_ascii_alphanumeric() || it == '_' || it == '-';
    part.chars().map(|it| if taken(it) { it } else { '_' }).collect()
}

/// The name of a tool. Two tools of one server have different names: what is lost by cleaning or cutting is replaced by
/// a hash.
pub fn full(server: &str, tool: &str) -> String {
    let name = format!("{HEAD}{}{BETWEEN}{}", clean(server), clean(tool));
    if clean(tool) == tool && name.len() <= LONGEST {
        return name;
    }
    let hash = format!("_{:x}", Sha256::digest(tool))[..7].to_owned();
    let kept = name.len().min(LONGEST - hash.len());
    format!("{}{hash}", &name[..kept])
}

/// The server that a tool's name begins with, and the rest of the name. `servers` are the names of all servers. If
/// several fit, it is the one with the longest name.
pub fn called<'a>(name: &str, servers: impl Iterator<Item = &'a str>) -> Option<(&'a str, String)> {
    let rest = name.strip_prefix(HEAD)?;
    let fitting = servers.filter_map(|server| {
        let tool = rest.strip_prefix(&*clean(server))?.strip_prefix(BETWEEN)?;
        (!tool.is_empty()).then(|| (server, tool.to_owned()))
    });
    fitting.max_by_key(|it| it.0.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_only_characters_that_providers_take() {
        let long = "x".repeat(100);
        for (server, tool, expect) in [
            ("files", "read_file", "mcp__files__read_file"),
            ("my files", "read", "mcp__my_files__read"),
            ("files", "read.file", "mcp__files__read_file_cd88f7"),
            ("files", "réad", "mcp__files__r_ad_fa9bf3"),
            ("files", &long, ""),
        ] {
            let name = full(server, tool);
            assert!(name.len() <= LONGEST, "{name}");
            if !expect.is_empty() {
                assert_eq!(name.len(), expect.len(), "{name}");
                assert_eq!(name.split("__").count(), expect.split("__").count());
            }
        }
        assert_ne!(full("a", "read.file"), full("a", "read_file"));
        assert_ne!(full("a", &long), full("a", &format!("{long}x")));
    }

    #[test]
    fn a_name_leads_back_to_its_server() {
        let servers = ["git", "git__hub", "my files"];
        for (name, expect) in [
            ("mcp__git__push", Some(("git", "push"))),
            ("mcp__git__hub__push", Some(("git__hub", "push"))),
            ("mcp__my_files__read", Some(("my files", "read"))),
            ("mcp__git__", None),
            ("mcp__other__read", None),
            ("read", None),
        ] {
            let found = called(name, servers.iter().copied());
            assert_eq!(found.as_ref().map(|it| (it.0, it.1.as_str())), expect, "{name}");
        }
    }
}
