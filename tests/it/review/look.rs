//! The look of changes in the buffer: grounds, changed words, and the syntax of both sides.

use super::scene::{Scene, edit};
use crate::kit::reply::Reply;
use expect_test::expect;

/// A line that becomes two, a line with another word between tabs, and a removed line.
fn changes() -> Reply {
    let edits = [
        ("local a, b = load(x), save(y)\n", "local a = load(x)\nlocal b = save(y)\n"),
        ("\tif\tx then", "\tif\ty then"),
        ("-- no more\n", ""),
    ];
    Reply::new().call("e1", "edit", edit("a.lua", &edits))
}

#[test]
fn both_sides_of_a_change_keep_their_syntax_and_show_the_words_that_differ() {
    let text = "local a, b = load(x), save(y)\n\tif\tx then\n\tend\n-- no more\nreturn a\n";
    let scene = Scene::start(|it| it.file("a.lua", text).size(110, 30));
    scene.nvim.keys(":edit a.lua<CR>:setlocal tabstop=4<CR>");
    scene.ask(changes());
    scene.wait_pending(2);
    scene.nvim.keys("gg]h");
    scene.nvim.wait_screen("[2/2]");
    scene.nvim.keys("[h");
    let dimmed = |it: &Scene| it.left(49).contains("CalibanDim@keyword");
    scene.nvim.wait(|_| dimmed(&scene), "the removed lines in their syntax");
    let shown = scene.left(49);
    let rows: Vec<&str> = shown.lines().skip(1).take(8).collect();
    expect![[r#"
          ⟦Delete+dim@keyword|local⟧⟦Delete+dim| ⟧⟦Delete+dim@variable|a⟧⟦Delete+dim@punctuation.delimiter+DeleteWord|,⟧⟦Delete+dim+DeleteWord| ⟧⟦Delete+dim@variable+DeleteWord|b⟧⟦Delete+dim| ⟧⟦Delete+dim@operator|=⟧⟦Delete+dim| ⟧⟦Delete+dim@function.builtin|load⟧⟦Delete+dim@punctuation.bracket|(⟧⟦Delete+dim@variable|x⟧⟦Delete+dim@punctuation.bracket|)⟧⟦Delete+dim@punctuation.delimiter+DeleteWord|,⟧⟦Delete+dim| ⟧⟦Delete+dim@function.call|save⟧⟦Delete+dim@punctuation.bracket|(⟧⟦Delete+dim@variable|y⟧⟦Delete+dim@punctuation.bracket|)⟧⟦Delete|⟧
          ⟦Delete+dim|    ⟧⟦Delete+dim@keyword.conditional|if⟧⟦Delete+dim|  ⟧⟦Delete+dim@variable+DeleteWord|x⟧⟦Delete+dim| ⟧⟦Delete+dim@keyword.conditional|then⟧⟦Delete|⟧
        ⟦Sign|▎ ⟧⟦Add|local a = load(x) ⟧⟦Add+Dim|  [1/2] \a accept  \r reject⟧
        ⟦Sign|▎ ⟧⟦Add+AddWord|local b =⟧⟦Add| save(y)⟧
        ⟦Sign|▎ ⟧⟦Add|    if  ⟧⟦Add+AddWord|y⟧⟦Add| then⟧
              end
          ⟦Delete+dim@comment|-- no more⟧⟦Delete|⟧
        ⟦Sign|▎ ⟧return a"#]].assert_eq(&brief(&rows.join("\n")));
}

/// Rows with short names of the groups.
fn brief(rows: &str) -> String {
    let names = [
        ("WordGround", "Word"),
        ("Ground", ""),
        ("CalibanDimNormal", "dim"),
        ("CalibanDim@", "dim@"),
        ("Caliban", ""),
        (".lua", ""),
    ];
    names.iter().fold(rows.to_owned(), |text, (long, short)| text.replace(long, short))
}
