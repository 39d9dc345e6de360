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

/// The line ends and the byte order mark are those that the model has written.
#[test]
fn a_new_file_has_the_line_ends_that_the_model_wrote() {
    for mode in ["ask", "auto-edit"] {
        let scene = Scene::start(|it| it.config(&format!("{{ mode = '{mode}' }}")));
        let texts = [
            ("dos.txt", "a\r\nb\r\n"),
            ("cut.txt", "a\r\nb"),
            ("mixed.txt", "a\r\nb\n"),
            ("bom.txt", "\u{feff}a\nb\n"),
            ("both.txt", "\u{feff}a\r\n"),
            ("unix.txt", "a\nb\n"),
        ];
        let calls = texts.iter().fold(Reply::new(), |it, (name, text)| {
            it.call(name, "write", json!({ "path": name, "text": text }))
        });
        scene.ask(calls);
        scene.server.reply(Reply::said("I see."));
        if mode == "ask" {
            scene.wait_pending(texts.len());
            scene.nvim.keys(":Caliban accept all<CR>");
        }
        scene.wait_idle("I see.");
        for (name, text) in texts {
            assert_eq!(scene.on_disk(name).as_deref(), Some(text), "{mode} {name}");
        }
    }
}

/// The user can still reject the deletion, so the name is not free yet: the model is told so, and nothing is lost.
#[test]
fn no_file_is_renamed_to_the_name_of_one_whose_deletion_is_not_decided() {
    for is_one_reply in [true, false] {
        for decision in ["accept", "reject"] {
            let scene =
                Scene::start(|it| it.file("a.txt", nine()).file("b.txt", "b\n").config(MODE));
            let delete = json!({ "path": "b.txt" });
            let rename = json!({ "path": "a.txt", "to": "b.txt" });
            let first = Reply::new().call("d1", "delete", delete);
            if is_one_reply {
                scene.server.reply(first.call("r1", "rename", rename));
            } else {
                scene.server.reply(first);
                scene.server.reply(Reply::new().call("r1", "rename", rename));
            }
            scene.ask_until(Reply::said("I see."), "I see.");
            let told = scene.answer(if is_one_reply { 2 } else { 3 }, "r1");
            assert!(told.contains("b.txt") && !told.contains("enamed to"), "{told}");
            scene.nvim.keys(&format!(":Caliban {decision} all<CR>"));
            scene.wait_hunks(0);
            assert_eq!(scene.on_disk("a.txt"), Some(nine()), "{told}");
            let b = (decision == "reject").then(|| "b\n".to_owned());
            assert_eq!(scene.on_disk("b.txt"), b, "{told}");
        }
    }
}
