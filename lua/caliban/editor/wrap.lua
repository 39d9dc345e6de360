--- Breaks texts into rows that fit the width of a window.
local M = {}

local api = vim.api

---@class caliban.Narrowest the narrowest window that shows a transcript
---@field win integer
---@field room integer the cells that a row of text has
---@field even boolean whether all windows that show the transcript have this width

--- The beginning of a text: at most `width` cells, but at least one character.
---@param text string
---@param width integer
---@return string
function M.first(text, width)
  if #text <= width then
    return text
  end
  local count = math.max(1, width)
  local some = text:sub(1, 8 * count)
  if not some:find('[\128-\255]') then
    return some:sub(1, count)
  end
  while count > 1 and api.nvim_strwidth(vim.fn.strcharpart(some, 0, count)) > width do
    count = count - 1
  end
  return vim.fn.strcharpart(some, 0, count)
end

--- Breaks a text into rows of at most `width` cells: between words, or within a word that is wider than a row. All rows
--- but the first begin with `indent`.
---@param text string
---@param width integer
---@param indent string
---@return string[]
function M.rows(text, width, indent)
  local rows, row = {}, ''
  for word in text:gmatch('%S+') do
    if row ~= '' and api.nvim_strwidth(row .. ' ' .. word) > width then
      rows[#rows + 1], row = row, indent .. word
    else
      row = row == '' and word or row .. ' ' .. word
    end
    while api.nvim_strwidth(row) > width and #row > #indent do
      local first = M.first(row, math.max(width, #indent + 1))
      if first == row then
        break
      end
      rows[#rows + 1], row = first, indent .. row:sub(#first + 1)
    end
  end
  rows[#rows + 1] = row ~= '' and row or nil
  return rows
end

---@param win integer
---@param buf integer
---@return boolean
function M.shows(win, buf)
  return api.nvim_win_is_valid(win) and api.nvim_win_get_buf(win) == buf
end

---@param buf integer
---@return caliban.Narrowest? # nil if no window shows the buffer
function M.narrowest(buf)
  local found ---@type caliban.Narrowest?
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    local room = api.nvim_win_get_width(win) - vim.fn.getwininfo(win)[1].textoff
    if room > 0 and (not found or room < found.room) then
      found = { win = win, room = room, even = not found }
    elseif found and room > found.room then
      found.even = false
    end
  end
  return found
end

return M
