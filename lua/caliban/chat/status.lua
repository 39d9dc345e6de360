--- A chat's state in words, for its winbars, for statuslines, and for notifications.
local M = {}

local api = vim.api
local icon = require('caliban.editor.icons').of

local waits = {
  permission = 'waiting for you',
  question = 'waiting for you',
  review = 'waiting for your review',
}

--- The name of a project's first conversation, which the winbar does not show.
local FIRST = 'main'

local edit_waits = {
  calm = 'an edit waits until you are in normal mode',
  review = "an edit waits for another chat's review",
}

local busy = { sending = 'thinking', streaming = 'answering' } ---@type table<string, string?>

--- Why an edit of this chat is not in its buffer yet.
---@param chat caliban.Chat
---@return string?
local function waiting_edit(chat)
  local arrival = package.loaded['caliban.review.arrival']
  for _, item in ipairs(arrival and arrival.waiting() or {}) do
    if item.session == chat.session then
      return edit_waits[item.waits]
    end
  end
end

--- The name of a model or a tool, safe for a status that is used in a 'statusline', in which `%` begins an item.
---@param name string
---@return string
function M.harmless(name)
  return (require('caliban.editor.name').shown(name):gsub('%%', '?'))
end

--- A chat's status in words.
---@param chat caliban.Chat
---@return string words
---@return string short the words for little room
function M.words(chat)
  local status = chat.status ---@as caliban.Status
  if status.waiting_for then
    return waits[status.waiting_for], 'waiting'
  elseif status.phase == 'running' then
    local edit = waiting_edit(chat)
    return edit or 'running ' .. M.harmless(status.tool or 'a tool'),
      edit and 'an edit waits' or 'running'
  elseif status.phase == 'retrying' then
    local left = require('caliban.chat.countdown').left(chat)
    return ('trying again in %d s'):format(left), ('again in %d s'):format(left)
  elseif chat.silent_since then
    local seconds = math.floor((vim.uv.hrtime() / 1e6 - chat.silent_since) / 1000)
    return ('no data for %d s'):format(seconds), ('silent %d s'):format(seconds)
  end
  local word = busy[status.phase] or status.phase --[[@as string]]
  return word, word
end

--- Whether the chat goes on only once the user has done something.
---@param chat caliban.Chat
---@return boolean
function M.waits(chat)
  local status = chat.status
  return status ~= nil
    and (status.waiting_for ~= nil or status.phase == 'running' and waiting_edit(chat) ~= nil)
end

---@param n integer
---@return string
local function tokens(n)
  if n < 1000 then
    return tostring(n)
  end
  local short = n < 1e6 and ('%.1fk'):format(n / 1e3) or ('%.1fM'):format(n / 1e6)
  return (short:gsub('%.0', ''))
end

--- Joins the strings among the arguments with ` · `.
---@param ... string|false|nil
---@return string
function M.join(...)
  local parts = {}
  for i = 1, select('#', ...) do
    local part = select(i, ...)
    if part then
      table.insert(parts, part)
    end
  end
  return table.concat(parts, ' · ')
end

---@param status caliban.Status
---@return string?
local function money(status)
  if not status.cost then
    return nil
  end
  local cost = status.cost < 0.01 and '<$0.01' or ('$%.2f'):format(status.cost)
  -- `+`: the price of some requests is not known
  return cost .. (status.unpriced and '+' or '')
end

--- How many background jobs run, in words; nil if none does.
---@param status caliban.Status
---@return string?
local function jobs(status)
  return status.jobs > 0 and require('caliban.editor.count').of(status.jobs, 'job') or nil
end

--- How many workers there are, in words; nil without any.
---@param status caliban.Status
---@return string?
local function workers(status)
  return status.workers and require('caliban.chat.workers').brief(status)
end

--- How full the model's window is, in percent; nil if the window is not known.
---@param status caliban.Status
---@return string?
local function share(status)
  if status.window > 0 then
    return ('%d%%'):format(math.floor(100 * status.size / status.window + 0.5))
  end
end

---@param status caliban.Status
---@return string?
local function usage(status)
  local percent = share(status)
  local text = tokens(status.size)
  if percent then
    return ('%s/%s  %s'):format(text, tokens(status.window), percent)
  end
  return status.size > 0 and text .. ' tokens' or nil
end

--- The number of chats, other than `but`, whose question waits for the user. The question of a subagent is counted once: it
--- waits in the chat that has begun the subagent too.
---@param but? caliban.Chat
---@return integer
function M.questions(but)
  local n, chats = 0, require('caliban.chat.chats')
  local parent = but and chats.parent(but)
  for _, chat in ipairs(chats.all) do
    local is_other = chat ~= but and chat ~= parent and not chat.reading
    local waits_for = is_other and chat.status and chat.status.waiting_for
    if waits_for == 'permission' or waits_for == 'question' then
      n = n + 1
    end
  end
  return n
end

--- The mode in words, such as `coordinator · ask`. A conversation that becomes a coordinator keeps
--- its mode.
---@param status caliban.Status
---@return string
function M.mode(status)
  return (status.coordinates and 'coordinator · ' or '') .. status.mode
end

--- The highlight of each mode's name.
---@type table<string, string?>
local mode_groups = {
  plan = 'CalibanModePlan',
  ask = 'CalibanModeAsk',
  ['auto-edit'] = 'CalibanModeAutoEdit',
  auto = 'CalibanModeAuto',
}

--- A text and its highlight, if it has one of its own, as in virtual text.
---@alias caliban.Chunk [string, string?]

--- The parts that are present, with ` · ` between them.
---@param names string[]
---@param parts table<string, string|false|nil>
---@param groups table<string, string?>
---@return caliban.Chunk[]
local function chunks(names, parts, groups)
  local all = {} ---@type caliban.Chunk[]
  for _, name in ipairs(names) do
    local text = parts[name]
    if text then
      table.insert(all, #all > 0 and { icon(' · ') } or nil)
      table.insert(all, { icon(text), groups[name] })
    end
  end
  return all
end

--- The text of chunks.
---@param of caliban.Chunk[]
---@return string
function M.text(of)
  local texts = vim.tbl_map(function(chunk)
    return chunk[1]
  end, of)
  return table.concat(texts)
end

--- The highlight of the usage, by how full the model's window is.
local fills = { long = 'CalibanLong', full = 'CalibanFull' } ---@type table<string, string?>

--- The parts of the winbar's text, in the order in which they are dropped if there is not enough room. A word is never
--- cut: a part has shorter words or is dropped. Of the state at least its sign stays.
local dropped_first = {
  'unit',
  'all',
  'provider',
  'cached',
  'usage',
  'follows',
  'session',
  'todo',
  'jobs',
  'cost',
  'below',
  'model',
  'agent',
  'workers',
  'state',
  'share',
  'others',
  'saved',
  'asking',
  'mode',
  'words',
}

--- The same for a chat that is only read, such as that of a subagent: of several, the name is what the user looks for.
---@type string[]
local read_dropped_first = vim.tbl_filter(function(name)
  return name ~= 'session'
end, dropped_first)
table.insert(read_dropped_first, #read_dropped_first - 1, 'session')

--- Drops or shortens a part because there is not enough room.
---@param parts table<string, string|false|nil>
---@param name string
---@param short table<string, string|nil> the shorter words of the parts
local function drop(parts, name, short)
  if name == 'provider' then
    parts.model = parts.model and parts.model:match('[^/]*$')
  elseif name == 'unit' then
    parts.usage = parts.usage and parts.usage:gsub(' tokens$', '')
  elseif name == 'share' then
    parts.usage = nil
  elseif name == 'model' then
    parts.model, parts.tour = nil, nil
  elseif name == 'asking' then
    parts.workers = nil
  elseif name == 'words' then
    parts.state = short.sign
  else
    parts[name] = short[name]
  end
end

local left_parts = {
  'session',
  'agent',
  'model',
  'mode',
  'tour',
  'saved',
  'state',
  'follows',
  'todo',
  'jobs',
  'workers',
  'others',
}
local right_parts = { 'below', 'usage', 'all', 'cached', 'cost' }

--- A chat's state and figures, in at most `width` cells if the state fits.
---@param chat caliban.Chat
---@param width integer
---@param below? string the words for the lines below the window
---@param brief_below? string shorter ones
---@return caliban.Chunk[] left, caliban.Chunk[] right
function M.line(chat, width, below, brief_below)
  local status = chat.status
  if not status then
    return { { icon('○ starting') } }, {}
  end
  local others = M.questions(chat)
  local words, brief = M.words(chat)
  local sign = status.phase == 'idle' and '○ ' or '● '
  local asking = status.workers and status.workers.asking or 0
  local short = {
    state = sign .. brief,
    sign = vim.trim(sign),
    usage = share(status),
    below = brief_below,
    workers = asking > 0 and ('%d %s for you'):format(asking, asking == 1 and 'waits' or 'wait')
      or nil,
  }
  local parts = {
    session = chat.session ~= FIRST and chat.session and M.harmless(chat.session),
    agent = status.agent and '@' .. M.harmless(status.agent),
    model = M.harmless(status.model),
    mode = M.mode(status),
    tour = status.tour and 'offline tour',
    saved = chat.reading and 'read only' or status.unsaved and 'not saved',
    state = sign .. words,
    todo = require('caliban.chat.todo').brief(chat),
    follows = chat.followed and 'following',
    jobs = jobs(status),
    workers = workers(status),
    others = others > 0 and (others == 1 and '1 other chat waits' or others .. ' other chats wait'),
    usage = usage(status),
    all = status.input > 0
      and ('in %s · out %s'):format(tokens(status.input), tokens(status.output)),
    cached = status.hit and status.hit > 0 and ('cached %d%%'):format(status.hit),
    cost = money(status),
    below = below,
  }
  local groups = {
    mode = mode_groups[status.mode],
    usage = fills[status.fill],
    state = M.waits(chat) and 'CalibanAsk' or nil,
    workers = asking > 0 and 'CalibanAsk' or nil,
    others = 'CalibanAsk',
  }
  local left, right = {}, {} ---@type caliban.Chunk[], caliban.Chunk[]
  local names = chat.reading and read_dropped_first or dropped_first
  for step = 0, #names do
    if step > 0 then
      drop(parts, names[step], short)
    end
    left, right = chunks(left_parts, parts, groups), chunks(right_parts, parts, groups)
    local gap = #right == 0 and 0 or 2
    if api.nvim_strwidth(M.text(left) .. M.text(right)) + gap <= width then
      break
    end
  end
  return left, right
end

--- Notifies a user who does not look at the chat that the chat waits for the user, has finished, or has changed its
--- mode.
---@param chat caliban.Chat
---@param before? caliban.Status
function M.changed(chat, before)
  local now = chat.status ---@as caliban.Status
  local notification = require('caliban.chat.notification')
  if now.phase ~= 'idle' and (not before or before.phase == 'idle') then
    notification.began(chat)
  end
  if now.waiting_for and now.waiting_for ~= (before and before.waiting_for) then
    local text = ('Caliban is %s (%s).'):format(waits[now.waiting_for], now.session)
    notification.send(chat, 'waiting', text)
  elseif
    now.phase == 'idle'
    and before
    and before.phase ~= 'idle'
    and before.phase ~= 'offline'
  then
    notification.send(chat, 'finished', ('Caliban has finished (%s).'):format(now.session))
  elseif before and now.mode ~= before.mode then
    notification.send(chat, 'mode', ('Caliban is in %s mode (%s).'):format(now.mode, now.session))
  end
  if vim.o.laststatus > 0 then
    vim.cmd.redrawstatus({ bang = true, mods = { emsg_silent = true } })
  end
end

return M
