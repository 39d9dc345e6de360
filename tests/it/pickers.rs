//! The pickers: what they give to a plugin that has replaced `vim.ui.select`, and Neovim's own list on a narrow screen.

use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use crate::review::scene::Scene;
use expect_test::expect;
use serde_json::json;
use std::fs;

/// A picker that stores its kind, its rows and the previews in `_G.given`.
const RECORD: &str = "vim.ui.select = function(items, opts, done)
  _G.given = { kind = opts.kind, rows = vim.tbl_map(opts.format_item, items) }
  for _, item in ipairs(items) do
    local preview = opts.preview_item and opts.preview_item(item)
    _G.given.buf = _G.given.buf or preview and preview.buf
    _G.given.lines = _G.given.lines or preview and vim.fn.copy(preview)
  end
  if opts.snacks then
    local seen = { set_buf = function(_, buf) _G.given.snacks = buf end }
    opts.snacks.preview({ item = { item = items[1] }, preview = seen })
  end
  _G.choose = function(i) done(items[i], i) end
end";

/// Opens a picker by a command. Returns the picker's kind and rows.
fn given(nvim: &Nvim, command: &str) -> String {
    nvim.lua("_G.given = nil", &[]);
    nvim.keys(&format!("<Esc>:Caliban {command}<CR>"));
    nvim.wait(|it| it.lua_json("return _G.given ~= nil") == true, command);
    let shown = "return _G.given.kind .. '\\n' .. table.concat(_G.given.rows, '\\n'):gsub('%d+ kB', 'n kB')";
    nvim.lua_str(shown)
}

/// Waits until the preview of the first item contains a text. Returns the whole preview.
fn previewed(nvim: &Nvim, text: &str) -> String {
    let shown = "return table.concat(vim.api.nvim_buf_get_lines(_G.given.buf, 0, -1, true), '\\n')";
    nvim.wait(|it| it.lua_str(shown).contains(text), text);
    nvim.lua_str(shown)
}

#[test]
fn a_plugins_picker_gets_kinds_columns_and_previews() {
    let scene = Scene::two_written(|it| {
        it.before(RECORD).file(".caliban/agents/x.md", "---\ndescription: Xs\n---\nDo.\n")
    });
    let nvim = &scene.nvim;
    expect![[r#"
        caliban_sessions
        main  please  now  1 turn  n kB  open here"#]]
    .assert_eq(&given(nvim, "sessions"));
    expect![[r#"
        > please

        I see."#]]
    .assert_eq(&previewed(nvim, "I see."));
    assert_eq!(nvim.lua_json("return _G.given.snacks == _G.given.buf"), true);
    let buf = nvim.lua_str("return _G.given.buf");
    nvim.lua("_G.choose(9)", &[]);
    let gone = format!("return vim.api.nvim_buf_is_valid({buf})");
    nvim.wait(|it| it.lua_json(&gone) == false, "the end of the previews");

    expect![[r#"
        caliban_rewinds
        please  a.txt  now"#]]
    .assert_eq(&given(nvim, "rewind"));
    expect![[r#"
        diff a.txt is restored
        @@ -1,10 +1,9 @@
         l1
        -L2
        +l2
         l3
         l4
         l5
         l6
         l7
        -L8
        -L8b
        +l8
         l9"#]]
    .assert_eq(&previewed(nvim, "l9"));
    assert!(!nvim.screen().contains("take back all"), "{}", nvim.screen());

    expect![[r#"
        caliban_agents
        x  Xs  the project's  .caliban/agents/x.md"#]]
    .assert_eq(&given(nvim, "agents"));
    previewed(nvim, "description: Xs");
    assert_eq!(nvim.lua_json("return _G.given.lines[1]"), "---");
    expect![[r#"
        caliban_modes
        plan                reads only: no edits, no commands
        ask                 asks for edits, unusual commands
        auto-edit    (now)  like ask, but writes edits at once
        auto                writes edits, runs all in a sandbox
        coordinator         its workers do the work"#]]
    .assert_eq(&given(nvim, "mode"));
}

#[test]
fn a_skill_is_chosen_from_a_list_and_called_by_the_next_message() {
    let server = Server::start();
    let skill = |name: &str, about: &str, body: &str| {
        format!("---\nname: {name}\ndescription: \"{about}\"\n---\n\n{body}\n")
    };
    let hostile = "A \\u001b[31m%#Error# \\u202e$(touch pwned) `id`".repeat(20);
    let setup = Setup::new()
        .before(RECORD)
        .file(".caliban/skills/release/SKILL.md", skill("release", "Makes a release.", "Tag it."))
        .file(".claude/skills/$(id) %#Error#/SKILL.md", skill("odd", &hostile, "\u{1b}[31mOdd."))
        .file("../home/.claude/skills/prose/SKILL.md", skill("prose", "Writes.", "Be brief."));
    let nvim = Nvim::start(&setup.anthropic(&server).size(80, 24));
    nvim.keys(":Caliban<CR>ithe letter<Esc><C-w>k");
    expect![[r#"
        caliban_skills
        release  .caliban/skills   Makes a release.
        odd      .claude/skills    A [U+001B][31m%#Error# [U+20…
        prose    ~/.claude/skills  Writes."#]]
    .assert_eq(&given(&nvim, "skills"));
    previewed(&nvim, "Tag it.");
    nvim.lua("_G.choose(3)", &[]);
    nvim.wait(|it| it.composer() == "/skill prose the letter", "the call before the draft");
    given(&nvim, "skills");
    nvim.lua("_G.choose(2)", &[]);
    nvim.wait(|it| it.composer() == "/skill odd the letter", "the other call");
    server.reply(Reply::said("Done."));
    nvim.keys(" now<C-s>");
    nvim.wait_transcript("Done.");
    let told = server.requests()[0].last_user_text();
    assert!(told.contains("Odd.") && told.ends_with("\nthe letter now"), "{told}");
    nvim.wait_phase("idle");
    nvim.lua("_G.given = nil", &[]);
    nvim.keys("/skill<C-s>");
    nvim.wait(|it| it.lua_json("return _G.given ~= nil") == true, "the list");
    nvim.lua("_G.choose(1)", &[]);
    nvim.wait(|it| it.composer() == "/skill release ", "the call");
    let sent = nvim.lua_json("return require('caliban.program.project').history()");
    assert_eq!(sent, json!(["/skill odd the letter now"]), "the opening of a list is no message");
}

#[test]
fn the_list_of_neovim_itself_is_aligned_on_a_narrow_screen() {
    let server = Server::start();
    let setup = Setup::new().anthropic(&server).size(60, 24);
    let nvim = Nvim::start(&setup);
    server.reply(Reply::said("Yes."));
    nvim.ask("hello", "Yes.");
    let main = fs::read_to_string(setup.sessions().join("main.json")).unwrap();
    for (name, title) in [
        ("tabs", "a\\tb %#Error# \\u001b[2J and a title that is much too long for a row"),
        ("a-name-of-forty-characters-or-a-few-more", "語語語語語語語語語語語語語語語語語語語語"),
    ] {
        let text = main.replace("\"hello\"", &format!("\"{title}\""));
        fs::write(setup.sessions().join(format!("{name}.json")), text).unwrap();
    }
    nvim.keys("<Esc>:Caliban sessions<CR>");
    nvim.wait_screen("Type number and <Enter>");
    let screen = nvim.screen();
    let (_, list) = screen.split_once("Conversation").unwrap();
    let rows: Vec<&str> = list.lines().filter(|it| it.contains(": ")).map(str::trim_end).collect();
    expect![[r#"
        1: a-name-of-forty-c…  語語語語語語語…  now  1 turn  N kB
        2: tabs                a b %#Error# a…  now  1 turn  N kB
        3: main                hello            now  1 turn  N kB"#]]
    .assert_eq(&rows.join("\n").replace("5 kB", "N kB").replace("6 kB", "N kB"));
}
