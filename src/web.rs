//! Fetches a web page as text: only from public addresses, within limits of size and time, without a proxy, and without
//! keys or cookies.

pub mod address;
pub mod markdown;
mod parts;
pub mod proxy;
pub mod search;

mod body;
mod node;
mod tree;
#[cfg(test)]
mod tests;

use crate::pdf;
use crate::provider::http;
use crate::text::cause;
use address::Address;
use body::Body;
use futures::FutureExt;
use futures::future::BoxFuture;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::header::{ACCEPT, ACCEPT_ENCODING, LOCATION, RETRY_AFTER};
use reqwest::{Client, Response};
use std::error::Error;
use std::fmt;
use std::fs::File;
use std::io::{self, Seek, Write};
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{Instant, timeout};

/// The most redirects that are followed.
const REDIRECTS: usize = 5;
/// The longest time for fetching a page, including its redirects.
const TIME: Duration = Duration::from_secs(30);
/// The most characters of the text of an error.
const WORDS: usize = 4_000;
/// How long a fetched page is kept so that the model can read more of it, and the most pages that are kept.
const KEPT: Duration = Duration::from_secs(15 * 60);
const MOST_KEPT: usize = 10;

/// A function that finds the IP addresses of a host. Tests use their own.
pub type Lookup = Arc<dyn Fn(String) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> + Send + Sync>;

/// The web as one session sees it. Clones share the pages that are kept.
#[derive(Clone)]
pub struct Web {
    /// Hosts that may be fetched although their addresses are private, as they are written in the user's settings.
    private: Vec<String>,
    /// The path of this program, which is started to convert HTML and PDFs.
    program: PathBuf,
    lookup: Lookup,
    time: Duration,
    kept: Arc<watch::Sender<Vec<Arc<Page>>>>,
}

/// A page that was fetched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// The address that was asked for.
    pub asked: String,
    /// The addresses to which the request was redirected, one after the other.
    pub hops: Vec<String>,
    pub form: Form,
    pub text: String,
    /// If the answer is an error whose text the page has: its status and what it says about a later time, such as
    /// `answered 429: Too Many Requests; it asks to wait 30 s`.
    pub refused: Option<String>,
    at: Instant,
}

/// The format from which the text of a page was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    Text,
    Html,
    Pdf,
}

/// The result of one request.
enum Got {
    Redirect(Address),
    Text(Form, String, Option<String>),
}

impl Web {
    pub fn new(private: Vec<String>, program: PathBuf) -> Web {
        let (lookup, kept) = (Arc::new(system), Arc::default());
        Web { private, program, lookup, time: TIME, kept }
    }

    /// Checks an address without connecting. The error is the rest of a sentence that begins with the address.
    pub fn check(&self, address: &Address) -> Result<(), String> {
        if address.is_among(&self.private) { Ok(()) } else { address.check() }
    }

    /// Fetches a page and keeps it for `kept`. The error is the rest of a sentence that begins with the address.
    pub async fn fetch(&self, address: &Address) -> Result<Arc<Page>, String> {
        let fetched = timeout(self.time, self.follow(address)).await;
        let late = || format!("did not load completely within {} s", self.time.as_secs());
        let page = Arc::new(fetched.map_err(|_| late())??);
        if page.refused.is_none() {
            self.keep(page.clone());
        }
        Ok(page)
    }

    fn keep(&self, page: Arc<Page>) {
        self.kept.send_modify(|pages| {
            pages.retain(|it| it.asked != page.asked);
            pages.push(page);
            let more = pages.len().saturating_sub(MOST_KEPT);
            pages.drain(..more);
        });
    }

    /// The page of this address, if it was fetched a short time ago.
    pub fn kept(&self, address: &Address) -> Option<Arc<Page>> {
        let is_meant = |it: &&Arc<Page>| it.asked == address.as_str() && it.at.elapsed() < KEPT;
        self.kept.borrow().iter().find(is_meant).cloned()
    }

    async fn follow(&self, first: &Address) -> Result<Page, String> {
        let mut hops: Vec<String> = Vec::new();
        let mut here = first.clone();
        loop {
            let got = self.step(&here, self.is_open(first, &here)).await;
            let got = got.map_err(|why| match hops.last() {
                Some(hop) => format!("redirects to `{hop}`, which {why}"),
                None => why,
            });
            match got? {
                Got::Redirect(_) if hops.len() == REDIRECTS => {
                    return Err(format!("redirects more than {REDIRECTS} times"));
                }
                Got::Redirect(to) => {
                    hops.push(to.as_str().to_owned());
                    here = to;
                }
                Got::Text(form, text, refused) => {
                    let (asked, at) = (first.as_str().to_owned(), Instant::now());
                    return Ok(Page { asked, hops, form, text, refused, at });
                }
            }
        }
    }

    /// Whether the address `here`, to which `first` has redirected, may be private. The user's settings have to allow
    /// both hosts, so that a stranger's page cannot redirect to a private host.
    fn is_open(&self, first: &Address, here: &Address) -> bool {
        [first, here].iter().all(|it| it.is_among(&self.private))
    }

    async fn step(&self, here: &Address, is_open: bool) -> Result<Got, String> {
        let response = self.get(here, is_open).await?;
        if let Some(to) = redirection(&response) {
            let to = here.join(&to).map_err(|why| format!("redirects to an address that {why}"))?;
            return Ok(Got::Redirect(to));
        }
        let Some(refused) = refusal(&response) else {
            let (form, text) = self.text(here, response).await?;
            return Ok(Got::Text(form, text, None));
        };
        match self.text(here, response).await {
            Ok((form, text)) if form != Form::Pdf && !text.trim().is_empty() => {
                let text = text.chars().take(WORDS).collect();
                Ok(Got::Text(form, text, Some(refused)))
            }
            _ => Err(refused),
        }
    }

    /// The text of an answer.
    async fn text(&self, here: &Address, response: Response) -> Result<(Form, String), String> {
        Ok(match body::read(response).await? {
            Body::Text { is_html: true, text } => {
                (Form::Html, markdown::of(&self.program, here.as_str(), &text).await?)
            }
            Body::Text { text, .. } => (Form::Text, text),
            Body::Pdf(bytes) => {
                let file = scratch(&bytes).map_err(|it| format!("is a PDF: {}", cause(&it)))?;
                (Form::Pdf, pdf::text(&self.program, file).await?)
            }
        })
    }

    /// Sends a request to one address, without following a redirect.
    async fn get(&self, address: &Address, is_open: bool) -> Result<Response, String> {
        if !is_open {
            address.check()?;
        }
        let asked = self.client(address, is_open)?.get(address.url());
        let asked = asked
            .header(
                ACCEPT,
                "text/markdown, text/html, text/plain;q=0.9, application/json;q=0.9, */*;q=0.1",
            )
            .header(ACCEPT_ENCODING, "gzip");
        let response = asked.send().await.map_err(|error| unreachable(&error))?;
        if let (false, Some(peer)) = (is_open, response.remote_addr()) {
            address::allowed(peer.ip())?;
        }
        Ok(response)
    }

    /// An HTTP client for a single request, so that nothing of one request is sent with the next. It uses no proxy,
    /// because a proxy would resolve names itself.
    fn client(&self, address: &Address, is_open: bool) -> Result<Client, String> {
        let failed = |why: String| format!("cannot be fetched: {why}");
        let tls = http::tls(address.as_str().starts_with("https"));
        Client::builder()
            .tls_backend_preconfigured(tls.map_err(|error| failed(cause(&error)))?)
            .redirect(reqwest::redirect::Policy::none())
            .referer(false)
            .no_proxy()
            .dns_resolver(Arc::new(Checked { lookup: self.lookup.clone(), is_open }))
            .user_agent(concat!("caliban/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|error| failed(http::reason(&error)))
    }
}

/// Why a request got no answer: the end of a sentence.
fn unreachable(error: &reqwest::Error) -> String {
    let causes = std::iter::successors(error.source(), |&cause| cause.source());
    let mut refused = causes.filter_map(|it| it.downcast_ref::<Refused>());
    match refused.next() {
        Some(Refused(why)) => why.clone(),
        None => format!("cannot be reached: {}", http::reason(error)),
    }
}

/// If an answer is an error, its status and the time to wait that it names.
fn refusal(response: &Response) -> Option<String> {
    let status = response.status();
    if status.is_success() {
        return None;
    }
    let reason = status.canonical_reason().unwrap_or("no page");
    let header = |name| response.headers().get(name)?.to_str().ok();
    let wait = header(RETRY_AFTER).map(|it| match it.trim().parse::<u64>() {
        Ok(seconds) => format!("; it asks to wait {seconds} s"),
        Err(_) => {
            format!("; it asks to wait until {}", it.trim().chars().take(40).collect::<String>())
        }
    });
    Some(format!("answered {}: {reason}{}", status.as_u16(), wait.unwrap_or_default()))
}

/// A temporary file without a name that contains these bytes.
fn scratch(bytes: &[u8]) -> io::Result<File> {
    let mut file = tempfile::tempfile()?;
    file.write_all(bytes)?;
    file.rewind()?;
    Ok(file)
}

/// The address to which an answer redirects.
fn redirection(response: &Response) -> Option<String> {
    let is_followed = [301, 302, 303, 307, 308].contains(&response.status().as_u16());
    let to = response.headers().get(LOCATION).filter(|_| is_followed)?;
    Some(String::from_utf8_lossy(to.as_bytes()).into_owned())
}

fn system(host: String) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> {
    async move { Ok(tokio::net::lookup_host((host, 0)).await?.map(|it| it.ip()).collect()) }.boxed()
}

/// Resolves and checks a name for a connection. The connection is made to one of the checked addresses, so it does not
/// matter if the name resolves differently a second time.
struct Checked {
    lookup: Lookup,
    /// Whether the user allows private addresses for this request.
    is_open: bool,
}

impl Resolve for Checked {
    fn resolve(&self, name: Name) -> Resolving {
        let (found, is_open) = ((self.lookup)(name.as_str().to_owned()), self.is_open);
        async move {
            let found = found.await?;
            if !is_open {
                for ip in &found {
                    address::allowed(*ip).map_err(Refused)?;
                }
            }
            // port 0 means that the port of the address is used
            let all: Addrs = Box::new(found.into_iter().map(|ip| SocketAddr::new(ip, 0)));
            Ok(all)
        }
        .boxed()
    }
}

/// The error that a name leads to an address to which no connection is allowed. The text is the end of a sentence.
#[derive(Debug)]
struct Refused(String);

impl fmt::Display for Refused {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(&self.0)
    }
}

impl Error for Refused {}
