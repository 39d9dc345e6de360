//! The cost of matching an edit with the text of a file, and of finding the most similar text if no text matches, in
//! the worst cases.

use super::proc;
use super::report::median;
use caliban::edit::{Change, Edit, Manner, Replacement, Stack, Texts, resolve};
use caliban::message::CallId;
use caliban::text::Text;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// The limit for matching one edit, in milliseconds.
const LIMIT: f64 = 50.0;
/// The number of calls in one reply, each with one edit, and the number of lines (of 50 bytes) in the text.
const CALLS: usize = 200;
const LINES: usize = 100_000;
/// The limits for all calls together: milliseconds, and megabytes of the three texts that are kept.
const STACKED: f64 = 200.0;
const KEPT: f64 = 25.0;

struct Case {
    name: &'static str,
    file: String,
    old: String,
}

fn cases() -> Vec<Case> {
    let case = |name, file, old| Case { name, file, old };
    let lines = |line: &dyn Fn(usize) -> String| (0..20_000).map(line).collect::<String>();
    let code = |n: usize| format!("    let value_{} = compute({n}, other);\n", n % 700);
    let same = |_: usize| "    call(a, b);\n".to_owned();
    let part = |from: usize, to: usize| (from..to).map(code).collect::<String>();
    let flat = "var a=1;fn(b);".repeat(5_000_000 / 14);
    let mut dashed = part(0, 20_000);
    dashed.push('–');
    let zigzag =
        |n: usize| format!("{}call(a, b);\n", if n.is_multiple_of(2) { "\t" } else { "  " });
    vec![
        case("20,000 lines, exact", lines(&code), part(15_000, 15_200)),
        case(
            "20,000 lines, one line wrong",
            lines(&code),
            part(15_000, 15_200).replace("15100,", "x,"),
        ),
        case(
            "20,000 lines, another indentation",
            lines(&code),
            part(15_000, 15_200).replace("    let", "let"),
        ),
        case("20,000 lines, folded", dashed, part(15_000, 15_200).replace("15100,", "–,")),
        case("20,000 lines, ambiguous on every line", lines(&same), same(0)),
        case(
            "20,000 lines, ambiguous blanks on every line",
            lines(&same),
            "    call(a, b); ".to_owned(),
        ),
        case(
            "20,000 lines, near misses on every line",
            lines(&same),
            same(0).repeat(2_000) + "end();\n",
        ),
        case(
            "20,000 lines, near indentations on every line",
            lines(&zigzag),
            "call(a, b);\n".repeat(2_000),
        ),
        case("20,000 lines, nothing alike", lines(&code), "none of these words\n".repeat(200)),
        case("one line of 5 MB, exact", format!("{flat}here{flat}"), "here".to_owned()),
        case("one line of 5 MB, ambiguous", flat.clone(), "fn(b)".to_owned()),
        case("one line of 5 MB, absent", flat.clone(), "var a=2;fn(b);".repeat(100)),
        case("one line of 5 MB, folded", format!("{flat}“here”{flat}"), "\"here\"".to_owned()),
        case(
            "one line of 5 MB of one letter, absent",
            "a".repeat(5_000_000),
            "a".repeat(10_000) + "b",
        ),
    ]
}

/// The rows of the table.
pub(crate) fn table() -> String {
    let mut rows = "| **matching an edit, ms** | | | | | | | |\n".to_owned();
    for Case { name, file, old } in cases() {
        let text = Text::new(file);
        let change =
            Change::Replace(Replacement { old, new: "new\n".to_owned(), everywhere: false });
        let once = || {
            let mut text = Some(text.clone());
            let start = Instant::now();
            let result = resolve(&mut text, &change);
            let _said = result.map_err(|misfit| misfit.say("a", text.as_ref()));
            start.elapsed().as_secs_f64() * 1_000.0
        };
        let worst = (0..5).map(|_| once()).fold(0.0, f64::max);
        let met = if worst <= LIMIT { "met" } else { "**short**" };
        rows += &format!("| {name} | | | {worst:.1} | | | ≤ {LIMIT} | {met} |\n");
    }
    rows + &stacked()
}

/// Many calls that edit one long text.
fn stacked() -> String {
    let line = |n: usize| format!("    let value_{n:06} = compute({n:06}, &other, 1);\n");
    let path = PathBuf::from("a.rs");
    let edit = |n: usize| {
        let old = line(n * 7_919 % CALLS * (LINES / CALLS));
        let new = old.replace("compute", "look_it_up");
        let change = Change::Replace(Replacement { old, new, everywhere: false });
        [Edit { path: path.clone(), change }]
    };
    let calls: Vec<[Edit; 1]> = (0..CALLS).map(edit).collect();
    let (mut took, mut kept) = (Vec::new(), 0.0);
    for _ in 0..5 {
        let content: String = (0..LINES).map(line).collect();
        let resident = proc::resident(std::process::id());
        let start = Instant::now();
        let mut stack = Stack::new(Texts::from([(path.clone(), Some(Text::new(content)))]));
        for call in &calls {
            let manner = |_: &Path| Manner { at_once: false, is_binary: false };
            stack.push(&CallId(String::new()), call, |_, _, _, _| Ok(()), manner).unwrap();
        }
        let proposals = stack.proposals();
        took.push(start.elapsed().as_secs_f64() * 1_000.0);
        kept = f64::max(kept, proc::resident(std::process::id()) - resident);
        assert_eq!(proposals[0].parts.len(), CALLS);
    }
    let row = |name: &str, value: f64, limit: f64| {
        let met = if value <= limit { "met" } else { "**short**" };
        format!("| {name} | | | {value:.1} | | | ≤ {limit} | {met} |\n")
    };
    row("200 calls of one edit each on 5 MB", median(took.into_iter()), STACKED)
        + &row("200 calls of one edit each on 5 MB, MB kept", kept, KEPT)
}
