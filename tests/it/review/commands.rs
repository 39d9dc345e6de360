//! Commands that sort, move, join, format or substitute lines, over the user's lines and the agent's.

use super::scene::{Scene, edit, nine};
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
        :sort! i<CR>  l2 l8 l9 l7 l6 l5 l4 l3 l1
        :%!sort<CR>  l2 l1 l3 l4 l5 l6 l7 l8 l9
        :g/[lL][1-8]/m0<CR>  l7 l6 l5 l4 l3 l1 l2 l8 l9
        :2m$<CR>  l1 l2 l3 l4 l5 l6 l7 l8 l9
        :5m8<CR>  l1 l2 l3 l4 l6 l7 l8 l5 l9
        8GV3jJ  l1 l2 l3 l4 l5 l6 l7 l8 L8 L8b l9
        7GJ  l1 l2 l3 l4 l5 l6 l7 L8 l8 l9
        gggqG  l1 L2 l3 l4 l5 l6 l7 L8 L8b l9 l2 l8
        :2,5s/[lL]/x/<CR>  l1 l2 x3 x4 x5 l6 l7 l8 l9"#]]
    .assert_eq(&left.join("\n"));
}

/// With `two` pending as `TWO` in a file of three lines, types keys. Returns how many hunks are pending then, and the
/// buffer after everything is rejected. Saves nothing.
fn put_back(keys: &str) -> (u64, String) {
    let scene = Scene::start(|it| it.file("a.txt", "one\ntwo\nthree\n"));
    scene.nvim.keys(":edit a.txt<CR>");
    scene.ask(Reply::new().call("e1", "edit", edit("a.txt", &[("two", "TWO")])));
    scene.wait_pending(1);
    scene.server.otherwise(Reply::said("I see."));
    scene.nvim.keys(keys);
    let left = scene.nvim.lua_json("return #require('caliban').pending()").as_u64().unwrap();
    scene.nvim.keys(":Caliban reject all<CR>");
    scene.wait_idle("I see.");
    assert_eq!(scene.on_disk("a.txt").as_deref(), Some("one\ntwo\nthree\n"), "{keys}");
    (left, scene.nvim.buffer("/a.txt").replace('\n', " "))
}

#[test]
fn what_is_the_same_in_buffer_and_base_is_not_pending_whatever_keys_have_made_it_so() {
    let rows = [
        ("2GddOtwo<Esc>", 0, "one two three"),
        ("2GddkOone<Esc>jddkotwo<Esc>", 0, "one two three"),
        (":2!echo two<CR>", 0, "one two three"),
        (":2delete<CR>:1put ='two'<CR>", 0, "one two three"),
        (":%!printf 'one\\ntwo\\nthree\\n'<CR>", 0, "one two three"),
        (":1,3!cat<CR>", 1, "one two three"),
        (":2!cat<CR>", 1, "one two three"),
        ("2GddP", 1, "one two three"),
        ("gg3ddPGdd", 1, "one two three"),
        ("2GddOmine<Esc>", 1, "one mine two three"),
        ("2GddOmine<CR>two<Esc>", 0, "one mine two three"),
    ];
    for (keys, left, text) in rows {
        let (count, after) = put_back(keys);
        let mut words: Vec<&str> = after.split(' ').collect();
        if keys.contains("mine") {
            // the user's line may be above or below the agent's
            words.retain(|it| *it != "mine");
            assert_eq!(words, ["one", "two", "three"], "{keys}: {after}");
            assert!(after.contains("mine"), "{keys}: {after}");
        } else {
            assert_eq!(after, text, "{keys}");
        }
        assert_eq!(count, left, "{keys}: {after}");
    }
}
