//! A conversation goes to another provider or address only after a question.

use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use crate::run::Ran;
use serde_json::json;
use std::fs;

/// Waits until the question about the provider is on the screen and accepts keys, and puts the cursor on it.
fn asked(nvim: &Nvim, text: &str) {
    let open = "local chat = require('caliban.chat.chats').current
        local it = chat and chat.question
        return it ~= nil and it.armed == true and not it.answered";
    nvim.wait_transcript(text);
    nvim.wait_screen("y send it there   n do not send it");
    nvim.wait(|it| it.lua_str(open) == "true", "a question that takes keys");
    nvim.go_to_transcript(text);
}

/// Two servers, and the settings of two companies that use them.
pub(crate) struct Two {
    one: Server,
    other: Server,
}

impl Two {
    pub(crate) fn start() -> Two {
        Two { one: Server::start(), other: Server::start() }
    }

    /// The settings with the companies of these names, of which the first one has the default model.
    fn config(&self, names: &[&str]) -> String {
        let provider = |name: &&str| {
            let server = if *name == "one" { &self.one } else { &self.other };
            format!(
                "{name} = {{ dialect = 'anthropic', base_url = '{}', key = 'env:KEY' }}",
                server.url()
            )
        };
        let all: Vec<String> = names.iter().map(provider).collect();
        let first = names[0];
        format!("{{ probe = false, model = '{first}/m', providers = {{ {} }} }}", all.join(", "))
    }

    fn setup(&self, names: &[&str]) -> Setup {
        Setup::new().env("KEY", "key-of-the-test").config(&self.config(names))
    }

    /// A project with a conversation that went to the first company, and settings that name only the second one.
    pub(crate) fn moved(&self) -> Setup {
        self.moved_after(Vec::new())
    }

    /// The same, with calls before the reply.
    fn moved_after(&self, calls: Vec<Reply>) -> Setup {
        let setup = self.setup(&["one"]).file("a.txt", "some words\n".repeat(3_000));
        let nvim = Nvim::start(&setup);
        for it in calls {
            self.one.reply(it);
        }
        self.one.reply(Reply::said("Of course."));
        nvim.ask("my secret plan", "Of course.");
        assert!(nvim.quit_with(":qa!<CR>").success());
        setup.config(&self.config(&["other"]))
    }
}

/// The host and port of a server.
fn address(server: &Server) -> String {
    server.url().trim_start_matches("http://").trim_end_matches('/').to_owned()
}

/// The question about the other company after the first one.
fn question(two: &Two) -> String {
    let (one, other) = (address(&two.one), address(&two.other));
    format!("? Send this conversation to other ({other})? So far it went to one ({one}).")
}

#[test]
fn a_conversation_goes_to_another_company_only_after_a_question() {
    let two = Two::start();
    let nvim = Nvim::start(&two.moved());
    nvim.keys(":Caliban<CR>igo on<C-s><Esc>");
    asked(&nvim, &question(&two));
    assert!(nvim.transcript().contains("about "), "{}", nvim.transcript());
    nvim.keys("n");
    nvim.wait_transcript("you have not agreed to send this conversation to other");
    nvim.wait_phase("idle");
    assert_eq!(two.other.count(), 0);
    // the next message asks again
    two.other.reply(Reply::said("Here I am."));
    nvim.keys(":Caliban<CR>igo on please<C-s><Esc>");
    asked(&nvim, &question(&two));
    assert_eq!(two.other.count(), 0);
    nvim.keys("y");
    nvim.wait_transcript("Here I am.");
    let sent = two.other.requests()[0].json.to_string();
    assert!(sent.contains("my secret plan") && sent.contains("go on please"), "{sent}");
    // no further question, also after a restart
    nvim.wait_phase("idle");
    nvim.keys(":Caliban restart<CR>");
    nvim.wait_phase("idle");
    two.other.reply(Reply::said("Still here."));
    nvim.ask("and now?", "Still here.");
    assert_eq!(two.one.count(), 1);
}

#[test]
fn the_question_can_be_stopped_and_a_chosen_model_needs_none() {
    let two = Two::start();
    let nvim = Nvim::start(&two.moved());
    nvim.keys(":Caliban<CR>igo on<C-s><Esc>");
    asked(&nvim, &question(&two));
    nvim.keys(":Caliban stop<CR>");
    nvim.wait_phase("idle");
    nvim.wait(|it| !it.transcript().contains(&question(&two)), "no question");
    assert_eq!(two.other.count(), 0);
    nvim.keys(":Caliban model other/n<CR>");
    two.other.reply(Reply::said("As you wish."));
    nvim.ask("and now?", "As you wish.");
}

#[test]
fn another_address_of_the_same_provider_is_asked_about() {
    let server = Server::start();
    let setup = Setup::new().anthropic(&server);
    let nvim = Nvim::start(&setup);
    server.reply(Reply::said("Of course."));
    nvim.ask("hello", "Of course.");
    assert!(nvim.quit_with(":qa!<CR>").success());
    let setup = setup.without("ANTHROPIC_BASE_URL").anthropic_elsewhere(&server);
    let nvim = Nvim::start(&setup);
    nvim.keys(":Caliban<CR>igo on<C-s><Esc>");
    asked(
        &nvim,
        &format!(
            "? Send this conversation to anthropic (models.test:80)? So far it went to anthropic ({}).",
            address(&server)
        ),
    );
    assert_eq!(server.count(), 1);
}

/// A program that has taken another port of this machine is another recipient.
#[test]
fn another_port_of_this_machine_is_asked_about() {
    let two = Two::start();
    let setup = two.setup(&["one"]);
    let nvim = Nvim::start(&setup);
    two.one.reply(Reply::said("Of course."));
    nvim.ask("hello", "Of course.");
    assert!(nvim.quit_with(":qa!<CR>").success());
    let config = two.config(&["one"]).replace(&two.one.url(), &two.other.url());
    let nvim = Nvim::start(&setup.config(&config));
    nvim.keys(":Caliban<CR>igo on<C-s><Esc>");
    let (one, other) = (address(&two.one), address(&two.other));
    asked(
        &nvim,
        &format!("? Send this conversation to one ({other})? So far it went to one ({one})."),
    );
    assert_eq!(two.other.count(), 0);
}

/// A file of an earlier version tells the provider only by the model of the last reply.
#[test]
fn a_session_file_without_the_provider_is_asked_about_too() {
    let two = Two::start();
    let setup = two.moved();
    let file = setup.sessions().join("main.json");
    let mut json: serde_json::Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    assert_eq!(json["sent_to"], json!({ "provider": "one", "host": address(&two.one) }));
    json.as_object_mut().unwrap().remove("sent_to");
    fs::write(&file, json.to_string()).unwrap();
    let nvim = Nvim::start(&setup);
    nvim.keys(":Caliban<CR>igo on<C-s><Esc>");
    asked(&nvim, "So far it went to one.");
    assert_eq!(two.other.count(), 0);
}

#[test]
fn a_run_sends_a_conversation_to_another_company_only_if_it_names_the_model() {
    let two = Two::start();
    let setup = two.moved();
    let settings = setup.dir().join("settings.json");
    let provider = json!({ "dialect": "anthropic", "base_url": two.other.url(), "key": "env:KEY" });
    let config = json!({ "probe": false, "model": "other/m", "providers": { "other": provider } });
    fs::write(&settings, config.to_string()).unwrap();
    let settings = settings.to_str().unwrap();
    let run = |more: &[&str]| {
        let arguments = [&["run", "--config", settings, "--session", "main"], more, &["go on"]];
        Ran::of(&mut setup.program(&arguments.concat()))
    };
    let ran = run(&[]);
    assert_eq!((ran.code, two.other.count()), (1, 0), "{}", ran.err);
    assert!(
        ran.err.contains("you have not agreed to send this conversation to other"),
        "{}",
        ran.err
    );
    two.other.reply(Reply::said("Here I am."));
    let ran = run(&["--model", "other/m"]);
    assert_eq!((ran.code, two.other.count()), (0, 1), "{}", ran.err);
}

#[test]
fn a_subagent_of_another_company_is_asked_about() {
    for (key, count) in [("n", 0), ("y", 1)] {
        let two = Two::start();
        let config = two.config(&["one", "other"]);
        let config = config.replace("{ probe", "{ subagent_model = 'other/m', probe");
        let nvim = Nvim::start(&two.setup(&["one"]).config(&config));
        let task = json!({ "description": "Look", "prompt": "Look around." });
        two.one.reply(Reply::new().call("t1", "task", task));
        two.one.reply(Reply::said("I see."));
        two.other.reply(Reply::said("Looked."));
        nvim.keys(":Caliban<CR>igo<C-s><Esc>");
        let asked = format!("Send this conversation to other ({})?", address(&two.other));
        nvim.wait_transcript(&asked);
        nvim.wait_question();
        nvim.go_to_transcript(&asked);
        assert_eq!(two.other.count(), 0);
        nvim.keys(key);
        nvim.wait_transcript("I see.");
        nvim.wait_phase("idle");
        assert_eq!(two.other.count(), count, "{key}");
    }
}

/// Three subagents in one reply, and another one later.
#[test]
fn subagents_of_another_company_ask_once_together() {
    for (key, count) in [("n", 0), ("y", 4)] {
        let two = Two::start();
        let config = two.config(&["one", "other"]);
        let config = config.replace("{ probe", "{ subagent_model = 'other/m', probe");
        let nvim = Nvim::start(&two.setup(&["one"]).config(&config));
        let task = |n: u32| json!({ "description": "Look", "prompt": format!("Look around {n}.") });
        two.one.reply(Reply::new().call("t1", "task", task(1)).call("t2", "task", task(2)).call(
            "t3",
            "task",
            task(3),
        ));
        two.one.reply(Reply::new().call("t4", "task", task(4)));
        two.one.reply(Reply::said("I see."));
        two.other.otherwise(Reply::said("Looked."));
        nvim.keys(":Caliban<CR>igo<C-s><Esc>");
        let asked = format!("Send this conversation to other ({})?", address(&two.other));
        nvim.wait_transcript(&asked);
        nvim.wait_question();
        let waiting = "waits for your answer";
        nvim.wait(|it| it.transcript().matches(waiting).count() == 3, "three subagents that wait");
        assert_eq!((nvim.shown(&asked), two.other.count()), (1, 0));
        nvim.go_to_transcript(&asked);
        nvim.keys(key);
        nvim.wait_transcript("I see.");
        nvim.wait_phase("idle");
        assert_eq!((nvim.shown(&asked), two.other.count()), (0, count), "{key}");
        // after a refusal the next turn asks again
        two.one.reply(Reply::new().call("t5", "task", task(5)));
        two.one.reply(Reply::said("I see more."));
        nvim.keys(":Caliban<CR>imore<C-s><Esc>");
        if key == "n" {
            nvim.wait_transcript(&asked);
            nvim.wait_question();
            nvim.go_to_transcript(&asked);
            nvim.keys("n");
        }
        nvim.wait_transcript("I see more.");
    }
}

#[test]
fn no_summary_is_asked_of_another_company_without_an_agreement() {
    let two = Two::start();
    let read = Reply::new().call("c1", "read", json!({ "path": "a.txt" }));
    let nvim = Nvim::start(&two.moved_after(vec![read]));
    nvim.keys(":Caliban<CR>i/compact<C-s><Esc>");
    asked(&nvim, &question(&two));
    nvim.keys("n");
    nvim.wait_transcript("you have not agreed to send this conversation to other");
    nvim.wait_phase("idle");
    assert_eq!(two.other.count(), 0);
    nvim.keys(":Caliban<CR>i/compact<C-s><Esc>");
    asked(&nvim, &question(&two));
    two.other.reply(Reply::said(&crate::compaction::summary("A plan.")));
    nvim.keys("y");
    nvim.wait_transcript("Compacted");
    assert!(two.other.requests()[0].json.to_string().contains("my secret plan"));
}

/// The first turn had a model of another company, which the conversation has not for itself.
#[test]
fn no_title_is_asked_of_another_company_without_an_agreement() {
    let two = Two::start();
    let setup = two.setup(&["one", "other"]).titled();
    let setup = setup.file(".caliban/commands/look.md", "---\nmodel: other/m\n---\nLook around.\n");
    let nvim = Nvim::start(&setup);
    two.other.reply(Reply::said("Looked."));
    two.one.otherwise(Reply::said("Here I am."));
    nvim.ask("/look", "Looked.");
    nvim.keys(":Caliban<CR>igo on<C-s><Esc>");
    let to = format!("? Send this conversation to one ({})? So far it went to", address(&two.one));
    asked(&nvim, &to);
    assert_eq!((two.one.count(), two.other.count()), (0, 1));
    nvim.keys("y");
    nvim.wait_transcript("Here I am.");
    assert!(two.one.requests()[0].json.to_string().contains("go on"));
}

#[test]
fn a_command_with_a_model_of_another_company_is_asked_about() {
    let two = Two::start();
    let setup = two.setup(&["one", "other"]);
    let setup = setup.file(".caliban/commands/look.md", "---\nmodel: other/m\n---\nLook around.\n");
    let nvim = Nvim::start(&setup);
    two.one.reply(Reply::said("Of course."));
    nvim.ask("hello", "Of course.");
    nvim.keys(":Caliban<CR>i/look<C-s><Esc>");
    asked(&nvim, &question(&two));
    nvim.keys("n");
    nvim.wait_transcript("you have not agreed to send this conversation to other");
    nvim.wait_phase("idle");
    assert_eq!(two.other.count(), 0);
    // the conversation's own model needs no question
    two.one.reply(Reply::said("Here I am."));
    nvim.ask("and now?", "Here I am.");
}
