//! Soon.
use super::scene::Scene;
#[test]
fn zz_probe() {
    let scene = Scene::two_hunks(|it| it);
    println!("{}", scene.nvim.lua_str("return vim.inspect({vim.fn.winsaveview(), vim.fn.winheight(0), vim.api.nvim_buf_get_extmarks(0,-1,{0,0},{1,0},{details=true})})"));
    println!("{}", scene.nvim.screen());
    scene.nvim.keys("<C-e>");
    scene.nvim.keys("<C-y>");
    println!("{}", scene.nvim.screen());
    println!("{}", scene.nvim.lua_str("return vim.inspect({vim.fn.winsaveview()})"));
}
