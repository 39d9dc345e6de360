--- The open question of a chat: its lines, which of them have been on the screen, and when the last key was pressed.
local M = {}

local ns = vim.api.nvim_create_namespace('caliban.consent')

--- The last line of a question that does not take keys yet.
M.WAITS = require('caliban.editor.icons').of('  …')

--- The open question of a chat.
---@class caliban.Question
---@field call string
---@field lines string[] as the program sent them; the last one names the keys
---@field seen (true|table<integer, true>)[] for each line: true if all of it has been seen, else the bytes seen
---@field subject integer[][] the parts of the lines that the user decides on: index of the line from 0, first byte, byte after the last
---@field shell? boolean whether these parts are a command for a shell
---@field look? caliban.QuestionLook
---@field folds table<integer, true> the lines that hide a part of the question
---@field since? number when the question was first on the screen, or when a key was last pressed, in ms
---@field armed? boolean whether the question takes keys
---@field objected? string why an answer was not accepted, as the user was told last
---@field told? boolean whether the user was told that lines have not been on the screen
---@field said? string what the user was told last about the question
---@field placed? boolean whether a window has shown its first line
---@field whole table<integer, boolean> the windows that had room for all of it
---@field why? boolean whether the user has just asked to show or hide the explanation
---@field reveals? integer the number of lines from the explanation's first line on, if the user has just asked for the explanation
---@field always? boolean whether a rule is proposed
---@field explains? boolean whether Caliban can say why it asks
---@field command? string the command, if the user may change it
---@field asks? caliban.Asks the place and the options of a question that the model asks
---@field answered? boolean whether an answer was sent: a later question of the same call then starts with no line seen

--- When the last key was pressed, and whether the user pressed it (not a mapping or a macro). Kept
--- up to date while a question is open.
local pressed, by_hand = 0, false ---@type number, boolean

--- The current time, on the same clock as `since`.
---@return number ms
function M.now()
  return vim.uv.hrtime() / 1e6
end

--- Whether a chat has an open question.
local function any()
  for _, chat in ipairs(require('caliban.chat.chats').all) do
    if chat.question then
      return true
    end
  end
  return false
end

--- The number of equal lines at the beginning of two lists.
---@param was string[]
---@param lines string[]
---@return integer
local function common(was, lines)
  local head = 0
  while head < math.min(#was, #lines) and was[head + 1] == lines[head + 1] do
    head = head + 1
  end
  return head
end

--- For each of the new lines, whether it has been on the screen. Lines at the start and the end
--- that are equal to the old ones keep their state; all others count as unseen.
---@param old? caliban.Question
---@param lines string[]
---@return (true|table<integer, true>)[]
local function carried(old, lines)
  local seen, n = {}, #lines
  -- the user has marked an option of the model's question, in which nothing else changes
  if old and old.asks and #old.lines == n then
    return old.seen
  end
  for i = 1, n do
    seen[i] = {}
  end
  local was = old and old.lines or {}
  local most, head = math.min(#was, n), common(was, lines)
  for i = 1, head do
    seen[i] = old and old.seen[i]
  end
  local tail = 0
  while old and tail < most - head and was[#was - tail] == lines[n - tail] do
    seen[n - tail] = old.seen[#was - tail]
    tail = tail + 1
  end
  return seen
end

--- Records a question that is painted. Lines that were seen before stay seen. A question that
--- accepted keys before still accepts keys, unless the transcript was reset.
---@param chat caliban.Chat
---@param update caliban.BlockUpdate
---@return string[] lines to paint
function M.take(chat, update)
  local lines = update.lines or {}
  local old = chat.question or chat.repainted
  old = old and old.call == update.call and not old.answered and old or nil
  old = old and vim.deep_equal(old.asks, update.asks) and old or nil
  local folds = {}
  for _, at in ipairs(update.folds or {}) do
    folds[at + 1] = true
  end
  local question = {
    call = update.call or '',
    lines = lines,
    seen = carried(old, lines),
    subject = update.subject or {},
    shell = update.shell,
    folds = folds,
    always = update.always,
    explains = update.explains,
    command = update.command,
    asks = update.asks,
    armed = old and old == chat.question and old.armed or nil,
    placed = old and old.placed,
    whole = old and old.whole or {},
    said = old and old.said,
    told = old and old.told,
  }
  if old and old.why and #lines > #old.lines then
    question.reveals = #lines - common(old.lines, lines)
  end
  chat.question, chat.repainted = question, nil
  require('caliban.chat.todo').avoid(chat)
  vim.on_key(function(_, typed)
    pressed, by_hand = M.now(), typed ~= ''
  end, ns)
  if question.armed then
    return lines
  end
  local shown = vim.list_slice(lines, 1, #lines - 1)
  table.insert(shown, M.WAITS)
  return shown
end

--- Called when the transcript is reset: keeps the question, which may be painted again.
---@param chat caliban.Chat
function M.repaint(chat)
  chat.repainted, chat.question = chat.question or chat.repainted, nil
end

--- Called when the question is answered or withdrawn: forgets the question. If no other chat has a
--- question, stops watching keys.
---@param chat caliban.Chat
function M.gone(chat)
  local question = chat.question or chat.repainted
  require('caliban.editor.notify').withdraw(question and question.said)
  chat.question, chat.repainted = nil, nil
  require('caliban.chat.todo').avoid(chat)
  if not any() then
    vim.on_key(nil, ns)
  end
end

--- When the last key was pressed while a question was open, and whether the user pressed it, not a
--- macro or a mapping of another key.
---@return number ms
---@return boolean by_hand
function M.last_key()
  return pressed, by_hand
end

return M
