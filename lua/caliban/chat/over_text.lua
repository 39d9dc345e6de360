--- The rows above a composer's text: the state of the chat, a warning, the commands of the user's that run, and the chips of
--- what goes with the message.
local M = {}

local api = vim.api
local ns = api.nvim_create_namespace('caliban_composer')

--- The words beside the last chip, where they have room; `GOES` only beside a command's output.
local REMOVES, GOES = '<C-x> removes', '  goes with your next message'
--- The words beside the first chip that is shown, if there is no room for all.
local MORE = '  +%d more'
--- The words beside a command of the user's that runs.
local RUNS, ENDS = '  running · ', '<C-c> ends it'

---@param chat caliban.Chat
---@return integer # the width of a virtual line, in cells
function M.room(chat)
  local win = vim.fn.win_findbuf(chat.composer)[1]
  return math.max(20, (win and api.nvim_win_get_width(win) or 60) - 2)
end

--- The words for a key of Normal mode: in Insert mode the user presses `<Esc>` first.
---@param chat caliban.Chat
---@param words string
---@return string
local function key(chat, words)
  local inserts = api.nvim_get_current_buf() == chat.composer
    and api.nvim_get_mode().mode:find('^i') ~= nil
  return (inserts and '<Esc>' or '') .. words
end

---@param chat caliban.Chat
---@param width integer
---@return [string, string][][] # the commands of the user's that run
local function running(chat, width)
  local shell = package.loaded['caliban.chat.shell'] and require('caliban.chat.shell')
  local commands = shell and shell.running(chat) or {}
  local icon, fit = require('caliban.editor.icons').of, require('caliban.chat.chips').fit
  local words = icon(RUNS) .. key(chat, ENDS)
  return vim.tbl_map(function(command)
    local name = require('caliban.editor.name').shown(command)
    local label = icon('▏') .. fit(name, {}, width - 1 - api.nvim_strwidth(words))
    return { { label, 'CalibanChip' }, { words, 'CalibanDim' } }
  end, commands)
end

--- The chips of what goes with the message.
---@param chat caliban.Chat
---@param width integer
---@param previews boolean whether the end of a command's output is shown below its chip
---@return [string, string][][] rows
---@return [string, string][]? last the last chip
---@return string words beside it
local function chips(chat, width, previews)
  local rows, chip, words = {}, nil, '' ---@type [string, string][][], [string, string][]?, string
  for _, excerpt in ipairs(chat.context) do
    local bar = require('caliban.editor.icons').of('▏')
    local label = require('caliban.chat.chips').excerpt(excerpt, width - 1)
    chip = { { bar .. label, 'CalibanChip' } }
    table.insert(rows, chip)
  end
  local last = previews and not chat.warning and chat.context[#chat.context]
  for _, row in ipairs(last and require('caliban.chat.shell').preview(last, width) or {}) do
    table.insert(rows, { { row, 'CalibanDim' } })
    words = GOES
  end
  for _, mention in ipairs(require('caliban.chat.mentions').rows(chat, width)) do
    chip, words = mention, ''
    table.insert(rows, mention)
  end
  return rows, chip, words
end

--- The last chips for which there is room; the first of them says how many more there are.
---@param chat caliban.Chat
---@param width integer
---@param most integer rows
---@return [string, string][][] rows
---@return [string, string][]? last
local function few(chat, width, most)
  local all, last = chips(chat, width - api.nvim_strwidth(MORE:format(99)), false)
  local hidden = #all - math.max(1, most)
  if hidden > 0 then
    all = vim.list_slice(all, hidden + 1)
    table.insert(all[1], { MORE:format(hidden), 'CalibanDim' })
  end
  return all, last
end

--- The rows, as virtual lines.
---@param chat caliban.Chat
---@return [string, string][][]
function M.rows(chat)
  local rows, most = {}, chat.over
  local width = M.room(chat)
  if chat.state then
    table.insert(rows, chat.state)
  end
  local warning = chat.warning and '! ' .. chat.warning.text or ''
  for _, row in ipairs(require('caliban.editor.wrap').rows(warning, width, '  ')) do
    table.insert(rows, { { row, 'CalibanError' } })
  end
  vim.list_extend(rows, running(chat, width))
  local all, chip, words = chips(chat, width, true)
  if most and #rows + #all > most then
    local some, last = few(chat, width, most - #rows)
    if #some > 1 or some[1] and #some[1] > 1 then
      all, chip, words = some, last, ''
    end
  end
  vim.list_extend(rows, all)
  local taken, removes = 0, '  ' .. key(chat, REMOVES)
  for _, chunk in ipairs(chip or {}) do
    taken = taken + api.nvim_strwidth(chunk[1])
  end
  for _, beside in ipairs(chip and { words .. removes, removes } or {}) do
    if taken + api.nvim_strwidth(beside) <= width then
      table.insert(chip --[[@as table]], { beside, 'CalibanDim' })
      break
    end
  end
  return rows
end

--- The number of rows above the text for which the composer's window has room.
---@param chat caliban.Chat
---@return integer
function M.most(chat)
  local win = vim.fn.win_findbuf(chat.composer)[1]
  if not win then
    return vim.o.lines
  end
  local rows = api.nvim_win_text_height(win, { start_row = 0, start_vcol = 0 }).all
  return math.max(1, vim.fn.getwininfo(win)[1].height - rows) --[[@as integer]]
end

--- Draws the rows.
---@param chat caliban.Chat
---@return integer # their number
function M.draw(chat)
  local rows = M.rows(chat)
  api.nvim_buf_clear_namespace(chat.composer, ns, 0, -1)
  if #rows > 0 then
    local opts = { virt_lines = rows, virt_lines_above = true, right_gravity = false }
    api.nvim_buf_set_extmark(chat.composer, ns, 0, 0, opts)
  end
  return #rows
end

return M
