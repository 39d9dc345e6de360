//! The rules about connections of sandboxed commands, which the sandbox's proxy asks.

use super::groups::GROUPS;
use super::{Rule, Rules, Target, Verdict};

/// The ports for which a rule that names no port allows connections.
const PORTS: [u16; 2] = [80, 443];

/// The hosts of a group. The error is a sentence without a full stop.
pub(super) fn group(name: &str) -> Result<Vec<String>, String> {
    let found = GROUPS.iter().find(|it| it.0 == name);
    let names = || GROUPS.iter().map(|it| format!("`{}`", it.0)).collect::<Vec<_>>().join(", ");
    let hosts =
        found.ok_or_else(|| format!("group = `{name}` is no group. There are {}", names()))?;
    Ok(hosts.1.iter().map(|it| (*it).to_owned()).collect())
}

impl Rules {
    /// Whether a sandboxed command may connect to this host. The error is the end of a sentence that begins with the
    /// host.
    pub fn reaches(&self, host: &str, port: u16) -> Result<(), String> {
        let Some(rule) = self.strictest(|it| it.is_about_connection(host, port)) else {
            return Err("is not allowed by a permission rule".to_owned());
        };
        let reason =
            if rule.reason.is_empty() { String::new() } else { format!(": {}", rule.reason) };
        match rule.verdict {
            Verdict::Allow => Ok(()),
            Verdict::Ask | Verdict::Deny => Err(format!("is denied by a permission rule{reason}")),
        }
    }

    /// Whether there is a rule that allows hosts.
    pub fn opens_network(&self) -> bool {
        let is_open =
            |it: &Rule| it.verdict == Verdict::Allow && matches!(it.target, Target::Network(_));
        self.all.iter().any(is_open)
    }

    /// How the rules decide about a connection, for the user. `named` is a host, with a port or for port 443.
    pub fn explain_connection(&self, named: &str) -> String {
        let (host, port) = apart(named);
        let port = port.unwrap_or(443);
        let rule = self.strictest(|it| it.is_about_connection(host, port));
        let rule = rule.map(|it| format!("\n  {}", it.line())).unwrap_or_default();
        match self.reaches(host, port) {
            Ok(()) => format!("Commands in the full sandbox may connect to {host}:{port}.{rule}"),
            Err(why) => format!("Commands may not connect to {host}:{port}: it {why}.{rule}"),
        }
    }
}

impl Rule {
    /// A rule that denies holds for all ports of its host if it names none.
    pub(super) fn is_about_connection(&self, host: &str, port: u16) -> bool {
        let Target::Network(hosts) = &self.target else { return false };
        hosts.is_empty() || hosts.iter().any(|it| self.fits_host(it, host, port))
    }

    fn fits_host(&self, wanted: &str, host: &str, port: u16) -> bool {
        let (name, wanted_port) = apart(wanted);
        let is_port = match wanted_port {
            Some(it) => it == port,
            None => self.verdict > Verdict::Allow || PORTS.contains(&port),
        };
        let is_name = match name.strip_prefix("*.") {
            Some(domain) => host.strip_suffix(domain).is_some_and(|it| it.ends_with('.')),
            None => name == host,
        };
        is_port && is_name
    }
}

/// A host and its port, if one is named. The address of IPv6 is in brackets.
pub(super) fn apart(named: &str) -> (&str, Option<u16>) {
    match named.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, port.parse().ok()),
        _ => (named, None),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Origin, WrittenRule};
    use super::*;

    fn rule(verdict: &str, host: Option<&str>, group: Option<&str>) -> Result<Rule, String> {
        let network = |it: &str| (it == verdict).then(|| "network".to_owned());
        let (host, group) = (host.map(str::to_owned), group.map(str::to_owned));
        let (allow, ask, deny) = (network("allow"), network("ask"), network("deny"));
        WrittenRule { allow, ask, deny, host, group, ..WrittenRule::default() }
            .rule(Origin::Settings)
    }

    fn rules(all: &[Result<Rule, String>]) -> Rules {
        Rules { all: all.iter().map(|it| it.clone().unwrap()).collect(), ..Rules::default() }
    }

    #[test]
    fn a_connection_needs_a_rule_for_its_host_and_port() {
        let rules = rules(&[
            rule("allow", Some("*.a.org"), None),
            rule("allow", Some("b.org:8080"), None),
            rule("allow", Some("[::1]:80"), None),
            rule("deny", Some("evil.a.org"), None),
            rule("allow", None, Some("cargo")),
        ]);
        let may = |host, port| rules.reaches(host, port).is_ok();
        assert!(
            may("x.a.org", 443) && may("x.y.a.org", 80) && may("b.org", 8080) && may("[::1]", 80)
        );
        assert!(GROUPS[0].1.iter().all(|it| may(*it, 443)));
        for (host, port) in [
            ("a.org", 443),
            ("xa.org", 443),
            ("x.a.org", 22),
            ("b.org", 443),
            ("evil.a.org", 443),
            ("evil.a.org", 8080),
            ("[::1]", 443),
        ] {
            assert!(!may(host, port), "{host}:{port}");
        }
        assert!(rules.explain_connection("evil.a.org").contains("deny network `evil.a.org`"));
    }

    #[test]
    fn a_rule_about_the_network_that_cannot_be_used_says_why() {
        let why = |verdict, host, group| rule(verdict, host, group).unwrap_err();
        assert_eq!(why("allow", None, None), "a rule that allows network needs `host` or `group`");
        assert!(why("allow", None, Some("crates")).starts_with("group = `crates` is no group"));
        assert_eq!(why("allow", Some("a.org"), Some("npm")), "give `host` or `group`, not both");
        assert!(
            why("ask", Some("a.org"), None)
                .starts_with("a rule about the network allows or denies")
        );
        for bad in ["*", "a.org:x", "a.org:0", "a org", "*.", "a.*.org", "http://a.org"] {
            assert!(rule("allow", Some(bad), None).is_err(), "{bad}");
        }
    }
}
