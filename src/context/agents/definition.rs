//! The text of one agent: the fields of its front matter, by the names that Caliban or Claude Code gives them, and its
//! prompt.

use super::agent::{NamedAgent, Source};
use crate::context::commands::Allowed;
use crate::event::{MODES, Mode, Tuning, is_agent};
use crate::nearest;
use crate::text::unseen::spelt_out;
use crate::tool::Desk;
use crate::tool::front;
use serde_json::{Map, Value};

/// The most characters of a description, and of a word of the file that a sentence for the user quotes.
const DESCRIPTION: usize = 1024;
const WORD: usize = 80;

/// The names of the fields: in small letters without `_` and `-`, and in their usual spelling.
const FIELDS: [(&str, &str); 13] = [
    ("name", "name"),
    ("description", "description"),
    ("tools", "tools"),
    ("disallowedtools", "disallowedTools"),
    ("model", "model"),
    ("mode", "mode"),
    ("permissionmode", "permissionMode"),
    ("maxturns", "max_turns"),
    ("maxtokens", "max_tokens"),
    ("maxusd", "max_usd"),
    ("thinking", "thinking"),
    ("effort", "effort"),
    ("color", "color"),
];
/// Fields of Claude Code that Caliban does not apply.
const FOREIGN: [&str; 7] =
    ["skills", "mcpservers", "hooks", "memory", "background", "isolation", "initialprompt"];
/// Claude Code's names for modes, each with the mode of Caliban that is most like it.
const MODE_NAMES: [(&str, Mode); 3] =
    [("default", Mode::Ask), ("acceptEdits", Mode::AutoEdit), ("dontAsk", Mode::Ask)];

/// An agent's text, divided into its front matter and its prompt.
pub(super) struct Definition<'a> {
    pub(super) name: &'a str,
    /// The line where the agent's text begins, and the line where its front matter begins, from 1.
    pub(super) line: usize,
    pub(super) front: usize,
    pub(super) yaml: &'a str,
    pub(super) prompt: &'a str,
    pub(super) written: &'a str,
}

/// What is known of an agent while its fields are read.
struct Reader<'a> {
    desk: &'a Desk,
    shown: &'a str,
    definition: &'a Definition<'a>,
    agent: NamedAgent,
    denied: Vec<String>,
}

/// The sentence about a text that cannot be the name of an agent.
pub(super) fn bad_name(shown: &str, line: usize, name: &str) -> String {
    format!(
        "`{shown}`, line {line}: {name:?} cannot be the name of an agent. Use 1 to 64 letters, digits, `-` and `_`."
    )
}

impl<'a> Definition<'a> {
    /// The agent of a file of its own. The agent's name is the field `name`, otherwise the name of the file.
    pub(super) fn of_file(
        text: &'a str,
        stem: &'a str,
        shown: &str,
    ) -> Result<Definition<'a>, String> {
        Definition::new(stem, text, 1, shown)
    }

    /// `line` is the line of the file where `text` begins. The error is a sentence.
    pub(super) fn new(
        name: &'a str,
        text: &'a str,
        line: usize,
        shown: &str,
    ) -> Result<Definition<'a>, String> {
        let (yaml, prompt) = front::split(text).ok_or_else(|| {
            format!(
                "`{shown}`, line {line}: an agent needs front matter between two lines `---` here."
            )
        })?;
        Ok(Definition { name, line, front: line, yaml, prompt, written: text })
    }

    /// The error is a sentence.
    pub(super) fn read(
        &self,
        desk: &Desk,
        shown: &str,
        source: &Source,
    ) -> Result<NamedAgent, String> {
        let fields: Map<String, Value> = match self.yaml.trim() {
            "" => Map::new(),
            _ => front::parse_at(self.yaml, self.front).map_err(|why| {
                let front = self.front;
                format!("`{shown}`, line {front}: the front matter is not YAML ({why}).")
            })?,
        };
        let given = fields.get("name").and_then(Value::as_str);
        let (name, at) = match given.filter(|_| !source.is_list) {
            Some(name) => (name, self.line_of("name")),
            None => (self.name, self.line),
        };
        if !is_agent(name) {
            let name: String = name.chars().take(WORD).collect();
            return Err(bad_name(shown, at, &name));
        }
        let mut reader = Reader {
            desk,
            shown,
            definition: self,
            agent: self.bare(name, source),
            denied: Vec::new(),
        };
        reader.fields(&fields);
        Ok(reader.finish())
    }

    /// The agent without the fields of its front matter.
    fn bare(&self, name: &str, source: &Source) -> NamedAgent {
        NamedAgent {
            name: name.to_owned(),
            description: String::new(),
            prompt: spelt_out(self.prompt.trim()).0.into_owned(),
            tools: None,
            model: None,
            model_line: self.front,
            inherits: false,
            mode: None,
            requests: None,
            tokens: None,
            usd: None,
            origin: source.origin,
            path: source.path.clone(),
            line: self.line,
            written: spelt_out(self.written.trim_end()).0.into_owned(),
            problems: Vec::new(),
        }
    }

    /// The line of an outermost field, from 1.
    fn line_of(&self, key: &str) -> usize {
        let is_field = |line: &str| {
            let rest = line.trim_start_matches(['"', '\'']).strip_prefix(key);
            let rest = rest.map(|it| it.trim_start_matches(['"', '\'', ' ']));
            rest.is_some_and(|it| it.starts_with(':'))
        };
        let at = self.yaml.lines().position(is_field);
        at.map_or(self.front, |at| self.front + 1 + at)
    }
}

impl Reader<'_> {
    fn fields(&mut self, fields: &Map<String, Value>) {
        for (key, value) in fields {
            let plain: String = key.chars().filter(|it| !matches!(it, '_' | '-')).collect();
            let plain = plain.to_lowercase();
            if value.is_null() {
                continue;
            }
            if plain == "model" {
                self.agent.model_line = self.definition.line_of(key);
            }
            if let Some(problem) = self.field(key, &plain, value) {
                let (shown, line) = (self.shown, self.definition.line_of(key));
                self.agent.problems.push(format!("`{shown}`, line {line}: {problem}"));
            }
        }
    }

    /// Reads a field. `plain` is the field's name without `_` and `-`. Returns a sentence if the field cannot be
    /// applied.
    fn field(&mut self, key: &str, plain: &str, value: &Value) -> Option<String> {
        let (key, word) = (front::line(key, WORD).0, words(value));
        let agent = &mut self.agent;
        match plain {
            "name" if word.as_deref() == Some(agent.name.as_str()) => None,
            "name" => {
                Some(format!("the field `name` is ignored: the agent's name is `{}`.", agent.name))
            }
            "color" => None,
            "description" => {
                let (line, is_cut) = front::line(&word.unwrap_or_default(), DESCRIPTION);
                agent.description = line;
                let cut = || format!("the description was cut to {DESCRIPTION} characters.");
                is_cut.then(cut)
            }
            "tools" => self.tools(&key, value),
            "disallowedtools" => self.deny(&key, value),
            "model" => self.model(&word?),
            "mode" | "permissionmode" => self.mode(&key, &word.unwrap_or_default()),
            "thinking" | "effort" => self.thinking(&key, &word.unwrap_or_default()),
            "maxturns" => {
                agent.requests = whole(value).and_then(|it| u32::try_from(it).ok());
                agent.requests.is_none().then(|| not_a(&key, "a number of requests above 0"))
            }
            "maxtokens" => {
                agent.tokens = whole(value);
                agent.tokens.is_none().then(|| not_a(&key, "a number of tokens above 0"))
            }
            "maxusd" => {
                let usd = value.as_f64().or_else(|| word.and_then(|it| it.trim().parse().ok()));
                agent.usd = usd.filter(|it| it.is_finite() && *it > 0.0);
                agent.usd.is_none().then(|| not_a(&key, "an amount of money above 0"))
            }
            it if FOREIGN.contains(&it) => {
                Some(format!("Caliban does not apply `{key}`. The agent works without it."))
            }
            it => {
                let near = nearest::find(it, FIELDS.map(|it| it.0));
                let near = FIELDS.iter().find(|row| Some(row.0) == near);
                let hint = near.map(|it| format!(" Did you mean `{}`?", it.1)).unwrap_or_default();
                Some(format!("`{key}` is not a field of an agent and was ignored.{hint}"))
            }
        }
    }

    fn tools(&mut self, key: &str, value: &Value) -> Option<String> {
        let Allowed { mut tools, unknown } = self.named(value);
        let has = |tools: &[String], name: &str| tools.iter().any(|it| it == name);
        // a model may write its edits as patches, and reads the output of its commands in the background by `job`
        let also = [("edit", "apply_patch"), ("shell", "job"), ("shell", "job_input")];
        for (name, other) in also {
            if has(&tools, name) && !has(&tools, other) {
                tools.push(other.to_owned());
            }
        }
        self.agent.tools = Some(tools);
        let is_list = value.is_array() || value.is_string();
        let wrong = || Some(format!("`{key}` has to be a list of tools. The agent has no tools."));
        if is_list { unknown_tools(key, &unknown) } else { wrong() }
    }

    fn deny(&mut self, key: &str, value: &Value) -> Option<String> {
        let Allowed { tools, unknown } = self.named(value);
        // a tool that is denied for some arguments is denied for all, because Caliban cannot apply the limit
        let names = tools.iter().map(|it| it.split('(').next().unwrap_or(it).to_owned());
        self.denied.extend(names);
        if self.denied.iter().any(|it| it == "edit") {
            self.denied.push("apply_patch".to_owned());
        }
        unknown_tools(key, &unknown)
    }

    fn named(&self, value: &Value) -> Allowed {
        Allowed::read(Some(value), |it| self.desk.tools.find(it).is_some())
    }

    fn model(&mut self, word: &str) -> Option<String> {
        let model = front::line(word, WORD).0;
        match model.as_str() {
            "" => None,
            "inherit" => {
                self.agent.inherits = true;
                None
            }
            _ => match Tuning::parse(&model) {
                Ok(_) => {
                    self.agent.model = Some(match self.agent.model.take() {
                        Some(settings) => format!("{model} {settings}"),
                        None => model,
                    });
                    None
                }
                Err(why) => Some(format!("{why} The agent has the conversation's model.")),
            },
        }
    }

    fn thinking(&mut self, key: &str, word: &str) -> Option<String> {
        let word = match word {
            "xhigh" => "max",
            // YAML may read the word `off` as a boolean
            "false" => "off",
            word => word,
        };
        let setting = format!("thinking={word}");
        if word.contains(char::is_whitespace) || Tuning::parse(&setting).is_err() {
            return Some(not_a(key, "off, low, medium, high or max"));
        }
        self.agent.model = Some(match self.agent.model.take() {
            Some(model) => format!("{model} {setting}"),
            None => setting,
        });
        None
    }

    fn mode(&mut self, key: &str, word: &str) -> Option<String> {
        let own = MODES.into_iter().find(|it| it.name() == word);
        let other = || MODE_NAMES.iter().find(|it| it.0 == word).map(|it| it.1);
        self.agent.mode = own.or_else(other);
        self.agent.mode.is_none().then(|| not_a(key, "plan, ask, auto-edit or auto"))
    }

    fn finish(mut self) -> NamedAgent {
        if !self.denied.is_empty() {
            let all = || self.desk.tools.names().chain(["web_search"]).map(str::to_owned).collect();
            let mut tools: Vec<String> = self.agent.tools.take().unwrap_or_else(all);
            tools.retain(|it| {
                !self.denied.iter().any(|no| it.split('(').next() == Some(no.as_str()))
            });
            self.agent.tools = Some(tools);
        }
        let count = spelt_out(self.definition.written).1;
        if count > 0 {
            let lines = self.definition.written.lines();
            let at = lines.take_while(|it| spelt_out(it).1 == 0).count();
            let (shown, line) = (self.shown, self.definition.line + at);
            self.agent.problems.push(format!(
                "`{shown}`, line {line}: the agent's text contains {count} invisible characters. The model sees them \
                 as [U+…]."
            ));
        }
        self.agent
    }
}

fn not_a(key: &str, what: &str) -> String {
    format!("`{key}` has to be {what}, and was ignored.")
}

fn unknown_tools(key: &str, unknown: &[String]) -> Option<String> {
    let list = front::line(&unknown.join("`, `"), 2 * WORD).0;
    (!unknown.is_empty()).then(|| {
        format!(
            "Caliban has no such tool, or cannot apply the limit in brackets, in `{key}`: `{list}`."
        )
    })
}

fn words(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.trim().to_owned()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(it) => Some(it.to_string()),
        _ => None,
    }
}

/// A whole number from 1. YAML has numbers and texts, and authors put quotes around either.
fn whole(value: &Value) -> Option<u64> {
    let number = value.as_u64().or_else(|| value.as_str()?.trim().parse().ok());
    number.filter(|it| *it > 0)
}
