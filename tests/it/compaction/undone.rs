//! Compactions in every dialect: undone, before a change to a smaller window, after a cut reply, after a crash.

use super::*;

/// Compacts a conversation, sends a prompt, undoes the compaction, and sends another prompt. If `restarts` is true,
/// Neovim is restarted before the undo.
fn undone(dialect: &dyn Dialect, restarts: bool) {
    let server = Server::start();
    let setup = files(Setup::new()).config(LATE).speaking(dialect, &server);
    let mut nvim = three_turns(&server, &setup);
    type_in(&nvim, "/uncompact");
    nvim.wait_screen("There is nothing to undo");
    server.reply(Reply::said(&summary("Be quick.")));
    type_in(&nvim, "/compact");
    nvim.wait_transcript("▸ Compacted: ");
    nvim.wait_phase("idle");
    server.reply(Reply::said("Four."));
    nvim.ask("four, please", "Four.");
    if restarts {
        nvim.quit_with(":qa!<CR>");
        nvim = Nvim::start(&setup);
        nvim.keys(":Caliban<CR>");
        nvim.wait_transcript("Four.");
    }
    type_in(&nvim, "/uncompact");
    nvim.wait_transcript("The last compaction is undone");
    server.reply(Reply::said("Five."));
    nvim.ask("five, please", "Five.");
    let requests = server.requests();
    assert!(!requests[5].outline().contains("the line 199"));
    let (before, after) = (requests[3].outline(), requests[6].outline());
    assert!(after.starts_with(&before), "{after}");
    assert!(after.contains("four, please") && !after.contains("<summary>"));
}

#[test]
fn a_compaction_can_be_undone_in_every_dialect() {
    for dialect in DIALECTS {
        undone(dialect, false);
    }
}

#[test]
fn a_compaction_can_be_undone_after_a_restart_in_every_dialect() {
    for dialect in DIALECTS {
        undone(dialect, true);
    }
}

/// The user has brought back what was compacted, so not even an overflow takes it away again.
#[test]
fn after_an_undone_compaction_an_overflow_compacts_nothing_without_the_user() {
    let server = Server::start();
    let nvim = three_turns(&server, &files(Setup::new()).config(LATE).anthropic(&server));
    server.reply(Reply::said(&summary("Be quick.")));
    type_in(&nvim, "/compact");
    nvim.wait_transcript("▸ Compacted: ");
    nvim.wait_phase("idle");
    type_in(&nvim, "/uncompact");
    nvim.wait_transcript("From now on only /compact compacts this conversation.");
    server.reply(Reply::too_long());
    nvim.ask("four, please", "Make the conversation shorter with /compact");
    let requests = server.requests();
    assert!(requests.len() == 6 && requests[5].outline().contains("the line 199"));
    server.reply(Reply::said(&summary("Go on.")));
    type_in(&nvim, "/compact");
    nvim.wait(|it| it.transcript().matches("▸ Compacted: ").count() == 2, "a second compaction");
    nvim.wait_phase("idle");
}

/// For each dialect another model, which gets a small window.
const SMALL: [&str; 5] = [
    "anthropic/claude-haiku-4-5",
    "openai/gpt-4o-mini",
    "openai/gpt-4o-mini",
    "gemini/gemini-2.5-flash",
    "ollama/gemma3:4b",
];

#[test]
fn switching_to_a_model_with_a_smaller_window_first_compacts_in_every_dialect() {
    for (dialect, small) in DIALECTS.into_iter().zip(SMALL) {
        let server = Server::start();
        let setup = files(Setup::new()).speaking(dialect, &server);
        let limits = format!(
            "vim.g.caliban = vim.tbl_deep_extend('force', vim.g.caliban, {{ trim = false, models = {{
               ['ollama/qwen3:8b'] = {{ num_ctx = 1000000 }},
               ['{small}'] = {{ window = 8000 }} }} }})"
        );
        let nvim = three_turns(&server, &setup.before(&limits));
        server.reply(Reply::said(&summary("Go on.")));
        nvim.keys(&format!(":Caliban model {small}<CR>"));
        nvim.wait_transcript("▸ Compacted: ");
        nvim.wait_phase("idle");
        server.reply(Reply::said("Four."));
        nvim.ask("four, please", "Four.");
        let requests = server.requests();
        // the earlier model summarises, because its window has room for the conversation
        assert!(is_question(&requests[4]) && requests[4].body.len() > 9_000);
        let model = |at: usize| requests[at].json["model"].to_string() + &requests[at].path;
        let small = small.split_once('/').unwrap().1;
        assert!(!model(4).contains(small) && model(5).contains(small), "{}", model(5));
        assert!(!requests[5].outline().contains("the line 199"));
    }
}

/// Two stop reasons that mean a full window, and not that the reply has reached its own limit.
#[test]
fn a_reply_cut_at_the_end_of_the_window_is_requested_again_if_the_provider_says_so() {
    for (dialect, full) in
        [(DIALECTS[0], "model_context_window_exceeded"), (DIALECTS[1], "model_length")]
    {
        let server = Server::start();
        let nvim =
            three_turns(&server, &files(Setup::new()).config(LATE).speaking(dialect, &server));
        server.reply(Reply::said("Four is cut").stop(full).usage(9_000, 20));
        server.reply(Reply::said(&summary("Go on.")));
        server.reply(Reply::said("Four."));
        nvim.ask("four, please", "Four.");
        let requests = server.requests();
        assert!(is_question(&requests[5]));
        assert!(requests[6].last_user_text().ends_with("four, please"));
        assert!(!requests[6].outline().contains("Four is cut"));
    }
}

/// Neovim is killed after the summary was checked and before the journal has the whole line of the summary.
#[test]
fn a_summary_whose_line_in_the_journal_is_incomplete_is_requested_again() {
    for part in [0, 40] {
        let server = Server::start();
        let setup = files(Setup::new()).config(EARLY).anthropic(&server);
        let nvim = three_turns(&server, &setup);
        server.reply(Reply::said(&summary("Go on.")));
        server.reply(Reply::hang());
        type_in(&nvim, "four, please");
        server.wait_count(6);
        nvim.kill();
        let journal = setup.sessions().join("main.journal");
        let text = std::fs::read_to_string(&journal).unwrap();
        let line = text.find("## Goal").unwrap();
        let start = text[..line].rfind('\n').map_or(0, |it| it + 1);
        std::fs::write(&journal, &text[..start + part]).unwrap();
        server.forget();
        let nvim = Nvim::start(&setup);
        nvim.keys(":Caliban<CR>");
        nvim.wait_transcript("! Interrupted: ");
        assert!(!nvim.transcript().contains("▸ Compacted: "));
        server.reply(Reply::said(&summary("Go on.")));
        server.reply(Reply::said("Five."));
        nvim.ask("five, please", "Five.");
        let requests = server.requests();
        assert!(is_question(&requests[requests.len() - 2]));
        let last = requests.last().unwrap().outline();
        assert!(last.contains("four, please") && !last.contains("the line 199"), "{last}");
    }
}
