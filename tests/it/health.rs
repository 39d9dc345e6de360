//! Tests `:checkhealth caliban`: the report names each problem and how to solve it, and shows no key.

use crate::kit::nvim::Nvim;
use crate::kit::setup::Setup;

const CHECK: &str = "vim.notify = function() end
    vim.cmd('checkhealth caliban')
    return vim.api.nvim_buf_get_lines(0, 0, -1, false)";

/// The lines of the report without the marks at their beginnings.
fn report(setup: &Setup) -> String {
    let lines = Nvim::start(setup).lua_json(CHECK);
    let lines = lines.as_array().unwrap().iter().map(|line| line.as_str().unwrap().to_owned());
    lines.collect::<Vec<_>>().join("\n")
}

#[track_caller]
fn says(report: &str, words: &str) {
    assert!(report.contains(words), "no `{words}` in:\n{report}");
}

#[test]
fn the_health_check_of_a_working_setup_has_no_errors_or_warnings() {
    let report = report(&Setup::new().headless().env("ANTHROPIC_API_KEY", "key-of-the-test"));
    says(&report, &format!("OK version {}, the same as the plugin", env!("CARGO_PKG_VERSION")));
    says(&report, "OK no problems");
    says(&report, "icons: unicode (▸ ▾ ● ○ ✓ ┃ •)");
    says(&report, "OK anthropic: key from ANTHROPIC_API_KEY");
    says(&report, "caliban/sessions (created when needed)");
    assert!(!report.contains("ERROR") && !report.contains("WARNING"), "{report}");
    assert!(!report.contains("key-of-the-test"), "{report}");
}

#[test]
fn the_health_check_lists_the_instruction_files() {
    let setup = Setup::new()
        .headless()
        .file("../config/caliban/AGENTS.md", "be kind\n")
        .file("CLAUDE.md", "x".repeat(40_000));
    let report = report(&setup);
    says(&report, "config/caliban/AGENTS.md, 8 bytes");
    says(&report, "project/CLAUDE.md is 39 kB long: the model gets only the first 32 kB.");
}

#[test]
fn the_health_check_names_each_problem_of_the_settings() {
    let config = "{ modle = 'x', icons = 'plain', model = 'mine/m', system_file = 'not/there', providers = { mine = {
        dialect = 'openai-chat', base_url = 'http://127.0.0.1:9', key = 'env:NOT_SET' },
        other = { dialect = 'openai-chat', base_url = 'http://127.0.0.1:9', key = 'sk-secret' } } }";
    let report = report(&Setup::new().headless().config(config));
    says(&report, "ERROR config.modle: there is no such setting. Did you mean 'model'?");
    says(&report, "ERROR config.icons: expected 'unicode', 'ascii' or 'nerd', got 'plain'");
    says(&report, "not/there cannot be read");
    says(&report, "OK for new sessions: mine/m, from the settings");
    says(&report, "WARNING mine: NOT_SET is not set");
    says(&report, "ERROR other: write its key as");
    assert!(!report.contains("sk-secret"), "{report}");
}

#[test]
fn the_health_check_reports_a_missing_or_wrong_program_as_an_error() {
    let missing = report(&Setup::new().headless().config("{ bin = '/nowhere/caliban' }"));
    says(&missing, "ERROR caliban: config.bin: /nowhere/caliban is not an executable file");
    let other = report(&Setup::new().headless().config("{ bin = '/bin/true' }"));
    says(&other, "ERROR The program does not report its version");
}
