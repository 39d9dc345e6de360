use super::*;
use crate::bash::Script;
use proptest::prelude::*;
use std::collections::BTreeSet;

/// How surely each command is one that the rule names.
fn fits(rule: &str, fit_wanted: Fit, commands: &[&str]) {
    let wanted: Vec<String> = rule.split(' ').map(str::to_owned).collect();
    for command in commands {
        let script = Script::parse(command);
        let all = script.commands.iter().map(|it| fit(&wanted, &it.words));
        let found = all.max().unwrap_or(Fit::No);
        assert_eq!(found, fit_wanted, "{rule}: {command}: {script:?}");
    }
}

#[test]
fn a_rule_about_options_is_about_each_spelling_of_them() {
    let spellings = [
        "rm -rf x",
        "rm -fr x",
        "rm -r -f x",
        "rm -Rf x",
        "rm -rfv x",
        "rm -vrf x",
        "rm x -rf",
        "rm --recursive --force x",
        "rm --rec --forc x",
        "rm -r x --force",
        "/bin/rm -f -i -R x",
        "sudo rm -fR x",
        "find . -exec rm -f -r {} +",
        "xargs rm -f -r",
        "rm -r\"f\" x",
        "bash -c 'rm -f -R x'",
        "python3 -c 'run([\"rm\", \"-r\", \"-f\"])'",
    ];
    let (python, rest) = spellings.split_last().unwrap();
    assert!(python.contains("rm"));
    fits("rm -rf", Fit::Sure, rest);
    fits("rm -r -f", Fit::Sure, rest);
    fits("rm --force --recursive", Fit::Sure, rest);
    fits(
        "rm -rf",
        Fit::No,
        &["rm x", "rm -f x", "rm -r x", "rm -- -rf", "rm -iv x", "ls -rf x", "rmdir -rf x"],
    );
    let forced = [
        "git push --force",
        "git push -f",
        "git push origin main --force",
        "git push -fu origin main",
        "git push origin +main",
        "git push -uf",
        "git -C x push origin -f",
        "git push --forc=x",
        "git push -q origin HEAD:main -f",
    ];
    fits("git push --force", Fit::Sure, &forced);
    fits("git push -f", Fit::Sure, &forced);
    fits(
        "git push --force",
        Fit::No,
        &[
            "git push",
            "git push origin main",
            "git push -u origin main",
            "git push -o -f origin",
            "git push --force-with-lease",
            "git log --grep push -f",
            "git push --push-option=-f",
            "git push -of",
        ],
    );
    fits(
        "git reset --hard",
        Fit::Sure,
        &[
            "git reset --hard",
            "git reset HEAD --hard",
            "git reset --har",
            "git reset -q HEAD~1 --hard",
            "git -c a=b reset x --ha",
        ],
    );
    fits(
        "git reset --hard",
        Fit::No,
        &["git reset", "git reset --soft HEAD", "git reset -- --hard", "git add reset --hard"],
    );
    fits(
        "git push --delete",
        Fit::Sure,
        &["git push origin :main", "git push -d origin x", "git push origin x --del"],
    );
    fits(
        "git clean -fd",
        Fit::Sure,
        &["git clean -d -f", "git clean -xdf", "git clean --force -d", "git clean x -d --forc"],
    );
    fits("git clean -fd", Fit::No, &["git clean -n", "git clean -nd", "git clean -f"]);
    fits("git branch -D", Fit::No, &["git branch -d x", "git branch --delete x"]);
    fits(
        "git commit --no-verify",
        Fit::Sure,
        &["git commit -nm x", "git commit -anm x", "git commit -m x -n", "git commit --no-ver"],
    );
    fits(
        "git commit --no-verify",
        Fit::No,
        &["git commit -mn", "git commit -m -n", "git commit -am no"],
    );
}

#[test]
fn operands_count_in_any_place_and_subcommands_by_any_name() {
    fits(
        "git push origin main",
        Fit::Sure,
        &[
            "git push -f origin main",
            "git push origin dev main",
            "git push origin HEAD:main",
            "git push origin +x:refs/heads/main",
            "git push -o a origin main",
        ],
    );
    fits("git push origin main", Fit::No, &["git push origin dev", "git push origin main:dev"]);
    fits("rm -rf /", Fit::Sure, &["rm -r -f /", "rm a b -rf /", "rm -rf //", "rm / -rf"]);
    fits("rm -r build", Fit::Sure, &["rm -R ./build", "rm -rf a build/", "rm build -r"]);
    fits("rm -r build", Fit::No, &["rm build", "rm -r src", "rm -r a/build"]);
    fits("dd of=/dev/sda", Fit::Sure, &["dd if=x of=/dev/sda", "dd of=/dev/sda bs=1M if=x"]);
    fits("dd of=/dev/sda", Fit::No, &["dd if=/dev/sda of=x", "dd of=/dev/sdb"]);
    fits(
        "npm install -g",
        Fit::Sure,
        &["npm i -g x", "npm add x --global", "npm in x -g", "npm -g install x"],
    );
    fits("cargo run", Fit::Sure, &["cargo r", "cargo -q run"]);
    fits(
        "tar -x",
        Fit::Sure,
        &["tar xf a", "tar -xf a", "tar --extract -f a", "tar -f a --get", "tar fx a"],
    );
    fits("tar -x", Fit::No, &["tar cf x.tar a", "tar -f x -t"]);
    fits("find -delete", Fit::Sure, &["find . -delete", "find a -name b -delete"]);
    fits("find -delete", Fit::No, &["find . -name -delete", "find . -type d -empty -ls"]);
    fits(
        "terraform apply -auto-approve",
        Fit::Sure,
        &["terraform apply --auto-approve", "terraform -chdir=a apply x -auto-approve"],
    );
    fits(
        "docker run --privileged",
        Fit::Sure,
        &["docker run -it --privileged x", "docker run --rm -v a:b --privileged=true x"],
    );
    fits(
        "docker run -v",
        Fit::Sure,
        &["docker run -itv a:b x", "docker run --volume a:b x", "docker run --volume=a:b x"],
    );
    fits(
        "curl -X POST",
        Fit::Sure,
        &["curl -XPOST a", "curl --request POST a", "curl a -sX POST", "curl --request=POST a"],
    );
    fits("curl -X POST", Fit::No, &["curl -X GET a", "curl a"]);
    fits("kill -9", Fit::Sure, &["kill -9 1", "kill -KILL 1", "kill -SIGKILL 1"]);
    fits("own -x", Fit::Sure, &["own -x", "own a -yx", "own -x=1"]);
    fits("own --force", Fit::Sure, &["own a --force", "own --force=1", "own --for"]);
    fits("own -delete", Fit::Sure, &["own a -delete"]);
    fits("own -delete", Fit::No, &["own -d -e -l -t"]);
}

#[test]
fn words_that_are_known_only_when_the_command_runs_may_be_what_a_rule_names() {
    fits(
        "rm -rf",
        Fit::Perhaps,
        &[
            "rm $x",
            "rm \"$x\" y",
            "rm -r $x",
            "rm \"${a[@]}\"",
            "rm *",
            "rm a$x",
            "xargs rm",
            "rm -f $(x)",
        ],
    );
    fits("rm -rf", Fit::No, &["rm src/*.o", "rm \"a$x\"", "rm \"./$x\""]);
    fits("rm -rf", Fit::Sure, &["rm -rf \"$x\"", "rm -r \"$x\" -f"]);
    fits(
        "git reset --hard",
        Fit::Perhaps,
        &["printf 'reset --hard' | xargs git", "git reset $x", "git $x"],
    );
    fits("git push", Fit::Sure, &["git $x", "git push $x"]);
    fits("curl -X POST", Fit::Perhaps, &["curl -X $m a", "curl --request \"$m\" a"]);
    fits("rm -r build", Fit::Perhaps, &["rm -r \"$dir\"", "rm -r bui*"]);
}

/// The lines of the table about usual programs: the words of the key and the groups of names.
fn table() -> Vec<(Vec<&'static str>, Vec<Vec<&'static str>>)> {
    let lines = include_str!("options.txt").lines().filter(|it| !it.starts_with('#'));
    let rows = lines.filter_map(|it| it.split_once(':'));
    let usual = rows.filter(|(key, _)| !key.contains(['[']) && !key.ends_with(" verbs"));
    let groups =
        |it: &'static str| it.split_whitespace().map(|it| it.split('=').collect()).collect();
    usual.map(|(key, options)| (key.split(' ').collect(), groups(options))).collect()
}

/// The spellings of an option: each name, and the beginnings of long names that no other option has.
fn spellings(group: &[&str], longs: &BTreeSet<&str>) -> Vec<String> {
    let mut all = Vec::new();
    for name in group {
        match name.len() {
            1 => all.push(format!("-{name}")),
            _ => {
                let begins = (1..=name.len()).map(|it| &name[..it]);
                let is_clear = |it: &&str| {
                    longs
                        .iter()
                        .filter(|long| long.starts_with(it))
                        .all(|long| group.contains(long))
                        || it == name
                };
                all.extend(begins.filter(is_clear).map(|it| format!("--{it}")));
            }
        }
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
            let is_plain = |it: &&Vec<&str>| !it.iter().any(|it| it.ends_with(':') || matches!(*it, "+" | "@"));
            groups.iter().filter(is_plain).cloned().collect()
        };
        let rich: Vec<_> = table.iter().filter(|it| flags(&it.1).len() >= 3).collect();
        let (key, groups) = row.get(&rich);
        let flags = flags(groups);
        let first = picks[0].index(flags.len());
        let second = (first + 1 + picks[1].index(flags.len() - 1)) % flags.len();
        let third = (0..flags.len()).find(|it| ![first, second].contains(it)).unwrap();
        let program_row = include_str!("options.txt").lines()
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
        let mut parts = vec![spelled(first, 4), spelled(second, 5), spelled(third, 6), "x".into(), "y".into()];
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
