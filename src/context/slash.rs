//! The slash commands: one table, from which the dispatch, the help and the completion are made.

use crate::nearest;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Slash {
    Help,
    System,
    New,
    Sessions,
    Rename,
    Fork,
    Save,
    Export,
    Copy,
    History,
    Clear,
    Models,
    Connect,
    Rules,
    Skills,
    Skill,
    Agents,
    Plan,
    Mode,
    Permissions,
    Jobs,
    Usage,
    Context,
    ContextSize,
    Exit,
    Undo,
    Init,
    Review,
    Compact,
    Uncompact,
    Mcp,
}

impl Slash {
    /// Whether the command leaves the conversation unchanged, so that it is allowed in a read-only conversation.
    /// `/context drop` makes its own check.
    pub fn only_reads(self) -> bool {
        use Slash::{Agents, Mcp, Sessions, Usage};
        use Slash::{Context, ContextSize, Copy, Exit, Export, Fork, Help, History, New, Save};
        matches!(self, Context | ContextSize | Copy | Exit | Export | Fork | Help | History)
            || matches!(self, New | Save | Sessions | Usage | Agents | Mcp)
    }

    /// Whether the command uses the words after its name, or says itself that they are wrong.
    fn takes(self, words: &str) -> bool {
        use Slash::{
            Clear, ContextSize, Copy, Exit, Fork, Help, History, Jobs, Mcp, Rules, Skills,
        };
        use Slash::{System, Uncompact, Usage};
        match self {
            System => matches!(words, "" | "new"),
            Clear | ContextSize | Copy | Exit | Fork | Help | History | Jobs | Mcp | Rules
            | Skills | Uncompact | Usage => words.is_empty(),
            _ => true,
        }
    }
}

/// What a command's first argument names, so that completion can offer it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Argument {
    Model,
    Provider,
    Session,
    Skill,
    /// The name of an agent after an `@`.
    Agent,
    /// The path of a file, up to the end of the line.
    Path,
    /// A branch, a commit, or one of the words of `/review`.
    Changes,
    /// The word `drop`, and then the number of an item.
    Drop,
    /// One of these words.
    Word(&'static [&'static str]),
}

pub struct Row {
    pub name: &'static str,
    pub slash: Slash,
    /// The command's line in `/help`.
    pub help: &'static str,
    pub argument: Option<Argument>,
}

pub const TABLE: &[Row] = &[
    Row { name: "help", slash: Slash::Help, help: "this list", argument: None },
    Row {
        name: "system",
        slash: Slash::System,
        help: "shows the system prompt and the instructions; `/system new` reads both again",
        argument: Some(Argument::Word(&["new"])),
    },
    Row {
        name: "new",
        slash: Slash::New,
        help: "starts a new conversation and keeps this one: `/new [@agent] [name]`",
        argument: Some(Argument::Agent),
    },
    Row {
        name: "sessions",
        slash: Slash::Sessions,
        help: "opens another conversation of this project; `/sessions text` searches them",
        argument: Some(Argument::Session),
    },
    Row {
        name: "rename",
        slash: Slash::Rename,
        help: "renames this conversation; a text that cannot be a name becomes its title",
        argument: None,
    },
    Row {
        name: "fork",
        slash: Slash::Fork,
        help: "continues in a copy; this conversation stays as it is",
        argument: None,
    },
    Row {
        name: "save",
        slash: Slash::Save,
        help: "saves a copy of this conversation: `/save name`",
        argument: None,
    },
    Row {
        name: "export",
        slash: Slash::Export,
        help: "writes this conversation to a file, as Markdown or JSON: `/export [file]`",
        argument: Some(Argument::Path),
    },
    Row {
        name: "copy",
        slash: Slash::Copy,
        help: "copies the last reply to the clipboard",
        argument: None,
    },
    Row {
        name: "history",
        slash: Slash::History,
        help: "lists your messages in this project, to send one again",
        argument: None,
    },
    Row {
        name: "clear",
        slash: Slash::Clear,
        help: "empties this conversation; the old text goes to the trash folder",
        argument: None,
    },
    Row {
        name: "models",
        slash: Slash::Models,
        help: "lists the models; `/models provider/model` chooses one",
        argument: Some(Argument::Model),
    },
    Row {
        name: "connect",
        slash: Slash::Connect,
        help: "asks for a provider's key and stores it: `/connect [provider]`",
        argument: Some(Argument::Provider),
    },
    Row {
        name: "usage",
        slash: Slash::Usage,
        help: "shows the tokens of this conversation, and their cost if it is known",
        argument: None,
    },
    Row {
        name: "context",
        slash: Slash::Context,
        help: "shows what fills the model's window; `/context drop 1` takes out item 1",
        argument: Some(Argument::Drop),
    },
    Row {
        name: "context_size",
        slash: Slash::ContextSize,
        help: "says how full the model's window is, in one line",
        argument: None,
    },
    Row {
        name: "plan",
        slash: Slash::Plan,
        help: "switches to plan mode, which edits and runs nothing: `/plan [message]`",
        argument: None,
    },
    Row {
        name: "mode",
        slash: Slash::Mode,
        help: "shows the mode, or changes it: `/mode [plan|ask|auto-edit|auto|coordinator]`",
        argument: Some(Argument::Word(&["plan", "ask", "auto-edit", "auto", "coordinator"])),
    },
    Row {
        name: "permissions",
        slash: Slash::Permissions,
        help: "lists your permissions and rules and revokes them; with a command, says how it would be judged: \
               `/permissions [command]`",
        argument: None,
    },
    Row {
        name: "jobs",
        slash: Slash::Jobs,
        help: "lists the commands that run in the background, to stop one",
        argument: None,
    },
    Row {
        name: "skills",
        slash: Slash::Skills,
        help: "lists the skills and their problems",
        argument: None,
    },
    Row {
        name: "skill",
        slash: Slash::Skill,
        help: "sends a message with the text of a skill: `/skill name [message]`; `/skill` offers them",
        argument: Some(Argument::Skill),
    },
    Row {
        name: "agents",
        slash: Slash::Agents,
        help: "lists the named agents, to open the file of one: `/agents [name]`",
        argument: Some(Argument::Agent),
    },
    Row {
        name: "rules",
        slash: Slash::Rules,
        help: "gives the model the project's rules for Copilot and Cursor; asks again about instructions that you left \
               out",
        argument: None,
    },
    Row {
        name: "reset",
        slash: Slash::New,
        help: "the same as `/new`",
        argument: Some(Argument::Agent),
    },
    Row {
        name: "exit",
        slash: Slash::Exit,
        help: "closes the chat's windows; the conversation and a running turn go on",
        argument: None,
    },
    Row {
        name: "resume",
        slash: Slash::Sessions,
        help: "the same as `/sessions`",
        argument: Some(Argument::Session),
    },
    Row {
        name: "mcp",
        slash: Slash::Mcp,
        help: "lists the MCP servers and how they are",
        argument: None,
    },
    Row { name: "quit", slash: Slash::Exit, help: "the same as `/exit`", argument: None },
    Row {
        name: "undo",
        slash: Slash::Undo,
        help: "goes back to before your last message; `/undo 2` to before the last two",
        argument: None,
    },
    Row {
        name: "init",
        slash: Slash::Init,
        help: "explores the project and proposes `AGENTS.md`, or its update: `/init [message]`",
        argument: None,
    },
    Row {
        name: "review",
        slash: Slash::Review,
        help: "reviews a diff and comments on its lines: `/review [@diff|@staged|branch|commit]`",
        argument: Some(Argument::Changes),
    },
    Row {
        name: "compact",
        slash: Slash::Compact,
        help: "replaces the conversation so far with a summary for the model: `/compact [what matters]`",
        argument: None,
    },
    Row {
        name: "uncompact",
        slash: Slash::Uncompact,
        help: "undoes the last compaction",
        argument: None,
    },
];

#[derive(Debug, PartialEq, Eq)]
pub enum Parsed<'a> {
    /// A built-in command and its arguments.
    Known(Slash, &'a str),
    /// A word that is no built-in command, and its arguments. It may be one of the user's own commands, or a skill.
    Other(&'a str, &'a str),
    /// An ordinary prompt.
    Prompt,
}

/// Reads the composer's text. A path at its beginning (`/usr/bin is …`) is not a command.
pub fn parse(text: &str) -> Parsed<'_> {
    let text = text.trim();
    let Some(line) = text.strip_prefix('/') else { return Parsed::Prompt };
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    if !is_word(word) {
        return Parsed::Prompt;
    }
    match TABLE.iter().find(|it| it.name == word) {
        Some(row) => Parsed::Known(row.slash, rest.trim()),
        None => Parsed::Other(word, rest.trim()),
    }
}

/// Why the built-in command at the beginning of a text is not carried out: the words after its name mean nothing to it,
/// so the user means something else. `None` if it is carried out.
pub fn misfit(text: &str) -> Option<String> {
    let Parsed::Known(slash, words) = parse(text) else { return None };
    let name = text.split_whitespace().next().unwrap_or_default();
    (!slash.takes(words)).then(|| {
        let taken = if slash == Slash::System { "only the word `new`" } else { "no words" };
        format!(
            "`{name}` takes {taken} after it. Nothing was done. Delete the words, or delete `{name}` to send them as a \
             message."
        )
    })
}

/// The agent and the name in the arguments of `/new`: `@agent name`, where either may be missing.
pub fn new(rest: &str) -> (Option<String>, Option<String>) {
    let (first, after) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let given = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    match first.strip_prefix('@') {
        Some(agent) => (Some(agent.to_owned()), given(after.trim())),
        None => (None, given(rest)),
    }
}

/// Whether a word can be the name of a command. A `:` separates the names of its folders and of its file.
pub fn is_word(word: &str) -> bool {
    let is_part = |it: &str| {
        !it.is_empty() && it.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
    };
    word.split(':').all(is_part)
}

pub fn is_built_in(word: &str) -> bool {
    TABLE.iter().any(|it| it.name == word)
}

/// Says that no command has this name. `others` are the names of the user's own commands and of the skills.
pub fn unknown<'a>(word: &str, others: impl Iterator<Item = &'a str>) -> String {
    // a slip must not lead to the loss of a conversation
    let harmless = TABLE.iter().filter(|it| it.slash != Slash::Clear).map(|it| it.name);
    let names: Vec<&str> = harmless.chain(others).collect();
    let hint = nearest::find(word, names).map_or_else(
        || "/help lists the commands.".to_owned(),
        |it| format!("Did you mean /{it}?"),
    );
    format!("There is no command /{word}. {hint} Nothing was sent.")
}

/// The list of commands. `own` has a line for each of the user's own commands.
pub fn help(own: &[String]) -> String {
    let widest = TABLE.iter().map(|it| it.name.len()).max().unwrap_or_default();
    let row = |it: &Row| format!("/{:<widest$}  {}", it.name, it.help);
    let rows: Vec<String> = TABLE.iter().map(row).collect();
    let own = match own {
        [] => String::new(),
        own => format!("Your own commands:\n{}\n", own.join("\n")),
    };
    format!(
        "Commands:\n{}\n{own}@path, @path:10-40 and @dir/ add files to a message. g? lists the keys.",
        rows.join("\n")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slash_commands_are_distinguished_from_prompts() {
        assert_eq!(parse(" /new  name"), Parsed::Known(Slash::New, "name"));
        assert_eq!(parse("/usr/bin is a folder"), Parsed::Prompt);
        assert_eq!(parse("/"), Parsed::Prompt);
        assert_eq!(parse("say /new"), Parsed::Prompt);
        assert_eq!(parse("/git:fix  12 a\nb"), Parsed::Other("git:fix", "12 a\nb"));
        assert_eq!(parse("/note: a"), Parsed::Prompt);
    }

    #[test]
    fn a_command_takes_the_words_after_it_or_says_that_it_does_not() {
        let refused = TABLE.iter().filter(|it| misfit(&format!("/{} do x", it.name)).is_some());
        let refused: Vec<&str> = refused.map(|it| it.name).collect();
        assert_eq!(
            refused.join(" "),
            "help system fork copy history clear usage context_size jobs skills rules exit mcp quit uncompact"
        );
        assert!(TABLE.iter().all(|it| misfit(&format!("/{} ", it.name)).is_none()));
        assert_eq!((misfit("/system new"), misfit("do /clear x")), (None, None));
    }

    #[test]
    fn a_new_conversation_may_have_an_agent_and_a_name() {
        let it = |agent: &str, name: &str| {
            let given = |it: &str| (!it.is_empty()).then(|| it.to_owned());
            (given(agent), given(name))
        };
        assert_eq!(new(""), it("", ""));
        assert_eq!(new("fix"), it("", "fix"));
        assert_eq!(new("@reviewer"), it("reviewer", ""));
        assert_eq!(new("@reviewer  fix"), it("reviewer", "fix"));
        assert_eq!(new("@").0.as_deref(), Some(""));
    }

    #[test]
    fn the_nearest_name_of_all_commands_is_suggested() {
        let said = |word| unknown(word, ["git:fix"].into_iter());
        assert_eq!(
            said("exprt"),
            "There is no command /exprt. Did you mean /export? Nothing was sent."
        );
        for destroys in ["clera", "learn"] {
            assert!(said(destroys).contains("/help lists the commands."), "{destroys}");
        }
        assert_eq!(
            said("git:fx"),
            "There is no command /git:fx. Did you mean /git:fix? Nothing was sent."
        );
    }
}
