//! Checks settings as `lua/caliban/config.lua` does.

use crate::nearest;
use serde_json::{Map, Value};

/// What a setting may be.
enum Kind {
    Text,
    Flag,
    Words(&'static [&'static str]),
    /// One of these words, or a boolean.
    WordsOrFlag(&'static [&'static str]),
    Texts,
    Variables,
    Tokens,
    Dollars,
    Milliseconds,
    Seconds,
    /// Variables with their values.
    Environment,
    Servers,
    /// A number from 0 to this one.
    Number(f64),
    Share,
    Object(&'static [Row]),
    FlagOrObject(&'static [Row]),
    OffOrObject(&'static [Row]),
    Search,
    /// A list of objects.
    List(&'static [Row]),
    /// An object whose keys the user chooses. The flag says whether each key must be `provider/model`.
    Named(&'static [Row], bool),
    /// Headers, but for these names.
    Headers(&'static str),
    Price,
}

type Row = (&'static str, Kind);

const EFFORTS: Kind = Kind::Words(&["off", "low", "medium", "high", "max"]);
const ANY: f64 = f64::MAX;
const SEARCH: &str = "false, or an object with `hosted` (a boolean), or with `provider` ('searxng', 'brave', 'tavily' or \
                      'exa'), `url`, and `key` ('env:NAME' or 'cmd:COMMAND'); searxng needs the `url`, the others the \
                      `key`";

const KNOWN: &[Row] = &[
    ("model", Kind::Text),
    ("subagent_model", Kind::Text),
    ("providers", Kind::Named(PROVIDER, false)),
    ("models", Kind::Named(MODEL, true)),
    ("thinking", EFFORTS),
    ("temperature", Kind::Number(2.0)),
    ("max_output", Kind::Tokens),
    ("trim", Kind::Share),
    ("compact", Kind::Share),
    ("mode", Kind::Words(&["plan", "ask", "auto-edit", "auto"])),
    ("resume", Kind::WordsOrFlag(&["open"])),
    ("bin", Kind::Text),
    ("debug", Kind::Flag),
    ("system", Kind::Text),
    ("system_file", Kind::Text),
    ("no_system", Kind::Flag),
    ("instructions", Kind::WordsOrFlag(&["ask", "always", "never"])),
    ("titles", Kind::Flag),
    ("probe", Kind::Flag),
    ("limit", Kind::Object(LIMIT)),
    ("pass_env", Kind::Variables),
    ("fetch_private", Kind::Texts),
    ("search", Kind::Search),
    ("notify", Kind::OffOrObject(NOTIFY)),
    ("permissions", Kind::List(RULE)),
    ("safe_commands", Kind::Flag),
    ("sandbox", Kind::FlagOrObject(SANDBOX)),
    ("mcp", Kind::Servers),
    ("lsp", Kind::Object(LSP)),
    ("completion", Kind::Words(&["auto", "manual"])),
    ("layout", Kind::Words(&["auto", "right", "left", "top", "bottom", "tab", "float", "current"])),
];

const DIALECTS: &[&str] = &["anthropic", "openai-chat", "openai-responses", "gemini", "ollama"];

const PROVIDER: &[Row] = &[
    ("dialect", Kind::Words(DIALECTS)),
    ("base_url", Kind::Text),
    ("key", Kind::Text),
    ("models", Kind::Texts),
    ("quirks", Kind::Texts),
    ("headers", Kind::Headers(TAKEN)),
];

const MODEL: &[Row] = &[
    ("window", Kind::Tokens),
    ("max_output", Kind::Tokens),
    ("thinking", EFFORTS),
    ("temperature", Kind::Number(2.0)),
    ("price", Kind::Price),
    ("num_ctx", Kind::Tokens),
    ("vision", Kind::Flag),
    ("calls", Kind::Words(&["native", "text"])),
    ("edits", Kind::Words(&["replace", "patch", "whole"])),
    ("trim", Kind::Share),
    ("compact", Kind::Share),
];

const PRICE: &[Row] = &[
    ("input", Kind::Number(ANY)),
    ("output", Kind::Number(ANY)),
    ("cache_read", Kind::Number(ANY)),
    ("cache_write", Kind::Number(ANY)),
];

const LIMIT: &[Row] = &[
    ("usd", Kind::Dollars),
    ("tokens", Kind::Tokens),
    ("turn_usd", Kind::Dollars),
    ("turn_tokens", Kind::Tokens),
];

const RULE: &[Row] = &[
    ("allow", Kind::Text),
    ("ask", Kind::Text),
    ("deny", Kind::Text),
    ("command", Kind::Text),
    ("path", Kind::Text),
    ("host", Kind::Text),
    ("reason", Kind::Text),
    ("matches", Kind::Texts),
    ("spares", Kind::Texts),
];

const SERVER: &[Row] = &[
    ("command", Kind::Text),
    ("args", Kind::Texts),
    ("env", Kind::Environment),
    ("cwd", Kind::Text),
    ("type", Kind::Words(&["stdio", "http", "streamable-http"])),
    ("url", Kind::Text),
    ("headers", Kind::Headers(TAKEN_BY_PROTOCOL)),
    ("timeout", Kind::Seconds),
    ("startup_timeout", Kind::Seconds),
    ("disabled", Kind::Flag),
];

const SANDBOX: &[Row] = &[("network", Kind::Flag), ("writable", Kind::Texts)];
const NOTIFY: &[Row] =
    &[("editor", Kind::Flag), ("terminal", Kind::Flag), ("command", Kind::Texts)];
const LSP: &[Row] = &[("diagnostics_ms", Kind::Milliseconds), ("request_ms", Kind::Milliseconds)];

/// Headers that the user cannot set, because Caliban or the connection sets them.
const TAKEN: &str = "authorization x-api-key x-goog-api-key api-key connection content-length expect host keep-alive \
                     proxy-authenticate proxy-authorization proxy-connection te trailer transfer-encoding upgrade accept \
                     accept-encoding anthropic-version content-encoding content-type";
/// The same of a server of tools.
const TAKEN_BY_PROTOCOL: &str = "connection content-length expect host keep-alive te trailer transfer-encoding upgrade accept \
                                 accept-encoding content-encoding content-type last-event-id mcp-session-id \
                                 mcp-protocol-version mcp-method mcp-name";

/// The problems, one line each.
pub(super) fn problems(settings: &Map<String, Value>) -> Vec<String> {
    let mut all = Problems(Vec::new());
    all.rows("", settings, KNOWN);
    let set = |key: &str| settings.get(key).is_some_and(|it| *it != Value::Bool(false));
    if ["system", "system_file", "no_system"].into_iter().filter(|it| set(it)).count() > 1 {
        all.0.push("system, system_file and no_system exclude each other".to_owned());
    }
    all.0
}

struct Problems(Vec<String>);

impl Problems {
    fn rows(&mut self, path: &str, given: &Map<String, Value>, rows: &'static [Row]) {
        let mut keys: Vec<&String> = given.keys().collect();
        keys.sort();
        for key in keys {
            let dot = if path.is_empty() { "" } else { "." };
            let place = format!("{path}{dot}{}", key.escape_debug());
            if let Some((_, kind)) = rows.iter().find(|row| row.0 == key) {
                self.value(&place, &given[key], kind);
            } else {
                let names: Vec<&str> = rows.iter().map(|row| row.0).collect();
                let hint = hint(key, &names);
                self.0.push(format!("{place}: there is no such setting.{hint}"));
            }
        }
    }

    fn value(&mut self, path: &str, given: &Value, kind: &Kind) {
        match (kind, given) {
            (
                Kind::Object(rows) | Kind::FlagOrObject(rows) | Kind::OffOrObject(rows),
                Value::Object(it),
            ) => {
                self.rows(path, it, rows);
            }
            (Kind::Price, Value::Object(it)) => {
                self.rows(path, it, PRICE);
                for key in ["input", "output"].into_iter().filter(|key| !it.contains_key(*key)) {
                    self.0.push(format!("{path}.{key}: this setting is missing"));
                }
            }
            (Kind::List(rows), Value::Array(items)) => {
                for (n, it) in items.iter().enumerate() {
                    self.value(&format!("{path}[{}]", n + 1), it, &Kind::Object(rows));
                }
            }
            (Kind::Named(rows, is_model), Value::Object(it)) => {
                self.named(path, it, rows, *is_model);
            }
            (Kind::Headers(taken), Value::Object(it)) => self.headers(path, it, taken),
            (Kind::Servers, Value::Object(it)) => self.servers(path, it),
            (kind, given) => {
                if let Some(expected) = expected(kind, given) {
                    self.0.push(format!("{path}: expected {expected}, got {given}"));
                }
            }
        }
    }

    fn named(
        &mut self,
        path: &str,
        given: &Map<String, Value>,
        rows: &'static [Row],
        is_model: bool,
    ) {
        let mut names: Vec<&String> = given.keys().collect();
        names.sort();
        for name in names {
            let place = format!("{path}[{name:?}]");
            let is_full =
                name.split_once('/').is_some_and(|it| !it.0.is_empty() && !it.1.is_empty());
            if is_model && !is_full {
                self.0.push(format!("{place}: the name must be 'provider/model'"));
            } else {
                self.value(&place, &given[name], &Kind::Object(rows));
            }
        }
    }

    fn servers(&mut self, path: &str, given: &Map<String, Value>) {
        for (name, it) in given {
            let place = format!("{path}[{name:?}]");
            self.value(&place, it, &Kind::Object(SERVER));
            let Some(it) = it.as_object() else { continue };
            match ["command", "url"].map(|key| it.contains_key(key)) {
                [false, false] => {
                    self.0.push(format!("{place}: the `command` or the `url` is missing"));
                }
                [true, true] => {
                    self.0.push(format!("{place}: `command` and `url` exclude each other"));
                }
                [_, is_address] => {
                    let others: &[&str] =
                        if is_address { &["args", "env", "cwd"] } else { &["headers"] };
                    for key in others.iter().filter(|key| it.contains_key(**key)) {
                        let of = if is_address { "url" } else { "command" };
                        self.0.push(format!("{place}.{key}: a server with `{of}` has no `{key}`"));
                    }
                    let kind = it.get("type").and_then(Value::as_str);
                    if kind.is_some_and(|kind| (kind == "stdio") == is_address) {
                        let right = if is_address { "'http'" } else { "'stdio'" };
                        self.0.push(format!("{place}.type: expected {right}"));
                    }
                }
            }
        }
    }

    fn headers(&mut self, path: &str, given: &Map<String, Value>, taken: &str) {
        for (name, value) in given {
            let is_name = |c: u8| c.is_ascii_alphanumeric() || b"!#$%&'*+.^_`|~-".contains(&c);
            let wrong = if name.is_empty() || !name.bytes().all(is_name) {
                "this is not a valid header name"
            } else if taken.split(' ').any(|it| name.eq_ignore_ascii_case(it)) {
                "Caliban sets this header"
            } else if value.as_str().is_none_or(|it| it.contains(|c: char| c.is_control())) {
                "expected a string without control characters"
            } else {
                continue;
            };
            self.0.push(format!("{path}[{name:?}]: {wrong}"));
        }
    }
}

/// What the setting may be, in words; `None` if the value is allowed.
fn expected(kind: &Kind, given: &Value) -> Option<String> {
    let number = given.as_f64();
    let is_whole = |least: u64| given.as_u64().is_some_and(|it| it >= least && it < 1 << 32);
    let texts = |is_good: fn(&str) -> bool| {
        let items = given.as_array();
        items.is_some_and(|all| all.iter().all(|it| it.as_str().is_some_and(is_good)))
    };
    let (is_good, words) = match kind {
        Kind::Text => (given.is_string(), "a string"),
        Kind::Flag => (given.is_boolean(), "a boolean"),
        Kind::Words(words) => return one_of(words, given),
        Kind::WordsOrFlag(words) => {
            return one_of(words, given)
                .filter(|_| !given.is_boolean())
                .map(|it| format!("true, false, {it}"));
        }
        Kind::Texts => (texts(|_| true), "a list of strings"),
        Kind::Variables => (texts(is_variable), "a list of variable names"),
        Kind::Tokens => (is_whole(1), "a number of tokens"),
        Kind::Milliseconds => (is_whole(0), "a number of milliseconds"),
        Kind::Seconds => (is_whole(1), "a number of seconds"),
        Kind::Environment => {
            let all = given.as_object();
            let is_good = |it: (&String, &Value)| is_variable(it.0) && it.1.is_string();
            (all.is_some_and(|all| all.iter().all(is_good)), "an object with names of variables")
        }
        Kind::Dollars => (number.is_some_and(|it| it > 0.0), "a number of US dollars above 0"),
        Kind::Number(most) if *most < ANY => {
            let is_good = number.is_some_and(|it| (0.0..=*most).contains(&it));
            return (!is_good).then(|| format!("a number from 0 to {most}"));
        }
        Kind::Number(_) => (number.is_some_and(|it| it >= 0.0), "a number of at least 0"),
        Kind::Share => {
            let is_share = number.is_some_and(|it| it > 0.0 && it <= 1.0);
            (is_share || *given == Value::Bool(false), "a number up to 1, such as 0.5, or false")
        }
        Kind::FlagOrObject(_) => (given.is_boolean(), "true, false or an object"),
        Kind::OffOrObject(_) => (*given == Value::Bool(false), "false or an object"),
        Kind::Search => (is_search(given), SEARCH),
        Kind::List(_) => (false, "a list of rules"),
        Kind::Object(_) | Kind::Named(..) | Kind::Headers(_) | Kind::Servers | Kind::Price => {
            (false, "an object")
        }
    };
    (!is_good).then(|| words.to_owned())
}

fn one_of(words: &[&str], given: &Value) -> Option<String> {
    if words.iter().any(|it| given == *it) {
        return None;
    }
    let quoted: Vec<String> = words.iter().map(|it| format!("'{it}'")).collect();
    Some(match &quoted[..] {
        [before @ .., last] if !before.is_empty() => format!("{} or {last}", before.join(", ")),
        all => all.concat(),
    })
}

/// Whether the value turns searches off, lets the model's provider search, or names a service that searches the web
/// with what the service needs.
fn is_search(given: &Value) -> bool {
    let Some(given) = given.as_object() else { return *given == Value::Bool(false) };
    let text = |name: &str| given.get(name).and_then(Value::as_str);
    let is_known = given.iter().all(|(name, value)| match name.as_str() {
        "hosted" => value.is_boolean(),
        name => ["provider", "url", "key"].contains(&name) && value.is_string(),
    });
    let follows = |it: &str, begins: &[&str]| {
        begins.iter().any(|begin| it.strip_prefix(begin).is_some_and(|rest| !rest.is_empty()))
    };
    let has_all = match text("provider") {
        Some("searxng") => text("url").is_some(),
        Some("brave" | "tavily" | "exa") => text("key").is_some(),
        Some(_) => false,
        None => given.contains_key("hosted") && given.len() == 1,
    };
    let (url, key) = (text("url"), text("key"));
    is_known
        && has_all
        && url.is_none_or(|it| follows(it, &["http://", "https://"]))
        && key.is_none_or(|it| follows(it, &["env:", "cmd:"]))
}

fn is_variable(name: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    name.chars().all(is_part) && name.chars().next().is_some_and(|it| !it.is_ascii_digit())
}

/// The hint at the known name that was probably meant, with a space before it.
pub(super) fn hint(name: &str, known: &[&str]) -> String {
    let near = nearest::find(name, known.iter().copied());
    near.map(|it| format!(" Did you mean `{it}`?")).unwrap_or_default()
}
