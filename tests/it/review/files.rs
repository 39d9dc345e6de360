//! Kinds of files, and changes of a file between a read and an edit.

use super::scene::{Scene, edit, nine, two_hunks};
use crate::kit::reply::Reply;
use expect_test::expect;
use serde_json::json;
use std::fs;

#[test]
fn file_names_with_special_characters_are_taken_literally() {
    let names = [
        "with space.txt",
        "per%cent.txt",
        "ha#sh.txt",
        "pi|pe.txt",
        "über/ñandú.txt",
        "[bra]{ce}.txt",
        "$HOME.txt",
        "it's `quoted`.txt",
        "-dash.txt",
        "star*.txt",
    ];
    let scene = Scene::start(|it| names.iter().fold(it, |it, name| it.file(name, nine())));
    let calls = names.iter().enumerate().fold(Reply::new(), |reply, (n, name)| {
        reply.call(&format!("e{n}"), "edit", edit(name, &[("l5", "L5")]))
    });
    scene.ask(calls);
    scene.wait_pending(names.len());
    let mut seen = Vec::new();
    for _ in names {
        scene.nvim.keys(":Caliban next<CR>");
        let name = scene.nvim.lua_str("return vim.fn.expand('%:p')");
        let root = scene.nvim.setup.path("");
        seen.push(
            name.trim_start_matches(root.to_str().unwrap()).trim_start_matches('/').to_owned(),
        );
    }
    seen.sort();
    let mut wanted = names.to_vec();
    wanted.sort_unstable();
    assert_eq!(seen, wanted, "each can be gone to");
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys(":Caliban accept all<CR>");
    scene.wait_idle("I see.");
    for name in names {
        assert_eq!(scene.on_disk(name), Some(nine().replace("l5", "L5")), "{name}");
    }
}

#[test]
fn a_pending_hunk_moves_with_the_text_and_can_be_edited() {
    let scene = Scene::two_hunks(|it| it);
    scene.nvim.keys("ggO1<CR>2<CR>3<CR>4<CR>5<Esc>");
    assert_eq!(scene.pending(), 2);
    assert_eq!(scene.nvim.lua_str("return require('caliban').pending()[1].start"), "6");
    scene.nvim.keys("7GA, mine<Esc>");
    assert_eq!(scene.pending(), 2);
    scene.nvim.keys("7Gdd");
    assert_eq!(scene.pending(), 2, "a line taken away is still a change to l2");
    scene.nvim.keys("uu");
    assert_eq!(scene.pending(), 2);
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys("\\A");
    scene.wait_idle("I see.");
    assert!(scene.nvim.buffer("/a.txt").starts_with("1\n2\n3\n4\n5\nl1\nL2\nl3\n"));
    expect![[r#"
        The user accepted 2 changes in a.txt.
        The file changed elsewhere too:
        @@ line 1
        +1
        +2
        +3
        +4
        +5
        a.txt is not saved (it has other unsaved changes): the changes are not on disk yet."#]]
    .assert_eq(&scene.answer(2, "e1"));
}

/// Lets the model read `a.txt`, runs `meanwhile`, and lets the model edit the file. Returns the answer to the edit.
fn between(meanwhile: impl FnOnce(&Scene)) -> String {
    let scene = Scene::start(|it| it.file("a.txt", nine()));
    scene.server.reply(Reply::new().call("r1", "read", json!({ "path": "a.txt" })));
    let gate =
        scene.server.reply(Reply::new().gate().call("e1", "edit", edit("a.txt", &[("l5", "L5")])));
    scene.nvim.lua("require('caliban').ask('please')", &[]);
    scene.server.wait_requests(2);
    meanwhile(&scene);
    scene.server.reply(Reply::said("I see."));
    gate.finish();
    scene.wait_idle("I see.");
    assert_eq!(scene.pending(), 0);
    scene.answer(3, "e1")
}

#[test]
fn an_edit_of_a_file_that_was_deleted_or_replaced_since_the_read_is_refused() {
    let a_txt = |scene: &Scene| scene.nvim.setup.path("a.txt");
    let told = between(|it| fs::remove_file(a_txt(it)).unwrap());
    expect!["a.txt does not exist. Use write to create it."].assert_eq(&told);
    let told = between(|it| {
        fs::remove_file(a_txt(it)).unwrap();
        fs::create_dir(a_txt(it)).unwrap();
    });
    expect!["path: `a.txt` is a folder. Name a file."].assert_eq(&told);
    let told = between(|it| {
        let outside = it.nvim.setup.dir().join("outside.txt");
        fs::write(&outside, nine()).unwrap();
        fs::remove_file(a_txt(it)).unwrap();
        std::os::unix::fs::symlink(&outside, a_txt(it)).unwrap();
    });
    assert!(told.starts_with("path: `a.txt` is outside the project"), "{told}");
    let told = between(|it| {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(a_txt(it), fs::Permissions::from_mode(0o444)).unwrap();
    });
    expect!["a.txt was not changed: it is read-only."].assert_eq(&told);
}

#[test]
fn unsaved_text_and_another_text_on_disk_are_both_kept() {
    let scene = Scene::start(|it| it.file("a.txt", nine()));
    scene.nvim.keys(":edit a.txt<CR>5GA mine<Esc>");
    let theirs = nine().replace("l1", "one");
    fs::write(scene.nvim.setup.path("a.txt"), &theirs).unwrap();
    scene.ask(two_hunks());
    scene.wait_pending(2);
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys("\\A");
    scene.wait_idle("I see.");
    let text = scene.nvim.buffer("/a.txt");
    assert!(text.contains("l5 mine") && text.contains("L8b"), "{text}");
    assert_eq!(scene.on_disk("a.txt"), Some(theirs), "what another wrote is not written over");
    expect![[r#"
        The user accepted 2 changes in a.txt.
        a.txt is not saved (it has other unsaved changes): the changes are not on disk yet."#]]
    .assert_eq(&scene.answer(2, "e1"));
}

/// A language server inside Neovim that applies the incremental changes it receives, with ranges in UTF-16.
const SERVER: &str = r"
    _G.told = { changes = 0 }
    local function byte(line, units)
      return vim.str_byteindex(line, 'utf-16', units)
    end
    local function apply(change)
      local lines, s, e = vim.split(_G.told.text, '\n'), change.range.start, change.range['end']
      local head = lines[s.line + 1]:sub(1, byte(lines[s.line + 1], s.character))
      local last = lines[e.line + 1] or ''
      local tail = last:sub(byte(last, e.character) + 1)
      local out = vim.list_slice(lines, 1, s.line)
      out[#out + 1] = head .. change.text .. tail
      vim.list_extend(out, lines, e.line + 2)
      _G.told.text = table.concat(out, '\n')
    end
    vim.lsp.config('mirror', { filetypes = { 'text' }, cmd = function()
      return {
        request = function(method, _, callback)
          callback(nil, method == 'initialize' and { capabilities = { textDocumentSync = { openClose = true, change = 2 } } } or nil)
          return true, 1
        end,
        notify = function(method, params)
          if method == 'textDocument/didOpen' then _G.told.text = params.textDocument.text end
          if method == 'textDocument/didChange' then
            _G.told.changes = _G.told.changes + 1
            vim.iter(params.contentChanges):each(apply)
          end
        end,
        is_closing = function() return false end,
        terminate = function() end,
      }
    end })
    vim.lsp.enable('mirror')";

#[test]
fn a_language_server_is_sent_every_change_exactly() {
    let text = nine().replace("l5", "ü€𝄞 l5");
    let scene = Scene::start(|it| it.file("a.txt", &text).before(SERVER));
    scene.nvim.keys(":edit a.txt<CR>");
    scene.nvim.wait(|nvim| nvim.lua_str("return told.text") == text, "the text at the server");
    let same = |nvim: &crate::kit::nvim::Nvim| {
        nvim.lua_str("return told.text") == format!("{}\n", nvim.buffer("/a.txt"))
    };
    scene.ask(Reply::new().call(
        "e1",
        "edit",
        edit("a.txt", &[("l2", "L2\nL2b"), ("𝄞 l5", "𝄞𝄞 L5"), ("l8\n", "")]),
    ));
    scene.wait_pending(3);
    scene.nvim.wait(same, "the proposal at the server");
    scene.nvim.keys(":/L5/Caliban reject<CR>");
    scene.wait_hunks(2);
    scene.nvim.wait(same, "the rejection at the server");
    scene.nvim.keys("u");
    scene.wait_hunks(3);
    scene.nvim.wait(same, "the undo at the server");
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys("\\A");
    scene.wait_idle("I see.");
    scene.nvim.wait(same, "the text as it was accepted at the server");
    assert_ne!(scene.nvim.lua_str("return told.changes"), "0");
}
