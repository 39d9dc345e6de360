//! Times are shown in the user's time zone.

use super::names::talked;
use super::*;
use std::time::{Duration, SystemTime};

#[test]
fn a_conversation_open_elsewhere_is_shown_with_the_local_time() {
    let server = Server::start();
    // a time zone fourteen hours ahead of UTC
    let setup = wide().env("TZ", "XXX-14").anthropic(&server);
    let first = talked(&setup, &server, "one", "The first.");
    let second = Nvim::start(&setup);
    second.keys(":Caliban<CR>");
    let head = format!("main is open in another Neovim (process {}, since ", first.pid());
    second.wait_screen(&head);
    let screen = second.screen();
    let (_, rest) = screen.split_once(&head).unwrap();
    let (time, _) = rest.split_once(')').unwrap();
    let (day, clock) = time.split_once(' ').unwrap();
    let shown = humantime::parse_rfc3339(&format!("{day}T{clock}:00Z")).unwrap();
    let ahead = shown.duration_since(SystemTime::now()).unwrap();
    let hours = |it: u64| Duration::from_secs(it * 3600);
    assert!(hours(13) < ahead && ahead < hours(15), "{time}");
    second.keys("<CR>");
}

#[test]
fn the_log_of_permissions_has_local_times_with_their_offset() {
    let server = Server::start();
    server.reply(Reply::new().call("c1", "shell", serde_json::json!({ "command": "touch made" })));
    server.reply(Reply::said("No."));
    let setup = wide().env("TZ", "XXX-14").anthropic(&server);
    let ran = setup.program(&["run", "go"]).output().unwrap();
    assert_eq!(ran.status.code(), Some(3));
    let log = std::fs::read_to_string(setup.sessions().join(".permissions.log")).unwrap();
    let (time, _) = log.split_once(" run ").unwrap();
    let (clock, offset) = time.split_at(19);
    assert_eq!(offset, "+14:00", "{log}");
    let shown = humantime::parse_rfc3339(&format!("{clock}Z")).unwrap();
    let ahead = shown.duration_since(SystemTime::now()).unwrap();
    assert!(ahead > Duration::from_secs(13 * 3600), "{log}");
}
