//! A model's questions to language servers.

use super::scene::{PATIENT, came, project, wait_came};
use crate::kit::chat::{DIALECTS, common};
use crate::kit::http::Request;
use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use expect_test::{Expect, expect};
use serde_json::{Value, json};

const SHAPES: &str = "def area(side):\n    return side * side\n\nBAD thing\nODD thing\n";
const MAIN: &str = "from shapes import area\n\nñé = '𝄞'; print(area(2))\n";

fn files(config: &str) -> Setup {
    Setup::new()
        .file("shapes.py", SHAPES)
        .file("main.py", MAIN)
        .file("notes.txt", "x\n")
        .config(config)
}

/// Lets the model make these calls in one reply, in a Neovim with these language servers. Returns each call and its
/// answer.
fn answered(setup: Setup, servers: &[Value], calls: &[(&str, Value)]) -> String {
    let server = Server::start();
    let mut reply = Reply::new();
    for (n, (tool, args)) in calls.iter().enumerate() {
        reply = reply.call(&format!("c{n}"), tool, args.clone());
    }
    server.reply(reply);
    server.reply(Reply::said("I see."));
    let nvim = Nvim::start(&project(setup, servers).anthropic(&server));
    nvim.ask("go", "I see.");
    let request = server.requests()[1].clone();
    let root = nvim.setup.path("").display().to_string();
    let mut said = String::new();
    for (n, (tool, args)) in calls.iter().enumerate() {
        let text = request.answer(&format!("c{n}")).replace(&root, "ROOT");
        said += &format!("> {tool} {args}\n{}\n", text.trim_end());
    }
    said
}

fn at(path: &str, line: u32, symbol: &str) -> Value {
    json!({"path": path, "line": line, "symbol": symbol})
}

#[test]
fn language_servers_answer_about_files_without_a_buffer() {
    let encodings = ["utf-8", "utf-16", "utf-32"];
    let given = encodings.map(|encoding| {
        answered(
            files(PATIENT),
            &[json!({"encoding": encoding})],
            &[
                ("definition", at("main.py", 3, "area")),
                ("references", at("main.py", 3, "area(2)")),
                ("hover", at("main.py", 3, "area")),
                ("symbols", json!({"path": "shapes.py"})),
                ("symbols", json!({"path": "main.py", "query": "are"})),
                ("diagnostics", json!({"path": "shapes.py"})),
                ("diagnostics", json!({"path": "main.py"})),
            ],
        )
    });
    expect![[r#"
        > definition {"path":"main.py","line":3,"symbol":"area"}
        shapes.py:1: def area(side):
        > references {"path":"main.py","line":3,"symbol":"area(2)"}
        main.py:1: from shapes import area
        main.py:3: ñé = '𝄞'; print(area(2))
        shapes.py:1: def area(side):
        > hover {"path":"main.py","line":3,"symbol":"area"}
        main.py:3: the word **area**
        > symbols {"path":"shapes.py"}
        shapes.py:1: function area
        > symbols {"path":"main.py","query":"are"}
        shapes.py:1: function area
        > diagnostics {"path":"shapes.py"}
        shapes.py:4: error: BAD is wrong (scripted0)
        shapes.py:5: warning: ODD is doubtful (scripted0)
        > diagnostics {"path":"main.py"}
        Nothing is reported.
    "#]]
    .assert_eq(common(&given));
}

#[test]
fn mentioned_diagnostics_go_with_the_message_in_every_dialect() {
    let said = DIALECTS.map(|dialect| {
        let server = Server::start();
        server.otherwise(Reply::said("I see."));
        let setup = files(PATIENT).size(120, 40).speaking(dialect, &server);
        let nvim = Nvim::start(&project(setup, &[json!({})]));
        nvim.keys(":edit shapes.py<CR>");
        nvim.wait(|it| it.lua_json("return #vim.diagnostic.get(0)") == 2, "the diagnostics");
        // `shapes.py` has diagnostics, `main.py` has none: from there, `@diagnostics` sends the diagnostics of the
        // whole project
        for count in 1..=2 {
            nvim.keys(":Caliban<CR>iwhat is wrong? @diagnostics");
            let is_sized = |it: &Nvim| {
                let screen = it.screen();
                let chip = screen.lines().rfind(|it| it.contains("▏@diagnostics"));
                chip.is_some_and(|it| it.contains("  2 lines  ") && it.contains(" tokens"))
            };
            nvim.wait(is_sized, "the size of the diagnostics");
            nvim.keys("<C-s><Esc>");
            server.wait_count(count);
            nvim.wait_phase("idle");
            nvim.keys("<C-w>t:edit main.py<CR>");
        }
        let of = |it: &Request| it.last_user_text().replace("\n\n", "\n");
        server.requests().iter().map(of).collect::<Vec<_>>().join("\n\n")
    });
    expect![[r#"
        <context kind="diagnostics" path="shapes.py">
        shapes.py:4: error: BAD is wrong (scripted0)
        shapes.py:5: warning: ODD is doubtful (scripted0)
        </context>
        what is wrong? @diagnostics

        <context kind="diagnostics" path="all files">
        shapes.py:4: error: BAD is wrong (scripted0)
        shapes.py:5: warning: ODD is doubtful (scripted0)
        </context>
        what is wrong? @diagnostics"#]]
    .assert_eq(common(&said));
}

#[test]
fn the_definition_of_a_mentioned_symbol_goes_with_the_message_in_every_dialect() {
    let said = DIALECTS.map(|dialect| {
        let server = Server::start();
        server.otherwise(Reply::said("I see."));
        let setup = files(PATIENT).size(160, 40).speaking(dialect, &server);
        let nvim = Nvim::start(&project(setup, &[json!({})]));
        nvim.keys(":edit main.py<CR>:Caliban<CR>iwhat is @symbol:area?<Esc>");
        nvim.wait_screen("▏@symbol:area  shapes.py:1-2  2 lines  10 tokens");
        nvim.keys("<CR>");
        server.wait_count(1);
        nvim.wait_phase("idle");
        server.requests()[0].last_user_text().replace(">\n\n", ">\n")
    });
    expect![[r#"
        <context kind="file" path="shapes.py" lines="1-2">
        def area(side):
            return side * side
        </context>
        what is @symbol:area?"#]]
    .assert_eq(common(&said));
}

#[test]
fn mentioned_symbols_are_completed_by_the_language_servers() {
    let server = Server::start();
    server.otherwise(Reply::said("I see."));
    let setup = files(PATIENT).size(200, 40);
    let nvim = Nvim::start(&project(setup, &[json!({})]).anthropic(&server));
    nvim.keys(":edit main.py<CR>:Caliban<CR>isee @sy");
    nvim.wait_screen("the definition of a symbol, by its name");
    nvim.keys("mbol:ar");
    nvim.wait_screen("function area  shapes.py:1");
    nvim.keys("<C-n><C-y> now<C-s>");
    server.wait_count(1);
    let said = server.requests()[0].last_user_text();
    assert!(said.contains("def area(side):") && said.ends_with("see @symbol:area now"), "{said}");
}

#[test]
fn files_are_completed_while_a_language_server_is_asked_for_symbols() {
    let silent = json!({ "silent": ["workspace/symbol"] });
    let setup = files(PATIENT).size(200, 40);
    let nvim = Nvim::start(&project(setup, &[silent]));
    nvim.keys(":edit main.py<CR>:Caliban<CR>i@symbol:ar");
    wait_came(&nvim, "workspace/symbol");
    nvim.keys("<C-u>@not");
    nvim.wait_screen("notes.txt");
}

#[test]
fn a_mentioned_symbol_that_no_server_knows_gives_the_message_back() {
    let server = Server::start();
    let setup = files(PATIENT).size(200, 40);
    let nvim = Nvim::start(&project(setup, &[json!({})]).anthropic(&server));
    for (file, symbol, why) in [
        ("notes.txt", "area", "No language server"),
        ("main.py", "none", "The language server knows no symbol of this name."),
        ("main.py", "are", "No symbol has this name. Similar ones: area."),
    ] {
        nvim.keys(&format!(":edit {file}<CR>:Caliban<CR>isee @symbol:{symbol}<C-s><Esc>"));
        nvim.wait_screen(&format!("! @symbol:{symbol}: {why}"));
        nvim.wait(|it| it.composer() == format!("see @symbol:{symbol}"), "the message given back");
        nvim.keys(":%delete<CR><C-w>t");
    }
    assert_eq!(server.count(), 0);
}

#[test]
fn a_wrong_position_is_answered_with_a_correction() {
    let all = [
        ("definition", at("main.py", 2, "area")),
        ("definition", at("main.py", 3, "nowhere")),
        ("definition", at("main.py", 3, " ")),
        ("definition", at("main.py", 30, "area")),
        ("definition", at("nothing.py", 3, "area")),
        ("diagnostics", json!({"path": "."})),
        ("symbols", json!({})),
    ];
    let said = answered(files(PATIENT), &[json!({})], &all);
    expect![[r#"
        > definition {"path":"main.py","line":2,"symbol":"area"}
        `area` is not on line 2, which is empty
        The symbol is on line 1, 3.
        > definition {"path":"main.py","line":3,"symbol":"nowhere"}
        `nowhere` is not on line 3, which reads: ñé = '𝄞'; print(area(2))
        The symbol is nowhere in the file.
        > definition {"path":"main.py","line":3,"symbol":" "}
        symbol: it is empty. Give the name as it is written on that line.
        > definition {"path":"main.py","line":30,"symbol":"area"}
        line: the file has 3 lines.
        > definition {"path":"nothing.py","line":3,"symbol":"area"}
        path: `nothing.py` is not on disk.
        > diagnostics {"path":"."}
        path: `.` is not a file.
        > symbols {}
        Name a path, or a query for symbols of the whole project.
    "#]]
    .assert_eq(&said);
}

#[test]
fn the_answers_of_two_language_servers_are_joined_and_name_each_place_once() {
    let servers = [json!({"name": "one"}), json!({"name": "two", "lacks": ["textDocument/hover"]})];
    let all = [
        ("references", at("main.py", 1, "area")),
        ("hover", at("main.py", 1, "area")),
        ("diagnostics", json!({"path": "shapes.py"})),
    ];
    expect![[r#"
        > references {"path":"main.py","line":1,"symbol":"area"}
        main.py:1: from shapes import area
        main.py:3: ñé = '𝄞'; print(area(2))
        shapes.py:1: def area(side):
        > hover {"path":"main.py","line":1,"symbol":"area"}
        main.py:1: the word **area**
        > diagnostics {"path":"shapes.py"}
        shapes.py:4: error: BAD is wrong (one)
        shapes.py:4: error: BAD is wrong (two)
        shapes.py:5: warning: ODD is doubtful (one)
        shapes.py:5: warning: ODD is doubtful (two)
    "#]]
    .assert_eq(&answered(files(PATIENT), &servers, &all));
}

#[test]
fn language_servers_that_do_not_answer_are_named() {
    let check = |server: Value, all: &[(&str, Value)], expected: Expect| {
        expected.assert_eq(&answered(files(PATIENT), &[server], all));
    };
    check(
        json!({"lacks": ["textDocument/definition", "workspace/symbol"]}),
        &[
            ("definition", at("main.py", 1, "area")),
            ("symbols", json!({"path": "main.py", "query": "a"})),
            ("diagnostics", json!({"path": "notes.txt"})),
        ],
        expect![[r#"
            > definition {"path":"main.py","line":1,"symbol":"area"}
            scripted0 does not support definitions.
            > symbols {"path":"main.py","query":"a"}
            scripted0 does not support the symbols of a project.
            > diagnostics {"path":"notes.txt"}
            No language server is attached to notes.txt.
        "#]],
    );
    check(
        json!({"dies": "textDocument/definition"}),
        &[("definition", at("main.py", 1, "area"))],
        expect![[r#"
            > definition {"path":"main.py","line":1,"symbol":"area"}
            [scripted0 ended before it answered]
        "#]],
    );
    check(
        json!({"pull": true, "dies": "textDocument/diagnostic"}),
        &[("diagnostics", json!({"path": "main.py"}))],
        expect![[r#"
            > diagnostics {"path":"main.py"}
            [scripted0 failed: it has exited]
        "#]],
    );
    check(
        json!({"dies": "initialize"}),
        &[("hover", at("main.py", 1, "area"))],
        expect![[r#"
            > hover {"path":"main.py","line":1,"symbol":"area"}
            No language server is attached to main.py.
        "#]],
    );
}

#[test]
fn waiting_for_a_silent_server_ends_after_the_configured_time() {
    let server = Server::start();
    let call = Reply::new().call("c1", "definition", at("main.py", 1, "area"));
    server.reply(call.call("c2", "diagnostics", json!({"path": "main.py"})));
    server.reply(Reply::said("I see."));
    let quiet = json!({"name": "quiet", "silent": ["textDocument/definition"], "push": "never"});
    let impatient = "{ lsp = { diagnostics_ms = 200, request_ms = 200 } }";
    let nvim = Nvim::start(&project(files(impatient), &[quiet]).anthropic(&server));
    nvim.keys(":edit main.py<CR>");
    wait_came(&nvim, "quiet textDocument/didOpen");
    nvim.ask("go", "I see.");
    let request = server.requests()[1].clone();
    expect!["[quiet did not answer in 0.2 s]"].assert_eq(&request.answer("c1"));
    expect!["[quiet has reported nothing on this file so far]"].assert_eq(&request.answer("c2"));
    wait_came(&nvim, "quiet $/cancelRequest");
}

#[test]
fn a_huge_answer_of_a_language_server_is_cut() {
    let said = answered(
        files(PATIENT),
        &[json!({"many": 2500})],
        &[("diagnostics", json!({"path": "shapes.py"}))],
    );
    assert!(said.contains("shapes.py:1: error: number 400 (scripted0)"), "{said}");
    assert!(said.contains("are left out") && said.len() < 40_000, "{said}");
}

/// The answer names the file of a definition outside the project. The file's text would need the user's consent.
#[test]
fn a_definition_outside_the_project_is_named_without_its_text() {
    let setup = files(PATIENT);
    let outside = setup.dir().join("outside.py");
    std::fs::write(&outside, "def area(side): pass\n").unwrap();
    let link = setup.path("lib.py");
    std::os::unix::fs::symlink(&outside, &link).unwrap();
    let dir = setup.dir().display().to_string();
    let said = answered(
        setup,
        &[json!({"outside": outside})],
        &[("definition", at("main.py", 1, "area"))],
    );
    expect![[r#"
        > definition {"path":"main.py","line":1,"symbol":"area"}
        DIR/outside.py:1 (outside the project)
    "#]]
    .assert_eq(&said.replace(&dir, "DIR"));
}

#[test]
fn diagnostics_without_a_path_cover_all_files() {
    let server = Server::start();
    server.reply(Reply::new().call("c1", "diagnostics", json!({})));
    server.reply(Reply::said("I see."));
    let nvim = Nvim::start(&project(files(PATIENT), &[json!({})]).anthropic(&server));
    nvim.keys(":edit shapes.py<CR>");
    nvim.wait(|nvim| nvim.lua_str("return #vim.diagnostic.get()") == "2", "the diagnostics");
    nvim.ask("go", "I see.");
    expect![[r#"
        shapes.py:4: error: BAD is wrong (scripted0)
        shapes.py:5: warning: ODD is doubtful (scripted0)"#]]
    .assert_eq(&server.requests()[1].answer("c1"));
}

#[test]
fn stopping_the_turn_cancels_the_request_at_the_language_server() {
    let server = Server::start();
    server.reply(Reply::new().call("c1", "definition", at("main.py", 1, "area")));
    server.reply(Reply::said("Fine."));
    let silent = json!({"name": "quiet", "silent": ["textDocument/definition"]});
    let nvim = Nvim::start(&project(files(PATIENT), &[silent]).anthropic(&server));
    nvim.keys(":Caliban<CR>igo<C-s><Esc>");
    wait_came(&nvim, "quiet textDocument/definition");
    assert!(!came(&nvim).contains("cancelRequest"));
    nvim.command("Caliban stop");
    wait_came(&nvim, "quiet $/cancelRequest");
    nvim.ask("and now?", "Fine.");
    expect!["Stopped while it ran: the user stopped the turn."]
        .assert_eq(&server.requests()[1].answer("c1"));
}
