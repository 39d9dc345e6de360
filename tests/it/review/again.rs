//! Several proposals for one file: from one model, from two conversations, by two names of the file, over many files.

use super::scene::{Scene, edit, nine, two_hunks};
use crate::kit::reply::Reply;
use expect_test::expect;

#[test]
fn a_decision_on_the_hunk_of_two_overlapping_proposals_decides_both() {
    let scene = Scene::start(|it| it.file("a.txt", nine()));
    scene.nvim.keys(":edit a.txt<CR>");
    scene.ask(Reply::new().call("e1", "edit", edit("a.txt", &[("l2\nl3", "L2\nL3")])).call(
        "e2",
        "edit",
        edit("a.txt", &[("L3\nl4", "L3 too\nL4")]),
    ));
    scene.wait_pending(1);
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys("3G\\r");
    scene.wait_idle("I see.");
    assert_eq!(scene.nvim.buffer("/a.txt"), nine().trim_end());
    assert_eq!(scene.on_disk("a.txt"), Some(nine()));
    expect!["The user rejected the change in a.txt: it is undone."]
        .assert_eq(&scene.answer(2, "e1"));
    expect!["The user rejected the change in a.txt: it is undone."]
        .assert_eq(&scene.answer(2, "e2"));
}

#[test]
fn the_line_of_a_call_counts_its_own_hunks_before_and_after_the_decision() {
    let scene = Scene::start(|it| it.file("a.txt", nine()).size(160, 40));
    scene.nvim.keys(":edit a.txt<CR>");
    scene.ask(Reply::new().call("e1", "edit", edit("a.txt", &[("l2", "L2")])).call(
        "e2",
        "edit",
        edit("a.txt", &[("l5", "L5"), ("l8", "L8")]),
    ));
    scene.wait_pending(3);
    let ends = |first: &str, second: &str| {
        let ends =
            |line: &str, end: &str| line.contains("edit  a.txt") && line.trim_end().ends_with(end);
        let shown = |it: &crate::kit::nvim::Nvim| {
            let screen = it.screen();
            [first, second].iter().all(|end| screen.lines().any(|line| ends(line, end)))
        };
        scene.wait(shown, &format!("{first}, {second}"));
    };
    ends("1 hunk to review", "2 hunks to review");
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys(":Caliban accept all<CR>");
    scene.wait_idle("I see.");
    ends("1 accepted", "2 accepted");
}

/// What leaves the text as it is, although Neovim reports that lines went and came.
const FILTERS: [&str; 2] = [":%!cat<CR>", ":1,3!cat<CR>"];

/// Each call has its own verdict, with the reason for its lines.
#[test]
fn the_hunks_of_two_calls_keep_their_calls_reasons_and_comments_after_a_filter() {
    for filter in FILTERS {
        let scene = Scene::start(|it| it.file("a.txt", nine()).size(160, 40));
        scene.nvim.keys(":edit a.txt<CR>");
        scene.ask(Reply::new().call("e1", "edit", edit("a.txt", &[("l2", "L2")])).call(
            "e2",
            "edit",
            edit("a.txt", &[("l5", "L5"), ("l8", "L8\nL8b")]),
        ));
        scene.wait_pending(3);
        scene.nvim.keys(filter);
        scene.nvim.keys("2G:Caliban reject hunk digits, please<CR>");
        scene.wait_hunks(2);
        scene.nvim.keys(filter);
        scene.server.reply(Reply::said("I see."));
        scene.nvim.keys("5G:Caliban accept hunk<CR>8G:Caliban reject hunk too much<CR>");
        scene.wait_idle("I see.");
        let told = [scene.answer(2, "e1"), scene.answer(2, "e2")].join("\n--\n");
        let calls: Vec<&str> = told.split("--\n").collect();
        assert!(calls[0].contains("rejected") && calls[0].contains("digits, please"), "{told}");
        assert!(!calls[0].contains("too much") && !calls[0].contains("L5"), "{told}");
        assert!(calls[1].contains("1 accepted, 1 rejected"), "{told}");
        assert!(calls[1].contains("too much") && !calls[1].contains("digits"), "{told}");
        let want = nine().replace("l5", "L5");
        assert_eq!(scene.on_disk("a.txt"), Some(want), "{filter}");
        scene.nvim.wait_screen("1 rejected");
        scene.nvim.wait_screen("1 accepted · 1 rejected");
    }
}

/// The comment is of the second call's hunk. The verdicts follow later.
#[test]
fn a_comment_before_a_filter_and_the_verdicts_after_it_name_the_same_lines() {
    for filter in FILTERS {
        let scene = Scene::start(|it| it.file("a.txt", nine()));
        scene.nvim.keys(":edit a.txt<CR>");
        scene.ask(Reply::new().call("e1", "edit", edit("a.txt", &[("l2", "L2")])).call(
            "e2",
            "edit",
            edit("a.txt", &[("l8", "L8\nL8b")]),
        ));
        scene.wait_pending(2);
        scene.server.reply(Reply::said("So be it."));
        scene.nvim.keys(filter);
        scene.nvim.keys("8G\\cwhy two lines?<CR>");
        scene.wait_idle("So be it.");
        let said = scene.request(2).last_user_text();
        assert!(said.contains("-l8\n+L8\n+L8b\n</hunk>\nwhy two lines?"), "{filter}: {said}");
        scene.nvim.keys(filter);
        scene.nvim.keys("2G:Caliban reject hunk digits, please<CR>8G:Caliban accept hunk<CR>");
        scene.server.reply(Reply::said("I see."));
        scene.nvim.keys(":Caliban ask go on<CR>");
        scene.wait_idle("I see.");
        let told = scene.request(3).last_user_text();
        let rejected = "The user rejected the change in a.txt: it is undone.\nThe user's reason: digits, please";
        assert!(told.contains(rejected), "{filter}: {told}");
        assert!(told.contains("The user accepted the change in a.txt."), "{filter}: {told}");
        let want = nine().replace("l8", "L8\nL8b");
        assert_eq!(scene.on_disk("a.txt"), Some(want), "{filter}");
    }
}

#[test]
fn an_edit_of_a_hunk_that_was_rejected_meanwhile_is_refused() {
    let scene = Scene::two_hunks(|it| it);
    scene.nvim.keys(":Caliban reject all");
    scene.server.reply(Reply::new().call("e2", "edit", edit("a.txt", &[("L2", "L2 too")])));
    scene.nvim.lua("require('caliban').ask('more')", &[]);
    scene.nvim.wait(
        |nvim| nvim.lua_str("return #require('caliban.review').waiting()") == "1",
        "the waiting proposal",
    );
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys("<CR>");
    scene.wait_idle("I see.");
    assert_eq!(scene.nvim.buffer("/a.txt"), nine().trim_end());
    expect![
        "`old` is not in a.txt. The file changed since you saw it last. Nothing in the file is similar: read it again."
    ]
    .assert_eq(&scene.answer(3, "e2"));
}

#[test]
fn an_edit_of_text_that_the_user_has_undone_is_refused_and_shows_the_nearest_text() {
    let scene = Scene::two_hunks(|it| it);
    scene.server.reply(Reply::new().call("e2", "edit", edit("a.txt", &[("L2\nl3", "L2\nL3")])));
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys("u");
    scene.wait_idle("I see.");
    assert_eq!(scene.nvim.buffer("/a.txt"), nine().trim_end());
    assert_eq!(scene.pending(), 0);
    expect![[r#"
        `old` is not in a.txt.
        The nearest block begins at line 2 (- `old`, + the file):
        -L2
        +l2
         l3"#]]
    .assert_eq(&scene.answer(3, "e2"));
}

#[test]
fn a_proposal_after_the_users_undo_is_an_undo_step_of_its_own() {
    let scene = Scene::start(|it| it.file("a.txt", nine()));
    scene.nvim.keys(":edit a.txt<CR>5GA mine<Esc>6GA gone<Esc>u");
    scene.ask(two_hunks());
    scene.wait_pending(2);
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys("u");
    scene.wait_idle("I see.");
    assert_eq!(scene.nvim.buffer("/a.txt"), nine().replace("l5", "l5 mine").trim_end());
    scene.nvim.keys("u");
    assert_eq!(scene.nvim.buffer("/a.txt"), nine().trim_end());
}

#[test]
fn another_conversations_proposal_waits_until_the_file_is_settled() {
    let scene = Scene::two_hunks(|it| it);
    scene.nvim.keys(":Caliban new other<CR>");
    scene.nvim.wait_session("other");
    scene.server.reply(Reply::new().call("o1", "edit", edit("a.txt", &[("l5", "five")])));
    scene.nvim.lua("require('caliban').ask('and you?')", &[]);
    scene.nvim.wait_screen("an edit waits for another chat's review");
    assert_eq!(scene.pending(), 2);
    scene.server.reply(Reply::said("The first sees."));
    scene.nvim.lua("require('caliban').accept({ scope = 'all' })", &[]);
    scene.wait_pending(1);
    scene.nvim.wait(|_| scene.server.unfetched() == 0, "the first's request");
    scene.server.reply(Reply::said("The other sees."));
    scene.nvim.lua("require('caliban').accept({ scope = 'all' })", &[]);
    scene.wait_idle("The other sees.");
    let want = nine().replace("l2", "L2").replace("l8", "L8\nL8b").replace("l5", "five");
    assert_eq!(scene.on_disk("a.txt"), Some(want));
}

/// Lua code that receives a proposal of a worker. A worker is an agent with turns of its own, whose reviews belong to
/// its parent's conversation.
const WORKER: &str = "
    local owner, turn = ...
    local lines = vim.api.nvim_buf_get_lines(vim.fn.bufnr('a.txt'), 0, -1, false)
    local hunk = { start = 4, count = 1, text = 'five', n = 1 }
    local path = vim.api.nvim_buf_get_name(vim.fn.bufnr('a.txt'))
    local sha = vim.fn.sha256(table.concat(lines, '\\n'))
    local p = { id = 1, group = 1, path = path, create = false, sha = sha, hunks = { hunk }, eol = true }
    p.at_once, p.binary = false, false
    require('caliban.program.dispatch').receive({
      kind = 'propose', session = 'worker', owner = owner, turn = turn, proposals = { p },
    })";

#[test]
fn a_workers_proposal_joins_the_review_of_its_parent_conversation() {
    let scene = Scene::two_hunks(|it| it);
    scene.nvim.lua(WORKER, &["stranger".into(), 1.into()]);
    let waits = "return require('caliban.review.arrival').waiting()[1].waits";
    assert_eq!((scene.nvim.lua_str(waits).as_str(), scene.pending()), ("review", 2));
    scene.nvim.lua("require('caliban.review').stopped('worker', 1)", &[]);
    scene.nvim.lua(WORKER, &["main".into(), 2.into()]);
    scene.wait_pending(3);
    scene.server.reply(Reply::said("I see."));
    scene.nvim.lua("require('caliban').accept({ scope = 'all', session = 'main' })", &[]);
    scene.wait_idle("I see.");
    let want = nine().replace("l2", "L2").replace("l8", "L8\nL8b").replace("l5", "five");
    assert_eq!(scene.on_disk("a.txt"), Some(want));
}

#[test]
fn one_file_under_several_names_has_one_review() {
    let scene = Scene::start(|it| it.file("a.txt", nine()).file("sub/b.txt", "b\n"));
    std::os::unix::fs::symlink("a.txt", scene.nvim.setup.path("link.txt")).unwrap();
    let whole = scene.nvim.setup.path("a.txt");
    scene.nvim.keys(":edit a.txt<CR>");
    let names = ["a.txt", "./a.txt", "sub/../a.txt", whole.to_str().unwrap(), "link.txt"];
    let mut reply = Reply::new();
    for (n, name) in names.iter().enumerate() {
        let n = 2 * n + 1;
        let change = [(format!("l{n}"), format!("L{n}"))];
        let change = change.each_ref().map(|(old, new)| (old.as_str(), new.as_str()));
        reply = reply.call(&format!("e{n}"), "edit", edit(name, &change));
    }
    scene.ask(reply);
    scene.wait_pending(5);
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys("\\A");
    scene.wait_idle("I see.");
    let odd = [1, 3, 5, 7, 9];
    let want = odd.iter().fold(nine(), |text, n| text.replace(&format!("l{n}"), &format!("L{n}")));
    assert_eq!(scene.on_disk("a.txt"), Some(want));
    assert!(scene.nvim.setup.path("link.txt").is_symlink());
    let listed = "return #vim.tbl_filter(function(buf)
      return vim.api.nvim_buf_get_name(buf):find('txt$') ~= nil end, vim.api.nvim_list_bufs())";
    assert_eq!(scene.nvim.lua_str(listed), "1");
}

/// Lua code that returns the user's arrangement: windows, cursors outside the chat, the alternate file, jumps.
const ARRANGED: &str = "local out = { vim.api.nvim_get_current_win(), vim.fn.bufnr('#'), #vim.fn.getjumplist()[1] }
    for _, win in ipairs(vim.api.nvim_list_wins()) do
      local buf = vim.api.nvim_win_get_buf(win)
      local cursor = vim.api.nvim_buf_get_name(buf):find('^caliban:') or vim.api.nvim_win_get_cursor(win)
      out[#out + 1] = { win, buf, cursor, vim.api.nvim_win_get_width(win), vim.api.nvim_win_get_height(win) }
    end
    return out";

const LISTED: &str = "return vim.tbl_map(function(it) return vim.fs.basename(it.name) end,
    vim.fn.getbufinfo({ buflisted = 1 }))";

#[test]
fn accepting_twenty_files_at_once_moves_no_window_or_cursor() {
    let scene = Scene::start(|it| {
        (0..20).fold(it.size(130, 40), |it, n| it.file(&format!("f{n:02}.txt"), nine()))
    });
    for n in 0..5 {
        scene.nvim.keys(&format!(":edit f{n:02}.txt<CR>{}G", n + 3));
    }
    scene.nvim.keys(":split f01.txt<CR>:Caliban<CR><C-w>p");
    scene.nvim.wait_screen("○ idle");
    let (before, listed) = (scene.nvim.lua_json(ARRANGED), scene.nvim.lua_json(LISTED));
    let calls = (0..20).fold(Reply::new(), |reply, n| {
        let changes = [("l2", "L2"), ("l8", "L8")];
        reply.call(&format!("e{n}"), "edit", edit(&format!("f{n:02}.txt"), &changes))
    });
    scene.server.reply(calls);
    scene.nvim.lua("require('caliban').ask('please')", &[]);
    scene.wait_pending(40);
    assert_eq!(scene.nvim.lua_json(ARRANGED), before, "proposed");
    assert_eq!(scene.nvim.lua_json(LISTED).as_array().unwrap().len(), 20, "what is to be seen");
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys(":Caliban accept all<CR>");
    scene.wait_idle("I see.");
    assert_eq!(scene.nvim.lua_json(ARRANGED), before, "accepted");
    assert_eq!(scene.nvim.lua_json(LISTED), listed);
    let want = nine().replace("l2", "L2").replace("l8", "L8");
    for n in 0..20 {
        assert_eq!(scene.on_disk(&format!("f{n:02}.txt")).as_ref(), Some(&want), "{n}");
    }
    assert!(scene.said().contains("20 files: 40 hunks accepted"), "{}", scene.said());
}
