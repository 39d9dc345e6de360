//! The project's own rules that no other tool checks, for the files that git tracks or would track.

mod circles;
mod names;
mod record;
mod rooms;
mod rules;
mod source;

use crate::kit::nvim::Nvim;
use crate::kit::root;
use crate::kit::setup::Setup;
use std::collections::BTreeSet;
use std::process::Command;

/// The path and text of each file in these folders whose path has this ending ("" for all).
fn files(folders: &[&str], ending: &str) -> Vec<(String, String)> {
    let list = ["ls-files", "--cached", "--others", "--exclude-standard"];
    let output = Command::new("git").args(list).current_dir(root()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let paths: BTreeSet<String> =
        String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect();
    let ours = paths.into_iter().filter(|path| {
        path.ends_with(ending) && folders.iter().any(|folder| path.starts_with(folder))
    });
    let read = |path: String| {
        let text = std::fs::read_to_string(root().join(&path)).ok()?;
        Some((path, text))
    };
    ours.filter_map(read).collect()
}

/// The files of `src/`, except files that are compiled for tests alone.
fn shipped() -> Vec<(String, String)> {
    let mut all = files(&["src/"], ".rs");
    let tests: Vec<String> =
        all.iter().flat_map(|(path, text)| rules::test_modules(path, text)).collect();
    all.retain(|(path, _)| {
        let path = path.strip_suffix(".rs").unwrap_or(path);
        !tests.iter().any(|test| path == test || path.starts_with(&format!("{test}/")))
    });
    all
}

#[track_caller]
fn holds(files: &[(String, String)], rule: impl Fn(&str, &str) -> Vec<String>) {
    assert!(!files.is_empty(), "there is nothing to check");
    let found: Vec<String> = files.iter().flat_map(|(path, text)| rule(path, text)).collect();
    assert!(found.is_empty(), "\n{}", found.join("\n"));
}

/// Checks the violations that a rule reports for a file with this path and text.
#[track_caller]
fn check(rule: impl Fn(&str, &str) -> Vec<String>, path: &str, text: &str, expected: &[&str]) {
    assert_eq!(rule(path, text), expected, "of {text:?}");
}

#[test]
fn test_modules_are_recognised_by_cfg_test_at_their_declaration() {
    let rule = rules::test_modules;
    check(rule, "src/a/mod.rs", "#[cfg(test)]\nmod tests;\npub mod b;", &["src/a/tests"]);
    check(rule, "src/a.rs", "#[cfg(test)]\npub(crate) mod recut;", &["src/a/recut"]);
    check(rule, "src/lib.rs", "pub mod b;\n#[cfg(test)]\nmod x { mod y; }", &[]);
    assert!(shipped().len() < files(&["src/"], ".rs").len());
}

#[test]
fn files_are_short() {
    check(rules::length, "a", &"x\n".repeat(501), &["a: 501 lines, at most 500"]);
    check(rules::length, "a", &"x\n".repeat(500), &[]);
    check(rules::length, "lua/caliban/program/wire/a.lua", &"x\n".repeat(501), &[]);
    holds(&files(&["src/", "tests/it/"], ".rs"), rules::length);
    holds(&files(&["lua/", "plugin/"], ".lua"), rules::length);
}

#[test]
fn functions_are_short() {
    let long = |lines: usize| {
        format!("/// }}\nfn f() -> &'a str {{\n{}}}\n", "  let c = '{';\n".repeat(lines - 2))
    };
    check(rules::functions, "a", &long(61), &["a:2: fn f has 61 lines, at most 60"]);
    check(rules::functions, "a", &long(60), &[]);
    check(rules::functions, "a", "trait T { fn f(); }\nfn g() { r#\"}\"#; }\n", &[]);
    holds(&files(&["src/", "tests/it/"], ".rs"), rules::functions);
}

#[test]
fn modules_have_a_doc() {
    check(rules::module_doc, "a", "use x;", &["a: no module doc on top"]);
    check(rules::module_doc, "a", "//! It is.", &[]);
    holds(&shipped(), rules::module_doc);
    holds(&files(&["tests/it/"], ".rs"), rules::module_doc);
}

#[test]
fn comments_have_no_issue_numbers_and_no_todos() {
    check(rules::comments, "a.rs", "// see #12.", &["a.rs:1: an issue number"]);
    check(rules::comments, "a.rs", "/* x\n  FIXME */", &["a.rs:2: FIXME"]);
    check(rules::comments, "a.rs", "\"#12 TODO\"; // #[x] #1e1e1e", &[]);
    check(rules::comments, "a.lua", "x = '#12' -- TODO", &["a.lua:1: TODO"]);
    holds(&files(&["src/"], ".rs"), rules::comments);
    holds(&files(&["lua/", "plugin/"], ".lua"), rules::comments);
}

#[test]
fn code_uses_no_forbidden_calls() {
    let rule = rules::forbidden;
    check(rule, "src/a.rs", "fn f() { x.unwrap() }", &["src/a.rs:1: .unwrap()"]);
    check(rule, "src/a.rs", "\nfn f() { eprintln!(\"\") }", &["src/a.rs:2: println!"]);
    check(rule, "src/a.rs", "struct S(Arc<Mutex<u8>>);", &["src/a.rs:1: a shared lock"]);
    check(
        rule,
        "src/a.rs",
        "struct S(Arc<tokio::sync::RwLock<u8>>);",
        &["src/a.rs:1: a shared lock"],
    );
    check(rule, "src/a.rs", "static X: Mutex<u8> = y;", &["src/a.rs:1: a static lock"]);
    check(rule, "src/a.rs", "todo!()", &["src/a.rs:1: todo!"]);
    check(rule, "src/a.rs", "x.unwrap_or(1); // .unwrap()\n&'static str; \"println!\"", &[]);
    check(rule, "src/a.rs", "#[cfg(test)]\nmod tests {\n  fn f() { {} x.unwrap() }\n}\n", &[]);
    check(rule, "src/a.rs", "#[cfg(test)]\nmod tests;\ny.unwrap()", &["src/a.rs:3: .unwrap()"]);
    holds(&shipped(), rule);
}

#[test]
fn git_is_started_in_one_way() {
    let rule = rules::loose_git;
    check(rule, "src/a.rs", "x;\nCommand::new(\"git\")", &["src/a.rs:2: git without a leash"]);
    check(rule, "src/a.rs", "#[cfg(test)]\nmod tests {\n Command::new(\"git\")\n}", &[]);
    holds(&shipped(), rule);
}

#[test]
fn tools_are_told_apart_by_their_identity() {
    let rule = rules::tool_names;
    let found: &[&str] = &["src/a.rs:1: a tool's name is compared"];
    for line in [
        "if call.tool == \"read\" {}",
        "x(it.tool != \"a\")",
        "match call.tool.as_str() {",
        "tool.name == \"x\" && y",
    ] {
        check(rule, "src/a.rs", line, found);
    }
    check(rule, "src/a.rs", "if made.tool != call.tool && it.name != tool.name {}", &[]);
    check(rule, "src/a.rs", "match tool.builtin() {}", &[]);
    holds(&shipped(), rule);
}

#[test]
fn modules_import_only_from_above() {
    let order = rules::order("//! x\npub mod a;\npub mod b;\n\npub mod c;\n");
    let rule = |path: &str, text: &str| rules::imports(path, text, &order);
    check(rule, "src/b.rs", "use crate::a::X;\nuse crate::b::Y;", &[]);
    let below = "imports c, which stands below it in lib.rs";
    check(rule, "src/b/x.rs", "\nuse crate::c::X;", &[&format!("src/b/x.rs:2: {below}")]);
    check(rule, "src/b.rs", "use crate::{a::{X, Y}, c};", &[&format!("src/b.rs:1: {below}")]);
    check(rule, "src/b.rs", "fn f() { crate::c::f() }", &[&format!("src/b.rs:1: {below}")]);
    check(rule, "src/b.rs", "#[cfg(test)]\nmod tests { use crate::c; }", &[]);
    let lib = std::fs::read_to_string(root().join("src/lib.rs")).unwrap();
    let order = rules::order(&lib);
    assert!(order.len() > 5);
    holds(&shipped(), |path, text| rules::imports(path, text, &order));
}

/// Checks the violations that are reported for the imports of these Lua modules, given by path and text.
#[track_caller]
fn check_rooms(modules: &[(&str, &str)], expected: &[&str]) {
    let files = modules.iter().map(|(place, text)| {
        let path = format!("lua/caliban/{place}.lua");
        (path, (*text).to_owned())
    });
    let files: Vec<(String, String)> = files.collect();
    let rooms = ["init", "chat", "review/init", "review/ui", "review", "editor"];
    assert_eq!(rooms::imports(&files, &rooms), expected, "of {modules:?}");
}

#[test]
fn lua_imports_only_from_below() {
    check_rooms(
        &[("init", "require('caliban.chat')"), ("chat/init", "return require('caliban.chat.x')")],
        &[],
    );
    let called_so = "-- require('caliban')\nx = 'caliban' .. 'caliban.chat'";
    check_rooms(&[("editor/x", called_so), ("init", ""), ("chat/init", "")], &[]);
    check_rooms(
        &[
            ("review/x", "\nlocal function f()\n  require('caliban.chat').show()\nend"),
            ("chat/init", ""),
        ],
        &["lua/caliban/review/x.lua:3: imports caliban.chat, which stands above it"],
    );
    check_rooms(
        &[("editor/x", "map = '<Cmd>lua require(\"caliban\").stop()<CR>'"), ("init", "")],
        &["lua/caliban/editor/x.lua:1: imports caliban, which stands above it"],
    );
    check_rooms(
        &[("review/x", "x = package.loaded['caliban.review.ui.y']"), ("review/ui/y", "")],
        &["lua/caliban/review/x.lua:1: imports caliban.review.ui.y, which stands above it"],
    );
    check_rooms(&[("review/init", "require('caliban.review.ui.y')"), ("review/ui/y", "")], &[]);
    check_rooms(
        &[("chat/x", "require('caliban.' .. name)")],
        &["lua/caliban/chat/x.lua:1: a module's name is put together"],
    );
    check_rooms(&[("attic/x", "")], &["lua/caliban/attic/x.lua: lies in no room"]);
    let files = files(&["lua/"], ".lua");
    assert!(files.len() > 50);
    let found = rooms::imports(&files, &rooms::ROOMS);
    assert!(found.is_empty(), "\n{}", found.join("\n"));
}

#[test]
fn lua_has_no_import_cycle() {
    let [a, b, c] = ["a", "b", "c"].map(|name| format!("f(require('caliban.chat.{name}'))"));
    check_rooms(&[("chat/a", &b), ("chat/b", &c), ("chat/c", "")], &[]);
    check_rooms(&[("chat/a", &a)], &[]);
    check_rooms(
        &[("chat/a", &b), ("chat/b", &c), ("chat/c", &format!("{a}\n{b}"))],
        &[
            "lua/caliban: in a circle: chat/a → chat/b → chat/c → chat/a",
            "lua/caliban: in a circle: chat/b → chat/c → chat/b",
        ],
    );
}

#[test]
fn only_the_hunks_module_uses_slices_and_ropes() {
    let slices = "local slices = require('caliban.editor.slices')";
    check(rooms::inner, "lua/caliban/review/hunks/long.lua", slices, &[]);
    let told =
        "lua/caliban/review/x.lua:2: imports caliban.editor.slices, as review/hunks alone may";
    check(rooms::inner, "lua/caliban/review/x.lua", &format!("\n{slices}"), &[told]);
    check(rooms::inner, "lua/caliban/review/x.lua", "require('caliban.review.hunks.long')", &[]);
    holds(&files(&["lua/"], ".lua"), rooms::inner);
}

#[test]
fn the_agent_has_at_most_eight_fields_and_its_methods_are_in_one_file() {
    let sources = files(&["src/agent"], ".rs");
    let with_methods: Vec<&str> =
        sources.iter().filter(|it| it.1.contains("\nimpl Agent {")).map(|it| &*it.0).collect();
    assert_eq!(with_methods, ["src/agent/mod.rs"]);
    let (_, text) = sources.iter().find(|it| it.0 == "src/agent/state.rs").unwrap();
    let record =
        text.split("\npub(super) struct Agent {\n").nth(1).unwrap().split("\n}").next().unwrap();
    let is_field = |it: &&str| !it.trim_start().starts_with("//");
    let fields: Vec<&str> = record.lines().filter(is_field).collect();
    assert!((1..=8).contains(&fields.len()), "{fields:#?}");
}

#[test]
fn each_field_of_a_review_is_set_by_one_file_only() {
    let class =
        "---@class caliban.Review: caliban.X\n---@field a integer\n---@field b? X\n\n---@field c X";
    assert_eq!(record::fields("caliban.Review", class), ["a", "b"]);
    let of = [("a".to_owned(), "state.lua"), ("b".to_owned(), "state.lua")];
    let rule = |path: &str, text: &str| record::writes(path, text, &of);
    let told =
        |line: usize, name: &str| format!("x.lua:{line}: sets `{name}`, as state.lua alone may");
    check(rule, "state.lua", "r.a, r.b = 1, 2", &[]);
    check(rule, "x.lua", "r.a, it.r.b = 1, 2", &[&told(1, "a"), &told(1, "b")]);
    check(rule, "x.lua", "\n  r.b[1] = 2 -- r.a = 1", &[&told(2, "b")]);
    check(rule, "x.lua", "table.insert(r.a, 1)", &[&told(1, "a")]);
    check(
        rule,
        "x.lua",
        "local it = r.a\nif r.a == r.b then f(r.a) end\nother.a, r.c = 1, 2\nf(r.a, { x = 1 })",
        &[],
    );
    let of = fields_of_a_review();
    holds(&files(&["lua/"], ".lua"), |path, text| record::writes(path, text, &of));
}

/// Each field of a review's record, with the file that declares it.
fn fields_of_a_review() -> Vec<(String, &'static str)> {
    let mut of = Vec::new();
    for (class, writer) in record::WRITERS {
        let text = std::fs::read_to_string(root().join(writer)).unwrap();
        let fields = record::fields(class, &text);
        assert!(fields.len() > 10, "{class}");
        of.extend(fields.into_iter().map(|field| (field, writer)));
    }
    of
}

#[test]
fn other_files_read_a_reviews_internal_fields_through_functions_only() {
    let of = [("tick".to_owned(), "state.lua"), ("buf".to_owned(), "state.lua")];
    let rule = |path: &str, text: &str| record::reads(path, text, &of);
    let told = |line: usize| format!("x.lua:{line}: reads `tick`, which state.lua tells");
    check(rule, "state.lua", "f(r.tick)", &[]);
    check(rule, "x.lua", "local a = r.tick", &[&told(1)]);
    check(rule, "x.lua", "\nif it.r.tick[1] > 0 and f(review.tick) then", &[&told(2), &told(2)]);
    check(rule, "x.lua", "f(r.buf, other.tick, r.ticks, 'r.tick', r) -- r.tick", &[]);
    let of = fields_of_a_review();
    let facts = record::FACTS.iter().filter(|fact| !of.iter().any(|(it, _)| it == *fact));
    assert_eq!(facts.collect::<Vec<_>>(), Vec::<&&str>::new(), "no fields");
    holds(&files(&["lua/"], ".lua"), |path, text| record::reads(path, text, &of));
}

#[test]
fn only_modules_that_users_call_lie_beside_the_lua_folders() {
    check(rooms::strays, "lua/caliban/command.lua", "", &[]);
    check(rooms::strays, "lua/caliban/chat/paint.lua", "", &[]);
    let stray = "lua/caliban/paint.lua: is no face and belongs in a folder";
    check(rooms::strays, "lua/caliban/paint.lua", "", &[stray]);
    holds(&files(&["lua/"], ".lua"), rooms::strays);
}

#[test]
fn every_test_named_in_the_list_of_cases_exists() {
    let cases = std::fs::read_to_string(root().join("tests/cases.md")).unwrap();
    let mut known: BTreeSet<String> = BTreeSet::new();
    for (_, text) in
        files(&["src/", "tests/it/"], ".rs").into_iter().chain(files(&["tests/lua/"], ".lua"))
    {
        known.extend(rules::tests(&text));
    }
    let folders = std::fs::read_dir(root().join("tests/data/edits")).unwrap();
    known.extend(folders.map(|it| it.unwrap().file_name().into_string().unwrap()));
    check(
        rules::cases_of(&known),
        "a",
        "| `no_such_test` |",
        &["a:1: there is no test no_such_test"],
    );
    holds(&[("tests/cases.md".to_owned(), cases)], rules::cases_of(&known));
}

/// Records of past decisions may name files that no longer exist. `count` and `lamp` are examples in `CONTRIBUTING.md`.
#[test]
fn the_documents_name_files_that_exist() {
    let rule = rules::absent_paths(|path| {
        path.contains("lamp") || path.ends_with("count.rs") || root().join(path).exists()
    });
    check(&rule, "a", "see `src/no.rs`.", &["a:1: there is no src/no.rs"]);
    check(&rule, "a", "\n(doc/no/)", &["a:2: there is no doc/no"]);
    check(&rule, "a", "`src/lib.rs`, tests/it/. my/src/no.rs `src/*.rs`", &[]);
    let mut documents = files(&["doc/", "tests/"], ".md");
    documents.retain(|(path, _)| !path.starts_with("doc/decisions/"));
    for path in ["CONTRIBUTING.md", "README.md", "SECURITY.md"] {
        documents.push((path.to_owned(), std::fs::read_to_string(root().join(path)).unwrap()));
    }
    holds(&documents, rule);
}

#[test]
fn each_help_tag_is_defined_once() {
    let twice = "*caliban-a* *caliban-b*\n  *caliban-a*";
    check(rules::help_tags, "a", twice, &["a:2: *caliban-a* twice"]);
    check(rules::help_tags, "a", "*caliban-a*\nsee |caliban-c|.", &["a:2: no *caliban-c*"]);
    check(rules::help_tags, "a", "*caliban-a* |caliban-a|, |vim.lsp.start()|", &[]);
    holds(&files(&["doc/"], "caliban.txt"), rules::help_tags);
}

#[test]
fn lua_never_blocks_on_the_program() {
    check(
        rules::blocking_requests,
        "a",
        "\nvim.rpcrequest(1)",
        &["a:2: rpcrequest blocks the editor"],
    );
    check(rules::blocking_requests, "a", "-- no rpcrequest", &[]);
    holds(&files(&["lua/", "plugin/"], ".lua"), rules::blocking_requests);
}

/// Plugins that complete text send what they take for code to their services.
#[test]
fn the_buffers_of_the_chat_are_made_where_they_are_kept_from_other_plugins() {
    let told = "a:2: a buffer not made by editor.scratch";
    check(rules::own_buffers, "a", "\nlocal buf = api.nvim_create_buf(false, true)", &[told]);
    check(rules::own_buffers, "a", "api.nvim_create_buf(true, false)", &[]);
    holds(&files(&["lua/", "plugin/"], ".lua"), rules::own_buffers);
}

/// Text that Neovim expands, runs or searches for must be a literal of the source, so that it contains no names from
/// outside.
#[test]
fn text_that_neovim_expands_or_runs_is_a_literal_of_the_source() {
    let says = |code: &str, expected: &[&str]| {
        let expected: Vec<String> = expected.iter().map(|it| format!("a:1: {it}")).collect();
        let expected: Vec<&str> = expected.iter().map(String::as_str).collect();
        check(names::names, "a", code, &expected);
    };
    let more = |call: &str| format!("{call} gets more than a literal");
    for call in ["fn.glob", "fn.expand", "fn.system", "fn.execute", "fn.fnamemodify", "nvim_exec2"]
    {
        let prefix = if call.starts_with("nvim") { "vim.api" } else { "vim" };
        says(&format!("x = {prefix}.{call}(name, true)"), &[&more(call)]);
        says(&format!("x = {prefix}.{call}('a' .. name)"), &[&more(call)]);
        says(&format!("x = {prefix}.{call}(('%s'):format(name))"), &[&more(call)]);
        says(&format!("x = {prefix}.{call}('%', true) -- {call}(name)"), &[]);
        says(&format!("x = {prefix}.{call}(('a %d%%'):format(name))"), &[]);
    }
    says("vim.cmd('edit ' .. name)", &[&more("vim.cmd")]);
    says("vim.cmd(line)", &[&more("vim.cmd")]);
    says("vim.cmd(('b %d'):format(buf))", &[]);
    says("vim.cmd({ cmd = 'write', args = { name } })", &[&more("vim.cmd")]);
    says("vim.cmd({ cmd = 'write', args = { name }, magic = { file = false } })", &[]);
    says("vim.cmd({ cmd = 'write' })", &[]);
    says("vim.cmd.edit(vim.x(name))", &["vim.cmd.edit expands its argument"]);
    says("vim.cmd.buffer('#')", &[]);
    says("vim.cmd.redraw()", &[]);
    says("pcall(vim.cmd, name)", &["vim.cmd is called by others, with whatever they give it"]);
    says("x = vim.fs.normalize(name)", &["fs.normalize expands variables"]);
    says("x = vim.fs.normalize(name, { expand_env = false })", &[]);
    says("x = vim.fs.relpath(a, b)", &["fs.relpath expands what it gets"]);
    says("api.nvim_feedkeys(keys, 'n', false)", &[&more("nvim_feedkeys")]);
    says("local f = io.open(name)", &[&more("io.open")]);
    says("vim.wo[win][0].winbar = ' ' .. name", &["'winbar' is set by name.winbar alone"]);
    says("vim.wo[win][0].winbar = ' plain '", &[]);
    says("vim.o.statusline = line", &["'statusline' is set by name.winbar alone"]);
    says("x = '-- vim.fn.glob(name)' .. vim.fn.glob(x)", &[&more("fn.glob"), &more("fn.glob")]);
    let others = |it: &str| format!("{it} is called by others, with whatever they give it");
    says("pcall(vim.fn.glob, name)", &[&others("fn.glob")]);
    says("local glob = vim.fn.glob", &[&others("fn.glob")]);
    says("x = vim.fn.globals + vim.fn.myglob", &[]);
    says("vim.fn['glob'](name)", &["a function is called by a name that is computed"]);
    says(
        "vim.api.nvim_cmd({ cmd = 'edit', args = { name } }, {})",
        &["nvim_cmd expands what it gets"],
    );
    says("vim.call('glob', name)", &["vim.call expands what it gets"]);
    holds(&files(&["lua/", "plugin/"], ".lua"), names::names);
}

#[test]
fn error_messages_are_sentences() {
    let rule = rules::raw_errors;
    check(rule, "a", "format!(\"no: {error}\")", &["a:1: an error without `cause`"]);
    check(rule, "a", "tracing::warn!(\"no: {error}\");\nformat!(\"no: {}\", cause(&error))", &[]);
    holds(&shipped(), rule);
}

#[test]
fn no_file_names_the_host_of_a_package_registry() {
    let host = ["pypi", "org"].join(".");
    check(rules::registries, "a", &format!("https://{host}/x"), &[&format!("a: names {host}")]);
    let mut all = files(&[""], "");
    // Cargo itself writes `Cargo.lock`.
    // The groups of hosts for permission rules are names of such hosts. Nothing connects to them by itself.
    all.retain(|(path, _)| path != "Cargo.lock" && path != "src/rules/groups.rs");
    holds(&all, rules::registries);
}

/// The help is read in a terminal of 80 columns, in which Neovim breaks a longer line inside of a word.
#[test]
fn no_line_of_the_help_is_wider_than_78_columns() {
    let wide = format!("short\n{}\n{}\n", "w".repeat(79), "ü".repeat(78));
    check(rules::wide_help, "doc/a.txt", &wide, &["doc/a.txt:2: 79 columns"]);
    holds(&files(&["doc/"], ".txt"), rules::wide_help);
}

/// Everything public has a tag in the help. A running Neovim lists commands, mappings and highlight groups; settings
/// and events are read from the source.
#[test]
fn every_public_name_has_a_help_tag() {
    let missing = rules::untagged([":Caliban", "CalibanAdd"], "*:Caliban* *CalibanAdder*");
    assert_eq!(missing, ["doc/caliban.txt: no tag *CalibanAdd*"]);
    let class = "---@class (exact) caliban.Config\n---@field model? string\n---@field debug boolean\n\n---@field x y";
    assert_eq!(rules::settings(class), ["model", "debug"]);
    assert_eq!(rules::public_words("a.lua", "'CalibanAdd' -- CalibanNo"), ["CalibanAdd"]);
    assert_eq!(
        rules::public_words("a.rs", "/* CalibanNo */ \"CalibanTurnEnd\" Caliban"),
        ["CalibanTurnEnd"]
    );

    let Ok(help) = std::fs::read_to_string(root().join("doc/caliban.txt")) else { return };
    let nvim = Nvim::start(&Setup::new().headless());
    let code = "local found = {}
        for _, sub in ipairs(vim.fn.getcompletion('Caliban ', 'cmdline')) do found[':Caliban-' .. sub] = true end
        for _, group in ipairs(vim.fn.getcompletion('Caliban', 'highlight')) do found[group] = true end
        for _, mode in ipairs({ 'n', 'x', 'o', 'i' }) do
          for _, map in ipairs(vim.api.nvim_get_keymap(mode)) do
            if vim.startswith(map.lhs, '<Plug>(caliban-') then found[map.lhs] = true end
          end
        end
        return vim.tbl_keys(found)";
    let found = nvim.lua_json(code);
    let mut names: BTreeSet<String> =
        found.as_array().unwrap().iter().map(|name| name.as_str().unwrap().to_owned()).collect();
    assert!(names.iter().any(|name| name.starts_with(":Caliban-")), "no subcommand is completed");
    for (path, text) in files(&["lua/", "plugin/", "src/"], "") {
        names.extend(rules::public_words(&path, &text));
    }
    let config = std::fs::read_to_string(root().join("lua/caliban/config.lua")).unwrap();
    let settings = rules::settings(&config);
    assert!(!settings.is_empty(), "no settings are declared");
    names.extend(settings.iter().map(|name| format!("caliban-config-{name}")));
    names.insert(":Caliban".into());
    let missing = rules::untagged(names.iter().map(String::as_str), &help);
    assert!(missing.is_empty(), "\n{}", missing.join("\n"));
}
