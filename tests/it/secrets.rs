//! Secrets: commands do not get them, and a secret that a command or a file shows is replaced.

use crate::grants::call;
use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use crate::review::scene::Scene;
use serde_json::json;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// The user's key. It is split in pieces, so that secret scanners do not report this file.
fn key() -> String {
    ["sk-made", "-up-for-a-test", "-08154711"].concat()
}

fn of_groq() -> String {
    ["gs", "k_0a1b2c3d4e5f6g7h8i9j0k1l2m3n"].concat()
}

fn setup(server: &Server) -> Setup {
    Setup::new().anthropic(server).env("ANTHROPIC_API_KEY", &key()).size(160, 60)
}

/// Makes the model run a command, which the user approves. Returns the answer.
fn run(nvim: &Nvim, server: &Server, command: &str) -> String {
    server.reply(Reply::new().call("c1", "shell", json!({ "command": command })));
    server.reply(Reply::said("That was it."));
    nvim.lua("require('caliban').ask('go')", &[]);
    nvim.wait_question();
    nvim.lua("require('caliban').approve()", &[]);
    nvim.wait_transcript("That was it.");
    nvim.wait_phase("idle");
    server.requests().pop().unwrap().answer("c1")
}

/// The files below a folder that contain a text.
fn holding(folder: &Path, text: &str) -> Vec<String> {
    let walk = ignore::WalkBuilder::new(folder).hidden(false).ignore(false).build().flatten();
    let holds = |path: &Path| {
        let bytes = fs::read(path).unwrap_or_default();
        String::from_utf8_lossy(&bytes).contains(text)
    };
    let found = walk.filter(|it| holds(it.path()));
    found.map(|it| it.path().display().to_string()).collect()
}

/// Checks that the text is not on the screen, in a buffer, in a request, or in a file that Neovim or the program wrote.
#[track_caller]
fn is_nowhere(nvim: &Nvim, server: &Server, text: &str) {
    assert!(!nvim.screen().contains(text), "{}", nvim.screen());
    let all = "local all = {}
        for _, buf in ipairs(vim.api.nvim_list_bufs()) do
          vim.list_extend(all, vim.api.nvim_buf_get_lines(buf, 0, -1, false))
        end
        return table.concat(all, '\\n') .. vim.fn.execute('messages')";
    assert!(!nvim.lua_str(all).contains(text), "{}", nvim.lua_str(all));
    for request in server.requests() {
        assert!(!request.json.to_string().contains(text));
    }
    for folder in ["data", "cache", "state", "tmp"] {
        assert_eq!(holding(&nvim.setup.dir().join(folder), text), Vec::<String>::new());
    }
}

#[test]
fn secret_variables_are_withheld_from_commands_unless_passed_on() {
    let server = Server::start();
    let mut setup = setup(&server).config("{ pass_env = { 'SENTRY_DSN' } }");
    let by_name = [
        "DB_PASS",
        "CI_PAT",
        "MYSQL_PWD",
        "SOMEAPIKEY",
        "DEPLOY_KEY2",
        "DATABASE_URL",
        "OTHER_DSN",
        "MY_CREDENTIALS",
        "REGISTRY_AUTH",
        "npm_config__auth",
    ];
    for name in by_name {
        setup = setup.env(name, "a-value");
    }
    let used = format!("x {}", key());
    let by_value = [("CACHE", "redis://:word@h/0"), ("PLAIN", &of_groq()), ("LINE", used.as_str())];
    for (name, value) in by_value {
        setup = setup.env(name, value);
    }
    let setup = setup.env("SENTRY_DSN", "https://me:word@sentry").env("HARMLESS", "yes");
    let nvim = Nvim::start(&setup);
    let answer = run(&nvim, &server, "env");
    let has = |name: &str| answer.lines().any(|it| it.starts_with(&format!("{name}=")));
    assert!(has("HARMLESS") && has("SENTRY_DSN") && has("PATH"), "{answer}");
    for name in by_name.into_iter().chain(by_value.map(|it| it.0)).chain(["ANTHROPIC_API_KEY"]) {
        assert!(!has(name), "{name}: {answer}");
    }
}

#[test]
fn the_health_check_names_withheld_variables_without_values() {
    let server = Server::start();
    let setup = setup(&server).config("{ pass_env = { 'SENTRY_DSN' } }");
    let setup = setup.env("SENTRY_DSN", "https://me:word@sentry").env("DB_PASS", "hidden-word");
    let nvim = Nvim::start(&setup);
    nvim.keys(":checkhealth caliban<CR>");
    nvim.wait_screen("withheld from commands: ANTHROPIC_API_KEY, DB_PASS");
    nvim.wait_screen("passed on to commands by pass_env: SENTRY_DSN");
    for text in ["hidden-word", "me:word", &key()] {
        is_nowhere(&nvim, &server, text);
    }
}

#[test]
fn a_malformed_pass_env_is_reported_with_its_path() {
    let server = Server::start();
    let nvim = Nvim::start(&setup(&server).config("{ pass_env = { 'A=B' } }"));
    nvim.keys(":Caliban<CR>");
    nvim.wait_screen("caliban: config.pass_env: expected a list of variable names, got a table");
}

#[cfg(target_os = "linux")]
#[test]
fn a_key_read_from_another_process_is_replaced() {
    let server = Server::start();
    let secret = ["word", "-of-the-database-5ecre7a9"].concat();
    let setup = setup(&server).env("DB_PASSWORD", &secret).config("{ sandbox = false }");
    let nvim = Nvim::start(&setup);
    // the environments of Neovim and the program contain the key; the environment of the supervisor does not
    let command = "tr '\\0' '\\n' < /proc/$PPID/environ | grep -c 'made-up' ; \
        for it in /proc/[0-9]*/environ; do tr '\\0' '\\n' < $it | grep -aE '^(ANTHROPIC_API_KEY=.*made-up|ANTHROPIC_API_KEY=.*secret|DB_PASSWORD=.*database)'; done 2>/dev/null; true";
    let answer = run(&nvim, &server, command);
    assert!(answer.starts_with("0\n"), "{answer}");
    assert!(answer.contains("ANTHROPIC_API_KEY=[secret]\n"), "{answer}");
    assert!(answer.contains("DB_PASSWORD=[secret]\n"), "{answer}");
    assert!(answer.contains(" secrets were replaced by [secret]]"), "{answer}");
    nvim.go_to_transcript("▸ shell");
    nvim.keys("<CR>");
    nvim.wait_screen("ANTHROPIC_API_KEY=[secret]");
    is_nowhere(&nvim, &server, &key());
    is_nowhere(&nvim, &server, &secret);
    nvim.quit_with(":qa!<CR>");
    assert_eq!(holding(&setup_dir(&nvim, "data"), &key()), Vec::<String>::new());
}

fn setup_dir(nvim: &Nvim, folder: &str) -> std::path::PathBuf {
    nvim.setup.dir().join(folder)
}

#[test]
fn a_key_in_an_output_is_replaced_in_the_chat_the_answer_and_the_file() {
    let server = Server::start();
    let pem = ["-----BEGIN RSA ", "PRIVATE KEY-----\nMIIEpAIBAAKCAQEA7\n"].concat();
    let text = format!("{}\n{}\n{pem}", of_groq(), key());
    let nvim = Nvim::start(&setup(&server).file("keys.txt", text));
    nvim.keys(":Caliban<CR>");
    // the output has a key in two pieces, and then so much text that the rest goes to a file
    let command = "mkfifo go; head -c 9 keys.txt; tail -c +10 keys.txt; echo the \"end\"; \
        read x < go; seq 1 20000; cat keys.txt; echo";
    server.reply(Reply::new().call("c1", "shell", json!({ "command": command })));
    server.reply(Reply::said("That was it."));
    nvim.lua("require('caliban').ask('go')", &[]);
    nvim.wait_question();
    nvim.lua("require('caliban').approve()", &[]);
    nvim.wait_screen("the end");
    assert!(nvim.screen().contains("[secret]"), "{}", nvim.screen());
    for text in [of_groq(), key(), "MIIEpAIBAAK".to_owned()] {
        is_nowhere(&nvim, &server, &text);
    }
    fs::write(nvim.setup.path("go"), "\n").unwrap();
    nvim.wait_transcript("That was it.");
    let answer = server.requests()[1].answer("c1");
    assert!(answer.starts_with("[secret]\n[secret]\n[secret]\nthe end\n1\n2\n"), "{answer}");
    assert!(
        answer.contains("\n20000\n[secret]\n[secret]\n[secret]\n[6 secrets were replaced by "),
        "{answer}"
    );
    let folder = nvim.setup.dir().join("cache/caliban/outputs");
    let of_project = fs::read_dir(&folder).unwrap().next().unwrap().unwrap().path();
    let files: Vec<_> = fs::read_dir(&of_project).unwrap().flatten().collect();
    assert_eq!(files.len(), 1);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&folder), mode(&files[0].path())), (0o700, 0o600));
    for text in [of_groq(), key(), "MIIEpAIBAAK".to_owned()] {
        is_nowhere(&nvim, &server, &text);
    }
}

#[test]
fn a_key_in_a_file_is_replaced_and_its_other_text_kept() {
    let server = Server::start();
    let text = format!("first\nkey = {}\nother = {}\n", key(), of_groq());
    let nvim = Nvim::start(&setup(&server).file("a.txt", &text));
    server.reply(Reply::new().call("c1", "read", json!({ "path": "a.txt" })).call(
        "c2",
        "grep",
        json!({ "pattern": "key" }),
    ));
    server.reply(Reply::new().call(
        "c3",
        "edit",
        json!({ "path": "a.txt", "edits": [{ "old": "first", "new": "second" }] }),
    ));
    server.reply(Reply::said("I see."));
    nvim.lua("require('caliban').ask('look at @a.txt')", &[]);
    nvim.wait(|_| server.requests().len() == 2, "the answers");
    let requests = server.requests();
    let told = "[1 secret was replaced by [secret]]";
    let read = requests[1].answer("c1");
    assert!(read.contains("key = [secret]\n"), "{read}");
    assert!(read.contains(&of_groq()) && read.ends_with(told), "{read}");
    let found = requests[1].answer("c2");
    assert_eq!(found, format!("a.txt:2: key = [secret]\n{told}"));
    let mentioned = requests[0].json.to_string();
    assert!(mentioned.contains("key = [secret]") && mentioned.contains(&of_groq()), "{mentioned}");
    for request in &requests {
        assert!(!request.json.to_string().contains(&key()));
    }
    nvim.wait_screen("1 hunk");
    for folder in ["data", "cache"] {
        let holding = holding(&setup_dir(&nvim, folder), &key());
        // the texts that a rewind or a reopened review restores are kept unchanged
        let others =
            holding.iter().filter(|it| !it.contains(".checkpoints/") && !it.contains(".review-"));
        assert_eq!(others.collect::<Vec<_>>(), Vec::<&String>::new());
    }
}

#[test]
fn a_key_quoted_by_an_error_is_not_shown() {
    let key = key();
    let masked = format!("{}*****{}", &key[..7], &key[key.len() - 4..]);
    let part = &key[5..20];
    for said in [key.as_str(), &masked, part] {
        let server = Server::start();
        let message = format!("Incorrect API key provided: {said}. Look.");
        let body = json!({"error": {"type": "authentication_error", "message": message}});
        server.reply(Reply::raw(401, &[("content-type", "application/json")], body.to_string()));
        let nvim = Nvim::start(&setup(&server));
        nvim.ask("go", "refused the key: “Incorrect API key provided: [key]. Look”");
        is_nowhere(&nvim, &server, said);
    }
}

#[test]
fn only_the_user_can_read_the_debug_log_and_calibans_folders() {
    let server = Server::start();
    let setup = setup(&server);
    let mode =
        |path: &str| fs::metadata(setup.dir().join(path)).unwrap().permissions().mode() & 0o777;
    for folder in ["cache/caliban/outputs", "data/caliban/sessions"] {
        fs::create_dir_all(setup.dir().join(folder)).unwrap();
    }
    let open = [
        "cache/caliban",
        "cache/caliban/outputs",
        "data/caliban",
        "data/caliban/sessions",
        "cache/caliban/debug.log",
    ];
    fs::write(setup.dir().join("cache/caliban/debug.log"), "").unwrap();
    for path in open {
        let bits = if path.ends_with("debug.log") { 0o644 } else { 0o755 };
        fs::set_permissions(setup.dir().join(path), Permissions::from_mode(bits)).unwrap();
    }
    let nvim = Nvim::start(&setup);
    server.reply(Reply::said("Hi."));
    nvim.ask("go", "Hi.");
    assert_eq!(open.map(mode), [0o700, 0o700, 0o700, 0o700, 0o600]);
    nvim.quit_with(":qa!<CR>");
    // a folder and a log that the program creates get the same permissions
    fs::remove_dir_all(setup.dir().join("cache/caliban")).unwrap();
    let nvim = Nvim::start(&setup);
    server.reply(Reply::said("Hello."));
    nvim.ask("go", "Hello.");
    assert_eq!((mode("cache/caliban"), mode("cache/caliban/debug.log")), (0o700, 0o600));
}

#[cfg(target_os = "linux")]
#[test]
fn no_process_has_a_key_on_its_command_line() {
    let server = Server::start();
    // another test may have its key in a command
    let key = format!("{}-alone", key());
    let nvim = Nvim::start(&setup(&server).env("ANTHROPIC_API_KEY", &key));
    server.reply(Reply::new().call(
        "c1",
        "shell",
        json!({ "command": "sleep 900", "background": true }),
    ));
    server.reply(Reply::said("It runs."));
    nvim.lua("require('caliban').ask('go')", &[]);
    nvim.wait_question();
    nvim.lua("require('caliban').approve()", &[]);
    nvim.wait_transcript("It runs.");
    let line = |it: fs::DirEntry| fs::read(it.path().join("cmdline")).ok();
    let lines = || -> Vec<String> {
        let all = fs::read_dir("/proc").unwrap().flatten();
        all.filter_map(line).map(|it| String::from_utf8_lossy(&it).replace('\0', " ")).collect()
    };
    nvim.wait(|_| lines().iter().any(|it| it.contains("sleep 900")), "the process of the job");
    assert!(!lines().iter().any(|it| it.contains(&key)));
    is_nowhere(&nvim, &server, &key);
}

#[test]
fn the_tools_read_no_output_of_another_project() {
    let scene = Scene::start(|it| it);
    let outputs = scene.nvim.setup.dir().join("cache/caliban/outputs");
    for folder in [outputs.clone(), outputs.join("other-01234567")] {
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("x.txt"), "words of another project").unwrap();
    }
    let path = |it: &Path| json!({ "path": it });
    for (tool, input) in [
        ("read", path(&outputs.join("x.txt"))),
        ("read", path(&outputs.join("other-01234567/x.txt"))),
        ("list", path(&outputs)),
        ("grep", json!({ "pattern": "words", "path": outputs })),
    ] {
        let (said, was_asked) = call(&scene, tool, input, "");
        assert!(!was_asked && said.contains("is Caliban's own"), "{tool}: {said}");
        assert!(!said.contains("words of another"), "{tool}: {said}");
    }
}
