//! The caches of build tools, over which commands see layers.

use super::{is_full, shell};
use crate::review::reopened::quit;
use crate::review::scene::Scene;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

/// A scene whose user has these files in the home folder.
fn with(files: &[(&str, &str)]) -> Scene {
    // Caliban's own cache lies in the folder with a layer, as it does by default
    let scene = Scene::start(|it| {
        let cache = it.dir().join("home/.cache");
        it.env("XDG_CACHE_HOME", cache.to_str().unwrap())
    });
    for (file, text) in files {
        let path = at(&scene, file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    scene
}

fn at(scene: &Scene, file: &str) -> PathBuf {
    scene.nvim.setup.dir().join("home").join(file)
}

fn user(scene: &Scene, file: &str) -> Option<String> {
    fs::read_to_string(at(scene, file)).ok()
}

#[test]
fn what_a_command_writes_in_a_cache_only_commands_of_the_project_see() {
    if !is_full() {
        return;
    }
    let scene =
        with(&[(".cache/uv/a.py", "print(1)"), (".cargo/bin/cargo", "program"), ("go/pkg/x", "x")]);
    // as uv does: a cache and an installed tool are one file
    fs::create_dir_all(at(&scene, "tool")).unwrap();
    fs::hard_link(at(&scene, ".cache/uv/a.py"), at(&scene, "tool/a.py")).unwrap();
    let said = shell(
        &scene,
        "cd; echo bad >> .cache/uv/a.py; rm go/pkg/x; mkdir .cache/new; echo 2 > .cache/new/b; \
         echo 3 > .cargo/registry/c; echo 4 > .cargo/.package-cache; cat .cache/uv/a.py; \
         echo bad > .cargo/bin/cargo; echo bad > .cargo/config.toml",
    );
    assert!(said.starts_with("print(1)bad\n"), "{said}");
    assert_eq!(said.matches("Read-only file system").count(), 2, "{said}");
    let files = [".cache/uv/a.py", "tool/a.py", ".cargo/bin/cargo", "go/pkg/x"];
    let texts = files.map(|it| user(&scene, it).unwrap());
    assert_eq!(texts, ["print(1)", "print(1)", "program", "x"]);
    assert_eq!(user(&scene, ".cache/new/b"), None);
    assert!(
        !at(&scene, ".cargo/registry").exists() && !at(&scene, ".cargo/.package-cache").exists()
    );
    // the next command finds it, and so does the next conversation, beside the first one
    let look = "cd; cat .cache/uv/a.py .cache/new/b .cargo/registry/c; ls go/pkg";
    assert_eq!(shell(&scene, look), "print(1)bad\n2\n3");
    scene.nvim.keys(":Caliban new<CR>");
    scene.nvim.wait(|it| !it.transcript().contains("bad"), "a new conversation");
    assert_eq!(shell(&scene, look), "print(1)bad\n2\n3");
}

#[test]
fn the_layer_over_a_cache_stays_after_neovim_has_ended_and_yields_to_what_the_user_writes() {
    if !is_full() {
        return;
    }
    let scene = with(&[(".cache/pip/a", "user"), (".cache/pip/b", "user")]);
    let said = shell(&scene, "cd ~/.cache/pip; echo own | tee a b c");
    assert_eq!(said, "own");
    let written = |it: &str| fs::metadata(at(&scene, it)).unwrap().ctime_nsec();
    let before = written(".cache/pip/b");
    while written(".cache/pip/b") == before {
        fs::write(at(&scene, ".cache/pip/b"), "newer").unwrap();
    }
    let scene = quit(scene);
    assert_eq!(shell(&scene, "cd ~/.cache/pip; cat a b c"), "own\nnewerown");
}

#[test]
fn a_cache_that_the_user_names_as_writable_is_the_user_s_own() {
    if !is_full() {
        return;
    }
    let setting = "{ sandbox = { writable = { '~/.cache/pip' } } }";
    let scene = Scene::start(|it| it.config(setting));
    for folder in [".cache/pip", ".cache/uv"] {
        fs::create_dir_all(at(&scene, folder)).unwrap();
    }
    assert_eq!(shell(&scene, "cd ~/.cache; echo a > pip/a; echo a > uv/a; cat pip/a uv/a"), "a\na");
    assert_eq!(user(&scene, ".cache/pip/a").as_deref(), Some("a\n"));
    assert_eq!(user(&scene, ".cache/uv/a"), None);
}
