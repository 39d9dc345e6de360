--- Names that Neovim has changed.
local M = {}

--- The key for a buffer in the options of autocommands and mappings: `buf` since Neovim 0.12.
M.BUF = vim.fn.has('nvim-0.12') == 1 and 'buf' or 'buffer'

--- Registers functions that Neovim calls while it draws. Since Neovim 0.12 it calls them for ranges of lines.
---@param ns integer
---@param on vim.api.keyset.set_decoration_provider
function M.draw(ns, on)
  local on_line = on.on_line
  if vim.fn.has('nvim-0.12') == 1 and on_line then
    on.on_line = nil
    ---@diagnostic disable-next-line: inject-field, undefined-field
    on.on_range = function(_, win, buf, first, _, last, col)
      for row = first, col > 0 and last or last - 1 do
        on_line('line', win, buf, row)
      end
    end
  end
  vim.api.nvim_set_decoration_provider(ns, on)
end

return M
