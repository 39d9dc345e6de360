//! The hosts that a rule names: groups of them, those from which package managers fetch packages, and hosts with a port.

/// Named groups of hosts that one rule can allow: where package managers fetch packages.
pub(super) const GROUPS: &[(&str, &[&str])] = &[
    ("cargo", &["crates.io", "index.crates.io", "static.crates.io"]),
    ("go", &["proxy.golang.org", "sum.golang.org"]),
    ("npm", &["registry.npmjs.org"]),
    ("pypi", &["files.pythonhosted.org", "pypi.org"]),
];

/// The hosts of a group. The error is a sentence without a full stop.
pub(super) fn group(name: &str) -> Result<Vec<String>, String> {
    let found = GROUPS.iter().find(|it| it.0 == name);
    let names = || GROUPS.iter().map(|it| format!("`{}`", it.0)).collect::<Vec<_>>().join(", ");
    let hosts = found
        .ok_or_else(|| format!("group = `{name}` is not a group. The groups are {}", names()))?;
    Ok(hosts.1.iter().map(|it| (*it).to_owned()).collect())
}

/// A host and its port, if one is named. An IPv6 address is in brackets.
pub(super) fn apart(named: &str) -> (&str, Option<u16>) {
    match named.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, port.parse().ok()),
        _ => (named, None),
    }
}
