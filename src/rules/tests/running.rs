//! A law over the table of programs that run others: whatever a line of the table says that a program runs is denied if
//! a rule denies it, and the program's other options change nothing about that.

use super::*;
use proptest::sample::Index;
use std::sync::LazyLock;

/// A line of the table: the words of its key, its marks and its options.
type Line = (Vec<&'static str>, Vec<&'static str>, Vec<&'static str>);

fn table() -> Vec<Line> {
    let lines = include_str!("../../bash/options.txt").lines();
    let rows = lines
        .filter(|it| !it.starts_with('#') && !it.contains(" verbs:") && !it.contains(" names:"));
    let split = |it: &'static str| it.split_whitespace().collect::<Vec<_>>();
    rows.filter_map(|it| it.split_once(':'))
        .map(|(head, options)| {
            let (key, marks) = head.trim_end_matches(']').split_once(" [").unwrap_or((head, ""));
            (split(key), split(marks), split(options))
        })
        .collect()
}

/// The mark of a line that says what the program runs of its operands, and the number of operands before that.
fn mark(marks: &[&str]) -> Option<(&'static str, usize)> {
    marks.iter().find_map(|it| {
        let (word, from) = it.split_once('-').unwrap_or((it, "0"));
        let kinds = ["words", "line", "one", "each", "dashed"];
        Some((*kinds.iter().find(|it| **it == word)?, from.parse().ok()?))
    })
}

/// An option in one of its spellings, with a value if it takes one. Options that run something are left out.
fn spelled(option: &str, is_long_kind: bool, pick: Index) -> Option<Vec<String>> {
    let (names, takes_value) = option.strip_suffix(':').map_or((option, false), |it| (it, true));
    let is_special =
        names.ends_with(['!', '?', '*', '~', ',', '^', '%']) || names.contains(['+', '@', '>']);
    let name = pick.get(&names.split('=').collect::<Vec<_>>()).to_owned();
    let dashes = if name.len() == 1 || is_long_kind { "-" } else { "--" };
    let value = takes_value.then(|| "v".to_owned());
    (!is_special).then(|| [format!("{dashes}{name}")].into_iter().chain(value).collect())
}

fn quoted(words: &[String]) -> String {
    words.iter().map(|it| format!("'{it}'")).collect::<Vec<_>>().join(" ")
}

/// A rule that denies `rm`, read once.
static RULES: LazyLock<Rules> = LazyLock::new(|| rules(&[deny("rm")]));

fn is_denied(line: &str) -> Result<(), TestCaseError> {
    let judged = judged(&RULES, line);
    prop_assert_eq!(judged.verdict, Some(Verdict::Deny), "{}: {:?}", line, judged);
    Ok(())
}

#[test]
fn each_program_has_one_line() {
    let mut seen = std::collections::BTreeSet::new();
    for (key, ..) in table() {
        assert!(seen.insert(key.clone()), "{key:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn what_a_program_runs_of_its_words_is_denied_behind_any_of_its_options(
        row in any::<Index>(),
        picks in prop::collection::vec((any::<Index>(), any::<Index>()), 0..4),
    ) {
        let table = table();
        let rows: Vec<&Line> = table.iter().filter(|it| mark(&it.1).is_some()).collect();
        let (key, marks, options) = row.get(&rows);
        let (kind, from) = mark(marks).unwrap();
        let mut words: Vec<String> = key.iter().map(|it| (*it).to_owned()).collect();
        for (option, name) in &picks {
            if !options.is_empty() {
                let option = option.get::<&str>(options);
                words.extend(spelled(option, marks.contains(&"long"), *name).unwrap_or_default());
            }
        }
        words.extend((0..from).map(|at| format!("operand{at}")));
        let end = match kind {
            "words" => "rm x",
            "dashed" => "-- rm x",
            _ => "'rm x'",
        };
        is_denied(&format!("{} {end}", quoted(&words)))?;
    }

    #[test]
    fn what_an_option_of_a_program_runs_is_denied_in_each_spelling(
        row in any::<Index>(), option in any::<Index>(), name in any::<Index>(), is_glued in any::<bool>(),
    ) {
        let runs = |it: &&&'static str| it.trim_end_matches(':').ends_with(['!', '*', ',']);
        let table = table();
        let rows: Vec<&Line> = table.iter().filter(|it| it.2.iter().any(|it| runs(&it))).collect();
        let (key, marks, options) = row.get(&rows);
        let found: Vec<&&str> = options.iter().filter(runs).collect();
        let text = option.get(&found).trim_end_matches(':');
        let names: Vec<&str> = text.trim_end_matches(['!', '*', ',']).split('=').collect();
        let name = name.get(&names);
        let is_long = name.len() > 1 && !marks.contains(&"long");
        let dashes = if is_long && *name != "TT" { "--" } else { "-" };
        let command = match (text.ends_with('*'), is_glued && name.len() > 1 && *name != "TT") {
            (true, _) => format!("{dashes}{name} rm x ';'"),
            (false, _) if text.ends_with(',') => format!("{dashes}{name} rm,x"),
            (false, true) => format!("'{dashes}{name}=rm x'"),
            (false, false) => format!("{dashes}{name} 'rm x'"),
        };
        is_denied(&format!("{} {command}", key.join(" ")))?;
    }
}
