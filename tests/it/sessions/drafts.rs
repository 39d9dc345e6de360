//! A draft in a composer survives, however the editor or the program ends.

use super::*;
use rustix::process::{Pid, Signal, kill_process};

/// A chat with the text `half a thought` in its composer, still in Insert mode.
fn typed(setup: &Setup) -> Nvim {
    let nvim = Nvim::start(setup);
    nvim.keys(":Caliban<CR>");
    nvim.wait_screen("Project");
    nvim.keys("ihalf a thought");
    nvim
}

/// Checks that the composer has this text in the next Neovim.
fn is_kept(setup: &Setup, nvim: Nvim, text: &str) {
    no_processes(&nvim);
    drop(nvim);
    let nvim = Nvim::start(setup);
    nvim.keys(":Caliban<CR>");
    nvim.wait_screen("half a thought");
    assert_eq!(nvim.buffer("caliban://main/prompt"), text);
}

#[test]
fn a_draft_is_saved_however_the_editor_ends() {
    for end in ["<Esc>:qa!<CR>", "<Esc>:cq<CR>", "<C-o>:qa!<CR>"] {
        let setup = wide();
        let nvim = typed(&setup);
        nvim.quit_with(end);
        is_kept(&setup, nvim, "half a thought");
    }
    for signal in [Signal::TERM, Signal::HUP] {
        let setup = wide();
        let nvim = typed(&setup);
        kill_process(Pid::from_raw(nvim.pid().cast_signed()).unwrap(), signal).unwrap();
        nvim.quit_with("");
        is_kept(&setup, nvim, "half a thought");
    }
}

#[test]
fn a_draft_is_saved_if_neovim_exits_before_the_conversation_is_open() {
    for _ in 0..3 {
        let setup = wide();
        let nvim = Nvim::start(&setup);
        nvim.quit_with(":Caliban<CR>ihalf a thought<Esc>:qa!<CR>");
        is_kept(&setup, nvim, "half a thought");
    }
}

#[test]
fn a_draft_is_saved_while_it_is_typed() {
    let setup = wide();
    let nvim = typed(&setup);
    let draft = setup.sessions().join("main.draft");
    // keys are typed without a pause; the draft is saved all the same
    let is_kept = |nvim: &Nvim| {
        nvim.keys("x");
        fs::read_to_string(&draft).is_ok_and(|it| it.contains("half a thoughtx"))
    };
    nvim.wait(is_kept, "the draft");
    nvim.kill();
    no_processes(&nvim);
    let kept = fs::read_to_string(draft).unwrap();
    assert!(kept.contains("half a thoughtx"), "{kept}");
}

#[test]
fn a_draft_is_saved_with_the_program_dead() {
    let setup = wide();
    let nvim = typed(&setup);
    kill_program(&nvim);
    nvim.keys(",<CR>and “more”");
    nvim.quit_with("<Esc>:qa!<CR>");
    is_kept(&setup, nvim, "half a thought,\nand “more”");
}

#[test]
fn a_deleted_draft_leaves_no_file() {
    let setup = wide();
    let nvim = typed(&setup);
    let draft = setup.sessions().join("main.draft");
    nvim.wait(|_| draft.exists(), "the draft");
    kill_program(&nvim);
    nvim.keys("<Esc>dd");
    nvim.quit_with(":qa!<CR>");
    assert!(!draft.exists());
}

/// `<Up>` puts an earlier message into the place of the draft.
#[test]
fn a_draft_that_an_earlier_message_has_replaced_is_kept() {
    let server = Server::start();
    let setup = wide().anthropic(&server);
    let nvim = super::names::talked(&setup, &server, "an earlier one", "One.");
    nvim.keys("ihalf a thought<Up>");
    nvim.wait(|it| it.composer() == "an earlier one", "the earlier message");
    // the earlier message is sent: the draft is in the composer again
    server.reply(Reply::said("Two."));
    nvim.keys("<C-s>");
    nvim.wait_screen("Two.");
    assert_eq!(nvim.composer(), "half a thought");
    nvim.wait_phase("idle");
    nvim.keys("<Up>");
    nvim.wait(|it| it.composer() == "an earlier one", "the earlier message");
    nvim.quit_with("<Esc>:qa!<CR>");
    is_kept(&setup, nvim, "half a thought");
}
