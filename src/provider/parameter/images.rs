//! Images in a request, and the servers' names for them in refusals.

use serde_json::Value;

/// The servers' names for images, in lower case. They come from documentation, from the source code of servers, and
/// from reports of users.
pub(super) const ALIASES: &[&str] = &[
    "image",
    "image(s)",
    "image_url",
    "input_image",
    "image input",
    "image inputs",
    "image content",
    "image input modality",
    "inline_data",
    "inlinedata",
    "vision",
    "multimodal model",
    "multimodal",
];

/// The fields whose values may contain images.
const PLACES: [&str; 6] = ["messages", "content", "input", "output", "contents", "parts"];

pub(super) fn are_in(value: &Value) -> bool {
    let is_image = matches!(value["type"].as_str(), Some("image" | "image_url" | "input_image"))
        || value.get("inlineData").is_some()
        || value.get("images").is_some_and(Value::is_array);
    is_image
        || PLACES.iter().any(|it| value[*it].as_array().is_some_and(|it| it.iter().any(are_in)))
}
