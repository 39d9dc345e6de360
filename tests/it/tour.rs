//! The offline tour from end to end, as a newcomer walks it on the sample project.

use crate::kit::nvim::Nvim;
use crate::kit::root;
use crate::kit::setup::Setup;

fn sample() -> Setup {
    let read = |name: &str| std::fs::read(root().join("examples/sample").join(name)).unwrap();
    let setup = Setup::new().size(160, 40);
    setup.file("greet.py", read("greet.py")).file("test_greet.py", read("test_greet.py"))
}

#[test]
fn the_tour_reads_edits_runs_and_says_how_to_connect_a_model() {
    let setup = sample();
    let nvim = Nvim::start(&setup);
    nvim.keys(":edit greet.py<CR>:Caliban<CR>");
    nvim.wait_screen("Tour     any message begins it: i, a word, <Esc>, <CR>");
    nvim.keys("ishow me<C-s><Esc>");
    nvim.wait_phase("reviewing");
    nvim.wait_transcript("accept with `\\a`, reject with `\\r`");
    nvim.keys("<C-w>hgg]h");
    nvim.wait_screen("[1/2]");
    nvim.keys("\\a]h");
    nvim.wait_screen("[1/1]");
    nvim.keys(":Caliban reject hunk not now<CR>");
    nvim.wait_transcript("1 accepted, 1 rejected and undone. The user's reason: not now*");
    nvim.wait_phase("asking");
    nvim.wait_question();
    nvim.keys(":Caliban approve<CR>");
    nvim.wait_transcript("The test passed. That is the whole loop: read, propose, review, run.");
    nvim.wait_transcript("`ANTHROPIC_API_KEY`");
    nvim.wait_phase("idle");
    let text = setup.on_disk("greet.py").unwrap();
    assert!(text.contains("return f\"Hello, {name}.\""), "{text}");
    assert!(text.contains("print(greet(\"world\"))"), "{text}");

    // a second tour finds the sample already changed, and says so instead of failing
    nvim.keys(":Caliban new<CR>");
    nvim.wait_session("main-2");
    nvim.keys("iagain<C-s><Esc>");
    nvim.wait_transcript("The sample project is not here (or the tour changed it already");
}

#[test]
fn the_tour_names_the_keys_as_they_are_mapped() {
    let nvim = Nvim::start(&sample().before("vim.g.maplocalleader = ','"));
    nvim.keys(":edit greet.py<CR>:Caliban<CR>ishow me<C-s><Esc>");
    nvim.wait_transcript("accept with `,a`, reject with `,r`");
}

/// The tour on screens of these sizes: what one has to read and press is on the screen when it is needed.
const SIZES: [(u16, u16); 4] = [(80, 24), (60, 20), (120, 36), (200, 50)];

/// Waits until the screen shows the texts at once, each in whatever rows.
#[track_caller]
fn shows(nvim: &Nvim, texts: &[&str], what: &str) {
    let packed = |text: &str| text.split_whitespace().collect::<String>();
    let all = |it: &Nvim| {
        let screen = it.screen();
        // beside the code, the chat has the right part of each row
        let rows: Vec<&str> = screen.lines().map(|it| it.rsplit('│').next().unwrap()).collect();
        let chat = packed(&rows.join("\n")).replace('`', "");
        texts.iter().all(|text| chat.contains(&packed(text)))
    };
    nvim.wait(all, what);
}

#[test]
fn the_words_of_each_step_of_the_tour_are_on_the_screen_when_they_are_needed() {
    for (columns, rows) in SIZES {
        let nvim = Nvim::start(&sample().size(columns, rows));
        let at = |step: &str| format!("{step} at {columns}x{rows}");
        nvim.keys(":edit greet.py<CR>:Caliban<CR>");
        shows(&nvim, &["any message begins it: i, a word, <Esc>, <CR>"], &at("the beginning"));
        nvim.keys("ihello<Esc><CR>");
        nvim.wait_phase("reviewing");
        let review = [
            "on the list below (<Tab>): accept with \\a, reject with \\r, go on with ]h.",
            "2 hunks in 1 file to review",
            "-1 +2",
        ];
        shows(&nvim, &review, &at("the review"));
        nvim.keys("<Tab>");
        shows(&nvim, &review, &at("the review in the list"));
        nvim.keys("\\a");
        shows(&nvim, &["1 hunk in 1 file to review", "accept with \\a"], &at("the second hunk"));
        nvim.keys("\\r");
        nvim.wait_question();
        let question = ["press y or n.", "Run python3 test_greet.py?", "y once", "n no"];
        shows(&nvim, &question, &at("the question"));
        // on the odd sizes the newcomer says no
        let is_run = columns % 40 == 0 && columns != 120;
        nvim.keys(if is_run { "y" } else { "n" });
        nvim.wait_transcript("That is the whole loop");
        nvim.wait_phase("idle");
        let ran = if is_run { "The test passed." } else { "Its line above says which." };
        let end = [ran, "/connect", "ANTHROPIC_API_KEY", ":help caliban-models"];
        shows(&nvim, &end, &at("the end"));
    }
}

#[test]
fn the_first_hunk_of_the_tour_is_visible_in_its_file() {
    for (columns, rows) in SIZES {
        let nvim = Nvim::start(&sample().size(columns, rows));
        nvim.keys(":edit greet.py<CR>:Caliban<CR>ihello<Esc><CR>");
        nvim.wait_phase("reviewing");
        nvim.wait_screen("-     return \"Hello \" + name");
        nvim.wait(
            |it| it.screen().matches("return f\"Hello, {name}.\"").count() == 2,
            "both lines",
        );
    }
}

#[test]
fn the_keys_that_the_tour_names_work_on_the_list_and_in_the_file() {
    let nvim = Nvim::start(&sample().size(80, 24));
    nvim.keys(":edit greet.py<CR>:Caliban<CR>ihello<Esc><CR>");
    nvim.wait_phase("reviewing");
    for go in ["<Tab>", "<C-w>tgg]h"] {
        nvim.keys(go);
        for key in ["\\a", "\\r"] {
            nvim.keys(key);
            nvim.wait_hunks(1);
            nvim.keys("u");
            nvim.wait_hunks(2);
        }
    }
    nvim.keys(":Caliban<CR><Esc><Tab>]h");
    nvim.wait(|it| it.lua_str("return vim.fn.expand('%:t')") == "greet.py", "the file");
    assert!(!nvim.lua_str("return vim.fn.execute('messages')").contains("E21"));
}

#[test]
fn from_the_file_of_the_tour_the_named_keys_lead_to_the_list_and_to_the_question() {
    for (columns, rows) in SIZES {
        let nvim = Nvim::start(&sample().size(columns, rows));
        nvim.keys(":edit greet.py<CR>:Caliban<CR>ihello<Esc><CR>");
        nvim.wait_phase("reviewing");
        nvim.keys("<C-w>tgg]h\\a");
        nvim.wait_hunks(1);
        nvim.keys(":Caliban<CR><Tab>\\a");
        nvim.wait_question();
        nvim.keys("<C-w>t");
        nvim.wait(|it| it.lua_str("return vim.fn.expand('%:t')") == "greet.py", "the file");
        nvim.keys(":Caliban<CR><Tab>y");
        nvim.wait_transcript("The test passed.");
    }
}

#[test]
fn the_tour_gives_the_code_its_rows_while_the_user_is_there() {
    let nvim = Nvim::start(&sample().size(80, 24));
    nvim.keys(":edit greet.py<CR>:Caliban<CR>ihello<Esc><CR>");
    nvim.wait_phase("reviewing");
    let rows = |it: &Nvim| it.lua_json("return vim.api.nvim_win_get_height(vim.fn.win_getid(1))");
    nvim.wait(|it| rows(it).as_u64() < Some(7), "few rows of code");
    nvim.keys("<C-w>t");
    nvim.wait(|it| rows(it).as_u64() >= Some(9), "the rows of the code");
    nvim.keys(":Caliban<CR>");
    nvim.wait(|it| rows(it).as_u64() < Some(7), "few rows of code");
}

#[test]
fn a_message_or_a_comment_during_the_review_does_not_end_the_tour() {
    for side in ["message", "comment", "stop"] {
        let nvim = Nvim::start(&sample().size(80, 24));
        nvim.keys(":edit greet.py<CR>:Caliban<CR>ihello<Esc><CR>");
        nvim.wait_phase("reviewing");
        match side {
            "message" => nvim.keys("iwhat is this?<Esc><CR>"),
            "comment" => {
                nvim.keys("<Tab>");
                nvim.keys("\\c");
                nvim.keys("why?<CR>");
                nvim.keys(":Caliban<CR><Esc><CR>");
            }
            _ => {
                nvim.keys("<C-c>");
                nvim.wait_phase("idle");
                nvim.keys("ion<Esc><CR>");
            }
        }
        nvim.wait_transcript("I am a script, and cannot read your message.");
        nvim.wait_phase("idle");
        nvim.keys(":Caliban accept all<CR>");
        nvim.wait(|it| it.setup.on_disk("greet.py").unwrap().contains("Hello, {name}"), "the file");
        nvim.keys(":Caliban<CR>igo on<Esc><CR>");
        nvim.wait_transcript("The user accepted 2 changes in greet.py.");
        nvim.wait_question();
        nvim.keys(":Caliban approve<CR>");
        nvim.wait_transcript("That is the whole loop: read, propose, review, run.");
    }
}

#[test]
fn in_a_project_without_the_tours_file_the_chat_offers_no_tour() {
    let nvim = Nvim::start(&Setup::new().size(80, 24).file("greet.py", "print(1)\n"));
    nvim.keys(":Caliban<CR>");
    nvim.wait_screen("Connect  /connect asks for a provider's key; :help caliban-models");
    assert!(!nvim.screen().contains("any message begins it"), "{}", nvim.screen());
}
