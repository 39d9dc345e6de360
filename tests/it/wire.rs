//! What crosses between editor and program is written down twice, in `src/nvim/wire.rs` and in
//! `lua/caliban/program/wire.lua`: kinds, fields, types, and what may be absent must be the same in both.

use crate::kit::root;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

#[derive(Debug, Clone)]
struct Field {
    name: String,
    /// As written, without `Option<…>` in Rust.
    kind: String,
    /// Rust: an `Option`. Lua: a `?`.
    optional: bool,
    /// Rust alone: what its reader may miss, what its writer may leave out.
    defaults: bool,
    skips: bool,
}

type Fields = Vec<Field>;

/// Structs and the variants of enums (as `Enum::Variant`) with their fields; `Enum::Variant` of one type has
/// that type's name as its only field's `kind`, under an empty name, as a field has that is flattened.
fn rust(text: &str, found: &mut BTreeMap<String, Fields>) {
    let (mut outer, mut inner, mut marks) = (String::new(), None::<String>, String::new());
    for line in text.lines().map(str::trim) {
        let named = ["pub struct ", "pub enum "].iter().find_map(|it| line.strip_prefix(it));
        if let Some(name) = named.and_then(|it| it.strip_suffix(" {")) {
            name.clone_into(&mut outer);
            found.insert(outer.clone(), Vec::new());
        } else if line.starts_with("#[") {
            marks.push_str(line);
            continue;
        } else if outer.is_empty() || line.starts_with("//") {
            continue;
        } else if line == "}" {
            outer = String::new();
        } else if line == "}," {
            inner = None;
        } else if line.starts_with(char::is_uppercase) {
            let name: String = line.chars().take_while(char::is_ascii_alphanumeric).collect();
            let variant = format!("{outer}::{name}");
            let rest = line[name.len()..].trim();
            let of = rest.strip_prefix('(').and_then(|it| it.strip_suffix("),"));
            let wraps = of.map(|it| field("", it, ""));
            found.insert(variant.clone(), wraps.into_iter().collect());
            if let Some(fields) = rest.strip_prefix("{ ").and_then(|it| it.strip_suffix(" },")) {
                let each = fields.split(", ").filter_map(|it| it.split_once(": "));
                found.insert(variant, each.map(|(name, kind)| field(name, kind, "")).collect());
            } else if rest == "{" {
                inner = Some(variant);
            }
        } else if let Some((name, kind)) = line.trim_start_matches("pub ").split_once(": ") {
            let to = inner.as_ref().unwrap_or(&outer);
            let field = field(name, kind.trim_end_matches(','), &marks);
            found.get_mut(to).unwrap().push(field);
        }
        marks.clear();
    }
}

fn field(name: &str, kind: &str, marks: &str) -> Field {
    let renamed = marks.split("rename = \"").nth(1).and_then(|it| it.split('"').next());
    let inside = kind.strip_prefix("Option<").and_then(|it| it.strip_suffix('>'));
    let name = if marks.contains("flatten") { "" } else { name };
    Field {
        name: renamed.unwrap_or(name).to_owned(),
        kind: inside.unwrap_or(kind).to_owned(),
        optional: inside.is_some(),
        defaults: inside.is_some() || marks.contains("default"),
        skips: marks.contains("skip_serializing_if"),
    }
}

/// Classes with their fields.
fn lua(text: &str) -> BTreeMap<String, Fields> {
    let mut found: BTreeMap<String, Fields> = BTreeMap::new();
    let mut class = String::new();
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("---@class (exact) caliban.") {
            name.clone_into(&mut class);
            found.insert(class.clone(), Vec::new());
        } else if let Some(rest) = line.strip_prefix("---@field ") {
            let (name, kind) = rest.split_once(' ').unwrap();
            let mut depth = 0_i32;
            let end = kind.find(|c| {
                depth += i32::from(matches!(c, '[' | '<')) - i32::from(matches!(c, ']' | '>'));
                c == ' ' && depth == 0
            });
            let end = end.unwrap_or(kind.len());
            found.get_mut(&class).unwrap().push(Field {
                name: name.trim_end_matches('?').to_owned(),
                kind: kind[..end].to_owned(),
                optional: name.ends_with('?'),
                defaults: false,
                skips: false,
            });
        }
    }
    found
}

fn snake(name: &str) -> String {
    let mut snake = String::new();
    for c in name.chars() {
        if c.is_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.extend(c.to_lowercase());
    }
    snake
}

/// The Lua type that a Rust type arrives as.
fn in_lua(kind: &str, rust: &BTreeMap<String, Fields>) -> String {
    if let Some(item) = kind.strip_prefix("Vec<").and_then(|it| it.strip_suffix('>')) {
        return format!("{}[]", in_lua(item, rust));
    }
    let prefix = format!("{kind}::");
    let variants: Vec<String> = rust
        .keys()
        .filter_map(|it| it.strip_prefix(&prefix))
        .map(|it| format!("'{}'", snake(it)))
        .collect();
    match kind {
        "String" | "PathBuf" | "SessionId" | "Secret" | "&'static str" => "string".into(),
        "bool" => "boolean".into(),
        "i32" | "u32" | "u64" => "integer".into(),
        "f64" => "number".into(),
        "Format" => "'replace'|'patch'|'whole'".into(),
        "Effort" => "'off'|'low'|'medium'|'high'|'max'".into(),
        "Mode" => "'plan'|'ask'|'auto-edit'".into(),
        "Resume" => "boolean|'open'".into(),
        "(u32, u32)" => "[integer, integer]".into(),
        "BTreeMap<&'static str, String>" => "table".into(),
        "BTreeMap<String, String>" => "table<string, string>".into(),
        "BTreeMap<String, ProviderConfig>" => "table<string, caliban.ProviderConfig>".into(),
        "BTreeMap<String, ModelConfig>" => "table<string, caliban.ModelConfig>".into(),
        _ if variants.is_empty() => format!("caliban.{kind}"),
        _ => variants.join("|"),
    }
}

/// Whether two types are one. A string may be narrowed to the words it can be.
fn agree(rust: &str, lua: &str) -> bool {
    let words = |it: &str| {
        let mut words: Vec<String> = it.split('|').map(str::to_owned).collect();
        words.sort();
        words
    };
    words(rust) == words(lua) || (rust == "string" && lua.starts_with('\''))
}

struct Check<'a> {
    rust: &'a BTreeMap<String, Fields>,
    wrong: Vec<String>,
}

impl Check<'_> {
    /// Fields of both; `reads`: the program reads them, `writes`: it writes them.
    fn fields(&mut self, at: &str, rust: &Fields, lua: &Fields, reads: bool, writes: bool) {
        let names: BTreeSet<&String> = rust.iter().chain(lua).map(|it| &it.name).collect();
        for name in names {
            let find = |fields: &Fields| fields.iter().find(|it| it.name == *name).cloned();
            let (Some(rust), Some(lua)) = (find(rust), find(lua)) else {
                self.wrong.push(format!("{at}.{name} is in one of the two only"));
                continue;
            };
            let mut say = |what: &str| self.wrong.push(format!("{at}.{name}: {what}"));
            if reads && lua.optional && !rust.defaults {
                say("may be absent, and the program needs it");
            }
            if reads && !writes && rust.optional && !lua.optional {
                say("is optional in Rust alone");
            }
            if writes && rust.optional && !rust.skips {
                say("is sent as vim.NIL");
            }
            if writes && rust.skips != lua.optional {
                say("may be absent on one side only");
            }
            let wanted = in_lua(&rust.kind, self.rust);
            if !agree(&wanted, &lua.kind) {
                say(&format!("is {wanted} in Rust, {} in Lua", lua.kind));
            }
        }
    }
}

/// All in which the two differ.
fn differences(rust_texts: &[&str], lua_text: &str) -> Vec<String> {
    let mut types = BTreeMap::new();
    for text in rust_texts {
        rust(text, &mut types);
    }
    let (incoming, outgoing) = lua_text.split_once("- to the editor\n").unwrap();
    let mut check = Check { rust: &types, wrong: Vec::new() };
    for (text, messages, reads) in [(incoming, "FromNvim", true), (outgoing, "ToNvim", false)] {
        let mut classes = lua(text);
        let mut kinds: BTreeMap<String, Fields> = BTreeMap::new();
        classes.retain(|_, fields| {
            let Some(at) = fields
                .iter()
                .position(|it| it.name == "kind" && it.kind.matches('\'').count() == 2)
            else {
                return true;
            };
            let kind = fields.remove(at).kind.trim_matches('\'').to_owned();
            kinds.insert(kind, std::mem::take(fields));
            false
        });
        let prefix = format!("{messages}::");
        let variants =
            types.iter().filter_map(|(name, it)| Some((name.strip_prefix(&prefix)?, it)));
        for (variant, fields) in variants {
            let fields = fields.iter().flat_map(|it| match &it.name[..] {
                "" => types[&it.kind].clone(),
                _ => vec![it.clone()],
            });
            match kinds.remove(&snake(variant)) {
                Some(lua) => check.fields(variant, &fields.collect(), &lua, reads, !reads),
                None => check.wrong.push(format!("{variant} is in Rust alone")),
            }
        }
        check.wrong.extend(kinds.keys().map(|kind| format!("kind '{kind}' is in Lua alone")));
        for (class, lua) in &classes {
            let reads = reads || ["BufferText", "Restored"].contains(&class.as_str());
            let writes = !reads || class == "Excerpt";
            match types.get(class) {
                Some(rust) => check.fields(class, rust, lua, reads, writes),
                None => check.wrong.push(format!("class {class} is in Lua alone")),
            }
        }
    }
    check.wrong
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap()
}

/// Where the Rust side is written down.
const TYPES: [&str; 11] = [
    "src/nvim/wire.rs",
    "src/nvim/wire/chats.rs",
    "src/nvim/wire/config.rs",
    "src/nvim/wire/files.rs",
    "src/nvim/wire/permissions.rs",
    "src/nvim/wire/servers.rs",
    "src/nvim/wire/verdict.rs",
    "src/conversation/report.rs",
    "src/message.rs",
    "src/view/paint.rs",
    "src/tool/lsp.rs",
];

/// And the other: what is said to the program, then what is said to the editor.
fn lua_side() -> String {
    let texts = ["wire", "wire/config", "wire/files", "wire/held", "wire/permissions"]
        .map(|it| read(&format!("lua/caliban/program/{it}.lua")));
    let halves = texts.each_ref().map(|it| it.split_once("- to the editor\n").unwrap());
    let [to_program, to_editor] = [halves.map(|it| it.0).concat(), halves.map(|it| it.1).concat()];
    format!("{to_program}- to the editor\n{to_editor}")
}

#[test]
fn both_sides_say_the_same() {
    let texts = TYPES.map(read);
    let found = differences(&texts.each_ref().map(String::as_str), &lua_side());
    assert!(found.is_empty(), "{found:#?}");
}

/// Each change on one side alone is found.
#[test]
fn a_difference_is_found() {
    let texts = TYPES.map(read);
    let rust = texts.each_ref().map(String::as_str);
    let lua = lua_side();
    for (from, to) in [
        ("---@field steer boolean with", "---@field steers boolean with"),
        ("---@field retry_ms? integer", "---@field retry_ms integer"),
        ("---@field why? string", "---@field why string|integer"),
        ("---@field ruling 'once'|", "---@field ruling 'twice'|"),
        ("---@field sha string", "---@field sha integer"),
        ("---@field kind 'toggle'", "---@field kind 'fold'"),
        ("---@field block integer\n", ""),
        ("---@field hunks caliban.WireHunk[]", "---@field hunks? caliban.WireHunk[]"),
        ("---@field final boolean", "---@field done boolean"),
        ("---@class (exact) caliban.Reason\n", "---@class (exact) caliban.Reasons\n"),
    ] {
        assert!(lua.contains(from), "{from}");
        let found = differences(&rust, &lua.replace(from, to));
        assert!(!found.is_empty(), "{from} as {to}");
    }
    for (from, to) in [
        ("pub waiting_for:", "pub waits_for:"),
        ("        ephemeral: bool,", "        ephemeral: Option<bool>,"),
        ("    Bounce {", "    Boomerang {"),
        ("pub retry_ms: Option<u64>", "pub retry_ms: Option<String>"),
        ("    pub probe: bool,", "    pub probe: bool,\n    pub when: u32,"),
    ] {
        assert!(texts.iter().any(|text| text.contains(from)), "{from}");
        let wrong = texts.each_ref().map(|text| text.replace(from, to));
        let found = differences(&wrong.each_ref().map(String::as_str), &lua);
        assert!(!found.is_empty(), "{from} as {to}");
    }
}
