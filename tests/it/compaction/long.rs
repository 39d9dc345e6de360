//! Tests two hundred turns in a window of 8,192 tokens.

use super::*;
use crate::review::scene::write;

const TURNS: usize = 200;
/// The model writes a file in every `WRITES`th turn, and reads one in every `READS`th other turn.
const WRITES: usize = 20;
const READS: usize = 3;
/// The model's window in bytes: the fake Ollama server counts four bytes as a token.
const WINDOW: usize = 4 * 8192;

fn goal() -> String {
    summary("Count to two hundred.")
}

fn one_turn(server: &Server, nvim: &Nvim, n: usize) {
    let said = format!("Said {n}.");
    let message = format!("message {n}");
    if n.is_multiple_of(WRITES) {
        let path = format!("f{}.txt", n / WRITES);
        server.reply(Reply::new().call(&format!("w{n}"), "write", write(&path, "beta\n")));
        server.reply(Reply::said(&said));
        nvim.lua("require('caliban').ask(...)", &[message.into()]);
        nvim.wait_pending(1);
        nvim.keys(":Caliban accept all<CR>");
        nvim.wait_transcript(&said);
        return nvim.wait_phase("idle");
    }
    if n.is_multiple_of(READS) {
        let lines = json!({"path": "long.txt", "limit": 60});
        server.reply(Reply::new().call(&format!("r{n}"), "read", lines));
    }
    server.reply(Reply::said(&said));
    nvim.ask(&message, &said);
}

#[test]
fn in_two_hundred_turns_with_compactions_the_goal_and_the_verdicts_are_kept() {
    let server = Server::start();
    let config = "{ models = { ['ollama/qwen3:8b'] = { num_ctx = 8192 } } }";
    let setup = Setup::new().file("long.txt", text()).config(config).ollama(&server);
    server.refuse(400, r#"{"error":"prompt is too long"}"#, |it| it.body.len() > WINDOW);
    server.reply_to(is_question, Reply::said(&goal()));
    let nvim = Nvim::start(&setup);
    server.reply(Reply::said("Said 0."));
    nvim.keys(":Caliban<CR>imessage 0: count to two hundred<C-s><Esc>");
    nvim.wait_transcript("Said 0.");
    nvim.wait_phase("idle");
    for n in 1..TURNS {
        one_turn(&server, &nvim, n);
    }
    let requests = server.requests();
    let (questions, turns): (Vec<Request>, Vec<Request>) =
        requests.into_iter().partition(is_question);
    assert!(questions.len() > 5, "{} compactions", questions.len());
    let mut at = 0;
    for request in &turns {
        let outline = request.outline();
        assert!(request.body.len() <= WINDOW, "{}", request.body.len());
        assert!(outline.contains("message 0: count to two hundred"), "{at}: {outline}");
        // the turn of a request is found by the last user message in it
        let has = |n: usize| outline.lines().any(|it| it.ends_with(&format!("message {n}")));
        at = (at..=at + 1).rev().find(|n| has(*n)).unwrap_or(at);
        assert!(at == 0 || has(at), "{at}: {outline}");
        for n in 1..=(at.saturating_sub(1) / WRITES) {
            let verdict = format!("The user accepted the change in f{n}.txt");
            assert!(outline.contains(&verdict), "{verdict} in turn {at}: {outline}");
        }
    }
    assert_eq!(at, TURNS - 1);
}
