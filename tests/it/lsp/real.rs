//! A real language server, installed by `scripts/tools.sh`.

use super::scene::PATIENT;
use crate::kit::reply::Reply;
use crate::kit::root;
use crate::review::scene::{Scene, edit};
use expect_test::expect;
use serde_json::json;

const SHAPES: &str =
    "def area(side: int) -> int:\n    \"\"\"How much it covers.\"\"\"\n    return side * side\n";
const MAIN: &str = "from shapes import area\n\nsize = area(2)\nprint(= size)\n";

fn jedi() -> String {
    let bin = root().join("target/tools/jedi/bin/jedi-language-server");
    assert!(bin.exists(), "no language server to test with: run scripts/tools.sh");
    format!(
        "vim.lsp.config('jedi', {{ cmd = {{ '{}' }}, filetypes = {{ 'python' }}, root_markers = {{ '.git' }} }})
        vim.lsp.enable('jedi')",
        bin.display()
    )
}

#[test]
fn jedi_renames_a_symbol_in_two_files() {
    let scene = Scene::start(|setup| {
        let setup = setup
            .file("shapes.py", SHAPES)
            .file("main.py", "from shapes import area\n\nsize = area(2)\n");
        setup.config(PATIENT).before(&jedi())
    });
    let call = json!({"path": "main.py", "line": 3, "symbol": "area", "name": "surface"});
    scene.server.reply(Reply::new().call("c1", "rename_symbol", call));
    scene.nvim.lua("require('caliban').ask('please')", &[]);
    scene.wait_pending(3);
    scene.server.reply(Reply::said("Well."));
    scene.nvim.lua("require('caliban').accept({ scope = 'all' })", &[]);
    scene.wait_idle("Well.");
    assert_eq!(scene.on_disk("shapes.py"), Some(SHAPES.replace("area", "surface")));
    let main = "from shapes import surface\n\nsize = surface(2)\n";
    assert_eq!(scene.on_disk("main.py").as_deref(), Some(main));
}

#[test]
fn jedi_answers_and_its_diagnostics_come_with_the_verdict() {
    let scene = Scene::start(|setup| {
        setup.file("shapes.py", SHAPES).file("main.py", MAIN).config(PATIENT).before(&jedi())
    });
    let at = json!({"path": "main.py", "line": 3, "symbol": "area"});
    let asked = ["definition", "references", "hover"]
        .iter()
        .fold(Reply::new(), |reply, tool| reply.call(tool, tool, at.clone()));
    let asked = asked.call("symbols", "symbols", json!({"path": "shapes.py"}));
    let asked = asked.call("query", "symbols", json!({"path": "main.py", "query": "area"}));
    let asked = asked.call("diagnostics", "diagnostics", json!({"path": "main.py"}));
    scene.server.reply(asked);
    let edits = [("area\n\n", "area\nfor in size\n"), ("print(= size)", "print(size)")];
    scene.server.reply(Reply::new().call("edit", "edit", edit("main.py", &edits)));
    scene.nvim.lua("require('caliban').ask('please')", &[]);
    scene.wait_pending(2);
    scene.server.reply(Reply::said("Well."));
    scene.nvim.lua("require('caliban').accept({ scope = 'all' })", &[]);
    scene.wait_idle("Well.");
    let names = ["definition", "references", "hover", "symbols", "query", "diagnostics"];
    let mut said: String =
        names.map(|name| format!("> {name}\n{}\n", scene.answer(2, name))).concat();
    said += &format!("> edit\n{}\n", scene.answer(3, "edit"));
    expect![[r#"
        > definition
        shapes.py:1: def area(side: int) -> int:
        > references
        main.py:1: from shapes import area
        main.py:3: size = area(2)
        shapes.py:1: def area(side: int) -> int:
        > hover
        main.py:3: ```python
          def area(side: int) -> int
          ```
          ---
          How much it covers.
          **Full name:** `shapes.area`
        > symbols
        shapes.py:1: function area
        > query
        shapes.py:1: function area (in shapes.area)
        > diagnostics
        main.py:4: error: SyntaxError: invalid syntax (main.py, line 4) (compile)
        > edit
        The user accepted 2 changes in main.py.
        Diagnostics of main.py: 1 new, 1 fixed, 0 remaining.
        new main.py:2: error: SyntaxError: invalid syntax (main.py, line 2) (compile)
    "#]]
    .assert_eq(&said);
}
