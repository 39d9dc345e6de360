//! The forms of Azure's addresses: the host of a resource, alone or followed by `/openai/v1` or by a deployment and an
//! API version.

use super::dialect::Dialect;
use reqwest::Url;

const HOSTS: [&str; 3] =
    [".openai.azure.com", ".cognitiveservices.azure.com", ".services.ai.azure.com"];

/// Whether the address leads to models of Azure.
pub(super) fn is_at(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    HOSTS.iter().any(|end| host.ends_with(end)) || url.path().starts_with("/openai/deployments")
}

/// Adds the API version to an address, because Azure's own tools store the address and the version separately.
pub(super) fn versioned(text: &str, version: Option<String>) -> String {
    let text = text.trim().trim_end_matches('/');
    let version = version.unwrap_or_default();
    if version.trim().is_empty() || text.contains('?') || text.ends_with("/openai/v1") {
        return text.to_owned();
    }
    format!("{text}?api-version={}", version.trim())
}

/// Whether the query is an API version and nothing else.
pub(super) fn is_version(query: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || "-.".contains(c);
    query.strip_prefix("api-version=").is_some_and(|it| !it.is_empty() && it.chars().all(fits))
}

/// The base URL to which `Dialect::url` adds the rest. The address of a deployment supports only Chat Completions.
pub(super) fn base(url: &Url, dialect: Dialect) -> Result<String, String> {
    let version = url.query().and_then(|query| query.strip_prefix("api-version="));
    let query = url.query().map(|query| format!("?{query}")).unwrap_or_default();
    let path = url.path().trim_end_matches('/');
    let path = path.strip_suffix("/chat/completions").unwrap_or(path);
    let path = path.strip_suffix("/responses").unwrap_or(path);
    let dated = version.is_some_and(|it| it.starts_with(|c: char| c.is_ascii_digit()));
    let path = match path {
        "" | "/openai" if !dated => "/openai/v1",
        "" | "/openai" if dialect == Dialect::OpenAiResponses => "/openai",
        "" | "/openai" | "/openai/deployments" => "/openai/deployments/{model}",
        path => path,
    };
    if path.starts_with("/openai/deployments") && version.is_none() {
        return Err("its base URL needs `?api-version=` and a version at its end".to_owned());
    }
    Ok(format!("{}{path}{query}", url.origin().ascii_serialization()))
}
