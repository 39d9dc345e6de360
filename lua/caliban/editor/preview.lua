--- The previews of a picker's items, in scratch buffers. The fields of `vim.ui.select` that pickers read are Neovim's
--- `preview_item` (mini.pick, fzf-lua) and `snacks` (snacks.picker).
local M = {}

local api = vim.api

---@class caliban.Peek
---@field item fun(item: any): table for `preview_item`: lines (for old mini.pick) and `buf`
---@field snacks table for snacks.picker
---@field close fun() deletes the buffers

---@param buf integer
---@param lines string[]
---@param filetype? string
local function fill(buf, lines, filetype)
  if not api.nvim_buf_is_valid(buf) then
    return
  end
  local names = require('caliban.editor.name')
  vim.bo[buf].modifiable = true
  api.nvim_buf_set_lines(buf, 0, -1, false, vim.tbl_map(names.shown, lines))
  vim.bo[buf].modifiable = false
  -- 'syntax' colours the text and runs no autocommands of the type
  vim.bo[buf].syntax = filetype or ''
end

--- The previews for one opening of a picker.
---@param preview fun(item: any, show: fun(lines: string[], filetype?: string))
---@return caliban.Peek
function M.new(preview)
  local bufs = {} ---@type table<any, integer>
  local function open(item)
    local known = bufs[item]
    if known and api.nvim_buf_is_valid(known) then
      return known
    end
    local buf = require('caliban.editor.scratch').new()
    bufs[item] = buf
    vim.bo[buf].modifiable = false
    preview(item, function(lines, filetype)
      fill(buf, lines, filetype)
    end)
    return buf
  end
  return {
    item = function(item)
      local buf = open(item)
      local lines = api.nvim_buf_get_lines(buf, 0, -1, false)
      return setmetatable(lines, { __index = { buf = buf } })
    end,
    snacks = {
      preview = function(context)
        context.preview:set_buf(open(context.item.item))
        return true
      end,
      layout = { hidden = {} },
    },
    close = vim.schedule_wrap(function()
      for _, buf in pairs(bufs) do
        pcall(api.nvim_buf_delete, buf, { force = true })
      end
    end),
  }
end

return M
