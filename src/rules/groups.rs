//! The hosts from which package managers fetch packages.

/// Named groups of hosts that one rule can allow: where package managers fetch packages.
pub(super) const GROUPS: &[(&str, &[&str])] = &[
    ("cargo", &["crates.io", "index.crates.io", "static.crates.io"]),
    ("go", &["proxy.golang.org", "sum.golang.org"]),
    ("npm", &["registry.npmjs.org"]),
    ("pypi", &["files.pythonhosted.org", "pypi.org"]),
];
