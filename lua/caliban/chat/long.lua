--- Splits very long lines of the transcript into several buffer lines (pieces), because Neovim
--- would compute the layout of a long line again at every change. Each piece except the first has a
--- sign. A yank joins the pieces again.
local M = {}

local api = vim.api
local ns = api.nvim_create_namespace('caliban_chat_long')

--- The most bytes of a piece.
local MOST = 8192

--- Splits the lines that are too long.
---@param lines string[]
---@param col integer bytes before the first line, if it is appended to a buffer line
---@return string[] pieces
---@return integer[] continued the indexes of the pieces that continue the piece before
function M.cut(lines, col)
  local pieces, continued = {}, {} ---@type string[], integer[]
  for _, line in ipairs(lines) do
    local from, room = 1, MOST - col
    while #line - from + 1 > room do
      local till = from + math.max(room, 0)
      till = till + vim.str_utf_start(line, till)
      pieces[#pieces + 1] = line:sub(from, till - 1)
      continued[#continued + 1] = #pieces + 1
      from, room = till, MOST
    end
    pieces[#pieces + 1] = from == 1 and line or line:sub(from)
    col = 0
  end
  return pieces, continued
end

--- Marks pieces that continue the piece before.
---@param buf integer
---@param row integer of the first piece
---@param continued integer[] the indexes that `cut` returns
function M.mark(buf, row, continued)
  for _, i in ipairs(continued) do
    local sign = {
      sign_text = require('caliban.editor.icons').of('↪'),
      sign_hl_group = 'CalibanDim',
      right_gravity = false,
    }
    api.nvim_buf_set_extmark(buf, ns, row + i - 1, 0, sign)
  end
end

--- Removes the marks of lines that are about to be replaced.
---@param buf integer
---@param first integer row
---@param last integer row after the last; -1: to the end
function M.clear(buf, first, last)
  api.nvim_buf_clear_namespace(buf, ns, first, last)
end

--- Whether a buffer line is a piece that continues the line before.
---@param buf integer
---@param row integer
---@return boolean
function M.continues(buf, row)
  return #api.nvim_buf_get_extmarks(buf, ns, { row, 0 }, { row, -1 }, { limit = 1 }) > 0
end

--- Joins the pieces among lines of the buffer.
---@param buf integer
---@param first integer row of the first line
---@param lines string[]
---@return string[] whole the joined lines
---@return integer[] index for each of `lines`, its index in `whole`
function M.join(buf, first, lines)
  local continued = {} ---@type table<integer, true>
  local last = { first + #lines - 1, -1 }
  for _, mark in ipairs(api.nvim_buf_get_extmarks(buf, ns, { first, 0 }, last, {})) do
    continued[mark[2] - first + 1] = true
  end
  local whole, index, pieces = {}, {}, {} ---@type string[], integer[], string[]
  for i, line in ipairs(lines) do
    pieces[#pieces + 1] = line
    index[i] = #whole + 1
    if not continued[i + 1] then
      whole[#whole + 1] = table.concat(pieces)
      pieces = {}
    end
  end
  return whole, index
end

--- The registers that a yank into the register `name` has set.
---@param name string
---@return string[]
local function registers(name)
  if name ~= '' then
    return { name }
  end
  local names, clipboard = { '"' }, vim.opt.clipboard:get() ---@type string[], string[]
  for option, register in pairs({ unnamed = '*', unnamedplus = '+' }) do
    if vim.tbl_contains(clipboard, option) then
      names[#names + 1] = register
    end
  end
  return names
end

--- Joins the pieces in the text that was just yanked. A linewise yank is extended to all pieces of its lines, and gets the
--- uncut lines of calls.
---@param buf integer
function M.yanked(buf)
  local event = vim.v.event
  local kind = event.regtype or ''
  if kind ~= 'v' and kind ~= 'V' or (event.regname or ''):find('%u') then
    return
  end
  local first = api.nvim_buf_get_mark(buf, '[')[1] - 1
  local last = api.nvim_buf_get_mark(buf, ']')[1] - 1
  local lines = event.regcontents ---@as string[]
  local cut = false
  if kind == 'V' then
    while M.continues(buf, first) do
      first = first - 1
    end
    while M.continues(buf, last + 1) do
      last = last + 1
    end
    lines = api.nvim_buf_get_lines(buf, first, last + 1, false)
    cut = require('caliban.chat.beside').uncut(buf, first, lines)
  end
  local whole = M.join(buf, first, lines)
  if cut or #whole < #lines then
    for _, name in ipairs(registers(event.regname or '')) do
      vim.fn.setreg(name, whole, kind)
    end
  end
end

return M
