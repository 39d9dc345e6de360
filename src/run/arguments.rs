//! The arguments of `caliban run`.

use crate::event::{MODES, Mode};
use crate::view::clean;
use lexopt::prelude::*;
use std::ffi::OsString;
use std::path::PathBuf;

pub(super) const HELP: &str = "\
Usage: caliban run [options] \"prompt\"
       caliban run [options] -          reads the prompt from standard input

Carries out one prompt without Neovim. Nobody is asked: a call that needs your consent is denied.

  --mode plan|ask|auto-edit|auto   what the model may do without your consent
  --coordinator                    the model hands the work to workers, agents of their own
  --model provider/model           the model
  --agent NAME                     the named agent that the conversation becomes
  --limit-usd N                    ends the turn when it has cost N US dollars
  --limit-tokens N                 ends the turn when it has used N tokens
  --max-requests N                 ends the turn after N requests
  --open PORT                      reaches this port of a background job at 127.0.0.1; may be repeated
  --json                           writes JSON lines to standard output
  --session NAME                   continues or begins this conversation
  --ephemeral                      saves no conversation
  --config FILE                    the settings, as JSON or TOML
  --cwd DIR                        finds the project from this folder
  -h, --help                       shows this text

Exit codes: 0 answered, 1 failed, 2 wrong arguments or settings, 3 a call was denied because
nobody could be asked, 4 a limit was reached, 5 the model wrote its calls as text, so they did
not run, 130 interrupted. In Neovim: :help caliban-run
";

#[derive(Debug, Default, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "options that do not depend on each other")]
pub(super) struct Arguments {
    pub(super) mode: Option<Mode>,
    pub(super) coordinator: bool,
    pub(super) model: Option<String>,
    pub(super) agent: Option<String>,
    pub(super) usd: Option<f64>,
    pub(super) tokens: Option<u64>,
    pub(super) requests: Option<u32>,
    pub(super) ports: Vec<u16>,
    pub(super) json: bool,
    pub(super) session: Option<String>,
    pub(super) ephemeral: bool,
    pub(super) config: Option<PathBuf>,
    pub(super) cwd: Option<PathBuf>,
    /// Whether Neovim has started this run. Then standard input has the settings, as Neovim sends them to the program.
    pub(super) neovim: bool,
    /// `None` if the prompt comes from standard input.
    pub(super) prompt: Option<String>,
}

#[derive(Debug, PartialEq)]
pub(super) enum Parsed {
    Help,
    Run(Box<Arguments>),
}

/// Reads the arguments. The error is a sentence.
pub(super) fn parse(given: impl Iterator<Item = OsString>) -> Result<Parsed, String> {
    read(given).map_err(|why| {
        let text: String = why.to_string().chars().take(300).collect();
        format!("{}.", clean(&text).replace('\n', " "))
    })
}

fn read(given: impl Iterator<Item = OsString>) -> Result<Parsed, lexopt::Error> {
    let mut all = Arguments::default();
    let mut prompts: Vec<String> = Vec::new();
    let mut parser = lexopt::Parser::from_args(given);
    while let Some(one) = parser.next()? {
        match one {
            Short('h') | Long("help") => return Ok(Parsed::Help),
            Long("mode") => all.mode = Some(parser.value()?.parse_with(mode)?),
            Long("model") => all.model = Some(parser.value()?.string()?),
            Long("agent") => all.agent = Some(parser.value()?.string()?),
            Long("limit-usd") => all.usd = Some(parser.value()?.parse_with(dollars)?),
            Long("limit-tokens") => all.tokens = Some(parser.value()?.parse_with(count)?),
            Long("max-requests") => all.requests = Some(parser.value()?.parse_with(count)?),
            Long("coordinator") => all.coordinator = true,
            Long("open") => all.ports.push(parser.value()?.parse_with(count)?),
            Long("json") => all.json = true,
            Long("session") => all.session = Some(parser.value()?.string()?),
            Long("ephemeral") => all.ephemeral = true,
            Long("config") => all.config = Some(parser.value()?.into()),
            Long("neovim") => all.neovim = true,
            Long("cwd") => all.cwd = Some(parser.value()?.into()),
            Value(text) => prompts.push(text.string()?),
            other => return Err(other.unexpected()),
        }
    }
    match &prompts[..] {
        [] => return Err("the prompt is missing".into()),
        [dash] if dash == "-" && all.neovim => {
            return Err("in Neovim the prompt cannot come from standard input".into());
        }
        [dash] if dash == "-" => (),
        [prompt] if prompt.trim().is_empty() => return Err("the prompt is empty".into()),
        [prompt] => all.prompt = Some(prompt.clone()),
        _ => return Err("there are several prompts; put the prompt between quotes".into()),
    }
    if all.ephemeral && all.session.is_some() {
        return Err("--session and --ephemeral exclude each other".into());
    }
    Ok(Parsed::Run(Box::new(all)))
}

fn mode(name: &str) -> Result<Mode, &'static str> {
    let found = MODES.into_iter().find(|it| it.name() == name);
    found.ok_or("the modes are plan, ask, auto-edit and auto")
}

fn dollars(text: &str) -> Result<f64, &'static str> {
    let number = text.parse::<f64>().ok().filter(|it| it.is_finite() && *it > 0.0);
    number.ok_or("a number of US dollars above 0 is needed")
}

fn count<T: std::str::FromStr + PartialOrd + From<u8>>(text: &str) -> Result<T, &'static str> {
    let number = text.parse::<T>().ok().filter(|it| *it >= T::from(1));
    number.ok_or("a whole number above 0 is needed")
}
