--- The rows above a composer's text: the state of the chat, a warning, the commands of the user's that run, and the chips of
--- what goes with the message.
local M = {}

local api = vim.api

--- The words beside the last chip, where they have room; `GOES` only beside a command's output.
local REMOVES, GOES = '<C-x> removes', '  goes with your next message'
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

--- The rows, as virtual lines.
---@param chat caliban.Chat
---@return [string, string][][]
function M.rows(chat)
  local rows = {}
  local width = M.room(chat)
  if chat.state then
    table.insert(rows, chat.state)
  end
  local warning = chat.warning and '! ' .. chat.warning.text or ''
  for _, row in ipairs(require('caliban.editor.wrap').rows(warning, width, '  ')) do
    table.insert(rows, { { row, 'CalibanError' } })
  end
  vim.list_extend(rows, running(chat, width))
  local chip, words = nil, '' ---@type [string, string][]?, string
  for _, excerpt in ipairs(chat.context) do
    local bar = require('caliban.editor.icons').of('▏')
    local label = require('caliban.chat.chips').excerpt(excerpt, width - 1)
    chip = { { bar .. label, 'CalibanChip' } }
    table.insert(rows, chip)
  end
  local last = not chat.warning and chat.context[#chat.context]
  for _, row in ipairs(last and require('caliban.chat.shell').preview(last, width) or {}) do
    table.insert(rows, { { row, 'CalibanDim' } })
    words = GOES
  end
  for _, mention in ipairs(require('caliban.chat.mentions').rows(chat, width)) do
    chip, words = mention, ''
    table.insert(rows, mention)
  end
  local label, removes = chip and chip[1][1] or '', '  ' .. key(chat, REMOVES)
  for _, beside in ipairs(chip and { words .. removes, removes } or {}) do
    if api.nvim_strwidth(label .. beside) <= width then
      table.insert(chip --[[@as table]], { beside, 'CalibanDim' })
      break
    end
  end
  return rows
end

return M
