//! Whichever way a layout is left, the user's buffer is shown as before, no window of the chat is left, and the chat can
//! be opened again.

use super::{LAYOUTS, by_hand, each, errors, laid_out};
use crate::kit::nvim::Nvim;
use crate::kit::server::Server;

/// Ways to leave a chat, wholly or in part: keys, and the part of the chat in which they are typed.
const WAYS: [(&str, &str); 22] = [
    ("composer", ""),
    ("composer", ":quit<CR>"),
    ("composer", ":close<CR>"),
    ("composer", ":hide<CR>"),
    ("composer", "<C-w>c"),
    ("composer", "ZZ"),
    ("composer", ":bdelete<CR>"),
    ("composer", ":bwipeout!<CR>"),
    ("composer", ":only<CR>"),
    ("composer", ":only<CR>:Caliban<CR>"),
    ("composer", "<C-w>T"),
    ("composer", ":tab split<CR>"),
    ("composer", ":tabonly<CR>"),
    ("composer", ":tabclose<CR>"),
    ("composer", ":tabnew<CR>:tabclose<CR>"),
    ("transcript", ":quit<CR>"),
    ("transcript", ":hide<CR>"),
    ("transcript", "<C-w>c"),
    ("transcript", ":bdelete<CR>"),
    ("transcript", ":only<CR>"),
    ("transcript", "<C-w>T"),
    ("transcript", "<C-w>p:only<CR>"),
];

/// The ends of each way.
const ENDS: [&str; 3] =
    [":Caliban close<CR>", ":Caliban<CR>:Caliban toggle<CR>", ":Caliban<CR>i/exit<C-s>"];

/// The user's buffers: what is done before the chat is opened, and the text by which the buffer is known.
const BUFFERS: [(&str, &str); 3] =
    [("", "one"), ("vim.cmd('normal! Atwo')", "onetwo"), ("vim.cmd('help | only')", "*help.txt*")];

/// The first lines of the windows of all tabs.
fn shown(nvim: &Nvim) -> String {
    nvim.lua_str(
        "local out = {}
        for _, win in ipairs(vim.api.nvim_list_wins()) do
          local buf = vim.api.nvim_win_get_buf(win)
          local name = vim.api.nvim_buf_get_name(buf):match('^caliban://.*')
          local first = vim.api.nvim_buf_get_lines(buf, 0, 1, false)[1]:match('^%S*')
          out[#out + 1] = name or first
        end
        return table.concat(out, ' ')",
    )
}

fn leave(layout: &str) {
    let cases = WAYS.iter().enumerate().flat_map(|(at, way)| {
        // each way with each end, and each with one of the buffers; beside a help file alone, `:quit` ends Neovim
        let buffers = if layout == "float" { 2 } else { 3 };
        (0..ENDS.len()).map(move |end| (*way, ENDS[end], BUFFERS[(at + end) % buffers]))
    });
    each(cases, |((part, way), end, (before, first))| {
        let server = Server::start();
        let nvim = laid_out(&server, layout, before);
        by_hand(&nvim, part, way);
        nvim.keys(end);
        nvim.wait(|it| shown(it) == *first, &format!("{first:?}, which is: {}", shown(&nvim)));
        assert_eq!(errors(&nvim), "");
        nvim.keys("<Esc>:Caliban<CR>");
        nvim.wait_screen("Project");
        let here = "return tostring(vim.bo.filetype)";
        nvim.wait(|it| it.lua_str(here) == "caliban-prompt", "the composer");
    });
}

macro_rules! left {
    ($($test:ident: $layout:literal,)*) => {
        $(#[test]
        fn $test() {
            assert!(LAYOUTS.contains(&$layout));
            leave($layout);
        })*
    };
}

left! {
    the_users_buffer_is_shown_after_a_chat_at_the_right: "right",
    the_users_buffer_is_shown_after_a_chat_at_the_left: "left",
    the_users_buffer_is_shown_after_a_chat_above: "top",
    the_users_buffer_is_shown_after_a_chat_below: "bottom",
    the_users_buffer_is_shown_after_a_chat_in_a_tab: "tab",
    the_users_buffer_is_shown_after_a_floating_chat: "float",
    the_users_buffer_is_shown_after_a_chat_in_its_window: "current",
}
