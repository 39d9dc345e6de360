//! A line of many kilobytes: the transcript shows the line in several pieces, each with a mark. Copies, exports and
//! requests contain the whole line.

use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::kit::setup::Setup;

/// The transcript splits a line that has more bytes than this.
const MOST: usize = 8192;

/// A line of this many bytes, with characters of one to four bytes and no trailing blank.
fn line(bytes: usize) -> String {
    let mut line: String = "aé€𝄞 ".chars().cycle().take(bytes / 2).collect();
    while line.len() + 4 > bytes {
        line.pop();
    }
    line + &"x".repeat(4)
}

fn chat(setup: Setup, server: &Server) -> Nvim {
    let nvim = Nvim::start(&setup.anthropic(server));
    nvim.keys(":Caliban<CR>");
    nvim
}

/// The lines of the transcript, from the first line that begins like `line`.
fn shown(nvim: &Nvim, line: &str) -> Vec<String> {
    let start = &line[..line.char_indices().nth(100).unwrap().0];
    let lines: Vec<String> = nvim.transcript().lines().map(str::to_owned).collect();
    let at = lines.iter().position(|it| it.starts_with(start)).unwrap();
    lines[at..].to_vec()
}

fn register(nvim: &Nvim, name: &str) -> String {
    nvim.lua_str(&format!("return vim.fn.getreg('{name}')"))
}

#[test]
fn a_very_long_line_is_split_in_the_chat_and_whole_in_the_export() {
    let server = Server::start();
    let long = line(3 * MOST + 500);
    server.reply(Reply::said(&format!("Here:\n{long}\nThat was it.")));
    server.reply(Reply::said("Yes."));
    let setup = Setup::new();
    let nvim = chat(setup, &server);
    nvim.ask("go", "That was it.");
    let lines = shown(&nvim, &long);
    assert!(lines.iter().all(|it| it.len() <= MOST), "a line of the buffer is too long");
    assert!(lines[..3].iter().all(|it| it.len() > MOST - 4), "a line is cut too early");
    assert_eq!(lines[..4].concat(), long);
    assert_eq!(lines[4], "That was it.");
    nvim.wait_screen("↪ ");

    nvim.lua("require('caliban').ask('/export out.md')", &[]);
    nvim.wait_screen("out.md");
    let path = nvim.setup.dir().join("project/out.md");
    let is_whole = |_: &Nvim| std::fs::read_to_string(&path).is_ok_and(|it| it.contains(&long));
    nvim.wait(is_whole, "the whole line in the export");
    nvim.ask("again?", "Yes.");
    assert!(server.requests()[1].outline().contains(&long), "the model has it whole");

    // the chat shows the same after a restart has read the conversation from its file
    nvim.command("Caliban restart");
    nvim.wait(|nvim| nvim.setup.debug_log().matches(" hello ").count() == 2, "a new program");
    nvim.wait_phase("idle");
    let is_shown = |nvim: &Nvim| {
        let lines: Vec<String> = nvim.transcript().lines().map(str::to_owned).collect();
        let begins = lines.iter().position(|it| it == "Here:");
        begins.is_some_and(|it| lines.len() > it + 5 && lines[it + 1..it + 5].concat() == long)
    };
    nvim.wait(is_shown, "the line in several again");
    nvim.wait_transcript("Yes.");
}

#[test]
fn yanking_a_split_line_copies_all_of_it() {
    let server = Server::start();
    let long = line(3 * MOST + 500);
    let code = line(2 * MOST);
    server.reply(Reply::said(&format!("{long}\nshort\n\n```\n{code}\nmore\n```\nThat was it.")));
    let nvim = chat(Setup::new(), &server);
    nvim.ask("go", "That was it.");
    let first = shown(&nvim, &long)[0].clone();

    nvim.go_to_transcript("short");
    nvim.keys("kkyy");
    assert_eq!(register(&nvim, "\""), format!("{long}\n"), "from any of its lines");
    nvim.keys("\"ayj");
    assert_eq!(register(&nvim, "a"), format!("{long}\n"), "two of its lines");
    nvim.go_to_transcript("short");
    nvim.keys("4k0vj0\"by");
    let next = long[first.len()..].chars().next().unwrap();
    assert_eq!(register(&nvim, "b"), format!("{first}{next}"));
    nvim.keys("jjjj\"cyy");
    assert_eq!(register(&nvim, "c"), "short\n", "other lines are as they were");

    nvim.keys("Gyy");
    assert_eq!(register(&nvim, "\""), "That was it.\n");

    nvim.go_to_transcript("more");
    nvim.keys("kgy");
    assert_eq!(register(&nvim, "\""), format!("{code}\nmore\n"));
}

#[test]
fn yanking_a_split_line_to_the_clipboard_copies_all_of_it() {
    let server = Server::start();
    let long = line(2 * MOST);
    server.reply(Reply::said(&format!("{long}\nThat was it.")));
    let nvim = chat(Setup::new(), &server);
    nvim.lua(
        "vim.g.clipboard = { name = 'test',
           copy = { ['+'] = function(lines) Copied = lines end, ['*'] = function() end },
           paste = { ['+'] = function() return Copied end, ['*'] = function() end } }
         vim.o.clipboard = 'unnamedplus'",
        &[],
    );
    nvim.ask("go", "That was it.");
    nvim.go_to_transcript("That was it.");
    nvim.keys("kyy");
    assert_eq!(nvim.lua_str("return table.concat(Copied, '\\n')"), format!("{long}\n"));
}

#[test]
fn an_opened_thought_shows_the_beginning_of_a_very_long_line() {
    let server = Server::start();
    let long = "thinking ".repeat(3000);
    let gate = server.reply(Reply::new().thinking(&long).gate().thinking("end").text("Done."));
    let nvim = chat(Setup::new(), &server);
    nvim.lua("require('caliban').ask('go')", &[]);
    nvim.wait_transcript("▸ Thinking");
    nvim.go_to_transcript("▸ Thinking");
    nvim.keys("<CR>");
    nvim.wait_transcript("thinking thinking");
    nvim.wait_transcript("…");
    assert!(nvim.transcript().lines().all(|it| it.len() <= MOST + 8));
    gate.release();
    nvim.wait_phase("idle");
}
