//! A run on a disk that gets full: a file that cannot be written whole stays as it was.

use crate::kit::reply::Reply;
use crate::kit::sandbox::is_full;
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use crate::run::Ran;
use serde_json::json;
use std::process::Command;

/// Runs the words after it in a copy of the project on a disk of its own of 600 kB, and shows how the copy differs then.
const SCRIPT: &str = r#"set -e
cp -a "$PWD" "$PWD.seed"; mount -t tmpfs -o size=600k tmpfs "$PWD"; cp -a "$PWD.seed/." "$PWD"; cd "$PWD"
{ yes | head -c 900000 > filler; } 2> /dev/null || [ "$FILL" = yes ] || rm filler
"$@"; code=$?
rm -f filler; diff -rq "$PWD.seed" "$PWD" && echo same
exit $code"#;

fn run(setup: &Setup, fill: &str) -> Ran {
    let program = setup.program(&["run", "--mode", "auto-edit", "--ephemeral", "go"]);
    let mut command = Command::new("unshare");
    command.args(["-Urm", "bash", "-c", SCRIPT, "bash"]).arg(program.get_program());
    command.args(program.get_args()).current_dir(program.get_current_dir().unwrap()).env_clear();
    for (name, value) in program.get_envs() {
        command.env(name, value.unwrap_or_default());
    }
    Ran::of(command.env("FILL", fill))
}

#[test]
fn a_file_that_the_disk_has_no_room_for_stays_as_it_was() {
    if !is_full() {
        return;
    }
    let lines: Vec<String> =
        (0..3_000).map(|it| format!("precious {it} {}\n", "x".repeat(80))).collect();
    let lines = lines.concat();
    let long = "y".repeat(100) + "\n";
    for (fill, new) in [("no", long.repeat(4_000)), ("yes", "w".repeat(9_000))] {
        let server = Server::start();
        let setup = Setup::new().anthropic(&server).file("a.txt", &lines).file("b.txt", "s1\ns2\n");
        let edit = |id: &str, path: &str, old: &str, new: &str| {
            let input = json!({ "path": path, "edits": [{ "old": old, "new": new }] });
            server.reply(Reply::new().call(id, "edit", input));
        };
        server.reply(Reply::new().call("r1", "read", json!({ "path": "a.txt" })));
        server.reply(Reply::new().call("r2", "read", json!({ "path": "b.txt" })));
        edit("e1", "a.txt", "precious 5 ", &new);
        edit("e2", "b.txt", "s1", &"q".repeat(if fill == "yes" { 9_000 } else { 2 }));
        server.reply(Reply::said("Done."));
        let ran = run(&setup, fill);
        let all = server.requests();
        let said = all[3].answer("e1");
        assert!(
            said.contains("a.txt was not changed: no space left on device"),
            "{said}\n{}",
            ran.err
        );
        // the small change fits on the one disk
        let second = all[4].answer("e2");
        assert_eq!(second.contains("no space left"), fill == "yes", "{second}");
        assert!(!ran.out.contains("a.txt differ"), "{}", ran.out);
        assert_eq!(ran.out.contains("same"), fill == "yes", "{}\n{}", ran.out, ran.err);
    }
}
