//! The proxy that the environment names for requests to an address. The HTTP library uses it by the same rules; this
//! file knows its variable, so that an error can name it.

use crate::provider::key::Env;
use reqwest::Url;

/// A proxy and the variable that names it.
#[derive(Debug, PartialEq)]
pub(super) struct Proxy {
    pub(super) variable: &'static str,
    /// The host and port, without user name and password.
    pub(super) address: String,
}

/// The proxy for requests to this address; `None` if they go there directly.
pub(super) fn of(address: &str, env: Env) -> Option<Proxy> {
    let url = Url::parse(address).ok()?;
    let host = url.host_str()?;
    let [upper, lower] = match url.scheme() {
        "https" => ["HTTPS_PROXY", "https_proxy"],
        _ => ["HTTP_PROXY", "http_proxy"],
    };
    let not = [env("NO_PROXY"), env("no_proxy")].into_iter().flatten().next().unwrap_or_default();
    if not.split(',').any(|it| is_excluded(host, it.trim())) {
        return None;
    }
    let set = |it: &&str| env(it).is_some_and(|value| !value.trim().is_empty());
    let variable = [upper, lower, "ALL_PROXY", "all_proxy"].into_iter().find(set)?;
    Some(Proxy { variable, address: plain(env(variable)?.trim()) })
}

/// Whether an entry of `NO_PROXY` means this host.
fn is_excluded(host: &str, entry: &str) -> bool {
    let name = entry.trim_start_matches('.');
    entry == "*"
        || !name.is_empty()
            && host.strip_suffix(name).is_some_and(|it| it.is_empty() || it.ends_with('.'))
}

/// An address without user name, password and path.
fn plain(address: &str) -> String {
    let full =
        if address.contains("://") { address.to_owned() } else { format!("http://{address}") };
    match Url::parse(&full) {
        Ok(url) => {
            let host = url.host_str().unwrap_or_default();
            let port = url.port().map(|it| format!(":{it}")).unwrap_or_default();
            let scheme = if url.scheme().starts_with("socks") { url.scheme() } else { "" };
            let scheme = if scheme.is_empty() { String::new() } else { format!("{scheme}://") };
            format!("{scheme}{host}{port}")
        }
        Err(_) => address.rsplit('@').next().unwrap_or_default().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(address: &str, env: Env) -> String {
        of(address, env).map_or_else(String::new, |it| format!("{} {}", it.variable, it.address))
    }

    #[test]
    fn a_proxy_is_named_by_its_variable_without_its_password() {
        let env = |name: &str| match name {
            "https_proxy" => Some("http://me:secret@proxy.test:3128/".to_owned()),
            "ALL_PROXY" => Some("socks5h://me:secret@127.0.0.1:1080".to_owned()),
            "NO_PROXY" => Some("intern.test, .other.test,10.0.0.1".to_owned()),
            _ => None,
        };
        assert_eq!(shown("https://api.test/v1", env), "https_proxy proxy.test:3128");
        assert_eq!(shown("http://api.test/v1", env), "ALL_PROXY socks5h://127.0.0.1:1080");
        for direct in [
            "https://intern.test",
            "http://a.intern.test",
            "http://a.other.test",
            "http://10.0.0.1",
        ] {
            assert_eq!(shown(direct, env), "", "{direct}");
        }
        assert_eq!(shown("https://notintern.test", env), "https_proxy proxy.test:3128");
        assert_eq!(shown("https://api.test", |_| None), "");
        let odd = |name: &str| (name == "HTTPS_PROXY").then(|| "me:secret@[bad".to_owned());
        assert_eq!(shown("https://api.test", odd), "HTTPS_PROXY [bad");
    }
}
