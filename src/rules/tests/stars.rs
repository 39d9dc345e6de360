//! A star in a rule stands for any word, but names none.

use super::*;

fn starred(it: &str) -> Rules {
    rules(&[WrittenRule::always(it)])
}

fn allows(rules: &Rules, command: &str) -> bool {
    judged(rules, command).verdict == Some(Verdict::Allow)
}

#[test]
fn a_rule_that_ends_in_a_star_allows_nothing_that_the_same_rule_without_the_star_does_not() {
    let lists = [
        include_str!("../../../tests/data/permissions/asks.txt"),
        include_str!("../../../tests/data/permissions/runs.txt"),
        include_str!("../../../tests/data/permissions/denied.txt"),
        include_str!("../../../tests/data/permissions/safe_asks.txt"),
    ];
    let plain = rules(&generous());
    let all = GENEROUS.split_whitespace().map(|it| WrittenRule::always(&format!("{it} *")));
    let starred = rules(&all.collect::<Vec<_>>());
    let mut runs = 0;
    for line in lists.iter().flat_map(|it| lines(it)) {
        runs += usize::from(allows(&starred, &line));
        assert!(!allows(&starred, &line) || allows(&plain, &line), "{line}");
    }
    assert!(runs > 50, "{runs}");
}

#[test]
fn a_star_names_no_option_no_program_and_no_file() {
    for (rule, commands) in [
        (
            "git *",
            "git -c alias.x='!touch p' x|git -c core.fsmonitor=x status|git --exec-path=. foo|git push|git push origin main\
             |git -c trailer.x.command=x interpret-trailers|git send-email|git credential fill|git config -e",
        ),
        ("find *", r"find -exec touch x \;|find -delete|find . -delete|find -fprint o"),
        ("make *", "make --eval=x|make x --eval=y|make --file=.env"),
        ("rg *", "rg --pre=./x hi"),
        ("sed *", "sed '1e touch p' f|sed -i s/a/b/ f"),
        (
            "npm *",
            "npm --call 'touch p' exec|npm x y|npm publish|npm --script-shell=./x test|npm test --init-module=x",
        ),
        ("docker *", "docker exec a b|docker login|docker push a|docker compose exec a b"),
        ("tar *", "tar -I ./x -cf y .|tar cIf ./x y"),
        ("cat *", "cat .env|cat /etc/passwd|cat ~/x|cat a .env"),
        ("head *", "head .env|head -n 3 .env|head -f.env"),
        ("python3 *", "python3 .env|python3 x.py|python3 -c x"),
        ("git log *", "git log --output=x|git log -p /etc/passwd"),
        ("git * --stat", "git push --stat|git --exec-path=. --stat"),
        ("npm run *", "npm run --script-shell=./x test"),
    ] {
        for it in commands.split('|') {
            assert!(!allows(&starred(rule), it), "{rule}: {it}");
        }
    }
    for (rule, commands) in [
        ("git *", "git status|git log --oneline -5|git commit -m 'a b'|git --no-pager diff"),
        ("cat *", "cat a.txt|cat a b"),
        ("find *", "find . -name x"),
        ("make *", "make test|make -j4 test"),
        ("npm run *", "npm run lint|npm run lint -- --quiet"),
        ("npm * publish", "npm --workspace publish"),
        ("docker * exec", "docker --debug exec a b"),
        ("git * push", "git --no-pager push origin"),
        ("* --version", "ls --version|cargo --version"),
    ] {
        for it in commands.split('|') {
            assert!(allows(&starred(rule), it), "{rule}: {it} {:?}", judged(&starred(rule), it));
        }
    }
}

#[test]
fn options_by_which_tests_and_tools_run_a_program_need_consent() {
    for it in [
        "helm template --post-renderer ./x",
        "nm --plugin=./x.so y",
        "bazel test --workspace_status_command=./x",
        "ctest -S x",
        "ctest --build-and-test a b",
        "jest --globalSetup ./x",
        "jest --config=x",
        "rspec -r ./x",
        "terraform plan -out=x",
        "terraform plan -out x",
    ] {
        let name = it.split(' ').next().unwrap_or_default();
        assert!(!allows(&starred(name), it), "{it}");
        assert!(allows(&starred(name), &format!("{name} x")), "{name}");
    }
}
