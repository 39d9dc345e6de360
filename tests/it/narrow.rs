//! No message waits for a key or loses its end: a message that is wider than the screen is shown in several rows until the
//! next key.

use crate::kit::dice::Dice;
use crate::kit::nvim::Nvim;
use crate::kit::root;
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use crate::review::scene::Scene;
use std::path::PathBuf;

/// A text without its blanks: a message in several rows is broken between words, or within a long word.
fn packed(text: &str) -> String {
    text.split_whitespace().collect()
}

/// Types keys, and checks that the screen shows the whole message, and that `:messages` has it.
#[track_caller]
fn check(nvim: &Nvim, keys: &str, whole: &str) {
    nvim.lua("vim.cmd('messages clear')", &[]);
    nvim.keys(keys);
    assert!(!nvim.is_blocked(), "{keys} waits for a key:\n{}", nvim.screen());
    let has = |text: &str| packed(text).contains(&packed(whole));
    nvim.wait(|nvim| has(&nvim.lua_str("return vim.fn.execute('messages')")), whole);
    nvim.wait(|nvim| has(&nvim.screen()), &format!("all of {whole:?} on the screen"));
    assert!(!nvim.is_blocked(), "{keys} waits for a key:\n{}", nvim.screen());
}

#[test]
fn messages_on_a_narrow_screen_cause_no_hit_enter_prompt() {
    let scene = Scene::two_hunks(|it| it.size(40, 24));
    let nvim = &scene.nvim;
    for keys in [":w<CR>", ":wqa<CR>"] {
        check(nvim, keys, "a.txt is not written: 2 hunks wait for you. :w! writes it as it is.");
    }
    check(nvim, "5G:Caliban accept hunk<CR>", "No hunk here. ]h goes to the next one.");
    nvim.keys(":Caliban nonsense<CR>");
    assert!(!nvim.is_blocked());
    nvim.keys(":Caliban model /x<CR>");
    assert!(!nvim.is_blocked());
    check(nvim, ":Caliban model nobody/x<CR>", "No provider is called nobody");
}

/// A random message: words, some of them longer than a row, in narrow and in wide characters, and line breaks.
fn message(dice: &mut Dice) -> String {
    let mut text = "Begin".to_owned();
    for _ in 0..dice.below(12) {
        let letter = *dice.one_of(&["a", "ü", "語"]);
        let longest = if dice.below(8) == 0 { 60 } else { 12 };
        text += if dice.below(6) == 0 { "\n" } else { " " };
        text += &letter.repeat(dice.below(longest) + 1);
    }
    text + " end."
}

#[test]
fn every_message_is_on_the_screen_with_its_end_until_the_next_key() {
    let scene = Scene::two_hunks(|it| it.size(80, 24));
    let nvim = &scene.nvim;
    nvim.keys(":Caliban<CR><Esc>");
    let mut dice = Dice(7);
    for (columns, rows) in [(80, 24), (60, 40), (40, 40), (120, 36)] {
        nvim.resize(columns, rows);
        let windows = nvim.lua_json(WINDOWS);
        for keys in ["j", "l", "k", "h"] {
            let text = message(&mut dice);
            nvim.lua("require('caliban.editor.notify').show(...)", &[text.as_str().into()]);
            let has = |nvim: &Nvim| packed(&nvim.screen()).contains(&packed(&text));
            nvim.wait(has, &format!("{text:?} at {columns}x{rows}"));
            assert!(!nvim.is_blocked(), "{text:?}:\n{}", nvim.screen());
            nvim.keys(keys);
            nvim.wait(|it| it.lua_json(WINDOWS) == windows, "the windows as they were");
        }
    }
}

/// Lua code that returns the windows with their sizes.
const WINDOWS: &str = "return vim.tbl_map(function(win)
      return { win, vim.api.nvim_win_get_width(win), vim.api.nvim_win_get_height(win) }
    end, vim.api.nvim_list_wins())";

#[test]
fn a_message_in_several_rows_covers_no_keys_and_no_state_of_the_chat() {
    for (columns, rows) in [(80, 24), (60, 20), (120, 36), (40, 30)] {
        let scene = Scene::two_hunks(|it| it.size(columns, rows));
        let nvim = &scene.nvim;
        nvim.keys(":Caliban<CR><Esc>");
        nvim.wait_screen("g? keys");
        let bars = |nvim: &Nvim| -> Vec<String> {
            let screen = nvim.screen();
            let is_bar = |it: &&str| {
                ["g? keys", "waiting for you", "────"].iter().any(|part| it.contains(part))
            };
            screen.lines().filter(is_bar).map(str::to_owned).collect()
        };
        nvim.wait(|it| bars(it).len() == 3, "the state, the rule and the keys");
        let before = bars(nvim);
        for count in [1, 2, 4] {
            let words = "a message that has many words ".repeat(count * usize::from(columns) / 30);
            let text = format!("{words} and an end.");
            nvim.lua("require('caliban.editor.notify').show(...)", &[text.as_str().into()]);
            let has = |nvim: &Nvim| packed(&nvim.screen()).contains(&packed(&text));
            nvim.wait(has, &format!("{text:?} at {columns}x{rows}"));
            assert_eq!(bars(nvim), before, "{}", nvim.screen());
            nvim.keys("j");
            nvim.wait_gone("an end.");
            assert_eq!(bars(nvim), before, "{}", nvim.screen());
        }
        if columns == 40 {
            continue; // the chat has a tab of its own
        }
        // while the cursor is elsewhere, the rows cover the composer, not the text above it
        nvim.keys("<C-w>t");
        nvim.wait_screen(":Caliban to the chat");
        let text = "a message that has many words ".repeat(usize::from(columns) / 20);
        nvim.lua("require('caliban.editor.notify').show(...)", &[text.as_str().into()]);
        let has = |nvim: &Nvim| packed(&nvim.screen()).contains(&packed(&text));
        nvim.wait(has, &format!("{text:?} at {columns}x{rows}"));
        let screen = nvim.screen();
        let row = |text: &str| screen.lines().position(|it| it.contains(text));
        let first = row("a message that").unwrap();
        let last = screen.lines().count()
            - 1
            - screen.lines().rev().position(|it| it.contains("words")).unwrap();
        assert_eq!(row(":Caliban to the chat"), Some(last + 1), "{screen}");
        assert!(first >= usize::from(rows) - 7, "{screen}");
    }
}

#[test]
fn one_module_shows_all_messages() {
    let mut files: Vec<PathBuf> = vec![root().join("lua")];
    let mut showing = Vec::new();
    while let Some(path) = files.pop() {
        if path.is_dir() {
            files.extend(std::fs::read_dir(&path).unwrap().map(|it| it.unwrap().path()));
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let calls = ["nvim_echo(", "vim.notify(", "vim.notify_once(", "nvim_out_write", "print("];
        let mut lines = text.lines().filter(|it| !it.trim_start().starts_with("--"));
        if lines.any(|line| calls.iter().any(|call| line.contains(call))) {
            showing.push(path.strip_prefix(root()).unwrap().display().to_string());
        }
    }
    assert_eq!(showing, ["lua/caliban/editor/notify.lua"]);
}

#[test]
fn wrong_settings_cause_no_hit_enter_prompt() {
    let server = Server::start();
    let setup = Setup::new().size(40, 20).anthropic(&server);
    let nvim =
        Nvim::start(&setup.config("{ modell = 1, providers = { mine = { dialect = 'morse' } } }"));
    nvim.keys(":Caliban<CR>");
    nvim.wait(
        |nvim| nvim.lua_str("return vim.fn.execute('messages')").contains("morse"),
        "all problems",
    );
    assert!(!nvim.is_blocked(), "{}", nvim.screen());
}

#[test]
fn with_cmdheight_0_no_message_waits_for_a_key() {
    let scene = Scene::two_hunks(|it| it.size(80, 24));
    let nvim = &scene.nvim;
    let height = |nvim: &Nvim| nvim.lua_str("return tostring(vim.o.cmdheight)");
    nvim.keys(":set cmdheight=0<CR>");
    for (keys, text) in [
        ("5G:Caliban accept hunk<CR>", "No hunk here."),
        ("5G:Caliban reject hunk<CR>", "No hunk here."),
        (":w<CR>", "a.txt is not written: 2 hunks wait for you."),
    ] {
        nvim.keys(keys);
        assert!(!nvim.is_blocked(), "{keys} waits for a key:\n{}", nvim.screen());
        nvim.wait_screen(text);
        nvim.keys("j");
        let is_over = |nvim: &Nvim| height(nvim) == "0" && !nvim.screen().contains(text);
        nvim.wait(is_over, "the line's end");
    }
}

/// `vim.notify` may be a function or a callable table: notification plugins use both.
#[test]
fn messages_go_through_the_users_vim_notify() {
    for own in ["heard", "setmetatable({}, { __call = function(_, ...) heard(...) end })"] {
        let nvim = Nvim::start(&Setup::new());
        let heard = "heard = function(text, level, opts)
            vim.g.heard = ('%s, %d, %s'):format(text, level, opts.title)
        end";
        nvim.lua(heard, &[]);
        nvim.lua(&format!("vim.notify = {own}"), &[]);
        nvim.keys(":Caliban accept hunk<CR>");
        let text = "Nothing is under review here., 2, Caliban";
        nvim.wait(|nvim| nvim.lua_str("return vim.g.heard or ''") == text, text);
    }
}
