//! Tests the pictures of a screen.

use crate::kit::nvim::Nvim;
use crate::kit::setup::Setup;
use crate::kit::svg::svg;
use expect_test::expect;

/// Text with colours, reversed text and a wide sign, with the cursor on the first letter.
fn coloured() -> Nvim {
    let setup = Setup::new().size(30, 4).before(
        "vim.g.kit_colours = true vim.o.laststatus = 0 vim.o.ruler = false
         vim.api.nvim_set_hl(0, 'Normal', { fg = '#102030', bg = '#f0f0f0', ctermfg = 16, ctermbg = 231 })
         vim.api.nvim_set_hl(0, 'Loud', { fg = '#ff0000', bold = true, underline = true, ctermfg = 196 })
         vim.api.nvim_set_hl(0, 'Back', { reverse = true })",
    );
    let nvim = Nvim::start(&setup);
    nvim.keys("ia <lt>b>  loud  back 漢<Esc>0");
    nvim.lua(
        "local ns = vim.api.nvim_create_namespace('kit')
         vim.api.nvim_buf_set_extmark(0, ns, 0, 7, { end_col = 11, hl_group = 'Loud' })
         vim.api.nvim_buf_set_extmark(0, ns, 0, 13, { end_col = 17, hl_group = 'Back' })",
        &[],
    );
    nvim.keys(":<Esc>");
    nvim.wait_gone("--");
    nvim
}

#[test]
fn a_picture_names_the_look_of_each_cell() {
    let nvim = coloured();
    let picture = |is_rgb: bool| nvim.grid.borrow().picture(is_rgb).text();
    expect![[r#"
        a <b>  loud  back 漢
        ~
        ~

        ──────────────────────────────
               aaaa  bbbb
        c
        c

        ──────────────────────────────
          #102030 on #f0f0f0
        a #ff0000 on #f0f0f0 bold underlined
        b #f0f0f0 on #102030
        c #4f5258 on #f0f0f0
    "#]]
    .assert_eq(&picture(true));
    expect![[r#"
          #000000 on #ffffff
        a #ff0000 on #ffffff bold underlined
        b #ffffff on #000000
    "#]]
    .assert_eq(picture(false).split("─\n").last().unwrap());
    expect![[r##"
        <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 272 92" width="272" height="92">
        <style>text{font-size:14px;font-family:'DejaVu Sans Mono',Menlo,Consolas,monospace;font-variant-ligatures:none}.c0{fill:#f0f0f0}.c1{fill:#102030}.c2{fill:#ff0000;font-weight:700}.c3{fill:#4f5258}</style>
        <rect width="100%" height="100%" rx="8" fill="#f0f0f0"/>
        <rect x="119.2" y="10" width="33.6" height="18" fill="#102030" shape-rendering="crispEdges"/>
        <rect x="10" y="10" width="8.4" height="18" fill="#102030" shape-rendering="crispEdges"/>
        <text x="10" y="23.5" class="c0" textLength="8.4">a</text>
        <text x="26.8" y="23.5" class="c1" textLength="25.2">&lt;b&gt;</text>
        <rect x="68.8" y="25.5" width="33.6" height="1" fill="#ff0000" shape-rendering="crispEdges"/>
        <text x="68.8" y="23.5" class="c2" textLength="33.6">loud</text>
        <text x="119.2" y="23.5" class="c0" textLength="33.6">back</text>
        <text x="161.2" y="23.5" class="c1" textLength="16.8">漢</text>
        <text x="10" y="41.5" class="c3" textLength="8.4">~</text>
        <text x="10" y="59.5" class="c3" textLength="8.4">~</text>
        </svg>
    "##]].assert_eq(&svg(&nvim.grid.borrow().picture(true)));
}
