use super::*;
use crate::bash::Script;
use proptest::prelude::*;
use std::collections::BTreeSet;

#[test]
fn a_command_fits_a_rule_by_what_its_options_mean() {
    let list = include_str!("../../../tests/data/permissions/meant.txt");
    let mut wanted = Vec::new();
    for line in list.lines().filter(|it| !it.starts_with("## ")) {
        let (sign, command) = line.split_once(' ').unwrap();
        let expected = match sign {
            "=" => Fit::Sure,
            "?" => Fit::Perhaps,
            "-" => Fit::No,
            _ => {
                wanted = command.split(' ').map(str::to_owned).collect();
                continue;
            }
        };
        let script = Script::parse(command);
        let all = script.commands.iter().map(|it| fit(&wanted, &it.words));
        assert_eq!(all.max().unwrap_or(Fit::No), expected, "{wanted:?}: {command}: {script:?}");
    }
}

/// The lines of the table about usual programs: the words of the key and the groups of names.
fn table() -> Vec<(Vec<&'static str>, Vec<Vec<&'static str>>)> {
    let lines = include_str!("../../bash/options.txt").lines().filter(|it| !it.starts_with('#'));
    let rows = lines.filter_map(|it| it.split_once(':'));
    let usual = rows.filter(|(key, _)| {
        !key.contains(['[']) && !key.ends_with(" verbs") && !key.ends_with(" names")
    });
    let groups =
        |it: &'static str| it.split_whitespace().map(|it| it.split('=').collect()).collect();
    usual.map(|(key, options)| (key.split(' ').collect(), groups(options))).collect()
}

/// The spellings of an option: each name, and the beginnings of long names that no other option has.
fn spellings(group: &[&str], longs: &BTreeSet<&str>) -> Vec<String> {
    let mut all = Vec::new();
    for name in group {
        if name.len() == 1 {
            all.push(format!("-{name}"));
            continue;
        }
        let others = || longs.iter().filter(|it| !group.contains(it));
        let begins = (1..=name.len()).map(|it| &name[..it]);
        let clear = begins.filter(|it| it == name || !others().any(|long| long.starts_with(it)));
        all.extend(clear.map(|it| format!("--{it}")));
    }
    all
}

proptest! {
    /// Two options of a program of the table, in any spelling, order and place, are what a rule about them names. One
    /// of them alone is not.
    #[test]
    fn a_permuted_command_is_judged_like_the_rules_words(
        row in any::<prop::sample::Index>(),
        picks in prop::collection::vec(any::<prop::sample::Index>(), 8),
        order in Just(vec![0_usize, 1, 2, 3, 4]).prop_shuffle(),
        is_bundled in any::<bool>(),
    ) {
        let table = table();
        let flags = |groups: &[Vec<&'static str>]| -> Vec<Vec<&'static str>> {
            let is_plain = |it: &&Vec<&str>| !it.iter().any(|it| it.ends_with([':', '!', '?', '*']) || it.contains('>') || matches!(*it, "+" | "@"));
            groups.iter().filter(is_plain).cloned().collect()
        };
        let rich: Vec<_> = table.iter().filter(|it| flags(&it.1).len() >= 3).collect();
        let (key, groups) = row.get(&rich);
        let flags = flags(groups);
        let first = picks[0].index(flags.len());
        let second = (first + 1 + picks[1].index(flags.len() - 1)) % flags.len();
        let third = (0..flags.len()).find(|it| ![first, second].contains(it)).unwrap();
        let program_row = include_str!("../../bash/options.txt").lines()
            .find(|it| it.split([':', ' ']).next() == Some(key[0]) && it.contains('['));
        let longs = groups.iter().flatten().map(|it| it.trim_end_matches(':'))
            .chain(program_row.into_iter().flat_map(|it| it.split([' ', '=']).map(|it| it.trim_end_matches(':'))))
            .filter(|it| it.len() > 1).collect();
        let spelled = |group: usize, pick: usize| {
            let all = spellings(&flags[group], &longs);
            picks[pick].get(&all).clone()
        };
        let wanted: Vec<String> = key.iter().map(|it| (*it).to_owned())
            .chain([spelled(first, 2), spelled(second, 3)]).collect();
        let mut parts: [String; 5] = [spelled(first, 4), spelled(second, 5), spelled(third, 6), "x".into(), "y".into()];
        let is_short = |it: &String| it.len() == 2 && it.starts_with('-');
        if is_bundled && parts[..3].iter().all(is_short) {
            parts[0] = format!("-{}{}{}", &parts[2][1..], &parts[0][1..], &parts[1][1..]);
            parts[1] = "z".into();
        }
        let command = |without: Option<usize>| -> Vec<Word> {
            let kept = order.iter().filter(|it| Some(**it) != without).map(|it| parts[*it].clone());
            key.iter().map(|it| (*it).to_owned()).chain(kept).map(Word::Fixed).collect()
        };
        prop_assert_eq!(fit(&wanted, &command(None)), Fit::Sure, "{:?} {:?}", wanted, command(None));
        if !parts[0][1..].contains(parts[1].trim_start_matches('-')) && parts[1].starts_with('-') {
            prop_assert_eq!(fit(&wanted, &command(Some(1))), Fit::No, "{:?} {:?}", wanted, command(Some(1)));
        }
    }
}
