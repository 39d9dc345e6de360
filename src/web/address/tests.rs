//! Tests which addresses may be fetched.

use super::*;

const PRIVATE: &str = "0.0.0.0 10.1.2.3 100.64.0.1 100.100.100.200 100.127.255.255 127.0.0.1 127.9.9.9
    168.63.129.16 169.254.169.254 172.16.0.1 172.31.255.255 192.0.0.192 192.0.2.1 192.88.99.1 192.168.1.1
    198.18.0.1 198.19.255.255 198.51.100.7 203.0.113.9 224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255
    :: ::1 ::127.0.0.1 ::ffff:127.0.0.1 ::ffff:8.8.8.8 64:ff9b::7f00:1 64:ff9b::a9fe:a9fe 64:ff9b:1::1 100::1
    2001::1 2001:1ff::1 2001:db8::1 2002:7f00:1:: 3fff::1 fc00::1 fd00:ec2::254 fe80::1 fec0::1 ff02::1";

const PUBLIC: &str =
    "1.1.1.1 8.8.8.8 100.63.255.255 100.128.0.1 172.15.0.1 172.32.0.1 192.0.1.1 198.20.0.1
    223.255.255.255 2606:4700::1111 2001:4860::8888 64:ff9b::808:808 3ffe::1";

#[test]
fn addresses_of_this_machine_and_of_private_networks_are_not_public() {
    for (all, wanted) in [(PRIVATE, false), (PUBLIC, true)] {
        for ip in all.split_whitespace() {
            assert_eq!(is_public(ip.parse().unwrap()), wanted, "{ip}");
        }
    }
}

#[test]
fn an_ip_address_in_any_spelling_is_the_same_host() {
    let hosts = [
        "http://127.0.0.1",
        "http://2130706433/",
        "http://0x7f.1",
        "http://017700000001",
        "http://127.1",
        "http://[::1]:8080/",
        "http://[::ffff:169.254.169.254]/",
        "http://[::ffff:a9fe:a9fe]/",
        "http://169.254.169.254./",
        "http://\u{ff11}27.0.0.1/",
        "http://0/",
    ];
    for host in hosts {
        let said = Address::parse(host).unwrap().check().unwrap_err();
        assert!(said.contains("is not a public address"), "{host}: {said}");
    }
}

#[test]
fn only_http_addresses_without_a_password_are_accepted() {
    let check = |text: &str, wanted: &str| {
        let said = Address::parse(text).and_then(|it| it.check()).unwrap_err();
        assert!(said.contains(wanted), "{text}: {said}");
    };
    check("example.org/page", "is not a complete address");
    check("", "is not a complete address");
    check("http://", "is not a complete address");
    check("file:///etc/passwd", "does not begin with http");
    check("ftp://example.org/", "does not begin with http");
    check("data:text/html,x", "does not begin with http");
    check("https://me:secret@example.org/", "contains a user name or a password");
    check("https://me@example.org/", "contains a user name or a password");
    check("http://example.org:22/", "has port 22");
    check(&format!("https://example.org/{}", "a".repeat(2_000)), "is longer than");
    for text in ["http://example.org", "https://example.org:8443/a?b#c", "http://8.8.8.8:80"] {
        Address::parse(text).unwrap().check().unwrap();
    }
}

#[test]
fn a_host_in_the_users_list_is_allowed_at_the_listed_port_or_at_every_port() {
    let list = ["localhost:3000".to_owned(), "10.0.0.5".to_owned(), "[::1]".to_owned()];
    let is_among = |text: &str| Address::parse(text).unwrap().is_among(&list);
    assert!(is_among("http://LOCALHOST:3000/x") && is_among("http://10.0.0.5:99/"));
    assert!(is_among("https://[::1]:4/"));
    assert!(!is_among("http://localhost/") && !is_among("http://localhost:30001/"));
    assert!(!is_among("http://10.0.0.50/") && !is_among("http://localhost.evil.org:3000/"));
}

#[test]
fn a_host_is_shown_with_its_port_if_the_port_is_not_the_usual_one() {
    let host = |text: &str| Address::parse(text).unwrap().host();
    assert_eq!(host("https://Example.org:443/a"), "example.org");
    assert_eq!(host("http://example.org:443/a"), "example.org:443");
    assert_eq!(
        Address::parse("https://example.org/a#b").unwrap().as_str(),
        "https://example.org/a"
    );
}
