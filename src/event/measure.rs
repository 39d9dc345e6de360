//! A provider's count of a request's tokens.

use crate::message;
use serde::{Deserialize, Serialize};

/// The tokens that a provider counted for a request of this many bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Measure {
    #[serde(deserialize_with = "message::count")]
    pub tokens: u64,
    #[serde(deserialize_with = "message::count")]
    pub bytes: u64,
}

impl Measure {
    /// Whether both measures give the same size of a token, within a twentieth.
    pub fn is_near(self, other: Measure) -> bool {
        let ours = u128::from(self.tokens) * u128::from(other.bytes);
        let theirs = u128::from(other.tokens) * u128::from(self.bytes);
        ours.abs_diff(theirs) <= ours.max(theirs) / 20
    }
}

#[cfg(test)]
mod tests {
    use super::Measure;

    #[test]
    fn measures_are_near_if_their_tokens_have_almost_the_same_size() {
        let near = |a: (u64, u64), b: (u64, u64)| {
            let of = |(tokens, bytes)| Measure { tokens, bytes };
            assert_eq!(of(a).is_near(of(b)), of(b).is_near(of(a)));
            of(a).is_near(of(b))
        };
        assert!(near((100, 400), (1_000, 4_000)));
        assert!(near((100, 400), (1_040, 4_000)));
        assert!(!near((100, 400), (1_060, 4_000)));
        assert!(!near((100, 400), (0, 4_000)));
        assert!(!near((u64::MAX, 1), (1, u64::MAX)));
    }
}
