//! Other versions of Neovim: what the next one lacks is not needed, and nothing that is deprecated is used.

use crate::asks::{ask, which};
use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::root;
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use crate::plans::planned;
use crate::review::scene::{Scene, edit, nine};
use serde_json::json;
use std::fs;

/// Makes of this Neovim one without `BufModifiedSet`, in which `OptionSet` tells that 'modified' has changed.
const NEXT: &str = "local create, exists = vim.api.nvim_create_autocmd, vim.fn.exists
    create('BufModifiedSet', { callback = function(args)
      vim.api.nvim_buf_call(args.buf, function()
        vim.api.nvim_exec_autocmds('OptionSet', { pattern = 'modified', modeline = false })
      end)
    end })
    vim.fn.exists = function(it) return it == '##BufModifiedSet' and 0 or exists(it) end
    vim.api.nvim_create_autocmd = function(events, opts)
      local all = type(events) == 'table' and events or { events }
      assert(not vim.list_contains(all, 'BufModifiedSet'), 'there is no event BufModifiedSet')
      return create(events, opts)
    end";

#[test]
fn a_write_without_autocommands_is_noticed_in_the_next_version() {
    let scene = Scene::two_hunks(|it| it.before(NEXT));
    scene.nvim.keys(":noautocmd w<CR>");
    scene.nvim.wait(
        |_| scene.said().contains("a.txt was written with 2 hunks under review"),
        "the user to be told",
    );
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys("\\R");
    scene.wait_idle("I see.");
    assert_eq!(scene.on_disk("a.txt"), Some(nine()), "what was rejected leaves the disk again");
}

#[test]
fn text_that_is_typed_while_a_command_runs_is_kept_in_the_next_version() {
    let scene = Scene::start(|it| {
        it.file("a.txt", nine()).config("{ mode = 'ask', sandbox = false }").before(NEXT)
    });
    let pipe = scene.nvim.setup.path("wait");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let command = "sed -n 1p wait; sed -i s/l2/L2/ a.txt; sed -n 1p wait; sed -i s/l8/L8/ a.txt";
    scene.server.reply(Reply::new().call("s1", "shell", json!({ "command": command })));
    scene.server.reply(Reply::said("It ran."));
    scene.nvim.keys(":Caliban ask please<CR>");
    scene.nvim.wait_question();
    scene.nvim.keys(":Caliban approve<CR>");
    scene.nvim.wait_phase("running");
    // the file is opened while the command runs: what is typed into it is noted with the event
    scene.nvim.keys(":edit a.txt<CR>5GAmine<Esc>");
    fs::write(&pipe, "go\n").unwrap();
    scene.nvim.wait(|_| scene.on_disk("a.txt") == Some(nine().replace("l2", "L2")), "one change");
    fs::write(&pipe, "go\n").unwrap();
    scene.wait_idle("It ran.");
    let text = nine().replace("l2", "L2").replace("l8", "L8").replace("l5", "l5mine");
    assert_eq!(scene.nvim.buffer("/a.txt") + "\n", text);
}

/// The names of deprecated functions that have been called, each with the places from which it was called.
const RECORD: &str = "KIT_DEPRECATED = {}
    local deprecate = vim.deprecate
    vim.deprecate = function(name, ...)
      table.insert(KIT_DEPRECATED, name .. ' ' .. debug.traceback('', 2))
      return deprecate(name, ...)
    end";

/// A session with all that a chat has: Markdown, calls, a to-do list, questions, a review, a plan, a preview, menus.
fn session(server: &Server, nvim: &Nvim) {
    nvim.keys(":edit a.txt<CR>:Caliban<CR>");
    nvim.wait_transcript("Project");
    let todos = json!([{ "text": "Read", "status": "pending" }, { "text": "Write" }]);
    let text =
        "# One\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```lua\nreturn 1\n```\n\n- *two* `three`\n";
    server.reply(
        Reply::new()
            .thinking("Hm.")
            .text(text)
            .call("t1", "todo", json!({ "action": "write", "todos": todos }))
            .call("e1", "edit", edit("a.txt", &[("l2", "L2"), ("l8", "L8")]))
            .call("s1", "shell", json!({ "command": "touch b.txt" })),
    );
    nvim.keys("isee @a.tx");
    nvim.wait_screen("a.txt");
    nvim.keys("<Esc>:%d<CR>isee @a.txt <Esc><CR>");
    nvim.wait_pending(2);
    nvim.keys("<C-w>t:Caliban next<CR>");
    nvim.lua("require('caliban').accept()", &[]);
    nvim.lua("require('caliban').reject({ scope = 'all' })", &[]);
    nvim.wait_question();
    server.reply(ask("c1", &[which()]));
    nvim.keys(":Caliban<CR><Esc><Tab>y");
    nvim.wait_asked("e own words");
    server.reply(planned("p1", "Change it."));
    nvim.keys(":Caliban mode plan<CR>");
    nvim.keys("1");
    nvim.wait_screen("Plan · waits");
    nvim.wait_screen("\\a accept  \\c comment");
    nvim.keys(":Caliban plan drop<CR>");
    nvim.wait_phase("idle");
    for (keys, shown, closes) in [
        (":Caliban<CR><Esc>g?", "Keys · q closes", "q"),
        (":Caliban todo<CR>", "Todo · 0 of 2", ":Caliban todo<CR>"),
        (":Caliban request<CR>", "\"model\": \"claude", ":quit<CR>"),
        (":Caliban<CR>i@a.txt<Esc>K", "Sent with the message", "q:%d<CR>"),
        (":Caliban<CR>i/context<C-s><Esc>", "system prompt", ""),
        (":Caliban new two<CR>", "two · ", ""),
        ("<Esc>gs", "Type number", "<CR>"),
    ] {
        nvim.keys(keys);
        nvim.wait_screen(shown);
        nvim.keys(closes);
    }
    nvim.keys(":Caliban restart<CR>");
    nvim.wait_phase("idle");
}

#[test]
fn a_whole_session_calls_no_deprecated_function() {
    let server = Server::start();
    let setup = Setup::new().anthropic(&server).size(140, 45).file("a.txt", nine());
    let nvim = Nvim::start(&setup.before(RECORD));
    session(&server, &nvim);
    nvim.keys(":checkhealth caliban<CR>");
    nvim.wait(|it| it.lua_str("return vim.bo.filetype") == "checkhealth", "the report");
    let called = "return table.concat(KIT_DEPRECATED, '\\n')";
    assert_eq!(nvim.lua_str(called), "");
    nvim.lua("vim.tbl_flatten({ 1 })", &[]);
    assert!(nvim.lua_str(called).contains("vim.tbl_flatten"), "a deprecated call is noticed");
}

#[test]
fn no_deprecated_function_of_neovims_api_is_named() {
    let nvim = Nvim::start(&Setup::new().headless());
    let code = "return vim.iter(vim.fn.api_info().functions)
        :filter(function(it) return it.deprecated_since ~= nil end)
        :map(function(it) return it.name end)
        :totable()";
    let names: Vec<String> = serde_json::from_value(nvim.lua_json(code)).unwrap();
    assert!(names.iter().any(|it| it == "nvim_buf_get_option"), "{names:?}");
    let mut folders = vec![root().join("lua"), root().join("plugin")];
    let mut used = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = fs::read_to_string(&path).unwrap();
            let words: Vec<&str> =
                text.split(|it: char| !it.is_ascii_alphanumeric() && it != '_').collect();
            let named = names.iter().filter(|name| words.contains(&name.as_str()));
            used.extend(named.map(|name| format!("{}: {name}", path.display())));
        }
    }
    assert!(used.is_empty(), "{}", used.join("\n"));
}
