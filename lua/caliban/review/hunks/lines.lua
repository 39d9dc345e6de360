--- The lines of a buffer's text. Neovim shows one empty line for a buffer without text; it is no line of the text.
local M = {}

local api = vim.api
local file = require('caliban.editor.file')
local rope = require('caliban.review.hunks.rope')
local slices = require('caliban.editor.slices')

--- How many lines are read in one slice.
local PART = 4000

--- Reads the buffer's lines, in slices.
---@param buf integer
---@return caliban.Rope
function M.read(buf)
  local lines = {} ---@type string[]
  for row = 0, M.count(buf) - 1, PART do
    vim.list_extend(lines, api.nvim_buf_get_lines(buf, row, row + PART, false))
    if row > 0 then
      slices.rest()
    end
  end
  return rope.of(lines)
end

--- The number of lines of the buffer's text.
---@param buf integer
---@return integer
function M.count(buf)
  return file.empty(buf) and 0 or api.nvim_buf_line_count(buf)
end

--- A change as Neovim reports it (rows [first, last) became rows [first, new_last)), in lines of the text.
---@param buf integer
---@param before? caliban.Rope the text before the change, if it is known
---@param first integer
---@param last integer
---@param new_last integer
---@return integer first
---@return integer last
---@return string[] new
function M.change(buf, before, first, last, new_last)
  if before and before.count == 0 then
    return 0, 0, file.lines(buf)
  end
  local new = api.nvim_buf_get_lines(buf, first, new_last, false)
  if first == 0 and #new == 1 and new[1] == '' and file.empty(buf) then
    new = {}
  end
  return first, last, new
end

return M
