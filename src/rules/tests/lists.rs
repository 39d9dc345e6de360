//! Lists of command lines: those of which words are those of a denied command, those that may hide one, and those that
//! rules of one word are about.

use super::*;

/// Commands in which words of denied commands stand.
#[test]
fn words_of_a_denied_command_in_a_text_are_judged_by_whether_the_text_runs() {
    let denied = ["git push", "rm", "sudo", "npm publish", "git reset --hard"];
    let rules = rules(&denied.map(deny));
    let list = include_str!("../../../tests/data/permissions/texts.txt");
    let is_wrong = |line: &String| {
        let (sign, command) = line.split_once(' ').unwrap();
        let wanted = match sign {
            "-" => None,
            "?" => Some(Verdict::Ask),
            it => panic!("{it}"),
        };
        judged(&rules, command).verdict != wanted
    };
    let wrong: Vec<String> = lines(list).into_iter().filter(is_wrong).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Rules that name only a program.
#[test]
fn a_rule_of_one_word_allows_neither_to_publish_nor_to_log_in_nor_to_run_another_program() {
    let list = include_str!("../../../tests/data/permissions/one_word.txt");
    let mut programs: Vec<&str> = list.lines().filter_map(|it| it.split(' ').nth(1)).collect();
    programs.retain(|it| it.bytes().all(|it| it.is_ascii_lowercase()));
    programs.sort_unstable();
    programs.dedup();
    let all: Vec<WrittenRule> = programs.into_iter().map(WrittenRule::always).collect();
    let rules = rules(&all);
    let is_wrong = |line: &String| {
        let (sign, command) = line.split_once(' ').unwrap();
        (judged(&rules, command).verdict == Some(Verdict::Allow)) != (sign == "+")
    };
    let wrong: Vec<String> = lines(list).into_iter().filter(is_wrong).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_line_that_may_hide_a_denied_command_needs_consent() {
    let rules = rules(&[deny("git push")]);
    for it in lines(include_str!("../../../tests/data/permissions/hides.txt")) {
        let judged = judged(&rules, &it);
        assert!(judged.verdict >= Some(Verdict::Ask), "{it}: {judged:?}");
    }
    let unsaid = judged(&self::rules(&[deny("rm")]), "git --config-env=core.pager=X log");
    assert!(unsaid.verdict >= Some(Verdict::Ask), "{unsaid:?}");
    for deep in ["$(", "(", "{ ", "\"$(", "bash -c '"] {
        let line = deep.repeat(1_000) + "git push";
        assert!(judged(&rules, &line).verdict >= Some(Verdict::Ask), "{deep}");
    }
    assert!(judged(&rules, &format!("git{}push", " ".repeat(5_000))).verdict >= Some(Verdict::Ask));
    assert!(judged(&rules, "git\0 push").verdict >= Some(Verdict::Ask));
    assert!(
        judged(&rules, &format!("xargs {} git push", "-n 1 ".repeat(60))).verdict
            >= Some(Verdict::Ask)
    );
}

#[test]
fn the_tools_of_a_slash_command_limit_the_model_to_programs_and_not_to_some_of_what_they_do() {
    let rules = rules(&[]);
    let allows = |limit: &str, line: &str| rules.with_only([limit].into_iter()).allows(line);
    assert!(allows("docker", "docker run x ls") && allows("git", "git push"));
    assert!(!allows("git", "git -c core.pager=./x log") && !allows("git push", "git pull"));
}

/// The last word of a program of which nothing is known may be a whole command, if its program does something without
/// arguments. What only tells something about a program runs nothing.
#[test]
fn the_last_word_of_an_unknown_program_is_a_command_if_it_could_be_one() {
    for (denied, line, wanted) in [
        ("reboot", "zzz reboot", Some(Verdict::Ask)),
        ("make", "./zzz -x make", Some(Verdict::Ask)),
        ("yarn", "zzz a yarn", Some(Verdict::Ask)),
        ("rm", "zzz rm", None),
        ("rm", "zzz rm x", Some(Verdict::Ask)),
        ("reboot", "man reboot", None),
        ("reboot", "which reboot", None),
        ("reboot", "command -v reboot", None),
        ("make", "apt-cache show make", None),
        ("make", "tldr make", None),
    ] {
        assert_eq!(judged(&rules(&[deny(denied)]), line).verdict, wanted, "{denied}: {line}");
    }
}
