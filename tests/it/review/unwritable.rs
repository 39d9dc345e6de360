//! Writes of a file that fail although the user has decided: nothing is lost, what is said is what is on disk, and a later
//! `:w` writes the text.

use super::scene::{Scene, edit, nine, two_hunks};
use crate::kit::reply::Reply;
use expect_test::{Expect, expect};

/// Makes a file of 20 kB on a disk of 64 kB. `Fill` leaves no room on the disk.
const SMALL: &str = "
    function _G.Fill()
        local file = assert(io.open('small/other', 'w'))
        file:setvbuf('no')
        while file:write(('x'):rep(4096)) do end
        file:close()
    end
    local lines = { 'l1', 'l2', 'l3', 'l4', 'l5', 'l6', 'l7', 'l8' }
    for _ = 1, 200 do lines[#lines + 1] = ('y'):rep(99) end
    vim.fn.writefile(lines, 'small/a.txt')";

/// The messages and answers, and the beginning of the text in the buffer and on disk.
fn story(scene: &Scene, told_before: &str, path: &str) -> String {
    let told = scene.nvim.lua_str(&format!(
        "local function brief(lines)
            return ('%d bytes: %s'):format(#table.concat(lines, '\\n'), table.concat(lines, ' ', 1, math.min(#lines, 8)))
        end
        local buf = vim.fn.bufnr('{path}')
        return ('buffer, %s: %s\\ndisk: %s'):format(
            vim.bo[buf].modified and 'modified' or 'unmodified',
            brief(vim.api.nvim_buf_get_lines(buf, 0, -1, false)), brief(vim.fn.readfile('{path}')))"
    ));
    format!("{told_before}\n---\n{told}")
}

/// Accepts two hunks on a full disk. Writes the file when there is room again.
#[expect(clippy::needless_pass_by_value, reason = "a table's row gives its snapshot away")]
fn on_full_disk(before: &str, expected: Expect) {
    let scene = Scene::start(|it| it.small_disk("small", 64).before(SMALL).before(before));
    scene.nvim.keys(":edit small/a.txt<CR>");
    let new = "L8\n".repeat(7000);
    scene.ask(Reply::new().call("e1", "edit", edit("small/a.txt", &[("l2", "L2"), ("l8", &new)])));
    scene.wait_pending(2);
    scene.nvim.keys(":lua Fill()<CR>");
    expected.assert_eq(&story(&scene, &scene.ended_by("\\A"), "small/a.txt"));
    scene.nvim.keys(":lua os.remove('small/other')<CR>:w<CR>");
    let is_same = "return vim.deep_equal(vim.fn.readfile('small/a.txt'), vim.fn.getbufline('small/a.txt', 1, '$'))";
    assert_eq!(scene.nvim.lua_str(is_same), "true", "{}", scene.said());
    assert_eq!(scene.told_next(), "<notice>\nsmall/a.txt is saved now.\n</notice>");
    assert_eq!(scene.told_next(), "and?");
}

#[test]
fn on_a_full_disk_nothing_is_lost_and_the_user_can_write_later() {
    on_full_disk(
        "vim.o.backupskip = ''",
        expect![[r#"
        small/a.txt: 2 accepted, not saved: E514: Write error (file system full?)
        ---
        The user accepted 2 changes in small/a.txt.
        small/a.txt is not saved (E514: Write error (file system full?)): the changes are not on disk yet.
        ---
        buffer, modified: 41021 bytes: l1 L2 l3 l4 l5 l6 l7 L8
        disk: 20023 bytes: l1 l2 l3 l4 l5 l6 l7 l8"#]],
    );
    // Neovim makes no backup
    on_full_disk(
        "vim.o.writebackup = false",
        expect![[r#"
        small/a.txt: 2 accepted, not saved: E514: Write error (file system full?); only the buffer has its whole text
        ---
        The user accepted 2 changes in small/a.txt.
        small/a.txt is not saved (E514: Write error (file system full?); only the buffer has its whole text): on disk, other lines are in the place of 1 of the 2 changes, and 1 is there.
        ---
        buffer, modified: 41021 bytes: l1 L2 l3 l4 l5 l6 l7 L8
        disk: 20480 bytes: l1 L2 l3 l4 l5 l6 l7 L8"#]],
    );
}

/// An autocommand of the user's writes in place of Neovim. Accepts two hunks, and then writes without the autocommand.
#[expect(clippy::needless_pass_by_value, reason = "a table's row gives its snapshot away")]
fn by_command(body: &str, mode: &str, expected: Expect) {
    let config = format!("{{ mode = '{mode}' }}");
    let scene = Scene::start(|it| it.file("a.txt", nine()).config(&config));
    scene.nvim.keys(":edit a.txt<CR>");
    let command = format!(
        "vim.api.nvim_create_autocmd('BufWriteCmd', {{ pattern = '*.txt', callback = function() {body} end }})"
    );
    scene.nvim.lua(&command, &[]);
    scene.server.reply(two_hunks());
    if mode != "ask" {
        scene.server.reply(Reply::said("I see."));
    }
    scene.nvim.keys(":Caliban ask please<CR>");
    let told = if mode == "ask" {
        scene.wait_pending(2);
        scene.ended_by("\\A")
    } else {
        scene.wait_idle("I see.");
        scene.wait_hunks(2);
        scene.nvim.keys("\\A");
        scene.wait_hunks(0);
        let answers = format!("{}\n{}", scene.answer(2, "e1"), scene.told_next());
        format!("{}\n---\n{answers}", scene.said())
    };
    expected.assert_eq(&story(&scene, &told, "a.txt"));
    scene.nvim.command("autocmd! BufWriteCmd *.txt");
    scene.nvim.keys(":w<CR>");
    assert_eq!(scene.on_disk("a.txt"), Some(nine().replace("l2", "L2").replace("l8", "L8\nL8b")));
    assert_eq!(scene.told_next(), "<notice>\na.txt is saved now.\n</notice>");
    assert_eq!(scene.told_next(), "and?");
}

#[test]
fn a_bufwritecmd_that_fails_is_reported_in_one_sentence() {
    by_command(
        "error('no server')",
        "ask",
        expect![[r#"
        a.txt: 2 accepted, not saved: no server
        ---
        The user accepted 2 changes in a.txt.
        a.txt is not saved (no server): the changes are not on disk yet.
        ---
        buffer, modified: 30 bytes: l1 L2 l3 l4 l5 l6 l7 L8
        disk: 26 bytes: l1 l2 l3 l4 l5 l6 l7 l8"#]],
    );
    by_command(
        "vim.cmd('echoerr \"no server\"')",
        "ask",
        expect![[r#"
        a.txt: 2 accepted, not saved: no server
        ---
        The user accepted 2 changes in a.txt.
        a.txt is not saved (no server): the changes are not on disk yet.
        ---
        buffer, modified: 30 bytes: l1 L2 l3 l4 l5 l6 l7 L8
        disk: 26 bytes: l1 l2 l3 l4 l5 l6 l7 l8"#]],
    );
    by_command(
        "vim.cmd('call NoSuch()')",
        "auto-edit",
        expect![[r#"
        a.txt was not written: E117: Unknown function: NoSuch.
        a.txt: 2 accepted, not saved: E117: Unknown function: NoSuch
        ---
        Applied in the user's buffer of a.txt; the user may still review it.
        a.txt is not saved (E117: Unknown function: NoSuch).
        <notice>
        The user accepted 2 changes in a.txt.
        a.txt is not saved (E117: Unknown function: NoSuch): the changes are not on disk yet.
        </notice>
        and?
        ---
        buffer, modified: 30 bytes: l1 L2 l3 l4 l5 l6 l7 L8
        disk: 26 bytes: l1 l2 l3 l4 l5 l6 l7 l8"#]],
    );
}

#[test]
fn a_bufwritecmd_that_writes_nothing_loses_no_accepted_text() {
    by_command(
        "",
        "ask",
        expect![[r#"
        a.txt: 2 accepted, not saved: its buffer is still modified after the write
        ---
        The user accepted 2 changes in a.txt.
        a.txt is not saved (its buffer is still modified after the write): the changes are not on disk yet.
        ---
        buffer, modified: 30 bytes: l1 L2 l3 l4 l5 l6 l7 L8
        disk: 26 bytes: l1 l2 l3 l4 l5 l6 l7 l8"#]],
    );
    by_command(
        "vim.bo.modified = false",
        "ask",
        expect![[r#"
        a.txt: 2 accepted, not saved: the autocommand that writes it wrote nothing
        ---
        The user accepted 2 changes in a.txt.
        a.txt is not saved (the autocommand that writes it wrote nothing): the changes are not on disk yet.
        ---
        buffer, modified: 30 bytes: l1 L2 l3 l4 l5 l6 l7 L8
        disk: 26 bytes: l1 l2 l3 l4 l5 l6 l7 l8"#]],
    );
    by_command(
        "vim.bo.modified = false",
        "auto-edit",
        expect![[r#"
        a.txt was not written: the autocommand that writes it wrote nothing.
        a.txt: 2 accepted, not saved: the autocommand that writes it wrote nothing
        ---
        Applied in the user's buffer of a.txt; the user may still review it.
        a.txt is not saved (the autocommand that writes it wrote nothing).
        <notice>
        The user accepted 2 changes in a.txt.
        a.txt is not saved (the autocommand that writes it wrote nothing): the changes are not on disk yet.
        </notice>
        and?
        ---
        buffer, modified: 30 bytes: l1 L2 l3 l4 l5 l6 l7 L8
        disk: 26 bytes: l1 l2 l3 l4 l5 l6 l7 l8"#]],
    );
}
