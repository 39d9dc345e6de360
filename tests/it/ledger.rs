//! Tests `/context` and `/context_size`, which show what fills the model's window, and the removal of items.

use crate::kit::chat::{DIALECTS, assert_grows, common};
use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use expect_test::expect;
use serde_json::json;

/// A text of 300 lines, about 7 kB.
fn long(word: &str) -> String {
    let lines: Vec<String> = (0..300).map(|n| format!("{word} is the line {n:03}\n")).collect();
    lines.concat()
}

const ROOMY: &str = "{ models = { ['ollama/qwen3:8b'] = { num_ctx = 32768 } } }";

/// Sends a slash command and waits until the transcript contains the text this many times.
fn command(nvim: &Nvim, command: &str, text: &str, times: usize) {
    nvim.keys(&format!(":Caliban<CR>i{command}<C-s><Esc>"));
    nvim.wait(|it| it.transcript().matches(text).count() == times, text);
}

/// Sends a slash command and waits until Caliban refuses it with this reason.
fn refused(nvim: &Nvim, command: &str, why: &str) {
    nvim.command("messages clear");
    nvim.keys(&format!(":Caliban<CR>i{command}<C-s><Esc>"));
    let messages = |it: &Nvim| it.lua_str("return vim.fn.execute('messages')");
    nvim.wait(|it| messages(it).contains(why), why);
}

/// The rows of the last table of `/context`: each row's letter and text, and its number of tokens.
fn rows(transcript: &str) -> Vec<(String, u64)> {
    let table = transcript.rsplit("! About ").next().unwrap_or_default();
    let figure = |it: &str| it.replace(',', "").parse::<u64>().ok();
    let row = |it: &str| {
        let (name, rest) = it.trim_start().split_once("  ")?;
        let words: Vec<&str> = rest.split_whitespace().collect();
        let at = words.iter().position(|it| figure(it).is_some())?;
        (words.last() == Some(&"%")).then(|| (name.to_owned(), figure(words[at]).unwrap_or(0)))
    };
    table.lines().filter_map(row).collect()
}

/// The total of the last table, which is the sum of its sections.
fn total(transcript: &str) -> u64 {
    let table = rows(transcript);
    let at = table.iter().position(|it| it.0 == "in all").unwrap();
    assert_eq!(table[..at].iter().map(|it| it.1).sum::<u64>(), table[at].1, "{transcript}");
    table[at].1
}

/// The list of the largest items in the last table, without numbers.
fn largest(transcript: &str) -> String {
    let list = transcript.rsplit("The largest items").next().unwrap_or_default();
    let names = list.lines().skip(1).take_while(|it| it.contains(". "));
    let names = names.map(|it| it.split_once("  ").map_or(it, |it| it.1).trim_start());
    names.map(|it| it.split_once("  ").map_or(it, |it| it.1)).collect::<Vec<_>>().join("\n")
}

#[test]
fn slash_context_drop_takes_an_item_out_of_later_requests_in_every_dialect() {
    let told = DIALECTS.map(|dialect| {
        let server = Server::start();
        let setup = Setup::new().file("a.txt", long("that")).file("b.txt", long("this one"));
        let setup = setup.config(ROOMY).size(150, 40).speaking(dialect, &server);
        let read = Reply::new().text("I look.").call("c1", "read", json!({"path": "b.txt"}));
        server.reply(read.usage(9000, 10));
        server.reply(Reply::said("One.").usage(12_000, 40));
        let nvim = Nvim::start(&setup);
        nvim.keys(":Caliban<CR>iwhat is in @a.txt?<C-s><Esc>");
        nvim.wait_transcript("One.");
        nvim.wait_phase("idle");
        command(&nvim, "/context", "The largest items", 1);
        let before = nvim.transcript();
        assert_eq!(total(&before), 12_040);
        command(&nvim, "/context drop 1", "Dropped: ", 1);
        command(&nvim, "/context drop 1", "Dropped: ", 2);
        server.reply(Reply::said("Two."));
        nvim.ask("two", "Two.");
        nvim.quit_with(":qa!<CR>");
        let nvim = Nvim::start(&setup);
        nvim.keys(":Caliban<CR>");
        nvim.wait_transcript("Two.");
        server.reply(Reply::said("Three."));
        nvim.ask("three", "Three.");
        let requests = server.requests();
        assert!(requests[1].answer("c1").contains("this one is the line 299"));
        assert!(requests[1].outline().contains("that is the line 299"));
        assert_grows(requests[..2].to_vec());
        assert_grows(requests[2..].to_vec());
        assert_eq!(requests[1].system_text(), requests[3].system_text());
        let outline = requests[3].outline();
        assert!(!outline.contains("the line"), "{outline}");
        assert!(outline.contains("what is in @a.txt?") && outline.contains("I look."), "{outline}");
        // some dialects join the texts of a message, so the line has to be found
        let line = outline.lines().find(|it| it.contains("removed by")).unwrap_or_default();
        let line = line.split(']').next().unwrap_or_default();
        let transcript = nvim.transcript();
        let dropped: Vec<&str> = transcript.lines().filter(|it| it.contains("Dropped")).collect();
        let dropped: Vec<&str> =
            dropped.iter().filter_map(|it| it.split_once(" (about").map(|it| it.0)).collect();
        format!(
            "{}\n{}\n{}\n{line}",
            largest(&before),
            dropped.join("\n"),
            requests[3].answer("c1")
        )
    });
    expect![[r#"
        result of `read b.txt`
        file a.txt
        ! Dropped: the model now gets one line in place of the result of `read b.txt`
        ! Dropped: the model now gets one line in place of the file a.txt
        read path="b.txt": 9 kB, trimmed; call read again if needed
        user: [file a.txt: 6 kB, removed by the user; read it again if needed"#]]
    .assert_eq(common(&told));
}

#[test]
fn the_key_x_on_the_last_list_of_slash_context_takes_out_the_item_under_the_cursor() {
    let server = Server::start();
    let setup = Setup::new().file("a.txt", long("that")).file("b.txt", long("this one"));
    let setup = setup.size(120, 60).anthropic(&server);
    let nvim = Nvim::start(&setup);
    nvim.keys(":Caliban<CR>");
    server.reply(Reply::said("Seen."));
    nvim.ask("look at @a.txt and @b.txt", "Seen.");
    command(&nvim, "/context", "The largest items", 1);
    command(&nvim, "/context", "The largest items", 2);
    // `x` is typed on the line below the first heading, on the second heading, and on the item below it.
    nvim.go_to_transcript("The largest items");
    nvim.keys("jx");
    nvim.keys("/largest items<CR>x");
    nvim.keys("jx");
    nvim.wait_transcript("Dropped: the model now gets one line in place of the file b.txt");
    nvim.wait(|it| it.transcript().matches("The largest items").count() == 3, "the new list");
    assert_eq!(nvim.transcript().matches("Dropped: ").count(), 1);
    server.reply(Reply::said("Gone."));
    nvim.ask("go on", "Gone.");
    let outline = server.requests()[1].outline();
    assert!(outline.contains("that is the line") && !outline.contains("this one"), "{outline}");
}

/// The number means an item in the list that was shown last. With a wrong number nothing is taken out.
#[test]
fn slash_context_drop_takes_out_only_items_of_the_last_list() {
    let server = Server::start();
    let setup = Setup::new().file("a.txt", long("that")).size(120, 40).anthropic(&server);
    let nvim = Nvim::start(&setup);
    nvim.keys(":Caliban<CR>");
    refused(&nvim, "/context drop 1", "The last list has no item with this number.");
    server.reply(Reply::said(&"An answer of some length. ".repeat(20)));
    nvim.ask("look at @a.txt", "some length.");
    command(&nvim, "/context", "The largest items", 1);
    for (given, said) in [
        ("/context drop 9", "The last list has no item with this number."),
        ("/context drop 0", "The last list has no item with this number."),
        ("/context drop", "The last list has no item with this number."),
        ("/context drop 2", "cannot be taken out: only files and results can."),
        ("/context everything", "Use /context alone, or with drop and a number"),
    ] {
        refused(&nvim, given, said);
    }
    let gate = server.reply(Reply::new().text("I see ").gate().text("more."));
    nvim.keys(":Caliban<CR>igo on<C-s><Esc>");
    nvim.wait_transcript("I see");
    refused(&nvim, "/context drop 1", "A turn is running. Stop it first (<C-c>).");
    gate.finish();
    nvim.wait_transcript("I see more.");
    nvim.wait_phase("idle");
    assert!(!nvim.transcript().contains("Dropped"), "{}", nvim.transcript());
    assert_grows(server.requests());
}

/// The thoughts of such a model are valid only after exactly the messages before them, so all messages are sent again.
#[test]
fn items_cannot_be_taken_out_if_the_models_thoughts_are_bound_to_earlier_messages() {
    let server = Server::start();
    let setup = Setup::new().file("a.txt", long("that")).size(150, 40).anthropic(&server);
    let nvim = Nvim::start(&setup.env("CALIBAN_MODEL", "anthropic/claude-opus-5-5"));
    nvim.keys(":Caliban<CR>");
    server.reply(Reply::said("One."));
    nvim.ask("look at @a.txt", "One.");
    command(&nvim, "/context", "The largest items", 1);
    assert!(nvim.transcript().contains("Old results are never trimmed"));
    refused(&nvim, "/context drop 1", "are valid only with the messages before them");
    server.reply(Reply::said("Two."));
    nvim.ask("two", "Two.");
    assert_grows(server.requests());
}

/// `/context_size` shows one line, computed from the provider's counts. The line is not sent to the model.
#[test]
fn slash_context_size_shows_one_line_in_every_dialect() {
    let told = DIALECTS.map(|dialect| {
        let server = Server::start();
        let setup = Setup::new().config(ROOMY).size(150, 40).speaking(dialect, &server);
        let nvim = Nvim::start(&setup);
        nvim.keys(":Caliban<CR>");
        server.reply(Reply::said("One.").usage(16_000, 384));
        nvim.ask("one", "One.");
        command(&nvim, "/context_size", "! About 16,000 of", 1);
        server.reply(Reply::said("Two."));
        nvim.ask("two", "Two.");
        assert!(!server.requests()[1].outline().contains("About"));
        let transcript = nvim.transcript();
        let line = transcript.lines().find(|it| it.contains("About")).unwrap_or_default();
        line.to_owned()
    });
    expect![[r#"
        ! About 16,000 of 200,000 tokens (8 %). Old results are trimmed at 100,000 (50 %), and the conversation is compacted at 150,000 (75 %).
        ! About 16,000 of 400,000 tokens (4 %). Old results are trimmed at 200,000 (50 %), and the conversation is compacted at 300,000 (75 %).
        ! About 16,000 of 400,000 tokens (4 %). Old results are trimmed at 200,000 (50 %), and the conversation is compacted at 300,000 (75 %).
        ! About 16,000 of 1,048,576 tokens (2 %). Old results are trimmed at 520,000 (50 %), and the conversation is compacted at 780,000 (75 %).
        ! About 16,000 of 32,768 tokens (50 %). Old results are trimmed at 16,000 (50 %), and the conversation is compacted at 16,000 (50 %)."#]].assert_eq(&told.join("\n"));
}

/// A provider's count is ignored if a request cannot have so many tokens.
#[test]
fn absurd_token_counts_of_a_provider_do_not_break_the_numbers_of_slash_context() {
    let server = Server::start();
    let nvim = Nvim::start(&Setup::new().size(150, 40).anthropic(&server));
    nvim.keys(":Caliban<CR>");
    for (n, (input, output)) in [(u64::MAX, u64::MAX), (0, 0), (1, 0)].into_iter().enumerate() {
        server.reply(Reply::said("One.").usage(input, output));
        nvim.ask("one", "One.");
        command(&nvim, "/context", "Old results are trimmed at", n + 1);
        total(&nvim.transcript());
    }
}
