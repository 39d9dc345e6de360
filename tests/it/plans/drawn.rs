//! The look of a plan in its window, and of the chat beside it.

use super::{planned, wide};
use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use expect_test::expect;

const CHANGES: &str = "- `a.txt`: the word `one` becomes **two**, and so do all the others in it\n\n```sh\n# no heading\ncat a.txt\n```";

fn shown(columns: u16) -> (Server, Nvim) {
    let server = Server::start();
    server.reply(planned("p1", CHANGES));
    let nvim = Nvim::start(&wide().anthropic(&server).size(columns, 46));
    nvim.keys(":edit a.txt<CR>:Caliban<CR>i/plan make it fast<C-s><Esc>");
    nvim.wait_plan();
    (server, nvim)
}

#[test]
fn a_plan_is_drawn_as_markdown_except_for_the_line_of_the_cursor() {
    let (_server, nvim) = shown(60);
    let plan = |nvim: &Nvim| {
        let screen = nvim.screen();
        let rows = screen.lines().take_while(|row| !row.starts_with("caliban://main/plan"));
        rows.map(|row| row.trim_end().to_owned() + "\n").collect::<String>()
    };
    nvim.wait_expect(
        expect![[r#"
             Plan · waits  \a accept  \c comment  \r send back  \d drop
            Plan

            Summary

            Make it fast.

            Changes

            • a.txt: the word one becomes two, and so do all
              the others in it

                                                                     sh
            # no heading
            cat a.txt

            Interfaces

        "#]],
        plan,
    );
    nvim.keys("<C-w>t/one<CR>");
    nvim.wait_screen("- `a.txt`: the word `one` becomes **two**");
    // a line that is typed is drawn as soon as the cursor leaves it
    nvim.keys("Go## More<CR>* _all_<Esc>ggj");
    nvim.wait(|it| it.plan().ends_with("## More\n* _all_"), "the typed lines");
    nvim.keys("Gkk");
    nvim.wait_screen("• all");
    nvim.keys(":setlocal conceallevel=0<CR>");
    nvim.wait_screen("* _all_");
}

#[test]
fn the_window_of_a_plan_is_tall_and_does_not_change_how_the_chat_wraps() {
    let (server, nvim) = shown(120);
    nvim.wait_screen("\\c comment  \\r send back  \\d drop │");
    let rows = "local rows = {}
        for _, win in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
          local name = vim.api.nvim_buf_get_name(vim.api.nvim_win_get_buf(win))
          rows[name:match('[^/]*$')] = vim.api.nvim_win_get_height(win)
        end
        return rows";
    let rows = nvim.lua_json(rows);
    let of = |name: &str| rows[name].as_u64().unwrap_or_default();
    assert!(of("plan") >= 2 * of("a.txt") - 2 && of("a.txt") > 10, "{rows}");
    let word = "src/deep/folder/of-many/words.txt";
    server.reply(Reply::said(&format!("I have looked at the file `{word}` now.")));
    nvim.keys(":Caliban ask why?<CR>");
    nvim.wait_transcript(" now.");
    nvim.wait_screen(word);
}

#[test]
fn on_a_low_screen_the_plan_has_most_rows_until_the_user_has_decided() {
    let server = Server::start();
    server.reply(planned("p1", CHANGES));
    let nvim = Nvim::start(&wide().anthropic(&server).size(80, 24));
    let rows = |nvim: &Nvim, name: &str| {
        let code = format!(
            "for _, win in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
              if vim.api.nvim_buf_get_name(vim.api.nvim_win_get_buf(win)):match('[^/]*$') == '{name}' then
                return vim.api.nvim_win_get_height(win)
              end
            end"
        );
        nvim.lua_json(&code).as_u64().unwrap_or_default()
    };
    nvim.keys(":edit a.txt<CR>:Caliban<CR>");
    nvim.wait_transcript("Project");
    let before = rows(&nvim, "a.txt");
    nvim.keys("i/plan make it fast<C-s><Esc>");
    nvim.wait_plan();
    nvim.wait(|it| rows(it, "plan") >= 10, "the rows of the plan");
    nvim.wait_screen("? A plan waits for you.");
    nvim.wait_screen("\\a accept   \\r send back   \\d drop");
    assert_eq!(rows(&nvim, "prompt"), 1);
    server.reply(Reply::said("I do it."));
    nvim.keys(":Caliban plan accept<CR>");
    nvim.wait_screen("3: auto       writes edits, runs all in a sandbox");
    nvim.wait_screen("2: auto-edit  like ask, but writes edits at once");
    nvim.keys("1<CR>");
    nvim.wait_transcript("I do it.");
    nvim.wait_phase("idle");
    nvim.wait(|it| rows(it, "a.txt") == before, "the rows of the code");
}
