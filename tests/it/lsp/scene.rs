//! A Neovim whose Python files have scripted language servers.

use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::setup::Setup;
use crate::kit::{python, root};
use crate::review::scene::Scene;
use serde_json::{Value, json};

/// Settings with long time limits, so that no wait for a language server ends early.
pub(super) const PATIENT: &str = "{ lsp = { diagnostics_ms = 120000, request_ms = 120000 } }";

/// Settings for servers that report no diagnostics: after an edit nothing is waited for.
pub(super) const SILENT: &str = "{ lsp = { diagnostics_ms = 1, request_ms = 120000 } }";

/// The file in which each server logs the methods it receives.
const LOG: &str = "servers.log";

/// A project with Python files, and scripted language servers for Python with these settings (see
/// `tests/data/lsp/server.py`).
pub(super) fn project(setup: Setup, servers: &[Value]) -> Setup {
    // Neovim reports the end of a language server in several lines, and then waits for a key.
    let mut lua = "vim.notify = function() end\n".to_owned();
    for (n, told) in servers.iter().enumerate() {
        let mut told = told.clone();
        let name = told["name"].as_str().map_or_else(|| format!("scripted{n}"), str::to_owned);
        told["name"] = json!(name);
        told["log"] = json!(setup.dir().join(LOG));
        let script = root().join("tests/data/lsp/server.py");
        lua += &format!(
            "vim.lsp.config('{name}', {{ cmd = {{ {:?}, {:?}, {:?} }}, filetypes = {{ 'python' }}, \
             root_markers = {{ '.git' }} }})\nvim.lsp.enable('{name}')\n",
            python().display().to_string(),
            script.display().to_string(),
            told.to_string(),
        );
    }
    setup.before(&lua)
}

/// The methods that the servers have received so far, each with the server's name.
pub(super) fn came(nvim: &Nvim) -> String {
    std::fs::read_to_string(nvim.setup.dir().join(LOG)).unwrap_or_default()
}

pub(super) fn wait_came(nvim: &Nvim, line: &str) {
    nvim.wait(|nvim| came(nvim).contains(line), &format!("{line:?} at the servers"));
}

/// Has the model make one call, and returns its answer. The turn ends without a review.
#[track_caller]
pub(super) fn answer_to(scene: &Scene, tool: &str, args: Value) -> String {
    let n = scene.server.requests().len();
    scene.server.reply(Reply::new().call(&format!("c{n}"), tool, args));
    scene.server.reply(Reply::said("I see."));
    scene.nvim.lua("require('caliban').ask('go')", &[]);
    let said = scene.answer(n + 2, &format!("c{n}"));
    scene.wait_idle("I see.");
    let root = scene.nvim.setup.path("").display().to_string();
    said.replace(&root, "ROOT")
}

/// Sends a notification to all servers.
pub(super) fn tell(nvim: &Nvim, method: &str, params: &Value) {
    let code = "for _, client in ipairs(vim.lsp.get_clients()) do
        client:notify(select(1, ...), vim.json.decode(select(2, ...)))
      end";
    nvim.lua(code, &[method.into(), params.to_string().into()]);
}
