--- Names that Neovim has changed.
local M = {}

--- The key for a buffer in the options of autocommands and mappings: `buf` since Neovim 0.12.
M.BUF = vim.fn.has('nvim-0.12') == 1 and 'buf' or 'buffer'

return M
