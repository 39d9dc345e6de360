//! Rewinds of files that are not UTF-8.

use super::kinds::{heads, take_all_back};
use super::*;
use std::fs::Permissions;

/// The model edits a file in Neovim's text and changes its bytes with commands, in every order, and the edits are
/// accepted. The rewind restores the bytes and the permissions.
#[test]
fn a_rewind_restores_files_of_other_encodings_that_edits_and_commands_changed() {
    let utf16 = |it: &str| -> Vec<u8> {
        let units = std::iter::once(0xfeff_u16).chain(it.encode_utf16());
        units.flat_map(u16::to_le_bytes).collect()
    };
    let latin = |it: &str| -> Vec<u8> { it.chars().map(|it| it as u8).collect() };
    let text = "one\ncaf\u{e9}\nthree\n";
    let files = [("edited-ran", true), ("ran-edited", false)];
    let names: Vec<String> = files
        .iter()
        .flat_map(|(order, _)| ["latin", "wide"].map(|form| format!("{order}-{form}")))
        .collect();
    let bytes = |it: &str| if it.ends_with("wide") { utf16(text) } else { latin(text) };
    let scene = Scene::start(|it| {
        let it = it.config("{ mode = 'auto' }").size(120, 40);
        names.iter().fold(it, |it, name| it.file(name, bytes(name)))
    });
    for name in &names {
        let path = scene.nvim.setup.path(name);
        std::fs::set_permissions(path, Permissions::from_mode(0o600)).unwrap();
    }
    let edits = |reply: Reply, first: bool| {
        let of = names.iter().filter(|it| it.starts_with("edited") == first);
        of.fold(reply, |reply, it| reply.call(it, "edit", edit(it, &[("three", "3\u{e9}")])))
    };
    let append = |wide: &str, it: &str| {
        if it.ends_with("wide") {
            format!("printf '{wide}' >> {it}; chmod 640 {it}")
        } else {
            format!("printf 'm\\351\\n' >> {it}; chmod 640 {it}")
        }
    };
    let run: Vec<String> = names.iter().map(|it| append("m\\000\\351\\000\\n\\000", it)).collect();
    scene.server.reply(edits(Reply::new(), true));
    scene.server.reply(Reply::new().call("run", "shell", json!({ "command": run.join("; ") })));
    scene.server.reply(edits(Reply::new(), false));
    scene.ask(Reply::said("Done."));
    scene.wait_idle("Done.");
    let read = |it: &str| std::fs::read(scene.nvim.setup.path(it)).unwrap();
    for name in &names {
        let changed = "one\ncaf\u{e9}\n3\u{e9}\nm\u{e9}\n";
        let changed = if name.ends_with("wide") { utf16(changed) } else { latin(changed) };
        assert_eq!(read(name), changed, "{name}");
    }
    scene.nvim.keys(":Caliban accept all<CR>");
    scene.wait_hunks(0);
    preview(&scene, "1");
    let heads = heads(&scene);
    assert_eq!(heads.matches("is restored, with its permissions").count(), 4, "{heads}");
    take_all_back(&scene);
    for name in &names {
        assert_eq!(read(name), bytes(name), "{name}");
        let mode = scene.nvim.setup.path(name).metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
}

/// The preview does not speak of later changes if there are none, whatever the bytes of the file are.
#[test]
fn a_rewind_speaks_of_no_later_changes_where_there_are_none() {
    let utf16 = |it: &str, is_big: bool| -> Vec<u8> {
        let units = std::iter::once(0xfeff_u16).chain(it.encode_utf16());
        units.flat_map(|it| if is_big { it.to_be_bytes() } else { it.to_le_bytes() }).collect()
    };
    let text = "one\ncaf\u{e9}\nthree\nfour\nfive\nsix\n";
    let files: Vec<(&str, Vec<u8>)> = vec![
        ("plain", text.into()),
        ("wide", utf16(text, false)),
        ("wide-big", utf16(text, true)),
        ("wide-dos", utf16(&text.replace('\n', "\r\n"), false)),
        ("latin", text.chars().map(|it| it as u8).collect()),
        ("bom", format!("\u{feff}{text}").into()),
        ("dos", text.replace('\n', "\r\n").into()),
        ("bom-dos", format!("\u{feff}{}", text.replace('\n', "\r\n")).into()),
        ("cut", text.trim_end().into()),
        ("cut-dos", text.trim_end().replace('\n', "\r\n").into()),
    ];
    let scene = Scene::start(|it| {
        let it = it.config("{ mode = 'auto' }").size(120, 40);
        files.iter().fold(it, |it, (name, bytes)| it.file(name, bytes))
    });
    let edits = files.iter().fold(Reply::new(), |reply, (name, _)| {
        reply.call(name, "edit", edit(name, &[("three", "3\u{e9}")]))
    });
    scene.ask(edits);
    scene.server.reply(Reply::said("Done."));
    scene.wait_idle("Done.");
    scene.nvim.keys(":Caliban accept all<CR>");
    scene.wait_hunks(0);
    preview(&scene, "1");
    let mut names: Vec<&str> = files.iter().map(|it| it.0).collect();
    names.sort_unstable();
    let wanted: Vec<String> = names.iter().map(|it| format!("diff {it} is restored")).collect();
    assert_eq!(heads(&scene).trim_end(), wanted.join("\n"));
    take_all_back(&scene);
    for (name, bytes) in &files {
        assert_eq!(&std::fs::read(scene.nvim.setup.path(name)).unwrap(), bytes, "{name}");
    }
}
