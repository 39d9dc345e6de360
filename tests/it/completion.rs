//! Tests completion in the composer: Neovim's menu shows items of a language server, whose answers come from the
//! program.

use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use std::process::Command;

fn start(setup: Setup) -> (Server, Nvim) {
    let server = Server::start();
    server.otherwise(Reply::said("Seen."));
    let nvim = Nvim::start(&setup.anthropic(&server).size(100, 30));
    nvim.keys(":Caliban<CR>");
    nvim.wait_screen("Caliban");
    (server, nvim)
}

/// The number of times that Neovim's completion menu was asked to open.
fn openings(nvim: &Nvim) -> String {
    nvim.lua_str("return _G.openings")
}

/// Lua code that counts how often Neovim's completion menu is asked to open.
const COUNT: &str = "_G.openings = 0
    local get = vim.lsp.completion.get
    vim.lsp.completion.get = function(...)
        _G.openings = _G.openings + 1
        return get(...)
    end";

fn project() -> Setup {
    Setup::new()
        .file("src/main.rs", "fn main() {}\n")
        .file("src/map.rs", "struct Map;\n")
        .file("a b's.md", "blanks\n")
        .file("target/out.txt", "built\n")
        .file(".gitignore", "target\n")
}

#[test]
fn a_file_name_is_completed_after_an_at_sign_and_the_file_is_sent() {
    let (server, nvim) = start(project());
    nvim.keys("isee @m");
    nvim.wait_screen("src/map.rs");
    nvim.keys("ain");
    nvim.wait_gone("src/map.rs");
    nvim.keys("<C-n><C-y><C-s>");
    nvim.wait_transcript("Seen.");
    let said = server.requests()[0].last_user_text();
    assert_eq!(
        said,
        "<context kind=\"file\" path=\"src/main.rs\">\nfn main() {}\n</context>\nsee @src/main.rs"
    );
}

/// The answer cannot come before the Lua code that asks has ended.
#[test]
fn an_answer_about_text_that_is_gone_is_dropped() {
    let (_server, nvim) = start(project());
    let composer = nvim.lua("return vim.api.nvim_get_current_buf()", &[]);
    let watch = "local completion = require('caliban.chat.completion')
        local answer = completion.answer
        completion.answer = function(message)
            _G.answered = select(2, pcall(answer, message)) or 'without an error'
        end";
    nvim.lua(watch, &[]);
    for leave in ["vim.api.nvim_buf_set_lines(0, 0, -1, false, {})", "vim.cmd('wincmd p')"] {
        nvim.keys("i");
        nvim.lua(
            &format!(
                "vim.api.nvim_buf_set_lines(0, 0, -1, false, {{ 'see', 'then', 'see @m' }})
                vim.api.nvim_win_set_cursor(0, {{ 3, 6 }})
                _G.answered = nil
                vim.lsp.completion.get()
                {leave}"
            ),
            &[],
        );
        nvim.wait(|nvim| nvim.lua("return _G.answered ~= nil", &[]) == true.into(), "an answer");
        assert_eq!(nvim.lua_str("return _G.answered"), "without an error", "{leave}");
        nvim.keys("<Esc>:Caliban<CR>");
        assert_eq!(nvim.lua("return vim.api.nvim_get_current_buf()", &[]), composer);
        nvim.keys("ggdGi@\"a b");
        nvim.wait_screen("a b's.md");
        nvim.keys("<Esc>ggdG");
    }
}

#[test]
fn a_name_with_blanks_and_quotes_is_completed_to_a_mention_of_the_same_file() {
    let (server, nvim) = start(project());
    nvim.keys("i@\"a b");
    nvim.wait_screen("a b's.md");
    nvim.keys("<C-n><C-y><C-s>");
    nvim.wait_transcript("Seen.");
    let said = server.requests()[0].last_user_text();
    assert!(said.contains("blanks"), "{said}");
    assert!(said.ends_with("@\"a b's.md\""), "{said}");
}

#[test]
fn the_menu_stays_closed_after_an_item_is_accepted_until_more_is_typed() {
    let (_server, nvim) = start(project().before(COUNT));
    nvim.keys("i@sr");
    nvim.wait_screen("src/main.rs");
    let before = openings(&nvim);
    nvim.keys("<C-n><C-y>");
    nvim.wait(|it| it.composer() == "@src/", "the folder");
    assert_eq!(openings(&nvim), before);
    nvim.keys("ma");
    nvim.wait_screen("src/map.rs");
}

#[test]
fn ignored_files_are_offered_once_their_folder_is_typed() {
    let (_server, nvim) = start(project());
    nvim.keys("i@out");
    nvim.keys("<C-u>@target/");
    nvim.wait_screen("target/out.txt");
}

#[test]
fn slash_commands_and_their_arguments_are_completed() {
    let skill = "---\nname: tidy-up\ndescription: Puts things in order\n---\nDo.\n";
    let (server, nvim) = start(project().file(".caliban/skills/tidy-up/SKILL.md", skill));
    nvim.keys("i/sk");
    nvim.wait_screen("sends a message with the text of a skill");
    nvim.keys("<C-u>/skill ");
    nvim.wait_screen("Puts things in order");
    nvim.keys("<C-n><C-y> now<C-s>");
    nvim.wait_transcript("Seen.");
    assert!(server.requests()[0].last_user_text().contains("The skill `tidy-up`."));
}

#[test]
fn no_completion_menu_opens_for_ordinary_words_and_mail_addresses() {
    let (_server, nvim) = start(project());
    nvim.keys("ime@src and a/b @");
    nvim.wait_screen("src/");
    nvim.keys("<BS>x");
    nvim.wait(|it| it.lua_str("return vim.fn.pumvisible()") == "0", "no menu");
    assert_eq!(nvim.composer(), "me@src and a/b x");
}

/// Types a part of a file's name, and checks that only `omnifunc` opens a menu.
fn only_omnifunc_completes(setup: Setup) {
    let (_server, nvim) = start(setup.before(COUNT));
    nvim.keys("i@mai");
    nvim.wait(|it| it.composer() == "@mai", "the text");
    assert_eq!(openings(&nvim), "0");
    nvim.keys("<C-x><C-o>");
    nvim.wait_screen("src/main.rs");
}

#[test]
fn the_completion_menu_does_not_open_by_itself_if_a_completion_plugin_is_loaded() {
    only_omnifunc_completes(project().before("package.loaded['blink.cmp'] = {}"));
}

#[test]
fn with_manual_completion_the_menu_opens_only_on_demand() {
    only_omnifunc_completes(project().config("{ completion = 'manual' }"));
}

#[test]
fn a_mention_at_the_end_of_a_long_line_is_completed() {
    let (_server, nvim) = start(project());
    nvim.lua_str(
        "vim.api.nvim_buf_set_lines(0, 0, -1, true, { ('é'):rep(3000) .. ' x@ @ma' }) return ''",
    );
    nvim.keys("Ai");
    nvim.wait_screen("src/main.rs");
    nvim.keys("<C-n><C-y>");
    nvim.wait(|it| it.composer().ends_with("é x@ @src/main.rs"), "the mention");
}

/// The prompt has a text pasted from a file in Latin-1, and a file whose name is not UTF-8 is open.
#[test]
fn bytes_that_are_not_utf8_are_replaced_in_a_prompt_and_do_not_disturb_completion() {
    let (server, nvim) = start(project());
    nvim.lua_str("vim.bo[vim.fn.bufadd('caf\\xe9.txt')].buflisted = true return ''");
    nvim.lua_str("vim.fn.setline(1, 'caf\\xe9 @ma') return ''");
    nvim.keys("Ai");
    nvim.wait_screen("src/main.rs");
    nvim.keys("<C-n><C-y>");
    let mention = "return tostring(vim.endswith(vim.fn.getline(1), ' @src/main.rs'))";
    nvim.wait(|it| it.lua_str(mention) == "true", "the mention");
    nvim.keys("<C-s>");
    nvim.wait_transcript("Seen.");
    assert!(server.requests()[0].last_user_text().ends_with("caf\u{fffd} @src/main.rs"));
}

#[test]
fn the_keywords_are_offered_with_their_descriptions_before_files() {
    let (server, nvim) = start(project().file("diffs.txt", "x\n"));
    nvim.keys("i@");
    nvim.wait_screen("the buffer beside the chat");
    nvim.keys("di");
    nvim.wait_gone("the buffer beside the chat");
    nvim.wait_screen("what is not committed");
    nvim.wait_screen("diffs.txt");
    nvim.keys("f<C-n><C-y>");
    nvim.wait(|it| it.composer() == "@diff", "the keyword");
    // in quotes no keywords are offered, only files
    nvim.keys("<Esc>ccsee @\"diff");
    nvim.wait_screen("diffs.txt");
    assert!(!nvim.screen().contains("what is not committed"));
    assert!(server.requests().is_empty());
}

#[test]
fn a_file_with_the_name_of_a_keyword_is_completed_with_its_folder() {
    let (_server, nvim) = start(Setup::new().file("staged", "x\n"));
    nvim.keys("i@stag");
    nvim.wait_screen("what is staged");
    nvim.keys("<C-n><C-n><C-y>");
    nvim.wait(|it| it.composer() == "@./staged", "the file");
}

/// The texts in Neovim's own menu, in their order.
fn offered(nvim: &Nvim) -> String {
    nvim.lua_str(
        "return table.concat(vim.tbl_map(function(it)
            return it.word
        end, vim.fn.complete_info({ 'items' }).items), ' ')",
    )
}

fn wait_offered(nvim: &Nvim, beginning: &str) {
    nvim.wait(|it| offered(it).starts_with(beginning), beginning);
}

#[test]
fn open_files_are_offered_before_recent_ones_even_if_ignored_or_outside_of_the_project() {
    let setup = project()
        .file("src/old.rs", "old\n")
        .file("../home/my notes.md", "my notes\n")
        .file("../elsewhere/plan.md", "the plan\n");
    let (server, nvim) = start(setup.before("vim.o.hidden = true"));
    nvim.keys("<C-w>p:e src/map.rs<CR>:e target/out.txt<CR>");
    nvim.keys(":e ../elsewhere/plan.md<CR>:e ~/my\\ notes.md<CR>:e src/main.rs<CR>:bd<CR>");
    nvim.lua_str("vim.v.oldfiles = { '/etc/passwd', vim.fn.getcwd() .. '/src/old.rs' } return ''");
    nvim.keys(":Caliban<CR>i@");
    let elsewhere = nvim.setup.dir().join("elsewhere/plan.md");
    let open = format!("@\"~/my notes.md\" @{} @target/out.txt", elsewhere.display());
    wait_offered(&nvim, &open);
    nvim.keys("n");
    wait_offered(&nvim, "@\"~/my notes.md\"");
    nvim.keys("<BS>o");
    wait_offered(&nvim, "@target/out.txt @src/old.rs");
    nvim.keys("<BS>rs");
    wait_offered(&nvim, "@src/map.rs @src/main.rs @src/old.rs");
    nvim.keys("<BS><BS>plan");
    wait_offered(&nvim, &format!("@{}", elsewhere.display()));
    nvim.keys("<C-n><C-y> @my");
    wait_offered(&nvim, "@\"~/my notes.md\"");
    nvim.keys("<C-n><C-y><C-s>");
    nvim.wait_transcript("Seen.");
    let said = server.requests()[0].last_user_text();
    assert!(said.contains("the plan\n") && said.contains("my notes\n"), "{said}");
}

#[test]
fn a_file_that_was_created_after_the_first_mention_is_offered() {
    let (_server, nvim) = start(project());
    nvim.keys("i@ma");
    wait_offered(&nvim, "@src/map.rs");
    std::fs::write(nvim.setup.path("src/manual.rs"), "").unwrap();
    // the index is renewed after a while, and the answer to a later key has the file
    nvim.wait(
        |it| {
            it.keys("<BS>a");
            offered(it).contains("@src/manual.rs")
        },
        "the new file",
    );
}

#[test]
fn paths_through_links_that_lead_in_a_circle_are_completed() {
    let setup = project();
    std::os::unix::fs::symlink("..", setup.path("src/up")).unwrap();
    std::os::unix::fs::symlink("loop", setup.path("src/loop")).unwrap();
    let (_server, nvim) = start(setup);
    nvim.keys("i@sr");
    wait_offered(&nvim, "@src/ @src/up @src/loop");
    nvim.keys("c/up/src/up/src/ma");
    wait_offered(&nvim, "@src/up/src/up/src/main.rs @src/up/src/up/src/map.rs");
}

#[test]
fn sessions_models_and_providers_are_completed_as_arguments() {
    let (_server, nvim) = start(project().config("{ probe = false }"));
    nvim.keys("ione<C-s>");
    nvim.wait_transcript("Seen.");
    nvim.wait_phase("idle");
    nvim.keys("<Esc>:Caliban new second<CR>");
    nvim.wait_session("second");
    for command in ["/sessions", "/resume"] {
        nvim.keys(&format!("<Esc>ggdGi{command} ma"));
        wait_offered(&nvim, "main");
    }
    nvim.keys("<C-u>/connect open");
    wait_offered(&nvim, "openai");
    nvim.keys("<C-u>/models anth");
    wait_offered(&nvim, "anthropic/");
    nvim.keys("<C-n><C-y>");
    nvim.wait(|it| it.composer().starts_with("/models anthropic/"), "the model");
}

fn git(setup: &Setup, arguments: &[&str]) {
    let mut git = Command::new("git");
    git.args(["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]);
    let done = git.args(arguments).current_dir(setup.path("")).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

#[test]
fn slash_review_offers_its_words_the_branches_and_the_last_commits() {
    let setup = project();
    std::fs::remove_dir(setup.path(".git")).unwrap();
    git(&setup, &["init", "-q", "-b", "trunk"]);
    git(&setup, &["add", "."]);
    git(&setup, &["commit", "-qm", "Adds the map"]);
    git(&setup, &["branch", "topic/%#|x"]);
    let (_server, nvim) = start(setup);
    nvim.keys("i/review ");
    wait_offered(&nvim, "@diff @staged clear ");
    nvim.wait_screen("Adds the map");
    assert!(offered(&nvim).contains(" topic/%#|x"), "{}", offered(&nvim));
    nvim.keys("top<C-n><C-y>");
    nvim.wait(|it| it.composer() == "/review topic/%#|x", "the branch");
}

#[test]
fn slash_export_offers_paths_and_a_command_of_the_users_shows_its_arguments() {
    let fix = "---\ndescription: Fixes an issue\nargument-hint: [issue] [part]\n---\nFix $1.\n";
    let (_server, nvim) = start(project().file(".claude/commands/fix.md", fix));
    nvim.keys("i/export s");
    wait_offered(&nvim, "src/");
    nvim.keys("<C-n><C-y>ma");
    wait_offered(&nvim, "src/main.rs src/map.rs");
    nvim.keys("<C-u>/export a b");
    wait_offered(&nvim, "a b's.md");
    nvim.keys("<C-u>/fi");
    nvim.wait_screen("[issue] [part]  Fixes an issue");
}

#[test]
fn slash_context_drop_offers_the_largest_items() {
    let long = "a line of the file\n".repeat(200);
    let (_server, nvim) = start(project().file("src/long.rs", long));
    nvim.keys("isee @src/long.rs and @src/map.rs<C-s>");
    nvim.wait_transcript("Seen.");
    nvim.wait_phase("idle");
    nvim.keys("<Esc>cc/context d");
    wait_offered(&nvim, "drop");
    nvim.keys("<C-n><C-y> ");
    nvim.wait_screen("src/long.rs  ");
    wait_offered(&nvim, "1");
    nvim.keys("<C-n><C-y><C-s>");
    nvim.wait_transcript("src/long.rs");
}

#[test]
fn files_that_the_conversation_knows_are_offered_before_others() {
    let (_server, nvim) = start(project().file("deep/down/mast.rs", "mast\n"));
    nvim.keys("i@ma");
    wait_offered(&nvim, "@src/map.rs @src/main.rs");
    nvim.keys("<C-u>see @deep/down/mast.rs<C-s>");
    nvim.wait_transcript("Seen.");
    nvim.wait_phase("idle");
    nvim.keys("<Esc>cc@ma");
    wait_offered(&nvim, "@deep/down/mast.rs @src/map.rs");
    nvim.keys("<C-u>@");
    wait_offered(&nvim, "@deep/down/mast.rs ");
}
