//! Edits whose `old` text is not in the file, or is there several times: the answers to the model, and the order in
//! which edits apply.

use super::review::scene::{Scene, edit, nine, write};
use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::setup::Setup;
use expect_test::expect;
use serde_json::{Value, json};
use std::fs;
use std::time::{Duration, SystemTime};

/// Lets the model make each call in a reply of its own, checks that no call changes anything, and returns the answers.
fn told(setup: impl FnOnce(Setup) -> Setup, calls: &[(&str, Value)]) -> String {
    let scene = Scene::start(setup);
    for (tool, input) in calls {
        scene.server.reply(Reply::new().call("e1", tool, input.clone()));
    }
    scene.ask_until(Reply::said("I see."), "I see.");
    assert_eq!(scene.pending(), 0);
    let n = calls.len() + 1;
    let said = scene.request(n).answers().into_iter().map(|it| it.1);
    said.collect::<Vec<_>>().join("\n--\n")
}

#[test]
fn the_answer_to_an_ambiguous_edit_lists_at_most_ten_matches() {
    let many = "x\ny\n".repeat(11);
    let all = edit("a.txt", &[("l3", "L3"), ("l", "L")]);
    let calls = [
        ("edit", all),
        ("edit", edit("b.txt", &[("x\n", "z\n")])),
        ("edit", edit("c.txt", &[("go()\n", "stop()\n")])),
    ];
    let files = |it: Setup| {
        it.file("a.txt", "l1\nl2\nl3\n").file("b.txt", &many).file("c.txt", "go() \nx\ngo()\t\n")
    };
    expect![[r#"
        $.edits[1] does not fit, so no edit was applied. `old` is at 2 places in a.txt and must be at exactly one place:
        1: l1
        2: l2
        Add surrounding lines to `old` until it is unique, or set `everywhere`.
        --
        `old` is at 11 places in b.txt and must be at exactly one place:
        1: x
        3: x
        5: x
        7: x
        9: x
        11: x
        13: x
        15: x
        17: x
        19: x
        …
        Add surrounding lines to `old` until it is unique, or set `everywhere`.
        --
        `old` is at 2 places in c.txt, ignoring blanks at line ends, and must be at exactly one place:
        1: go() 
        3: go()	
        Add surrounding lines to `old` until it is unique, or set `everywhere`."#]]
    .assert_eq(&told(files, &calls));
}

#[test]
fn the_answer_to_an_edit_that_does_not_match_names_the_likely_cause() {
    let calls = [
        ("edit", edit("a.txt", &[("l2\\nl3", "x")])),
        ("edit", edit("a.txt", &[("    go()\n    stop(now)", "x")])),
        ("edit", edit("a.txt", &[("not there", "l5 and more")])),
        ("edit", edit("a.txt", &[("l2", "l2")])),
        ("edit", edit("a.txt", &[("", "l2")])),
    ];
    let text = nine().replace("l5", "l5 and more") + "\tgo()\n\t\tstop(now)\n";
    expect![[r#"
        `old` is not in a.txt. `old` is escaped twice: send real line breaks, tabs and quotes.
        --
        `old` is not in a.txt. The file is indented with tabs, `old` with spaces.
        The nearest block begins at line 10 (- `old`, + the file):
        -    go()
        -    stop(now)
        +	go()
        +		stop(now)
        --
        `old` is not in a.txt, and `new` is there already, at line 5. If that is the change you meant, nothing is left to do.
        --
        This edit would change nothing, so a.txt stays as it is.
        --
        `old` is empty, but a.txt is not. Give the text to replace, or use write to replace the whole file."#]]
    .assert_eq(&told(|it| it.file("a.txt", &text), &calls));
}

#[test]
fn the_answer_names_letters_that_are_written_in_another_way() {
    let calls = [
        ("edit", edit("a.txt", &[("cafe\u{301}\n", "x")])),
        ("edit", edit("b.html", &[("<p>a & b</p>", "x")])),
        ("edit", edit("c.rs", &[("if a &lt; b {", "x")])),
    ];
    let files = |it: Setup| {
        it.file("a.txt", "café\n")
            .file("b.html", "<p>a &amp; b</p>\n")
            .file("c.rs", "if a < b {\n}\n")
    };
    let said = told(files, &calls);
    let said: Vec<&str> = said.split("\n--\n").collect();
    assert!(said[0].contains("one has composed letters (Unicode NFC)"), "{said:?}");
    assert!(said[1].contains("The file is escaped for HTML, `old` is not"), "{said:?}");
    assert!(said[2].contains("`old` is escaped for HTML, the file is not"), "{said:?}");
}

#[test]
fn a_placeholder_for_left_out_code_is_refused() {
    let calls = [
        ("edit", edit("a.txt", &[("l2", "L2\n// ... rest of the code unchanged ...")])),
        ("write", write("b.txt", "one\n# ... existing code ...\n")),
    ];
    expect![[r#"
        a.txt was not changed: the line `// ... rest of the code unchanged ...` is a placeholder for text that you left out, and would be written as it is. Send the whole text, or a smaller replacement.
        --
        b.txt was not changed: the line `# ... existing code ...` is a placeholder for text that you left out, and would be written as it is. Send the whole text, or a smaller replacement."#]]
    .assert_eq(&told(|it| it.file("a.txt", nine()), &calls));
}

#[test]
fn each_edit_of_a_call_applies_to_the_result_of_the_one_before() {
    let scene = Scene::start(|it| it.file("a.txt", nine()).file("b.txt", nine()));
    let edits = json!({ "path": "a.txt", "edits": [
        { "old": "l2", "new": "two" },
        { "old": "two\nl3", "new": "two\nthree" },
        { "path": "b.txt", "old": "l", "new": "k", "everywhere": true },
        { "path": "b.txt", "old": "k9", "new": "nine" },
    ]});
    scene.ask(Reply::new().call("e1", "edit", edits));
    scene.wait_pending(2);
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys(":Caliban accept all<CR>");
    scene.wait_idle("I see.");
    assert_eq!(scene.on_disk("a.txt"), Some(nine().replace("l2\nl3", "two\nthree")));
    assert_eq!(scene.on_disk("b.txt"), Some(nine().replace('l', "k").replace("k9", "nine")));
}

/// Lets the model read `a.txt`, runs `then`, and lets the model write the file.
fn written(open: bool, then: impl FnOnce(&Nvim)) -> Scene {
    let scene = Scene::start(|it| it.file("a.txt", nine()));
    scene.nvim.keys(if open { ":edit a.txt<CR>" } else { "" });
    scene.server.reply(Reply::new().call("r1", "read", json!({ "path": "a.txt" })));
    let gate = scene.server.reply(Reply::new().gate().call("w1", "write", write("a.txt", "x\n")));
    scene.nvim.keys(":Caliban ask please<CR>");
    scene.server.wait_requests(2);
    then(&scene.nvim);
    gate.finish();
    scene
}

fn dated(nvim: &Nvim, time: SystemTime) {
    let file = fs::File::options().append(true).open(nvim.setup.path("a.txt")).unwrap();
    file.set_modified(time).unwrap();
}

#[test]
fn a_file_counts_as_changed_by_its_text_not_by_its_modification_time() {
    let later = SystemTime::now() + Duration::from_secs(100);
    let same: [&dyn Fn(&Nvim); 3] = [
        &|nvim| dated(nvim, later),
        &|nvim| {
            fs::remove_file(nvim.setup.path("a.txt")).unwrap();
            fs::write(nvim.setup.path("a.txt"), nine()).unwrap();
        },
        &|nvim| nvim.keys("ggOmine<Esc>u"),
    ];
    for (n, then) in same.into_iter().enumerate() {
        for open in [true, n == 2] {
            let scene = written(open, then);
            scene.wait_pending(1);
            scene.server.reply(Reply::said("I see."));
            scene.nvim.keys(":Caliban accept all<CR>");
            scene.wait_idle("I see.");
            assert_eq!(scene.on_disk("a.txt").as_deref(), Some("x\n"));
        }
    }
    // `then` writes another text of the same length, and restores the modification time.
    for open in [true, false] {
        let scene = written(open, |nvim| {
            let time = fs::metadata(nvim.setup.path("a.txt")).unwrap().modified().unwrap();
            fs::write(nvim.setup.path("a.txt"), nine().replace("l5", "L5")).unwrap();
            dated(nvim, time);
        });
        scene.server.reply(Reply::said("I see."));
        scene.wait_idle("I see.");
        expect!["a.txt changed since you read it, so it was not overwritten. Read it again, or use edit."]
            .assert_eq(&scene.answer(3, "w1"));
    }
}

#[test]
fn a_refused_write_can_be_repeated_with_a_name_in_place_of_its_text() {
    let scene = Scene::start(|it| it.file("a.txt", nine()));
    let text = "a line of it\n".repeat(20);
    scene.server.reply(Reply::new().call("w1", "write", write("a.txt", &text)));
    scene.ask_until(Reply::said("Not read."), "Not read.");
    let told = scene.answer(2, "w1");
    let (why, name) = told.split_once("\nCaliban kept the new text: send `text_from`: \"").unwrap();
    expect!["a.txt exists and you have not read it. Read it first, then write, or use edit."]
        .assert_eq(why);
    let name = name.split('"').next().unwrap();
    scene.server.reply(Reply::new().call("r1", "read", json!({ "path": "a.txt" })));
    scene.ask(Reply::new().call("w2", "write", json!({ "path": "a.txt", "text_from": name })));
    scene.wait_hunks(1);
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys(":Caliban accept all<CR>");
    scene.wait_idle("I see.");
    assert_eq!(scene.on_disk("a.txt"), Some(text));
}
