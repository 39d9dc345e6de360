//! On a narrow screen no message waits for a key: a message is cut to one line, and `:messages` has all of it.

use crate::kit::nvim::Nvim;
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use crate::review::scene::Scene;

/// Types keys, and checks that the screen shows the message cut to one line and that `:messages` has all of it.
#[track_caller]
fn check(nvim: &Nvim, keys: &str, whole: &str) {
    nvim.lua("vim.cmd('messages clear')", &[]);
    nvim.keys(keys);
    assert!(!nvim.is_blocked(), "{keys} waits for a key:\n{}", nvim.screen());
    nvim.wait(|nvim| nvim.lua_str("return vim.fn.execute('messages')").contains(whole), whole);
    let begin: String = whole.chars().take(18).collect();
    let is_cut = |nvim: &Nvim| {
        let screen = nvim.screen();
        let line = screen.lines().find(|it| it.contains(&begin));
        line.is_some_and(|it| it.trim_end_matches(['"', '│', ' ']).ends_with('…'))
    };
    nvim.wait(is_cut, &format!("{begin:?} in a line that is cut"));
    assert!(!nvim.is_blocked(), "{keys} waits for a key:\n{}", nvim.screen());
}

#[test]
fn messages_on_a_narrow_screen_cause_no_hit_enter_prompt() {
    let scene = Scene::two_hunks(|it| it.size(40, 24));
    let nvim = &scene.nvim;
    check(
        nvim,
        ":w<CR>",
        "a.txt has 2 hunks under review: accept or reject them first, or use :w! to write",
    );
    check(
        nvim,
        ":wqa<CR>",
        "a.txt has 2 hunks under review: accept or reject them first, or use :w! to write",
    );
    check(nvim, "5G:Caliban accept hunk<CR>", "No hunk here. ]h goes to the next one.");
    nvim.keys(":Caliban nonsense<CR>");
    assert!(!nvim.is_blocked());
    nvim.keys(":Caliban model /x<CR>");
    assert!(!nvim.is_blocked());
    check(nvim, ":Caliban model nobody/x<CR>", "No provider is called nobody");
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
        (":w<CR>", "a.txt has 2 hunks under"),
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
