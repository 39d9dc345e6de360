//! Copies of a conversation whose turn still runs.

use crate::review::scene::Scene;

#[test]
fn a_copy_in_the_middle_of_a_review_says_that_the_turn_goes_on_in_the_original() {
    let scene = Scene::two_hunks(|it| it.size(160, 40));
    scene.nvim.keys(":Caliban fork<CR>");
    scene.nvim.wait(|it| it.session() != "main", "the copy");
    scene.nvim.wait_phase("idle");
    scene.wait_chat("Copied in the middle of the turn, which goes on in the original.");
    scene.wait_chat("You still decide on edits of a.txt in the original of this conversation");
    let said = scene.nvim.transcript();
    assert!(!said.contains("Interrupted") && !said.contains("The user"), "{said}");
    let told = scene.told_next();
    assert!(told.contains("This conversation is a copy that was made in the middle"), "{told}");
    assert!(told.contains("The user still decides on edits of a.txt"), "{told}");
    assert!(!told.contains("Caliban ended"), "{told}");
}
