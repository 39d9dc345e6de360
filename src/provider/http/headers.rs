//! The headers of a request: those of the dialect, the one with the key, and the user's own.

use super::Http;
use crate::event::Failure;
use crate::message::{Parameter, Request, Thinking};
use crate::provider::dialect::Dialect;
use crate::provider::key::{Key, Secret};
use reqwest::header::{
    ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue,
};

impl Http {
    /// How a request is sent, for the user to read; see `Provider::shown`.
    pub(super) fn described(&self, request: &Request) -> Option<(String, String)> {
        let key = (self.endpoint.key != Key::None).then(Secret::removed);
        let unread = |_: &str| Some("removed".to_owned());
        let headers = self.headers(request, key.as_ref(), &unread).ok()?;
        let mut about = format!("POST {}", self.url(request));
        for (name, value) in &headers {
            let shown = String::from_utf8_lossy(value.as_bytes());
            let value = if value.is_sensitive() { "removed" } else { &shown };
            about.push_str(&format!(" · {name}: {value}"));
        }
        let body = self.endpoint.dialect.body(request, self.endpoint.quirks);
        Some((about, serde_json::to_string_pretty(&body).ok()?))
    }

    /// The secrets that a request with this key contains. Records them as used.
    pub(super) fn secrets(&self, key: Option<&Secret>) -> Vec<Secret> {
        let own = self.endpoint.headers.iter().filter_map(|it| (self.env)(it.variable()?));
        let own = own.map(|it| Secret::given(&it)).filter(Secret::is_long);
        let secrets: Vec<Secret> = key.cloned().into_iter().chain(own).collect();
        for secret in &secrets {
            self.used.note(secret);
        }
        secrets
    }

    fn own_headers(&self, env: &dyn Fn(&str) -> Option<String>) -> Result<HeaderMap, Failure> {
        let own = self.endpoint.headers.iter().map(|header| {
            let value = header.read(env).map_err(|why| Failure::Header {
                provider: self.endpoint.name.clone(),
                name: header.name.to_string(),
                why,
            });
            Ok((header.name.clone(), value?))
        });
        own.collect()
    }

    /// The headers of a request. The user's own headers never replace the program's.
    pub(super) fn headers(
        &self,
        request: &Request,
        key: Option<&Secret>,
        env: &dyn Fn(&str) -> Option<String>,
    ) -> Result<HeaderMap, Failure> {
        let mut headers = self.own_headers(env)?;
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        let dialect = self.endpoint.dialect;
        if dialect == Dialect::Anthropic {
            headers.insert("anthropic-version", HeaderValue::from_static("2023-06-01"));
            // models with a budget think between their calls only with this header
            let is_taken = !request.without.contains(&Parameter::InterleavedThinking);
            if is_taken && matches!(request.thinking, Some(Thinking::Budget(_))) {
                let interleaved = HeaderValue::from_static("interleaved-thinking-2025-05-14");
                headers.append("anthropic-beta", interleaved);
            }
        }
        if let Some(key) = key {
            let key = key.expose();
            let (name, text) = match dialect {
                Dialect::Anthropic => (HeaderName::from_static("x-api-key"), key.to_owned()),
                Dialect::Gemini => (HeaderName::from_static("x-goog-api-key"), key.to_owned()),
                _ if self.endpoint.is_azure() => {
                    (HeaderName::from_static("api-key"), key.to_owned())
                }
                Dialect::OpenAiChat | Dialect::OpenAiResponses | Dialect::Ollama => {
                    (AUTHORIZATION, format!("Bearer {key}"))
                }
            };
            let mut value = HeaderValue::try_from(text).map_err(|_| Failure::Unauthorized {
                provider: self.endpoint.name.clone(),
                said: "the key contains characters that a key cannot have".to_owned(),
            })?;
            value.set_sensitive(true);
            headers.insert(name, value);
        }
        Ok(headers)
    }
}
