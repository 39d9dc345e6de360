//! Tests the decoders on damaged streams: the streams recorded in `tests/data/streams`, cut, with flipped or doubled
//! bytes, and with text that breaks parsers. The environment variable `PROPTEST_CASES` asks for more cases.

use super::Sampled;
use super::dialect::Dialect;
use super::recut::read;
use crate::event::Delta;
use crate::message::{Block, Input};
use proptest::prelude::*;
use proptest::sample::{Index, select};
use std::collections::HashSet;
use std::path::Path;

/// Pieces of text that parsers are known to fail on.
const SEEDS: [&str; 20] = [
    "\n\n",
    "\r",
    "data: ",
    "data: null\n\n",
    "data: []\n\n",
    "data: {}\n\n",
    "event: error\n",
    ": ping\n\n",
    "null",
    "\"",
    "{",
    "}",
    "[[[[[[[[[[[[[[[[",
    "-1",
    "1e999",
    "18446744073709551616",
    "\\ud83d",
    "\u{feff}",
    "\u{2028}",
    "[DONE]",
];

#[derive(Debug, Clone)]
enum Damage {
    Flip(Index, u8),
    Drop(Index, Index),
    Double(Index, Index),
    Sow(Index, &'static str),
    CutOff(Index),
}

impl Damage {
    fn any() -> impl Strategy<Value = Damage> {
        let index = any::<Index>;
        prop_oneof![
            3 => (index(), any::<u8>()).prop_map(|(at, byte)| Damage::Flip(at, byte)),
            2 => (index(), index()).prop_map(|(a, b)| Damage::Drop(a, b)),
            2 => (index(), index()).prop_map(|(a, b)| Damage::Double(a, b)),
            4 => (index(), select(SEEDS.to_vec())).prop_map(|(at, seed)| Damage::Sow(at, seed)),
            1 => index().prop_map(Damage::CutOff),
        ]
    }

    fn to(&self, bytes: &mut Vec<u8>) {
        let length = bytes.len() + 1;
        let range = |a: &Index, b: &Index| {
            let (a, b) = (a.index(length), b.index(length));
            a.min(b)..a.max(b)
        };
        match self {
            Damage::Flip(at, byte) => {
                let at = at.index(length);
                if let Some(it) = bytes.get_mut(at) {
                    *it ^= byte;
                }
            }
            Damage::Drop(a, b) => drop(bytes.drain(range(a, b))),
            Damage::Double(a, b) => {
                let range = range(a, b);
                let piece = bytes[range.clone()].to_vec();
                drop(bytes.splice(range.end..range.end, piece));
            }
            Damage::Sow(at, seed) => {
                let at = at.index(length);
                drop(bytes.splice(at..at, seed.bytes()));
            }
            Damage::CutOff(at) => bytes.truncate(at.index(length)),
        }
    }
}

/// All recorded streams, each with its dialect, which is the first word of the file's name.
fn recorded() -> Vec<(Dialect, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/streams");
    let mut files: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|it| it.unwrap().path()).collect();
    files.sort();
    let read = |path: std::path::PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let first = name.split('_').next().unwrap();
        let dialect = match first {
            "responses" => Dialect::named("openai-responses"),
            "openai" => Some(Dialect::OpenAiChat),
            other => Dialect::named(other),
        };
        (dialect.unwrap_or_else(|| panic!("no dialect: {name}")), std::fs::read(path).unwrap())
    };
    files.into_iter().map(read).collect()
}

/// Checks that all deltas come before exactly one `Done` or `Failed`, that a reply contains the text of its deltas, and
/// that each of its calls has a unique id and is either complete or marked as broken.
fn check(sampled: &[Sampled]) {
    let (last, before) = sampled.split_last().unwrap();
    assert!(before.iter().all(|it| matches!(it, Sampled::Delta(_))), "{sampled:?}");
    let Sampled::Done(reply) = last else {
        assert!(matches!(last, Sampled::Failed(_)), "{last:?}");
        return;
    };
    let mut shown = String::new();
    for it in before {
        match it {
            Sampled::Delta(Delta::Text(text)) => shown.push_str(text),
            Sampled::Delta(Delta::WasThought { bytes }) => shown.truncate(shown.len() - bytes),
            _ => (),
        }
    }
    let kept: String = reply
        .blocks
        .iter()
        .filter_map(|it| match it {
            Block::Text { text } => Some(text.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(shown, kept);
    let mut ids = HashSet::new();
    for call in reply.calls() {
        assert!(!call.id.0.is_empty() && ids.insert(&call.id), "{reply:?}");
        if let Input::Broken { why, .. } = &call.input {
            assert!(!why.is_empty());
        }
    }
}

/// Runs more cases than usual, because a stream is read in microseconds.
fn many() -> ProptestConfig {
    let usual = ProptestConfig::default();
    ProptestConfig { cases: 12 * usual.cases, ..usual }
}

proptest! {
    #![proptest_config(many())]

    #[test]
    fn a_damaged_stream_gives_the_same_reply_or_failure_however_it_is_cut(
        stream in select(recorded()),
        damages in prop::collection::vec(Damage::any(), 1..6),
        cuts in prop::collection::vec(any::<Index>(), 0..8),
    ) {
        let (dialect, mut bytes) = stream;
        for damage in &damages {
            damage.to(&mut bytes);
        }
        let whole = read(dialect, [&bytes[..]]);
        check(&whole);
        let mut at: Vec<usize> = cuts.iter().map(|it| it.index(bytes.len() + 1)).collect();
        at.extend([0, bytes.len()]);
        at.sort_unstable();
        let pieces = at.windows(2).map(|it| &bytes[it[0]..it[1]]);
        prop_assert_eq!(read(dialect, pieces), whole);
    }
}
