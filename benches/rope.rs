//! A long text as a `String` and as a rope: 2,000 edits in 5 MB, in one call or in 2,000 calls, and a merge of as many
//! changes. For each row of the table, the measurements of the `String` and of the rope alternate. The rope is searched
//! chunk by chunk, without a copy.

use super::proc;
use caliban::edit::{self, Change, Edit, Manner, Replacement, Stack};
use caliban::message::CallId;
use caliban::text::{Text, diff_lines};
use memchr::memmem;
use ropey::Rope;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::Instant;

const EDITS: usize = 2_000;
const LINES: usize = 100_000;

/// A line of 50 bytes.
fn line(n: usize) -> String {
    format!("    let value_{n:06} = compute({:06}, &other, 1);\n", n * 7 % 1_000_000)
}

/// A text of 5 MB, and edits of single lines everywhere in it, in no order.
fn task() -> (String, Vec<(String, String)>) {
    let text: String = (0..LINES).map(line).collect();
    let edits = (0..EDITS).map(|n| line(n * 7_919 % EDITS * (LINES / EDITS)));
    (text, edits.map(|old| (old.clone(), old.replace("compute", "look_it_up"))).collect())
}

/// The median times of both functions in milliseconds. The functions run in turns.
fn beside<A, B>(mut one: impl FnMut() -> A, mut other: impl FnMut() -> B) -> [f64; 2] {
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..5 {
        let start = Instant::now();
        black_box(one());
        times[0].push(start.elapsed().as_secs_f64() * 1_000.0);
        let start = Instant::now();
        black_box(other());
        times[1].push(start.elapsed().as_secs_f64() * 1_000.0);
    }
    times.map(|it| super::report::median(it.into_iter()))
}

/// The position of `old`, which occurs once in the text. Like `edit`, searches to the end for a second match.
fn only_in_str(text: &str, old: &str) -> usize {
    let mut found = memmem::find_iter(text.as_bytes(), old);
    let at = found.next().unwrap();
    assert_eq!(found.next(), None);
    at
}

fn only_in_rope(rope: &Rope, old: &str) -> usize {
    let finder = memmem::Finder::new(old);
    let kept = old.len() - 1;
    let (mut found, mut from) = (Vec::new(), 0);
    // the end of the searched text and the beginning of the next chunk, because a match may span both
    let mut seam: Vec<u8> = Vec::new();
    for chunk in rope.chunks() {
        let chunk = chunk.as_bytes();
        let before = seam.len();
        seam.extend_from_slice(&chunk[..chunk.len().min(kept)]);
        found.extend(finder.find_iter(&seam).map(|at| from - before + at));
        found.extend(finder.find_iter(chunk).map(|at| from + at));
        from += chunk.len();
        if chunk.len() >= kept {
            seam.clear();
            seam.extend_from_slice(&chunk[chunk.len() - kept..]);
        } else {
            seam.drain(..seam.len().saturating_sub(kept));
        }
    }
    found.sort_unstable();
    found.dedup();
    let [at] = found[..] else { panic!("{found:?}") };
    at
}

fn put(rope: &mut Rope, at: usize, old: &str, new: &str) {
    let from = rope.byte_to_char(at);
    let to = rope.byte_to_char(at + old.len());
    rope.remove(from..to);
    rope.insert(from, new);
}

fn change((old, new): &(String, String)) -> Edit {
    let (old, new) = (old.clone(), new.clone());
    let change = Change::Replace(Replacement { old, new, everywhere: false });
    Edit { path: PathBuf::from("a.rs"), change }
}

fn splices(text: &str, edits: &[(String, String)]) -> [f64; 2] {
    let rope = Rope::from_str(text);
    let mut places: Vec<(usize, &(String, String))> = Vec::new();
    let mut now = text.to_owned();
    for edit in edits {
        let at = only_in_str(&now, &edit.0);
        now.replace_range(at..at + edit.0.len(), &edit.1);
        places.push((at, edit));
    }
    let in_string = || {
        let mut text = text.to_owned();
        for (at, (old, new)) in &places {
            text.replace_range(*at..at + old.len(), new);
        }
        text
    };
    let in_rope = || {
        let mut rope = rope.clone();
        for (at, (old, new)) in &places {
            put(&mut rope, *at, old, new);
        }
        rope
    };
    assert!(in_rope() == in_string());
    beside(in_string, in_rope)
}

/// The least that `edit::apply` has to do: find each edit, and return one text.
fn searched(text: &str, edits: &[(String, String)]) -> [f64; 2] {
    let in_string = || {
        let mut text = text.to_owned();
        for (old, new) in edits {
            let at = only_in_str(&text, old);
            text.replace_range(at..at + old.len(), new);
        }
        text
    };
    beside(in_string, || roped(text, edits))
}

fn roped(text: &str, edits: &[(String, String)]) -> String {
    let mut rope = Rope::from_str(text);
    for (old, new) in edits {
        let at = only_in_rope(&rope, old);
        put(&mut rope, at, old, new);
    }
    rope.to_string()
}

/// All of `edit::apply`, compared with the least that a rope has to do.
fn by_one_call(text: &str, edits: &[(String, String)]) -> [f64; 2] {
    let texts = BTreeMap::from([(PathBuf::from("a.rs"), Some(Text::new(text)))]);
    let all: Vec<Edit> = edits.iter().map(change).collect();
    let applied = || {
        let mut texts = texts.clone();
        edit::apply(&mut texts, &all, |_, _, _| Ok(())).unwrap();
        texts
    };
    let made = applied().into_values().next().flatten().unwrap();
    assert!(made.content == roped(text, edits));
    beside(applied, || roped(text, edits))
}

/// Like `by_one_call`, but each edit is a call. The rope keeps the texts before and after each call.
fn by_many_calls(text: &str, edits: &[(String, String)]) -> [f64; 2] {
    let path = PathBuf::from("a.rs");
    let all: Vec<Edit> = edits.iter().map(change).collect();
    let in_string = || {
        let mut stack = Stack::new(BTreeMap::from([(path.clone(), Some(Text::new(text)))]));
        for one in all.chunks(1) {
            let manner = |_: &Path| Manner { at_once: false, is_binary: false };
            stack.push(&CallId(String::new()), one, |_, _, _, _| Ok(()), manner).unwrap();
        }
        stack.proposals()
    };
    let in_rope = || {
        let mut now = Rope::from_str(text);
        for (old, new) in edits {
            let before = now.clone();
            let at = only_in_rope(&now, old);
            put(&mut now, at, old, new);
            black_box((before, now.clone()));
        }
        now.to_string()
    };
    beside(in_string, in_rope)
}

/// Edits of which a tenth have another indentation than the text. Matching such an edit needs a `&str`.
fn tolerated(text: &str, edits: &[(String, String)]) -> [f64; 2] {
    let few: Vec<(usize, &(String, String))> = edits.iter().take(EDITS / 10).enumerate().collect();
    let in_string = || {
        let mut text = text.to_owned();
        for (n, (old, new)) in &few {
            let at = if n % 10 == 0 {
                only_in_str(text.as_str(), old.trim()) - 4
            } else {
                only_in_str(&text, old)
            };
            text.replace_range(at..at + old.len(), new);
        }
        text
    };
    let in_rope = || {
        let mut rope = Rope::from_str(text);
        for (n, (old, new)) in &few {
            let at = if n % 10 == 0 {
                only_in_str(&rope.to_string(), old.trim()) - 4
            } else {
                only_in_rope(&rope, old)
            };
            put(&mut rope, at, old, new);
        }
        rope.to_string()
    };
    beside(in_string, in_rope)
}

/// `edit::merge` of two texts with half of the changes each, compared with a merge of ropes: the same differences, with
/// lines borrowed from chunks, and the result built as a rope or patched into the base.
fn merged(text: &str, edits: &[(String, String)]) -> [[f64; 2]; 2] {
    let made = |parity: usize| {
        let mut text = text.to_owned();
        for (old, new) in edits.iter().skip(parity).step_by(2) {
            let at = only_in_str(&text, old);
            text.replace_range(at..at + old.len(), new);
        }
        text
    };
    let [base, own, other] = [text.to_owned(), made(0), made(1)].map(Text::new);
    let ropes = [&base, &own, &other].map(|it| Rope::from_str(&it.content));
    let both = |from_text: bool| {
        let copies = [0, 1, 2].map(|it| {
            if from_text {
                Rope::from_str(&[&base, &own, &other][it].content)
            } else {
                ropes[it].clone()
            }
        });
        rope_merged(&copies)
    };
    assert!(both(true) == edit::merge(&base, &own, &other).text.content);
    [
        beside(|| edit::merge(&base, &own, &other), || both(false)),
        beside(|| edit::merge(&base, &own, &other), || both(true).to_string()),
    ]
}

/// Applies the changes of two sides to the base, from the last change to the first. The changes do not overlap.
fn rope_merged([base, own, other]: &[Rope; 3]) -> Rope {
    let [olds, owns, others] =
        [base, own, other].map(|it| it.lines().map(Cow::from).collect::<Vec<Cow<str>>>());
    let diff = |news: &[Cow<str>]| {
        diff_lines(olds.iter().map(AsRef::as_ref), news.iter().map(AsRef::as_ref))
    };
    let mut hunks: Vec<_> = diff(&owns).into_iter().map(|it| (it, own)).collect();
    hunks.extend(diff(&others).into_iter().map(|it| (it, other)));
    hunks.sort_by_key(|(it, _)| std::cmp::Reverse(it.old.start));
    let mut out = base.clone();
    for (hunk, side) in hunks {
        let [from, to] = [hunk.old.start, hunk.old.end].map(|it| out.line_to_char(it as usize));
        let new = side.slice(
            side.line_to_char(hunk.new.start as usize)..side.line_to_char(hunk.new.end as usize),
        );
        out.remove(from..to);
        out.insert(from, &new.to_string());
    }
    out
}

/// The megabytes that the texts before and after each of 50 calls take, as `String`s and as ropes.
fn kept(text: &str, edits: &[(String, String)]) -> [f64; 2] {
    let id = std::process::id();
    let mut now = text.to_owned();
    let start = proc::resident(id);
    let mut parts = Vec::new();
    for (old, new) in edits.iter().take(50) {
        let before = now.clone();
        let at = only_in_str(&now, old);
        now.replace_range(at..at + old.len(), new);
        parts.push((before, now.clone()));
    }
    let in_strings = proc::resident(id) - start;
    drop(black_box(parts));
    let mut now = Rope::from_str(text);
    let start = proc::resident(id);
    let mut parts = Vec::new();
    for (old, new) in edits.iter().take(50) {
        let before = now.clone();
        let at = only_in_rope(&now, old);
        put(&mut now, at, old, new);
        parts.push((before, now.clone()));
    }
    let in_ropes = proc::resident(id) - start;
    black_box(parts);
    [in_strings, in_ropes]
}

/// The rows of the table.
pub(crate) fn table() -> String {
    let (text, edits) = task();
    // measured first: later the allocator reuses memory, and the texts would seem to need none
    let memory = kept(&text, &edits);
    let [roped, made] = merged(&text, &edits);
    let rows = [
        ("2,000 places, known, changed", splices(&text, &edits)),
        ("2,000 edits looked for and made, one text out", searched(&text, &edits)),
        ("`edit::apply` of one call; the least that a rope must do", by_one_call(&text, &edits)),
        ("2,000 calls of one edit; the least that a rope must do", by_many_calls(&text, &edits)),
        ("200 edits, a tenth of them matched on a `&str`", tolerated(&text, &edits)),
        ("`edit::merge` of 2 × 1,000 changes; ropes in, a rope out", roped),
        ("the same; texts in, a text out", made),
    ];
    let mut table =
        "| a text of 5 MB | `String`, ms | rope, ms | rope / `String` |\n|---|--:|--:|--:|\n"
            .to_owned();
    for (name, [string, rope]) in rows {
        table += &format!("| {name} | {string:.1} | {rope:.1} | {:.2} |\n", rope / string);
    }
    let [string, rope] = memory;
    table
        + &format!(
            "| both texts of each of 50 calls, kept, MB | {string:.1} | {rope:.1} | {:.3} |\n",
            rope / string
        )
}
