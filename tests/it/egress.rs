//! The network of sandboxed commands: hosts that permission rules allow, through Caliban's proxy. Only loopback is
//! reached, so the sites are hosts that the setting `fetch_private` allows. On a system without the full sandbox these
//! tests do nothing.

use crate::fetch::site::Site;
use crate::grants::call;
use crate::review::scene::Scene;
use caliban::sandbox::{Strength, probed};
use serde_json::json;
use std::fs;
use std::net::{Ipv4Addr, TcpStream};
use std::path::Path;

fn is_full() -> bool {
    probed(Path::new(env!("CARGO_BIN_EXE_caliban"))) == Some(Strength::Full)
}

/// A command that asks the proxy for a page and prints the answer.
fn get(url: &str) -> String {
    format!(
        "exec 3<>/dev/tcp/127.0.0.1/${{HTTP_PROXY##*:}}; printf 'GET {url} HTTP/1.1\\r\\n\\r\\n' >&3; cat <&3"
    )
}

/// A chat in which rules allow commands to reach these hosts.
fn scene(site: &Site, mode: &str, hosts: &[&str]) -> Scene {
    let rules: Vec<String> =
        hosts.iter().map(|it| format!("{{ allow = 'network', host = '{it}' }}")).collect();
    let config = format!(
        "{{ mode = '{mode}', fetch_private = {{ '{}' }}, permissions = {{ {} }} }}",
        site.host(),
        rules.join(", ")
    );
    Scene::start(|it| it.config(&config))
}

fn shell(scene: &Scene, command: &str) -> String {
    call(scene, "shell", json!({ "command": command }), ":Caliban approve<CR>").0
}

#[test]
fn a_command_reaches_a_host_that_a_rule_allows_and_no_other() {
    if !is_full() {
        return;
    }
    let (site, other) = (Site::start(), Site::start());
    site.page("/a", "text/plain", "the page");
    let scene = scene(&site, "ask", &[&site.host()]);
    let said = shell(&scene, &get(&site.url("/a")));
    assert!(said.contains("200 OK") && said.contains("the page"), "{said}");
    assert!(!said.contains("refused connections"), "{said}");
    let said = shell(&scene, &get(&other.url("/a")));
    assert!(said.contains("HTTP/1.1 403 Forbidden"), "{said}");
    let told = format!(
        "[the sandbox refused connections: {} is not allowed by a permission rule. The user can allow hosts by rules",
        other.host()
    );
    assert!(said.contains(&told), "{said}");
    assert_eq!((site.asked().len(), other.asked().len()), (1, 0));
    scene.nvim.keys(":Caliban log permissions<CR>");
    // the window is narrow and breaks the line within the port
    scene.nvim.wait_screen("refused: connect to 127.0.0.1:");
}

#[test]
fn a_command_reaches_no_private_address_although_a_rule_allows_its_host() {
    if !is_full() {
        return;
    }
    let (site, other) = (Site::start(), Site::start());
    let by_name = other.by_name("/a");
    let name = by_name.trim_start_matches("http://").trim_end_matches("/a");
    let scene = scene(&site, "ask", &[&other.host(), name]);
    for url in [other.url("/a"), by_name.clone()] {
        let said = shell(&scene, &get(&url));
        assert!(said.contains("which is not a public address"), "{said}");
    }
    assert_eq!(other.asked().len(), 0);
}

#[test]
fn in_auto_mode_rules_open_no_host_once_a_strangers_text_has_come() {
    if !is_full() {
        return;
    }
    let site = Site::start();
    site.page("/a", "text/plain", "the page");
    let scene = scene(&site, "auto", &[&site.host()]);
    let said = shell(&scene, &get(&site.url("/a")));
    assert!(said.contains("the page"), "{said}");
    let said = shell(&scene, &get(&site.url("/a")));
    assert!(said.contains("is closed, because a stranger's text is in the conversation"), "{said}");
    assert_eq!(site.asked().len(), 1);
    // with the user's consent the command has its hosts again
    scene.nvim.keys(":Caliban mode ask<CR>");
    scene.nvim.wait_transcript("Mode ask");
    let said = shell(&scene, &get(&site.url("/a")));
    assert!(said.contains("the page"), "{said}");
}

/// A job that asks the proxy for a page whenever it gets a line.
fn asking(site: &Site) -> serde_json::Value {
    let command =
        format!("echo ready; while read x; do ({}); echo done; done", get(&site.url("/a")));
    json!({ "command": command, "background": true })
}

/// Sends a line to job 1. Returns whether there was a question.
fn send(scene: &Scene) -> bool {
    call(scene, "job_input", json!({ "id": 1, "text": "go\n" }), ":Caliban approve<CR>").1
}

/// The output of job 1 when it has answered a line.
fn answered(scene: &Scene) -> String {
    let mut all = String::new();
    while !all.contains("done") {
        let read = json!({ "action": "read", "id": 1, "wait_s": 600 });
        all += &call(scene, "job", read, "").0;
    }
    all
}

#[test]
fn a_job_keeps_its_hosts_only_while_the_rules_allow_them() {
    if !is_full() {
        return;
    }
    let site = Site::start();
    site.page("/a", "text/plain", "the page");
    let scene = scene(&site, "ask", &[&site.host()]);
    call(&scene, "shell", asking(&site), ":Caliban approve<CR>");
    send(&scene);
    let said = answered(&scene);
    assert!(said.contains("the page"), "{said}");
    scene.nvim.keys(":Caliban mode auto<CR>");
    scene.nvim.wait_transcript("Mode auto");
    assert!(send(&scene), "a job with open hosts is not contained");
    assert!(answered(&scene).contains("the page"));
    let rule = "[[rule]]\ndeny = 'network'\nreason = 'no more'\n";
    fs::create_dir_all(scene.nvim.setup.path(".caliban")).unwrap();
    fs::write(scene.nvim.setup.path(".caliban/permissions.toml"), rule).unwrap();
    send(&scene);
    let said = answered(&scene) + &call(&scene, "job", json!({ "action": "read", "id": 1 }), "").0;
    assert!(said.contains("is denied by a permission rule: no more"), "{said}");
    assert_eq!(site.asked().len(), 2);
}

#[test]
fn in_auto_mode_a_job_without_consent_reaches_no_host() {
    if !is_full() {
        return;
    }
    let site = Site::start();
    let scene = scene(&site, "auto", &[&site.host()]);
    let (said, was_asked) = call(&scene, "shell", asking(&site), "");
    assert!(said.starts_with("ready\n") && !was_asked, "{said}");
    assert!(!send(&scene));
    let said = answered(&scene);
    assert!(said.contains("HTTP/1.1 403 Forbidden"), "{said}");
    assert_eq!(site.asked().len(), 0);
}

#[test]
fn neither_a_process_outside_nor_another_command_reaches_the_proxy_of_a_command() {
    if !is_full() {
        return;
    }
    let site = Site::start();
    let scene = scene(&site, "ask", &[&site.host()]);
    let command = json!({ "command": "echo port ${HTTP_PROXY##*:}; read x", "background": true });
    let (said, _) = call(&scene, "shell", command, ":Caliban approve<CR>");
    let port = said.lines().find_map(|it| it.strip_prefix("port ")).unwrap().parse().unwrap();
    let connects = TcpStream::connect((Ipv4Addr::LOCALHOST, port));
    assert!(connects.is_err(), "{port}");
    // nor does another command
    let said = shell(&scene, &format!("exec 3<>/dev/tcp/127.0.0.1/{port} && echo connected"));
    assert!(said.contains("Connection refused"), "{said}");
}

#[test]
fn the_user_can_ask_how_a_connection_is_judged() {
    let site = Site::start();
    let scene = scene(&site, "ask", &["*.example.org"]);
    let check = |named: &str, wanted: &str| {
        scene.nvim.keys(&format!(":Caliban permissions network {named}<CR>"));
        scene.nvim.wait_transcript(wanted);
    };
    check("a.example.org", "Commands in the full sandbox may connect to a.example.org:443.");
    check(
        "evil.org:80",
        "Commands may not connect to evil.org:80: it is not allowed by a permission rule",
    );
    scene.nvim.keys(":Caliban permissions<CR>");
    scene.nvim.wait_screen("allow network `*.example.org` (your settings)");
}
