//! Looks for a model server on this machine: asks all well-known ports at once, and recognises a server by the shape
//! of its answer. Used only if nothing else is configured; never in tests.

use super::endpoint::{Chosen, Lookup, named};
use super::facts::Facts;
use futures::future::join_all;
use reqwest::Client;
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::Duration;

/// How long a server on this machine may take to answer. The user waits for this.
const PATIENCE: Duration = Duration::from_millis(150);
/// The most bytes of an answer that are read.
const ANSWER: usize = 1 << 20;

/// The endpoint's name, the path of the question's address, and a function that finds a model's name in the answer, if
/// the answer has the form that this server sends.
type Question = (&'static str, &'static str, fn(&Value) -> Option<String>);

const QUESTIONS: [Question; 3] = [
    ("ollama", "/api/tags", ollama),
    ("llamacpp", "/props", llamacpp),
    ("lmstudio", "/v1/models", lmstudio),
];

/// The first local server, in the order of the endpoint table, that answers within 150 ms and has a model.
pub async fn probe(env: Lookup<'_>) -> Option<Chosen> {
    let found = QUESTIONS.iter().filter_map(|(name, path, model)| {
        let endpoint =
            named(name, &BTreeMap::new(), env).ok().filter(super::endpoint::Endpoint::is_local)?;
        let origin = endpoint.base_url.trim_end_matches("/v1").to_owned();
        Some((endpoint, format!("{origin}{path}"), model))
    });
    let client = client()?;
    let answers = found.map(|(endpoint, url, model)| {
        let client = client.clone();
        async move {
            let model = model(&ask(&client, &url, PATIENCE).await?)?;
            Some(Chosen { endpoint, model, facts: Facts::of("") })
        }
    });
    let answers: Vec<_> = answers.collect();
    join_all(answers).await.into_iter().flatten().next()
}

fn client() -> Option<Client> {
    super::http::build(true, false, PATIENCE).ok()
}

async fn ask(client: &Client, url: &str, patience: Duration) -> Option<Value> {
    let answer = async {
        let mut response = client.get(url).send().await.ok()?;
        let mut body = Vec::new();
        while let Some(bytes) = response.chunk().await.ok()? {
            body.extend_from_slice(&bytes);
            if body.len() > ANSWER {
                return None;
            }
        }
        serde_json::from_slice(&body).ok()
    };
    tokio::time::timeout(patience, answer).await.ok()?
}

fn ollama(answer: &Value) -> Option<String> {
    first(answer["models"].as_array()?, "name")
}

fn llamacpp(answer: &Value) -> Option<String> {
    answer.get("default_generation_settings")?;
    let path = answer["model_path"].as_str()?;
    // newer servers without a configured alias send the path as the alias
    let alias = answer["model_alias"].as_str().filter(|alias| !alias.is_empty() && *alias != path);
    let file = path.rsplit(['/', '\\']).next().filter(|file| !file.is_empty());
    alias.or(file).map(str::to_owned)
}

fn lmstudio(answer: &Value) -> Option<String> {
    first(answer["data"].as_array().filter(|_| answer["object"] == "list")?, "id")
}

/// The first model that can be used for a conversation.
fn first(models: &[Value], name: &str) -> Option<String> {
    let names = models.iter().filter_map(|model| model[name].as_str());
    names.filter(|name| !name.contains("embed")).map(str::to_owned).next()
}

#[cfg(test)]
mod tests;
