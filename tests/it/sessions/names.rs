//! The conversation that opens: one with a given name, the last conversation, a new conversation, or none after a
//! failure.

use super::*;

pub(super) fn say(nvim: &Nvim, server: &Server, text: &str, reply: &str) {
    server.reply(Reply::said(reply));
    nvim.lua("require('caliban').ask(...)", &[text.into()]);
    nvim.wait_screen(reply);
    nvim.wait_phase("idle");
}

/// Starts a Neovim, and sends a prompt that gets this reply.
pub(super) fn talked(setup: &Setup, server: &Server, text: &str, reply: &str) -> Nvim {
    let nvim = Nvim::start(setup);
    nvim.keys(":Caliban<CR>");
    nvim.wait_screen("Project");
    say(&nvim, server, text, reply);
    nvim
}

fn completed(nvim: &Nvim, line: &str) -> Vec<String> {
    let names = nvim.lua("return vim.fn.getcompletion(..., 'cmdline')", &[line.into()]);
    let names = names.as_array().unwrap().iter().map(|it| it.as_str().unwrap().to_owned());
    names.collect()
}

#[test]
fn each_conversation_has_a_name_that_resumes_it() {
    let server = Server::start();
    let setup = wide().anthropic(&server);
    let nvim = Nvim::start(&setup);
    nvim.keys(":Caliban new plan<CR>");
    nvim.wait_screen("Project");
    say(&nvim, &server, "about plans", "Plans it is.");
    nvim.keys(":Caliban new<CR>");
    nvim.wait_gone("Plans it is.");
    say(&nvim, &server, "about mains", "Mains it is.");
    assert_eq!(said(&setup, "plan"), ["user: about plans", "assistant: Plans it is."]);
    assert_eq!(said(&setup, "main"), ["user: about mains", "assistant: Mains it is."]);
    assert_eq!(completed(&nvim, "Caliban resume "), ["main", "plan"]);
    assert_eq!(completed(&nvim, "Caliban resume p"), ["plan"]);
    nvim.keys(":Caliban resume plan<CR>");
    nvim.wait_screen("Plans it is.");
    say(&nvim, &server, "more", "More of it.");
    nvim.keys(":Caliban new plan<CR>");
    nvim.wait_gone("More of it.");
    say(&nvim, &server, "another", "Another one.");
    assert_eq!(said(&setup, "plan-2").len(), 2);
    nvim.keys(":Caliban resume plan<CR>");
    nvim.wait_screen("More of it.");
    say(&nvim, &server, "last words", "So be it.");
    nvim.quit_with(":qa<CR>");

    let nvim = Nvim::start(&setup);
    assert_eq!(completed(&nvim, "Caliban resume "), ["main", "plan", "plan-2"]);
    nvim.keys(":Caliban<CR>");
    nvim.wait_screen("So be it.");
    nvim.keys(":Caliban resume main<CR>");
    nvim.wait_screen("Mains it is.");
}

#[test]
fn the_name_of_a_conversation_is_checked_before_a_file_is_created() {
    let setup = wide();
    let nvim = Nvim::start(&setup);
    for name in ["../x", "a/b", "naïve", &"x".repeat(65)] {
        let ways = [
            ("new", "cannot be the name of a conversation"),
            ("resume", "There is no conversation"),
        ];
        for (how, answer) in ways {
            nvim.command("messages clear");
            nvim.command(&format!("Caliban {how} {name}"));
            let told = |nvim: &Nvim| nvim.lua_str("return vim.fn.execute('messages')");
            nvim.wait(|nvim| told(nvim).contains(answer), name);
        }
    }
    assert!(!setup.dir().join("data/caliban").exists());
    nvim.quit_with(":qa<CR>");
}

#[test]
fn an_ephemeral_chat_keeps_its_context_and_writes_nothing() {
    let server = Server::start();
    let setup = wide().anthropic(&server);
    let nvim = Nvim::start(&setup);
    nvim.keys(":Caliban new!<CR>");
    nvim.wait_screen("Project");
    say(&nvim, &server, "a secret", "I keep it.");
    nvim.keys("i typed");
    say(&nvim, &server, "what was it?", "A secret.");
    assert!(server.wait_requests(2)[1].json.to_string().contains("a secret"));
    nvim.keys("<Esc>:Caliban restart<CR>");
    nvim.wait_gone("I keep it.");
    say(&nvim, &server, "again", "Anew.");
    assert!(!setup.dir().join("data/caliban").exists(), "{:?}", files(&setup));
    nvim.quit_with(":qa<CR>");
    no_processes(&nvim);
    assert!(!setup.dir().join("data/caliban").exists());
}

#[test]
fn without_resuming_each_start_is_a_new_conversation() {
    let server = Server::start();
    let setup = wide().anthropic(&server).config("{ resume = false }");
    for (name, reply) in [("main", "First."), ("main-2", "Second.")] {
        let nvim = Nvim::start(&setup);
        nvim.keys(":Caliban<CR>");
        nvim.wait_screen("Project");
        nvim.quit_with(":qa<CR>");
        let nvim = talked(&setup, &server, "hi", reply);
        nvim.quit_with(":qa<CR>");
        assert_eq!(said(&setup, name), ["user: hi", &format!("assistant: {reply}")]);
    }
    assert_eq!(
        files(&setup),
        ["last", "main-2.journal", "main-2.json", "main.journal", "main.json"]
    );
}

#[test]
fn a_damaged_session_file_is_left_alone() {
    let server = Server::start();
    let setup = wide().anthropic(&server);
    let nvim = talked(&setup, &server, "hi", "Whole.");
    nvim.quit_with(":qa<CR>");
    let path = setup.sessions().join("main.json");
    let half = fs::read_to_string(&path).unwrap()[..200].to_owned();
    fs::write(&path, &half).unwrap();

    let nvim = Nvim::start(&setup);
    nvim.keys(":Caliban<CR>");
    nvim.wait_screen("! The file of the conversation main is damaged");
    nvim.wait_screen("This new conversation, main-2, is open instead.");
    say(&nvim, &server, "hi again", "Fresh.");
    nvim.quit_with(":qa<CR>");
    assert_eq!(fs::read_to_string(&path).unwrap(), half);
    assert!(said(&setup, "main-2").contains(&"assistant: Fresh.".to_owned()));
}

#[test]
fn the_readable_part_of_a_damaged_file_continues_in_a_copy() {
    let server = Server::start();
    let setup = wide().anthropic(&server);
    let nvim = talked(&setup, &server, "hi", "Whole.");
    say(&nvim, &server, "more", "To be torn.");
    nvim.quit_with(":qa<CR>");
    let path = setup.sessions().join("main.json");
    let whole = fs::read_to_string(&path).unwrap();
    let half = &whole[..whole.find("To be torn.").unwrap()];
    fs::write(&path, half).unwrap();

    let nvim = Nvim::start(&setup);
    nvim.keys(":Caliban<CR>");
    nvim.wait_screen("Whole.");
    nvim.wait_transcript("up to number 4 were copied to this new conversation, `main-2`.");
    say(&nvim, &server, "and now?", "On we go.");
    nvim.quit_with(":qa<CR>");
    assert_eq!(fs::read_to_string(&path).unwrap(), half);
    let body = server.wait_requests(3)[2].json["messages"].to_string();
    assert!(body.contains("Whole.") && body.contains("more") && !body.contains("torn"), "{body}");
    assert!(said(&setup, "main-2").contains(&"assistant: Whole.".to_owned()));
}

#[test]
fn two_editors_get_two_conversations() {
    let server = Server::start();
    let setup = wide().anthropic(&server);
    let first = talked(&setup, &server, "one", "The first.");
    let second = Nvim::start(&setup);
    second.keys(":Caliban<CR>");
    let holder = format!("is open in another Neovim (process {}, since 2", first.pid());
    second.wait_transcript(&holder);
    second.wait_transcript("This new conversation, `main-2`, is open instead.");
    second.wait_screen("Take it over");
    second.keys("<CR>");
    say(&second, &server, "two", "The second.");
    say(&first, &server, "three", "The third.");
    second.quit_with(":qa<CR>");
    first.quit_with(":qa<CR>");
    assert_eq!(said(&setup, "main").len(), 4);
    assert_eq!(said(&setup, "main-2")[1..], ["user: two", "assistant: The second."]);
}

#[test]
fn a_failing_disk_does_not_end_the_turn() {
    let server = Server::start();
    let setup = wide().anthropic(&server);
    let nvim = Nvim::start(&setup);
    nvim.keys(":Caliban<CR>");
    nvim.wait_screen("Project");
    fs::create_dir_all(setup.sessions().join("main.json/in the way")).unwrap();
    say(&nvim, &server, "one", "The first.");
    say(&nvim, &server, "two", "The second.");
    let told = nvim.lua_str("return vim.fn.execute('messages')");
    assert_eq!(told.matches("main.json (is a directory").count(), 1, "{told}");
    nvim.wait_screen("· not saved ·");
    fs::remove_dir_all(setup.sessions().join("main.json")).unwrap();
    say(&nvim, &server, "three", "The third.");
    nvim.wait_gone("not saved");
    assert_eq!(said(&setup, "main").len(), 6);
}

/// The lock cannot be taken because a folder is in its place.
#[test]
fn a_conversation_without_a_lock_is_shown_and_continued_in_a_copy() {
    let server = Server::start();
    let setup = wide().anthropic(&server);
    let nvim = talked(&setup, &server, "one", "The first.");
    nvim.quit_with(":qa<CR>");
    let before = session(&setup, "main");
    fs::remove_file(setup.sessions().join("main.lock")).unwrap();
    fs::create_dir(setup.sessions().join("main.lock")).unwrap();

    let nvim = Nvim::start(&setup);
    nvim.keys(":Caliban<CR>");
    nvim.wait_screen("The first.");
    nvim.wait_transcript("Its messages were copied to this new conversation, `main-2`.");
    say(&nvim, &server, "two", "The second.");
    nvim.quit_with(":qa<CR>");
    assert_eq!(said(&setup, "main-2").len(), 5);

    for other in ["main-2", "main-3"] {
        let _ = fs::remove_file(setup.sessions().join(format!("{other}.lock")));
        fs::create_dir(setup.sessions().join(format!("{other}.lock"))).unwrap();
    }
    let nvim = Nvim::start(&setup);
    nvim.keys(":Caliban resume main<CR>");
    nvim.wait_screen("The first.");
    nvim.wait_transcript(
        "Its messages were copied to this new conversation, which is in memory only.",
    );
    nvim.wait_screen("· not saved ·");
    say(&nvim, &server, "three", "The third.");
    assert!(server.wait_requests(3)[2].outline().contains("assistant: The first."));
    nvim.quit_with(":qa!<CR>");
    assert_eq!(session(&setup, "main"), before);
}

#[test]
fn edits_that_the_user_makes_in_a_session_file_are_loaded_or_kept_as_a_copy() {
    let server = Server::start();
    let setup = wide().anthropic(&server);
    let nvim = talked(&setup, &server, "one", "The first.");
    let path = setup.sessions().join("main.json");
    let edit = |by: &str, to: &str| {
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(by), "{text}");
        let text = text.replace(by, to);
        fs::write(&path, &text).unwrap();
        text
    };
    edit("\"The first.\"", "\"By hand.\", \"mine\": 1");
    nvim.keys(":Caliban restart<CR>");
    nvim.wait_screen("By hand.");
    let edited = edit("\"one\"", "\"eleven\"");
    say(&nvim, &server, "two", "The second.");
    let aside = setup.sessions().join("main.edited-1.json");
    nvim.wait_screen("changed while the conversation was open here");
    nvim.wait_screen("main.edited-1.json");
    assert_eq!(fs::read_to_string(&aside).unwrap(), edited);
    assert_eq!(completed(&nvim, "Caliban resume "), ["main"]);
    say(&nvim, &server, "three", "The third.");
    nvim.keys(":Caliban rename other<CR>");
    nvim.wait_screen("main is now called other.");
    say(&nvim, &server, "four", "The fourth.");
    nvim.quit_with(":qa<CR>");
    assert_eq!(session(&setup, "other")["messages"][2]["blocks"][0]["mine"], 1);
    let kept = said(&setup, "other");
    assert_eq!((kept.len(), kept[1].as_str()), (8, "assistant: By hand."));
    assert_eq!(
        fs::read_dir(setup.sessions())
            .unwrap()
            .filter(|it| {
                it.as_ref().unwrap().file_name().to_str().unwrap().contains(".edited-")
            })
            .count(),
        1
    );
}

#[test]
fn a_session_folder_that_cannot_be_created_does_not_end_the_turn() {
    let server = Server::start();
    let setup = wide().anthropic(&server);
    fs::write(setup.dir().join("data/caliban"), "in the way").unwrap();
    let nvim = Nvim::start(&setup);
    nvim.keys(":Caliban<CR>");
    nvim.wait_screen("! The conversation main cannot be opened: not a directory");
    nvim.wait_screen("memory only.");
    say(&nvim, &server, "one", "The first.");
    nvim.quit_with(":qa<CR>");
    no_processes(&nvim);
}
