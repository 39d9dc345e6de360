//! Projects that hold what Caliban or the user's shell trusts.

use crate::grants::is_asked;
use crate::kit::sandbox::is_full;
use crate::kit::setup::Setup;
use crate::review::scene::Scene;
use serde_json::json;
use std::fs;

/// Prepares a project.
type Place = fn(Setup) -> Setup;

/// A command of such a project could change what Caliban or the user's shell trusts.
#[test]
fn auto_mode_asks_in_a_project_with_the_home_folder_or_with_folders_of_caliban() {
    if !is_full() {
        return;
    }
    let of = |it: &Setup, path: &str| it.path(path).display().to_string();
    let is_asked = |place: &dyn Fn(Setup) -> Setup| {
        let scene = Scene::start(|it| place(it.config("{ mode = 'auto' }")));
        is_asked(&scene, "shell", json!({ "command": "echo a" }))
    };
    for (variable, folder) in [
        ("HOME", ""),
        ("HOME", "me"),
        ("XDG_DATA_HOME", "data"),
        ("XDG_CACHE_HOME", "cache"),
        ("XDG_CONFIG_HOME", ""),
    ] {
        let place = |it: Setup| it.clone().file("me/a", "").env(variable, &of(&it, folder));
        assert!(is_asked(&place), "{variable}={folder}");
    }
    // links from the user's configuration into the project
    let linked = [
        ("config/caliban", "config"),
        ("config/caliban/AGENTS.md", "user.md"),
        ("config/caliban/commands/x.md", "x.md"),
        ("home/.claude/skills/x", "skill"),
    ];
    for (link, target) in linked {
        let place = |it: Setup| {
            let it = it.file(target, "text");
            let link = it.dir().join(link);
            fs::create_dir_all(link.parent().unwrap()).unwrap();
            std::os::unix::fs::symlink(it.path(target), link).unwrap();
            it
        };
        assert!(is_asked(&place), "{link}");
    }
    let free: [(&str, Place); 2] = [
        ("an ordinary project", |it| it),
        ("a folder of instructions elsewhere", |it| {
            let folder = it.dir().join("config/caliban/commands");
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join("x.md"), "text").unwrap();
            it
        }),
    ];
    for (what, place) in free {
        assert!(!is_asked(&place), "{what}");
    }
}
