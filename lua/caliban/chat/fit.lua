--- Fits the line of a call into a row: cuts the arguments, never the tool's name.
local M = {}

local api = vim.api
local first = require('caliban.editor.wrap').first
local icon = require('caliban.editor.icons').of

--- The argument that is cut first keeps at least this many cells.
local LEAST = 8
--- If a text is cut within a word, the beginning of this word is left out, unless it has at least
--- this many bytes.
local LONG_WORD = 12

--- The end of a text: at most `width` cells.
---@param text string
---@param width integer
---@return string
local function last(text, width)
  local from = math.max(0, vim.fn.strchars(text) - width)
  while api.nvim_strwidth(vim.fn.strcharpart(text, from)) > width do
    from = from + 1
  end
  return vim.fn.strcharpart(text, from)
end

--- A text in at most `width` cells. A wider text is cut and ends with `…`.
---@param text string
---@param width integer
---@return string
function M.cut(text, width)
  if api.nvim_strwidth(text) <= width then
    return text
  end
  local more = icon('…')
  return first(text, width - api.nvim_strwidth(more)) .. more
end

--- Replaces a line of a transcript from byte `from` on, so that the extmarks before this byte stay.
--- Does nothing if the line is the same already, or if its bytes before `from` differ.
---@param buf integer
---@param row integer
---@param from integer
---@param line string
---@return boolean # whether the line was written
function M.write(buf, row, from, line)
  local old = api.nvim_buf_get_lines(buf, row, row + 1, false)[1]
  if old == line or old:sub(1, from) ~= line:sub(1, from) then
    return false
  end
  local modifiable = vim.bo[buf].modifiable
  vim.bo[buf].modifiable = true
  api.nvim_buf_set_text(buf, row, from, row, #old, { line:sub(from + 1) })
  vim.bo[buf].modifiable = modifiable
  return true
end

--- The cells that a call's line needs at least: the name, and a little of the arguments.
---@param line string
---@param call caliban.CallLine
---@return integer
function M.least(line, call)
  return api.nvim_strwidth(line:sub(1, call.name)) + (#line > call.name and LEAST or 0)
end

--- The beginning of a text, without the part of a word that was cut, unless this part is long.
---@param begin string
---@param text string
---@return string
local function whole_words(begin, text)
  local words = text:sub(#begin + 1, #begin + 1) ~= ' ' and begin:match('^(.*%S)%s+%S*$') or begin
  return #begin - #words <= LONG_WORD and words or begin
end

--- An argument in at most `width` cells: the end of a path, the first names of a list, or the
--- beginning of any other argument.
---@param main string
---@param call caliban.CallLine
---@param width integer
---@return string
local function short(main, call, width)
  local more = icon('…')
  local left = width - api.nvim_strwidth(more)
  if call.is_path then
    return more .. last(main, left)
  end
  local head = first(main, left)
  local whole = call.names and head or whole_words(head, main) ---@type string
  for _, start in ipairs(call.names or {}) do
    local to = start - call.main[1] ---@type number
    local names = main:sub(1, to --[[@as integer]])
    whole = #names <= #head and names or whole
  end
  return whole .. more
end

--- A call's line in at most `room` cells, but with the tool's whole name. Cuts the main argument.
--- If this argument would keep fewer than `LEAST` cells, leaves the other arguments out, or cuts
--- the end of the line.
---@param line string
---@param call caliban.CallLine
---@param room integer
---@return string
function M.line(line, call, room)
  local over = api.nvim_strwidth(line) - room
  if over <= 0 then
    return line
  end
  local from, to = call.main[1], call.main[2]
  local main = line:sub(from + 1, to)
  local left = api.nvim_strwidth(main) - over
  if left >= LEAST then
    return line:sub(1, from) .. short(main, call, left) .. line:sub(to + 1)
  end
  local name = line:sub(1, call.name) .. '  '
  left = room - api.nvim_strwidth(name)
  local fits = api.nvim_strwidth(main) <= left
  if fits and call.is_path then
    return name .. main
  elseif fits or left < LEAST then
    local more = icon('…')
    return first(line, math.max(room - api.nvim_strwidth(more), api.nvim_strwidth(name))) .. more
  end
  return name .. short(main, call, left)
end

--- The column in the uncut line that corresponds to a column in the cut line.
---@param whole string
---@param cut string
---@param col integer
---@return integer
function M.col(whole, cut, col)
  local same = 0
  while same < #cut and cut:byte(same + 1) == whole:byte(same + 1) do
    same = same + 1
  end
  return col < same and col or math.max(same, #whole - (#cut - col))
end

return M
