//! The look of changes in the buffer: backgrounds, changed words, and the syntax of both sides.

use super::scene::{Scene, edit, nine, two_hunks, write};
use crate::kit::nvim::Nvim;
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
    let dimmed = |it: &Scene| it.left(49).contains("- ⟧⟦CalibanDeleteGround+CalibanDim@keyword");
    scene.nvim.wait(|_| dimmed(&scene), "the removed lines in their syntax");
    let shown = scene.left(49);
    let rows: Vec<&str> = shown.lines().skip(1).take(8).collect();
    expect![[r#"
        ⟦Sign|- ⟧⟦Delete+dim@keyword|local⟧⟦Delete+dim| ⟧⟦Delete+dim@variable|a⟧⟦Delete+dim@punctuation.delimiter+DeleteWord|,⟧⟦Delete+dim+DeleteWord| ⟧⟦Delete+dim@variable+DeleteWord|b⟧⟦Delete+dim| ⟧⟦Delete+dim@operator|=⟧⟦Delete+dim| ⟧⟦Delete+dim@function.builtin|load⟧⟦Delete+dim@punctuation.bracket|(⟧⟦Delete+dim@variable|x⟧⟦Delete+dim@punctuation.bracket|)⟧⟦Delete+dim@punctuation.delimiter+DeleteWord|,⟧⟦Delete+dim| ⟧⟦Delete+dim@function.call|save⟧⟦Delete+dim@punctuation.bracket|(⟧⟦Delete+dim@variable|y⟧⟦Delete+dim@punctuation.bracket|)⟧⟦Delete|⟧
        ⟦Sign|- ⟧⟦Delete+dim|    ⟧⟦Delete+dim@keyword.conditional|if⟧⟦Delete+dim|  ⟧⟦Delete+dim@variable+DeleteWord|x⟧⟦Delete+dim| ⟧⟦Delete+dim@keyword.conditional|then⟧⟦Delete|⟧
        ⟦Sign|▎ ⟧⟦Add|local a = load(x) ⟧⟦Add+Dim|  [1/2] \a accept  \r reject⟧
        ⟦Sign|▎ ⟧⟦Add+AddWord|local b =⟧⟦Add| save(y)⟧
        ⟦Sign|▎ ⟧⟦Add|    if  ⟧⟦Add+AddWord|y⟧⟦Add| then⟧
              end
        ⟦Sign|- ⟧⟦Delete+dim@comment|-- no more⟧⟦Delete|⟧
        ⟦Sign|▎ ⟧return a"#]].assert_eq(&brief(&rows.join("\n")));
}

#[test]
fn changed_words_are_drawn_again_after_a_change_of_the_colour_scheme() {
    let scene = Scene::start(|it| it.file("a.lua", "-- one thing\nreturn a\n").size(110, 30));
    let nvim = &scene.nvim;
    nvim.keys(":set termguicolors<CR>:edit a.lua<CR>");
    let call = edit("a.lua", &[("-- one thing", "-- two things")]);
    scene.ask(Reply::new().call("e1", "edit", call));
    scene.wait_pending(1);
    nvim.wait_screen("[1/1]");
    // reads the extmarks, because the test kit gives the groups on the screen other colours
    let plain = "local marks = vim.api.nvim_buf_get_extmarks(0, -1, 0, -1, { details = true })
        return vim.inspect(marks):find('CalibanPlain', 1, true) ~= nil";
    assert_eq!(nvim.lua_str(plain), "false");
    nvim.keys(":highlight Comment guifg=#111111<CR>:doautocmd ColorScheme mine<CR>");
    nvim.wait(|it| it.lua_str(plain) == "true", "a word in plain text");
}

#[test]
fn removed_lines_have_a_sign_left_of_the_text_where_all_windows_have_room_for_it() {
    let scene = Scene::two_hunks(|it| it);
    let nvim = &scene.nvim;
    nvim.keys("]h:setlocal number<CR>");
    nvim.wait_screen("▎   - l2");
    nvim.keys(":vsplit<CR>:setlocal nonumber<CR>");
    nvim.wait_gone("- l2");
    nvim.keys(":close<CR>");
    nvim.wait_screen("▎   - l2");
    nvim.keys(":setlocal nonumber signcolumn=no<CR>");
    nvim.wait_gone("- l2");
    nvim.wait_screen("l2");
}

/// Without colours and without columns for signs and numbers only a sign in the text tells the lines apart.
#[test]
fn without_colours_and_columns_removed_and_added_lines_have_a_sign_in_the_text() {
    let plain = "local list = vim.api.nvim_list_uis
        vim.api.nvim_list_uis = function()
          return vim.tbl_map(function(it)
            return vim.tbl_extend('force', it, { rgb = false, term_colors = 0 })
          end, list())
        end
        vim.o.signcolumn, vim.o.number = 'no', false";
    let scene = Scene::two_hunks(|it| it.before(plain).size(80, 60));
    let nvim = &scene.nvim;
    let has = |it: &Nvim, rows: &[&str]| {
        let screen = it.screen();
        rows.iter().all(|row| screen.lines().any(|it| it.starts_with(row)))
    };
    nvim.wait(|it| has(it, &["l1", "-l2", "+L2", "l3", "-l8", "+L8", "+L8b"]), "signs in the text");
    nvim.keys(":set number<CR>");
    let in_column = |it: &Nvim| it.screen().contains("- l2") && !it.screen().contains("+L2");
    nvim.wait(in_column, "signs in the column");
    nvim.keys(":set nonumber<CR>");
    nvim.wait(|it| has(it, &["-l2", "+L2"]), "signs in the text again");
}

#[test]
fn removed_lines_have_their_sign_while_the_user_is_in_the_chat_with_one_statusline() {
    for size in [(100, 40), (120, 40)] {
        let one = "vim.o.laststatus = 3";
        let scene = Scene::start(|it| it.file("a.txt", nine()).before(one).size(size.0, size.1));
        scene.nvim.keys(":edit a.txt<CR>:Caliban<CR>");
        scene.nvim.wait_transcript("Project");
        scene.server.reply(two_hunks());
        scene.nvim.keys("iplease<C-s>");
        scene.wait_pending(2);
        scene.nvim.wait_screen("▎ L2");
        scene.nvim.wait_screen("- l2");
    }
}

/// The rows of an opened edit in the chat, with the groups of each part.
fn opened(scene: &Scene) -> String {
    let shown = scene.screen_marked("").replace("⟦SignColumn|  ⟧", "");
    let below = shown.lines().skip_while(|row| !(row.contains('▾') && row.contains("edit")));
    let rows = below.skip(1).take(9).map(|row| row.trim_end().replace("⟦CalibanDim|    ⟧", ""));
    brief(&rows.collect::<Vec<_>>().join("\n"))
}

#[test]
fn an_opened_edit_in_the_chat_is_a_diff_with_line_numbers_that_are_not_yanked() {
    let body = (2..=9).fold(String::new(), |all, n| all + &format!("f({n})\n"));
    let text = format!("local a = load(x)\n{body}return a\n");
    let scene = Scene::start(|it| it.file("a.lua", &text).size(78, 66));
    let edits = [("load(x)", "load(y)"), ("f(9)\n", "f(9)\nf(10)\n")];
    let reply = Reply::new().call("e1", "edit", edit("a.lua", &edits)).call(
        "w1",
        "write",
        write("b.lua", "return 1\n"),
    );
    scene.nvim.keys(":Caliban<CR>");
    scene.nvim.lua("require('caliban').ask('please')", &[]);
    scene.server.reply(reply);
    scene.nvim.wait_transcript("▸ write  b.lua  new file");
    scene.server.reply(Reply::said("Fine."));
    scene.nvim.lua("require('caliban').accept({ scope = 'all' })", &[]);
    scene.wait_idle("Fine.");
    scene.nvim.go_to_transcript("▸ edit");
    scene.nvim.keys("<CR>");
    let highlighted = |it: &Scene| it.screen_marked("").contains("@keyword");
    scene.nvim.wait(|_| highlighted(&scene), "the syntax of the diff");
    scene.nvim.keys("zt");
    scene.nvim.wait_screen("10 +f(10)");
    let before = opened(&scene);
    expect![[r#"
        ⟦Dim+Dim| 1 ⟧⟦Dim+Delete+dim|-⟧⟦Dim+Delete+dim+dim@keyword|local⟧⟦Dim+Delete+dim| ⟧⟦Dim+Delete+dim+dim@variable|a⟧⟦Dim+Delete+dim| ⟧⟦Dim+Delete+dim+dim@operator|=⟧⟦Dim+Delete+dim| ⟧⟦Dim+Delete+dim+dim@function.builtin|load⟧⟦Dim+Delete+dim+dim@punctuation.bracket|(⟧⟦Dim+Delete+dim+dim@variable+DeleteWord|x⟧⟦Dim+Delete+dim+dim@punctuation.bracket|)⟧⟦Delete|                                                   ⟧
        ⟦Dim+Dim| 1 ⟧⟦Dim+Add+Plain|+⟧⟦Dim+Add+Plain+Statement|local⟧⟦Dim+Add+Plain| ⟧⟦Dim+Add+Plain+@variable|a⟧⟦Dim+Add+Plain| ⟧⟦Dim+Add+Plain+Operator|=⟧⟦Dim+Add+Plain| ⟧⟦Dim+Add+Plain+Special|load⟧⟦Dim+Add+Plain+Delimiter|(⟧⟦Dim+Add+Plain+@variable+AddWord|y⟧⟦Dim+Add+Plain+Delimiter|)⟧⟦Add|                                                   ⟧
        ⟦Dim+Dim| 2 ⟧⟦Dim+Plain| ⟧⟦Dim+Plain+Function|f⟧⟦Dim+Plain+Delimiter|(⟧⟦Dim+Plain+Constant|2⟧⟦Dim+Plain+Delimiter|)⟧
        ⟦Dim+Dim| 3 ⟧⟦Dim+Plain| ⟧⟦Dim+Plain+Function|f⟧⟦Dim+Plain+Delimiter|(⟧⟦Dim+Plain+Constant|3⟧⟦Dim+Plain+Delimiter|)⟧
        ⟦Dim|    ⋯⟧
        ⟦Dim+Dim| 8 ⟧⟦Dim+Plain| ⟧⟦Dim+Plain+Function|f⟧⟦Dim+Plain+Delimiter|(⟧⟦Dim+Plain+Constant|8⟧⟦Dim+Plain+Delimiter|)⟧
        ⟦Dim+Dim| 9 ⟧⟦Dim+Plain| ⟧⟦Dim+Plain+Function|f⟧⟦Dim+Plain+Delimiter|(⟧⟦Dim+Plain+Constant|9⟧⟦Dim+Plain+Delimiter|)⟧
        ⟦Dim+Dim|10 ⟧⟦Dim+Add+Plain|+⟧⟦Dim+Add+Plain+Function|f⟧⟦Dim+Add+Plain+Delimiter|(⟧⟦Dim+Add+Plain+Constant|10⟧⟦Dim+Add+Plain+Delimiter|)⟧⟦Add|                                                               ⟧
        ⟦Dim+Dim|11 ⟧⟦Dim+Plain| ⟧⟦Dim+Plain+Statement|return⟧⟦Dim+Plain| ⟧⟦Dim+Plain+@variable|a⟧"#]].assert_eq(&before);
    scene.nvim.keys("jjyy0");
    assert_eq!(scene.nvim.lua_str("return vim.fn.getreg('\"')"), "    +local a = load(y)\n");
    scene.nvim.keys(":Caliban restart<CR>");
    scene.nvim.wait(|nvim| nvim.phase() == "idle", "the new program");
    scene.nvim.wait_transcript("▸ edit");
    scene.nvim.go_to_transcript("▸ edit");
    scene.nvim.keys("<CR>zt");
    scene.nvim.wait(|_| opened(&scene) == before, "the same diff in the reopened chat");
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
