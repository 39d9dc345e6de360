//! Messages from and to msgpack.

use super::{FromNvim, ToNvim};
use rmpv::Value;

impl FromNvim {
    /// Reads the only argument of a notification. Bytes that are not UTF-8 become U+FFFD. A value that is no message
    /// becomes `Unread`.
    pub fn decode(value: Value) -> FromNvim {
        let value = to_utf8(value);
        let fields = value.as_map().map_or(&[][..], |it| it);
        let kind = fields.iter().find(|(key, _)| key.as_str() == Some("kind"));
        let kind = kind.and_then(|(_, kind)| kind.as_str()).unwrap_or("nameless").to_owned();
        rmpv::ext::from_value(value)
            .unwrap_or_else(|error| FromNvim::Unread { kind, why: error.to_string() })
    }
}

/// The value with all its texts as UTF-8. Bytes that are not UTF-8 become U+FFFD.
pub(in crate::nvim) fn to_utf8(value: Value) -> Value {
    match value {
        Value::String(text) if !text.is_str() => {
            Value::from(String::from_utf8_lossy(text.as_bytes()).into_owned())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(to_utf8).collect()),
        Value::Map(entries) => {
            Value::Map(entries.into_iter().map(|(key, it)| (key, to_utf8(it))).collect())
        }
        value => value,
    }
}

impl ToNvim {
    /// Encodes the message as a map with the fields' names. `rmpv::ext::to_value` would encode structs as arrays
    /// instead.
    pub fn encode(&self) -> Result<Value, String> {
        let bytes = rmp_serde::to_vec_named(self).map_err(|error| error.to_string())?;
        rmpv::decode::read_value(&mut bytes.as_slice()).map_err(|error| error.to_string())
    }
}
