//! Words after an `@` that name no file: a warning before sending, except for addresses, decorators and code.

use crate::kit::chat::{DIALECTS, assert_grows};
use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::kit::setup::Setup;

fn start() -> (Server, Nvim) {
    let server = Server::start();
    server.reply(Reply::said("Seen."));
    let setup = Setup::new().file("Makefile", "all:\n").file("b.rs", "b\n").anthropic(&server);
    let nvim = Nvim::start(&setup.size(220, 30));
    nvim.keys(":Caliban<CR>");
    (server, nvim)
}

/// Checks that the message returns to the composer with this warning, and is sent when the user sends it again.
#[track_caller]
fn check_given_back(prompt: &str, warning: &str) {
    let (server, nvim) = start();
    nvim.keys(&format!("i{prompt}<C-s>"));
    nvim.wait_screen(warning);
    assert_eq!(nvim.composer(), prompt);
    assert!(server.requests().is_empty());
    nvim.keys("<C-s>");
    nvim.wait_transcript("Seen.");
    assert_eq!(server.requests()[0].last_user_text(), prompt);
}

#[test]
fn a_prompt_that_mentions_an_unknown_name_returns_to_the_composer_with_a_reason() {
    check_given_back("what is wrong in @bufer here", "! @bufer names no file. Nothing was sent");
    check_given_back("@dif", "! @dif names no file. Nothing was sent");
    check_given_back("make @Makefiel:3, please", "! @Makefiel names no file. Nothing was sent");
    check_given_back(
        "ask @someone about @dif",
        "! @someone names no file. @dif names no file. Nothing was sent",
    );
}

#[test]
fn only_the_first_of_many_unknown_mentions_are_named() {
    let words: Vec<String> = (0..1000).map(|n| format!("@w{n}")).collect();
    check_given_back(&words.join("\n"), "And 995 more.");
}

/// Checks that the message is sent at once, without a context block.
#[track_caller]
fn check_sent(prompt: &str) {
    let (server, nvim) = start();
    let lines = "vim.api.nvim_buf_set_lines(0, 0, -1, false, vim.split(..., '\\n'))";
    nvim.lua(lines, &[prompt.into()]);
    nvim.keys("<CR>");
    nvim.wait_transcript("Seen.");
    assert_eq!(server.requests()[0].last_user_text(), prompt);
}

#[test]
fn addresses_decorators_and_code_are_not_mentions() {
    check_sent("write to <me@example.com> or @me@example.social");
    check_sent("is @Override missing, or @property?");
    check_sent("@app.route(\"/\")\ndef index():\n    pass");
    check_sent("@retry\n@slow\ndef index():\n    pass");
    check_sent("the variable `x = @count + 1`");
    check_sent("why is this wrong?\n```python\n@buffer\n@b.rs\n```");
}

#[test]
fn a_mentioned_file_that_has_not_changed_is_not_sent_again() {
    for dialect in DIALECTS {
        let server = Server::start();
        server.otherwise(Reply::said("Seen."));
        let text = format!("{}\n", "a line of text\n".repeat(20).trim_end());
        let setup = Setup::new().file("a.txt", &text).speaking(dialect, &server);
        let nvim = Nvim::start(&setup.size(220, 30));
        let note = "same text as when it was last sent, so not sent again";
        let shown = format!("<context kind=\"file\" path=\"a.txt\">\n{text}</context>\n");
        let same = format!("<context kind=\"file\" path=\"a.txt\">\n[{note}]\n</context>\n");
        let ask = |n: usize, prompt: &str| {
            nvim.lua("require('caliban').ask(...)", &[prompt.into()]);
            server.wait_count(n);
            nvim.wait_phase("idle");
            // dialects join the blocks of a message differently
            server.requests()[n - 1].last_user_text().replace("\n\n", "\n")
        };
        assert_eq!(ask(1, "see @a.txt"), format!("{shown}see @a.txt"));
        assert_eq!(ask(2, "again @a.txt"), format!("{same}again @a.txt"));
        nvim.wait_screen(&format!("a.txt  {note}"));
        let twice = ask(3, "@a.txt and @./a.txt");
        assert_eq!(twice, format!("{same}{same}@a.txt and @./a.txt"));
        nvim.keys(":wincmd t<CR>:edit a.txt<CR>onew<Esc>");
        let changed = ask(4, "now @a.txt");
        assert!(changed.contains("a line of text\nnew\n"), "{changed}");
        assert_grows(server.requests());
    }
}

#[test]
fn a_mention_of_a_bare_file_name_sends_the_file() {
    let (server, nvim) = start();
    nvim.ask("see @Makefile", "Seen.");
    let said = server.requests()[0].last_user_text();
    assert_eq!(said, "<context kind=\"file\" path=\"Makefile\">\nall:\n</context>\nsee @Makefile");
}
