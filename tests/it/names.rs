//! File names that a stranger has chosen: no part of a name is run or expanded.

mod law;

use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use crate::review::scene::{Scene, edit, nine, write};
use crate::run::Ran;
use serde_json::json;
use std::fs;
use std::path::{Path, PathBuf};

/// Each name would make a file `PWN` if a shell or an Ex command ran it.
const RUNS: [&str; 4] =
    ["`touch PWN`", "`cd;touch PWN`.txt", "$(touch PWN).txt", "a\n!touch PWN\n"];

/// The path of the canary file `PWN`, if the file was made anywhere in the setup.
fn canary(setup: &Setup) -> Option<PathBuf> {
    let all = ignore::WalkBuilder::new(setup.dir()).standard_filters(false).build();
    all.flatten().map(ignore::DirEntry::into_path).find(|it| it.ends_with("PWN"))
}

#[track_caller]
fn nothing_ran(setup: &Setup) {
    assert_eq!(canary(setup), None);
}

fn with_names(setup: Setup, content: impl AsRef<[u8]>) -> Setup {
    RUNS.iter().fold(setup, |setup, name| setup.file(name, content.as_ref()))
}

/// A reply that calls this tool for each of the names.
fn calls(tool: &str, arguments: impl Fn(&str) -> serde_json::Value) -> Reply {
    let each = RUNS.iter().enumerate();
    each.fold(Reply::new(), |reply, (i, name)| reply.call(&format!("c{i}"), tool, arguments(name)))
}

#[test]
fn writing_editing_and_deleting_a_hostile_name_runs_nothing() {
    let scene = Scene::start(|it| it);
    scene.ask(calls("write", |name| write(name, "one\ntwo\n")));
    scene.wait_pending(RUNS.len());
    scene.server.reply(calls("edit", |name| edit(name, &[("two", "TWO")])));
    scene.nvim.keys(":Caliban accept all<CR>");
    scene.wait_pending(RUNS.len());
    nothing_ran(&scene.nvim.setup);
    for name in RUNS {
        assert_eq!(scene.on_disk(name).as_deref(), Some("one\ntwo\n"), "{name:?}");
    }
    scene.server.reply(calls("delete", |name| json!({ "path": name })));
    scene.nvim.keys(":Caliban accept all<CR>");
    scene.wait_pending(RUNS.len());
    for name in RUNS {
        assert_eq!(scene.on_disk(name).as_deref(), Some("one\nTWO\n"), "{name:?}");
    }
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys(":Caliban accept all<CR>");
    scene.wait_idle("I see.");
    for name in RUNS {
        assert_eq!(scene.on_disk(name), None, "{name:?}");
    }
    nothing_ran(&scene.nvim.setup);
}

#[test]
fn reading_a_hostile_name_in_plan_mode_runs_nothing() {
    let scene = Scene::start(|it| with_names(it, b"caf\xe9\n").config("{ mode = 'plan' }"));
    let hover = |name: &str| json!({ "path": name, "line": 1, "symbol": "caf" });
    scene.ask(calls("read", |name| json!({ "path": name })));
    scene.server.reply(calls("diagnostics", |name| json!({ "path": name })));
    scene.server.reply(calls("hover", hover));
    scene.server.reply(Reply::said("I see."));
    scene.wait_idle("I see.");
    for i in 0..RUNS.len() {
        let read = scene.answer(2, &format!("c{i}"));
        assert!(read.contains("café"), "{read}");
    }
    nothing_ran(&scene.nvim.setup);
}

/// Neovim's own plugins run programs to show archives. They must not run for a file that is only read.
#[test]
fn reading_a_file_for_the_model_runs_no_autocommand() {
    let note =
        "vim.api.nvim_create_autocmd({ 'BufReadPre', 'BufReadCmd', 'BufReadPost', 'FileType' }, {
        pattern = '*.tar',
        callback = function(it) vim.g.ran = it.event end,
    })";
    let scene = Scene::start(|it| it.file("a.tar", b"caf\xe9\n").before(note));
    scene.ask(Reply::new().call("r1", "read", json!({ "path": "a.tar" })));
    scene.server.reply(Reply::said("I see."));
    scene.wait_idle("I see.");
    assert!(scene.answer(2, "r1").contains("café"), "{}", scene.answer(2, "r1"));
    assert_eq!(scene.nvim.lua_str("return vim.g.ran"), "nil");
    assert_eq!(scene.nvim.lua_json("return vim.fn.bufloaded('a.tar')"), 0);
}

#[test]
fn reopening_the_review_of_a_hostile_name_runs_nothing() {
    let scene = Scene::start(|it| with_names(it, "one\ntwo\n"));
    scene.ask(calls("edit", |name| edit(name, &[("two", "TWO")])));
    scene.wait_pending(RUNS.len());
    assert!(scene.nvim.quit_with("<Esc>:qa!<CR>").success());
    nothing_ran(&scene.nvim.setup);
    let Scene { server, nvim } = scene;
    let setup = nvim.setup.clone();
    drop(nvim);
    let scene = Scene { server, nvim: Nvim::start(&setup) };
    scene.wait_hunks(RUNS.len());
    nothing_ran(&setup);
    scene.nvim.keys(":Caliban accept all<CR>");
    scene.wait_hunks(0);
    for name in RUNS {
        assert_eq!(scene.on_disk(name).as_deref(), Some("one\nTWO\n"), "{name:?}");
    }
    nothing_ran(&setup);
}

#[test]
fn a_project_in_a_folder_with_a_hostile_name_runs_nothing() {
    let folder = "`touch PWN`$HOME%#*[a]";
    let scene = Scene::start(|it| {
        it.file(&format!("{folder}/.git/HEAD"), "").file(&format!("{folder}/a.txt"), nine())
    });
    scene.nvim.lua(
        "assert(vim.uv.chdir(...))",
        &[scene.nvim.setup.path(folder).to_str().unwrap().into()],
    );
    scene.ask(Reply::new().call("e1", "edit", edit("a.txt", &[("l2", "L2")])));
    scene.wait_pending(1);
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys(":Caliban accept all<CR>");
    scene.wait_idle("I see.");
    let path = format!("{folder}/a.txt");
    assert_eq!(scene.on_disk(&path), Some(nine().replace("l2", "L2")));
    let known = "return vim.fn.getcompletion('Caliban resume ', 'cmdline')";
    assert_eq!(scene.nvim.lua_json(known), json!(["main"]));
    assert_eq!(
        scene.nvim.lua_json("return require('caliban.program.project').history()"),
        json!(["please"])
    );
    nothing_ran(&scene.nvim.setup);
}

#[test]
fn the_keys_gf_in_the_chat_open_a_hostile_name_literally() {
    let name = "$HOME#%,-=~+a.txt";
    let scene = Scene::start(|it| it.file(name, "the right one\n"));
    scene.ask_until(Reply::said(&format!("Look at {name}:1")), &format!("{name}:1"));
    scene.nvim.go_to_transcript("Look at");
    scene.nvim.keys("8lgf");
    scene.nvim.wait_screen("the right one");
    let shown = scene.nvim.lua_str("return vim.api.nvim_buf_get_name(0)");
    assert_eq!(Path::new(&shown), fs::canonicalize(scene.nvim.setup.path(name)).unwrap());
}

#[test]
fn completing_a_path_with_a_newline_puts_no_newline_into_the_command_line() {
    let scene = Scene::start(|it| with_names(it, "").file("plain.md", "").file("in/b.md", ""));
    let complete = |lead: &str| {
        scene
            .nvim
            .lua_json(&format!("return vim.fn.getcompletion('Caliban export {lead}', 'cmdline')"))
    };
    assert_eq!(
        complete(""),
        json!(["$(touch PWN).txt", "`cd;touch PWN`.txt", "`touch PWN`", "in/", "plain.md"])
    );
    assert_eq!(complete("`t"), json!(["`touch PWN`"]));
    // Neovim completes only the last word
    assert_eq!(complete("`touch PWN`"), json!([]));
    assert_eq!(complete("in/"), json!(["in/b.md"]));
    nothing_ran(&scene.nvim.setup);
}

/// A rewind shows the title of a turn in the option 'winbar', where `%` begins an item.
#[test]
fn a_title_in_a_winbar_is_not_evaluated() {
    let scene = Scene::start(|it| it.file("a.txt", nine()).config("{ mode = 'auto-edit' }"));
    scene.server.reply(Reply::new().call("e1", "edit", edit("a.txt", &[("l2", "L2")])));
    scene.server.reply(Reply::said("I see."));
    let title = "%{%execute('!touch PWN')%}%!x%#Error# 100%";
    scene.nvim.ask(title, "I see.");
    scene.nvim.keys(":Caliban rewind<CR>");
    scene.nvim.wait_screen("Type number and <Enter>");
    scene.nvim.keys("1<CR>");
    scene.nvim.wait_screen("%{%execute('!touch PWN')%}%!x%#Error# 100%");
    nothing_ran(&scene.nvim.setup);
}

/// During a review Caliban itself carries out the user's `:w other`. The name `other` must not become a part of a
/// command.
#[test]
fn a_write_to_a_hostile_name_during_a_review_uses_it_literally() {
    let scene = Scene::two_hunks(|it| it);
    let name = "b|!touch PWN\n`touch PWN`%#";
    scene.nvim.lua(
        "vim.cmd({ cmd = 'write', args = { ... }, magic = { file = false }, mods = { silent = true } })",
        &[name.into()],
    );
    let text = scene.nvim.buffer("/a.txt") + "\n";
    assert_eq!(scene.on_disk(name), Some(text.clone()));
    scene.nvim.keys(":write ++ff=dos c.txt<CR>");
    assert_eq!(scene.on_disk("c.txt"), Some(text.replace('\n', "\r\n")));
    assert_eq!(scene.nvim.lua_str("return vim.bo.fileformat"), "unix");
    assert_eq!(scene.on_disk("a.txt"), Some(nine()));
    nothing_ran(&scene.nvim.setup);
}

/// One name in the line of a call and in the list of a chat, and in the lines and the summary of a run.
#[test]
fn a_name_with_control_characters_is_spelt_out_everywhere() {
    let name = "a\n\u{1b}[31mb\u{7f}\u{9b}c.txt";
    let spelt = "a[U+000A][U+001B][31mb[U+007F][U+009B]c.txt";
    let scene = Scene::start(|it| it.size(240, 40));
    let reply = Reply::new().call("w1", "write", write(name, "one\n"));
    scene.ask(reply.call("w2", "write", write("b.txt", "one\n")));
    scene.wait_pending(2);
    let line = scene.nvim.transcript();
    assert!(line.contains(&format!("write  {spelt}")), "{line}");
    assert!(line.contains(&format!("▾ {spelt}")), "{line}");
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys(":Caliban accept all<CR>");
    scene.wait_idle("I see.");
    let server = Server::start();
    server.reply(Reply::new().call("w1", "write", write(name, "one\n")));
    server.reply(Reply::said("Done."));
    let setup = Setup::new().anthropic(&server);
    let ran = Ran::of(&mut setup.program(&["run", "--mode", "auto-edit", "go"]));
    assert!(ran.err.contains(&format!("write  {spelt}")), "{}", ran.err);
    assert!(ran.err.contains(&format!("Files    {spelt} (new)")), "{}", ran.err);
    assert_eq!(setup.on_disk(name).as_deref(), Some("one\n"));
}
