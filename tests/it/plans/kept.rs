//! The file of a plan beside its conversation, and plans of runs that nobody attends.

use super::{planned, waiting, wide};
use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::run::Ran;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;

#[test]
fn an_undecided_plan_survives_a_restart_with_edits_and_comments() {
    let server = Server::start();
    let nvim = waiting(&server, wide(), "- `a.txt`: one");
    nvim.keys(":Caliban plan<CR>");
    nvim.wait_markdown();
    nvim.keys("/a.txt<CR>:Caliban comment why?<CR>A, two<Esc>");
    assert!(nvim.quit_with(":qa<CR>").success());
    nvim.wait_program_end();
    let setup = &nvim.setup;
    let file = setup.sessions().join("main.plan.md");
    let mode = fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let nvim = Nvim::start(setup);
    nvim.keys(":Caliban<CR>");
    nvim.wait_screen("● waiting for you");
    nvim.wait_transcript("A plan waits for you.");
    assert_eq!(nvim.window_count("/plan"), 0, "no window opens by itself");
    // nothing is decided before the plan was on the screen
    nvim.command("Caliban plan accept ask");
    nvim.wait_plan();
    assert!(nvim.plan().contains("- `a.txt`: one, two"), "{}", nvim.plan());
    nvim.wait_screen("▏ why?");
    server.reply(Reply::said("Done."));
    nvim.command("Caliban plan accept ask");
    nvim.wait_transcript("Done.");
    assert!(server.requests()[1].last_user_text().contains("- `a.txt`: one, two"));
    assert_eq!(nvim.mode(), "ask");
}

#[test]
fn the_message_that_sends_a_plan_back_shows_the_comments_also_after_a_restart() {
    let server = Server::start();
    let list = "- `a.txt`: one\n- `b.txt`: two\n- `c.txt`: three\n- `d.txt`: four";
    let nvim = waiting(&server, wide(), list);
    nvim.keys(":Caliban plan<CR>");
    nvim.wait_markdown();
    nvim.keys("/b.txt<CR>:Caliban comment > not this file<CR>");
    nvim.wait_screen("▏ > not this file");
    nvim.keys("gg/a.txt<CR>V3j\\cin which order?<CR>");
    nvim.wait_screen("▏ in which order?");
    server.reply(planned("p2", "- `a.txt`: all"));
    nvim.keys("\\r");
    nvim.wait_screen("Send back, because: ");
    nvim.keys("smaller, please<CR>");
    let sent = "Change the plan: smaller, please

> - `a.txt`: one
> - `b.txt`: two
> - `c.txt`: three
> … 1 more line
in which order?

> - `b.txt`: two
> not this file
";
    nvim.wait_transcript(sent);
    nvim.wait_plan();
    assert!(!nvim.screen().contains("▏plan"), "{}", nvim.screen());
    assert!(nvim.quit_with(":qa<CR>").success());
    nvim.wait_program_end();
    let nvim = Nvim::start(&nvim.setup);
    nvim.keys(":Caliban<CR>");
    nvim.wait_transcript(sent);
}

#[test]
fn caliban_run_in_plan_mode_prints_the_plan_and_ends() {
    let server = Server::start();
    server.reply(planned("p1", "- one"));
    let setup = wide().anthropic(&server);
    let ran = Ran::of(&mut setup.program(&["run", "--mode", "plan", "go"]));
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.out.starts_with("Here is my plan.\n\n# Plan\n\n## Summary\n"), "{}", ran.out);
    assert!(ran.out.contains("- one"), "{}", ran.out);
    assert_eq!(server.count(), 1);
    let files = fs::read_dir(setup.sessions()).unwrap().flatten();
    let plans = files.filter(|it| it.file_name().to_string_lossy().ends_with(".plan.md"));
    assert_eq!(plans.count(), 0);
}

/// Files beside a conversation may be forged.
#[test]
fn a_forged_plan_file_is_shown_without_control_characters_and_approves_nothing() {
    let server = Server::start();
    let nvim = waiting(&server, wide(), "- one");
    nvim.quit_with(":qa<CR>");
    nvim.wait_program_end();
    let setup = &nvim.setup;
    let file = setup.sessions().join("main.plan.md");
    let kept = fs::read_to_string(&file).unwrap();
    fs::write(&file, kept.replace("- one", "- \u{1b}]0;x\u{7}o\u{202e}ne")).unwrap();
    let session = setup.sessions().join("main.json");
    let mut json: Value = serde_json::from_slice(&fs::read(&session).unwrap()).unwrap();
    json["planning"]["before"] = json!("auto");
    fs::write(&session, json.to_string()).unwrap();
    let nvim = Nvim::start(setup);
    nvim.keys(":Caliban<CR>");
    nvim.wait_screen("● waiting for you");
    nvim.keys(":Caliban plan<CR>");
    nvim.wait_plan();
    assert!(nvim.plan().contains("- o[U+202E]ne"), "{}", nvim.plan());
    assert_eq!((server.count(), nvim.mode().as_str()), (1, "plan"));
    nvim.keys("\\a");
    // the mode that the file names allows more than the settings, so `ask` is offered first
    nvim.wait_screen("1: ask");
    nvim.quit_with("<Esc>:qa!<CR>");
    nvim.wait_program_end();
    // a file that is too large is left alone: the plan is the one in the conversation
    fs::write(&file, "x".repeat(2_000_000)).unwrap();
    let nvim = Nvim::start(setup);
    nvim.keys(":Caliban<CR>:Caliban plan<CR>");
    nvim.wait_plan();
    assert!(nvim.plan().contains("- one"), "{}", nvim.plan());
}

#[test]
fn a_plan_moves_with_its_conversation() {
    let server = Server::start();
    let nvim = waiting(&server, wide(), "- one");
    nvim.keys(":Caliban plan<CR>");
    nvim.wait_markdown();
    nvim.keys("/one<CR>A, two<Esc>:w<CR>");
    nvim.wait_screen("The plan is saved with the conversation.");
    nvim.command("Caliban rename other");
    nvim.wait_session("other");
    let sessions = nvim.setup.sessions();
    nvim.wait(|_| sessions.join("other.plan.md").exists(), "the renamed plan");
    assert!(!sessions.join("main.plan.md").exists());
    nvim.wait(|nvim| nvim.window_count("other/plan") == 1, "the renamed buffer");
    nvim.command("Caliban fork");
    nvim.wait_session("other-2");
    nvim.command("Caliban plan");
    nvim.wait(|nvim| nvim.window_count("other-2/plan") == 1, "the copy's plan");
    assert!(nvim.buffer("other-2/plan").contains("- one, two"));
    nvim.keys(":Caliban delete other<CR>");
    nvim.wait_screen("Delete the conversation other?");
    assert!(!nvim.screen().contains("Its turn is running"));
    nvim.keys("2<CR>");
    nvim.wait(|_| !sessions.join("other.plan.md").exists(), "the deleted plan");
    assert!(
        sessions
            .join("trash")
            .read_dir()
            .unwrap()
            .flatten()
            .any(|it| { it.file_name().to_string_lossy().ends_with(".plan.md") })
    );
}

#[test]
fn a_neovim_session_file_brings_back_the_chat_and_closes_the_plans_window() {
    let server = Server::start();
    let nvim = waiting(&server, wide(), "- one");
    nvim.keys(":mksession! s.vim<CR>");
    nvim.quit_with(":qa!<CR>");
    nvim.wait_program_end();
    let restore =
        "vim.api.nvim_create_autocmd('VimEnter', { nested = true, command = 'source s.vim' })";
    let nvim = Nvim::start(&nvim.setup.clone().before(restore));
    nvim.wait_transcript("? A plan waits for you.");
    let shown =
        ["main", "main/prompt", "main/plan"].map(|it| nvim.window_count(&format!("//{it}")));
    assert_eq!(shown, [1, 1, 0]);
    let said = nvim.lua_str("return vim.fn.execute('messages')");
    assert!(!said.contains("cannot be opened again"), "{said}");
    nvim.keys(":Caliban plan<CR>");
    nvim.wait_plan();
    assert_eq!(nvim.window_count("//main/plan"), 1);
}
