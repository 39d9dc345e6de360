//! An index of the rules by the first part of their pattern. It finds the rules whose pattern may begin at a given part of
//! a path.

use super::pattern::Pattern;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

#[derive(Default)]
pub(super) struct Index {
    /// Patterns whose first part has no `*`.
    names: Map<String>,
    /// Patterns whose first part has a `*`: in `tails` by the last two bytes of that part if these are fixed, otherwise
    /// in `heads` by its first two bytes.
    tails: Map<u16>,
    heads: Map<u16>,
    others: Vec<usize>,
}

type Map<K> = HashMap<K, Vec<usize>, BuildHasherDefault<Hash>>;

impl Index {
    pub(super) fn add(&mut self, first: &str, rule: usize) {
        let is_fixed = |it: &&[u8; 2]| !it.contains(&b'*');
        let head = first.as_bytes().first_chunk().filter(is_fixed);
        let tail = first.as_bytes().last_chunk().filter(is_fixed);
        let rules = match (head, tail) {
            _ if !first.contains('*') => self.names.entry(first.to_owned()).or_default(),
            (_, Some(tail)) => self.tails.entry(u16::from_ne_bytes(*tail)).or_default(),
            (Some(head), None) => self.heads.entry(u16::from_ne_bytes(*head)).or_default(),
            (None, None) => &mut self.others,
        };
        rules.push(rule);
    }

    /// Adds a rule by the first part of its pattern. A `*` in the name of a file stands for itself.
    pub(super) fn add_pattern(&mut self, first: Option<&Pattern>, rule: usize) {
        match first {
            Some(Pattern::Name(it)) => self.names.entry(it.clone()).or_default().push(rule),
            Some(Pattern::Open { head, tail, .. }) => self.add(&format!("{head}*{tail}"), rule),
            None => (),
        }
    }

    /// The patterns that may begin with this part of a path. The caller then compares the whole patterns.
    pub(super) fn get(&self, part: &str) -> impl Iterator<Item = usize> {
        let bytes = part.as_bytes();
        let tails = bytes.last_chunk().and_then(|it| self.tails.get(&u16::from_ne_bytes(*it)));
        let heads = bytes.first_chunk().and_then(|it| self.heads.get(&u16::from_ne_bytes(*it)));
        let found = [self.names.get(part), tails, heads, Some(&self.others)];
        found.into_iter().flatten().flatten().copied()
    }
}

/// The FNV-1a hash. A search looks up each part of each path, and the standard library's hash takes most of that time.
/// The standard library's hash protects against keys that an attacker chooses, but all keys of the index are in the
/// table.
struct Hash(u64);

impl Default for Hash {
    fn default() -> Hash {
        Hash(0xcbf2_9ce4_8422_2325)
    }
}

impl Hasher for Hash {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
        }
    }
}
