//! Verdicts and rewinds after the program was started again while hunks were pending.

use super::*;

/// After the restart the user decides with these keys. The model hears the verdict, and the turn can be taken back.
#[test]
fn hunks_that_were_pending_at_a_restart_are_decided_and_taken_back() {
    let one = nine().replace("l2", "L2");
    let rows =
        [("\\A", changed(), "accepted 2 changes"), ("2G\\a8G\\r", one, "1 accepted, 1 rejected")];
    for is_written in [false, true] {
        for (keys, text, said) in &rows {
            let row = format!("{keys}, written: {is_written}");
            let scene =
                if is_written { Scene::two_written(|it| it) } else { Scene::two_hunks(|it| it) };
            scene.nvim.keys(":Caliban restart<CR>");
            scene.wait_hunks(2);
            scene.nvim.wait_phase("idle");
            scene.nvim.keys(keys);
            scene.wait_hunks(0);
            scene.nvim.wait(|_| scene.on_disk("a.txt").as_ref() == Some(text), &row);
            let told = scene.told_next();
            assert!(told.contains(said), "{row}: {told}");
            rewind(&scene, "1");
            assert_eq!(scene.on_disk("a.txt"), Some(nine()), "{row}");
            assert_eq!(scene.nvim.buffer("/a.txt") + "\n", nine(), "{row}");
            let told = scene.told_next();
            assert!(told.contains("The user took back the changes of “please”"), "{row}: {told}");
            assert!(!told.contains("rejected"), "{row}: {told}");
            assert_eq!(scene.said().lines().filter(|it| it.contains("Error")).count(), 0, "{row}");
        }
    }
}

/// Hunks that are written are taken back while they are pending; those that wait are not, and nothing is lost.
#[test]
fn a_turn_with_hunks_that_were_pending_at_a_restart_is_taken_back() {
    let scene = Scene::two_written(|it| it);
    scene.nvim.keys(":Caliban restart<CR>");
    scene.wait_hunks(2);
    scene.nvim.wait_phase("idle");
    rewind(&scene, "1");
    assert_eq!(scene.on_disk("a.txt"), Some(nine()));
    assert_eq!(scene.nvim.buffer("/a.txt") + "\n", nine());
    scene.wait_hunks(0);
    let told = scene.told_next();
    assert!(told.contains("The user took back the changes of “please”"), "{told}");
    assert!(!told.contains("accepted"), "{told}");
}
