//! Many conversations: the picker, and the search in all conversations.

use super::names::{say, talked};
use super::*;
use serde_json::json;

/// Opens the picker and waits until it is on the screen.
fn pick(nvim: &Nvim, text: &str) {
    nvim.keys(&format!(":Caliban sessions {text}<CR>"));
    nvim.wait_screen("Type number and <Enter>");
}

/// The picker's rows on the screen.
fn rows(nvim: &Nvim) -> Vec<String> {
    let screen = nvim.screen();
    let (_, list) = screen.rsplit_once("Conversation").unwrap();
    let rows = list.lines().filter(|it| it.split_once(": ").is_some_and(|it| it.0.len() == 1));
    rows.map(str::to_owned).collect()
}

#[test]
fn the_picker_shows_titles_and_opens_the_chosen_conversation() {
    let server = Server::start();
    let setup = wide().anthropic(&server);
    let nvim = Nvim::start(&setup);
    nvim.keys(":Caliban new plan<CR>");
    nvim.wait_screen("Project");
    say(&nvim, &server, "Fix the parser\nand its tests", "Fixed.");
    nvim.keys(":Caliban new<CR>");
    nvim.wait_gone("Fixed.");
    say(&nvim, &server, "Write a poem", "Roses.");
    assert_eq!(session(&setup, "plan")["title"], "Fix the parser");
    nvim.keys(":Caliban new! hidden<CR>");
    nvim.wait_gone("Roses.");
    pick(&nvim, "");
    nvim.wait_screen("1: main    Write a poem    now          1 turn  ");
    nvim.wait_screen("2: plan    Fix the parser  now          1 turn  ");
    nvim.wait_screen("3: hidden                  never saved                open here");
    nvim.keys("2<CR>");
    nvim.wait_screen("Fixed.");
    assert_eq!(nvim.session(), "plan");
    for command in ["/sessions", "/resume"] {
        nvim.keys(&format!("<Esc>:Caliban<CR>i{command}<C-s>"));
        nvim.wait_screen("Type number and <Enter>");
        nvim.wait_screen("Write a poem");
        nvim.keys("<CR>");
        nvim.wait_gone("Type number and <Enter>");
    }
    nvim.keys("<Esc>:Caliban<CR>i/resume parser<C-s>");
    nvim.wait_screen("Type number and <Enter>");
    nvim.keys("<CR><Esc>");
    nvim.quit_with(":qa<CR>");

    let nvim = Nvim::start(&setup);
    pick(&nvim, "");
    nvim.wait_screen("2: plan  Fix the parser");
    assert!(!nvim.screen().contains("open here"), "{}", nvim.screen());
    nvim.keys("2<CR>");
    nvim.wait_screen("Fixed.");
}

#[test]
fn a_text_is_found_in_all_conversations() {
    let server = Server::start();
    let setup = wide().anthropic(&server);
    let nvim = talked(&setup, &server, "hello", "The Needle is in the haystack.");
    nvim.keys(":Caliban new other<CR>");
    nvim.wait_gone("The Needle");
    say(&nvim, &server, "nothing here", "Nothing.");
    pick(&nvim, "needle");
    nvim.wait_screen("1: main  hello");
    nvim.wait_screen("› The Needle is in the haystack.");
    assert!(!nvim.screen().contains("2: "), "{}", nvim.screen());
    nvim.keys("1<CR>");
    nvim.wait_gone("Nothing.");
    nvim.wait_screen("The Needle is in the haystack.");
    nvim.keys(":Caliban sessions no such words<CR>");
    nvim.wait_screen("No conversation of this project contains \"no such words\".");
}

#[test]
fn conversations_that_are_damaged_locked_or_of_a_newer_version_are_listed_with_the_reason() {
    let server = Server::start();
    let setup = wide().anthropic(&server);
    let _first = talked(&setup, &server, "mine", "Yours.");
    let folder = setup.sessions();
    let write = |name: &str, text: &str| fs::write(folder.join(name), text).unwrap();
    write("half.json", "{\"schema\": 1, \"name\": \"half\", \"tit");
    write("newer.json", &json!({"schema": 99, "turns": 1, "messages": []}).to_string());
    write("..json", "{}");
    write(&format!("{}.json", "x".repeat(200)), "{}");
    let title = "\u{1b}]0;owned\u{7}a\nb\u{1b}[2J";
    let hostile = json!({"messages": [], "schema": 1, "title": title, "turns": 2});
    write("hostile.json", &hostile.to_string());
    let nvim = Nvim::start(&setup);
    pick(&nvim, "");
    nvim.wait_screen("hostile  a     now  2 turns");
    nvim.wait_screen("main     mine  now  1 turn ");
    nvim.wait_screen("open elsewhere");
    nvim.wait_screen("! The conversation `newer` was written by a newer Caliban (format 99)");
    nvim.wait_screen("! The file of the conversation `half` is damaged");
    assert_eq!(rows(&nvim).len(), 4, "{}", nvim.screen());
    nvim.keys("<CR>");
}
