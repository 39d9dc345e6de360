//! Hostile requests to the proxy, and hosts that resolve in hostile ways. Only loopback is reached.

use super::head::{Asked, Fault, Way, parse};
use super::*;
use crate::reach::{Folders, Reach};
use crate::rules::{Origin, WrittenRule};
use futures::FutureExt;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

fn asked(head: &str) -> Result<Option<Asked>, Fault> {
    parse(head.as_bytes())
}

fn refused(head: &str, fault: Fault) {
    assert_eq!(asked(head), Err(fault), "{head:?}");
}

#[test]
fn the_host_and_port_of_a_tunnel_have_one_form() {
    let tunnel = |target: &str| {
        let head = format!("CONNECT {target} HTTP/1.1\r\nHost: other.org\r\n\r\nrest");
        parse(head.as_bytes()).unwrap().unwrap()
    };
    let it = tunnel("A.Org.:443");
    assert_eq!(
        (it.named().as_str(), &it.bytes[..], it.way),
        ("a.org:443", &b"rest"[..], Way::Tunnel)
    );
    // other spellings of 127.0.0.1
    for odd in ["0x7f.1:80", "2130706433:80", "127.1:80", "0177.0.0.1:80"] {
        assert_eq!(tunnel(odd).named(), "127.0.0.1:80", "{odd}");
    }
    assert_eq!(tunnel("[::ffff:127.0.0.1]:80").named(), "[::ffff:7f00:1]:80");
    for bad in [
        "a.org",
        "a.org:",
        "a.org:0",
        "a.org:+80",
        "a.org:99999",
        ":80",
        ".:80",
        ".a.org:80",
        "a.org..:80",
        "a..org:80",
        "b\u{fc}cher.org:80",
        "\u{430}.org:80",
        "a@b.org:80",
        "http://a.org:80",
        "a.org/x:80",
        "a%2eorg:80",
        "a.org:80:80",
        "[::1:80",
        "/x",
        "*",
    ] {
        refused(&format!("CONNECT {bad} HTTP/1.1\r\n\r\n"), Fault::Malformed);
    }
    refused("CONNECT a.org:80 HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc", Fault::Malformed);
}

#[test]
fn a_plain_request_gets_a_new_head_and_loses_what_follows_it() {
    let head = "POST http://A.org/p?q=1#f HTTP/1.1\r\nHost: evil.org\r\nConnection: x-hop, content-length\r\n\
        X-Hop: 1\r\nProxy-Authorization: secret\r\nExpect: 100-continue\r\nAccept: */*\r\nContent-Length: 3\r\n\r\n\
        abcGET http://evil.org/ HTTP/1.1\r\n\r\n";
    let it = asked(head).unwrap().unwrap();
    let sent = String::from_utf8(it.bytes).unwrap();
    assert_eq!(
        sent,
        "POST /p?q=1 HTTP/1.1\r\nHost: a.org\r\nConnection: close\r\nAccept: */*\r\nContent-Length: 3\r\n\r\nabc"
    );
    assert_eq!(it.way, Way::Request { body: 0 });
    let part =
        asked("PUT http://a.org:8080/ HTTP/1.1\r\nContent-Length: 5\r\n\r\nab").unwrap().unwrap();
    assert_eq!((part.named().as_str(), part.way), ("a.org:8080", Way::Request { body: 3 }));
}

#[test]
fn a_request_that_two_programs_could_read_differently_is_refused() {
    for bad in [
        "GET / HTTP/1.1\r\nHost: a.org\r\n\r\n",
        "GET https://a.org/ HTTP/1.1\r\n\r\n",
        "GET ftp://a.org/ HTTP/1.1\r\n\r\n",
        "GET http://u:p@a.org/ HTTP/1.1\r\n\r\n",
        "GET http:// HTTP/1.1\r\n\r\n",
        "GET http://a.org/ HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        "GET http://a.org/ HTTP/1.1\r\nContent-Length: +1\r\n\r\n",
        "GET http://a.org/ HTTP/1.1\r\nContent-Length: 1, 1\r\n\r\n",
        "GET http://a.org/ HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n",
        "GET http://a.org/ HTTP/1.1\r\nA : b\r\n\r\n",
        "GET http://a.org/ HTTP/1.1\r\n folded: b\r\n\r\n",
        "GET http://a.org/ HTTP/2.0\r\n\r\n",
        "GET http://a.org/\r\n\r\n",
        "\u{0}\r\n\r\n",
        "\u{16}\u{3}\u{1}",
    ] {
        refused(bad, Fault::Malformed);
    }
    refused(
        "GET http://a.org/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        Fault::NoLength,
    );
    refused(
        "GET http://a.org/ HTTP/1.1\r\nContent-Length: 0\r\nTransfer-Encoding: chunked\r\n\r\n",
        Fault::NoLength,
    );
    let many = "a: b\r\n".repeat(101);
    refused(&format!("GET http://a.org/ HTTP/1.1\r\n{many}\r\n"), Fault::Large);
    assert_eq!(asked("CONNECT a.org:80 HTTP/1.1\r\nA"), Ok(None));
}

/// Rules that allow these hosts.
fn rules(hosts: &[&str]) -> Arc<Rules> {
    let rule = |it: &&str| {
        let (allow, host) = (Some("network".to_owned()), Some((*it).to_owned()));
        WrittenRule { allow, host, ..WrittenRule::default() }.rule(Origin::Settings).unwrap()
    };
    let all = hosts.iter().map(rule).collect();
    Arc::new(Rules::new(all, Path::new("/p"), &Reach::new(&Folders::default())))
}

/// A receiver of rules that allow these hosts. The rules never change.
fn fixed(hosts: &[&str]) -> watch::Receiver<Arc<Rules>> {
    watch::channel(rules(hosts)).1
}

/// A gate whose hosts have these addresses, one lookup after the other. `private` hosts may be private.
fn gate(hosts: &[&str], private: &[&str], found: &'static [&'static [&'static str]]) -> Gate {
    let mut web = Web::new(private.iter().map(|it| (*it).to_owned()).collect(), "/none".into());
    let count = Arc::new(AtomicUsize::new(0));
    web.lookup = Arc::new(move |_| {
        let n = count.fetch_add(1, Ordering::Relaxed).min(found.len() - 1);
        let ips = found[n].iter().map(|it| it.parse().unwrap()).collect();
        async move { Ok(ips) }.boxed()
    });
    Gate { rules: fixed(hosts), web, closed: None, opened: Vec::new(), pass: None }
}

struct Scene {
    proxy: Proxy,
    at: std::net::SocketAddr,
}

fn scene(gate: Gate) -> Scene {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let at = listener.local_addr().unwrap();
    Scene { proxy: Proxy::start(listener, gate).unwrap(), at }
}

impl Scene {
    /// Sends bytes and reads until the proxy closes the connection.
    async fn send(&self, bytes: &[u8]) -> String {
        let mut stream = TcpStream::connect(self.at).await.unwrap();
        stream.write_all(bytes).await.unwrap();
        let mut said = Vec::new();
        let _ = stream.read_to_end(&mut said).await;
        String::from_utf8_lossy(&said).into_owned()
    }

    async fn connect(&self, target: &str) -> String {
        self.send(format!("CONNECT {target} HTTP/1.1\r\n\r\n").as_bytes()).await
    }
}

#[tokio::test]
async fn a_host_without_a_rule_is_refused_before_it_is_looked_up() {
    let mut web = Web::new(Vec::new(), "/none".into());
    web.lookup = Arc::new(|it| panic!("{it} was looked up"));
    let mut scene = scene(Gate {
        rules: fixed(&["*.b.org"]),
        web,
        closed: None,
        opened: Vec::new(),
        pass: None,
    });
    for target in ["evil.org:443", "b.org:443", "a.b.org:22", "notb.org:443", "a.b.org.evil.org:80"]
    {
        let said = scene.connect(target).await;
        assert!(said.starts_with("HTTP/1.1 403 Forbidden\r\n"), "{said}");
    }
    let told = scene.proxy.refusals();
    assert_eq!(told.len(), 5);
    assert_eq!(told[0].host, "evil.org:443");
    assert!(scene.proxy.refusals().is_empty());
}

#[tokio::test]
async fn a_name_that_leads_to_a_private_address_is_refused_whatever_else_it_leads_to() {
    const FOUND: [&[&[&str]]; 5] = [
        &[&["127.0.0.1"]],
        &[&["93.184.216.34", "169.254.169.254"]],
        &[&["::1"]],
        &[&["::ffff:10.0.0.1"]],
        &[&["fd00::1"]],
    ];
    for found in FOUND {
        let scene = scene(gate(&["a.org", "127.0.0.1", "[::1]"], &[], found));
        for target in ["a.org:443", "127.0.0.1:80", "[::1]:80", "0x7f.1:80"] {
            let said = scene.connect(target).await;
            assert!(said.contains("which is not a public address"), "{target}: {said}");
        }
    }
}

#[tokio::test]
async fn the_connection_goes_to_the_address_that_was_checked() {
    let server = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = server.local_addr().unwrap().port();
    let (host, private) = (format!("a.org:{port}"), format!("a.org:{port}"));
    // a second lookup would lead elsewhere
    let scene = scene(gate(&[&host], &[&private], &[&["127.0.0.1"], &["127.0.0.2"]]));
    let head = format!("CONNECT a.org:{port} HTTP/1.1\r\n\r\nping");
    let (said, ()) = tokio::join!(scene.send(head.as_bytes()), async {
        let (mut stream, _) = server.accept().await.unwrap();
        let mut got = [0; 4];
        stream.read_exact(&mut got).await.unwrap();
        assert_eq!(&got, b"ping");
        stream.write_all(b"pong").await.unwrap();
    });
    assert_eq!(said, "HTTP/1.1 200 Connection established\r\n\r\npong");
}

#[tokio::test]
async fn a_second_request_on_a_connection_reaches_no_server() {
    let server = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = server.local_addr().unwrap().port();
    let host = format!("127.0.0.1:{port}");
    let scene = scene(gate(&[&host], &[&host], &[&[]]));
    let both = format!("GET http://{host}/a HTTP/1.1\r\n\r\nGET http://{host}/b HTTP/1.1\r\n\r\n");
    let (said, ()) = tokio::join!(scene.send(both.as_bytes()), async {
        let (mut stream, _) = server.accept().await.unwrap();
        let wanted = format!("GET /a HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        let mut got = vec![0; wanted.len()];
        stream.read_exact(&mut got).await.unwrap();
        assert_eq!(String::from_utf8(got).unwrap(), wanted);
        stream.write_all(b"HTTP/1.1 200 OK\r\n\r\nfine").await.unwrap();
        stream.shutdown().await.unwrap();
        let mut rest = Vec::new();
        let _ = stream.read_to_end(&mut rest).await;
        assert_eq!(rest, b"");
    });
    assert_eq!(said, "HTTP/1.1 200 OK\r\n\r\nfine");
}

#[tokio::test]
async fn a_head_that_is_too_large_gets_an_answer() {
    let scene = scene(gate(&[], &[], &[&[]]));
    let head = format!("CONNECT a.org:443 HTTP/1.1\r\nA: {}", "x".repeat(MOST));
    assert!(scene.send(&head.as_bytes()[..MOST]).await.starts_with("HTTP/1.1 431 "));
}

#[tokio::test(start_paused = true)]
async fn a_slow_client_gets_a_timeout_error() {
    let scene = scene(gate(&[], &[], &[&[]]));
    let said = scene.send(b"CONNECT a.org:443 HTT").await;
    assert!(said.starts_with("HTTP/1.1 408 "), "{said}");
}

#[tokio::test]
async fn tunnels_end_with_their_proxy() {
    let server = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let host = server.local_addr().unwrap().to_string();
    let Scene { proxy, at } = scene(gate(&[&host], &[&host], &[&[]]));
    let mut client = TcpStream::connect(at).await.unwrap();
    client.write_all(format!("CONNECT {host} HTTP/1.1\r\n\r\n").as_bytes()).await.unwrap();
    let (mut tunnel, _) = server.accept().await.unwrap();
    drop(proxy);
    let mut rest = Vec::new();
    let _ = client.read_to_end(&mut rest).await;
    let _ = tunnel.read_to_end(&mut rest).await;
    assert!(TcpStream::connect(at).await.is_err());
}

#[tokio::test]
async fn a_closed_gate_lets_nothing_through() {
    let gate =
        Gate { closed: Some("is closed"), ..gate(&["a.org"], &["a.org"], &[&["127.0.0.1"]]) };
    let mut scene = scene(gate);
    assert!(scene.connect("a.org:443").await.contains("a.org:443 is closed."));
    assert_eq!(scene.proxy.refusals().len(), 1);
}

#[tokio::test]
async fn a_change_of_the_rules_opens_hosts_and_ends_open_tunnels() {
    let server = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let host = server.local_addr().unwrap().to_string();
    let (changes, now) = watch::channel(rules(&[]));
    let scene = scene(Gate { rules: now, ..gate(&[], &[&host], &[&[]]) });
    assert!(scene.connect(&host).await.starts_with("HTTP/1.1 403 "));
    changes.send(rules(&[&host])).unwrap();
    let mut client = TcpStream::connect(scene.at).await.unwrap();
    client.write_all(format!("CONNECT {host} HTTP/1.1\r\n\r\n").as_bytes()).await.unwrap();
    let (mut tunnel, _) = server.accept().await.unwrap();
    let mut got = [0; 39];
    client.read_exact(&mut got).await.unwrap();
    // a change that still allows the host leaves the tunnel open
    changes.send(rules(&["b.org", &host])).unwrap();
    tunnel.write_all(b"ping").await.unwrap();
    client.read_exact(&mut got[..4]).await.unwrap();
    assert_eq!(&got[..4], b"ping");
    changes.send(rules(&["b.org"])).unwrap();
    let mut rest = Vec::new();
    let _ = client.read_to_end(&mut rest).await;
    let _ = tunnel.read_to_end(&mut rest).await;
    assert!(rest.is_empty());
    assert!(scene.connect(&host).await.starts_with("HTTP/1.1 403 "));
}

#[tokio::test]
async fn a_body_that_breaks_off_ends_its_request() {
    let server = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let host = server.local_addr().unwrap().to_string();
    let scene = scene(gate(&[&host], &[&host], &[&[]]));
    let head = format!("PUT http://{host}/ HTTP/1.1\r\nContent-Length: 9\r\n\r\nabc");
    let mut client = TcpStream::connect(scene.at).await.unwrap();
    client.write_all(head.as_bytes()).await.unwrap();
    let (mut stream, _) = server.accept().await.unwrap();
    client.shutdown().await.unwrap();
    let (mut sent, mut said) = (Vec::new(), Vec::new());
    stream.read_to_end(&mut sent).await.unwrap();
    let _ = client.read_to_end(&mut said).await;
    assert!(sent.ends_with(b"\r\n\r\nabc") && said.is_empty());
}

#[tokio::test]
async fn more_clients_than_the_proxy_serves_at_once_are_all_answered() {
    let scene = scene(gate(&[], &[], &[&[]]));
    let mut idle = Vec::new();
    for _ in 0..CONNECTIONS / 2 {
        idle.push(TcpStream::connect(scene.at).await.unwrap());
    }
    let all = (0..CONNECTIONS * 2).map(|_| scene.connect("a.org:443"));
    let said = futures::future::join_all(all).await;
    assert!(said.iter().all(|it| it.starts_with("HTTP/1.1 403 ")));
}

#[test]
fn every_spelling_of_a_host_is_judged_as_the_same_host() {
    let tunnel = |target: &str| {
        asked(&format!("CONNECT {target} HTTP/1.1\r\n\r\n")).unwrap().unwrap().named()
    };
    for (written, named) in [
        ("EVIL.Org:443", "evil.org:443"),
        ("evil.org.:443", "evil.org:443"),
        ("evil.org:0443", "evil.org:443"),
        ("XN--BCHER-KVA.org:443", "xn--bcher-kva.org:443"),
        ("0x7f000001:80", "127.0.0.1:80"),
        ("017700000001:80", "127.0.0.1:80"),
        ("127.0.0.1.:80", "127.0.0.1:80"),
        ("0:80", "0.0.0.0:80"),
        ("[::FFFF:a9fe:a9fe]:80", "[::ffff:a9fe:a9fe]:80"),
        ("[0:0:0:0:0:0:0:1]:80", "[::1]:80"),
    ] {
        assert_eq!(tunnel(written), named, "{written}");
    }
    for bad in [
        "127.0.0.1.1:80",
        "256.1.1.1:80",
        "[fe80::1%25eth0]:80",
        "[fe80::1%eth0]:80",
        "[::1]a:80",
        "[]:80",
        "xn--:80",
        "\u{ff11}27.0.0.1:80",
        "evil\u{3002}org:80",
        "ev\u{ad}il.org:80",
        "a.org\u{0}.evil.org:80",
        "a.org:80#",
        "a.org,b.org:80",
        "a.org\\.evil.org:80",
        "-:80 ",
        "a.org:8\u{0660}",
    ] {
        assert!(
            matches!(asked(&format!("CONNECT {bad} HTTP/1.1\r\n\r\n")), Err(Fault::Malformed)),
            "{bad}"
        );
    }
}

#[test]
fn a_request_names_its_host_once_and_its_body_has_one_length() {
    let sent = |head: &str| {
        let it = asked(head).unwrap().unwrap();
        (it.named(), String::from_utf8(it.bytes).unwrap())
    };
    for (target, line) in [
        ("http://a.org\\@evil.org/", "GET /@evil.org/ HTTP/1.1\r\nHost: a.org\r\n"),
        ("http:///a.org/x", "GET /x HTTP/1.1\r\nHost: a.org\r\n"),
        ("HTTP://A.ORG./../../x", "GET /x HTTP/1.1\r\nHost: a.org\r\n"),
        (
            "http://a.org/%0d%0aHost:%20evil.org",
            "GET /%0d%0aHost:%20evil.org HTTP/1.1\r\nHost: a.org\r\n",
        ),
        ("http://a.org?http://evil.org/", "GET /?http://evil.org/ HTTP/1.1\r\nHost: a.org\r\n"),
    ] {
        let (named, text) =
            sent(&format!("GET {target} HTTP/1.1\r\nHost: evil.org\r\nhost: evil.org\r\n\r\n"));
        assert_eq!(named, "a.org:80", "{target}");
        assert!(text.starts_with(line) && text.matches("Host:").count() <= 2, "{target}: {text}");
        assert!(
            !text.contains("\r\nhost: evil.org") && !text.contains("\r\nHost: evil.org"),
            "{text}"
        );
    }
    for bad in [
        "GET http://a.org:80@evil.org/ HTTP/1.1\r\n\r\n",
        "GET http://@evil.org/ HTTP/1.1\r\nX: a\rHost: b\r\n\r\n",
        "GET http://a.org:99999/ HTTP/1.1\r\n\r\n",
        "GET http://a.org/ HTTP/1.1\r\nContent-Length\t: 3\r\n\r\n",
        "GET http://a.org/ HTTP/1.1\r\nContent-Length: 3\r\ncontent-length: 3\r\n\r\nabc",
        "GET http://a.org/ HTTP/1.1\r\nContent-Length: 0x3\r\n\r\nabc",
        "GET http://a.org/ HTTP/1.1\r\nContent-Length: \r\n\r\n",
        "GET http://a.org/ HTTP/1.1\r\nX: \u{0}\r\n\r\n",
        "GET http://a.org/ HTTP/1.1 \r\n\r\n",
        "connect a.org:443 HTTP/1.1\r\n\r\n",
        "CONNECT a.org:443/ HTTP/1.1\r\n\r\n",
        "OPTIONS * HTTP/1.1\r\nHost: a.org\r\n\r\n",
    ] {
        refused(bad, Fault::Malformed);
    }
    for chunked in ["chunked", "identity", "chunked, chunked", "xchunked", ""] {
        let head = format!(
            "POST http://a.org/ HTTP/1.1\r\nTransfer-Encoding: {chunked}\r\nContent-Length: 3\r\n\r\nabc"
        );
        refused(&head, Fault::NoLength);
    }
    // headers about the connection are left out, but a list in `Connection` does not remove the proxy's own `Host`
    let (_, text) = sent(
        "GET http://a.org/ HTTP/1.1\r\nConnection: close, host\r\nUpgrade: h2c\r\nTE: trailers\r\n\r\n",
    );
    assert_eq!(text, "GET / HTTP/1.1\r\nHost: a.org\r\nConnection: close\r\n\r\n");
}

#[tokio::test]
async fn no_rule_opens_an_address_of_a_private_network() {
    const ALL: [&str; 22] = [
        "0.0.0.0",
        "10.1.2.3",
        "100.100.100.200",
        "127.0.0.1",
        "169.254.169.254",
        "172.31.0.1",
        "192.0.0.192",
        "192.168.0.1",
        "198.18.0.1",
        "224.0.0.1",
        "255.255.255.255",
        "168.63.129.16",
        "[::]",
        "[::1]",
        "[::ffff:a9fe:a9fe]",
        "[::7f00:1]",
        "[64:ff9b::a00:1]",
        "[64:ff9b:1::1]",
        "[2002:7f00:1::]",
        "[fd00:ec2::254]",
        "[fe80::1]",
        "[fec0::1]",
    ];
    let scene = scene(gate(&ALL, &[], &[&[]]));
    for host in ALL {
        let said = scene.connect(&format!("{host}:80")).await;
        assert!(said.contains("which is not a public address"), "{host}: {said}");
        let said = scene.send(format!("GET http://{host}/ HTTP/1.1\r\n\r\n").as_bytes()).await;
        assert!(said.contains("which is not a public address"), "{host}: {said}");
    }
}

#[tokio::test]
async fn a_denied_host_is_denied_in_every_spelling() {
    let deny = |host: &str| {
        let (deny, host) = (Some("network".to_owned()), Some(host.to_owned()));
        WrittenRule { deny, host, ..WrittenRule::default() }.rule(Origin::Settings).unwrap()
    };
    let mut all = rules(&["*.org", "evil.org"]).all.clone();
    all.push(deny("evil.org"));
    let rules = Rules::new(all, Path::new("/p"), &Reach::new(&Folders::default()));
    let found: &'static [&'static [&'static str]] = &[&["127.0.0.1"]];
    let scene = scene(Gate { rules: watch::channel(Arc::new(rules)).1, ..gate(&[], &[], found) });
    for target in ["evil.org:443", "EVIL.ORG:80", "evil.org.:443", "Evil.Org.:22"] {
        let said = scene.connect(target).await;
        assert!(said.contains("is denied by a permission rule"), "{target}: {said}");
    }
}

#[tokio::test]
async fn ten_thousand_connections_are_answered_and_leave_one_refusal() {
    let mut scene = scene(gate(&[], &[], &[&[]]));
    for _ in 0..100 {
        let said = futures::future::join_all((0..100).map(|_| scene.connect("a.org:443"))).await;
        let odd: Vec<&String> = said.iter().filter(|it| !it.starts_with("HTTP/1.1 403 ")).collect();
        assert!(odd.is_empty(), "{odd:?}");
    }
    assert_eq!(scene.proxy.refusals().len(), 1);
}
