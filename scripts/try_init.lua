-- The configuration of Neovim in `make try`: the plugin from this checkout, without the user's configuration.
local root = vim.env.CALIBAN_ROOT
vim.env.CALIBAN_ROOT = nil
vim.opt.runtimepath:prepend(root)
pcall(vim.cmd.helptags, root .. '/doc')
vim.g.mapleader = ' '
vim.o.number = true
vim.o.termguicolors = true
-- a swap file of another `make try`, or of one that was killed, would end this one in an error
vim.o.swapfile = false
vim.g.caliban = { bin = root .. '/target/release/caliban', resume = vim.env.FRESH ~= '1' }
vim.api.nvim_create_autocmd('VimEnter', {
  callback = function()
    vim.cmd.edit('greet.py')
    vim.cmd.Caliban()
  end,
})
