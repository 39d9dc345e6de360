//! The main table: medians over the rounds, ratios to the floors, and limits.

use super::Subject;
use super::single::{RoundTrip, Start};
use super::stream::{Measured, Scenario, ranked};

#[derive(Default)]
pub(crate) struct Report {
    pub(crate) streams: Vec<(Subject, Scenario, Measured)>,
    pub(crate) round_trips: Vec<(Subject, RoundTrip)>,
    pub(crate) tools: Vec<[f64; 3]>,
    pub(crate) stops: Vec<[f64; 3]>,
    pub(crate) questions: Vec<[[f64; 3]; 2]>,
    pub(crate) starts: Vec<Start>,
}

/// The limit for a measured value of Caliban.
pub(crate) enum Target {
    None,
    /// An absolute limit.
    Most(f64),
    /// At most the first number times the value of the floor *marked*, and at most the second number.
    Ratio(f64, f64),
}

/// One line of the stream table.
struct Line {
    name: &'static str,
    unit: &'static str,
    of: Of,
    target: Target,
}

enum Of {
    /// The median over the rounds of each round's p50, p99 or maximum, so that a disturbance in one round does not
    /// decide.
    Rank(fn(&Measured) -> &[f64], usize),
    /// The median over the rounds.
    Median(fn(&Measured) -> f64),
}

const SMOOTH: Target = Target::Ratio(1.5, 16.0);
/// This limit is higher than the others because Caliban also draws Markdown, which the floors do not draw.
const CHEAP: Target = Target::Ratio(1.6, f64::MAX);

const fn line(name: &'static str, unit: &'static str, of: Of, target: Target) -> Line {
    Line { name, unit, of, target }
}

const LINES: [Line; 16] = [
    line("timer p50", "ms", Of::Rank(|it| &it.timer, 0), Target::None),
    line("timer p99", "ms", Of::Rank(|it| &it.timer, 1), SMOOTH),
    line("timer max", "ms", Of::Rank(|it| &it.timer, 2), Target::None),
    line("queue p50", "ms", Of::Rank(|it| &it.queue, 0), Target::None),
    line("queue p99", "ms", Of::Rank(|it| &it.queue, 1), SMOOTH),
    line("queue max", "ms", Of::Rank(|it| &it.queue, 2), Target::None),
    line("key p50", "ms", Of::Rank(|it| &it.key, 0), Target::None),
    line("key p99", "ms", Of::Rank(|it| &it.key, 1), SMOOTH),
    line("key max", "ms", Of::Rank(|it| &it.key, 2), Target::None),
    line("editor CPU", "ms", Of::Median(|it| it.editor_cpu), CHEAP),
    line("program CPU", "ms", Of::Median(|it| it.program_cpu), Target::None),
    line("both CPU", "ms", Of::Median(|it| it.editor_cpu + it.program_cpu), CHEAP),
    line("request, program CPU", "ms", Of::Median(|it| it.request_cpu), Target::None),
    line("editor memory", "MB", Of::Median(|it| it.editor_memory), Target::None),
    line("program memory", "MB", Of::Median(|it| it.program_memory), Target::None),
    line("both memory", "MB", Of::Median(|it| it.editor_memory + it.program_memory), Target::None),
];

/// The limit for values that must not grow with the chat: the value in the longest chat divided by the value in the
/// empty chat.
const FLAT: f64 = 1.2;

impl Report {
    pub(crate) fn table(self, scenarios: &[Scenario]) -> String {
        let mut table = String::from(
            "| | plain | marked | Caliban | × plain | × marked | figure | |\n|---|--:|--:|--:|--:|--:|---|---|\n",
        );
        for scenario in scenarios {
            if self.streams.iter().any(|it| it.1 == *scenario) {
                table += &self.stream(*scenario);
            }
        }
        table += &self.flat(scenarios);
        if !self.round_trips.is_empty() {
            table += &self.singles();
        }
        table
    }

    fn all(&self, subject: Subject, scenario: Scenario) -> impl Iterator<Item = &Measured> {
        let of = move |it: &&(Subject, Scenario, Measured)| it.0 == subject && it.1 == scenario;
        self.streams.iter().filter(of).map(|it| &it.2)
    }

    fn value(&self, line: &Line, subject: Subject, scenario: Scenario) -> f64 {
        let rounds = self.all(subject, scenario);
        match line.of {
            Of::Median(of) => median(rounds.map(of)),
            Of::Rank(of, rank) => median(rounds.map(|it| ranked(of(it).to_vec())[rank])),
        }
    }

    fn stream(&self, scenario: Scenario) -> String {
        let mut rows = format!("| **{}** | | | | | | | |\n", title(scenario));
        for line in &LINES {
            let of = |subject| self.value(line, subject, scenario);
            let name = format!("{}, {}", line.name, line.unit);
            rows += &row(&name, Subject::ALL.map(|it| Some(of(it))), &line.target);
        }
        rows
    }

    /// The rows that compare the longest chat with the empty one.
    fn flat(&self, scenarios: &[Scenario]) -> String {
        let (Some(long), Some(short)) =
            (scenarios.last(), scenarios.iter().rev().find(|it| it.before == 0))
        else {
            return String::new();
        };
        if [*long, *short].iter().any(|it| self.all(Subject::Caliban, *it).next().is_none()) {
            return String::new();
        }
        let mut rows = format!("| **{}, times the empty chat** | | | | | | | |\n", title(*long));
        for line in LINES.iter().filter(|it| matches!(it.target, Target::Ratio(..))) {
            let of = |subject, scenario| self.value(line, subject, scenario);
            let times = |subject| of(subject, *long) / of(subject, *short);
            rows += &row(line.name, Subject::ALL.map(|it| Some(times(it))), &Target::Most(FLAT));
        }
        rows
    }

    fn singles(&self) -> String {
        let way = |name: &str, of: fn(&RoundTrip) -> f64, target: Target| {
            let all = |subject| self.round_trips.iter().filter(move |it| it.0 == subject);
            row(name, Subject::ALL.map(|it| Some(median(all(it).map(|it| of(&it.1))))), &target)
        };
        let own = |name: &str, value: f64, target| row(name, [None, None, Some(value)], &target);
        let start = |of: fn(&Start) -> f64| median(self.starts.iter().map(of));
        let longest =
            self.streams.iter().filter(|it| it.0 == Subject::Caliban && it.1.tokens == 50_000);
        [
            "| **once** | | | | | | | |\n".to_owned(),
            way("submit to request, p50, ms", |it| it.request[0], Target::Most(10.0)),
            way("submit to request, max, ms", |it| it.request[2], Target::None),
            way("first byte to screen, p50, ms", |it| it.first[0], Target::Most(5.0)),
            way("first byte to screen, max, ms", |it| it.first[2], Target::None),
            way("last byte to screen, p50, ms", |it| it.last[0], Target::Most(40.0)),
            way("last byte to screen, max, ms", |it| it.last[2], Target::Most(40.0)),
            own(
                "`read` call to next request, p50, ms",
                median(self.tools.iter().map(|it| it[0])),
                Target::Most(5.0),
            ),
            own(
                "stop to the connection's end, max, ms",
                median(self.stops.iter().map(|it| it[2])),
                Target::Most(100.0),
            ),
            own(
                "question about 96 kB, the editor held up, max, ms",
                median(self.questions.iter().map(|it| it[1][2])),
                Target::Most(16.0),
            ),
            own(
                "question about 96 kB, last byte to screen, p50, ms",
                median(self.questions.iter().map(|it| it[0][0])),
                Target::None,
            ),
            own("`plugin/caliban.lua`, ms", start(|it| it.source), Target::Most(0.5)),
            own(
                "start of the program to `welcome`, ms",
                start(|it| it.welcome),
                Target::Most(30.0),
            ),
            own("first open of the chat, ms", start(|it| it.open), Target::Most(10.0)),
            own("program's memory, idle, MB", start(|it| it.idle), Target::Most(15.0)),
            own(
                "program's memory after 50,000 tokens, MB",
                median(longest.map(|it| it.2.program_memory)),
                Target::Most(30.0),
            ),
        ]
        .concat()
    }
}

fn title(it: Scenario) -> String {
    let rate = if it.rate == 0 { "as fast as they go".into() } else { format!("at {}/s", it.rate) };
    let before = if it.before < 1_000_000 {
        format!("{} kB", it.before / 1000)
    } else {
        format!("{} MB", it.before / 1_000_000)
    };
    format!("{} tokens {rate}, after {before}", it.tokens)
}

pub(crate) fn row(name: &str, values: [Option<f64>; 3], target: &Target) -> String {
    let [plain, marked, own] = values;
    let shown = |it: Option<f64>| {
        it.map_or(
            String::new(),
            |it| if it < 100.0 { format!("{it:.2}") } else { format!("{it:.0}") },
        )
    };
    let times = |floor: Option<f64>| floor.zip(own).map(|(floor, own)| own / floor);
    let (figure, met) = match target {
        Target::None => (String::new(), None),
        Target::Most(most) => (format!("≤ {most}"), Some(own.unwrap() <= *most)),
        Target::Ratio(ratio, most) => {
            let cap = if *most < f64::MAX { format!(", ≤ {most}") } else { String::new() };
            let met = times(marked).unwrap() <= *ratio && own.unwrap() <= *most;
            (format!("≤ {ratio} × marked{cap}"), Some(met))
        }
    };
    let verdict = met.map_or("", |met| if met { "met" } else { "**short**" });
    format!(
        "| {name} | {} | {} | {} | {} | {} | {figure} | {verdict} |\n",
        shown(plain),
        shown(marked),
        shown(own),
        shown(times(plain)),
        shown(times(marked)),
    )
}

pub(crate) fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
