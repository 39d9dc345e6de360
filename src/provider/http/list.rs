//! Lists the models of a provider.

use super::{Http, refusal, without_secrets};
use crate::event::Failure;
use crate::message::Request;
use crate::provider::dialect::{Asked, Dialect};
use crate::provider::fault;
use crate::provider::key::Secret;
use reqwest::Response;
use reqwest::header::{ACCEPT, HeaderValue};
use serde_json::Value;
use std::time::Duration;
use tokio::time::timeout;

/// How long a provider may take to send its list of models. The user is waiting for the list.
const PATIENCE: Duration = Duration::from_secs(4);
/// The most bytes of a list that are read.
const ANSWER: usize = 8 << 20;
/// Parts of the names of models that cannot be used for a conversation.
const OTHERS: [&str; 14] = [
    "audio",
    "dall-e",
    "embed",
    "guard",
    "image",
    "imagen",
    "moderation",
    "realtime",
    "rerank",
    "sora",
    "transcribe",
    "tts",
    "veo-",
    "whisper",
];

impl Http {
    /// The names of the endpoint's models. The request is sent with the key `given`, otherwise with the endpoint's own
    /// key.
    pub async fn list(&self, given: Option<&Secret>) -> Result<Vec<String>, Failure> {
        if let Some(said) = self.endpoint.exposes_key() {
            return Err(Failure::Unauthorized { provider: self.endpoint.name.clone(), said });
        }
        let own = match given {
            Some(_) => None,
            None => self.endpoint.key.read(&self.endpoint.name, self.env).await?,
        };
        let key = given.or(own.as_ref());
        let listed = timeout(PATIENCE, self.listed(key));
        let listed = listed.await.unwrap_or(Err(super::stalled(PATIENCE)));
        listed.map_err(|failure| without_secrets(failure, &self.secrets(key)))
    }

    async fn listed(&self, key: Option<&Secret>) -> Result<Vec<String>, Failure> {
        // the address of a deployment gives access to that deployment only
        if self.endpoint.is_azure() {
            return Ok(Vec::new());
        }
        let mut headers = self.headers(&Request::default(), key, &self.env)?;
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        let url = address(self.endpoint.dialect, &self.endpoint.base_url);
        let sent = self.client()?.get(url).headers(headers).send().await;
        let response = sent.map_err(|error| self.no_answer(&error))?;
        let status = response.status();
        let body = whole(response).await;
        if !status.is_success() {
            let asked = Asked::new(&self.endpoint.name, &Request::default(), 0);
            return Err(refusal(status, &String::from_utf8_lossy(&body), None, &asked));
        }
        let said = || fault::snippet(&String::from_utf8_lossy(&body));
        let answer = serde_json::from_slice(&body).ok().and_then(|it: Value| names(&it));
        answer.ok_or_else(|| Failure::Protocol { said: said() })
    }
}

fn address(dialect: Dialect, base: &str) -> String {
    match dialect {
        Dialect::Anthropic => format!("{base}/v1/models?limit=1000"),
        Dialect::OpenAiChat | Dialect::OpenAiResponses => format!("{base}/models"),
        Dialect::Gemini => format!("{base}/v1beta/models?pageSize=1000"),
        Dialect::Ollama => format!("{base}/api/tags"),
    }
}

async fn whole(mut response: Response) -> Vec<u8> {
    let mut body = Vec::new();
    while let Ok(Some(bytes)) = response.chunk().await {
        body.extend_from_slice(&bytes[..bytes.len().min(ANSWER - body.len())]);
        if body.len() == ANSWER {
            break;
        }
    }
    body
}

/// The models' names in an answer: `id` of the items in `data`, or `name` of the items in `models` (Gemini, Ollama).
/// Some servers send only the list of items.
fn names(answer: &Value) -> Option<Vec<String>> {
    let lists = [&answer["data"], &answer["models"], answer];
    let list = lists.into_iter().find_map(Value::as_array)?;
    let mut names: Vec<String> = list
        .iter()
        .filter(|it| {
            let methods = it["supportedGenerationMethods"].as_array();
            methods.is_none_or(|it| it.iter().any(|it| it == "generateContent"))
        })
        .filter_map(|it| it["id"].as_str().or(it["name"].as_str()))
        .map(|it| it.trim_start_matches("models/").to_owned())
        .filter(|it| !it.is_empty() && !OTHERS.iter().any(|other| it.contains(other)))
        .collect();
    names.sort();
    names.dedup();
    Some(names)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn model_names_are_read_from_the_list_of_every_kind_of_server() {
        let of = |answer: Value| names(&answer).map(|it| it.join(" "));
        let talks = json!(["generateContent", "countTokens"]);
        for (answer, expected) in [
            (json!({"data": [{"id": "b"}, {"id": "a"}, {"id": "text-embedding-3"}]}), Some("a b")),
            (
                json!({"models": [{"name": "models/g", "supportedGenerationMethods": talks},
                    {"name": "models/aqa", "supportedGenerationMethods": ["generateAnswer"]}]}),
                Some("g"),
            ),
            (
                json!({"models": [{"name": "qwen3:8b"}, {"name": "qwen3:8b"}, {"name": 3}]}),
                Some("qwen3:8b"),
            ),
            (json!([{"id": "x/y"}]), Some("x/y")),
            (json!({"error": "no"}), None),
        ] {
            assert_eq!(of(answer).as_deref(), expected);
        }
    }
}
