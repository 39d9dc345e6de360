--- Lays out the tables of a reply in aligned columns, without the marks of Markdown.
local M = {}

local api = vim.api
local icon = require('caliban.editor.icons').of

--- The most rows and columns of a table that is laid out, and the most bytes of a row.
local ROWS, COLUMNS, BYTES = 200, 30, 4000

---@class caliban.TableCell
---@field chunks [string, integer?][] the text in pieces, each with its highlight group
---@field width integer the cells that the text takes on the screen

---@class caliban.Table
---@field first integer the index of the first row in the block
---@field last integer
---@field rows caliban.TableCell[][] without the line of dashes
---@field widths integer[]
---@field sides string[] for each column its alignment: 'l', 'r' or 'c'

---@param s string
---@return boolean
local function is_row(s)
  return #s <= BYTES and s:find('^%s*|.*|%s*$') ~= nil
end

---@param s string
---@return string[]? # for each column its alignment; nil if the line is no line of dashes
local function sides(s)
  local list = {}
  if not is_row(s) or s:find('[^%s|:-]') then
    return nil
  end
  for cell in s:gmatch('|([^|]+)%f[|]') do
    local left, right = cell:match('^%s*(:?)%-+(:?)%s*$')
    if not left then
      return nil
    end
    list[#list + 1] = right == '' and 'l' or left == '' and 'r' or 'c'
  end
  return #list > 0 and #list <= COLUMNS and list or nil
end

--- The cells of a row. A `|` after a backslash or in a code span does not separate cells.
---@param s string
---@return string[]
local function cells(s)
  local list, from, inside = {}, nil, false ---@type string[], integer?, boolean
  for i = 1, #s do
    local sign = s:sub(i, i)
    if sign == '`' then
      inside = not inside
    elseif sign == '|' and not inside and s:sub(i - 1, i - 1) ~= '\\' then
      if from then
        list[#list + 1] = vim.trim(s:sub(from, i - 1))
      end
      from = i + 1
    end
  end
  return list
end

--- A cell as it is drawn.
---@param s string
---@return caliban.TableCell
local function drawn(s)
  local spans = require('caliban.chat.markdown').inline(s)
  local veils, hidden = spans.veils or {}, {} ---@type integer[], table<integer, boolean>
  for n = 1, #veils, 3 do
    for at = veils[n], veils[n + 1] - 1 do
      hidden[at] = true
    end
  end
  local groups = {} ---@type table<integer, integer>
  for n = 1, #spans, 3 do
    for at = spans[n], spans[n + 1] - 1 do
      groups[at] = spans[n + 2]
    end
  end
  local chunks, from = {}, 0 ---@type [string, integer?][], integer
  for at = 0, #s do
    if at == #s or hidden[at] ~= hidden[from] or groups[at] ~= groups[from] then
      if at > from and not hidden[from] then
        chunks[#chunks + 1] = { (s:sub(from + 1, at):gsub('\\|', '|')), groups[from] }
      end
      from = at
    end
  end
  local width = 0
  for _, chunk in ipairs(chunks) do
    width = width + api.nvim_strwidth(chunk[1])
  end
  return { chunks = chunks, width = width }
end

---@param lines string[]
---@param first integer
---@param side string[]
---@return caliban.Table
local function lay_out(lines, first, side)
  local rows, widths = {}, {} ---@type caliban.TableCell[][], integer[]
  for n, line in ipairs(lines) do
    local row = {}
    for column, cell in ipairs(n == 2 and {} or cells(line)) do
      if column <= #side then
        row[column] = drawn(cell)
        widths[column] = math.max(widths[column] or 0, row[column].width)
      end
    end
    rows[n] = row
  end
  return { first = first, last = first + #lines - 1, rows = rows, widths = widths, sides = side }
end

--- The table that a line belongs to; nil if it belongs to none, or if the table is not complete.
---@param buf integer
---@param block caliban.Block
---@param top integer the block's first row
---@param i integer the line's index in the block
---@return caliban.Table?
local function find(buf, block, top, i)
  local low, high = math.max(0, i - ROWS), math.min(block.done, i + ROWS)
  local lines = api.nvim_buf_get_lines(buf, top + low, top + high, false)
  local first, last = i - low + 1, i - low + 1
  while first > 1 and is_row(lines[first - 1]) do
    first = first - 1
  end
  while last < #lines and is_row(lines[last + 1]) do
    last = last + 1
  end
  local side = last > first and sides(lines[first + 1])
  return side and lay_out(vim.list_slice(lines, first, last), low + first - 1, side) or nil
end

--- The text of a table's row, in pieces with their highlight groups; nil if the line is in no
--- table that has a line of dashes, or if the table is wider than the window.
---@param buf integer
---@param block caliban.Block
---@param top integer the block's first row
---@param i integer the line's index in the block
---@param room integer the columns of the window
---@return [string, (integer|string)?][]?
function M.row(buf, block, top, i, room)
  local spans = block.spans[i] ---@as caliban.Spans
  local known = spans.table
  -- a table with a line below it is complete
  if spans.laid ~= block.done and not (known and known.last + 1 < spans.laid) then
    known = find(buf, block, top, i)
    spans.table, spans.laid = known, block.done
  end
  local total = 0
  for column = 1, known and #known.sides or 0 do
    total = total + (known and known.widths[column] or 0) + (column > 1 and 3 or 0)
  end
  if not known or total > room then
    return nil
  end
  local n = i - known.first + 1
  local chunks = {} ---@type [string, (integer|string)?][]
  for column, side in ipairs(known.sides) do
    local width = known.widths[column] or 0
    if n == 2 then
      chunks[#chunks + 1] =
        { icon((column > 1 and '─┼─' or '') .. ('─'):rep(width)), 'CalibanDim' }
    else
      local cell = known.rows[n][column] or { chunks = {}, width = 0 }
      local gap = width - cell.width
      local left = side == 'r' and gap or side == 'c' and math.floor(gap / 2) or 0
      chunks[#chunks + 1] = { column > 1 and icon(' │ ') or '', 'CalibanDim' }
      chunks[#chunks + 1] = { (' '):rep(left) }
      for _, chunk in ipairs(cell.chunks) do
        chunks[#chunks + 1] = { chunk[1], chunk[2] or n == 1 and '@markup.strong' or nil }
      end
      chunks[#chunks + 1] = { (' '):rep(gap - left) }
    end
  end
  return chunks
end

return M
