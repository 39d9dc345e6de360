//! Tests automatic compactions for which the model writes no summary: the second failure in a row makes each turn a line.

use super::*;

/// A conversation is compacted at about 20,000 tokens, and again after about 4,000 more.
const SOON: &str = "{ compact = 0.1, trim = false }";

/// About 20 kB.
fn long() -> String {
    text().repeat(4)
}

/// The bytes of the longest request that is no question.
fn longest(server: &Server) -> usize {
    let requests = server.requests();
    requests.iter().filter(|it| !is_question(it)).map(|it| it.body.len()).max().unwrap_or(0)
}

fn questions(server: &Server) -> usize {
    server.requests().iter().filter(|it| is_question(it)).count()
}

/// In each turn the model reads a file of about 5,000 tokens. The provider counts no tokens.
fn turn(server: &Server, nvim: &Nvim, n: usize) {
    let read = json!({ "path": format!("{n}.txt") });
    server.reply(Reply::new().call(&format!("r{n}"), "read", read).usage(0, 0));
    server.reply(Reply::said(&format!("Answer {n}.")).usage(0, 0));
    nvim.ask(&format!("question {n}, please"), &format!("Answer {n}."));
}

fn setup(server: &Server) -> Setup {
    let all = (1..=12).fold(Setup::new(), |it, n| it.file(&format!("{n}.txt"), long()));
    all.config(SOON).anthropic(server)
}

#[test]
fn two_automatic_compactions_without_a_summary_make_each_turn_a_line_and_the_next_ones_too() {
    let server = Server::start();
    server.reply_to(is_question, Reply::said(" "));
    let nvim = Nvim::start(&setup(&server));
    let lines = |nvim: &Nvim| nvim.transcript().matches("Compacted without a summary").count();
    let mut asked = Vec::new();
    for n in 1..=12 {
        turn(&server, &nvim, n);
        if lines(&nvim) > asked.len() {
            asked.push(questions(&server));
            let last = server.requests().pop().unwrap();
            assert!(last.outline().contains("- the user: question 1, please"), "{n}");
            assert!(last.body.len() < longest(&server) / 2 + long().len(), "{n}");
        }
    }
    assert!(asked.len() >= 2 && asked[0] == 2 && asked[1] == 4, "{asked:?}");
    // no request is much longer than the size at which the conversation is compacted
    assert!(longest(&server) < 4 * 20_000 * 8 / 5, "{}", longest(&server));
    let failures = nvim.transcript().matches("Not compacted: the summary is empty.").count();
    assert_eq!(failures, questions(&server) - asked.len(), "{}", nvim.transcript());
}

/// The first failure is known after a restart.
#[test]
fn a_summary_that_fails_before_and_after_a_restart_makes_each_turn_a_line() {
    let server = Server::start();
    server.reply_to(is_question, Reply::said(" "));
    let setup = setup(&server);
    let mut nvim = Nvim::start(&setup);
    let mut n = 0;
    while questions(&server) == 0 {
        n += 1;
        turn(&server, &nvim, n);
    }
    assert!(!nvim.transcript().contains("Compacted without a summary"));
    nvim.quit_with(":qa!<CR>");
    nvim = Nvim::start(&setup);
    nvim.keys(":Caliban<CR>");
    nvim.wait_transcript(&format!("Answer {n}."));
    turn(&server, &nvim, n + 1);
    nvim.wait_transcript("Compacted without a summary");
    assert_eq!(questions(&server), 2);
}
