//! Options that say how text becomes bytes are followed while changes are pending, and never mixed with the bytes on
//! disk. `tests/lua/bytes_test.lua` is the law.

use super::scene::{Scene, edit, write};
use crate::kit::reply::Reply;
use expect_test::expect;
use std::fs;

/// A scene in which one of the three lines `é`, `two` and `three` is under review.
fn pending(bytes: &[u8]) -> Scene {
    let scene = Scene::start(|it| it.file("a.txt", bytes));
    scene.nvim.keys(":edit a.txt<CR>");
    scene.ask(Reply::new().call("e1", "edit", edit("a.txt", &[("two", "TWO")])));
    scene.wait_pending(1);
    scene.server.reply(Reply::said("I see."));
    scene
}

fn bytes(scene: &Scene) -> Vec<u8> {
    fs::read(scene.nvim.setup.path("a.txt")).unwrap()
}

fn modified(scene: &Scene) -> String {
    scene.nvim.lua_str("return vim.bo.modified")
}

fn utf16(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

const PLAIN: &[u8] = "é\ntwo\nthree\n".as_bytes();
const TAKEN: &str = "é\nTWO\nthree\n";

#[test]
fn accepting_writes_the_file_as_the_options_say() {
    let rows: [(&str, Vec<u8>); 7] = [
        (":setlocal fileencoding=utf-16le<CR>", utf16(TAKEN)),
        (":setlocal fileencoding=latin1<CR>", b"\xe9\nTWO\nthree\n".to_vec()),
        (":setlocal bomb<CR>", format!("\u{feff}{TAKEN}").into_bytes()),
        (":set ff=dos<CR>", TAKEN.replace('\n', "\r\n").into_bytes()),
        (":set fileformat=mac<CR>", TAKEN.replace('\n', "\r").into_bytes()),
        (":set noeol nofixeol<CR>", TAKEN.trim_end().into()),
        (":set noeol<CR>", TAKEN.into()),
    ];
    for (keys, wanted) in rows {
        let scene = pending(PLAIN);
        scene.nvim.keys(keys);
        scene.nvim.keys(":w<CR>");
        assert_eq!(bytes(&scene), PLAIN, "{keys}");
        scene.nvim.keys("\\A");
        scene.wait_idle("I see.");
        let (found, wanted) = (bytes(&scene), wanted);
        assert_eq!(found.escape_ascii().to_string(), wanted.escape_ascii().to_string(), "{keys}");
        assert_eq!(modified(&scene), "false", "{keys}");
        assert_eq!(scene.answer(2, "e1"), "The user accepted the change in a.txt.", "{keys}");
        assert!(scene.said().ends_with("a.txt: 1 accepted, saved"), "{keys}: {}", scene.said());
    }
}

#[test]
fn rejecting_leaves_the_bytes_on_disk_and_the_options_to_the_users_next_write() {
    let rows: [(&str, Vec<u8>); 4] = [
        (":setlocal fileencoding=utf-16le<CR>", utf16("é\ntwo\nthree\n")),
        (":setlocal fileencoding=latin1<CR>", b"\xe9\ntwo\nthree\n".to_vec()),
        (":setlocal bomb<CR>", "\u{feff}é\ntwo\nthree\n".into()),
        (":set ff=dos<CR>", b"\xc3\xa9\r\ntwo\r\nthree\r\n".to_vec()),
    ];
    for (keys, wanted) in rows {
        for verdict in ["\\R", "u"] {
            let scene = pending(PLAIN);
            scene.nvim.keys(keys);
            scene.nvim.keys(verdict);
            scene.wait_idle("I see.");
            assert_eq!(bytes(&scene), PLAIN, "{keys} {verdict}");
            assert_eq!(modified(&scene), "true", "{keys} {verdict}");
            let told = "The user rejected the change in a.txt: it is undone.";
            assert_eq!(scene.answer(2, "e1"), told, "{keys} {verdict}");
            scene.nvim.keys(":w<CR>");
            assert_eq!(bytes(&scene), wanted, "{keys} {verdict}");
        }
    }
}

/// Neovim notes 'endofline' when a buffer becomes unmodified, although with 'fixendofline' the option changes no byte.
#[test]
fn an_endofline_of_an_earlier_review_does_not_leave_the_buffer_modified() {
    let scene = pending(PLAIN);
    scene.nvim.keys(":set noeol<CR>\\R");
    scene.wait_idle("I see.");
    assert_eq!((modified(&scene).as_str(), bytes(&scene)), ("false", PLAIN.to_vec()));
    scene.nvim.keys(":set nofixeol<CR>");
    assert_eq!(modified(&scene), "false");
    scene.ask(Reply::new().call("e2", "edit", edit("a.txt", &[("two", "TWO")])));
    scene.wait_pending(1);
    scene.server.reply(Reply::said("So it is."));
    scene.nvim.keys("\\R");
    scene.wait_idle("So it is.");
    let said = scene.said();
    assert_eq!((modified(&scene).as_str(), bytes(&scene)), ("false", PLAIN.to_vec()), "{said}");
}

#[test]
fn a_write_in_another_encoding_while_changes_are_pending_is_no_change_by_somebody_else() {
    for (keys, wanted) in [
        (":setlocal fenc=utf-16le<CR>:w!<CR>", utf16("é\ntwo\nthree\n")),
        (":setlocal fenc=utf-16le<CR>:noautocmd w<CR>", utf16("é\ntwo\nthree\n")),
        // Such an argument counts for one write only.
        (":w! ++enc=utf-16le<CR>", PLAIN.to_vec()),
    ] {
        let scene = pending(PLAIN);
        scene.nvim.keys(keys);
        assert_eq!(bytes(&scene), utf16(TAKEN), "{keys}");
        scene.nvim.keys("\\R");
        scene.wait_idle("I see.");
        assert_eq!(bytes(&scene), wanted, "{keys}: {}", scene.said());
        assert!(!scene.said().contains("on disk"), "{keys}: {}", scene.said());
    }
}

#[test]
fn a_text_that_the_new_encoding_cannot_represent_is_not_written() {
    let scene = pending("€\ntwo\nthree\n".as_bytes());
    scene.nvim.keys(":setlocal fileencoding=latin1<CR>\\A");
    scene.wait_idle("I see.");
    assert_eq!(bytes(&scene), "€\ntwo\nthree\n".as_bytes());
    expect!["a.txt: 1 accepted, not saved: its encoding (latin1) cannot represent the text"]
        .assert_eq(&scene.said());
    scene.nvim.keys(":setlocal fileencoding=utf-8<CR>:w<CR>");
    assert_eq!(bytes(&scene), "€\nTWO\nthree\n".as_bytes());
}

#[test]
fn somebody_elses_change_is_merged_although_the_encoding_of_the_buffer_has_changed() {
    let scene = pending("é\nb\nc\nd\ntwo\n".as_bytes());
    scene.nvim.keys(":setlocal fileencoding=utf-16le<CR>");
    fs::write(scene.nvim.setup.path("a.txt"), "ü\nb\nc\nd\ntwo\n").unwrap();
    scene.nvim.keys("\\A");
    scene.wait_idle("I see.");
    assert_eq!(scene.nvim.buffer("/a.txt"), "ü\nb\nc\nd\nTWO");
    assert_eq!(bytes(&scene), utf16("ü\nb\nc\nd\nTWO\n"));
}

/// Bytes that are no UTF-16: `vim.iconv` would crash Neovim at them.
#[test]
fn a_file_that_is_damaged_during_its_review_is_not_overwritten() {
    let scene = pending(&utf16("\u{feff}é\ntwo\n"));
    fs::write(scene.nvim.setup.path("a.txt"), b"\xff\xfea\x00\x00").unwrap();
    scene.nvim.keys("\\A");
    scene.wait_idle("I see.");
    assert_eq!(bytes(&scene), b"\xff\xfea\x00\x00");
    expect![[r"
        a.txt changed on disk and can no longer be read in its encoding. The buffer keeps your text.
        a.txt: 1 accepted, not saved: it changed on disk, and cannot be read"]]
    .assert_eq(&scene.said());
}

/// An option that a plugin sets while Neovim reads the file, as for `end_of_line` in `.editorconfig`.
#[test]
fn editorconfig_decides_how_an_accepted_change_is_written() {
    let config = "root = true\n[*]\nend_of_line = crlf\ncharset = latin1\n";
    let scene = Scene::start(|it| it.file("a.txt", PLAIN).file(".editorconfig", config));
    scene.ask(Reply::new().call("e1", "edit", edit("a.txt", &[("two", "TWO")])));
    scene.wait_pending(1);
    scene.nvim.keys(":edit a.txt<CR>");
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys("\\A");
    scene.wait_idle("I see.");
    assert_eq!(bytes(&scene), b"\xe9\r\nTWO\r\nthree\r\n", "{}", scene.said());
}

#[test]
fn a_new_file_is_written_as_the_options_say() {
    let scene = Scene::start(|it| it);
    scene.ask(Reply::new().call("e1", "write", write("a.txt", "é\n")));
    scene.wait_pending(1);
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys(":edit a.txt<CR>:setlocal fileencoding=utf-16le bomb<CR>\\A");
    scene.wait_idle("I see.");
    assert_eq!(bytes(&scene), utf16("\u{feff}é\n"));
}
