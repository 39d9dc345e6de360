//! Tests `/review`: the model reviews a diff, and its comments are shown in the buffers and in the quickfix list.

use crate::kit::chat::{DIALECTS, common};
use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use expect_test::expect;
use serde_json::{Value, json};
use std::fs;
use std::process::Command;

fn git(setup: &Setup, arguments: &[&str]) {
    let mut git = Command::new("git");
    git.args([
        "-c",
        "user.name=me",
        "-c",
        "user.email=me@example.org",
        "-c",
        "commit.gpgsign=false",
    ]);
    let done = git.args(arguments).current_dir(setup.path("")).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

/// A repository on the branch `main`: `a.txt` and `b c.txt` are committed, and the second line of `a.txt` is changed.
fn repository() -> Setup {
    let setup =
        Setup::new().size(200, 40).file("a.txt", "one\ntwo\nthree\n").file("b c.txt", "x\n");
    git(&setup, &["init", "-q", "-b", "main"]);
    git(&setup, &["add", "."]);
    git(&setup, &["commit", "-qm", "begin"]);
    setup.file("a.txt", "one\nTWO\nthree\n")
}

fn comment(path: &str, line: u32, code: &str, severity: &str, text: &str) -> Value {
    json!({ "path": path, "line": line, "code": code, "severity": severity, "text": text })
}

/// The diagnostics of all buffers and the quickfix list, as `where type text`.
fn shown(nvim: &Nvim) -> String {
    nvim.lua_str(
        "local out = {}
        local function name(buf) return vim.fs.basename(vim.api.nvim_buf_get_name(buf)) end
        for _, it in ipairs(vim.diagnostic.get()) do
          table.insert(out, ('%s:%d %s %s'):format(name(it.bufnr), it.lnum + 1, it.severity, it.message))
        end
        table.sort(out)
        for _, it in ipairs(vim.fn.getqflist()) do
          table.insert(out, ('list %s:%d %s %s'):format(name(it.bufnr), it.lnum, it.type, it.text))
        end
        return table.concat(out, '\\n')",
    )
}

/// Sends this `/review` command, and waits for the reply `Looked.`.
fn review(nvim: &Nvim, server: &Server, command: &str) -> String {
    server.reply(Reply::said("Looked."));
    let said = nvim.transcript().matches("Looked.").count();
    nvim.keys(&format!(":Caliban<CR>i{command}<C-s><Esc>"));
    nvim.wait(|it| it.transcript().matches("Looked.").count() > said, "the reply");
    nvim.wait_phase("idle");
    server.requests().pop().unwrap().last_user_text()
}

#[test]
fn slash_review_sends_the_diff_and_the_task_in_every_dialect() {
    let sent = DIALECTS.map(|dialect| {
        let server = Server::start();
        let setup =
            repository().file("new.txt", "n\n").file(".env", "KEY=1\n").speaking(dialect, &server);
        git(&setup, &["add", "-N", ".env"]);
        let nvim = Nvim::start(&setup);
        let said = review(&nvim, &server, "/review @diff Mind the case.");
        let request = server.requests().pop().unwrap();
        assert!(request.tools().contains(&"comment".to_owned()));
        let (task, diff) = said.split_once("</skill>").unwrap();
        assert!(task.contains("with the tool `comment`"), "{task}");
        let index = diff.lines().filter(|it| !it.starts_with("index ") && !it.is_empty());
        index.collect::<Vec<_>>().join("\n")
    });
    expect![[r#"
        <context kind="diff" path="the uncommitted changes">
        diff --git a/a.txt b/a.txt
        --- a/a.txt
        +++ b/a.txt
        @@ -1,3 +1,3 @@
         one
        -two
        +TWO
         three
        [New files that git does not track yet. Read them too: @new.txt]
        [Changed files that are left out because they may contain secrets: @.env]
        </context>
        Review the uncommitted changes, as the skill `review` says. Mind the case."#]]
    .assert_eq(common(&sent));
}

#[test]
fn undo_of_a_slash_review_puts_the_command_back_into_the_composer() {
    let server = Server::start();
    let nvim = Nvim::start(&repository().anthropic(&server));
    review(&nvim, &server, "/review Mind the case.");
    let shown = nvim.transcript();
    assert!(
        shown.contains("/review Mind the case.\n") && !shown.contains("as the skill"),
        "{shown}"
    );
    nvim.keys("i/undo<C-s>");
    nvim.wait(|it| it.composer() == "/review Mind the case.", "the command in the composer");
    let _ = fs::write(nvim.setup.path("a.txt"), "one\nthree\n");
    server.reply(Reply::said("Looked again."));
    nvim.keys("<Esc><CR>");
    nvim.wait_transcript("Looked again.");
    let requests = server.requests();
    let said = requests.last().unwrap().last_user_text();
    assert!(said.contains("-two\n") && !said.contains("+TWO"), "{said}");
    assert!(said.contains("Review the uncommitted changes") && said.contains("Mind the case."));
    assert_eq!(said.matches("</skill>").count(), 1);
}

#[test]
fn a_queued_slash_review_goes_back_to_the_composer_as_the_command() {
    let server = Server::start();
    let gate = server.reply(Reply::chunks(["Wait ", "for it."]));
    let nvim = Nvim::start(&repository().anthropic(&server));
    nvim.keys(":Caliban<CR>ihello<C-s>");
    server.wait_requests(1);
    nvim.keys("/review<C-s>");
    nvim.wait_queue(1);
    nvim.keys("<Esc>:Caliban<CR>");
    nvim.go_to_transcript("Review the uncommitted changes");
    nvim.keys("<CR>");
    nvim.wait(|it| it.composer() == "/review", "the command in the composer");
    nvim.wait_queue(0);
    gate.finish();
}

#[test]
fn comments_on_several_protected_files_need_one_consent_that_names_all_of_them() {
    let server = Server::start();
    let setup = repository().file(".env", "KEY=1\n").file("id_rsa", "key\n").anthropic(&server);
    let nvim = Nvim::start(&setup);
    let comments = json!({ "comments": [
        comment(".env", 1, "KEY=1", "error", "A key."),
        comment("a.txt", 1, "one", "hint", "Fine."),
        comment("id_rsa", 1, "key", "error", "Another key."),
    ] });
    server.reply(Reply::new().call("c1", "comment", comments));
    server.reply(Reply::said("I see."));
    nvim.keys(":Caliban<CR>igo<C-s><Esc>");
    nvim.wait_transcript("Let comment look at these 2 files?");
    nvim.wait_transcript("`.env`");
    nvim.wait_transcript("`id_rsa`");
    nvim.wait_question();
    nvim.keys(":Caliban approve<CR>");
    nvim.wait_transcript("I see.");
    let answer = server.requests().pop().unwrap().answer("c1");
    assert_eq!(answer, "3 comments shown to the user.");
}

#[test]
fn the_models_review_comments_are_shown_as_diagnostics_and_in_the_quickfix_list() {
    let server = Server::start();
    let setup = repository().anthropic(&server);
    let nvim = Nvim::start(&setup);
    nvim.keys(":edit a.txt<CR>");
    let comments = json!({ "comments": [
        // The number of the line is wrong, but its text is right.
        comment("a.txt", 7, "TWO", "error", "Callers expect\nlower case."),
        comment("b c.txt", 1, "x", "hint", "A \u{202e}smaller remark."),
        comment("a.txt", 1, "zero", "warning", "There is no such line."),
        comment("none.txt", 1, "zero", "warning", "There is no such file."),
    ] });
    server.reply(Reply::new().call("c1", "comment", comments));
    review(&nvim, &server, "/review");
    let answers = server.requests().pop().unwrap().answers();
    expect![[r#"
        2 comments shown to the user. Not shown:
        comments[2].code: `a.txt` has no line with this text. Copy one line of the file as it is now, and give its number.
        comments[3].path: `none.txt` does not exist."#]]
    .assert_eq(&answers[0].1);
    nvim.wait_screen("2 comments · ]q next · :copen lists · ");
    nvim.wait_screen("2 comments are in the quickfix list: :copen shows it.");
    expect![[r#"
        a.txt:2 1 Callers expect
        lower case.
        list a.txt:2 E Callers expect lower case.
        list b c.txt:1 N A [U+202E]smaller remark."#]]
    .assert_eq(&shown(&nvim));
    // A file that is not loaded shows its comments when it is opened.
    nvim.keys("<C-w>t:cnext<CR>");
    nvim.wait(|it| it.lua_str("return vim.fn.bufname()") == "b c.txt", "the file");
    assert!(shown(&nvim).contains("b c.txt:1 4 A [U+202E]smaller remark."));
    // A later call adds comments; the next review replaces all comments.
    let more = json!({ "comments": [comment("a.txt", 3, "three", "info", "More.")] });
    server.reply(Reply::new().call("c2", "comment", more));
    server.reply(Reply::said("More comments."));
    nvim.ask("anything else?", "More comments.");
    nvim.wait_screen("3 comments are in the quickfix list");
    assert_eq!(shown(&nvim).lines().filter(|it| it.starts_with("list ")).count(), 3);
    review(&nvim, &server, "/review");
    assert_eq!(shown(&nvim), "");
}

/// A chat in which the model has commented on both files, at this size.
fn commented(server: &Server, columns: u16, rows: u16) -> Nvim {
    let nvim = Nvim::start(&repository().anthropic(server).size(columns, rows));
    nvim.keys(":edit a.txt<CR>G");
    let comments = json!({ "comments": [
        comment("a.txt", 2, "TWO", "error", "Callers expect lower case."),
        comment("b c.txt", 1, "x", "hint", "A smaller remark."),
    ] });
    server.reply(Reply::new().call("c1", "comment", comments));
    review(&nvim, server, "/review");
    nvim
}

#[test]
fn the_keys_that_the_line_of_comments_names_go_from_one_comment_to_the_next() {
    for (columns, rows) in [(80, 24), (60, 20), (50, 18), (120, 36)] {
        let server = Server::start();
        let nvim = commented(&server, columns, rows);
        nvim.go_to_transcript("comment  ");
        nvim.wait_screen("]q next");
        let at = "return vim.fn.expand('%:t') .. ':' .. vim.fn.line('.')";
        let press = |keys: &str, place: &str| {
            nvim.keys(keys);
            nvim.wait(|it| it.lua_str(at) == place, &format!("{place} after {keys} at {columns}"));
        };
        press("]q", "a.txt:2");
        press("]q", "b c.txt:1");
        press("[q", "a.txt:2");
        nvim.keys(":Caliban<CR><Esc>");
        press("]q", "b c.txt:1");
        nvim.keys(":Caliban<CR><Esc>]q");
        nvim.wait_screen("E553: No more items");
        nvim.keys(":Caliban<CR><Esc>");
        nvim.go_to_transcript("a.txt:2  error");
        press("gf", "a.txt:2");
    }
}

#[test]
fn a_comment_stays_on_its_line_when_that_line_is_replaced() {
    let server = Server::start();
    let nvim = commented(&server, 80, 30);
    let signs = "local out, buf = {}, vim.fn.bufnr('a.txt')
        for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(buf, -1, 0, -1, { details = true })) do
          if mark[4].sign_text then table.insert(out, mark[2] + 1) end
        end
        return table.concat(out, ' ')";
    let wait = |line: &str, after: &str| {
        nvim.wait(|it| it.lua_str(signs) == line, &format!("the sign at {line} {after}"));
    };
    wait("2", "at first");
    let replace = |rows: &str| {
        nvim.lua(&format!("vim.api.nvim_buf_set_lines(vim.fn.bufnr('a.txt'), {rows})"), &[])
    };
    replace("1, 2, true, { 'two' }");
    wait("2", "after its line was replaced");
    replace("0, 0, true, { 'zero', 'half' }");
    wait("4", "after lines were added above");
    replace("1, 4, true, { 'x' }");
    wait("2", "after three lines became one");
    nvim.lua(
        "vim.api.nvim_buf_delete(vim.fn.bufnr('a.txt'), { force = true, unload = true })",
        &[],
    );
    nvim.keys("<C-w>t:edit a.txt<CR>");
    wait("2", "after the file was read again");
}

#[test]
fn slash_review_of_a_branch_or_commit_sends_the_changes_of_that_branch_or_commit() {
    let server = Server::start();
    let setup = repository().anthropic(&server);
    git(&setup, &["checkout", "-qb", "topic"]);
    git(&setup, &["commit", "-qam", "second"]);
    let setup = setup.file("b c.txt", "y\n");
    git(&setup, &["commit", "-qam", "third"]);
    let setup = setup.file("a.txt", "one\nTWO\nTHREE\n");
    let nvim = Nvim::start(&setup);
    let changes = |command: &str| {
        let said = review(&nvim, &server, command);
        let lines = said.lines().filter(|it| {
            let is_change =
                it.starts_with(['+', '-']) && !it.starts_with("+++") && !it.starts_with("---");
            is_change || it.starts_with("Review the changes") || it.starts_with("Review the staged")
        });
        let lines: Vec<&str> = lines.filter(|it| !it.starts_with("- ")).collect();
        lines.join(" ")
    };
    expect!["-two -three +TWO +THREE -x +y Review the changes since the branch `main`, as the skill `review` says."]
        .assert_eq(&changes("/review main"));
    expect!["-two +TWO Review the changes in the commit `HEAD~1`, as the skill `review` says."]
        .assert_eq(&changes("/review HEAD~1"));
    expect![
        "-x +y Review the changes in the commit `HEAD`, as the skill `review` says. Be strict."
    ]
    .assert_eq(&changes("/review HEAD Be strict."));
    git(&setup, &["add", "a.txt"]);
    expect!["-three +THREE Review the staged changes, as the skill `review` says."]
        .assert_eq(&changes("/review @staged"));
}

#[test]
fn slash_review_without_a_diff_goes_back_to_the_composer() {
    let server = Server::start();
    let bare = Nvim::start(&Setup::new().size(200, 40).anthropic(&server));
    let refused = |nvim: &Nvim, command: &str, why: &str| {
        nvim.keys(&format!(":Caliban<CR>i{command}<C-s><Esc>"));
        nvim.wait_screen(why);
        assert_eq!(nvim.composer(), command);
        // Sending it again is refused too, because without a diff there is nothing to send.
        nvim.keys("<CR>");
        nvim.wait(|it| it.composer() == command, "the command again");
        nvim.keys(":%delete<CR>");
    };
    refused(&bare, "/review", "This project is not in a git repository");
    git(&bare.setup, &["init", "-q"]);
    refused(&bare, "/review", "The repository has no commit yet");
    let setup = repository().anthropic(&server);
    git(&setup, &["commit", "-qam", "clean"]);
    let nvim = Nvim::start(&setup);
    for (command, why) in [
        ("/review", "The diff of the uncommitted changes is empty."),
        ("/review none", "There is no branch or commit none."),
        ("/review --output=x", "There is no branch or commit --output=x."),
        ("/review HEAD:a.txt", "There is no branch or commit HEAD:a.txt."),
    ] {
        refused(&nvim, command, why);
    }
    assert!(server.requests().is_empty());
    assert!(!setup.path("x").exists());
}

#[test]
fn slash_review_runs_no_command_that_is_configured_in_the_repository() {
    let server = Server::start();
    let setup =
        repository().file(".gitattributes", "*.txt diff=evil filter=evil\n").anthropic(&server);
    let pwn = setup.dir().join("PWN");
    let run = format!("touch {}; cat", pwn.display());
    for name in [
        "diff.evil.command",
        "diff.evil.textconv",
        "filter.evil.clean",
        "diff.external",
        "core.fsmonitor",
        "core.pager",
    ] {
        git(&setup, &["config", name, &run]);
    }
    let nvim = Nvim::start(&setup);
    review(&nvim, &server, "/review");
    review(&nvim, &server, "/review HEAD");
    assert!(!pwn.exists());
}

/// A commit with this signature, on top of HEAD.
fn signed(setup: &Setup, name: &str) -> String {
    let script = format!(
        "echo {name} > s.txt; git add s.txt; printf 'tree %s\\nparent %s\\nauthor a <a@b> 1600000000 +0000\\ncommitter a <a@b> 1600000000 +0000\\ngpgsig -----BEGIN {name}-----\\n \
         \\n iQ==\\n =aaaa\\n -----END {name}-----\\n\\nsigned\\n' $(git write-tree) $(git rev-parse HEAD) \
         | git hash-object -t commit -w --stdin"
    );
    let mut bash = std::process::Command::new("bash");
    let made = bash.args(["-c", &script]).current_dir(setup.path("")).output().unwrap();
    String::from_utf8(made.stdout).unwrap().trim().to_owned()
}

#[test]
fn slash_review_of_a_signed_commit_runs_no_program_for_signatures() {
    let server = Server::start();
    let setup = repository().anthropic(&server);
    let pwn = setup.dir().join("PWN");
    let run = setup.path("evil.sh");
    fs::write(&run, format!("#!/bin/sh\ntouch {}\nexit 1\n", pwn.display())).unwrap();
    fs::set_permissions(&run, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    git(&setup, &["config", "log.showSignature", "true"]);
    for name in ["gpg.program", "gpg.openpgp.program", "gpg.x509.program", "gpg.ssh.program"] {
        git(&setup, &["config", name, "./evil.sh"]);
    }
    let all = ["PGP SIGNATURE", "SSH SIGNATURE", "SIGNED MESSAGE"].map(|it| signed(&setup, it));
    let nvim = Nvim::start(&setup);
    for it in &all {
        git(&setup, &["update-ref", "-m", "commit: signed", "HEAD", it]);
        assert!(!pwn.exists());
        review(&nvim, &server, &format!("/review {it}"));
        assert!(!pwn.exists(), "{it}");
    }
    // git itself does run it
    let _ = std::process::Command::new("git").arg("show").current_dir(setup.path("")).output();
    assert!(pwn.exists());
}

/// If the index contains a repository inside of the project, git looks for changes in that repository and runs its
/// filters.
#[test]
fn slash_review_runs_no_command_of_a_repository_inside_of_the_project() {
    let server = Server::start();
    let modules = "[submodule \"sub\"]\n\tpath = sub\n\turl = ./sub\n\tignore = none\n";
    let setup = repository()
        .file("sub/x.txt", "one\n")
        .file("sub/.gitattributes", "* filter=evil\n")
        .file(".gitmodules", modules)
        .anthropic(&server);
    let pwn = setup.dir().join("PWN");
    let run = format!("touch {}; cat", pwn.display());
    for arguments in [
        &["init", "-q"][..],
        &["add", "."],
        &["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x"],
    ] {
        git(&setup, &[&["-C", "sub"], arguments].concat());
    }
    git(&setup, &["add", "sub"]);
    git(&setup, &["-C", "sub", "config", "filter.evil.clean", &run]);
    fs::write(setup.path("sub/x.txt"), "two\n").unwrap();
    let nvim = Nvim::start(&setup);
    review(&nvim, &server, "/review");
    review(&nvim, &server, "/review HEAD");
    assert!(!pwn.exists());
}

#[test]
fn slash_clear_removes_the_review_comments() {
    let server = Server::start();
    let nvim = Nvim::start(&repository().anthropic(&server));
    let comments = json!({ "comments": [comment("a.txt", 2, "TWO", "info", "A remark.")] });
    server.reply(Reply::new().call("c1", "comment", comments));
    review(&nvim, &server, "/review");
    nvim.wait(|it| shown(it).contains("A remark."), "the comment");
    nvim.keys("i/review clear<C-s><Esc>");
    nvim.wait(|it| shown(it).is_empty(), "no comments");
    assert!(fs::metadata(nvim.setup.path("a.txt")).is_ok());
}

#[test]
fn the_texts_of_review_comments_are_in_the_chat_also_after_a_restart() {
    for (columns, rows) in [(80, 24), (60, 20)] {
        let server = Server::start();
        let nvim = Nvim::start(&repository().anthropic(&server).size(columns, rows));
        let comments = json!({ "comments": [
            // the number of the line is wrong, but its text is right
            comment("a.txt", 7, "TWO", "error", "Callers expect\nlower case."),
            comment("b c.txt", 1, "x", "hint", "A \u{202e}smaller remark."),
            comment("a.txt", 1, "zero", "warning", "There is no such line."),
        ] });
        server.reply(Reply::new().call("c1", "comment", comments));
        review(&nvim, &server, "/review");
        let told = "
    a.txt:2  error  Callers expect lower case.
    b c.txt:1  hint  A [U+202E]smaller remark.
    not shown: comments[2].code: `a.txt` has no line with this text. Copy one line of the file as it is now, and give its number.
";
        nvim.wait_transcript(told);
        nvim.wait_screen("a.txt:2  error  Callers expect lower case.");
        assert!(nvim.quit_with(":qa<CR>").success());
        nvim.wait_program_end();
        let nvim = Nvim::start(&nvim.setup);
        nvim.keys(":Caliban<CR>");
        nvim.wait_transcript(told);
        // the lines belong to the call: they are closed with it
        nvim.go_to_transcript("▾ comment");
        nvim.keys("<CR>");
        nvim.wait(|it| !it.transcript().contains("lower case"), "the call closed");
    }
}
