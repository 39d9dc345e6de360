//! Another program changes how a file's text becomes bytes: its line ends, its encoding, its byte order mark, its last line
//! break. The buffer follows, with a review and without one.

use super::scene::{Scene, edit};
use crate::kit::reply::Reply;
use serde_json::json;
use std::fs;

/// A text of `form`, in which the first and the last line may be changed.
fn bytes(form: &str, first: &str, last: &str) -> Vec<u8> {
    let text = format!("{first}\ncafé\nb\nc\n{last}\n");
    match form {
        "dos" => text.replace('\n', "\r\n").into_bytes(),
        "latin1" => text.chars().map(|it| u8::try_from(u32::from(it)).unwrap()).collect(),
        "bom" => format!("\u{feff}{text}").into_bytes(),
        "no end" => text.trim_end().into(),
        "utf-16" => format!("\u{feff}{text}").encode_utf16().flat_map(u16::to_le_bytes).collect(),
        _ => text.into_bytes(),
    }
}

/// The form of each file before and after another program has written it.
const FORMS: [(&str, &str); 10] = [
    ("dos", "plain"),
    ("plain", "dos"),
    ("latin1", "plain"),
    ("plain", "latin1"),
    ("bom", "plain"),
    ("plain", "bom"),
    ("no end", "plain"),
    ("plain", "no end"),
    ("utf-16", "plain"),
    ("plain", "utf-16"),
];

fn name(row: usize) -> String {
    format!("f{row}.txt")
}

fn start(mode: &str) -> Scene {
    let config = format!("{{ mode = '{mode}', sandbox = false }}");
    let scene = Scene::start(|it| {
        let files = FORMS.iter().enumerate();
        let it = files.fold(it, |it, (row, of)| it.file(&name(row), bytes(of.0, "a", "z")));
        let more = FORMS.iter().enumerate();
        more.fold(it, |it, (row, of)| it.file(&format!("to/f{row}.txt"), bytes(of.1, "a", "z")))
            .config(&config)
    });
    for row in 0..FORMS.len() {
        scene.nvim.keys(&format!(":edit {}<CR>", name(row)));
    }
    scene
}

/// Another program writes each file in its new form. The changes that are on disk stay.
fn transform(scene: &Scene, first: &str, last: &str) {
    for (row, of) in FORMS.iter().enumerate() {
        fs::write(scene.nvim.setup.path(&name(row)), bytes(of.1, first, last)).unwrap();
    }
}

#[track_caller]
fn holds(scene: &Scene, first: &str, last: &str, what: &str) {
    for (row, of) in FORMS.iter().enumerate() {
        let found = fs::read(scene.nvim.setup.path(&name(row))).unwrap();
        let wanted = bytes(of.1, first, last).escape_ascii().to_string();
        assert_eq!(found.escape_ascii().to_string(), wanted, "{of:?} {what}: {}", scene.said());
        let code = format!("return vim.bo[vim.fn.bufnr('{}')].modified", name(row));
        assert_eq!(scene.nvim.lua_str(&code), "false", "{of:?} {what}");
    }
}

/// The model changes the first and the last line of each file.
fn both() -> Reply {
    (0..FORMS.len()).fold(Reply::new(), |it, row| {
        it.call(&format!("e{row}"), "edit", edit(&name(row), &[("a\n", "A\n"), ("z", "Z")]))
    })
}

#[test]
fn a_review_follows_the_new_form_of_its_file() {
    for auto in [false, true] {
        for (keys, first, last) in [
            (":Caliban accept all<CR>", "A", "Z"),
            (":Caliban reject all<CR>", "a", "z"),
            ("", "a", "Z"),
        ] {
            let scene = start(if auto { "auto-edit" } else { "ask" });
            scene.server.otherwise(Reply::said("I see."));
            scene.ask(both());
            scene.wait_hunks(2 * FORMS.len());
            if auto {
                scene.wait_idle("I see.");
                transform(&scene, "A", "Z");
            } else {
                transform(&scene, "a", "z");
            }
            scene.nvim.keys(keys);
            for row in (0..FORMS.len()).filter(|_| keys.is_empty()) {
                scene.nvim.keys(&format!(":edit {}<CR>", name(row)));
                scene.nvim.keys(":1Caliban reject<CR>:$Caliban accept<CR>");
            }
            scene.wait_hunks(0);
            scene.wait_idle("I see.");
            holds(&scene, first, last, keys);
        }
    }
}

#[test]
fn a_buffer_without_a_review_follows_what_a_command_has_made_of_its_file() {
    let scene = start("ask");
    scene.ask(Reply::new().call("s1", "shell", json!({ "command": "cp to/* ." })));
    scene.server.reply(Reply::said("It ran."));
    scene.nvim.wait_question();
    scene.nvim.keys(":Caliban approve<CR>");
    scene.wait_idle("It ran.");
    for row in 0..FORMS.len() {
        scene.nvim.keys(&format!(":edit {}<CR>1GAmine<Esc>:set nofixeol<CR>:w<CR>", name(row)));
    }
    holds(&scene, "amine", "z", "the user's own change");
    scene.ask(Reply::new().call("e1", "edit", edit("f2.txt", &[("café", "Café")])));
    scene.wait_pending(1);
    assert!(scene.nvim.buffer("/f2.txt").contains("Café"), "{}", scene.nvim.buffer("/f2.txt"));
}
