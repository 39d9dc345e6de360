//! While a conversation is being opened, other conversations go on, and messages to the opening conversation are
//! handled once it is open.

use super::names::say;
use super::*;

/// Lua code that records each message of the program, and suppresses questions to the user.
const NOTING: &str = "
    vim.ui.select = function() end
    local dispatch = require('caliban.program.dispatch')
    local receive = dispatch.receive
    _G.noted = {}
    dispatch.receive = function(message)
      table.insert(_G.noted, message.kind .. ' ' .. tostring(message.session))
      return receive(message)
    end
";

fn noted(nvim: &Nvim) -> Vec<String> {
    let noted = nvim.lua_json("return _G.noted");
    noted.as_array().unwrap().iter().map(|it| it.as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_conversation_locked_elsewhere_does_not_delay_the_others() {
    let server = Server::start();
    let setup = wide().anthropic(&server);
    let nvim = Nvim::start(&setup);
    nvim.keys(":Caliban new one<CR>");
    nvim.wait_screen("Project");
    say(&nvim, &server, "hello", "The first.");
    nvim.lua(NOTING, &[]);
    let lock = fs::File::create(setup.sessions().join("two.lock")).unwrap();
    lock.lock().unwrap();
    server.reply(Reply::said("The second."));
    nvim.lua(
        "require('caliban.program.process').notify({ kind = 'open', session = 'two' })
        require('caliban').ask('go on')",
        &[],
    );
    nvim.wait(|nvim| noted(nvim).contains(&"held two".to_owned()), "the end of the wait");
    let noted = noted(&nvim);
    let at = |what: &str| noted.iter().position(|it| it == what);
    assert!(at("paint one").is_some_and(|it| Some(it) < at("held two")), "{noted:?}");
    nvim.wait_screen("The second.");
    drop(lock);
}

#[test]
fn messages_to_a_conversation_that_is_opening_arrive_in_order() {
    let server = Server::start();
    let setup = wide().anthropic(&server);
    let nvim = Nvim::start(&setup);
    nvim.keys(":Caliban new one<CR>");
    nvim.wait_screen("Project");
    say(&nvim, &server, "hello", "The first.");
    let first = server.reply(Reply::new().gate().text("To the first words."));
    server.reply(Reply::said("To the second words."));
    nvim.lua(
        "local notify = require('caliban.program.process').notify
        local function send(text)
          notify({ kind = 'send', session = 'two', text = text, context = {}, steer = false })
        end
        notify({ kind = 'open', session = 'two' })
        send('first words')
        notify({ kind = 'open', session = 'two' })
        send('second words')
        notify({ kind = 'draft', session = 'two', text = 'unsent', context = {} })",
        &[],
    );
    server.wait_count(2);
    first.release();
    server.wait_count(3);
    let draft = setup.sessions().join("two.draft");
    let is_kept = || fs::read_to_string(&draft).is_ok_and(|it| it.contains("unsent"));
    nvim.wait(|_| is_kept(), "the draft on disk");
    nvim.wait(|_| setup.sessions().join("two.json").exists(), "the conversation on disk");
    nvim.keys(":Caliban resume two<CR>");
    nvim.wait_screen("To the second words.");
    nvim.wait(|nvim| nvim.phase() == "idle", "the end of the turn");
    let words = [
        "user: first words",
        "assistant: To the first words.",
        "user: second words",
        "assistant: To the second words.",
    ];
    assert_eq!(said(&setup, "two"), words);
}

#[test]
fn a_draft_is_saved_if_neovim_exits_while_its_conversation_opens() {
    let setup = wide().without("CALIBAN_MODEL");
    let nvim = Nvim::start(&setup);
    nvim.keys(":Caliban new one<CR>");
    nvim.wait_screen("Project");
    let leave = ":lua local notify = require('caliban.program.process').notify
        notify({ kind = 'open', session = 'two' })
        notify({ kind = 'draft', session = 'two', text = 'unsent', context = {} })
        vim.cmd('qa!')<CR>";
    nvim.quit_with(&leave.lines().map(str::trim).collect::<Vec<_>>().join(" "));
    let draft = fs::read_to_string(setup.sessions().join("two.draft")).unwrap();
    assert!(draft.contains("unsent"), "{draft}");
}
