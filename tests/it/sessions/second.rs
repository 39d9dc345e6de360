//! A second Neovim opens a conversation that is open in the first Neovim: it names the first Neovim, and can read, copy
//! or take over the conversation.

use super::names::{say, talked};
use super::*;
use crate::review::scene::{edit, nine};

/// A conversation with one turn in a first Neovim, and a second Neovim that asks whether to read, copy or take over the
/// conversation.
fn two(server: &Server) -> (Setup, Nvim, Nvim) {
    let setup = wide().anthropic(server).file("a.txt", nine());
    let first = talked(&setup, server, "one", "The first.");
    let second = Nvim::start(&setup);
    second.keys(":Caliban<CR>");
    second
        .wait_screen(&format!("main is open in another Neovim (process {}, since 2", first.pid()));
    (setup, first, second)
}

fn wait_words(nvim: &Nvim, session: &str, text: &str) {
    wait_buffer(nvim, &format!("caliban://{session}"), text);
}

fn wait_buffer(nvim: &Nvim, name: &str, text: &str) {
    let code = format!(
        "local buf = vim.fn.bufnr('^{name}$')
        return buf > 0 and table.concat(vim.api.nvim_buf_get_lines(buf, 0, -1, false), '\\n') or ''"
    );
    nvim.wait(|nvim| nvim.lua_str(&code).contains(text), &format!("{text:?} in {name}"));
}

#[test]
fn a_conversation_open_elsewhere_can_be_read_and_forked() {
    let server = Server::start();
    let (setup, first, second) = two(&server);
    second.keys("1<CR>");
    second.wait_session("main");
    wait_words(&second, "main", "The first.");
    wait_words(&second, "main", "It is read-only here: /fork continues it in a copy.");
    second.wait_screen("read only");
    second.wait_screen("Read only. /fork continues in a copy");
    let before = session(&setup, "main");
    second.keys("imine<C-s>");
    second.wait_screen("This conversation is read-only here. /fork continues it in a copy.");
    wait_buffer(&second, "caliban://main/prompt", "mine");
    second.keys("<Esc>:Caliban mode plan<CR>:Caliban rename other<CR>");
    say(&first, &server, "two", "The second.");
    assert_eq!(session(&setup, "main")["mode"], before["mode"]);

    second.keys("ggdG:call feedkeys('i/fork' .. \"\\<lt>C-s>\", 't')<CR>");
    second.wait_session("main-3");
    wait_words(&second, "main-3", "The first.");
    say(&second, &server, "in the copy", "The copy's.");
    let heard = server.wait_requests(3)[2].outline();
    assert!(heard.contains("user: one") && !heard.contains("only be read"), "{heard}");
    second.quit_with("<Esc>:qa!<CR>");
    first.quit_with("<Esc>:qa!<CR>");
    assert_eq!(said(&setup, "main").len(), 4);
    assert_eq!(said(&setup, "main-3").last().unwrap(), "assistant: The copy's.");
}

#[test]
fn a_conversation_open_elsewhere_can_be_copied_without_opening_it_first() {
    let server = Server::start();
    let (setup, first, second) = two(&server);
    second.keys("2<CR>");
    second.wait_session("main-3");
    say(&second, &server, "in the copy", "The copy's.");
    say(&first, &server, "two", "The second.");
    assert_eq!(said(&setup, "main").len(), 4);
    let copy = said(&setup, "main-3");
    assert_eq!(copy[2], "note: This is a copy of `main`, which stays as it is.");
    assert_eq!(copy.len(), 5);
}

#[test]
fn a_conversation_taken_over_can_be_taken_back() {
    let server = Server::start();
    let (setup, first, second) = two(&server);
    first.keys("iunsent");
    second.keys("3<CR>");
    second.wait_session("main");
    wait_words(&second, "main", "The first.");
    wait_words(&first, "main", "was taken over by another Neovim (process ");
    say(&second, &server, "two", "The second.");
    first.keys("<C-s>");
    first.wait_screen("This conversation is read-only here. /fork continues it in a copy.");
    wait_buffer(&first, "caliban://main/prompt", "unsent");
    assert_eq!(server.requests().len(), 2);

    first.keys("<Esc>:Caliban resume main<CR>");
    first.wait_screen("main is open in another Neovim (process ");
    first.keys("3<CR>");
    wait_words(&first, "main", "The second.");
    wait_words(&second, "main", "was taken over by another Neovim (process ");
    server.reply(Reply::said("The third."));
    first.lua("require('caliban').ask('three')", &[]);
    wait_words(&first, "main", "The third.");
    first.wait_phase("idle");
    assert_eq!(said(&setup, "main").len(), 6);
    // The channels between the two Neovims are closed.
    for nvim in [&first, &second] {
        let sockets = "return #vim.tbl_filter(function(it) return it.stream == 'socket' end, vim.api.nvim_list_chans())";
        nvim.wait(|nvim| nvim.lua_json(sockets) == 0, "the end of the channels between them");
    }
}

#[test]
fn taking_a_conversation_over_stops_its_turn_and_brings_its_review() {
    let server = Server::start();
    let (setup, first, second) = two(&server);
    let edits = edit("a.txt", &[("l2", "L2"), ("l8", "L8")]);
    server.reply(Reply::new().call("e1", "edit", edits));
    first.lua("require('caliban').ask('change it')", &[]);
    first.wait_phase("reviewing");
    second.keys("3<CR>");
    second.wait_session("main");
    second.wait_hunks(2);
    assert_eq!(first.pending(), 0);
    first.wait_phase("idle");
    second.keys("<Esc>:Caliban accept all<CR>");
    second.wait_hunks(0);
    assert_eq!(setup.on_disk("a.txt"), Some(nine().replace("l2", "L2").replace("l8", "L8")));
    server.reply(Reply::said("I see."));
    second.lua("require('caliban').ask('go on')", &[]);
    wait_words(&second, "main", "I see.");
    let request = &server.wait_requests(3)[2];
    assert!(
        request.answer("e1").contains("The user's verdict on this edit will follow"),
        "{}",
        request.json
    );
    assert!(request.last_user_text().contains("The user accepted 2 changes in a.txt."));
}

#[test]
fn a_conversation_with_hunks_and_a_question_can_be_taken_over() {
    let server = Server::start();
    let config = "{ mode = 'auto-edit' }";
    // the built-in list leaves its rows on the screen, after which a message waits for a key
    let list = "vim.ui.select = function(_, _, choose) KitChoose = choose end";
    let setup = wide().before(list).anthropic(&server);
    let setup = setup.file("a.txt", nine()).config(config);
    let first = talked(&setup, &server, "one", "The first.");
    let calls = Reply::new().call("e1", "edit", edit("a.txt", &[("l2", "L2"), ("l8", "L8")])).call(
        "s1",
        "shell",
        serde_json::json!({ "command": "touch made" }),
    );
    server.reply(calls);
    first.lua("require('caliban').ask('change it')", &[]);
    first.wait_hunks(2);
    first.wait_question();
    let second = Nvim::start(&setup);
    second.keys(":Caliban<CR>");
    second.wait(|it| it.lua_json("return KitChoose ~= nil") == true, "the offer");
    second.lua("KitChoose('Take it over', 3)", &[]);
    second.wait_session("main");
    second.wait_hunks(2);
    wait_words(&second, "main", "The first.");
    wait_words(&first, "main", "was taken over by another Neovim (process ");
    assert_eq!(first.pending(), 0);
    let shown = first.screen();
    for gone in ["waiting for you", "allow", "1 once"] {
        assert!(!shown.contains(gone), "{gone}: {shown}");
    }
}

fn composer(nvim: &Nvim, session: &str) -> String {
    nvim.buffer(&format!("caliban://{session}/prompt"))
}

#[test]
fn a_draft_in_a_read_only_conversation_is_kept_for_its_fork() {
    let server = Server::start();
    let (setup, _first, second) = two(&server);
    second.keys("1<CR>");
    second.wait_session("main");
    wait_words(&second, "main", "It is read-only here");
    second.keys("ihalf a thought");
    second.quit_with("<Esc>:qa!<CR>");
    let second = Nvim::start(&setup);
    second.keys(":Caliban<CR>");
    second.wait_screen("main is open in another Neovim");
    second.keys("1<CR>");
    second.wait_session("main");
    wait_buffer(&second, "caliban://main/prompt", "half a thought");
    second.keys("<Esc>:Caliban fork<CR>");
    second.wait_session("main-3");
    wait_buffer(&second, "caliban://main-3/prompt", "half a thought");
    assert_eq!(composer(&second, "main"), "");
    second.quit_with("<Esc>:qa!<CR>");
    assert!(!files(&setup).iter().any(|it| it.ends_with(".unsent")));
    let draft = fs::read_to_string(setup.sessions().join("main-3.draft")).unwrap();
    assert!(draft.contains("half a thought"), "{draft}");
}

#[test]
fn taking_a_conversation_over_brings_its_draft_and_loses_no_text() {
    let server = Server::start();
    let (setup, first, second) = two(&server);
    first.keys("ihalf a thought");
    second.keys("3<CR>");
    second.wait_session("main");
    wait_buffer(&second, "caliban://main/prompt", "half a thought");
    wait_words(&first, "main", "was taken over by another Neovim (process ");
    assert_eq!(composer(&first, "main"), "half a thought");
    // The first Neovim takes the conversation back and gets the text of both composers.
    second.keys("<Esc>:Caliban<CR>:call setline(1, 'another')<CR>");
    first.keys("<Esc>:Caliban resume main<CR>");
    first.wait_screen("main is open in another Neovim (process ");
    first.keys("3<CR>");
    wait_words(&second, "main", "was taken over by another Neovim (process ");
    wait_buffer(&first, "caliban://main/prompt", "another\n\nhalf a thought");
    // text typed in the second Neovim from now on is saved as well
    second.keys("Gomine<Esc>");
    second.quit_with(":qa!<CR>");
    first.quit_with("<Esc>:qa!<CR>");
    let nvim = Nvim::start(&setup);
    nvim.keys(":Caliban<CR>");
    let all = "another\n\nhalf a thought\n\nanother\nmine";
    wait_buffer(&nvim, "caliban://main/prompt", all);
    assert!(!files(&setup).iter().any(|it| it.ends_with(".unsent")));
}

#[test]
fn a_killed_neovim_keeps_no_lock() {
    let server = Server::start();
    let setup = wide().anthropic(&server);
    let first = talked(&setup, &server, "one", "The first.");
    first.kill();
    no_processes(&first);
    let second = Nvim::start(&setup);
    second.keys(":Caliban<CR>");
    wait_words(&second, "main", "The first.");
    say(&second, &server, "two", "The second.");
    assert_eq!(said(&setup, "main").len(), 4);
}

#[test]
fn a_headless_neovim_gets_a_new_conversation_without_a_question() {
    let server = Server::start();
    let setup = wide().anthropic(&server);
    let _first = talked(&setup, &server, "one", "The first.");
    let second = Nvim::start(&setup.clone().headless());
    server.reply(Reply::said("To the script."));
    second.lua("require('caliban').ask('from a script')", &[]);
    second.wait_session("main-2");
    wait_words(&second, "main-2", "To the script.");
    wait_words(
        &second,
        "main-2",
        "offers to read that conversation, to copy it or to take it over.",
    );
    assert_eq!(said(&setup, "main").len(), 2);
}

#[test]
fn the_session_file_of_a_newer_version_is_read_and_never_written() {
    let server = Server::start();
    let setup = wide().anthropic(&server);
    let nvim = talked(&setup, &server, "hi", "Whole.");
    nvim.quit_with(":qa<CR>");
    let path = setup.sessions().join("main.json");
    let mut file = session(&setup, "main");
    file["schema"] = 99.into();
    file["marvel"] = serde_json::json!({"of": "tomorrow"});
    let messages = file["messages"].as_array_mut().unwrap();
    messages.push(serde_json::json!({"role": "oracle", "visions": []}));
    let newer = serde_json::to_string_pretty(&file).unwrap();
    fs::write(&path, &newer).unwrap();

    let nvim = Nvim::start(&setup);
    nvim.keys(":Caliban<CR>");
    wait_words(&nvim, "main", "Whole.");
    wait_words(&nvim, "main", "was written by a newer Caliban (format 99)");
    wait_words(&nvim, "main", "1 message in it has an unknown form and is not shown.");
    nvim.keys("imore<C-s>");
    nvim.wait_screen("This conversation is read-only here. /fork continues it in a copy.");
    nvim.quit_with("<Esc>:qa!<CR>");
    let nvim = Nvim::start(&setup);
    nvim.keys(":Caliban<CR>");
    wait_words(&nvim, "main", "Whole.");
    wait_buffer(&nvim, "caliban://main/prompt", "more");
    nvim.keys("<Esc>ggdG:call feedkeys('i/fork' .. \"\\<lt>C-s>\", 't')<CR>");
    nvim.wait_session("main-2");
    say(&nvim, &server, "in the copy", "The copy's.");
    nvim.quit_with("<Esc>:qa!<CR>");
    assert_eq!(fs::read_to_string(&path).unwrap(), newer);
    assert_eq!(session(&setup, "main-2")["schema"], 1);
}

/// Lets `make` create another copy of the repository at `place`. Checks that Caliban offers the conversation there, and
/// continues it in a copy.
fn goes_on_in_a_copy(place: &str, make: impl FnOnce(&Setup, &Path)) {
    let server = Server::start();
    let setup = wide().anthropic(&server).file(".git/logs/HEAD", "0 abc me 1\n");
    let nvim = talked(&setup, &server, "one", "The first.");
    nvim.quit_with(":qa<CR>");
    let (here, place) = (setup.sessions(), setup.dir().join(place));
    let before = fs::read(here.join("main.json")).unwrap();
    make(&setup, &place);

    let nvim = Nvim::start(&setup);
    nvim.keys(&format!(":cd {}<CR>:Caliban<CR>", place.display()));
    nvim.wait_screen("Earlier  Conversations of this repository from");
    nvim.keys(":Caliban sessions<CR>");
    nvim.wait_screen("copy from ");
    nvim.keys("1<CR>");
    nvim.wait_session("main-2");
    wait_words(&nvim, "main-2", "The first.");
    say(&nvim, &server, "two", "The second.");
    assert!(server.wait_requests(2)[1].outline().contains("user: one"));
    nvim.quit_with(":qa<CR>");
    assert_eq!(fs::read(here.join("main.json")).unwrap(), before);
    assert!(!here.join("main-2.json").exists());
}

#[test]
fn a_conversation_of_another_worktree_is_offered_as_a_copy() {
    goes_on_in_a_copy("tree", |setup, tree| {
        let own = setup.path(".git/worktrees/tree");
        fs::create_dir_all(&own).unwrap();
        fs::create_dir_all(tree).unwrap();
        fs::write(own.join("commondir"), "../..\n").unwrap();
        fs::write(tree.join(".git"), format!("gitdir: {}\n", own.display())).unwrap();
    });
}

#[test]
fn after_the_project_folder_was_moved_its_conversation_is_offered_as_a_copy() {
    goes_on_in_a_copy("moved", |setup, moved| {
        let project = setup.dir().join("project");
        fs::rename(&project, moved).unwrap();
        fs::create_dir(&project).unwrap();
    });
}

#[test]
fn a_queued_message_in_a_conversation_taken_over_is_not_called_queued() {
    let server = Server::start();
    let (_setup, first, second) = two(&server);
    let _gate = server.reply(Reply::said("Still").text(" at it.").gate());
    first.lua("require('caliban').ask('go')", &[]);
    wait_words(&first, "main", "Still");
    first.lua("require('caliban').ask('and then', { steer = true })", &[]);
    wait_words(&first, "main", "◷ ");
    second.keys("3<CR>");
    second.wait_session("main");
    wait_words(&first, "main", "was taken over by another Neovim (process ");
    wait_words(&first, "main", "◷ not sent: and then");
    first.keys(":Caliban<CR>");
    first.wait_screen(":Caliban fork");
    assert!(!first.screen().contains("joins this turn"), "{}", first.screen());
}

/// On the commonest screens the question and what may be done then are whole.
#[test]
fn a_conversation_open_elsewhere_is_asked_about_on_small_screens() {
    for (columns, lines) in [(60, 20), (80, 24)] {
        let server = Server::start();
        let setup = wide().anthropic(&server).file("a.txt", nine()).size(columns, lines);
        let first = talked(&setup, &server, "one", "The first.");
        let second = Nvim::start(&setup);
        second.keys(":Caliban<CR>");
        let packed = |text: &str| text.split_whitespace().collect::<String>();
        let has =
            |words: &'static str| move |it: &Nvim| packed(&it.screen()).contains(&packed(words));
        for words in ["main is open in another Neovim", "1: ", "2: ", "3: "] {
            second.wait(has(words), &format!("{words:?} at {columns}x{lines}"));
        }
        second.keys("1<CR>");
        second.wait_session("main");
        for words in [
            "The first.",
            "It is read-only here: /fork continues it in a copy.",
            "Read only. /fork",
        ] {
            second.wait(has(words), &format!("{words:?} at {columns}x{lines}"));
        }
        second.quit_with(":qa!<CR>");
        first.quit_with("<Esc>:qa!<CR>");
    }
}
