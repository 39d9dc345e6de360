//! Web addresses that may be fetched: http and https, without a user name or password in them, at an ordinary port of a
//! public host.

use reqwest::Url;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use url::Host;

/// The most bytes of an address.
const LONGEST: usize = 2_000;

/// An address that is written correctly. Whether its host is public is known only when the name is resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address(Url);

impl Address {
    /// Parses an address. The error is the rest of a sentence that begins with the address.
    pub fn parse(text: &str) -> Result<Address, String> {
        let url = Url::parse(text.trim()).map_err(|_| {
            "is not a complete address. Write it as https://example.org/page".to_owned()
        })?;
        Address::of(url)
    }

    /// The address to which this one redirects.
    pub(super) fn join(&self, to: &str) -> Result<Address, String> {
        Address::of(self.0.join(to).map_err(|_| "is not valid".to_owned())?)
    }

    fn of(mut url: Url) -> Result<Address, String> {
        if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
            return Err("does not begin with http:// or https://".to_owned());
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err("contains a user name or a password. Leave them out".to_owned());
        }
        if url.as_str().len() > LONGEST {
            return Err(format!("is longer than {LONGEST} characters"));
        }
        url.set_fragment(None);
        Ok(Address(url))
    }

    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    pub(super) fn url(&self) -> Url {
        self.0.clone()
    }

    /// The host, with the port if it is not the usual one of the scheme.
    pub fn host(&self) -> String {
        let host = self.0.host_str().unwrap_or_default();
        self.0.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
    }

    /// Whether the user's list of hosts contains this host, either with this port or without a port.
    pub(super) fn is_among(&self, hosts: &[String]) -> bool {
        let host = self.0.host_str().unwrap_or_default();
        let port = self.0.port_or_known_default().unwrap_or_default();
        is_listed(host, port, hosts)
    }

    /// Checks what is known without resolving a name: the port, and the host if it is an IP address. The error is the
    /// end of a sentence.
    pub(super) fn check(&self) -> Result<(), String> {
        let port = self.0.port_or_known_default().unwrap_or_default();
        if port < 1024 && ![80, 443].contains(&port) {
            return Err(format!("has port {port}, which is not a usual port for web pages"));
        }
        match self.0.host() {
            Some(Host::Ipv4(ip)) => allowed(IpAddr::V4(ip)),
            Some(Host::Ipv6(ip)) => allowed(IpAddr::V6(ip)),
            _ => Ok(()),
        }
    }
}

/// Whether a list of hosts contains this host, either with this port or without a port.
pub(super) fn is_listed(host: &str, port: u16, hosts: &[String]) -> bool {
    let with_port = format!("{host}:{port}");
    hosts.iter().any(|it| it.eq_ignore_ascii_case(host) || it.eq_ignore_ascii_case(&with_port))
}

/// Checks that connections to an IP address are allowed. The error is the end of a sentence.
pub(super) fn allowed(ip: IpAddr) -> Result<(), String> {
    if is_public(ip) {
        return Ok(());
    }
    Err(format!(
        "is at {ip}, which is not a public address. Only the user can allow it, by the setting `fetch_private`"
    ))
}

/// Whether an address belongs to the public internet. Addresses of this machine, of private networks, and of services
/// from which machines in a cloud get their keys do not.
fn is_public(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => is_public_v4(ip),
        IpAddr::V6(ip) => is_public_v6(ip),
    }
}

fn is_public_v4(ip: Ipv4Addr) -> bool {
    let [a, b, c, _] = ip.octets();
    // special ranges: this network, private, loopback, link-local, carrier-grade NAT, benchmarks, multicast and higher
    let is_special = match (a, b) {
        (0 | 10 | 127 | 224.., _)
        | (100, 64..=127)
        | (169, 254)
        | (172, 16..=31)
        | (192, 168)
        | (198, 18..=19) => true,
        // special ranges: protocols and documentation, the former 6to4 relay, documentation
        (192, 0) => c == 0 || c == 2,
        (192, 88) => c == 99,
        (198, 51) => c == 100,
        (203, 0) => c == 113,
        _ => false,
    };
    // the address of Azure's service for its virtual machines looks public
    !is_special && ip != Ipv4Addr::new(168, 63, 129, 16)
}

fn is_public_v6(ip: Ipv6Addr) -> bool {
    let part = ip.segments();
    // IPv4 addresses that are embedded for networks with only IPv6 (NAT64)
    if part[..6] == [0x64, 0xff9b, 0, 0, 0, 0] {
        let [.., a, b, c, d] = ip.octets();
        return is_public_v4(Ipv4Addr::new(a, b, c, d));
    }
    let is_global = part[0] & 0xe000 == 0x2000;
    // special ranges: protocols including IPv4 tunnels, documentation, the former 6to4 tunnel, documentation
    let is_special = matches!(
        (part[0], part[1]),
        (0x2001, 0..=0x1ff | 0xdb8) | (0x2002, _) | (0x3fff, 0..=0xfff)
    );
    is_global && !is_special
}

#[cfg(test)]
mod tests;
