//! The items of a reply that is arriving. Each event should name its item by `item_id` and `output_index`, but servers
//! leave out either or both, give every item the same index, or send a new id with each event.

use super::{RAW, search};
use crate::event::Delta;
use crate::message::{Block, CallId, ToolCall};
use crate::provider::Sampled;
use crate::provider::dialect::{self, Asked};
use serde_json::{Value, json};

/// The id and the index by which an event names its item, and how much of the item has arrived once the event is read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Key<'a> {
    pub(super) id: &'a str,
    pub(super) index: Option<u64>,
    pub(super) stage: Stage,
}

/// How much of an item has arrived. It decides to which unfinished item an event belongs if neither its id nor its
/// index is that of an item: a piece to the last item whose whole text has not arrived; a whole text or a complete item
/// to the first item that has not reached this stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stage {
    Pieces,
    /// The item's whole text or whole arguments have arrived.
    Whole,
    /// The complete item has arrived.
    Ended,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    Message,
    Reasoning,
    Call,
    Other,
}

impl Class {
    fn of(item: &Value) -> Class {
        match item["type"].as_str().unwrap_or_default() {
            "message" => Class::Message,
            "reasoning" => Class::Reasoning,
            "function_call" => Class::Call,
            _ => Class::Other,
        }
    }
}

struct Open {
    class: Class,
    id: String,
    index: Option<u64>,
    /// Whether the item's `output_item.added` event has arrived.
    added: bool,
    stage: Stage,
    /// The text of a message or of reasoning, or the pieces of a call's arguments.
    text: String,
    call: Call,
    /// The complete item, from the event that ended it.
    item: Value,
}

#[derive(Default)]
struct Call {
    given: String,
    /// The call's id in the conversation. It is set once the call's name is known.
    id: Option<CallId>,
    name: String,
    /// The arguments, if they arrived as a whole.
    whole: String,
}

#[derive(Default)]
pub(super) struct Items(Vec<Open>);

impl Items {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn has_calls(&self) -> bool {
        self.0.iter().any(|open| open.class == Class::Call)
    }

    /// Finds the item that the event names: by its id, otherwise by its index, because some servers send a new id with
    /// each event.
    fn named(&self, class: Class, key: Key<'_>) -> Option<usize> {
        let find = |is: &dyn Fn(&Open) -> bool| {
            self.0.iter().rposition(|open| open.class == class && is(open))
        };
        let by_id = || find(&|open| !key.id.is_empty() && open.id == key.id);
        let by_index = || find(&|open| key.index.is_some() && open.index == key.index);
        by_id().or_else(by_index)
    }

    /// Finds the item of an event when the item or the event has no id or no index.
    fn unnamed(&self, class: Class, key: Key<'_>) -> Option<usize> {
        let fits = |open: &Open| {
            let id = key.id.is_empty() || open.id.is_empty();
            let index = key.index.is_none() || open.index.is_none();
            open.class == class && open.stage < key.stage.max(Stage::Whole) && id && index
        };
        match key.stage {
            Stage::Pieces => self.0.iter().rposition(fits),
            Stage::Whole | Stage::Ended => self.0.iter().position(fits),
        }
    }

    /// The item at `at`, or a new item. If the item has no id or index, it gets those of the event.
    fn open(&mut self, at: Option<usize>, class: Class, key: Key<'_>) -> &mut Open {
        let at = at.unwrap_or_else(|| {
            self.0.push(Open::new(class));
            self.0.len() - 1
        });
        let open = &mut self.0[at];
        if open.id.is_empty() {
            key.id.clone_into(&mut open.id);
        }
        open.index = open.index.or(key.index);
        open
    }

    fn place(&mut self, class: Class, key: Key<'_>) -> &mut Open {
        let at = self.named(class, key).or_else(|| self.unnamed(class, key));
        self.open(at, class, key)
    }

    /// Begins an item.
    pub(super) fn add(
        &mut self,
        key: Key<'_>,
        item: &Value,
        asked: &mut Asked,
        out: &mut Vec<Sampled>,
    ) {
        let class = Class::of(item);
        // pieces of the item may have arrived before
        let early = self.named(class, key).or_else(|| self.unnamed(class, key));
        let open = self.open(early.filter(|&at| !self.0[at].added), class, key);
        open.added = true;
        open.name(item, asked, out);
    }

    /// Adds a piece of text, reasoning or arguments to its item.
    pub(super) fn extend(
        &mut self,
        class: Class,
        key: Key<'_>,
        more: &str,
        out: &mut Vec<Sampled>,
    ) {
        if !more.is_empty() {
            let open = self.place(class, key);
            open.text.push_str(more);
            open.tell(more, out);
        }
    }

    /// Begins another part of the reasoning of an item.
    pub(super) fn part(&mut self, key: Key<'_>, out: &mut Vec<Sampled>) {
        let open = self.place(Class::Reasoning, key);
        if !open.text.is_empty() {
            open.text.push_str("\n\n");
            open.tell("\n\n", out);
        }
    }

    /// Adds the whole text of an item. Text and reasoning that have already arrived in pieces are ignored. Arguments
    /// replace their pieces, unless the arguments are empty.
    pub(super) fn whole(&mut self, class: Class, key: Key<'_>, text: &str, out: &mut Vec<Sampled>) {
        let open = self.place(class, key);
        open.whole(text, out);
        open.stage = open.stage.max(Stage::Whole);
    }

    /// Ends an item. The event that ends it contains the complete item.
    pub(super) fn end(
        &mut self,
        key: Key<'_>,
        item: &Value,
        asked: &mut Asked,
        out: &mut Vec<Sampled>,
    ) {
        let class = Class::of(item);
        let given = item["call_id"].as_str().filter(|id| class == Class::Call && !id.is_empty());
        let by_call = || {
            let given = given?;
            self.0.iter().position(|open| open.stage < Stage::Ended && open.call.given == given)
        };
        let at = self.named(class, key).or_else(by_call).or_else(|| self.unnamed(class, key));
        let open = self.open(at, class, key);
        open.name(item, asked, out);
        open.whole(&text_of(class, item), out);
        if let Some(it) = search::of(item).filter(|_| open.stage < Stage::Ended) {
            out.push(Sampled::Delta(Delta::Searched(it)));
        }
        open.stage = Stage::Ended;
        open.item = item.clone();
    }

    /// The blocks of the reply, in the order of the items' indexes if every item has one, otherwise in the order of
    /// arrival. If `cut` is set, the last item may be incomplete.
    pub(super) fn finish(&mut self, cut: bool, asked: &mut Asked) -> Vec<Block> {
        let mut items = std::mem::take(&mut self.0);
        if items.iter().all(|open| open.index.is_some()) {
            items.sort_by_key(|open| open.index);
        }
        let last = items.len().saturating_sub(1);
        let mut blocks = Vec::new();
        for (at, open) in items.into_iter().enumerate() {
            match open.class {
                Class::Call => blocks.push(open.call(cut && at == last, asked)),
                Class::Message if !open.text.is_empty() => {
                    let phase = open.item.get("phase").filter(|it| it.is_string());
                    let phase = phase.map(|it| raw(json!({ "phase": it })));
                    search::cite(&open.item, &mut blocks);
                    blocks.push(Block::Text { text: open.text });
                    blocks.extend(phase);
                }
                Class::Reasoning => blocks.extend(open.reasoning()),
                Class::Other if open.stage == Stage::Ended => {
                    let searched = search::of(&open.item);
                    blocks.push(raw(open.item));
                    blocks.extend(searched.map(Block::Searched));
                }
                Class::Message | Class::Other => {}
            }
        }
        blocks
    }
}

impl Open {
    fn new(class: Class) -> Open {
        Open {
            class,
            id: String::new(),
            index: None,
            added: false,
            stage: Stage::Pieces,
            text: String::new(),
            call: Call::default(),
            item: Value::Null,
        }
    }

    fn tell(&self, more: &str, out: &mut Vec<Sampled>) {
        match self.class {
            Class::Message => out.push(Sampled::Delta(Delta::Text(more.to_owned()))),
            Class::Reasoning => out.push(Sampled::Delta(Delta::Thinking(more.to_owned()))),
            Class::Call | Class::Other => {}
        }
    }

    /// Takes a call's id and name from the item. Once the name is known, sets the call's id and reports that the call
    /// has begun.
    fn name(&mut self, item: &Value, asked: &mut Asked, out: &mut Vec<Sampled>) {
        if self.class != Class::Call || self.call.id.is_some() {
            return;
        }
        item["call_id"].as_str().unwrap_or_default().clone_into(&mut self.call.given);
        item["name"].as_str().unwrap_or_default().clone_into(&mut self.call.name);
        if !self.call.name.is_empty() {
            let id = asked.claim(&self.call.given);
            let tool = self.call.name.clone();
            out.push(Sampled::Delta(Delta::CallBegun { id: id.clone(), tool }));
            self.call.id = Some(id);
        }
    }

    fn whole(&mut self, text: &str, out: &mut Vec<Sampled>) {
        let has_pieces = !self.text.is_empty();
        if self.class == Class::Call {
            let says_nothing = text.trim().is_empty() || (has_pieces && text.trim() == "{}");
            if !says_nothing {
                text.clone_into(&mut self.call.whole);
            }
        } else if !has_pieces && !text.is_empty() {
            text.clone_into(&mut self.text);
            self.tell(text, out);
        }
    }

    fn call(self, cut: bool, asked: &mut Asked) -> Block {
        let Call { given, id, name, whole } = self.call;
        let id = id.unwrap_or_else(|| asked.claim(&given));
        let arguments = if whole.is_empty() { self.text } else { whole };
        let cut = cut || self.stage == Stage::Pieces || self.item["status"] == "incomplete";
        Block::Call(ToolCall { id, tool: name, input: dialect::input(arguments, cut) })
    }

    /// The readable reasoning, then the block that is sent back. Reasoning without encrypted content is not sent back:
    /// the provider would look for the item in its store, where it was told not to keep it.
    fn reasoning(self) -> impl Iterator<Item = Block> {
        let shown =
            (!self.text.is_empty()).then_some(Block::Thinking { text: self.text, signature: None });
        let sealed = self.item["encrypted_content"].as_str().is_some_and(|it| !it.is_empty());
        shown.into_iter().chain(sealed.then(|| raw(self.item)))
    }
}

fn raw(value: Value) -> Block {
    Block::Raw { provider: RAW.to_owned(), value }
}

/// The text of a complete item. It is the same text as its pieces joined.
fn text_of(class: Class, item: &Value) -> String {
    let texts = |list: &Value, between: &str| -> String {
        let parts = list.as_array().into_iter().flatten();
        let texts = parts.filter_map(|it| it["text"].as_str().or(it["refusal"].as_str()));
        texts.collect::<Vec<_>>().join(between)
    };
    match class {
        Class::Message => texts(&item["content"], ""),
        Class::Reasoning => {
            let summary = texts(&item["summary"], "\n\n");
            if summary.is_empty() { texts(&item["content"], "\n\n") } else { summary }
        }
        Class::Call => arguments(&item["arguments"]),
        Class::Other => String::new(),
    }
}

/// Arguments as JSON text. Some servers send an object.
pub(super) fn arguments(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        whole => whole.to_string(),
    }
}
