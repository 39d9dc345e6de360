--- Aligns the rows of a list in columns, measured in cells of the screen.
local M = {}

--- The cells between two columns.
local GAP = 2
--- The fewest cells of the column `give`, which is shortened first, and the most cells of another
--- column.
local FEW, MOST = 12, 28
--- The largest share of a row for a column other than `give`.
local PART = 1 / 3
--- The most characters of a text that has more than four times as many bytes. Such a text is cut
--- before it is measured, because measuring all of it would take long.
local LONG = 400

--- Cuts a text to `cells` cells of the screen, with `…` at the end.
---@param text string
---@param cells integer
---@return string
function M.cut(text, cells)
  if vim.fn.strdisplaywidth(text) <= cells then
    return text
  end
  local more = require('caliban.editor.icons').of('…')
  local count = math.min(vim.fn.strchars(text), cells)
  while count > 0 and vim.fn.strdisplaywidth(vim.fn.strcharpart(text, 0, count) .. more) > cells do
    count = count - 1
  end
  return vim.fn.strcharpart(text, 0, count) .. more
end

--- A text with `?` in place of control characters, cut if it is long.
---@param text string
---@return string
local function clean(text)
  -- a character has at most four bytes, so the characters that are kept are whole
  local short = #text > 4 * LONG and vim.fn.strcharpart(text:sub(1, 4 * LONG + 4), 0, LONG) or text
  return require('caliban.editor.name').shown(short)
end

---@param widths integer[]
---@return integer
local function total(widths)
  local sum = 0
  for _, width in ipairs(widths) do
    sum = sum + (width > 0 and width + GAP or 0)
  end
  return math.max(0, sum - GAP)
end

--- The width of each column; 0 leaves a column out. If the columns do not fit, `give` is shortened
--- first; then the last columns are left out. Cells that are free go to `give`, then to the last
--- column.
---@param rows (string[]|string)[]
---@param cells integer
---@param give integer
---@return integer[]
local function measure(rows, cells, give)
  local whole = {} ---@type integer[]
  for _, row in ipairs(rows) do
    for i, text in ipairs(type(row) == 'table' and row or {}) do
      whole[i] = math.max(whole[i] or 0, vim.fn.strdisplaywidth(text))
    end
  end
  local most = math.min(MOST, math.floor(cells * PART))
  local widths = {} ---@type integer[]
  for i, width in ipairs(whole) do
    widths[i] = math.min(width, i == give and FEW or most)
  end
  for i = #widths, give + 1, -1 do
    widths[i] = total(widths) <= cells and widths[i] or 0
  end
  for _, i in ipairs({ give, #widths }) do
    local now = widths[i] or 0
    widths[i] = now > 0 and math.max(now, math.min(whole[i], now + cells - total(widths))) or now
  end
  return widths
end

--- The rows as lines of at most `cells` cells. A row that is a single string belongs to no column
--- and is not cut.
---@param rows (string[]|string)[]
---@param cells integer
---@param give integer the column that is shortened if the others leave it no room
---@return string[]
function M.lay(rows, cells, give)
  local cleaned = {} ---@type (string[]|string)[]
  for i, row in ipairs(rows) do
    cleaned[i] = type(row) == 'table' and vim.tbl_map(clean, row) or clean(row --[[@as string]])
  end
  local widths = measure(cleaned, cells, give)
  return vim.tbl_map(function(row)
    if type(row) == 'string' then
      return row
    end
    local parts = {} ---@type string[]
    for i, width in ipairs(widths) do
      if width > 0 then
        local text = M.cut(row[i] or '', width)
        parts[#parts + 1] = text .. (' '):rep(width - vim.fn.strdisplaywidth(text))
      end
    end
    return (M.cut(table.concat(parts, (' '):rep(GAP)), cells):gsub(' +$', ''))
  end, cleaned)
end

return M
