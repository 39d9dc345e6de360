//! Another project in the same Neovim: the chat says whose it is, and goes over.

use super::wide;
use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use crate::review::scene::edit;

/// A setup with a second project, `other`, beside the first.
fn two(server: &Server) -> Setup {
    let setup = wide().anthropic(server).file("a.txt", "one\n").file("sub/b.txt", "two\n");
    std::fs::create_dir_all(setup.dir().join("other/.git")).unwrap();
    std::fs::write(setup.dir().join("other/c.txt"), "three\n").unwrap();
    setup
}

const TOLD: &str = ":Caliban project opens that of ";

/// The folders that contain a conversation, by their projects' names.
fn projects(setup: &Setup) -> Vec<String> {
    let all = std::fs::read_dir(setup.dir().join("data/caliban/sessions")).unwrap();
    let names = all.flatten().map(|it| it.file_name().into_string().unwrap());
    let mut names: Vec<String> =
        names.filter_map(|it| it.rsplit_once('-').map(|it| it.0.to_owned())).collect();
    names.sort();
    names
}

#[test]
fn in_another_project_the_chat_says_whose_it_is_and_goes_over_on_request() {
    for cd in ["cd", "tcd", "lcd"] {
        let server = Server::start();
        let nvim = Nvim::start(&two(&server));
        nvim.keys(":edit a.txt<CR>:Caliban<CR>");
        server.reply(Reply::said("Of the first project."));
        nvim.ask("one", "Of the first project.");
        nvim.keys("idraft<Esc><C-w>t");
        nvim.keys(&format!(":{cd} sub<CR>:Caliban<CR>"));
        assert!(!nvim.screen().contains(TOLD), "{}", nvim.screen());
        nvim.keys(&format!("<C-w>t:{cd} ../../other<CR>:Caliban<CR>"));
        nvim.wait_screen("This is the chat of ");
        nvim.wait_screen(TOLD);
        nvim.keys("<C-w>t:echo 'x'<CR>:Caliban new<CR>");
        nvim.wait_screen(TOLD);
        let begun = "local chat = require('caliban.chat.chats').current
            return chat.session ~= 'main' and chat.status ~= nil";
        nvim.wait(|it| it.lua_str(begun) == "true", "the new conversation of the first project");
        nvim.keys("<C-w>t:Caliban project<CR>");
        let root = nvim.setup.dir().join("other").display().to_string();
        nvim.wait_transcript(&format!("Project  {root}"));
        nvim.wait_session("main");
        assert!(!nvim.transcript().contains("Of the first project."), "{}", nvim.transcript());
        assert_eq!(nvim.lua_str("return #vim.api.nvim_list_wins()"), "3");
        server.reply(Reply::said("Of the second project."));
        nvim.keys("iread it<C-s><Esc>");
        nvim.wait_transcript("Of the second project.");
        nvim.wait_phase("idle");
        assert!(server.requests()[1].system_text().contains(&root));
        // and back, with the draft
        nvim.keys(&format!("<C-w>t:{cd} ../project<CR>:Caliban project<CR>"));
        nvim.wait(|it| it.session() != "", "the conversation");
        nvim.keys(":Caliban resume main<CR>");
        nvim.wait_transcript("Of the first project.");
        nvim.wait(|it| it.composer() == "draft", "the draft");
        assert_eq!(projects(&nvim.setup), ["other", "project"]);
    }
}

#[test]
fn the_chat_does_not_leave_a_project_in_which_something_waits() {
    let server = Server::start();
    let nvim = Nvim::start(&two(&server));
    nvim.keys(":edit a.txt<CR>:Caliban<CR>");
    nvim.wait_transcript("Project");
    let turn = server.reply(Reply::new().text("So").gate().call(
        "e1",
        "edit",
        edit("a.txt", &[("one", "ONE")]),
    ));
    nvim.keys("igo<C-s><Esc><C-w>t");
    nvim.wait_transcript("So");
    nvim.keys(":cd ../other<CR>:Caliban project<CR>");
    nvim.wait_screen(
        "A turn runs or waits in main: end it first. Then :Caliban project goes over.",
    );
    turn.finish();
    nvim.wait_pending(1);
    nvim.keys(":Caliban project<CR>");
    nvim.wait_screen("Changes wait for your review: :Caliban review. Then");
    server.reply(Reply::said("Over."));
    nvim.keys(":Caliban accept all<CR>");
    nvim.wait_transcript("Over.");
    nvim.wait_phase("idle");
    nvim.keys(":Caliban restart<CR>");
    let restarted = "return require('caliban.program.process').report().welcome ~= nil";
    let is_same = |it: &Nvim| it.lua_str(restarted) == "true" && it.transcript().contains("Over.");
    nvim.wait(is_same, "the same chat");
    nvim.keys(":Caliban project<CR>");
    let root = nvim.setup.dir().join("other").display().to_string();
    nvim.wait_transcript(&format!("Project  {root}"));
    assert_eq!(nvim.setup.on_disk("a.txt").as_deref(), Some("ONE\n"));
}

#[test]
fn the_first_chat_is_that_of_the_project_in_which_it_is_opened() {
    let server = Server::start();
    let nvim = Nvim::start(&two(&server));
    nvim.keys(":Caliban sessions<CR>");
    nvim.wait(
        |it| {
            it.lua_str("return require('caliban.program.process').report().welcome ~= nil")
                == "true"
        },
        "the program",
    );
    nvim.keys("<Esc><CR>:cd ../other<CR>:Caliban<CR>");
    let root = nvim.setup.dir().join("other").display().to_string();
    nvim.wait_transcript(&format!("Project  {root}"));
    assert!(!nvim.screen().contains(TOLD), "{}", nvim.screen());
}
