//! Keys that steer or queue a message, sent as the bytes of a terminal.

use crate::kit::http::Request;
use crate::kit::nvim::Nvim;
use crate::kit::nvim_bin;
use crate::kit::reply::Reply;
use crate::kit::server::{Gate, Server};
use crate::kit::setup::Setup;
use serde_json::json;

/// A server with three replies, the first of which waits at a gate and calls a tool.
fn scene() -> (Server, Gate, Setup) {
    let server = Server::start();
    let call = json!({"path": "a.txt"});
    let gate = server.reply(Reply::new().text("Looking. ").gate().call("c1", "read", call));
    server.reply(Reply::said("Second."));
    server.reply(Reply::said("Third."));
    let setup = Setup::new().file("a.txt", "alpha\n").anthropic(&server).size(120, 30);
    (server, gate, setup)
}

/// Starts a second Neovim, with a chat, in a terminal buffer of the first. The screen of the first Neovim then shows
/// the second.
fn start_in_terminal(nvim: &Nvim) {
    let code = "local bin, socket = ..., vim.env.HOME .. '/socket'
        local init = vim.env.KIT_ROOT .. '/tests/minimal_init.lua'
        vim.fn.jobstart({ bin, '--headless', '--listen', socket, '-u', init })
        local function listens()
          local ok, channel = pcall(vim.fn.sockconnect, 'pipe', socket)
          return ok and channel > 0 and vim.fn.chanclose(channel) == 1
        end
        assert(vim.wait(60000, listens, 10))
        vim.cmd.enew()
        local ui = { bin, '--server', socket, '--remote-ui' }
        KitJob = vim.fn.jobstart(ui, { term = true, env = { TERM = 'xterm-256color' } })";
    nvim.lua(code, &[nvim_bin().to_string_lossy().as_ref().into()]);
    // from now on only the second Neovim shows `[No Name]` in a status line
    nvim.wait_screen("term://");
    nvim.wait_screen("[No Name]");
    send(nvim, ":Caliban\r");
    nvim.wait_screen("<CR> send");
    nvim.wait_screen("idle");
}

/// Sends bytes to the second Neovim, as a terminal does.
fn send(nvim: &Nvim, bytes: &str) {
    nvim.lua("vim.fn.chansend(KitJob, ...)", &[bytes.into()]);
}

/// Writes a message while a turn runs and sends it with these bytes. Returns the prompts and results in the second
/// request.
fn second_request(bytes: &str, shown: &str) -> String {
    let (server, gate, setup) = scene();
    let nvim = Nvim::start(&setup);
    start_in_terminal(&nvim);
    send(&nvim, "igo\x13");
    nvim.wait_screen("Looking.");
    nvim.wait_screen("<C-s> queue · <Esc>g<CR> join turn");
    send(&nvim, "also this");
    nvim.wait_screen("also this");
    send(&nvim, bytes);
    nvim.wait_screen(shown);
    gate.finish();
    server.wait_requests(2)[1].outline()
}

#[test]
fn the_keys_escape_and_enter_queue_the_message_even_if_a_terminal_sends_them_at_once() {
    assert!(!second_request("\x1b\r", "queued: also this").contains("also this"));
}

#[test]
fn the_keys_g_and_enter_steer_a_message_in_a_terminal() {
    assert!(second_request("\x1bg\r", "joins this turn: also this").contains("also this"));
}

/// Checks whether Meta-Enter steers with these UI options.
#[track_caller]
fn check_meta_enter(options: &[(&str, rmpv::Value)], steers: bool) {
    let (server, gate, setup) = scene();
    let nvim = Nvim::start(&setup);
    for (name, value) in options {
        nvim.request("nvim_ui_set_option", vec![(*name).into(), value.clone()]);
    }
    nvim.keys(":Caliban<CR>igo<C-s>");
    nvim.wait_screen("Looking.");
    let key = if steers { "<M-CR> join turn" } else { "g<CR> join turn" };
    nvim.wait_screen(key);
    nvim.keys("also this<M-CR>");
    nvim.wait(|it| it.composer().is_empty(), "the message to be sent");
    nvim.wait_queue(1);
    let mode = nvim.lua_str("return vim.api.nvim_get_mode().mode");
    assert_eq!(mode, if steers { "i" } else { "n" });
    gate.finish();
    let outline = server.wait_requests(2)[1].outline();
    assert_eq!(outline.contains("also this"), steers, "{outline}");
}

#[test]
fn the_key_meta_enter_steers_unless_the_terminal_sends_it_as_escape_and_enter() {
    check_meta_enter(&[], true);
    check_meta_enter(&[("stdout_tty", true.into()), ("term_name", "xterm-kitty".into())], true);
    check_meta_enter(&[("stdout_tty", true.into()), ("term_name", "tmux-256color".into())], false);
}

#[test]
fn after_a_stop_a_new_message_goes_first_and_those_before_it_are_held() {
    let server = Server::start();
    let _gate = server.reply(Reply::new().text("Half of").gate().text(" it."));
    let nvim = Nvim::start(&Setup::new().anthropic(&server).size(80, 24));
    nvim.keys(":Caliban<CR>ione<C-s>");
    nvim.wait_screen("Half of");
    nvim.keys("later<C-s>");
    nvim.wait_queue(1);
    nvim.keys("at once<Esc>g<CR>");
    nvim.wait_screen("joins this turn: at once");
    nvim.keys("<C-c>");
    nvim.wait_phase("idle");
    nvim.wait_screen("not sent: later");
    nvim.wait_screen("not sent: at once");
    assert!(!nvim.transcript().contains("joins this turn"), "{}", nvim.transcript());
    nvim.keys("<CR>");
    nvim.wait_screen("s on a message sends it");
    server.reply(Reply::said("Redirected."));
    nvim.keys("iinstead<C-s><Esc>");
    nvim.wait_transcript("Redirected.");
    nvim.wait_phase("idle");
    let said = server.requests().last().unwrap().last_user_text();
    assert!(said.ends_with("\ninstead"), "{said}");
    nvim.wait_queue(2);
    server.reply(Reply::said("Later."));
    server.reply(Reply::said("At once."));
    nvim.go_to_transcript("not sent: later");
    nvim.keys("S");
    nvim.wait_transcript("At once.");
    nvim.wait_queue(0);
    let said: Vec<String> = server.requests()[2..].iter().map(Request::last_user_text).collect();
    assert_eq!(said, ["later", "at once"]);
}
