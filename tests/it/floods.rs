//! Tests a model that sends too much: thousands of calls in one reply, or text without end.

use crate::kit::chat::DIALECTS;
use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use serde_json::json;

/// A reply with `count` read calls, each of different lines.
fn reads(count: usize) -> Reply {
    (1..=count).fold(Reply::new(), |reply, n| {
        reply.call(&format!("c{n}"), "read", json!({"path": "a.txt", "offset": n, "limit": 1}))
    })
}

#[test]
fn only_the_first_200_calls_of_a_reply_are_run() {
    for dialect in DIALECTS {
        let server = Server::start();
        server.reply(reads(1000));
        server.reply(Reply::said("Fine."));
        let lines = "line\n".repeat(1000);
        let nvim = Nvim::start(&Setup::new().file("a.txt", &lines).speaking(dialect, &server));
        nvim.ask("go", "Fine.");
        let request = &server.requests()[1];
        assert!(request.answer("c200").contains("line"), "{}", request.answer("c200"));
        let first = request.answer("c201");
        assert!(first.contains("Your reply had 1000 calls. At most 200 calls"), "{first}");
        assert_eq!(request.answer("c1000"), "Not run: too many calls");
        let shown = nvim.transcript();
        assert!(shown.contains("▸ read  200 times  a.txt"), "{shown}");
        assert!(shown.contains(
            "! 800 more calls were not run: Caliban runs at most 200 calls of one reply."
        ));
        // the chat shows the same after a restart has read the conversation from its file
        nvim.command("Caliban restart");
        nvim.wait_transcript(
            "! 800 more calls were not run: Caliban runs at most 200 calls of one reply.",
        );
        nvim.wait_transcript("▸ read  200 times  a.txt");
    }
}

#[test]
fn an_endless_reply_is_cut_at_16_mb_and_its_text_kept() {
    let server = Server::start();
    // The endless text has only blanks, because trailing blanks are not painted.
    server.reply(Reply::said("So far.").on_and_on(&" ".repeat(1 << 20)));
    server.reply(Reply::said("Going on."));
    // The reply is longer than the model's window, so the next request would be a compaction.
    let setup = Setup::new().config("{ compact = false }").anthropic(&server);
    let nvim = Nvim::start(&setup);
    nvim.keys(":Caliban<CR>igo<C-s><Esc>");
    nvim.wait_transcript("! The reply was cut off at 16 MB, and its calls were not run.");
    server.wait_closed(1);
    nvim.ask("and now?", "Going on.");
    assert!(server.requests()[1].outline().contains("So far."));
}
