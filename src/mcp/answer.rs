//! What a server answers to a call.

use crate::text::counted;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};

/// An answer: a stranger's text and images.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Answer {
    pub text: String,
    pub images: Vec<Vec<u8>>,
    /// Whether the server says that the call failed.
    pub is_error: bool,
}

pub(super) fn of(result: CallToolResult) -> Answer {
    let mut parts: Vec<String> = Vec::new();
    let mut images = Vec::new();
    let size = |encoded: &str| encoded.len() / 4 * 3;
    for it in result.content {
        match it {
            ContentBlock::Text(it) => parts.push(it.text),
            ContentBlock::Image(it) => match STANDARD.decode(&it.data) {
                Ok(bytes) => images.push(bytes),
                Err(_) => parts.push(format!("[an image ({}) that cannot be read]", it.mime_type)),
            },
            ContentBlock::Audio(it) => parts.push(format!(
                "[audio ({}), {}, not shown]",
                it.mime_type,
                counted(size(&it.data), "byte")
            )),
            ContentBlock::Resource(it) => match it.resource {
                ResourceContents::TextResourceContents { uri, text, .. } => {
                    parts.push(format!("{uri}:\n{text}"));
                }
                ResourceContents::BlobResourceContents { uri, blob, .. } => {
                    parts.push(format!("{uri}: {}, not shown", counted(size(&blob), "byte")));
                }
                _ => parts.push("[a resource of an unknown kind]".to_owned()),
            },
            ContentBlock::ResourceLink(it) => parts.push(format!("{} ({})", it.uri, it.name)),
            _ => parts.push("[content of an unknown kind]".to_owned()),
        }
    }
    if parts.is_empty()
        && images.is_empty()
        && let Some(value) = &result.structured_content
    {
        parts.push(value.to_string());
    }
    Answer { text: parts.join("\n"), images, is_error: result.is_error == Some(true) }
}
