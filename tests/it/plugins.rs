//! Completion by other people's plugins. `make test-plugins` runs these tests with the plugins in the folder that
//! `CALIBAN_PLUGINS` names.

use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::kit::setup::Setup;

/// Completes a file in the composer and sends it. `folders` are the plugin's folders, `setup` is its configuration.
/// `accept` are the keys that accept the first item.
fn check(folders: &[&str], setup: &str, accept: &str) {
    let plugins = std::env::var("CALIBAN_PLUGINS").unwrap();
    let mut before = String::new();
    for folder in folders {
        let path = format!("{plugins}/{folder}");
        assert!(std::path::Path::new(&path).is_dir(), "{path} is missing");
        before +=
            &format!("vim.opt.runtimepath:append({{ [==[{path}]==], [==[{path}/after]==] }})\n");
    }
    let server = Server::start();
    server.otherwise(Reply::said("Seen."));
    let project =
        Setup::new().file("src/main.rs", "fn main() {}\n").file("src/map.rs", "struct Map;\n");
    let nvim = Nvim::start(&project.before(&(before + setup)).anthropic(&server).size(100, 30));
    // in the first insertion of a new composer, key by key: a plugin may take keys that are typed ahead for pasted text
    nvim.keys(":Caliban<CR>");
    for key in ["i", "s", "e", "e", " ", "@"] {
        nvim.keys(key);
    }
    nvim.wait_screen("src/");
    nvim.keys("m");
    nvim.keys("a");
    nvim.wait_screen("src/map.rs");
    nvim.keys("i");
    nvim.wait_gone("src/map.rs");
    // Before the menu is there the keys mean something else, and a plugin that is still filling it ignores them.
    let accepts = |it: &Nvim| {
        if it.composer() == "see @mai" && it.screen().contains("src/main.rs") {
            it.keys(accept);
        }
        it.composer() == "see @src/main.rs"
    };
    nvim.wait(accepts, "the file in the composer");
    nvim.keys("<C-s>");
    nvim.wait_transcript("Seen.");
    let said = server.requests()[0].last_user_text();
    assert!(said.contains("fn main() {}") && said.ends_with("see @src/main.rs"), "{said}");
    // the slash commands come from the same server
    nvim.wait_phase("idle");
    nvim.keys("/sessio");
    nvim.wait_screen("/sessions");
}

#[test]
#[ignore = "needs the plugin"]
fn mini_completion_offers_files_and_commands() {
    check(&["mini.nvim"], "require('mini.completion').setup()", "<C-n><C-y>");
}

#[test]
#[ignore = "needs the plugin"]
fn nvim_cmp_offers_files_and_commands() {
    check(
        &["nvim-cmp", "cmp-nvim-lsp"],
        "local cmp = require('cmp')
        cmp.setup({
          sources = { { name = 'nvim_lsp' } },
          mapping = cmp.mapping.preset.insert({ ['<C-y>'] = cmp.mapping.confirm({ select = true }) }),
        })",
        "<C-y>",
    );
}

#[test]
#[ignore = "needs the plugin"]
fn blink_cmp_offers_files_and_commands() {
    check(
        &["blink.cmp"],
        "require('blink.cmp').setup({
          fuzzy = { implementation = 'lua' },
          sources = { default = { 'lsp' } },
        })",
        "<C-y>",
    );
}
