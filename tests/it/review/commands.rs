//! Commands that sort, move, join, format or substitute lines, over the user's lines and the agent's.

use super::scene::{Scene, nine};
use crate::kit::reply::Reply;
use expect_test::expect;

/// With two hunks pending, types keys and rejects everything. Returns the lines of the buffer.
fn rejected_after(keys: &str) -> String {
    let scene = Scene::two_hunks(|it| it.before("vim.o.textwidth = 60"));
    scene.nvim.keys(keys);
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys(":Caliban reject file<CR>");
    scene.wait_idle("I see.");
    assert_eq!(scene.on_disk("a.txt"), Some(nine()), "{keys}: the order is the user's, unsaved");
    scene.nvim.buffer("/a.txt").replace('\n', " ")
}

#[test]
fn rejecting_after_lines_were_sorted_or_moved_removes_only_the_agents_lines() {
    let left = [
        ":sort! i<CR>",
        ":%!sort<CR>",
        ":g/[lL][1-8]/m0<CR>",
        ":2m$<CR>",
        ":5m8<CR>",
        "8GV3jJ",
        "7GJ",
        "gggqG",
        ":2,5s/[lL]/x/<CR>",
    ]
    .map(|keys| format!("{keys}  {}", rejected_after(keys)));
    expect![[r#"
        :sort! i<CR>  l9 l2 l7 l6 l5 l4 l8 l3 l1
        :%!sort<CR>  l2 l8 l1 l3 l4 l5 l6 l7 l9
        :g/[lL][1-8]/m0<CR>  l7 l6 l5 l4 l3 l1 l2 l8 l9
        :2m$<CR>  l1 l2 l3 l4 l5 l6 l7 l8 l9
        :5m8<CR>  l1 l2 l3 l4 l6 l7 l8 l5 l9
        8GV3jJ  l1 l2 l3 l4 l5 l6 l7 l8 L8 L8b l9
        7GJ  l1 l2 l3 l4 l5 l6 l7 L8 l8 l9
        gggqG  l1 L2 l3 l4 l5 l6 l7 L8 L8b l9 l2 l8
        :2,5s/[lL]/x/<CR>  l1 l2 x3 x4 x5 l6 l7 l8 l9"#]]
    .assert_eq(&left.join("\n"));
}
