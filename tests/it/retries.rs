//! Retried requests: the chat names the error, shows one countdown, and removes the countdown afterwards.

use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use std::cell::Cell;

const COUNTDOWN: &str = "! Rate limited by the provider. Trying again in ";

fn limited() -> Reply {
    Reply::error(429).header("retry-after", "60")
}

/// A chat that waits before it sends a request again, on a screen that is wide enough for the countdown's line.
fn waiting(server: &Server) -> Nvim {
    server.reply(limited());
    let nvim = Nvim::start(&Setup::new().anthropic(server).size(200, 40));
    nvim.keys(":Caliban<CR>igo<C-s><Esc>");
    nvim.wait_screen(COUNTDOWN);
    nvim
}

/// The seconds that are left, as the chat and its winbar show them.
fn shown(nvim: &Nvim) -> [Option<u32>; 2] {
    let screen = nvim.screen();
    ["Trying again in ", "trying again in "].map(|mark| {
        let rest = screen.split_once(mark)?.1;
        rest.split_once(' ')?.0.parse().ok()
    })
}

/// Waits until the chat and its winbar show the same number of seconds, less than `before`. Returns that number.
fn wait_below(nvim: &Nvim, before: u32) -> u32 {
    let both = |nvim: &Nvim| match shown(nvim) {
        [Some(chat), Some(winbar)] if chat == winbar && chat < before => Some(chat),
        _ => None,
    };
    let seen = Cell::new(None);
    let is_less = |nvim: &Nvim| {
        seen.set(both(nvim));
        seen.get().is_some()
    };
    nvim.wait(is_less, &format!("fewer seconds than {before} at both places"));
    seen.get().unwrap()
}

fn is_gone(nvim: &Nvim) {
    nvim.wait_gone("rying again in");
    nvim.wait_gone("r now");
    assert!(!nvim.transcript().contains("Trying again"), "{}", nvim.transcript());
}

#[test]
fn the_chat_and_the_winbar_show_the_same_countdown_and_the_chat_names_the_keys() {
    let server = Server::start();
    let nvim = waiting(&server);
    nvim.wait_screen(" s (r now, <C-c> stop).");
    let first = wait_below(&nvim, 61);
    let second = wait_below(&nvim, first);
    wait_below(&nvim, second);
    assert_eq!(nvim.transcript().matches("Trying again").count(), 1);
    assert!(nvim.hl_of("!").contains(&"CalibanNotice".to_owned()));
    assert!(!nvim.hl_of("Rate limited").contains(&"CalibanNotice".to_owned()));
    nvim.keys("<C-c>");
    nvim.wait_screen("! Stopped.");
}

#[test]
fn the_countdown_line_disappears_when_the_retry_is_sent() {
    let server = Server::start();
    let nvim = waiting(&server);
    let gate = server.reply(Reply::said("All is well.").held());
    nvim.go_to_transcript("Trying again");
    nvim.keys("r");
    server.wait_requests(2);
    is_gone(&nvim);
    gate.finish();
    nvim.wait_transcript("All is well.");
    nvim.wait_phase("idle");
    is_gone(&nvim);
    assert_eq!(nvim.conversation(), "go\n\nAll is well.");
}

#[test]
fn the_countdown_line_disappears_after_a_stop() {
    let server = Server::start();
    let nvim = waiting(&server);
    nvim.keys("<C-c>");
    nvim.wait_screen("! Stopped.");
    is_gone(&nvim);
    assert_eq!(nvim.conversation(), "go\n\n! Stopped.");
}

#[test]
fn the_countdown_line_disappears_after_an_error() {
    let server = Server::start();
    let nvim = waiting(&server);
    server.reply(Reply::error(401));
    nvim.go_to_transcript("Trying again");
    nvim.keys("r");
    nvim.wait_screen("refused the key");
    is_gone(&nvim);
}

#[test]
fn the_countdown_line_disappears_when_the_program_ends() {
    let server = Server::start();
    let nvim = waiting(&server);
    let own = env!("CARGO_BIN_EXE_caliban");
    let program = nvim.setup.processes().into_iter().find(|(_, line)| line == own);
    nvim.lua("vim.uv.kill(..., 'sigkill')", &[program.unwrap().0.into()]);
    nvim.wait_screen("The program ended");
    is_gone(&nvim);
}

/// The new line names the second error.
#[test]
fn a_second_retry_pause_replaces_the_line_of_the_first() {
    let server = Server::start();
    let nvim = waiting(&server);
    server.reply(Reply::error(502).header("retry-after", "60"));
    nvim.go_to_transcript("Trying again");
    nvim.keys("r");
    nvim.wait_screen("! A gateway got no valid answer from the provider (502). Trying again in ");
    wait_below(&nvim, 61);
    assert_eq!(nvim.transcript().matches("Trying again").count(), 1);
    // Notices that come during the pause are shown above the countdown, and a repaint shows the countdown once.
    nvim.keys(":Caliban mode plan<CR>");
    nvim.wait_transcript("Mode plan");
    let text = nvim.transcript();
    assert!(text.find("Mode plan") < text.find("Trying again"), "{text}");
    nvim.lua("require('caliban.program.process').notify({ kind = 'open' })", &[]);
    nvim.wait(|nvim| nvim.transcript().matches("Trying again").count() == 1, "one countdown");
    nvim.keys("<C-c>");
    nvim.wait_screen("! Stopped.");
    is_gone(&nvim);
}

/// The cursor is on the line of the countdown, which changes every second.
#[test]
fn the_countdown_does_not_move_the_cursor() {
    let server = Server::start();
    let nvim = waiting(&server);
    nvim.go_to_transcript("Trying again");
    nvim.keys("0ll");
    let cursor = "return vim.inspect(vim.api.nvim_win_get_cursor(0))";
    let before = nvim.lua_str(cursor);
    let now = wait_below(&nvim, 61);
    wait_below(&nvim, now);
    assert_eq!(nvim.lua_str(cursor), before);
    nvim.keys("<C-c>");
    nvim.wait_screen("! Stopped.");
}

#[test]
fn each_http_error_status_has_an_error_message_of_its_own() {
    for (status, said) in [
        (408, "The provider waited too long for the request (408)"),
        (500, "The provider had an internal error (500)"),
        (502, "A gateway got no valid answer from the provider (502)"),
        (503, "The provider is not available at the moment (503)"),
        (504, "A gateway waited too long for the provider's answer (504)"),
        (524, "The provider's server failed (524)"),
        (529, "The provider is overloaded"),
    ] {
        let server = Server::start();
        server.reply(Reply::error(status).header("retry-after", "60"));
        server.reply(Reply::error(status).header("retry-after", "3600"));
        let nvim = Nvim::start(&Setup::new().anthropic(&server).size(320, 30));
        nvim.keys(":Caliban<CR>igo<C-s><Esc>");
        nvim.wait_screen(&format!("! {said}. Trying again in "));
        nvim.wait_screen(" s (r now, <C-c> stop).");
        nvim.go_to_transcript("Trying again");
        nvim.keys("r");
        nvim.wait_transcript(&format!("! {said}: the next request may be sent in 60 min"));
        is_gone(&nvim);
    }
}

/// The key `r` works on a wrapped line, too.
#[test]
fn the_countdown_line_is_readable_at_every_width() {
    for (columns, rows) in [(50, 18), (60, 20), (80, 24), (120, 40)] {
        let server = Server::start();
        server.reply(limited());
        server.reply(Reply::said("All is well."));
        let nvim = Nvim::start(&Setup::new().anthropic(&server).size(columns, rows));
        nvim.keys(":Caliban<CR>igo<C-s><Esc>");
        let by = if columns == 80 { " by the provider" } else { "" };
        for part in [&*format!("! Rate limited{by}. Trying again in"), "(r", "stop)."] {
            nvim.wait_screen(part);
        }
        nvim.go_to_transcript("Trying again");
        nvim.keys("r");
        nvim.wait_screen("All is well.");
        is_gone(&nvim);
    }
}

#[test]
fn a_gateways_error_page_is_quoted_after_the_last_retry() {
    let server = Server::start();
    let page = "<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>";
    let headers = [("content-type", "text/html"), ("retry-after-ms", "1")];
    for _ in 0..6 {
        server.reply(Reply::raw(502, &headers, page));
    }
    let nvim = Nvim::start(&Setup::new().anthropic(&server));
    nvim.ask(
        "go",
        "! A gateway got no valid answer from the provider (502): “502 Bad Gateway”. Wait a little, then send again.",
    );
    is_gone(&nvim);
    assert_eq!(server.requests().len(), 6);
}
