//! Tests how rules decide about web pages.

use super::*;

#[test]
fn rules_about_web_pages_name_hosts_or_their_subdomains() {
    let rules = rules(&[
        toml("allow = 'fetch'\nhost = 'docs.rs'"),
        toml("allow = 'fetch'\nhost = '*.Mozilla.org'"),
        toml("deny = 'fetch'\nhost = 'evil.org'"),
    ]);
    let judge = |host: &str| {
        rules.judge(&Access::Fetch { url: "https://x/".into(), host: host.into() }).verdict
    };
    let allowed = Some(Verdict::Allow);
    let all = [
        ("docs.rs", allowed),
        ("docs.rs:8080", None),
        ("xdocs.rs", None),
        ("docs.rs.evil.com", None),
        ("developer.mozilla.org", allowed),
        ("mozilla.org", None),
        ("evilmozilla.org", None),
        ("evil.org", Some(Verdict::Deny)),
        ("evil.org:8443", Some(Verdict::Deny)),
        ("a.org", None),
    ];
    for (host, verdict) in all {
        assert_eq!(judge(host), verdict, "{host}");
    }
}
