//! Plans in plan mode: from the model's call to the buffer, the user's edits, comments and decision, and the next
//! request.

mod drawn;
mod kept;

use crate::compaction::summary;
use crate::kit::chat::assert_grows;
use crate::kit::dialects::{DIALECTS, Dialect};
use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use crate::review::scene::edit;
use expect_test::expect;
use serde_json::{Value, json};

fn plan(changes: &str) -> Value {
    json!({
        "summary": "Make it fast.",
        "changes": changes,
        "interfaces": "none",
        "tests": "- `cargo test`",
        "assumptions": "none",
        "risks": "- none that I know",
    })
}

pub(crate) fn planned(id: &str, changes: &str) -> Reply {
    Reply::new().text("Here is my plan.").call(id, "plan", plan(changes))
}

impl Nvim {
    /// Waits until the plan is on the screen and takes keys, which its winbar then names.
    fn wait_plan(&self) {
        self.wait_screen("Plan · waits");
        self.wait_screen("\\a accept  \\");
    }

    fn wait_markdown(&self) {
        let is_plan = |nvim: &Nvim| nvim.lua_str("return vim.bo.filetype") == "markdown";
        self.wait(is_plan, "the cursor in the plan");
    }

    fn plan(&self) -> String {
        self.buffer("/plan")
    }

    /// The number of windows that show a buffer whose name ends in this text.
    fn window_count(&self, name: &str) -> usize {
        let code = "local n = 0
            for _, win in ipairs(vim.api.nvim_list_wins()) do
              local buf = vim.api.nvim_buf_get_name(vim.api.nvim_win_get_buf(win))
              n = n + (vim.endswith(buf, ...) and 1 or 0)
            end
            return n";
        self.lua(code, &[name.into()]).as_u64().and_then(|it| it.try_into().ok()).unwrap_or(0)
    }

    fn mode(&self) -> String {
        self.lua_str("return require('caliban').state().mode")
    }
}

/// The last lines of a chat whose plan waits for the user.
const WAITS: &str =
    "? A plan waits for you.\n  <CR> to its window   \\a accept   \\r send back   \\d drop";

/// The hint about keys while the cursor is on the lines of `WAITS`.
const ON_IT: &str = "<CR> read · \\a accept · \\r send back · \\d drop · g? keys";

/// A chat in plan mode whose model has submitted this plan, which is on the screen.
fn waiting(server: &Server, setup: Setup, changes: &str) -> Nvim {
    server.reply(planned("p1", changes));
    let nvim = Nvim::start(&setup.anthropic(server).size(120, 40));
    nvim.keys(":edit a.txt<CR>:Caliban<CR>i/plan make it fast<C-s><Esc>");
    nvim.wait_plan();
    nvim
}

fn wide() -> Setup {
    Setup::new().file("a.txt", "one\n")
}

#[test]
fn an_approved_plan_is_sent_with_the_users_edits_as_the_users_message() {
    let server = Server::start();
    let nvim = waiting(&server, wide(), "- `a.txt`: one");
    // the cursor stays in the composer, and the chat says what waits
    assert_eq!(nvim.lua_str("return vim.bo.filetype"), "caliban-prompt");
    nvim.wait_transcript(WAITS);
    nvim.wait_screen("● waiting for you");
    let state = nvim.lua_json("return require('caliban').state()");
    assert_eq!((&state["phase"], &state["waiting_for"]), (&json!("asking"), &json!("question")));
    let plan = nvim.plan();
    assert!(plan.starts_with("# Plan\n\n## Summary\n\nMake it fast.\n"), "{plan}");
    server.reply(Reply::said("Done."));
    nvim.keys("<Tab><CR>");
    nvim.wait_markdown();
    nvim.keys("/a.txt<CR>A, and two<Esc>");
    nvim.keys("\\a");
    nvim.wait_screen("Carry out the plan in mode");
    nvim.wait_screen("1: ask");
    nvim.keys("2<CR>");
    nvim.wait_transcript("Done.");
    assert_eq!(nvim.mode(), "auto-edit");
    let said = server.requests()[1].last_user_text();
    expect![[r"
        <notice>
        Auto-edit mode is on: your edits are applied and written at once, and the user reviews them afterwards. Each command still needs their consent.
        </notice>
        <plan>
        # Plan

        ## Summary

        Make it fast.

        ## Changes

        - `a.txt`: one, and two

        ## Interfaces

        none

        ## Tests

        - `cargo test`

        ## Assumptions

        none

        ## Risks

        - none that I know
        </plan>
        I approve this plan. Carry it out."]]
    .assert_eq(&said);
    nvim.wait(|nvim| nvim.window_count("/plan") == 0, "the end of the plan's windows");
    nvim.wait_transcript("I approve this plan.");
    assert!(!nvim.transcript().contains("A plan waits"), "{}", nvim.transcript());
    nvim.wait_screen("approved");
}

#[test]
fn comments_on_lines_and_words_go_back_with_the_plan_and_a_new_plan_follows() {
    let server = Server::start();
    let nvim = waiting(&server, wide(), "- `a.txt`: one\n- `b.txt`: see @a.txt");
    nvim.keys(":Caliban plan<CR>");
    nvim.wait_markdown();
    nvim.keys("/b.txt<CR>:Caliban comment not this file<CR>");
    nvim.wait_screen("▏ not this file");
    nvim.keys("gg/Tests<CR>Vjj\\cwhich ones?<CR>zt");
    nvim.wait_screen("▏ which ones?");
    server.reply(planned("p2", "- `a.txt`: all"));
    nvim.keys("\\r");
    nvim.wait_screen("Send back, because: ");
    nvim.keys("smaller, please<CR>");
    nvim.wait(|nvim| nvim.plan().contains("- `a.txt`: all"), "the new plan");
    nvim.wait_plan();
    assert!(!nvim.screen().contains("▏ not this file"), "comments are on the old plan");
    let said = server.requests()[1].last_user_text();
    expect![[r#"
        <comment kind="plan" lines="10-10">
        > - `b.txt`: see @a.txt
        not this file
        </comment>
        <comment kind="plan" lines="16-18">
        > ## Tests
        >
        > - `cargo test`
        which ones?
        </comment>
        Change the plan: smaller, please"#]]
    .assert_eq(&said);
    assert_eq!(nvim.mode(), "plan");
}

#[test]
fn a_dropped_plan_is_gone_and_the_model_learns_it_with_the_next_message() {
    let server = Server::start();
    let nvim = waiting(&server, wide(), "- `a.txt`");
    let file = nvim.setup.sessions().join("main.plan.md");
    assert!(file.exists());
    nvim.command("Caliban plan drop");
    nvim.wait_transcript("You dropped the plan.");
    nvim.wait(|nvim| nvim.window_count("/plan") == 0, "the end of the plan's windows");
    nvim.wait(|_| !file.exists(), "the end of the plan's file");
    assert_eq!(nvim.mode(), "plan");
    server.reply(Reply::said("A pity."));
    nvim.ask("now?", "A pity.");
    let said = server.requests()[1].last_user_text();
    assert!(said.contains("The user dropped the plan. Do not carry it out."), "{said}");
    nvim.command("Caliban plan");
    nvim.wait_screen("There is no plan yet.");
}

#[test]
fn the_lines_of_a_plan_in_the_chat_take_its_keys_once_its_window_was_shown() {
    let server = Server::start();
    server.reply(Reply::new().call("e1", "edit", edit("a.txt", &[("one", "ONE")])));
    server.reply(Reply::said("Changed."));
    let setup = wide().config("{ mode = 'auto-edit' }").anthropic(&server).size(120, 40);
    let nvim = Nvim::start(&setup);
    nvim.ask("change it", "Changed.");
    server.reply(planned("p1", "- one"));
    nvim.keys(":Caliban<CR>i/plan go<C-s><Esc>");
    nvim.wait_screen("\\a accept  \\c comment  \\r send back");
    // waits until the key has this description at the cursor
    let acts = |key: &'static str, desc: &'static str| {
        let code = "return vim.fn.maparg(..., 'n', false, true).desc or ''";
        let is_mapped = move |nvim: &Nvim| nvim.lua(code, &[key.into()]) == desc.into();
        nvim.wait(is_mapped, desc);
    };
    nvim.wait_screen("<CR> send · <Tab> to the plan · g? keys");
    nvim.keys("<Tab>");
    nvim.wait_screen(ON_IT);
    // below the plan is the list of changes, which has keys of its own
    nvim.keys("G");
    acts("\\a", "Caliban: on a change: accept it");
    acts("\\d", "");
    nvim.keys("3k");
    nvim.wait_screen(ON_IT);
    nvim.keys("\\a");
    nvim.wait_screen("Carry out the plan in mode");
    nvim.keys("<CR>gg");
    nvim.wait_screen("i write · ]] [[ messages");
    acts("\\a", "");
    // the key shows a plan that is not on the screen, and decides nothing
    nvim.keys("<C-w>t:close<CR><C-w>b<Tab>");
    acts("\\d", "Caliban: on a plan: drop it");
    assert_eq!(nvim.window_count("/plan"), 0);
    nvim.keys("\\d");
    nvim.wait_markdown();
    assert_eq!(nvim.lua_str("return require('caliban').state().plan"), "waiting");
    nvim.keys("<C-w>b<Tab>");
    acts("\\d", "Caliban: on a plan: drop it");
    nvim.keys("\\d");
    nvim.wait_transcript("You dropped the plan.");
    acts("\\d", "");
    nvim.wait_screen("\\a accept all · \\r reject all · ");
}

/// Requests only grow: the tools stay the same, notes and plans are appended.
fn grows(dialect: &dyn Dialect) {
    let server = Server::start();
    let setup = dialect.choose(Setup::new().size(120, 40), &server);
    let nvim = Nvim::start(&setup);
    nvim.ask_first(&server);
    server.reply(planned("p1", "- one"));
    nvim.lua("require('caliban').ask('/plan go')", &[]);
    nvim.wait_plan();
    server.reply(planned("p2", "- two"));
    nvim.command("Caliban plan change smaller");
    nvim.wait(|nvim| nvim.plan().contains("- two"), "the second plan");
    nvim.wait_plan();
    server.reply(Reply::new().call("p3", "plan", plan("- three")));
    server.reply(Reply::said("Done."));
    nvim.command("Caliban plan accept ask");
    nvim.wait_transcript("Done.");
    let requests = server.requests();
    assert_eq!(requests.len(), 5);
    assert!(requests.iter().all(|it| it.tools() == requests[0].tools()));
    let last = &requests[4];
    // not every dialect sends the ids of calls
    let told: Vec<String> = last.answers().into_iter().map(|it| it.1).collect();
    let taken = "The user has the plan. They approve it, send it back or drop it. Do not begin before that.";
    assert_eq!(told[..2], [taken; 2]);
    assert!(told[2].starts_with("Not shown: the user is not in plan mode"), "{told:?}");
    assert_grows(requests);
}

impl Nvim {
    fn ask_first(&self, server: &Server) {
        server.reply(Reply::said("Hello."));
        self.ask("hello", "Hello.");
    }
}

#[test]
fn each_request_begins_with_the_one_before_across_plans_in_every_dialect() {
    for dialect in DIALECTS {
        grows(dialect);
    }
}

#[test]
fn a_plan_does_not_take_the_cursor_from_a_user_who_types() {
    let server = Server::start();
    let gate = server.reply(planned("p1", "- one").gate());
    let nvim = Nvim::start(&wide().anthropic(&server).size(120, 40));
    nvim.keys(":edit a.txt<CR>:Caliban<CR>i/plan go<C-s>and then");
    server.wait_count(1);
    gate.finish();
    nvim.wait_plan();
    nvim.keys(" I type");
    nvim.wait(|nvim| nvim.composer() == "and then I type", "the typed text");
    assert_eq!(nvim.lua_str("return vim.api.nvim_get_mode().mode"), "i");
    // no window opens while the user is typing a command
    let gate = server.reply(planned("p2", "- two").gate());
    nvim.keys("<Esc>:Caliban ask again<CR><C-w>k");
    server.wait_count(2);
    nvim.keys("d");
    gate.finish();
    nvim.wait_transcript("It replaces the previous plan.");
    nvim.wait_screen("replaced");
    assert!(nvim.plan().contains("- one"));
    nvim.keys("<Esc>");
    nvim.wait(|nvim| nvim.plan().contains("- two"), "the new plan");
}

#[test]
fn a_decision_on_a_plan_that_was_replaced_meanwhile_decides_nothing() {
    let server = Server::start();
    let nvim = waiting(&server, wide(), "- one");
    let gate = server.reply(planned("p2", "- two").gate());
    nvim.keys(":Caliban ask again<CR>:Caliban plan<CR>");
    server.wait_count(2);
    nvim.wait_markdown();
    nvim.wait_plan();
    nvim.keys("\\a");
    nvim.wait_screen("Carry out the plan in mode");
    gate.finish();
    nvim.wait(|nvim| nvim.transcript().contains("It replaces the previous plan."), "the new plan");
    nvim.keys("1<CR>");
    nvim.wait_screen("A newer plan has come. Read it, then decide.");
    nvim.wait(|nvim| nvim.plan().contains("- two"), "the new plan in its buffer");
    nvim.wait_plan();
    assert_eq!((server.count(), nvim.mode().as_str()), (2, "plan"));
}

/// A key that was typed before the plan was on the screen is no decision, nor is a script's call.
#[test]
fn a_script_cannot_accept_a_plan_that_has_only_just_appeared() {
    let server = Server::start();
    server.reply(planned("p1", "- one"));
    let nvim = Nvim::start(&wide().anthropic(&server).size(120, 40));
    nvim.lua(
        "vim.api.nvim_create_autocmd('BufWinEnter', { pattern = 'caliban://*/plan', callback = function()
           require('caliban').plan('accept', { mode = 'auto' })
         end })",
        &[],
    );
    nvim.keys(":Caliban<CR>i/plan go<C-s><Esc>");
    nvim.wait(
        |nvim| nvim.lua_str("return vim.fn.execute('messages')").contains("has only just appeared"),
        "the refusal",
    );
    nvim.wait_plan();
    assert_eq!((server.count(), nvim.mode().as_str()), (1, "plan"));
}

#[test]
fn a_plan_with_an_empty_section_is_answered_with_the_name_of_the_section() {
    let server = Server::start();
    let mut wrong = plan("- one");
    wrong["tests"] = json!("  ");
    server.reply(Reply::new().call("p1", "plan", wrong));
    server.reply(planned("p2", "- two"));
    let nvim = Nvim::start(&wide().anthropic(&server).size(120, 40));
    nvim.keys(":Caliban<CR>i/plan go<C-s><Esc>");
    nvim.wait_plan();
    let said = server.requests()[1].answer("p1");
    assert!(said.contains("$.tests: expected Markdown that says something"), "{said}");
    assert!(nvim.plan().contains("- two"));
}

#[test]
fn a_plan_is_saved_into_the_project_but_not_outside_of_it_or_over_other_files() {
    let server = Server::start();
    let nvim = waiting(&server, wide(), "- one");
    nvim.command("Caliban plan save docs/plan.md");
    nvim.wait_screen("docs/plan.md could not be written");
    nvim.command("Caliban plan save");
    nvim.wait_screen("The plan is saved as plan.md.");
    assert_eq!(nvim.setup.on_disk("plan.md"), Some(nvim.plan() + "\n"));
    nvim.command("Caliban plan save a.txt");
    nvim.wait_screen("a.txt already exists. :Caliban! plan save a.txt overwrites it.");
    assert_eq!(nvim.setup.on_disk("a.txt").as_deref(), Some("one\n"));
    for (path, why) in [
        ("../x.md", "../x.md is outside the project"),
        (".git/hooks/pre-commit", ".git/hooks/pre-commit "),
        ("AGENTS.md", "AGENTS.md "),
    ] {
        nvim.command(&format!("Caliban plan save {path}"));
        nvim.wait_screen(why);
        assert_eq!(nvim.setup.on_disk(path), None, "{path}");
    }
    nvim.command("Caliban! plan save a.txt");
    nvim.wait(|nvim| nvim.setup.on_disk("a.txt") != Some("one\n".into()), "the plan in a.txt");
}

#[test]
fn a_plan_of_a_closed_chat_opens_no_window_and_the_user_is_notified() {
    let server = Server::start();
    let gate = server.reply(planned("p1", "- one").gate());
    let before =
        "vim.api.nvim_create_autocmd('User', { pattern = 'CalibanAsk', callback = function(args)
        _G.asked = args.data
      end })";
    let nvim = Nvim::start(&wide().before(before).anthropic(&server).size(120, 40));
    nvim.keys(":edit a.txt<CR>:Caliban<CR>i/plan go<C-s><Esc>");
    server.wait_count(1);
    nvim.keys(":Caliban close<CR>");
    gate.finish();
    nvim.wait_screen("Caliban is waiting for you (main).");
    assert_eq!(nvim.window_count("/plan"), 0);
    let asked = nvim.lua_json("return _G.asked");
    let named =
        ["session", "kind", "tool", "call"].map(|it| asked[it].as_str().unwrap_or_default());
    assert_eq!(named, ["main", "plan", "plan", "p1"]);
    nvim.keys(":Caliban plan<CR>");
    nvim.wait_plan();
}

#[test]
fn an_approved_plan_survives_a_compaction_word_for_word() {
    let server = Server::start();
    let nvim = waiting(&server, wide().config("{ compact = 1, trim = false }"), "- one");
    nvim.keys(":Caliban plan<CR>");
    nvim.wait_markdown();
    nvim.keys("/one<CR>A, and two<Esc>");
    server.reply(Reply::said("Done."));
    nvim.command("Caliban plan accept ask");
    nvim.wait_transcript("Done.");
    nvim.wait_phase("idle");
    server.reply(Reply::said("More."));
    nvim.ask("more", "More.");
    server.reply(Reply::said(&summary("Fast.")).usage(3_000, 100));
    nvim.lua("require('caliban').ask('/compact')", &[]);
    server.wait_count(4);
    nvim.wait_phase("idle");
    server.reply(Reply::said("On."));
    nvim.ask("go on", "On.");
    let told = server.requests()[4].outline();
    let plan = told.split("<plan>").nth(1).and_then(|it| it.split("</plan>").next());
    assert!(plan.unwrap_or_default().contains("- one, and two"), "{told}");
    assert_eq!(told.matches("<plan>").count(), 1, "{told}");
}

#[test]
fn undoing_the_approval_of_a_plan_makes_the_plan_wait_again() {
    let server = Server::start();
    let nvim = waiting(&server, wide(), "- one");
    server.reply(Reply::said("Done."));
    nvim.command("Caliban plan accept ask");
    nvim.wait_transcript("Done.");
    nvim.wait_phase("idle");
    nvim.lua("require('caliban').ask('/undo')", &[]);
    nvim.wait_screen("● waiting for you");
    nvim.keys(":Caliban plan<CR>");
    nvim.wait_plan();
    assert_eq!(nvim.lua_str("return require('caliban').state().plan"), "waiting");
}
