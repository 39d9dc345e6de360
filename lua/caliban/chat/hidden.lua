--- Hides lines of a buffer in the windows that show Markdown without its marks.
local M = {}

local api = vim.api
local ns = api.nvim_create_namespace('caliban_chat')

---@param buf integer
---@param row integer
---@return integer mark
function M.hide(buf, row)
  return api.nvim_buf_set_extmark(buf, ns, row, 0, { conceal_lines = '' })
end

--- Shows a hidden line.
---@param buf integer
---@param mark integer
function M.show(buf, mark)
  api.nvim_buf_del_extmark(buf, ns, mark)
end

--- Shows all hidden lines of a buffer.
---@param buf integer
function M.show_all(buf)
  api.nvim_buf_clear_namespace(buf, ns, 0, -1)
end

return M
