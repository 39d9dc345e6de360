//! The rules about connections of sandboxed commands. The sandbox's proxy checks each connection by them.

use super::groups::apart;
use super::judgement::Judgement;
use super::project::Rules;
use super::rule::{Origin, Rule, Target, Verdict};
use super::written::WrittenRule;

/// The ports for which a rule that names no port allows connections.
const PORTS: [u16; 2] = [80, 443];

/// Whether a text is one host, with or without a port, as a rule writes it.
pub fn is_host(text: &str) -> bool {
    let is_one = !text.contains('*') && !apart(text).0.ends_with('.');
    is_one && WrittenRule::connecting(text).rule(Origin::Always).is_ok()
}

/// The rules that open these hosts, which a call has named, to a command.
pub fn opening(hosts: &[String]) -> Vec<Rule> {
    hosts.iter().filter_map(|it| WrittenRule::connecting(it).rule(Origin::Always).ok()).collect()
}

impl Rules {
    /// Whether a sandboxed command may connect to this host. The error is the end of a sentence that begins with the
    /// host.
    pub fn reaches(&self, host: &str, port: u16) -> Result<(), String> {
        let Some(rule) = self.strictest(|it| it.is_about_connection(host, port)) else {
            return Err("is not allowed by any permission rule".to_owned());
        };
        let reason =
            if rule.reason.is_empty() { String::new() } else { format!(": {}", rule.reason) };
        match rule.verdict {
            Verdict::Allow => Ok(()),
            Verdict::Ask | Verdict::Deny => Err(format!("is denied by a permission rule{reason}")),
        }
    }

    /// Whether the rules allow connections to a host that a call names with or without a port.
    pub fn opens(&self, named: &str) -> bool {
        let (host, ports) = meant(named);
        ports.iter().all(|it| self.reaches(host, *it).is_ok())
    }

    /// The judgement of a command that has to connect to hosts, if a rule denies one of them.
    pub(super) fn denied(&self, hosts: &[String]) -> Option<Judgement> {
        let denying = |named: &String| {
            let (host, ports) = meant(named);
            let mut rules = ports.iter().filter_map(|it| self.denying(host, *it));
            Some(rules.next()?.said(&format!("connections to `{named}`")))
        };
        let why = hosts.iter().find_map(denying)?;
        Some(Judgement { verdict: Some(Verdict::Deny), why, ..Judgement::default() })
    }

    /// The rule that denies a connection, if there is one.
    fn denying(&self, host: &str, port: u16) -> Option<&Rule> {
        let rule = self.strictest(|it| it.is_about_connection(host, port));
        rule.filter(|it| it.verdict == Verdict::Deny)
    }

    /// Whether the rules in `by`, which come from the user's consent, open a host that none of the rules in `self`
    /// denies.
    pub fn is_opened(&self, by: &[Rule], host: &str, port: u16) -> bool {
        by.iter().any(|it| it.is_about_connection(host, port)) && self.denying(host, port).is_none()
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
    /// Whether the rule applies to a connection. A rule that denies a host without a port applies to all its ports.
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

/// The host of `named`, and its port. Without a port: the usual ports.
fn meant(named: &str) -> (&str, Vec<u16>) {
    let (host, port) = apart(named);
    (host, port.map_or(PORTS.to_vec(), |it| vec![it]))
}

#[cfg(test)]
mod tests {
    use super::super::groups::GROUPS;
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
    fn an_invalid_network_rule_is_refused_with_a_reason() {
        let why = |verdict, host, group| rule(verdict, host, group).unwrap_err();
        assert_eq!(why("allow", None, None), "a rule that allows network needs `host` or `group`");
        assert!(why("allow", None, Some("crates")).starts_with("group = `crates` is not a group"));
        assert_eq!(why("allow", Some("a.org"), Some("npm")), "give `host` or `group`, not both");
        assert!(
            why("ask", Some("a.org"), None)
                .starts_with("a rule about the network can only allow or deny")
        );
        for bad in ["*", "a.org:x", "a.org:0", "a org", "*.", "a.*.org", "http://a.org"] {
            assert!(rule("allow", Some(bad), None).is_err(), "{bad}");
        }
    }
}
