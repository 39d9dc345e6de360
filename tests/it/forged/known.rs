//! Tests a forged session file which claims that the model knows certain files: only changes of files in the project
//! are reported.

use super::*;
use std::os::unix::fs::symlink;

#[test]
fn changes_of_a_file_outside_the_project_that_a_forged_session_names_are_not_reported() {
    let server = Server::start();
    let setup = one_turn(&server, Setup::new().file("a.txt", "one\n").anthropic(&server));
    let outside = setup.dir().join("id_rsa");
    fs::write(&outside, "secret one\n").unwrap();
    symlink(&outside, setup.path("link")).unwrap();
    forge(&setup, |file| {
        let paths = [setup.path("a.txt"), outside.clone(), setup.path("link")];
        let known = paths.map(|it| (it.to_str().unwrap().to_owned(), json!("")));
        file["known"] = known.into_iter().collect();
    });
    let nvim = opened(&setup);
    for n in ["two", "three", "four"] {
        server.reply(Reply::said(&format!("Now {n}.")));
        nvim.ask(n, &format!("Now {n}."));
        nvim.wait_phase("idle");
        fs::write(&outside, format!("secret {n}\n")).unwrap();
        fs::write(setup.path("a.txt"), format!("number {n}\n")).unwrap();
    }
    let told: String = server.requests().iter().map(|it| it.json.to_string()).collect();
    assert!(told.contains("number three"), "{told}");
    for secret in ["secret", "id_rsa", "link"] {
        assert!(!told.contains(secret), "{secret}: {told}");
    }
}

/// Symbolic links have the names of the lock and of other files in the sessions' folder. Nothing is written to their
/// targets.
#[test]
fn nothing_is_written_to_the_target_of_a_session_file_that_is_a_symbolic_link() {
    let server = Server::start();
    let setup = one_turn(&server, Setup::new().size(160, 40).anthropic(&server));
    let mine = setup.dir().join("mine.txt");
    fs::write(&mine, "all of mine\n").unwrap();
    for name in ["main.lock", "history", "last", "index", "main.draft"] {
        let path = setup.sessions().join(name);
        let _ = fs::remove_file(&path);
        symlink(&mine, path).unwrap();
    }
    let nvim = Nvim::start(&setup);
    nvim.keys(":Caliban<CR>");
    nvim.wait_phase("idle");
    server.reply(Reply::said("I am here."));
    nvim.ask("and?", "I am here.");
    assert_eq!(fs::read_to_string(&mine).unwrap(), "all of mine\n");
}
