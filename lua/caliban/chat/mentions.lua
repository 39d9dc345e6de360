--- The mentions in a composer's text: their sizes for the chips, and a preview of the texts that
--- they add. The program reads the mentions some time after the last key.
local M = {}

local api = vim.api

--- The time in milliseconds without a key after which the program is asked for the sizes.
local PAUSE = 200
--- The most lines and bytes of a text whose mentions are read, and the most chips.
local LINES, BYTES, CHIPS = 1000, 256 * 1024, 8

---@class caliban.Mentions
---@field weights caliban.Weight[] as the program answered last
---@field words string the mentions that were asked about last
---@field id integer the last question
---@field due integer counts the changes of the text

local of = setmetatable({}, { __mode = 'k' }) ---@type table<caliban.Chat, caliban.Mentions>
local last = 0

--- Shows the chips of a composer again.
---@param _ caliban.Chat
local function changed(_) end

--- Registers the function that shows the chips of a composer.
---@param show fun(chat: caliban.Chat)
function M.listen(show)
  changed = show
end

--- The id of the question whose answer is a preview.
---@type integer?
local wanted

---@param chat caliban.Chat
---@return caliban.Mentions
local function state(chat)
  of[chat] = of[chat] or { weights = {}, words = '', id = 0, due = 0 }
  return of[chat]
end

--- The words of a text that may be mentions. The program is asked again only if these words change.
---@param lines string[]
---@return string
local function words(lines)
  local found = {} ---@type string[]
  for _, line in ipairs(lines) do
    if line:find('@"', 1, true) or line:find('`', 1, true) then
      found[#found + 1] = line
    else
      for word in line:gmatch('@%S+') do
        found[#found + 1] = word
      end
    end
  end
  return table.concat(found, '\n')
end

---@param chat caliban.Chat
---@param text string
---@param preview? caliban.Excerpt[]
local function ask(chat, text, preview)
  last = last + 1
  require('caliban.program.process').notify({
    kind = 'weigh',
    id = last,
    session = chat.session --[[@as string]],
    text = text,
    preview = preview,
  })
  return last
end

---@param chat caliban.Chat
---@param weights caliban.Weight[]
local function set(chat, weights)
  local it = state(chat)
  if #weights > 0 or #it.weights > 0 then
    it.weights = weights
    changed(chat)
  end
end

---@param chat caliban.Chat
---@param again boolean ask even if the mentions are the same: what they name may have changed
local function weigh(chat, again)
  local usable = require('caliban.chat.chats').usable(chat.composer)
  if not usable or not chat.session or chat.reading then
    return
  end
  local it = state(chat)
  local lines = {} ---@type string[]
  if api.nvim_buf_line_count(chat.composer) <= LINES then
    lines = api.nvim_buf_get_lines(chat.composer, 0, -1, false)
  end
  local text, now = table.concat(lines, '\n'), words(lines)
  if now == '' or #text > BYTES then
    it.words, it.id = '', 0
    set(chat, {})
  elseif now ~= it.words or again then
    it.words, it.id = now, ask(chat, text)
  end
end

--- Called when the text of a composer has changed, or when the user has come back to it.
---@param chat caliban.Chat
---@param again boolean
function M.touch(chat, again)
  local it = state(chat)
  it.due = it.due + 1
  local now = it.due
  vim.defer_fn(function()
    if now == it.due then
      weigh(chat, again)
    end
  end, PAUSE)
end

--- Called when the message was sent: removes the chips at once.
---@param chat caliban.Chat
function M.clear(chat)
  local it = state(chat)
  it.words, it.id, it.weights = '', 0, {}
end

--- The chips, as virtual lines.
---@param chat caliban.Chat
---@param width integer
---@return [string, string][][]
function M.rows(chat, width)
  local rows, cut, name = {}, require('caliban.editor.columns').cut, require('caliban.editor.name')
  local weights, bar = state(chat).weights, require('caliban.editor.icons').of('▏')
  for i, it in ipairs(weights) do
    if i > CHIPS then
      rows[i] = { { bar .. ('and %d more mentions'):format(#weights - CHIPS), 'CalibanChip' } }
      break
    end
    local written = vim.pesc('`' .. it.written .. '`')
    local wrong = it.about:gsub(written, (it.written:gsub('%%', '%%%%')), 1)
    local text = it.is_wrong and cut(name.shown(wrong), width - 1)
      or require('caliban.chat.chips').mention(
        name.shown(it.written),
        name.shown(it.about),
        width - 1
      )
    rows[i] = { { bar .. text, it.is_wrong and 'CalibanError' or 'CalibanChip' } }
  end
  return rows
end

--- Whether a mention ends where this text begins.
---@param rest string the text after the mention
---@return boolean
local function ends(rest)
  return rest:find('^[.!?:]*$') ~= nil or rest:find('^[.!?:]*[%s`"\'<>|()%[%]{},;]') ~= nil
end

--- The places of a mention in a line.
---@param line string
---@param written string
---@return [integer, integer][] first and last byte, from 1
local function places(line, written)
  local found, from = {}, 1
  while true do
    local first, final = line:find(written, from, true)
    if not first or not final then
      return found
    elseif ends(line:sub(final + 1)) then
      found[#found + 1] = { first, final }
    end
    from = final + 1
  end
end

--- Deletes the text of the last mention that has a chip.
---@param chat caliban.Chat
---@return boolean # whether there was one
function M.remove(chat)
  local weights = state(chat).weights
  local weight = weights[math.min(#weights, CHIPS)]
  if not weight then
    return false
  end
  local lines = api.nvim_buf_get_lines(chat.composer, 0, -1, false)
  for row = #lines, 1, -1 do
    local line = lines[row]
    local all = places(line, weight.written)
    if #all > 0 then
      local place = all[#all]
      local blank = line:sub(place[2] + 1, place[2] + 1) == ' ' and 1 or 0
      if blank == 0 and line:sub(place[1] - 1, place[1] - 1) == ' ' then
        place[1] = place[1] - 1
      end
      local last_byte = place[2] + blank
      api.nvim_buf_set_text(chat.composer, row - 1, place[1] - 1, row - 1, last_byte, {})
      -- a copy: `set` compares the chips with those before
      local left = vim.list_slice(weights)
      table.remove(left, math.min(#left, CHIPS))
      set(chat, left)
      M.touch(chat, true)
      return true
    end
  end
  return false
end

--- Whether a composer has chips of mentions.
---@param chat caliban.Chat
---@return boolean
function M.any(chat)
  return #state(chat).weights > 0
end

--- Asks for a preview: of the mention under the cursor, otherwise of everything that goes with the
--- message.
---@param chat caliban.Chat
---@return boolean # whether there is something to preview
function M.preview(chat)
  if not chat.session or chat.reading then
    return false
  end
  local line, col = api.nvim_get_current_line(), api.nvim_win_get_cursor(0)[2] + 1
  for _, weight in ipairs(state(chat).weights) do
    for _, place in ipairs(places(line, weight.written)) do
      if place[1] <= col and col <= place[2] then
        wanted = ask(chat, weight.written, {})
        return true
      end
    end
  end
  local lines = api.nvim_buf_get_lines(chat.composer, 0, LINES, false)
  if words(lines) == '' and #chat.context == 0 then
    return false
  end
  wanted = ask(chat, table.concat(lines, '\n'):sub(1, BYTES), chat.context)
  return true
end

---@param text string
local function show(text)
  local lines = vim.split(text, '\n', { plain = true })
  local place = { relative = 'editor', row = 1, col = 2 } ---@type vim.api.keyset.win_config
  require('caliban.chat.float').show(lines, 'Sent with the message', place, 'K')
end

--- Handles the program's answer: the sizes, or a preview.
---@param message caliban.Weighed
function M.answer(message)
  if message.preview then
    local chat = require('caliban.chat.chats').of(api.nvim_get_current_buf())
    if message.id == wanted and chat and chat.session == message.session then
      wanted = nil
      show(message.preview ~= '' and message.preview or 'Nothing is sent with the message.')
    end
    return
  end
  local chat = require('caliban.chat.chats').find(message.session)
  if chat and state(chat).id == message.id then
    set(chat, message.mentions)
  end
end

return M
