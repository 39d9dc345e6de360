//! Joins the pieces of tool calls. According to the documentation, `index` says to which call a piece belongs. Real
//! servers also send several calls with one index, or no index, no id, a name only in a later piece, or the name in
//! every piece.

use super::NAME;
use crate::event::Delta;
use crate::message::{Block, CallId, ToolCall};
use crate::provider::Sampled;
use crate::provider::dialect::{self, Asked};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Value, json};

#[derive(Deserialize)]
pub(super) struct Piece {
    index: Option<u64>,
    id: Option<String>,
    function: Option<Function>,
    extra_content: Option<Value>,
}

impl Piece {
    /// A piece of the only call of a reply.
    pub(super) fn of_one(function: Function) -> Piece {
        Piece { index: Some(0), id: None, function: Some(function), extra_content: None }
    }
}

#[derive(Deserialize)]
pub(super) struct Function {
    name: Option<String>,
    /// A piece of the arguments' JSON text. Some servers send an object.
    arguments: Option<Value>,
}

#[derive(Default)]
pub(super) struct Calls(Vec<Open>);

struct Open {
    index: Option<u64>,
    /// The server's id of the call. It may be empty, or arrive only with a later piece.
    given: String,
    /// The call's id in the conversation. It is set once the call's name is known.
    id: Option<CallId>,
    name: String,
    arguments: String,
    /// The length of the arguments without their last piece.
    before: usize,
    extra: Option<Value>,
}

impl Open {
    /// Whether the arguments are complete.
    fn is_finished(&self) -> bool {
        is_whole(&self.arguments)
    }

    /// Whether a piece is this call again, as a whole. Some servers repeat a call in their last chunk.
    fn is_repeated(&self, Said { id, name, arguments, is_last }: Said<'_>) -> bool {
        let is_same_name = name.is_empty() || name == self.name;
        let is_same_id = !id.is_empty() && id == self.given;
        (is_same_id || is_last || name.is_empty())
            && is_same_name
            && is_whole(arguments)
            && self.is_finished()
            && parsed(arguments) == parsed(&self.arguments)
    }

    /// The arguments. If the last piece alone has all of them and the pieces before were its beginning, the last piece.
    fn whole(self) -> String {
        let (before, last) = self.arguments.split_at(self.before);
        let again = !self.is_finished() && is_whole(last) && last.starts_with(before);
        if again { last.to_owned() } else { self.arguments }
    }

    /// Whether a piece with this call's index begins another call instead of continuing this one.
    fn is_followed_by(&self, Said { id, name, arguments, .. }: Said<'_>) -> bool {
        if !id.is_empty() && !self.given.is_empty() {
            return id != self.given;
        }
        if name.is_empty() || self.name.is_empty() {
            return false;
        }
        let other_name = name != self.name;
        (self.arguments.is_empty() && other_name)
            || (self.is_finished() && (other_name || !arguments.trim().is_empty()))
    }
}

/// What a piece says.
#[derive(Clone, Copy)]
struct Said<'a> {
    id: &'a str,
    name: &'a str,
    arguments: &'a str,
    /// Whether the piece came in the chunk that ends the reply.
    is_last: bool,
}

fn is_whole(arguments: &str) -> bool {
    arguments.trim_end().ends_with('}') && serde_json::from_str::<IgnoredAny>(arguments).is_ok()
}

fn parsed(arguments: &str) -> Option<Value> {
    serde_json::from_str(arguments).ok()
}

impl Calls {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds a piece. `is_last` says whether it came in the chunk that ends the reply.
    pub(super) fn add(
        &mut self,
        piece: Piece,
        is_last: bool,
        asked: &mut Asked,
        out: &mut Vec<Sampled>,
    ) {
        let function = piece.function.unwrap_or(Function { name: None, arguments: None });
        let id = piece.id.unwrap_or_default();
        let name = function.name.unwrap_or_default();
        let arguments = text_of(function.arguments);
        let said = Said { id: &id, name: &name, arguments: &arguments, is_last };
        let at = self.place(piece.index, said);
        let call = &mut self.0[at];
        let repeats = call.is_repeated(said);
        if call.given.is_empty() {
            call.given = id;
        }
        if call.name.is_empty() {
            call.name = name;
        }
        if !arguments.is_empty() && !repeats {
            call.before = call.arguments.len();
            call.arguments.push_str(&arguments);
        }
        call.extra = piece.extra_content.or(call.extra.take());
        if call.id.is_none() && !call.name.is_empty() {
            let id = asked.claim(&call.given);
            out.push(Sampled::Delta(Delta::CallBegun { id: id.clone(), tool: call.name.clone() }));
            call.id = Some(id);
        }
    }

    /// The index, in the list of calls, of the call to which this piece belongs. Adds a call if there is none.
    fn place(&mut self, index: Option<u64>, said: Said<'_>) -> usize {
        let Said { id, name, .. } = said;
        let found = match index {
            Some(_) => self.0.iter().rposition(|call| call.index == index).or_else(|| {
                // the first piece of the call had no index, but its later pieces have one
                let last = self.0.last()?;
                (last.index.is_none() && id.is_empty() && name.is_empty()).then(|| self.0.len() - 1)
            }),
            None if id.is_empty() => self.0.len().checked_sub(1),
            None => self.0.iter().rposition(|call| call.given == id),
        };
        match found {
            Some(at) if self.0[at].is_repeated(said) || !self.0[at].is_followed_by(said) => {
                self.0[at].index = self.0[at].index.or(index);
                at
            }
            _ => {
                self.0.push(Open {
                    index,
                    given: String::new(),
                    id: None,
                    name: String::new(),
                    arguments: String::new(),
                    before: 0,
                    extra: None,
                });
                self.0.len() - 1
            }
        }
    }

    /// The calls, in the order in which their first pieces arrived. If `cut` is set, the last call may be incomplete.
    pub(super) fn finish(&mut self, cut: bool, asked: &mut Asked) -> Vec<Block> {
        let last = self.0.len().saturating_sub(1);
        let mut blocks = Vec::new();
        for (at, call) in std::mem::take(&mut self.0).into_iter().enumerate() {
            if call.name.is_empty() && call.arguments.is_empty() {
                continue;
            }
            let id = call.id.clone().unwrap_or_else(|| asked.claim(&call.given));
            let (tool, extra) = (call.name.clone(), call.extra.clone());
            let input = dialect::input(call.whole(), cut && at == last);
            blocks.push(Block::Call(ToolCall { id, tool, input }));
            if let Some(extra) = extra {
                let value = json!({ "extra_content": extra });
                blocks.push(Block::Raw { provider: NAME.to_owned(), value });
            }
        }
        blocks
    }
}

fn text_of(arguments: Option<Value>) -> String {
    match arguments {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text,
        Some(whole) => whole.to_string(),
    }
}
