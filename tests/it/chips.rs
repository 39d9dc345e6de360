//! Tests the chips that show mentions in the composer: their sizes, their removal, and the preview.

use crate::keywords::repository;
use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::kit::setup::Setup;

fn start() -> (Server, Nvim) {
    let server = Server::start();
    server.otherwise(Reply::said("Seen."));
    let setup = Setup::new()
        .file("a.txt", "0123456789\n".repeat(40))
        .file("b c.txt", "blanks\n")
        .file(".env", "KEY=1\n")
        .anthropic(&server);
    let nvim = Nvim::start(&setup.size(220, 40));
    nvim.keys(":edit a.txt<CR>:Caliban<CR>");
    (server, nvim)
}

#[test]
fn each_mention_has_a_chip_with_its_size_until_the_message_is_sent() {
    let (server, nvim) = start();
    nvim.keys("isee @buffer and @\"b c.txt\":1 <Esc>");
    nvim.wait_screen("▏@buffer  a.txt  40 lines  110 tokens");
    nvim.wait_screen("▏b c.txt:1  1 line  2 tokens  <C-x> removes");
    nvim.keys("<CR>");
    nvim.wait_transcript("Seen.");
    nvim.wait_gone("<C-x> removes");
    assert_eq!(server.count(), 1);
}

#[test]
fn a_chip_names_a_file_once_and_has_its_tokens_in_a_narrow_window() {
    let long = "crates/storage/src/engine/checkpoints/retention_policy_of_snapshots.rs";
    for columns in [60, 80, 320] {
        let server = Server::start();
        server.otherwise(Reply::said("Seen."));
        let setup = Setup::new().file(long, "0123456789\n".repeat(40)).anthropic(&server);
        let nvim = Nvim::start(&setup.size(columns, 40));
        nvim.keys(&format!(":edit {long}<CR>Vjj:Caliban<CR>"));
        nvim.wait_screen("Ask, or /command");
        nvim.keys(&format!("i@{long} @buffer <Esc>"));
        nvim.wait(|it| it.screen().matches("tokens").count() == 3, "three chips with tokens");
        let screen = nvim.screen();
        let chips: Vec<&str> = screen.lines().filter(|it| it.contains("tokens")).collect();
        let names = chips.iter().map(|it| it.matches("snapshots.rs").count());
        assert_eq!(names.collect::<Vec<_>>(), [1, 1, 1], "{}", chips.join("\n"));
        let is_whole = |it: &&str| it.contains("crates/storage/src") == (columns == 320);
        assert!(chips.iter().all(is_whole), "{}", chips.join("\n"));
        // so has the sent message, which does not send the same text twice, also in a wider window
        nvim.keys("<CR>");
        nvim.wait_transcript("Seen.");
        nvim.wait_gone("<C-x> removes");
        for columns in [columns, 220] {
            nvim.resize(columns, 40);
            let sent = |it: &Nvim| {
                let screen = it.screen();
                let chips = screen.lines().filter(|it| it.contains("┃ ▏"));
                let is_fit = |it: &&str| {
                    it.trim_end().ends_with("tokens") && it.matches("snapshots.rs").count() == 1
                };
                chips.filter(is_fit).count() == 2
            };
            nvim.wait(sent, &format!("two chips at {columns}"));
        }
    }
}

#[test]
fn the_chip_of_a_mention_that_cannot_be_read_says_why() {
    let (server, nvim) = start();
    nvim.keys("i@none.rs and @staged and @.env<Esc>");
    nvim.wait_screen("▏@none.rs does not exist.");
    nvim.wait_screen("▏@staged: This project is not in a git repository");
    nvim.wait_screen("▏@.env holds the keys or settings of an environment");
    assert_eq!(server.count(), 0);
}

#[test]
fn removing_a_chip_deletes_the_text_of_its_mention() {
    let (_server, nvim) = start();
    nvim.keys("isee @a.txt.bak, @a.txt, then @buffer<Esc>");
    nvim.wait_screen("▏@buffer  a.txt");
    nvim.keys("<C-x>");
    nvim.wait(|it| it.composer() == "see @a.txt.bak, @a.txt, then", "the text without @buffer");
    nvim.keys("<C-x>");
    nvim.wait(|it| it.composer() == "see @a.txt.bak,, then", "the text without @a.txt");
    nvim.wait_gone("▏a.txt  ");
    // `u` restores the mention in the text
    nvim.keys("u");
    nvim.wait(|it| it.composer().contains("@a.txt, then"), "the mention again");
    nvim.wait_screen("▏a.txt  40 lines");
}

#[test]
fn removing_the_last_mention_leaves_the_chip_of_what_still_goes_along() {
    let (server, nvim) = start();
    nvim.keys(":Caliban close<CR>:edit a.txt<CR>Vjj:Caliban<CR>isee @\"b c.txt\" please<Esc>");
    nvim.wait_screen("▏b c.txt  ");
    nvim.wait_screen("▏selection  a.txt:1-3  3 lines");
    nvim.keys("<C-x>");
    nvim.wait_gone("▏b c.txt");
    nvim.wait_screen("▏selection  a.txt:1-3  3 lines");
    server.reply(Reply::said("Seen."));
    nvim.keys("<CR>");
    nvim.wait_transcript("Seen.");
    let said = server.requests()[0].last_user_text();
    assert!(said.contains("a.txt") && !said.contains("b c.txt"), "{said}");
}

#[test]
fn the_sizes_of_mentions_are_not_computed_again_when_only_other_words_change() {
    let (_server, nvim) = start();
    nvim.keys("i@buffer <Esc>");
    nvim.wait_screen("▏@buffer  a.txt");
    nvim.lua(
        "_G.asked = 0
        local process = require('caliban.program.process')
        local notify = process.notify
        process.notify = function(message)
          _G.asked = _G.asked + (message.kind == 'weigh' and 1 or 0)
          return notify(message)
        end",
        &[],
    );
    nvim.keys("Amore prose <Esc>");
    nvim.keys("A@selection<Esc>");
    nvim.wait_screen("▏@selection: Nothing has been selected");
    assert_eq!(nvim.lua_str("return _G.asked"), "1");
}

#[test]
fn the_preview_shows_the_texts_that_would_be_sent_with_the_message() {
    let (server, nvim) = start();
    nvim.keys("isee @buffer and @\"b c.txt\"<Esc>");
    nvim.wait_screen("▏b c.txt  1 line");
    nvim.keys("K");
    nvim.wait_screen("<context kind=\"file\" path=\"b c.txt\">");
    assert!(!nvim.screen().contains("<context kind=\"file\" path=\"a.txt\">"));
    nvim.keys("q");
    nvim.wait_gone("Sent with the message");
    nvim.keys("0K");
    nvim.wait_screen("<context kind=\"file\" path=\"a.txt\">");
    nvim.keys("G");
    nvim.wait_screen("<context kind=\"file\" path=\"b c.txt\">");
    nvim.keys("q");
    nvim.wait_gone("Sent with the message");
    assert_eq!((nvim.composer().as_str(), server.count()), ("see @buffer and @\"b c.txt\"", 0));
}

#[test]
fn hidden_characters_are_spelt_out_in_chips_and_previews() {
    let (_server, nvim) = start();
    nvim.lua("vim.fn.writefile({ 'x\\u{202e}y' }, 'rlo\\u{202e}.txt')", &[]);
    nvim.lua("vim.api.nvim_put({ '@rlo\\u{202e}.txt' }, 'c', true, true)", &[]);
    nvim.wait_screen("rlo[U+202E].txt  1 line");
    nvim.keys("K");
    nvim.wait_screen("x[U+202E]y");
}

#[test]
fn a_slash_command_that_sends_no_message_leaves_the_context_for_the_next_message() {
    let server = Server::start();
    server.otherwise(Reply::said("Seen."));
    let nvim = Nvim::start(&Setup::new().anthropic(&server));
    nvim.keys(":Caliban<CR>i! echo MARKER<C-s>");
    nvim.wait_screen("! echo MARKER  2 lines  5 tokens");
    nvim.keys("/mcp<C-s>");
    nvim.wait_transcript("There are no MCP servers:");
    nvim.wait_screen("! echo MARKER  2 lines  5 tokens");
    nvim.keys("what is it?<C-s>");
    nvim.wait_transcript("Seen.");
    let said = server.requests()[0].last_user_text();
    assert!(said.contains("$ echo MARKER\nMARKER"), "{said}");
}

#[test]
fn the_chip_of_a_selection_or_a_long_command_is_the_same_before_and_after_sending() {
    let (_server, nvim) = start();
    let words = ["word"; 50].join(" ");
    nvim.keys(&format!("<Esc>:Caliban toggle<CR>ggVj:Caliban<CR>i! echo {words}<C-s>"));
    let chips = |it: &Nvim| {
        let screen = it.screen();
        let chips = screen.lines().filter_map(|it| Some(it.split_once('▏')?.1.trim_end()));
        // the row of a command that runs is no chip yet
        let chips = chips.filter(|it| !it.ends_with(" ends it"));
        let chips =
            chips.map(|it| it.split("  goes").next().unwrap().replace("  <Esc><C-x> removes", ""));
        // where the command is cut depends on the width of the window
        let brief = |it: String| format!("{} … {}", &it[..16], it.rsplit('…').next().unwrap());
        chips.map(brief).collect::<Vec<_>>()
    };
    nvim.wait(|it| chips(it).len() == 2, "two chips");
    let before = chips(&nvim);
    assert_eq!(before[0], "selection  a.txt … selection  a.txt:1-2  2 lines  6 tokens");
    assert_eq!(before[1], "! echo word word …   127 tokens");
    nvim.keys("so<C-s>");
    nvim.wait_transcript("Seen.");
    nvim.wait(|it| chips(it) == before, &format!("{before:?}"));
}

#[test]
fn the_chip_of_a_mention_has_the_same_tokens_before_and_after_sending() {
    let server = Server::start();
    // the provider counts many more tokens than one for four bytes
    server.reply(Reply::said("First.").usage(20_000, 10));
    server.reply(Reply::said("Second."));
    let setup = Setup::new().file("a.txt", "0123456789\n".repeat(40));
    let setup = setup.file("c.txt", "word\n".repeat(1000)).anthropic(&server).size(80, 24);
    let nvim = Nvim::start(&setup);
    nvim.keys(":edit a.txt<CR>");
    nvim.ask("go", "First.");
    nvim.keys(":Caliban<CR>");
    nvim.keys("i@a.txt and @c.txt:1-900 <Esc>");
    let tokens = |it: &Nvim| -> Vec<String> {
        let screen = it.screen();
        let rows = screen.lines().filter(|it| it.contains('▏') && it.contains(" tokens"));
        let words = rows
            .map(|it| it.split(" tokens").next().unwrap().rsplit(' ').next().unwrap().to_owned());
        words.collect()
    };
    nvim.wait(|it| tokens(it).len() == 2, "two chips");
    let before = tokens(&nvim);
    assert_eq!(before, ["110", "1.1k"]);
    nvim.keys("<CR>");
    nvim.wait_transcript("Second.");
    nvim.wait_gone("<C-x> removes");
    nvim.wait(|it| tokens(it) == before, &format!("{before:?}"));
}

/// What the user types after `:Caliban ask` follows the composer's rules; a script's text is only sent.
#[test]
fn a_command_after_ask_runs_in_the_users_shell_and_is_not_sent_as_a_message() {
    for asked in [
        ":Caliban ask ! echo MARKER<CR>",
        ":Caliban ask<CR>! echo MARKER<CR>",
        ":Caliban steer !echo MARKER<CR>",
    ] {
        let server = Server::start();
        server.otherwise(Reply::said("Seen."));
        let nvim = Nvim::start(&Setup::new().anthropic(&server));
        nvim.keys(asked);
        nvim.wait_screen("! echo MARKER  2 lines  5 tokens");
        assert_eq!(server.requests().len(), 0);
        nvim.keys(":Caliban ask what is it?<CR>");
        nvim.wait_transcript("Seen.");
        nvim.wait_screen("! echo MARKER  2 lines  5 tokens");
        nvim.keys(":Caliban<CR>iand now?<C-s>");
        let said = server.wait_requests(2)[1].last_user_text();
        assert!(said.contains("$ echo MARKER\nMARKER") && said.ends_with("and now?"), "{said}");
    }
    let server = Server::start();
    server.otherwise(Reply::said("Seen."));
    let nvim = Nvim::start(&Setup::new().anthropic(&server));
    nvim.lua("require('caliban').ask('! touch ran')", &[]);
    nvim.wait_transcript("Seen.");
    assert_eq!(server.requests()[0].last_user_text(), "! touch ran");
    assert!(!nvim.setup.path("ran").exists());
}

#[test]
fn each_kind_of_mention_has_its_size_in_tokens_before_and_after_it_is_sent() {
    let server = Server::start();
    server.otherwise(Reply::said("Seen."));
    let setup = repository().anthropic(&server).size(200, 60).before(
        "vim.g.clipboard = { name = 'x', cache_enabled = 0,
          copy = { ['+'] = function() end, ['*'] = function() end },
          paste = { ['+'] = function() return { 'copied', 'lines' } end,
            ['*'] = function() return {} end } }",
    );
    let nvim = Nvim::start(&setup);
    nvim.keys(":edit b.txt<CR>:edit a.txt<CR>ggVj<Esc>");
    nvim.lua(
        "vim.fn.setqflist({ { filename = 'a.txt', lnum = 2, type = 'E', text = 'shouts' } })
        vim.fn.setloclist(0, { { filename = 'b.txt', lnum = 1, text = 'here' } })",
        &[],
    );
    let sized = |it: &Nvim, bar: &str| {
        let screen = it.screen();
        let rows = screen.lines().filter_map(|it| it.split_once(bar)).map(|it| it.1);
        let is_sized = |it: &str| it.contains(" tokens") || it.contains(" 1 token");
        let (with, without): (Vec<&str>, Vec<&str>) = rows.partition(|it| is_sized(it));
        (with.len(), without.join("\n"))
    };
    // a composer shows so many at once
    let messages: [&[&str]; 3] = [
        &["@buffer", "@selection", "@diff", "@staged"],
        &["@quickfix", "@loclist", "@clipboard", "@buffers"],
        &["@b.txt", "@a.txt:1-2", "@./"],
    ];
    for all in messages {
        let shown = nvim.shown("Seen.");
        nvim.keys(&format!(":Caliban<CR>i{} <Esc>", all.join(" ")));
        nvim.wait(|it| sized(it, "│▏").0 == all.len(), &format!("sizes of {all:?}"));
        assert_eq!(sized(&nvim, "│▏").1, "");
        nvim.keys("<CR>");
        nvim.wait_more("Seen.", shown);
    }
    let sent = sized(&nvim, "┃ ▏");
    assert!(sent.0 > 10 && sent.1.is_empty(), "{sent:?}");
}

#[test]
fn a_chat_s_own_windows_add_the_buffer_that_the_user_came_from() {
    for (columns, lines) in [(60, 20), (80, 24), (120, 36)] {
        for from in ["", "<C-w>k", "<C-w>k:tab split<CR>"] {
            let server = Server::start();
            server.otherwise(Reply::said("Seen."));
            let setup = Setup::new().file("a.txt", "one\ntwo\n").file("b.txt", "b\n");
            let nvim = Nvim::start(&setup.anthropic(&server).size(columns, lines));
            nvim.keys(&format!(":edit b.txt<CR>:edit a.txt<CR>:Caliban<CR>{from}:Caliban add<CR>"));
            nvim.wait_screen("▏a.txt  2 lines  2 tokens");
            nvim.keys(":Caliban<CR>isee<C-s>");
            nvim.wait_transcript("Seen.");
            let said = server.requests()[0].last_user_text();
            assert!(said.contains("<context kind=\"file\" path=\"a.txt\""), "{from}: {said}");
        }
    }
}

#[test]
fn a_message_is_not_added_to_itself() {
    let server = Server::start();
    let setup = Setup::new().config("{ layout = 'current' }").anthropic(&server);
    let nvim = Nvim::start(&setup.size(80, 24));
    nvim.keys(":Caliban<CR>imy words<Esc>:Caliban add<CR>");
    nvim.wait_screen("No buffer is open beside the chat. Nothing was added.");
    for keys in [":%Caliban add<CR>", "V:Caliban<CR>", ":1Caliban add<CR>"] {
        nvim.keys(":messages clear<CR>");
        nvim.wait_gone("Nothing was added.");
        nvim.keys(keys);
        nvim.wait_screen("These lines are of the message itself. Nothing was added.");
        nvim.wait_gone("<C-x> removes");
    }
    assert_eq!(nvim.composer(), "my words");
}

#[test]
fn the_chip_of_a_range_counts_an_empty_last_line() {
    let server = Server::start();
    server.otherwise(Reply::said("Seen."));
    let setup = Setup::new().file("a.txt", "one\n\n\nfour\n").anthropic(&server).size(80, 24);
    let nvim = Nvim::start(&setup);
    nvim.keys(":edit a.txt<CR>:1,2Caliban add<CR>:2,2Caliban add<CR>:3,4Caliban add<CR>");
    let chips = ["a.txt:1-2  2 lines", "a.txt:2  1 line ", "a.txt:3-4  2 lines"];
    for chip in chips {
        nvim.wait_screen(chip);
    }
    nvim.keys(":Caliban<CR>isee @a.txt:1-3 <C-s>");
    nvim.wait_transcript("Seen.");
    nvim.wait_gone("<C-x> removes");
    for chip in
        ["a.txt:1-2  2 lines", "a.txt:2  1 line ", "a.txt:3-4  2 lines", "a.txt:1-3  3 lines"]
    {
        nvim.wait_screen(chip);
    }
}

#[test]
fn chips_that_have_no_room_are_counted_in_a_low_window() {
    for (columns, rows) in [(60, 20), (80, 24)] {
        let server = Server::start();
        server.otherwise(Reply::said("Seen."));
        let names: Vec<String> =
            (1..=8).map(|n| format!("a-file-of-some-length-{n}.txt")).collect();
        let setup = names.iter().fold(Setup::new(), |it, name| it.file(name, "one\ntwo\n"));
        let nvim = Nvim::start(&setup.anthropic(&server).size(columns, rows));
        nvim.keys(&format!(":edit {}<CR>Vj:Caliban<CR>", names[0]));
        let mentions: Vec<String> = names[1..].iter().map(|it| format!("@{it}")).collect();
        nvim.keys(&format!("i{}<Esc>", mentions.join(" ")));
        // what is not shown is counted: each chip is on the screen or in the number
        let counted = |it: &Nvim| {
            let screen = it.screen();
            let chips = screen.lines().filter(|it| it.contains("tokens")).count();
            let more = screen
                .split_once(" more")
                .and_then(|(it, _)| it.rsplit_once('+').and_then(|(_, n)| n.parse::<usize>().ok()));
            chips > 0 && more.is_some_and(|it| it + chips == 8)
        };
        nvim.wait(counted, &format!("the number of chips at {columns}x{rows}"));
        nvim.keys("ggdG");
        nvim.wait(|it| !it.screen().contains("more"), "one chip");
        nvim.wait_screen("selection  a-file-of-some-length-1.txt:1-2");
    }
}
