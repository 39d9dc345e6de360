//! A user's message with images: its content is a list of parts instead of a text.

use crate::message::{Block, Image, Message};
use crate::provider::{RESULTS, answered_images, data_url, plain_text};
use serde_json::{Value, json};

pub(super) fn text(message: &Message) -> Option<String> {
    let texts: Vec<&str> = message.blocks.iter().filter_map(plain_text).collect();
    (!texts.is_empty()).then(|| texts.join("\n\n"))
}

/// The content of a user's message: a text, or a list of parts if there are images. The images of tool answers come
/// first: tool answers themselves can only have text. `None` if the message has neither text nor images.
pub(super) fn content(message: &Message) -> Option<Value> {
    let mut parts = Parts::default();
    for image in answered_images(message).filter_map(part) {
        if parts.0.is_empty() {
            parts.text(RESULTS);
        }
        parts.0.push(image);
    }
    for block in &message.blocks {
        match block {
            Block::Image(it) => parts.0.extend(part(it)),
            block => plain_text(block).into_iter().for_each(|it| parts.text(it)),
        }
    }
    if parts.0.iter().any(|it| it["type"] == "image_url") {
        Some(parts.0.into())
    } else {
        text(message).map(Value::from)
    }
}

/// Joins the contents of two messages.
pub(super) fn joined(one: Value, other: Value) -> Value {
    if let (Value::String(one), Value::String(other)) = (&one, &other) {
        return format!("{one}\n\n{other}").into();
    }
    let mut parts = Parts::default();
    for content in [one, other] {
        match content {
            Value::String(text) => parts.text(&text),
            Value::Array(more) => more.into_iter().for_each(|it| match it["text"].as_str() {
                Some(text) => parts.text(text),
                None => parts.0.push(it),
            }),
            _ => (),
        }
    }
    parts.0.into()
}

fn part(image: &Image) -> Option<Value> {
    data_url(image).map(|url| json!({ "type": "image_url", "image_url": { "url": url } }))
}

/// A list of parts. Consecutive texts become one part.
#[derive(Default)]
struct Parts(Vec<Value>);

impl Parts {
    fn text(&mut self, more: &str) {
        match self.0.last_mut().and_then(|it| it["text"].as_str().map(str::to_owned)) {
            Some(before) => {
                let last = self.0.len() - 1;
                self.0[last]["text"] = format!("{before}\n\n{more}").into();
            }
            None => self.0.push(json!({ "type": "text", "text": more })),
        }
    }
}
