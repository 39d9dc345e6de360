//! Images that are pasted: files dropped on the terminal, and the image in the clipboard.

use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use image::{DynamicImage, ImageFormat};
use std::fs::{self, File};
use std::io::Cursor;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::time::{Duration, SystemTime};

fn png() -> Vec<u8> {
    let mut bytes = Vec::new();
    DynamicImage::new_rgb8(40, 30)
        .write_to(&mut Cursor::new(&mut bytes), ImageFormat::Png)
        .unwrap();
    bytes
}

fn start(setup: Setup) -> (Server, Nvim) {
    let server = Server::start();
    server.otherwise(Reply::said("Seen."));
    let nvim = Nvim::start(&setup.anthropic(&server).size(320, 40));
    nvim.keys(":Caliban<CR>i");
    (server, nvim)
}

#[test]
fn a_dropped_image_becomes_a_mention() {
    let setup = Setup::new().file("a b's.png", png()).file("shot", png()).file("no.png", "words");
    let pipe = setup.path("pipe.png");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    symlink(setup.path("shot"), setup.path("link.png")).unwrap();
    let root = setup.path("").display().to_string();
    let root = root.trim_end_matches('/');
    let (server, nvim) = start(setup);
    let blank = format!("@\"{root}/a b's.png\" ");
    let plain = format!("@{root}/shot ");
    for (pasted, expected) in [
        (format!("{root}/shot"), plain.clone()),
        (format!(" '{root}/shot' "), plain.clone()),
        (format!("{root}/link.png"), format!("@{root}/link.png ")),
        (format!("{root}/a b's.png"), blank.clone()),
        (format!("\"{root}/a b's.png\""), blank.clone()),
        (format!("{root}/a\\ b\\'s.png"), blank.clone()),
        (format!("file://{root}/a%20b%27s.png"), blank.clone()),
        (format!("file://localhost{root}/shot"), plain.clone()),
        (format!("{root}/no.png"), format!("{root}/no.png")),
        (format!("{root}/pipe.png"), format!("{root}/pipe.png")),
        (format!("{root}/none.png"), format!("{root}/none.png")),
        ("shot".into(), "shot".into()),
        (format!("see {root}/shot"), format!("see {root}/shot")),
        (format!("{root}/shot\n{root}/shot"), format!("{root}/shot\n{root}/shot")),
        (format!("{root}/shot '{root}/a b's.png' "), format!("{root}/shot '{root}/a b's.png' ")),
        (format!("{root}/shot {root}/a\\ b\\'s.png "), format!("@{root}/shot {blank}")),
        (format!("'{root}/shot' '{root}/link.png'"), format!("@{root}/shot @{root}/link.png ")),
        (format!("{root}/shot {root}/no.png"), format!("{root}/shot {root}/no.png")),
    ] {
        nvim.request("nvim_paste", vec![pasted.as_str().into(), true.into(), (-1).into()]);
        assert_eq!(nvim.composer(), expected, "{pasted}");
        nvim.keys("<Esc>ggdGi");
    }
    nvim.request("nvim_paste", vec![format!("{root}/shot").into(), true.into(), (-1).into()]);
    nvim.keys("what is it?<C-s>");
    nvim.wait_screen("▏shot  PNG 40×30  2 tokens");
    server.wait_count(1);
    assert!(server.requests()[0].json.to_string().contains("image/png"));
    nvim.wait_phase("idle");
    // a mention begins after a blank, in each mode; in the transcript it goes into the composer
    for (count, keys) in [(2, "ilook at this"), (3, "ihm<Esc>"), (4, "ihm<Esc><C-w>k")] {
        nvim.keys(&format!("<Esc>:Caliban<CR>ggdG{keys}"));
        let image = format!("{root}/shot{count}");
        std::fs::write(&image, png()).unwrap();
        nvim.request("nvim_paste", vec![image.as_str().into(), true.into(), (-1).into()]);
        nvim.wait(|it| it.composer().ends_with(&format!(" @{image} ")), "the mention");
        nvim.keys("<Esc>:Caliban<CR><C-s>");
        let requests = server.wait_requests(count);
        assert!(requests[count - 1].json.to_string().matches("image/png").count() >= count);
        nvim.wait_phase("idle");
    }
    nvim.keys("<Esc>:Caliban<CR><C-w>k");
    nvim.request("nvim_paste", vec!["words".into(), true.into(), (-1).into()]);
    nvim.wait_screen("Paste in the composer");
    // outside of a composer, the path of an image is pasted as text
    nvim.keys("<Esc>:enew<CR>i");
    nvim.request("nvim_paste", vec![format!("{root}/shot").into(), true.into(), (-1).into()]);
    assert_eq!(nvim.lua_str("return vim.api.nvim_get_current_line()"), format!("{root}/shot"));
}

/// A setup in which `wl-paste` is this script; `$CLIP` is a folder.
fn with_clipboard(script: &str) -> Setup {
    let setup = Setup::new();
    let dir = setup.dir().join("clip");
    fs::create_dir_all(&dir).unwrap();
    let tool = dir.join("wl-paste");
    fs::write(&tool, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&tool, fs::Permissions::from_mode(0o755)).unwrap();
    fs::write(dir.join("image"), png()).unwrap();
    let path = format!("{}:{}", dir.display(), std::env::var("PATH").unwrap());
    setup
        .env("PATH", &path)
        .env("CLIP", &dir.display().to_string())
        .env("WAYLAND_DISPLAY", "wayland-0")
}

#[test]
fn the_image_in_the_clipboard_is_mentioned_and_sent() {
    let (server, nvim) = start(with_clipboard("echo \"$@\" > \"$CLIP/said\"; cat \"$CLIP/image\""));
    nvim.keys("see <M-v>");
    nvim.wait(|nvim| nvim.composer().ends_with(".png "), "the mention");
    nvim.keys("now<C-s>");
    server.wait_count(1);
    let body = server.requests()[0].json.to_string();
    assert!(body.contains("image/png") && body.contains("PNG image, 40×30 pixels"), "{body}");
    let said = fs::read_to_string(nvim.setup.dir().join("clip/said")).unwrap();
    assert_eq!(said, "--no-newline --type image/png\n");
    nvim.wait_phase("idle");
    nvim.keys("<Esc>:Caliban paste<CR>");
    nvim.wait(|nvim| nvim.composer().ends_with(".png "), "the mention");
}

#[test]
fn a_draft_with_an_image_of_the_clipboard_outlives_neovim() {
    let (server, nvim) = start(with_clipboard("cat \"$CLIP/image\""));
    let state = nvim.lua_str("return vim.fn.stdpath('state')");
    let folder = Path::new(&state).with_file_name("caliban").join("pasted");
    fs::create_dir_all(&folder).unwrap();
    let (old, new) = (folder.join("old.png"), folder.join("new.png"));
    for path in [&old, &new] {
        fs::write(path, png()).unwrap();
    }
    let days = |n: u64| SystemTime::now() - Duration::from_secs(n * 24 * 60 * 60);
    for (path, n) in [(&old, 31), (&new, 29)] {
        File::options().write(true).open(path).unwrap().set_modified(days(n)).unwrap();
    }
    nvim.keys("<M-v>");
    nvim.wait(|nvim| nvim.composer().ends_with(".png "), "the mention");
    assert!(!old.exists() && new.exists());
    let draft = nvim.composer();
    let path = draft.trim_end().trim_start_matches('@').trim_matches('"').to_owned();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    nvim.quit_with("<Esc>:qa!<CR>");
    let nvim = Nvim::start(&nvim.setup);
    nvim.keys(":Caliban<CR>");
    nvim.wait(|nvim| nvim.composer() == draft, "the draft");
    nvim.keys("<C-s>");
    server.wait_count(1);
    assert!(server.requests()[0].json.to_string().contains("image/png"));
}

#[test]
fn the_user_is_told_if_the_clipboard_has_no_image() {
    for script in ["exit 1", "echo words", "exec yes words"] {
        let (_server, nvim) = start(with_clipboard(script));
        nvim.keys("see <M-v>");
        let told = "The clipboard has no image that can be sent.";
        let says = |nvim: &Nvim| nvim.lua_str("return vim.fn.execute('messages')").contains(told);
        nvim.wait(says, "the message");
        assert_eq!(nvim.composer(), "see ");
    }
}
