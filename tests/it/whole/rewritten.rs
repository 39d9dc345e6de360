//! Files that the model deletes and writes again in one reply.

use super::*;

/// The model has not read the files. The user decides on one change of each file, whatever the order of the calls.
#[test]
fn a_file_that_is_deleted_and_then_written_in_one_reply_is_changed() {
    let changed = nine().replace("l2", "L2");
    for (config, decision) in
        [("{}", "accept"), ("{}", "reject"), (MODE, "accept"), (MODE, "reject")]
    {
        let scene = Scene::start(|it| it.file("a.txt", nine()).file("b.txt", "b\n").config(config));
        let reply = Reply::new()
            .call("c1", "delete", delete("a.txt"))
            .call("c2", "delete", delete("b.txt"))
            .call("w1", "write", write("a.txt", &changed));
        if config == MODE {
            scene.server.reply(reply);
            scene.ask_until(Reply::said("I see."), "I see.");
        } else {
            scene.ask(reply);
        }
        scene.wait_hunks(2);
        assert!(scene.on_disk("a.txt").is_some(), "{config}");
        if config != MODE {
            scene.server.reply(Reply::said("I see."));
        }
        scene.nvim.keys(&format!(":Caliban {decision} all<CR>"));
        scene.wait_hunks(0);
        scene.wait_idle("I see.");
        expect!["A later call of the same reply writes this file. The two are one change of the file, and the answer to that call says what becomes of it."]
            .assert_eq(&scene.answer(2, "c1"));
        let answer = scene.answer(2, "w1");
        assert!(answer.contains("a.txt"), "{config} {decision}: {answer}");
        let accepts = decision == "accept";
        let text = if accepts { changed.clone() } else { nine() };
        scene.nvim.wait(|_| scene.on_disk("a.txt").as_ref() == Some(&text), "the decided text");
        let b = (!accepts).then(|| "b\n".to_owned());
        scene.nvim.wait(|_| scene.on_disk("b.txt") == b, "the decided deletion");
    }
}
