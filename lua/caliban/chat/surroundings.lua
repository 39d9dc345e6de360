--- The lines of a file around a part of a diff. With them a parser knows where the part is: inside of which function, or
--- of a comment.
local M = {}

local api = vim.api
local disk = require('caliban.editor.disk')
local names = require('caliban.editor.name')

--- This many lines above and below the part are read.
local ABOVE, BELOW = 40, 10
--- A file on disk of more than `LARGEST` bytes is not read. The lines around a part are left out if
--- they have more than `MOST` bytes.
local LARGEST, MOST = 512 * 1024, 8192

--- Reads the lines from row `first`, counted from 0, to the row before `last`.
---@alias caliban.ReadLines fun(first: integer, last: integer): string[]

--- A function that reads lines of a file: from its buffer if the buffer is loaded, else from disk.
---@param path string absolute
---@return caliban.ReadLines? # nil if there is no such file, or it is large
function M.file(path)
  local buf = names.buffer(path)
  if buf and api.nvim_buf_is_loaded(buf) then
    return function(first, last)
      return api.nvim_buf_get_lines(buf, first, last, false)
    end
  end
  local text = disk.read(path, LARGEST + 1)
  if not text or #text > LARGEST then
    return nil
  end
  local lines = vim.split(text, '\n', { plain = true })
  return function(first, last)
    return vim.list_slice(lines, first + 1, last)
  end
end

--- The lines around a part of a diff. The file may have either side of the part, at the old or at
--- the new place.
---@param read caliban.ReadLines
---@param it caliban.DiffRows
---@param sides table<string, string[]> the part's lines before (`-`) and after (`+`) the change
---@return string[] above
---@return string[] below
function M.of(read, it, sides)
  for _, first in ipairs({ it.new - 1, it.old - 1 }) do
    for _, side in ipairs({ sides['+'], sides['-'] }) do
      local last = first + #side
      if first >= 0 and vim.deep_equal(read(first, last), side) then
        local above, below = read(math.max(0, first - ABOVE), first), read(last, last + BELOW)
        if #table.concat(above) + #table.concat(below) <= MOST then
          return above, below
        end
      end
    end
  end
  return {}, {}
end

return M
