//! `/mcp`: the user's servers of tools.

use crate::conversation::Conversation;
use crate::mcp::{Fault, Servers, State};
use crate::session::Input;
use crate::text::{counted, unseen};

const NONE: &str =
    "There are no MCP servers: the setting `mcp` names none. See `:help caliban-mcp`.";
/// The most characters of what a server says about its end.
const SAID: usize = 200;

/// Tells the user how each server is.
pub(super) fn tell(conversation: &mut Conversation, servers: &Servers) {
    conversation.take(Input::Tell { text: listed(servers) });
}

fn listed(servers: &Servers) -> String {
    if servers.is_empty() {
        return NONE.to_owned();
    }
    let line = |(name, state): (String, State)| format!("  {name}: {}", say(state));
    let lines: Vec<String> = servers.states().into_iter().map(line).collect();
    format!("MCP servers:\n{}", lines.join("\n"))
}

fn say(state: State) -> String {
    match state {
        State::Idle => "not started; the first search or call starts it".to_owned(),
        State::Starting => "starts".to_owned(),
        State::Runs { revision, tools } => {
            format!("runs, {}, protocol {revision}", counted(tools, "tool"))
        }
        State::Failed(Fault { why, said }) => {
            let said = said.lines().next_back().unwrap_or_default();
            let said: String = said.chars().take(SAID).collect();
            if said.is_empty() { why } else { format!("{why}; it said: {}", unseen::name(&said)) }
        }
    }
}
