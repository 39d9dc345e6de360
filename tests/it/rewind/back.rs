//! The preview of a rewind that restores a deleted file or deletes a created one.

use super::{preview, rewind};
use crate::kit::reply::Reply;
use crate::review::scene::{Scene, write};
use expect_test::expect;
use serde_json::json;

#[test]
fn the_rewind_preview_shows_restored_and_deleted_files_whole() {
    let mode = "{ mode = 'auto-edit' }";
    let scene = Scene::start(|it| it.file("a.txt", "one\ntwo\nthree\n").config(mode));
    let reply = Reply::new().call("d1", "delete", json!({ "path": "a.txt" })).call(
        "w1",
        "write",
        write("b.txt", "new\n"),
    );
    scene.server.reply(reply);
    scene.ask_until(Reply::said("I see."), "I see.");
    assert_eq!(scene.on_disk("a.txt"), None);
    preview(&scene, "1");
    expect![[r#"
        diff a.txt is created again
        @@ -0,0 +1,3 @@
        +one
        +two
        +three

        diff b.txt is deleted
        @@ -1,1 +0,0 @@
        -new"#]]
    .assert_eq(&scene.nvim.buffer("/rewind"));
    scene.nvim.keys("q");
    rewind(&scene, "1");
    assert_eq!(scene.on_disk("a.txt").as_deref(), Some("one\ntwo\nthree\n"));
}
