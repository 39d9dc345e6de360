//! Once the conversation fills a certain share of the model's context window, requests contain one line instead of each
//! old tool result.

use crate::kit::chat::{DIALECTS, assert_grows, common};
use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use expect_test::expect;
use serde_json::json;

/// A text of 200 lines, about 5 kB.
fn long() -> String {
    let lines: Vec<String> = (0..200).map(|n| format!("this is the line {n:03}\n")).collect();
    lines.concat()
}

/// Settings with which trimming begins after a few turns.
const EARLY: &str = "{ trim = 0.03, models = { ['ollama/qwen3:8b'] = { num_ctx = 200000 },
    ['gemini/gemini-2.5-pro'] = { window = 200000 }, ['openai/gpt-5'] = { window = 200000 } } }";

/// The model reads a long file in the first of three turns. After the third turn the provider counts 60,000 tokens.
fn three_turns(server: &Server, setup: &Setup) -> Nvim {
    let call = Reply::new().text("I look.").call("c1", "read", json!({"path": "a.txt"}));
    server.reply(call.call("c2", "read", json!({"path": "b.txt", "offset": 11, "limit": 190})));
    server.reply(Reply::said("One."));
    server.reply(Reply::said("Two."));
    server.reply(Reply::said("Three.").usage(60_000, 10));
    let nvim = Nvim::start(setup);
    nvim.keys(":Caliban<CR>igo<C-s><Esc>");
    nvim.wait_transcript("One.");
    nvim.wait_phase("idle");
    nvim.ask("two", "Two.");
    nvim.ask("three", "Three.");
    nvim
}

#[test]
fn old_results_are_trimmed_to_a_line_in_every_dialect() {
    let told = DIALECTS.map(|dialect| {
        let server = Server::start();
        let setup = Setup::new()
            .file("a.txt", long())
            .file("b.txt", long())
            .config(EARLY)
            .speaking(dialect, &server);
        let nvim = three_turns(&server, &setup);
        server.reply(Reply::said("Four.").usage(60_000, 10));
        server.reply(Reply::said("Five."));
        nvim.ask("four", "Four.");
        nvim.ask("five", "Five.");
        assert_eq!(nvim.transcript().matches("Trimmed").count(), 1);
        nvim.quit_with(":qa!<CR>");
        let nvim = Nvim::start(&setup);
        nvim.keys(":Caliban<CR>");
        nvim.wait_transcript("Five.");
        server.reply(Reply::said("Six."));
        nvim.ask("six", "Six.");
        let requests = server.requests();
        for whole in &requests[1..4] {
            let answers = whole.answers();
            assert!(answers.iter().all(|it| it.1.contains("the line 199")), "{answers:?}");
        }
        assert_grows(requests[..4].to_vec());
        assert_grows(requests[4..].to_vec());
        let transcript = nvim.transcript();
        let notice = transcript.lines().find(|it| it.contains("Trimmed"));
        let system = requests[4].system_text();
        assert_eq!(requests[3].system_text(), system);
        let outline = requests[6].outline();
        let answers: Vec<String> = requests[6].answers().into_iter().map(|it| it.1).collect();
        assert!(["go", "two", "three", "six"].iter().all(|it| outline.contains(it)));
        format!("{}\n{}", answers.join("\n"), notice.unwrap_or_default())
    });
    expect![[r#"
        read path="a.txt": 5 kB, trimmed; call read again if needed
        read path="b.txt" lines 11-200: 5 kB, trimmed; call read again if needed
        ! Trimmed: the model now gets one line in place of each of 2 old results (2 read; 9 kB, about 2,300 tokens less)."#]]
    .assert_eq(common(&told));
}

#[test]
fn the_old_results_of_one_long_turn_are_trimmed_in_every_dialect() {
    let told = DIALECTS.map(|dialect| {
        let server = Server::start();
        let mut setup = Setup::new().config(EARLY);
        for n in 0..24 {
            setup = setup.file(&format!("{n}.txt"), "this is the line\n".repeat(60));
            let call = json!({ "path": format!("{n}.txt") });
            let read = Reply::new().call(&format!("c{n}"), "read", call);
            server.reply(read.usage(12_000, 10));
        }
        server.reply(Reply::said("Done."));
        let nvim = Nvim::start(&setup.speaking(dialect, &server));
        nvim.ask("go", "Done.");
        let requests = server.requests();
        let whole = |at: usize| {
            let answers = requests[at].answers();
            answers.iter().map(|it| !it.1.contains("trimmed")).collect::<Vec<_>>()
        };
        let last = whole(24);
        // the newest results stay whole, up to a number of tokens
        let first = last.iter().position(|it| *it).unwrap();
        assert!(first > 0 && last[first..].iter().all(|it| *it) && last.len() == 24, "{last:?}");
        requests[24].answers()[0].1.clone()
    });
    expect![[r#"read path="0.txt": 1 kB, trimmed; call read again if needed"#]]
        .assert_eq(common(&told));
}

/// Trimming is off in the settings for all models, in the settings for one model, and for each model that binds its
/// thoughts to the messages before them.
#[test]
fn results_stay_whole_where_trimming_is_off() {
    let own = "{ trim = 0.01, models = { ['anthropic/claude-sonnet-4-5'] = { trim = false } } }";
    let off = [
        ("{ trim = false }", "anthropic/claude-sonnet-4-5"),
        (own, "anthropic/claude-sonnet-4-5"),
        (EARLY, "anthropic/claude-opus-5-5"),
    ];
    for (config, model) in off {
        let server = Server::start();
        let setup = Setup::new()
            .file("a.txt", long())
            .file("b.txt", long())
            .config(config)
            .anthropic(&server);
        let nvim = three_turns(&server, &setup.env("CALIBAN_MODEL", model));
        server.reply(Reply::said("Four."));
        nvim.ask("four", "Four.");
        let request = server.requests().remove(4);
        assert!(request.answer("c1").contains("the line 199"), "{config}");
        assert!(!nvim.transcript().contains("Trimmed"), "{config}");
        assert_grows(server.requests());
    }
}
