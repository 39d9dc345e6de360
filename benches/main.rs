//! `make bench`: compares Caliban with two floors, prints Markdown tables and writes them to `doc/benchmarks`. `BENCH`
//! chooses a part: `complete` (completion), `decode` (the decoders), `edits` (the matching of edits), `reach` (the
//! checks of paths), `request` (a request of a long conversation), `rope` (a rope compared with a `String`), `review`
//! (reviews), `way` (large texts and many hunks from end to end), `sessions` (large sessions), `flood` (replies of
//! thousands of calls), `workers` (the workers of a coordinator), `run` (the start of `caliban run`), `search`
//! (grep and glob beside `rg` and `fd`). `BENCH=quick` makes a short run, and `BENCH_ONLY=0,6,once` measures single rows; both only
//! print. The floors are two minimal chats: *plain* appends the text as it comes, *marked* also highlights each
//! finished line once.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a bench that fails shall end there")]
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "the table is what it is for")]
#![expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "counts are far from where it matters"
)]

mod complete;
mod decode;
mod edits;
mod editor;
mod flood;
mod floor;
mod mentions;
mod proc;
mod reach;
mod record;
mod report;
mod request;
mod review;
mod rope;
mod run;
mod search;
mod server;
mod sessions;
mod single;
mod stream;
mod text;
mod way;
mod workers;

use report::Report;
use stream::Scenario;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Subject {
    Plain,
    Marked,
    Caliban,
}

impl Subject {
    const ALL: [Subject; 3] = [Subject::Plain, Subject::Marked, Subject::Caliban];

    fn name(self) -> &'static str {
        match self {
            Subject::Plain => "plain",
            Subject::Marked => "marked",
            Subject::Caliban => "caliban",
        }
    }
}

/// The last four scenarios differ only in the length of the chat.
const SCENARIOS: [Scenario; 7] = [
    Scenario { tokens: 2_000, rate: 200, before: 0, times: 1 },
    Scenario { tokens: 10_000, rate: 1_000, before: 0, times: 1 },
    Scenario { tokens: 50_000, rate: 0, before: 0, times: 1 },
    Scenario { tokens: 2_000, rate: 1_000, before: 0, times: 3 },
    Scenario { tokens: 2_000, rate: 1_000, before: 100_000, times: 3 },
    Scenario { tokens: 2_000, rate: 1_000, before: 500_000, times: 3 },
    Scenario { tokens: 2_000, rate: 1_000, before: 5_000_000, times: 3 },
];

/// A part of the bench that can be run alone, by its name in `BENCH`.
struct Part {
    name: &'static str,
    table: fn() -> String,
}

impl Part {
    /// Prints the table. If `keep`, also writes the table to the part's file.
    fn run(&self, keep: bool) {
        let table = (self.table)();
        if keep {
            record::keep(self.name, &format!("BENCH={} make bench", self.name), &table);
        } else {
            println!("{table}");
        }
    }
}

const PARTS: [Part; 14] = [
    Part { name: "complete", table: complete::table },
    Part { name: "decode", table: decode::table },
    Part { name: "edits", table: edits::table },
    Part { name: "mentions", table: mentions::table },
    Part { name: "reach", table: reach::table },
    Part { name: "request", table: request::table },
    Part { name: "rope", table: rope::table },
    Part { name: "run", table: run::table },
    Part { name: "search", table: search::table },
    Part { name: "review", table: review::table },
    Part { name: "way", table: way::table },
    Part { name: "sessions", table: sessions::table },
    Part { name: "flood", table: flood::table },
    Part { name: "workers", table: workers::table },
];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.first().is_some_and(|it| it == "--floor") {
        return floor::run(&arguments[1..]);
    }
    let wanted = std::env::var("BENCH").unwrap_or_default();
    let only = std::env::var("BENCH_ONLY").ok();
    if let Some(part) = PARTS.iter().find(|it| it.name == wanted) {
        return part.run(only.is_none());
    }
    let quick = wanted == "quick";
    let named = |name: &str| only.as_ref().map(|it| it.split(',').any(|part| part == name));
    let rounds = if quick { 1 } else { 3 };
    let mut report = Report::default();
    for round in 0..rounds {
        for (n, scenario) in SCENARIOS.iter().enumerate() {
            let skipped = quick && ![1, 2, 3, 5].contains(&n);
            if !named(&n.to_string()).unwrap_or(!skipped) {
                continue;
            }
            for subject in Subject::ALL {
                eprintln!("round {}, scenario {}, {}", round + 1, n + 1, subject.name());
                report.streams.push((subject, *scenario, stream::measure(subject, *scenario)));
            }
        }
        if !named("once").unwrap_or(true) {
            continue;
        }
        for subject in Subject::ALL {
            report
                .round_trips
                .push((subject, single::round_trips(subject, if quick { 5 } else { 12 })));
        }
        report.tools.push(single::tool(30));
        report.stops.push(single::stop(20));
        report.questions.push(single::question(8));
        report.starts.extend((0..3).map(|_| single::start()));
    }
    let table = report.table(&SCENARIOS);
    if quick || only.is_some() {
        println!("{table}");
    } else {
        record::keep("stream", "make bench", &table);
    }
    if only.is_none() {
        for part in PARTS {
            part.run(!quick);
        }
    }
}
