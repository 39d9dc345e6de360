//! Tests failures of the provider, the network and the machine.

use crate::kit::chat::{DIALECTS, common};
use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use expect_test::{Expect, expect};
use serde_json::json;
use std::fs;

const LIMITED: &str = "! Rate limited by the provider: “This request would exceed your organization's rate limit”. Wait a \
                       little, then send again.";

/// Checks that the prompt is in the history and that the conversation can go on.
fn goes_on(nvim: &Nvim, server: &Server) {
    nvim.wait_phase("idle");
    nvim.keys("<Esc>:Caliban<CR>i<Up>");
    assert_eq!(nvim.composer(), "the prompt");
    server.reply(Reply::said("All is well."));
    nvim.keys("<C-s>");
    nvim.wait_transcript("All is well.");
}

#[test]
fn when_rate_limits_end_the_turn_the_text_in_the_composer_is_kept() {
    for dialect in DIALECTS {
        let server = Server::start();
        for _ in 0..6 {
            server.reply(Reply::error(429).header("retry-after-ms", "1"));
        }
        let nvim = Nvim::start(&Setup::new().speaking(dialect, &server));
        nvim.keys(":Caliban<CR>ithe prompt<C-s>and an unsent one");
        nvim.wait_transcript(LIMITED);
        assert_eq!(server.requests().len(), 6);
        assert_eq!(nvim.composer(), "and an unsent one");
        nvim.keys("<C-u>");
        goes_on(&nvim, &server);
    }
}

#[test]
fn repeated_rate_limits_without_a_retry_after_header_end_the_turn() {
    let server = Server::start();
    for _ in 0..6 {
        server.reply(Reply::error(429));
    }
    let nvim = Nvim::start(&Setup::new().anthropic(&server));
    nvim.keys(":Caliban<CR>ithe prompt<C-s>a queued one<C-s>");
    nvim.keys("<Esc>");
    // The pauses have random lengths, so some end before the key is typed. For this reason one Lua call finds the line
    // and types the key.
    let retry = "local chat = require('caliban.chat.chats').current
        for i, line in ipairs(vim.api.nvim_buf_get_lines(chat.transcript, 0, -1, false)) do
          if line:find('Trying again in', 1, true) and chat.status.phase == 'retrying' then
            local win = vim.fn.win_findbuf(chat.transcript)[1]
            vim.api.nvim_set_current_win(win)
            vim.api.nvim_win_set_cursor(win, { i, 0 })
            return vim.api.nvim_feedkeys('r', 'mtx', false)
          end
        end";
    let hurry = |nvim: &Nvim| {
        nvim.lua(retry, &[]);
        server.requests().len() == 6
    };
    nvim.wait(hurry, "six requests");
    nvim.wait_transcript(LIMITED);
    nvim.wait_phase("idle");
    assert_eq!(server.requests().len(), 6);
    nvim.wait_transcript("queued: a queued one");
    server.reply(Reply::said("The queued one."));
    nvim.keys(":Caliban<CR><Esc><CR>");
    nvim.wait_transcript("The queued one.");
    nvim.wait_phase("idle");
    assert!(!nvim.transcript().contains("queued:"));
    nvim.keys("<CR>");
    nvim.wait_screen("Nothing sent. The message is empty.");
    server.reply(Reply::said("All is well."));
    nvim.ask("and now?", "All is well.");
    assert_eq!(server.requests().len(), 8);
    assert!(server.requests()[6].last_user_text().ends_with("a queued one"));
    assert!(server.requests()[7].last_user_text().ends_with("and now?"));
}

#[test]
fn a_reply_that_arrives_byte_by_byte_is_shown() {
    let said = DIALECTS.map(|dialect| {
        let server = Server::start();
        let call = json!({"path": "a.txt"});
        server.reply(Reply::new().text("Ich prüfe… ").call("c1", "read", call).trickling());
        server.reply(Reply::said("Done, grünlich 🌱.").trickling());
        let nvim = Nvim::start(&Setup::new().file("a.txt", "alpha\n").speaking(dialect, &server));
        nvim.ask("go", "Done, grünlich 🌱.");
        assert!(server.requests()[1].answer("c1").contains("alpha"));
        nvim.conversation()
    });
    expect![[r#"
        go

        Ich prüfe…

        ▸ read  path="a.txt"

        Done, grünlich 🌱."#]]
    .assert_eq(common(&said));
}

#[test]
fn a_reply_with_60_kb_of_http_headers_is_accepted() {
    let server = Server::start();
    let mut reply = Reply::said("Behind it all.");
    for n in 0..60 {
        reply = reply.header(&format!("x-of-a-proxy-{n}"), &"v".repeat(1000));
    }
    server.reply(reply);
    let nvim = Nvim::start(&Setup::new().anthropic(&server));
    nvim.ask("go", "Behind it all.");
}

/// Lets the model send a broken reply, and compares the sentence in the chat with the snapshot. The request must not be
/// sent again.
#[expect(clippy::needless_pass_by_value, reason = "a table's row gives its snapshot away")]
fn check(reply: Reply, expected: Expect) {
    let server = Server::start();
    server.reply(reply);
    let nvim = Nvim::start(&Setup::new().anthropic(&server));
    nvim.keys(":Caliban<CR>ithe prompt<C-s>");
    nvim.wait_transcript("\n! ");
    nvim.wait_phase("idle");
    expected.assert_eq(nvim.conversation().split("! ").nth(1).unwrap());
    goes_on(&nvim, &server);
}

#[test]
fn a_reply_that_is_not_http_ends_the_turn_at_once() {
    let endless = format!("HTTP/1.1 200 OK\r\nx: {}\r\n\r\n", "v".repeat(2_000_000));
    check(
        Reply::bytes(endless),
        expect![
            "The server's answer does not follow the provider's protocol: “message head is too large”. Check the provider's address."
        ],
    );
    check(
        Reply::bytes("SSH-2.0-OpenSSH_9.9\r\n"),
        expect![
            "The server's answer does not follow the provider's protocol: “invalid HTTP version parsed”. Check the provider's address."
        ],
    );
}

#[test]
fn a_proxys_html_error_page_is_shown_as_one_sentence_that_says_what_to_do() {
    let page = |title: &str| {
        format!(
            "<html>\r\n<head><title>{title}</title></head>\r\n<body><h1>{title}</h1></body></html>"
        )
    };
    let html = [("content-type", "text/html")];
    check(
        Reply::raw(431, &html, page("431 Request Header Fields Too Large")),
        expect![
            "The provider rejected the request (431): “431 Request Header Fields Too Large”. Correct the part of the request that the provider names, or start a new conversation with /new."
        ],
    );
    check(
        Reply::raw(407, &html, page("407 Proxy Authentication Required")),
        expect![
            "The provider rejected the request (407): “407 Proxy Authentication Required”. Correct the part of the request that the provider names, or start a new conversation with /new."
        ],
    );
    check(
        Reply::raw(400, &[], ""),
        expect![
            "The provider rejected the request (400): “no details given”. Correct the part of the request that the provider names, or start a new conversation with /new."
        ],
    );
}

/// `{"type":"error","error":{"type":"invalid_request_error","message":"max_tokens: too large"}}`, gzipped.
const ZIPPED: [u8; 90] = [
    31, 139, 8, 0, 0, 0, 0, 0, 2, 3, 171, 86, 42, 169, 44, 72, 85, 178, 82, 74, 45, 42, 202, 47,
    82, 210, 129, 210, 86, 213, 48, 241, 204, 188, 178, 196, 156, 204, 148, 248, 162, 212, 194,
    210, 212, 226, 146, 120, 152, 186, 220, 212, 226, 226, 196, 116, 144, 138, 220, 196, 138, 248,
    146, 252, 236, 212, 188, 98, 43, 133, 146, 252, 124, 133, 156, 196, 34, 160, 120, 109, 45, 0,
    216, 107, 206, 100, 91, 0, 0, 0,
];

#[test]
fn for_a_compressed_error_reply_the_user_is_told_that_it_is_compressed() {
    let headers = [("content-type", "application/json"), ("content-encoding", "gzip")];
    check(
        Reply::raw(400, &headers, ZIPPED),
        expect![
            "The provider rejected the request (400): “no details given”. Correct the part of the request that the provider names, or start a new conversation with /new."
        ],
    );
    check(
        Reply::raw(200, &headers, ZIPPED),
        expect![
            "The server's answer does not follow the provider's protocol: “compressed with gzip, which Caliban did not ask for”. Check the provider's address."
        ],
    );
}

#[test]
fn a_request_is_sent_again_if_the_connection_closes_within_the_headers() {
    for head in [
        "",
        "HTTP/1.1 200 OK\r\ncontent-ty",
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n",
    ] {
        let server = Server::start();
        server.reply(Reply::bytes(head));
        server.reply(Reply::said("At the second try."));
        let nvim = Nvim::start(&Setup::new().anthropic(&server));
        nvim.ask("go", "At the second try.");
        assert_eq!(server.requests().len(), 2);
    }
}

#[test]
fn the_program_writes_nothing_but_rpc_messages_to_its_standard_output() {
    let server = Server::start();
    let setup = Setup::new();
    let out = setup.dir().join("out");
    let bin = setup.script(&format!("cat | \"$KIT_BIN\" | tee {}", out.display()));
    let config = format!(
        "{{ bin = '{bin}', providers = {{ mine = {{ dialect = 'openai-chat', base_url = '{}/v1',
            key = 'cmd:echo the-key; echo noise >&2', models = {{ 'm' }} }} }} }}",
        server.url()
    );
    let command = "echo out; echo err >&2; echo raw > /dev/stdout; yes noise | head -c 100000;
        read -r _ _ _ program _ < /proc/$PPID/stat; echo garbage > /proc/$program/fd/1; echo garbage >&0";
    server.reply(Reply::new().text("So.").call("c1", "shell", json!({"command": command})));
    server.reply(Reply::said("That was noisy."));
    let setup = setup.config(&config).env("RUST_LOG", "trace").env("RUST_BACKTRACE", "full");
    let nvim = Nvim::start(&setup);
    nvim.keys(":Caliban<CR>igo<C-s><Esc>");
    nvim.wait_phase("asking");
    nvim.wait_question();
    nvim.command("Caliban approve");
    nvim.wait_transcript("That was noisy.");
    nvim.wait_phase("idle");
    nvim.quit_with(":qa!<CR>");
    let bytes = fs::read(&out).unwrap();
    let mut rest = bytes.as_slice();
    let mut messages = 0;
    while !rest.is_empty() {
        let value = rmpv::decode::read_value(&mut rest).unwrap();
        let parts = value.as_array().unwrap();
        assert_eq!(
            (parts[0].as_u64(), parts[2].as_str()),
            (Some(0), Some("nvim_exec_lua")),
            "{value}"
        );
        messages += 1;
    }
    assert!(messages > 10, "{messages}");
}

/// A setup in which the program's files cannot get larger than `blocks` blocks.
fn limited(server: &Server, blocks: u32) -> Setup {
    let setup = Setup::new().size(160, 40).anthropic(server).without("CALIBAN_DEBUG");
    setup.started_by(&format!("trap '' XFSZ\nulimit -f {blocks}\nexec \"$KIT_BIN\""))
}

#[test]
fn a_full_disk_shows_not_saved_in_the_winbar_and_the_chat_goes_on() {
    let server = Server::start();
    let setup = limited(&server, 32);
    let nvim = Nvim::start(&setup);
    nvim.keys(":Caliban<CR>");
    server.reply(Reply::said("The first."));
    nvim.ask("one", "The first.");
    assert!(!nvim.screen().contains("not saved"));
    let long = "words and words ".repeat(2_000);
    server.reply(Reply::said(&long).text("The end of it."));
    nvim.ask("two", "The end of it.");
    nvim.wait_screen("· not saved ·");
    server.reply(Reply::said("The third."));
    nvim.ask("three", "The third.");
    let said = nvim.lua_str("return vim.fn.execute('messages')");
    assert_eq!(said.matches("It goes on in memory only.").count(), 1, "{said}");
    assert!(server.requests()[2].outline().contains(&long), "the model is sent all of it");
    nvim.quit_with(":qa!<CR>");

    let nvim = Nvim::start(&setup.config("{}"));
    nvim.keys(":Caliban<CR>");
    nvim.wait_transcript("The first.");
    assert!(!nvim.screen().contains("not saved"));
}

#[test]
fn a_disk_full_from_the_start_shows_not_saved_and_the_chat_goes_on() {
    let server = Server::start();
    let nvim = Nvim::start(&limited(&server, 0));
    nvim.keys(":Caliban<CR>");
    server.reply(Reply::said("The first."));
    nvim.ask("one", "The first.");
    nvim.wait_screen("· not saved ·");
    server.reply(Reply::said("The second."));
    nvim.ask("two", "The second.");
    assert!(server.requests()[1].outline().contains("assistant: The first."));
}
