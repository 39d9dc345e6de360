//! Searches the web through a service that the user has chosen: `SearXNG`, Brave, Tavily or Exa.

#[cfg(test)]
mod tests;

use crate::provider::http;
use crate::provider::key::{self, Key, Secret, Used};
use crate::text::cause;
use reqwest::header::{HeaderName, HeaderValue};
use reqwest::{Client, RequestBuilder, Response, Url};
use serde_json::{Value, json};
use std::time::Duration;

/// The most results of a search.
pub const MOST: usize = 10;
/// How long a search may take.
const TIME: Duration = Duration::from_secs(30);
/// The most bytes of an answer.
const LIMIT: usize = 2_000_000;
/// The most bytes of an address. A result with a longer one is left out.
const ADDRESS: usize = 2_000;
/// The most characters of a title, and of the text of a result.
const TITLE: usize = 200;
const TEXT: usize = 500;

/// The services, each with its usual address. `SearXNG` is run by the user.
const SERVICES: [(&str, Service, &str); 4] = [
    ("searxng", Service::SearXng, ""),
    ("brave", Service::Brave, "https://api.search.brave.com/"),
    ("tavily", Service::Tavily, "https://api.tavily.com/"),
    ("exa", Service::Exa, "https://api.exa.ai/"),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Service {
    SearXng,
    Brave,
    Tavily,
    Exa,
}

/// The user's search service.
#[derive(Debug, Clone)]
pub struct Search {
    service: Service,
    name: String,
    url: Url,
    key: Key,
    /// The keys that no text shows.
    used: Used,
    env: key::Env,
}

/// A result, in clean lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    pub title: String,
    pub url: String,
    pub text: String,
}

impl Search {
    /// The error is a sentence for the user.
    pub fn new(
        name: &str,
        url: Option<&str>,
        key: Option<&str>,
        used: &Used,
        env: key::Env,
    ) -> Result<Search, String> {
        let failed = |why: &str| format!("caliban: config.search: {why}.");
        let found = SERVICES.iter().find(|it| it.0 == name);
        let (_, service, usual) =
            *found.ok_or_else(|| failed("`provider` must be searxng, brave, tavily or exa"))?;
        let url = url.unwrap_or(usual);
        if url.is_empty() {
            return Err(failed("searxng needs the `url` of your server"));
        }
        let url = format!("{}/", url.trim_end_matches('/'));
        let url = Url::parse(&url).ok().filter(|it| matches!(it.scheme(), "http" | "https"));
        let url = url.ok_or_else(|| failed("`url` does not begin with http:// or https://"))?;
        let key = Key::parse(key.unwrap_or_default()).map_err(|why| failed(&why))?;
        if key == Key::None && service != Service::SearXng {
            return Err(failed(&format!("{name} needs a `key`, such as `env:NAME`")));
        }
        Ok(Search { service, name: name.to_owned(), url, key, used: used.clone(), env })
    }

    /// The host to which queries go, with the port if it is not the usual one.
    pub fn host(&self) -> String {
        let host = self.url.host_str().unwrap_or_default();
        self.url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
    }

    /// At most `MOST` results. The error is a sentence for the model.
    pub async fn find(&self, query: &str) -> Result<Vec<Hit>, String> {
        let failed = |why: String| format!("The search service {} {why}.", self.name);
        let found = tokio::time::timeout(TIME, self.ask(query)).await;
        let found = found.map_err(|_| failed("did not answer in time".to_owned()))?;
        let value = found.map_err(failed)?;
        let no_list = || failed("sent an answer that is not a list of results".to_owned());
        hits(self.service, &value).ok_or_else(no_list)
    }

    async fn ask(&self, query: &str) -> Result<Value, String> {
        let request = self.request(query).await?;
        let response = request.send().await;
        let response =
            response.map_err(|error| format!("cannot be reached: {}", http::reason(&error)))?;
        let status = response.status();
        if !status.is_success() {
            return Err(refused(self.service, status.as_u16()));
        }
        let bytes = body(response).await?;
        serde_json::from_slice(&bytes).map_err(|_| "sent an answer that is not JSON".to_owned())
    }

    async fn request(&self, query: &str) -> Result<RequestBuilder, String> {
        let client = self.client()?;
        let at = |path: &str, query: &[(&str, &str)]| {
            let mut url =
                self.url.join(path).map_err(|_| "has an address that is not valid".to_owned())?;
            if !query.is_empty() {
                url.query_pairs_mut().extend_pairs(query);
            }
            Ok::<Url, String>(url)
        };
        let sent = |url: Url, body: Value| {
            let json = HeaderValue::from_static("application/json");
            client.post(url).header(reqwest::header::CONTENT_TYPE, json).body(body.to_string())
        };
        let secret = self.key.read(&self.name, self.env).await;
        let secret = secret.map_err(|failure| format!("has no key: {failure}"))?;
        let secret = secret.inspect(|it| self.used.note(it));
        let secret = secret.as_ref().map(Secret::expose).unwrap_or_default();
        let request = match self.service {
            Service::SearXng => client.get(at("search", &[("q", query), ("format", "json")])?),
            Service::Brave => client
                .get(at("res/v1/web/search", &[("q", query), ("count", "10")])?)
                .header(HeaderName::from_static("x-subscription-token"), hidden(secret)?),
            Service::Tavily => {
                let asked = json!({ "query": query, "max_results": MOST });
                sent(at("search", &[])?, asked)
                    .header(reqwest::header::AUTHORIZATION, hidden(&format!("Bearer {secret}"))?)
            }
            Service::Exa => {
                let text = json!({ "maxCharacters": TEXT });
                let asked =
                    json!({ "query": query, "numResults": MOST, "contents": { "text": text } });
                sent(at("search", &[])?, asked)
                    .header(HeaderName::from_static("x-api-key"), hidden(secret)?)
            }
        };
        Ok(request)
    }

    fn client(&self) -> Result<Client, String> {
        let failed = |why: String| format!("cannot be queried: {why}");
        let tls = http::tls(self.url.scheme() == "https");
        let is_local = self.url.host_str().is_some_and(|it| it == "localhost" || it == "127.0.0.1");
        let builder = Client::builder()
            .tls_backend_preconfigured(tls.map_err(|it| failed(cause(&it)))?)
            // a redirect could carry the key to another host
            .redirect(reqwest::redirect::Policy::none())
            .referer(false)
            .user_agent(concat!("caliban/", env!("CARGO_PKG_VERSION")));
        let builder = if is_local { builder.no_proxy() } else { builder };
        builder.build().map_err(|it| failed(http::reason(&it)))
    }
}

/// A header's value that no log shows.
fn hidden(secret: &str) -> Result<HeaderValue, String> {
    let value = HeaderValue::from_str(secret);
    let mut value =
        value.map_err(|_| "has a key with characters that a key cannot have".to_owned())?;
    value.set_sensitive(true);
    Ok(value)
}

fn refused(service: Service, status: u16) -> String {
    let more = match status {
        401 | 403 if service == Service::SearXng => {
            ": the server's settings have to allow the format json"
        }
        401 | 403 => ": it does not accept the key",
        402 | 429 => ": its limit is reached. Try later",
        _ => "",
    };
    format!("answered {status}{more}")
}

async fn body(mut response: Response) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let broken = |_| "stopped in the middle of its answer".to_owned();
    while let Some(chunk) = response.chunk().await.map_err(broken)? {
        if bytes.len() + chunk.len() > LIMIT {
            return Err("sent an answer that is too large".to_owned());
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes)
}

fn hits(service: Service, value: &Value) -> Option<Vec<Hit>> {
    let (list, text) = match service {
        Service::Brave => (&value["web"]["results"], "description"),
        Service::SearXng | Service::Tavily => (&value["results"], "content"),
        Service::Exa => (&value["results"], "text"),
    };
    let list = match list {
        // Brave leaves the list out if nothing is found
        Value::Null if service == Service::Brave && value.is_object() => return Some(Vec::new()),
        list => list.as_array()?,
    };
    let hit = |it: &Value| {
        let field = |name: &str, most| line(it[name].as_str().unwrap_or_default(), most);
        let url = Url::parse(it["url"].as_str()?).ok()?;
        let is_web = matches!(url.scheme(), "http" | "https");
        (is_web && url.as_str().len() <= ADDRESS).then(|| Hit {
            title: field("title", TITLE),
            url: url.into(),
            text: field(text, TEXT),
        })
    };
    Some(list.iter().filter_map(hit).take(MOST).collect())
}

/// A text in one line, without tags such as the `<strong>` around words that were found.
fn line(text: &str, most: usize) -> String {
    let mut plain = text.to_owned();
    for tag in ["strong", "b", "em", "mark"] {
        plain = plain.replace(&format!("<{tag}>"), "").replace(&format!("</{tag}>"), "");
    }
    let words: Vec<&str> = plain.split_whitespace().collect();
    let line = words.join(" ");
    match line.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}
