//! A file under review in windows: the user's window settings stay, and every window shows the review.

use super::scene::{Scene, edit, nine, two_hunks};
use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use expect_test::expect;

/// Lua code that returns the text of the line of each thing that moves with the text: two marks, a fold, an extmark, a
/// diagnostic, the cursor.
const FOLLOWERS: &str = "local buf = vim.fn.bufnr('a.txt')
    local function at(row) return vim.api.nvim_buf_get_lines(buf, row - 1, row, false)[1] end
    local out = { 'a ' .. at(vim.api.nvim_buf_get_mark(buf, 'a')[1]), 'b ' .. at(vim.api.nvim_buf_get_mark(buf, 'b')[1]) }
    local first = vim.fn.foldclosed(vim.fn.search('l4', 'nw'))
    out[#out + 1] = ('fold %s..%s'):format(at(first), at(vim.fn.foldclosedend(first)))
    local mark = vim.api.nvim_buf_get_extmark_by_id(buf, vim.api.nvim_create_namespace('mine'), 1, {})
    out[#out + 1] = 'extmark ' .. at(mark[1] + 1)
    out[#out + 1] = 'diagnostic ' .. at(vim.diagnostic.get(buf)[1].lnum + 1)
    out[#out + 1] = 'cursor ' .. vim.api.nvim_get_current_line()
    return table.concat(out, '\\n')";

#[test]
fn marks_folds_extmarks_and_the_cursor_stay_at_their_text() {
    let scene = Scene::start(|it| it.file("a.txt", nine()));
    scene.nvim.keys(":edit a.txt<CR>:set foldmethod=manual<CR>:4,6fold<CR>1Gma7Gmb9G");
    scene.nvim.lua(
        "vim.api.nvim_buf_set_extmark(0, vim.api.nvim_create_namespace('mine'), 8, 0, { id = 1 })
        vim.diagnostic.set(vim.api.nvim_create_namespace('theirs'), 0, { { lnum = 2, col = 0, message = 'odd' } })",
        &[],
    );
    let before = scene.nvim.lua_str(FOLLOWERS);
    expect![[r#"
        a l1
        b l7
        fold l4..l6
        extmark l9
        diagnostic l3
        cursor l9"#]]
    .assert_eq(&before);
    let same = |when: &str| assert_eq!(scene.nvim.lua_str(FOLLOWERS), before, "{when}");
    scene.ask(two_hunks());
    scene.wait_pending(2);
    same("proposed");
    scene.nvim.keys(":2Caliban reject<CR>");
    scene.wait_hunks(1);
    same("one rejected");
    scene.nvim.keys("u");
    scene.wait_hunks(2);
    scene.nvim.keys("9G:2Caliban accept<CR>G");
    scene.wait_hunks(1);
    same("undone, and accepted");
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys(":Caliban reject all<CR>");
    scene.wait_idle("I see.");
    same("all decided");
}

/// Lua code that returns the cursor's line in each window of all tab pages.
const CURSORS: &str = "return table.concat(vim.tbl_map(function(win)
      local buf, row = vim.api.nvim_win_get_buf(win), vim.api.nvim_win_get_cursor(win)[1]
      return vim.api.nvim_buf_get_lines(buf, row - 1, row, false)[1]
    end, vim.api.nvim_list_wins()), ' ')";

#[test]
fn two_windows_and_two_tabs_show_one_review() {
    let scene = Scene::start(|it| it.file("a.txt", nine()).size(130, 40));
    scene.nvim.keys(":edit a.txt<CR>:split<CR>5G<C-w>j9G:tab split<CR>3G");
    scene.nvim.lua("require('caliban').ask('please')", &[]);
    scene.server.reply(two_hunks());
    scene.wait_pending(2);
    let cursors = |scene: &Scene| {
        let all = scene.nvim.lua_str(CURSORS);
        ["l5", "l9", "l3"].map(|line| all.split(' ').filter(|it| *it == line).count())
    };
    assert_eq!(cursors(&scene), [1, 1, 1], "{}", scene.nvim.lua_str(CURSORS));
    scene.nvim.wait_screen("▎ L2");
    scene.nvim.keys("2G\\a3Ggt");
    let shows = |nvim: &Nvim, line: &str| nvim.screen().matches(line).count();
    scene.nvim.wait(
        |nvim| shows(nvim, "▎ L8b") == 2 && shows(nvim, "▎ L2") == 0,
        "the one hunk in both windows",
    );
    assert_eq!(cursors(&scene), [1, 1, 1]);
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys(":Caliban reject all<CR>");
    scene.nvim.lua("require('caliban').open()", &[]);
    scene.wait_idle("I see.");
    assert_eq!(cursors(&scene), [1, 1, 1]);
    assert_eq!(scene.on_disk("a.txt"), Some(nine().replace("l2", "L2")));
}

#[test]
fn a_window_in_diff_mode_stays_in_diff_mode() {
    let scene = Scene::start(|it| it.file("a.txt", nine()).file("b.txt", nine()).size(150, 40));
    scene.nvim.keys(":edit b.txt<CR>:diffthis<CR>:vsplit a.txt<CR>:diffthis<CR>");
    scene.ask(two_hunks());
    scene.wait_pending(2);
    let diffs = "local n = 0
        for _, win in ipairs(vim.api.nvim_list_wins()) do n = n + (vim.wo[win].diff and 1 or 0) end
        return n .. ' ' .. vim.fn.diff_hlID(2, 1) .. ' ' .. vim.fn.diff_hlID(3, 1)";
    let in_diff = scene.nvim.lua_str(diffs);
    assert!(in_diff.starts_with("2 ") && in_diff.ends_with(" 0"), "{in_diff}");
    assert!(!in_diff.starts_with("2 0"), "the proposal is a difference: {in_diff}");
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys("2G\\a8G\\r");
    scene.wait_idle("I see.");
    assert_eq!(scene.on_disk("a.txt"), Some(nine().replace("l2", "L2")));
    assert!(scene.nvim.lua_str(diffs).starts_with("2 "));
}

#[test]
fn a_jump_to_a_hunk_does_not_replace_the_buffer_of_a_winfixbuf_window() {
    let scene = Scene::start(|it| it.file("a.txt", nine()).file("b.txt", nine()).size(150, 40));
    scene.nvim.keys(":edit a.txt<CR>:set winfixbuf<CR>");
    scene.ask(Reply::new().call("e1", "edit", edit("b.txt", &[("l5", "L5")])));
    scene.wait_pending(1);
    scene.nvim.keys(":Caliban next<CR>");
    scene.nvim.wait(
        |nvim| nvim.lua_str("return vim.fn.expand('%:t')") == "b.txt",
        "the file with the hunk, in some window",
    );
    let shown = "return vim.iter(vim.api.nvim_list_wins()):map(function(win)
        return vim.fs.basename(vim.api.nvim_buf_get_name(vim.api.nvim_win_get_buf(win))) end):join(' ')";
    assert!(scene.nvim.lua_str(shown).contains("a.txt"), "{}", scene.nvim.lua_str(shown));
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys("\\a");
    scene.wait_idle("I see.");
    assert_eq!(scene.on_disk("b.txt"), Some(nine().replace("l5", "L5")));
}

#[test]
fn a_proposal_does_not_take_the_user_out_of_terminal_mode() {
    let scene = Scene::start(|it| it.file("a.txt", nine()).size(150, 40));
    scene.nvim.keys(":edit a.txt<CR>:Caliban<CR><C-w>h:split<CR>:terminal cat<CR>i");
    scene.server.reply(two_hunks());
    scene.nvim.lua("require('caliban').ask('please')", &[]);
    scene.wait_pending(2);
    scene.nvim.keys("typed there");
    scene.nvim.wait_screen("typed there");
    assert_eq!(scene.nvim.lua_str("return vim.api.nvim_get_mode().mode"), "t");
    scene.server.reply(Reply::said("I see."));
    scene.nvim.lua("require('caliban').accept({ scope = 'all' })", &[]);
    scene.wait_idle("I see.");
    assert_eq!(scene.nvim.lua_str("return vim.api.nvim_get_mode().mode"), "t");
    assert_eq!(scene.on_disk("a.txt"), Some(nine().replace("l2", "L2").replace("l8", "L8\nL8b")));
}

#[test]
fn highlights_survive_a_change_of_colour_scheme() {
    let scene = Scene::two_hunks(|it| it.size(130, 30));
    let has_both = |_: &Nvim| {
        let left = scene.left(60);
        left.contains("CalibanAdd") && left.contains("CalibanDelete")
    };
    scene.nvim.wait(has_both, "the hunks in their colours");
    assert_eq!(scene.nvim.lua_str(DEFINED), "true");
    for change in [
        ":set background=light<CR>",
        ":set notermguicolors<CR>",
        ":colorscheme blue<CR>",
        ":set termguicolors<CR>:colorscheme habamax<CR>",
        ":highlight clear NonText<CR>:highlight clear DiffDelete<CR>",
    ] {
        scene.nvim.keys(change);
        assert_eq!(scene.nvim.lua_str(DEFINED), "true", "{change}");
        scene.nvim.name_groups();
        scene
            .nvim
            .wait(|_| scene.left(60).contains("CalibanAddGround|"), "the added line in its colour");
    }
}

/// Lua code that returns whether the highlight groups of a review are defined.
const DEFINED: &str = "return vim.iter({ 'CalibanAdd', 'CalibanDelete' }):all(function(name)
      return next(vim.api.nvim_get_hl(0, { name = name })) ~= nil
    end)";

/// The upper window has removed lines above its first row, the lower window the header and removed lines.
#[test]
fn a_decision_in_the_chat_leaves_no_filler_rows_in_windows_of_the_file() {
    let scene = Scene::start(|it| it.file("a.txt", nine()).size(120, 30));
    scene.nvim.keys(":edit a.txt<CR>:split<CR>");
    let edits = [("l1", "L1\nL1b"), ("l5", "L5")];
    scene.ask(Reply::new().call("e1", "edit", edit("a.txt", &edits)));
    scene.wait_pending(2);
    scene.nvim.keys("6Gzt<C-y><C-w>jgg:Caliban next<CR>:Caliban<CR>");
    scene.nvim.wait_screen("? 2 hunks");
    // the first rows of both windows, without their signs
    let tops = |nvim: &Nvim| {
        let screen = nvim.screen();
        let left: Vec<&str> = screen.lines().filter_map(|it| it.split('│').next()).collect();
        let below = left.iter().position(|it| it.starts_with("a.txt")).map_or(0, |it| it + 1);
        [0, below].map(|it| left[it].trim_start_matches(['▎', ' ']).trim_end().to_owned())
    };
    let show = |above: &str, below: &str| {
        scene.nvim.wait(|it| tops(it) == [above, below], &format!("{above} and {below}"));
    };
    let header = |n: &str| format!(r"{n} by Caliban · \A accept file · \R reject file");
    show("- l5", &header("2 changes"));
    scene.nvim.go_to_transcript("-1 +1  L5");
    scene.nvim.keys(r"\a");
    show("L5", &header("1 change"));
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys(":Caliban accept all<CR>");
    scene.wait_idle("I see.");
    show("L5", "L1");
}
