//! Tests how names are resolved and redirects are followed.

use super::*;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

/// A `Web` in which each name resolves to these addresses: to the first list at the first look-up, to the second list
/// at the second, and so on. Also returns a counter of the look-ups.
fn web(answers: &'static [&'static [&'static str]], private: &[&str]) -> (Web, Arc<AtomicUsize>) {
    let count = Arc::new(AtomicUsize::new(0));
    let counted = count.clone();
    let lookup: Lookup = Arc::new(move |_| {
        let n = counted.fetch_add(1, Ordering::SeqCst);
        let found = answers.get(n).or(answers.last()).map_or(&[][..], |it| it);
        let found = found.iter().map(|it| it.parse().unwrap()).collect();
        async move { Ok(found) }.boxed()
    });
    let private = private.iter().map(|it| (*it).to_owned()).collect();
    (Web { lookup, ..Web::new(private, PathBuf::new()) }, count)
}

async fn fetch(web: &Web, url: &str) -> Result<Arc<Page>, String> {
    web.fetch(&Address::parse(url).unwrap()).await
}

#[tokio::test]
async fn a_name_with_a_private_address_among_its_addresses_is_refused() {
    for found in [&["127.0.0.1"][..], &["::1"], &["8.8.8.8", "10.0.0.1"], &["::ffff:7f00:1"]] {
        let (web, _) = web(Box::leak(Box::new([found])), &[]);
        let said = fetch(&web, "http://site.test:8080/").await.unwrap_err();
        assert!(said.contains("is not a public address"), "{found:?}: {said}");
    }
}

/// Serves the same answer to each connection. Returns the port, and a counter of the connections.
async fn site(answer: String) -> (u16, Arc<AtomicUsize>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let count = Arc::new(AtomicUsize::new(0));
    let counted = count.clone();
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            counted.fetch_add(1, Ordering::SeqCst);
            let _ = stream.read(&mut [0; 4096]).await;
            let _ = stream.write_all(answer.as_bytes()).await;
        }
    });
    (port, count)
}

fn redirect(to: &str) -> String {
    format!("HTTP/1.1 302 Found\r\nLocation: {to}\r\nContent-Length: 0\r\n\r\n")
}

#[tokio::test]
async fn each_connection_goes_to_the_address_that_was_checked_for_it() {
    let (port, count) = site(redirect("/again")).await;
    let allowed = format!("site.test:{port}");
    let (mut open, lookups) = web(&[&["127.0.0.1"]], &[&allowed]);
    let url = format!("http://{allowed}/");
    assert!(fetch(&open, &url).await.unwrap_err().contains("redirects more than 5 times"));
    assert_eq!((count.load(Ordering::SeqCst), lookups.load(Ordering::SeqCst)), (6, 6));
    // the host is no longer allowed, so it is checked again in spite of the earlier check
    open.private.clear();
    assert!(fetch(&open, &url).await.unwrap_err().contains("is not a public address"));
    assert_eq!(count.load(Ordering::SeqCst), 6);
}

#[tokio::test]
async fn a_strangers_page_cannot_redirect_to_a_private_host_that_the_user_allows() {
    let (target, reached) = site("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi".to_owned()).await;
    let own = format!("own.test:{target}");
    let (port, _) = site(redirect(&format!("http://{own}/"))).await;
    let (web, _) = web(&[&["127.0.0.1"]], &[&own, &format!("other.test:{port}")]);
    // the user allows both hosts
    assert_eq!(fetch(&web, &format!("http://other.test:{port}/")).await.unwrap().text, "hi");
    let [own, stranger] = [format!("http://{own}/"), "http://stranger.test/".to_owned()]
        .map(|it| Address::parse(&it).unwrap());
    assert!(web.is_open(&own, &own) && !web.is_open(&stranger, &own));
    let refused = web.step(&own, web.is_open(&stranger, &own)).await;
    assert!(refused.is_err_and(|it| it.contains("is not a public address")));
    assert_eq!(reached.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_page_that_takes_too_long_is_given_up() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let silent = listener.local_addr().unwrap();
    let (web, _) = web(&[], &["127.0.0.1"]);
    let web = Web { time: Duration::from_millis(1), ..web };
    let said = fetch(&web, &format!("http://{silent}/")).await.unwrap_err();
    assert!(said.contains("did not load completely within"), "{said}");
}

#[tokio::test(start_paused = true)]
async fn a_fetched_page_is_kept_for_a_quarter_of_an_hour() {
    let (web, _) = web(&[], &[]);
    let keep = |n: usize| {
        let asked = format!("https://a.test/{n}");
        let page = Page {
            asked,
            hops: Vec::new(),
            form: Form::Text,
            text: String::new(),
            refused: None,
            at: Instant::now(),
        };
        web.keep(Arc::new(page));
    };
    let is_kept =
        |n: usize| web.kept(&Address::parse(&format!("https://a.test/{n}")).unwrap()).is_some();
    keep(0);
    tokio::time::advance(KEPT.mul_f32(0.9)).await;
    assert!(is_kept(0) && web.clone().kept(&Address::parse("https://a.test/0").unwrap()).is_some());
    tokio::time::advance(KEPT.mul_f32(0.2)).await;
    assert!(!is_kept(0));
    for n in 1..=MOST_KEPT + 1 {
        keep(n);
    }
    assert!(!is_kept(1) && is_kept(2) && is_kept(MOST_KEPT + 1));
}
