//! What the user has written in the composer: a prompt, or a slash command.

use super::prompts::Prompt;
use super::{
    Agent, Wanted, agents, chats, choice, fitting, guidance, jobs, ledger, named, permissions,
    servers, status, undo,
};
use crate::context::slash::{self, Parsed, Slash};
use crate::context::{commands, init};
use crate::conversation::Conversation;
use crate::conversation::report::{Level, Report, Show, Wish};
use crate::event::Mode;
use crate::message::{Excerpt, ExcerptKind};
use crate::session::Input;
use crate::tool::Desk;
use crate::tool::skills;

/// What `/word` means if it is not a built-in slash command.
enum Called {
    /// One of the user's own commands, with its model and warnings about its file.
    Command { excerpt: Excerpt, model: Option<String>, warnings: Vec<String> },
    /// A skill, with the message to send.
    Skill(String, Excerpt),
}

/// Sends a message of the user, or carries out the slash command in it.
pub(super) fn sent(agent: &mut Agent, text: String, context: Vec<Excerpt>, steer: bool) {
    // A comment on a change goes to the model unchanged: a slash at its beginning is not a command.
    let is_comment = context.iter().any(|it| it.kind == ExcerptKind::Hunk);
    let parsed = if is_comment { Parsed::Prompt } else { slash::parse(&text) };
    let is_prompt = match parsed {
        Parsed::Prompt | Parsed::Other(..) | Parsed::Known(Slash::Plan, _) => true,
        Parsed::Known(Slash::Skill, rest) => !rest.is_empty(),
        Parsed::Known(..) => false,
    };
    if let Some(why) = slash::misfit(&text).filter(|_| !is_comment) {
        return agent.conversation.bounce(text, context, why);
    }
    let typed = (is_prompt && !is_comment).then(|| text.clone());
    let prompt = Prompt { text: text.clone(), context, steer, typed, ..Prompt::default() };
    match parsed {
        Parsed::Prompt => agent.prepare_message(prompt),
        Parsed::Other(word, rest) => {
            ask_about_skill(agent, word);
            let called = called(&agent.desk, word, rest);
            call(agent, called, prompt);
        }
        Parsed::Known(Slash::Plan, rest) if !rest.is_empty() => {
            let conversation = &mut agent.conversation;
            permissions::choose_mode(conversation, &agent.desk, Mode::Plan);
            if conversation.session.mode == Mode::Plan {
                return agent.prepare_message(Prompt { text: rest.to_owned(), ..prompt });
            }
            let why =
                "The conversation stays a coordinator, so the message was not sent.".to_owned();
            conversation.bounce(prompt.text, prompt.context, why);
        }
        Parsed::Known(Slash::Skill, rest) if !rest.is_empty() => {
            ask_about_skill(agent, rest.split_whitespace().next().unwrap_or(rest));
            let skill = guidance::skill(&agent.desk, rest).map_err(|why| unsent(&why));
            let called = skill.map(|(text, skill)| Called::Skill(text, skill));
            call(agent, called, prompt);
        }
        Parsed::Known(Slash::Init, rest) => init(agent, rest, prompt),
        Parsed::Known(Slash::Review, "clear") => {
            keep(&agent.conversation, prompt.context);
            agent.desk.workspace.uncomment();
        }
        Parsed::Known(Slash::Review, rest) => {
            agent.prepare_message(Prompt { review: Some(rest.to_owned()), ..prompt });
        }
        Parsed::Known(slash, rest) => {
            keep(&agent.conversation, prompt.context);
            carry_out(agent, slash, rest);
        }
    }
}

/// Gives the context of a slash command that sends no message back to the composer, for the next message.
fn keep(conversation: &Conversation, context: Vec<Excerpt>) {
    if !context.is_empty() {
        conversation.bounce(String::new(), context, String::new());
    }
}

/// Sends a message that calls a command of the user's own or a skill, or gives the message back with the reason.
fn call(agent: &mut Agent, called: Result<Called, String>, prompt: Prompt) {
    match called {
        Ok(Called::Command { excerpt, model, warnings }) => {
            agent.conversation.tell_once(warnings);
            let context = prompt.context.into_iter().chain([excerpt]).collect();
            agent.prepare_message(Prompt { context, model, ..prompt });
        }
        Ok(Called::Skill(message, skill)) => {
            agent.prepare_message(in_words(prompt, message, skill));
        }
        Err(why) => agent.conversation.bounce(prompt.text, prompt.context, why),
    }
}

/// A message in the words of a skill or a task, whose excerpt keeps what the user has typed.
fn in_words(prompt: Prompt, text: String, excerpt: Excerpt) -> Prompt {
    let excerpt = Excerpt { keyword: prompt.text, ..excerpt };
    let context = [excerpt].into_iter().chain(prompt.context).collect();
    Prompt { text, context, ..prompt }
}

/// `/init`: sends the task to write `AGENTS.md`.
fn init(agent: &mut Agent, words: &str, prompt: Prompt) {
    if agent.conversation.session.mode == Mode::Plan {
        let why = "Plan mode changes no file, and /init proposes a change to `AGENTS.md`. Choose another mode \
                   first, for example with `:Caliban mode ask`.";
        return agent.conversation.bounce(prompt.text, prompt.context, why.to_owned());
    }
    let exists = agent.desk.root.join(init::PAGE).exists();
    let (message, task) = init::message(exists, words);
    agent.prepare_message(in_words(prompt, message, task));
}

fn carry_out(agent: &mut Agent, slash: Slash, rest: &str) {
    let conversation = &mut agent.conversation;
    let word = (!rest.is_empty()).then(|| rest.to_owned());
    match slash {
        // These commands send a message, so `sent` has carried them out already.
        Slash::Init | Slash::Review => (),
        Slash::Skill => guidance::offer_skills(conversation, &agent.desk),
        Slash::Skills => {
            conversation.take(Input::Tell { text: guidance::list_of_skills(&agent.desk) });
        }
        Slash::Rules => agent.guidance.add_rules(conversation, &agent.desk),
        Slash::Agents => agents::list(agent, rest),
        Slash::Help => conversation.take(Input::Tell { text: help(&agent.desk) }),
        Slash::Usage => {
            let text = status::usage(conversation, &agent.sampler);
            conversation.take(Input::Tell { text });
        }
        Slash::Context => ledger::slash(agent, rest),
        Slash::ContextSize => {
            let text = ledger::of(agent).line();
            agent.conversation.take(Input::Tell { text });
        }
        Slash::System if rest == "new" => agents::renew(agent),
        Slash::System => conversation.take(Input::Tell { text: guidance::shown(conversation) }),
        Slash::New => {
            let (agent, name) = slash::new(rest);
            conversation.wish(Wish::New { name, agent });
        }
        Slash::Sessions => conversation.wish(Wish::Sessions { text: rest.to_owned() }),
        Slash::Rename => conversation.wish(Wish::Rename { text: rest.to_owned() }),
        Slash::Fork => chats::fork(conversation, None),
        Slash::Save => chats::copy(conversation, None, Some(rest.to_owned())),
        Slash::Export => {
            chats::export(conversation, &agent.desk, &agent.sampler.models, rest, false);
        }
        Slash::Copy => chats::copy_reply(conversation),
        Slash::History => conversation.show(Show::Tell(Report::History)),
        Slash::Clear => chats::clear(agent),
        Slash::Models if rest.is_empty() => conversation.wish(Wish::Models),
        Slash::Models => choice::choose(agent, rest),
        Slash::Permissions if rest.is_empty() => permissions::carry_out(agent, Wanted::List),
        Slash::Permissions => permissions::carry_out(agent, Wanted::Explain(rest.to_owned())),
        Slash::Jobs => jobs::list(conversation, &agent.desk),
        Slash::Mode => permissions::mode(agent, rest),
        Slash::Plan => permissions::choose_mode(conversation, &agent.desk, Mode::Plan),
        Slash::Connect if rest.contains(char::is_whitespace) => {
            let text = "Give only the name of the provider. Caliban then asks for the key.";
            conversation.notice(Level::Warn, text.into());
        }
        Slash::Connect => conversation.wish(Wish::Connect { provider: word }),
        Slash::Undo => undo::slash(agent, rest),
        Slash::Exit => conversation.show(Show::Tell(Report::Exit)),
        Slash::Compact => {
            agent.sampler.fitting.ask(&agent.sampler.models, conversation, &agent.desk, rest);
        }
        Slash::Uncompact => fitting::undo(conversation),
        Slash::Mcp => servers::tell(conversation, &agent.desk.servers),
    }
}

/// Whether a text sends a message to the model. Most built-in slash commands send none.
pub(super) fn sends(text: &str) -> bool {
    match slash::parse(text) {
        Parsed::Prompt | Parsed::Other(..) | Parsed::Known(Slash::Init, _) => true,
        Parsed::Known(Slash::Review, rest) => rest != "clear",
        Parsed::Known(Slash::Plan | Slash::Skill, rest) => !rest.is_empty(),
        Parsed::Known(..) => false,
    }
}

fn unsent(why: &str) -> String {
    format!("{why} Nothing was sent.")
}

/// If the user names a skill of the project to whose text they have not agreed, asks about the project's texts.
fn ask_about_skill(agent: &mut Agent, name: &str) {
    if skills::find(&agent.desk).is_unused(name) {
        let Agent { conversation, guidance, sampler, desk, .. } = agent;
        guidance.consult(conversation, &sampler.models, desk);
    }
}

/// Finds the user's own command or the skill with this name. The error is a sentence.
fn called(desk: &Desk, word: &str, arguments: &str) -> Result<Called, String> {
    if let Some(command) = commands::get(desk, word).map_err(|why| unsent(&why))? {
        let text = command.expand(arguments).map_err(|why| unsent(&why))?;
        let text = format!(
            "The user's message calls the command /{word}. Its text, with the arguments in it:\n\n{text}"
        );
        let warnings = command.warning(desk).into_iter().chain(command.unknown_tools(desk));
        let warnings = warnings.chain(commands::shadowed(desk, &command)).collect();
        let excerpt = named::excerpt(&desk.shown(&command.path), ExcerptKind::Command, text);
        let excerpt = Excerpt { tools: command.allowed.tools, ..excerpt };
        return Ok(Called::Command { excerpt, model: command.model, warnings });
    }
    let skills = skills::find(desk);
    if skills.is_unused(word) || skills.found.iter().any(|it| it.name == word) {
        let (text, skill) =
            guidance::skill(desk, &format!("{word} {arguments}")).map_err(|why| unsent(&why))?;
        return Ok(Called::Skill(text, skill));
    }
    let own = commands::find(desk).found;
    let names = own.iter().map(|it| it.name.as_str());
    Err(slash::unknown(word, names.chain(skills.found.iter().map(|it| it.name.as_str()))))
}

/// The list of slash commands for `/help`, with the user's own commands and the problems in their files.
fn help(desk: &Desk) -> String {
    let commands::Commands { found, problems } = commands::find(desk);
    let own: Vec<String> = found.iter().map(|it| it.help(desk)).chain(problems).collect();
    slash::help(&own)
}
