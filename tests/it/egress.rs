//! The network of sandboxed commands: hosts that permission rules allow, through Caliban's proxy. Only loopback is
//! reached, so the sites are hosts that the setting `fetch_private` allows. On a system without the full sandbox these
//! tests say that they are skipped.

use crate::fetch::site::Site;
use crate::grants::call;
use crate::kit::reply::Reply;
use crate::kit::sandbox::is_full;
use crate::review::scene::Scene;
use serde_json::json;
use std::fs;
use std::net::{Ipv4Addr, TcpStream};

/// A command that asks the proxy for a page and prints the answer.
fn get(url: &str) -> String {
    format!("{PASS}; exec 3<>/dev/tcp/127.0.0.1/${{HTTP_PROXY##*:}}; {}", request(url))
}

/// Reads the name and the password from the address of the proxy.
const PASS: &str = "p=${HTTP_PROXY#http://}; p=$(printf %s \"${p%@*}\" | base64 -w0)";

fn request(url: &str) -> String {
    format!(
        "printf 'GET {url} HTTP/1.1\\r\\nProxy-Authorization: Basic %s\\r\\n\\r\\n' \"$p\" >&3; cat <&3"
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
        "[the sandbox refused connections: {} is not allowed by any permission rule. If the command needs a host",
        other.host()
    );
    assert!(said.contains(&told), "{said}");
    assert_eq!((site.asked().len(), other.asked().len()), (1, 0));
    scene.nvim.keys(":Caliban log permissions<CR>");
    // the window is narrow and breaks the line within the port
    scene.nvim.wait_screen("refused: connect to");
}

#[test]
fn everyday_programs_give_the_password_of_their_proxy() {
    if !is_full() {
        return;
    }
    let site = Site::start();
    site.page("/a", "text/plain", "the page");
    let scene = scene(&site, "ask", &[&site.host()]);
    let url = site.url("/a");
    let python = format!("import urllib.request as u; print(u.urlopen(\"{url}\").read())");
    for program in [format!("curl -s {url}"), format!("python3 -c '{python}'")] {
        // the site is on loopback, to which programs usually connect directly
        let said = shell(&scene, &format!("unset NO_PROXY no_proxy; {program}"));
        assert!(said.contains("the page"), "{program}: {said}");
    }
    let said = shell(&scene, &format!("unset NO_PROXY no_proxy; git ls-remote {url}"));
    assert!(site.asked().iter().any(|it| it.contains("/a/info/refs")), "{said}");
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

/// Lets the model run a command that names hosts, and answers the question with these keys.
fn connect(scene: &Scene, command: &str, hosts: &[String], keys: &str) -> (String, bool) {
    call(scene, "shell", json!({ "command": command, "hosts": hosts }), keys)
}

const ONCE: &str = ":Caliban approve<CR>";

#[test]
fn in_auto_mode_a_fetched_page_closes_the_hosts_of_rules_until_the_user_consents() {
    if !is_full() {
        return;
    }
    let site = Site::start();
    site.page("/a", "text/plain", "the page");
    let scene = scene(&site, "auto", &[&site.host()]);
    let get = get(&site.url("/a"));
    call(&scene, "fetch", json!({ "url": site.url("/a") }), ONCE);
    let said = shell(&scene, &get);
    assert!(
        said.contains("is closed, because untrusted text may be in the conversation"),
        "{said}"
    );
    assert!(said.contains("call shell again and name it in hosts: the user is asked]"), "{said}");
    assert_eq!(site.asked().len(), 1);
    // with the user's consent the command has its hosts again
    let (said, was_asked) = connect(&scene, &get, &[site.host()], ONCE);
    assert!(was_asked && said.contains("the page"), "{said}");
    // the consent was for one call
    let said = shell(&scene, &get);
    assert!(said.contains("HTTP/1.1 403 Forbidden"), "{said}");
    let (said, was_asked) = connect(&scene, &get, &[site.host()], ":Caliban approve session<CR>");
    assert!(was_asked && said.contains("the page"), "{said}");
    let (said, was_asked) = connect(&scene, &format!("{get} "), &[site.host()], "");
    assert!(!was_asked && said.contains("the page"), "{said}");
    scene.nvim.keys(":Caliban permissions<CR>");
    scene.nvim.wait_screen(&format!("2: connect from the sandbox to {}", site.host()));
    scene.nvim.keys("2<CR>");
    scene.nvim.wait_screen("You are asked again before: connect from the sandbox to");
    // Neovim may wait for a key below its list
    scene.nvim.keys("<Esc>");
    assert!(connect(&scene, &format!("{get}  "), &[site.host()], ONCE).1);
}

#[test]
fn in_auto_mode_commands_that_a_rule_allows_keep_their_hosts_after_other_output() {
    if !is_full() {
        return;
    }
    let site = Site::start();
    site.page("/a", "text/plain", "the page");
    let host = site.host();
    let config = format!(
        "{{ mode = 'auto', fetch_private = {{ '{host}' }}, permissions = {{ {{ allow = 'network', host = '{host}' }}, \
         {{ allow = 'shell', command = './build' }} }} }}"
    );
    let script = format!("#!/bin/bash\n{}\n", get(&site.url("/a")));
    let scene = Scene::start(|it| it.file("build", &script).config(&config));
    call(&scene, "shell", json!({ "command": "chmod +x build" }), ONCE);
    for _ in 0..2 {
        let said = shell(&scene, "./build");
        assert!(said.contains("the page"), "{said}");
    }
    let said = shell(&scene, "bash build");
    assert!(
        said.contains("is closed, because untrusted text may be in the conversation"),
        "{said}"
    );
    assert_eq!(site.asked().len(), 2);
}

#[test]
fn the_answer_always_to_a_question_about_a_host_stores_a_rule_for_the_host() {
    if !is_full() {
        return;
    }
    let site = Site::start();
    site.page("/a", "text/plain", "the page");
    let scene = scene(&site, "auto", &[]);
    let get = get(&site.url("/a"));
    let said = shell(&scene, &get);
    assert!(said.contains("is not allowed by any permission rule. If the command needs"), "{said}");
    scene.server.reply(Reply::new().call(
        "c1",
        "shell",
        json!({ "command": get, "hosts": [site.host()] }),
    ));
    scene.nvim.lua("require('caliban').ask('go on')", &[]);
    scene.nvim.wait_question();
    scene.nvim.wait_transcript(&format!("with connections to `{}`?", site.host()));
    scene
        .nvim
        .wait_transcript("Untrusted text in this conversation may have asked for the connection.");
    scene
        .nvim
        .wait_transcript(&format!("`a` lets this project's commands connect to `{}`", site.host()));
    scene.server.reply(Reply::said("Good."));
    scene.nvim.keys(":Caliban approve always<CR>");
    scene.wait_idle("Good.");
    assert_eq!(site.asked().len(), 1);
    scene.nvim.keys(":Caliban permissions<CR>");
    scene.nvim.wait_screen(&format!("rule: allow network `{}` (you chose always)", site.host()));
    scene.nvim.keys("<Esc>");
    scene.nvim.keys(":Caliban log permissions<CR>");
    scene.nvim.wait_screen("you allowed it always: ");
}

#[test]
fn a_call_that_names_a_denied_or_invalid_host_is_refused_without_a_question() {
    if !is_full() {
        return;
    }
    let site = Site::start();
    let config = format!(
        "{{ mode = 'auto', fetch_private = {{ '{0}' }}, permissions = {{ {{ deny = 'network', host = '{0}', reason = 'no' }} }} }}",
        site.host()
    );
    let scene = Scene::start(|it| it.config(&config));
    let (said, was_asked) = connect(&scene, &get(&site.url("/a")), &[site.host()], "");
    assert!(!was_asked && said.contains("A permission rule denies connections to"), "{said}");
    for bad in ["*", "*.example.org", "https://a.org", "a.org.", "0x7f.1", "b\u{fc}cher.org", ""] {
        let (said, was_asked) = connect(&scene, "true", &[bad.to_owned()], "");
        assert!(!was_asked && said.contains("is not a host. Write one like"), "{bad}: {said}");
    }
    assert_eq!(site.asked().len(), 0);
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

/// Waits until job 1 has answered a line, and returns the output of the job.
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
    // Caliban would remove this folder if it appeared while the job runs, because the job might have created it
    fs::create_dir_all(scene.nvim.setup.path(".caliban")).unwrap();
    call(&scene, "shell", asking(&site), ":Caliban approve<CR>");
    send(&scene);
    let said = answered(&scene);
    assert!(said.contains("the page"), "{said}");
    scene.nvim.keys(":Caliban mode auto<CR>");
    scene.nvim.wait_transcript("Mode auto");
    assert!(send(&scene), "a job with open hosts is not contained");
    assert!(answered(&scene).contains("the page"));
    let rule = "[[rule]]\ndeny = 'network'\nreason = 'no more'\n";
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
    // the proxy does not serve another command, which has another password
    let asks = format!("{PASS}; exec 3<>/dev/tcp/127.0.0.1/{port}; {}", request(&site.url("/a")));
    let said = shell(&scene, &asks);
    assert!(said.contains("HTTP/1.1 407 Proxy Authentication Required"), "{said}");
    let said = shell(&scene, &asks.replace(PASS, "p="));
    assert!(said.contains("HTTP/1.1 407 Proxy Authentication Required"), "{said}");
    assert_eq!(site.asked().len(), 0);
}

#[test]
fn the_password_of_a_command_for_its_proxy_is_taken_out_of_the_output() {
    if !is_full() {
        return;
    }
    let site = Site::start();
    let scene = scene(&site, "ask", &[&site.host()]);
    for background in [false, true] {
        let line = "p=${HTTP_PROXY#*//caliban:}; echo ${p%@*} > pass; echo \"of $HTTP_PROXY\"; echo $p | tr @ '\n'";
        let command = json!({ "command": line, "background": background });
        let (said, _) = call(&scene, "shell", command, ":Caliban approve<CR>");
        let pass = scene.on_disk("pass").unwrap();
        let pass = pass.trim_end();
        assert_eq!(pass.len(), 32, "{pass}");
        assert!(said.contains("of http://caliban:") && !said.contains(pass), "{said}");
        assert!(!scene.nvim.transcript().contains(pass));
        assert!(!scene.server.requests().iter().any(|it| it.json.to_string().contains(pass)));
    }
}

#[test]
fn caliban_permissions_network_explains_how_a_connection_is_judged() {
    let site = Site::start();
    let scene = scene(&site, "ask", &["*.example.org"]);
    let check = |named: &str, wanted: &str| {
        scene.nvim.keys(&format!(":Caliban permissions network {named}<CR>"));
        scene.nvim.wait_transcript(wanted);
    };
    check("a.example.org", "Commands in the full sandbox may connect to a.example.org:443.");
    check(
        "evil.org:80",
        "Commands may not connect to evil.org:80: it is not allowed by any permission rule",
    );
    scene.nvim.keys(":Caliban permissions<CR>");
    scene.nvim.wait_screen("allow network `*.example.org` (your settings)");
}
