//! Tests the chat from the keys to the request and back to the text on the screen.

use crate::kit::chat::DIALECTS;
use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::root;
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use expect_test::expect;
use serde_json::json;

#[test]
fn a_typed_prompt_is_sent_and_the_reply_is_shown() {
    let server = Server::start();
    let gate = server.reply(Reply::new().text("I see ").gate().text("**two** files.").usage(12, 5));
    let nvim = Nvim::start(&Setup::new().file("a.rs", "fn main() {}\n").anthropic(&server));
    nvim.keys(":Caliban<CR>iwhat is in @a.rs<C-s>");
    nvim.wait_screen("I see");
    gate.finish();
    nvim.wait_screen("I see two files.");
    let requests = server.wait_requests(1);
    expect![[r#"
        <context kind="file" path="a.rs">
        fn main() {}
        </context>
        what is in @a.rs"#]]
    .assert_eq(&requests[0].last_user_text());
    assert!(requests[0].system_text().starts_with("You are Caliban"));
}

#[test]
fn the_command_caliban_opens_the_chat_beside_the_code_and_later_goes_back_to_it() {
    let server = Server::start();
    let setup = Setup::new().file("a.rs", "fn main() {}\n").anthropic(&server).size(100, 16);
    let setup = setup.config("{ layout = 'right' }");
    let nvim = Nvim::start(&setup);
    nvim.keys(":edit a.rs<CR>:Caliban<CR>");
    nvim.wait_screen("g? keys · @file");
    let project = setup.path("").display().to_string();
    let shown = |nvim: &Nvim| {
        // Neovim 0.12 marks nomodifiable buffers in the status line.
        let screen = nvim.screen().replace(&project, "PROJECT").replace(" [-]", "    ");
        let rows = screen.lines().map(|line| line.chars().skip(40).collect::<String>());
        rows.map(|row| row.trim_end().to_owned()).collect::<Vec<_>>().join("\n")
    };
    let expected = expect![[r#"
         anthropic/claude-sonnet-4-5 · ask · ○ idle      0/200k  0%
          Project  PROJECT
          Model    anthropic/claude-sonnet-4-5  (ANTHROPIC_API_KEY)
          Keys     <CR> send · <C-c> stop · g? keys · @file
          Help     :help caliban







        ────────────────────────────────────────────────────────────
        Ask, or /command, @file
                            <CR> send · <Tab> to the chat · g? keys
    "#]];
    nvim.wait_expect(expected, shown);
    assert_eq!(nvim.lua_str("return vim.bo.filetype"), "caliban-prompt");
    nvim.keys("<C-w>h");
    assert_eq!(nvim.lua_str("return vim.fn.expand('%:t')"), "a.rs");
    nvim.keys(":Caliban<CR>");
    assert_eq!(nvim.lua_str("return vim.bo.filetype"), "caliban-prompt");
    assert_eq!(nvim.lua_str("return vim.fn.winnr('$')"), "3");
    nvim.keys("<C-w>k");
    assert_eq!(nvim.lua_str("return vim.bo.filetype"), "caliban");
    assert_eq!(nvim.lua_str("return vim.bo.modifiable"), "false");
}

#[test]
fn if_the_program_is_not_built_the_command_caliban_says_how_to_build_it() {
    let setup = Setup::new();
    let plugin = setup.dir().join("plugin-folder");
    std::fs::create_dir_all(&plugin).unwrap();
    for part in ["lua", "plugin"] {
        std::os::unix::fs::symlink(root().join(part), plugin.join(part)).unwrap();
    }
    let setup = setup.env("KIT_ROOT", &plugin.display().to_string()).before("vim.g.caliban = nil");
    let nvim = Nvim::start(&setup.size(200, 20));
    nvim.keys(":Caliban<CR>");
    nvim.wait_screen("Caliban's program is not built. Run: cargo build --release in ");
    nvim.keys("<CR>");
    assert_eq!(nvim.lua_str("return vim.fn.winnr('$')"), "1");
}

#[test]
fn the_command_that_builds_the_program_is_shown_with_its_whole_folder_on_a_narrow_screen() {
    let setup = Setup::new();
    let plugin = setup.dir().join("home/.local/share/nvim/lazy/caliban.nvim");
    std::fs::create_dir_all(&plugin).unwrap();
    for part in ["lua", "plugin"] {
        std::os::unix::fs::symlink(root().join(part), plugin.join(part)).unwrap();
    }
    let setup = setup.env("KIT_ROOT", &plugin.display().to_string()).before("vim.g.caliban = nil");
    for columns in [110, 80, 60] {
        let nvim = Nvim::start(&setup.clone().size(columns, 20));
        nvim.keys(":Caliban<CR>");
        let whole = "Run: cargo build --release in ~/.local/share/nvim/lazy/caliban.nvim";
        let words = |it: &Nvim| it.screen().split_whitespace().collect::<Vec<_>>().join(" ");
        nvim.wait(|it| words(it).contains(whole), whole);
        nvim.keys("<CR>");
        nvim.wait(|it| !it.is_blocked(), "no prompt");
        assert_eq!(nvim.lua_str("return vim.fn.winnr('$')"), "1");
    }
}

#[test]
fn if_the_configured_program_is_missing_the_user_is_told_how_to_build_it() {
    let nvim = Nvim::start(&Setup::new().config("{ bin = '/nowhere/caliban' }").size(240, 20));
    nvim.keys(":Caliban<CR>");
    nvim.wait_screen("config.bin: /nowhere/caliban is not an executable file.");
    nvim.wait_screen("cargo build --release");
}

#[test]
fn a_wrong_setting_is_reported_with_its_path_and_the_other_settings_apply() {
    let server = Server::start();
    let config = "{ modle = 'x', mode = 7, layout = 'bottom', providers = { mine = { dialect = 'smoke' } } }";
    let nvim = Nvim::start(&Setup::new().config(config).anthropic(&server));
    nvim.keys(":Caliban<CR>");
    let said = nvim.lua_str("return vim.fn.execute('messages')");
    expect![[r#"
        caliban: config.mode: expected 'plan', 'ask', 'auto-edit' or 'auto', got 7
        caliban: config.modle: there is no such setting. Did you mean 'model'?
        caliban: config.providers.mine.dialect: expected 'anthropic', 'openai-chat', 'openai-responses', 'gemini' or 'ollama', got 'smoke'"#]]
    .assert_eq(said.trim());
    nvim.keys("<Esc>");
    // the refused configuration has a valid layout, which is used
    nvim.wait(|nvim| nvim.lua_str("return vim.fn.winnr('$')") == "3", "three windows");
    assert_eq!(nvim.lua_str("return vim.fn.winwidth(2)"), "120");
}

#[test]
fn the_key_help_opens_in_the_transcript_and_in_the_composer() {
    let server = Server::start();
    let nvim = Nvim::start(&Setup::new().anthropic(&server));
    nvim.keys(":Caliban<CR>g?");
    nvim.wait_screen("send into the running turn");
    nvim.keys("q");
    nvim.wait_gone("send into the running turn");
    nvim.keys("<C-w>kg?");
    nvim.wait_screen("on a question: yes, once");
    nvim.keys("<Esc>");
    nvim.wait_gone("on a question: yes, once");
}

#[test]
fn every_action_has_a_plug_map_and_no_global_key_is_mapped() {
    let nvim = Nvim::start(&Setup::new());
    let maps = "local names = {}
        for _, mode in ipairs({ 'n', 'x', 'i' }) do
          for _, map in ipairs(vim.api.nvim_get_keymap(mode)) do
            if (map.desc or ''):find('^Caliban') then names[map.lhs] = true end
          end
        end
        local list = vim.tbl_keys(names)
        table.sort(list)
        return table.concat(list, ' ')";
    let maps = nvim.lua_str(maps);
    for name in "open ask add send steer stop accept reject accept-file reject-file accept-all next prev approve deny"
        .split(' ')
    {
        assert!(maps.contains(&format!("<Plug>(caliban-{name})")), "{name}: {maps}");
    }
    assert!(maps.split(' ').all(|it| it.starts_with("<Plug>(caliban-")), "{maps}");
}

#[test]
fn a_message_that_has_left_the_queue_does_not_come_back_to_be_edited() {
    let server = Server::start();
    let gate = server.reply(Reply::new().text("first ").gate().text("done."));
    let nvim = Nvim::start(&Setup::new().anthropic(&server));
    nvim.keys(":Caliban<CR>ione<C-s>");
    nvim.wait_screen("first");
    nvim.keys("two<C-s>");
    nvim.wait_queue(1);
    nvim.keys("<Esc>");
    nvim.go_to_transcript("queued: two");
    // Both keys act on the same state of the queue, because the editor gets no message between them.
    nvim.lua("vim.api.nvim_feedkeys('x\\r', 'x', false)", &[]);
    nvim.wait_screen("The message is no longer in the queue.");
    assert_eq!(nvim.composer(), "");
    gate.finish();
    nvim.wait_phase("idle");
    assert_eq!(server.count(), 1);
}

#[test]
fn a_message_sent_during_a_turn_is_queued_and_can_be_removed_or_edited() {
    let server = Server::start();
    let gate = server.reply(Reply::new().text("first ").gate().text("done."));
    server.reply(Reply::said("third answered."));
    let nvim = Nvim::start(&Setup::new().anthropic(&server));
    nvim.keys(":Caliban<CR>ione<C-s>");
    nvim.wait_screen("first");
    nvim.keys("two<C-s>");
    nvim.wait_screen("queued: two");
    nvim.keys("three<C-s>four<C-s>");
    nvim.wait_screen("queued: four");
    nvim.wait_queue(3);
    nvim.keys("<Esc>");
    nvim.go_to_transcript("queued: two");
    nvim.keys("x");
    nvim.wait_gone("queued: two");
    nvim.go_to_transcript("queued: four");
    nvim.keys("<CR>");
    nvim.wait_gone("queued: four");
    nvim.wait(|nvim| nvim.composer() == "four", "the message back in the composer");
    gate.finish();
    nvim.wait_screen("third answered.");
    nvim.wait_phase("idle");
    let requests = server.requests();
    assert_eq!(requests.len(), 2);
    expect![[r#"
        user: one
        assistant: first done.
        user: three"#]]
    .assert_eq(&requests[1].outline());
    assert_eq!(nvim.composer(), "four");
}

#[test]
fn a_steered_message_is_sent_with_the_running_turns_next_request() {
    for dialect in DIALECTS {
        let server = Server::start();
        let call = json!({"path": "a.txt"});
        let gate = server.reply(Reply::new().text("Looking. ").gate().call("c1", "read", call));
        server.reply(Reply::said("Steered."));
        let setup = Setup::new().file("a.txt", "alpha\n").speaking(dialect, &server);
        let nvim = Nvim::start(&setup);
        nvim.keys(":Caliban<CR>igo<C-s>");
        nvim.wait_screen("Looking.");
        nvim.keys("only the title<M-CR>");
        nvim.wait_queue(1);
        gate.finish();
        nvim.wait_screen("Steered.");
        let requests = server.wait_requests(2);
        assert_eq!(requests[1].last_user_text(), "only the title");
        assert_eq!(requests[1].answers().len(), 1);
        nvim.wait_phase("idle");
        assert_eq!(server.requests().len(), 2);
    }
}

#[test]
fn stopping_closes_the_connection_and_the_next_request_is_valid() {
    for dialect in DIALECTS {
        let server = Server::start();
        let _gate = server.reply(Reply::new().text("Half of").gate().text(" it."));
        server.reply(Reply::said("Whole."));
        let nvim = Nvim::start(&Setup::new().speaking(dialect, &server));
        nvim.keys(":Caliban<CR>ione<C-s>");
        nvim.wait_screen("Half of");
        nvim.keys("<Esc>");
        // `<C-c>` is typed in a separate call, because after keys in Insert mode it would interrupt these keys.
        nvim.keys("<C-c>");
        server.wait_closed(1);
        nvim.wait_screen("! Stopped.");
        nvim.wait_phase("idle");
        nvim.keys("itwo<C-s>");
        nvim.wait_screen("Whole.");
        let said = nvim.conversation();
        assert_eq!(said, "one\n\nHalf of\n\n! Stopped.\n\ntwo\n\nWhole.");
        let outline = server.wait_requests(2)[1].outline();
        assert!(outline.contains("assistant: Half of"), "{outline}");
        assert!(outline.contains("The user stopped the turn"), "{outline}");
    }
}

#[test]
fn sending_a_message_by_the_lua_api_shows_the_chat_and_keeps_the_current_window() {
    let server = Server::start();
    server.reply(Reply::said("Answered."));
    let setup = Setup::new().file("a.rs", "fn main() {}\nfn other() {}\n").anthropic(&server);
    let nvim = Nvim::start(&setup);
    nvim.keys(":edit a.rs<CR>j");
    let here = "return vim.fn.expand('%:t') .. ' ' .. vim.fn.line('.') .. ' ' .. vim.fn.mode()";
    nvim.lua("require('caliban').add({ range = { 1, 1 } })", &[]);
    nvim.wait_screen("selection  a.rs:1");
    assert_eq!(nvim.lua_str(here), "a.rs 2 n");
    nvim.lua("require('caliban').ask('what?')", &[]);
    nvim.wait_screen("Answered.");
    assert_eq!(nvim.lua_str(here), "a.rs 2 n");
    assert_eq!(server.wait_requests(1)[0].last_user_text(), "what?");
    // The selection is still attached to the message in the composer.
    nvim.wait_screen("selection  a.rs:1");
}

/// Lua code that describes the user's windows (their sizes, cursors, files and an option), the alternate file, the
/// jumplist and the current window.
const PLACES: &str = "local wins = {}
    for _, win in ipairs(vim.api.nvim_list_wins()) do
      local buf = vim.api.nvim_win_get_buf(win)
      if not vim.bo[buf].filetype:find('^caliban') then
        wins[#wins + 1] = ('%d: %dx%d at %d %s number=%s'):format(
          vim.api.nvim_win_get_number(win), vim.api.nvim_win_get_width(win), vim.api.nvim_win_get_height(win),
          vim.api.nvim_win_get_cursor(win)[1], vim.fn.fnamemodify(vim.api.nvim_buf_get_name(buf), ':t'),
          tostring(vim.wo[win].number))
      end
    end
    wins[#wins + 1] = vim.fn.bufname('#') .. ' ' .. #vim.fn.getjumplist()[1] .. ' ' .. vim.fn.winnr()
    return table.concat(wins, '\\n')";

#[test]
fn a_turn_changes_neither_the_users_windows_nor_the_alternate_file_nor_the_jumplist() {
    let server = Server::start();
    let gate =
        server.reply(Reply::chunks(["one\n\n", "two\n\n```rust\nfn x() {}\n```\n", "three."]));
    let setup = Setup::new()
        .file("a.rs", "a\n".repeat(100))
        .file("b.rs", "b\n".repeat(100))
        .anthropic(&server);
    let nvim = Nvim::start(&setup);
    nvim.keys(":set number<CR>:edit a.rs<CR>:edit b.rs<CR>:split a.rs<CR>30G50G<C-w>j");
    nvim.keys(":Caliban<CR><C-w>h20G");
    nvim.wait_screen("idle");
    let before = nvim.lua_str(PLACES);
    nvim.lua("require('caliban').ask('go')", &[]);
    for text in ["one", "fn x", "three."] {
        gate.release();
        nvim.wait_screen(text);
        assert_eq!(nvim.lua_str(PLACES), before);
    }
    nvim.wait_phase("idle");
    assert_eq!(nvim.lua_str(PLACES), before);
}

#[test]
fn a_chat_window_scrolls_with_new_text_only_if_its_cursor_is_on_the_last_line() {
    let server = Server::start();
    let long: String = (1..=80).fold(String::new(), |text, n| format!("{text}- line {n}\n"));
    server.reply(Reply::said(&long));
    let gate = server.reply(Reply::chunks(["more A\n\n", "more B\n\n", "more C"]));
    let nvim = Nvim::start(&Setup::new().anthropic(&server).size(120, 24));
    nvim.keys(":Caliban<CR>ione<C-s>");
    nvim.wait_screen("line 80");
    nvim.keys("<Esc>");
    // Two windows show the transcript: one at its end, one at its top.
    nvim.keys("<C-w>k:vsplit<CR>gg");
    nvim.wait(|nvim| nvim.screen().matches("line 80").count() == 1, "one window at the end");
    nvim.lua("require('caliban').ask('two')", &[]);
    for text in ["more A", "more B", "more C"] {
        gate.release();
        nvim.wait_screen(text);
        assert_eq!(nvim.lua_str("return vim.fn.line('.') .. ' ' .. vim.fn.line('w0')"), "1 1");
        assert_eq!(nvim.screen().matches(text).count(), 1, "{}", nvim.screen());
    }
}

#[test]
fn the_chat_can_be_closed_reopened_or_moved_to_a_tab_during_a_turn() {
    let server = Server::start();
    let gate = server.reply(Reply::chunks(["one ", "two ", "three ", "four"]));
    let nvim = Nvim::start(&Setup::new().anthropic(&server));
    nvim.keys(":Caliban<CR>igo<C-s>");
    gate.release();
    nvim.wait_screen("one");
    nvim.keys("<Esc>iunsent<Esc>:q<CR><C-w>l:q<CR>");
    nvim.wait_gone("one");
    gate.release();
    nvim.wait_transcript("one two");
    nvim.keys(":Caliban<CR>");
    nvim.wait_screen("one two");
    nvim.wait_screen("unsent");
    nvim.keys("<C-w>k<C-w>T");
    gate.release();
    nvim.wait_screen("one two three");
    nvim.keys("gt");
    nvim.wait_screen("unsent");
    nvim.keys("gT");
    gate.finish();
    nvim.wait_screen("one two three four");
}

#[test]
fn the_models_reasoning_is_folded_until_a_key_opens_it() {
    for dialect in DIALECTS {
        let server = Server::start();
        let reply = Reply::new().thinking("First this.\nThen that.").gate().text("Therefore.");
        let gate = server.reply(reply);
        let nvim = Nvim::start(&Setup::new().speaking(dialect, &server));
        nvim.keys(":Caliban<CR>igo<C-s>");
        nvim.wait_screen("▸ Thinking");
        gate.finish();
        nvim.wait_screen("▸ Thought for");
        nvim.wait_screen("Therefore.");
        assert!(!nvim.transcript().contains("First this."));
        nvim.keys("<Esc>");
        nvim.go_to_transcript("Thought for");
        nvim.keys("za");
        nvim.wait_screen("Then that.");
        nvim.wait_screen("▾ Thought for");
        nvim.keys("<CR>");
        nvim.wait_gone("Then that.");
    }
}
