--- The records of open reviews on disk, so that they outlive the editor: beside their conversation's file, one for each
--- file under review. The first line is JSON, and behind it stand the texts that it counts.
local M = {}

local api = vim.api
local disk = require('caliban.editor.disk')
local file = require('caliban.editor.file')
local long = require('caliban.review.hunks.long')
local tracking = require('caliban.review.hunks.tracking')
local state = require('caliban.review.state')

--- Lines that are joined between two rests. A text of more is long: it is written a while after a decision, and once
--- for all that were made by then.
local PART = 4000
--- That while, in ms.
local WHILE = 1000

---@class caliban.Record a review as it stood
---@field session string
---@field path string
---@field create boolean
---@field auto boolean
---@field binary boolean
---@field own boolean
---@field eol boolean
---@field decided? { fate: caliban.Verdict, of: integer[] }[] of the changes, the first decision first
---@field reasons caliban.Reason[]
---@field was? string
---@field whole? caliban.Whole
---@field hunks caliban.Hunk[] their rows are those of the base with the hunks in it
---@field base string[] the text agreed to
---@field origin string[] the disk's, as far as it is known
---@field proposals caliban.Entered[]
---@field name string of its file

local known = {} ---@type table<string, true> files of reviews that are, or were, open here
local written = {} ---@type table<caliban.Review, string> what is on disk, and where
local saving = {} ---@type table<caliban.Review, boolean> being written; whether it has changed meanwhile
local pending = setmetatable({}, { __mode = 'k' }) ---@type table<caliban.Review, integer> changes at the last write
local due = {} ---@type table<caliban.Review, boolean> to be written after a while
local texts_of = setmetatable({}, { __mode = 'k' }) ---@type table<string[], string> the joined lines of proposals

---@param session string
---@param path string
---@return string? # absent where the conversation is not kept
local function name_of(session, path)
  local dir = require('caliban.program.project').kept_in(session)
  return dir and ('%s/%s.review-%s'):format(dir, session, vim.fn.sha256(path):sub(1, 12))
end

---@param text string
---@param count integer
---@return string[]
local function lines_of(text, count)
  local lines = count == 0 and {} or vim.split(text, '\n', { plain = true })
  for i, line in ipairs(text:find('\0', 1, true) and lines or {}) do
    lines[i] = line:gsub('%z', '\n')
  end
  return lines
end

---@param proposal caliban.Entered
---@return string
local function text_of(proposal)
  local lines = proposal.lines
  texts_of[lines] = texts_of[lines] or long.joined(lines)
  return texts_of[lines]
end

--- What is written of a review, and nothing of it twice.
---@param r caliban.Review
---@return string head
---@return string[] texts
local function parts(r)
  local texts, counts, at = {}, {}, {} ---@type string[], integer[][], table<string, integer>
  ---@param text string
  ---@param count integer
  ---@return integer
  local function add(text, count)
    if not at[text] or counts[at[text]][2] ~= count then
      texts[#texts + 1], counts[#counts + 1] = text, { #text, count }
      at[text] = #texts
    end
    return at[text]
  end
  local list, eol = tracking.list(r), file.eol(r.buf)
  -- from here on the buffer may be gone: this work goes on between keys
  local base = add(long.base(tracking.lines(r), list))
  local proposals = vim.tbl_map(function(it)
    local text = add(text_of(it), #it.lines)
    local one = { id = it.id, eol = it.eol, whole = it.whole, to = it.to, text = text }
    one.key, one.count = it.key, it.count
    return long.json(one, { edits = it.edits })
  end, r.proposals)
  local text = r.origin
  local origin = text and (at[text] or add(text, text == '' and 0 or long.count(text)))
  local fields = vim.tbl_extend('error', state.stored(r), {
    version = 1,
    eol = eol,
    decided = require('caliban.review.verdict').list(r),
    base = base,
    origin = origin,
    texts = counts,
  })
  local head = long.json(fields, {
    hunks = vim.tbl_map(function(it)
      return { start = it.start, new = it.new, old = it.old, of = it.of, typed = it.typed }
    end, list),
    proposals = proposals,
  })
  return head, texts
end

---@param r caliban.Review
---@return boolean
local function there(r)
  return r.open and api.nvim_buf_is_loaded(r.buf)
end

---@param name string
---@param r caliban.Review
---@return boolean done false: the buffer has changed meanwhile
local function save(name, r)
  if not there(r) then
    return true
  end
  local tick = api.nvim_buf_get_changedtick(r.buf)
  local head, texts = parts(r)
  if not there(r) then
    return true
  elseif tick ~= api.nvim_buf_get_changedtick(r.buf) then
    return false
  end
  table.insert(texts, 1, head .. '\n')
  disk.replace(name, texts)
  return true
end

--- Nothing of it is pending any more.
---@param r caliban.Review
function M.drop(r)
  local name = written[r] ---@as string?
  pending[r] = nil
  if name then
    os.remove(name)
    written[r] = nil
  end
end

--- A review is the one that is on disk under this name.
---@param r caliban.Review
---@param name string
function M.adopt(r, name)
  known[name], written[r] = true, name
end

---@param name string
---@param r caliban.Review
local function start(name, r)
  saving[r] = false
  long.run(function()
    return save(name, r)
  end, function(ok, done)
    local again = saving[r] or done == false
    saving[r] = nil
    if not ok then
      error(done, 0)
    elseif again then
      M.save(r)
    end
  end)
end

--- Keeps what is pending in a file now.
---@param r caliban.Review
function M.save(r)
  local name = there(r) and name_of(r.session, r.path)
  if not name or due[r] then
    return
  elseif saving[r] ~= nil then
    saving[r] = true
    return
  end
  local first = written[r] ~= name
  if first then
    M.drop(r)
  end
  M.adopt(r, name)
  if api.nvim_buf_line_count(r.buf) <= PART then
    return start(name, r)
  end
  due[r] = true
  vim.defer_fn(function()
    due[r] = nil
    if there(r) and written[r] and saving[r] == nil then
      start(written[r], r)
    end
  end, first and 1 or WHILE)
end

--- Its conversation has another name, and what is on disk went along.
---@param r caliban.Review
function M.move(r)
  local name = name_of(r.session, r.path)
  if r.open then
    M.save(r)
  elseif name then
    os.remove(name)
  end
end

--- Another Neovim is to take it up: what is on disk is how it stands.
---@param r caliban.Review
function M.hand_over(r)
  local name = name_of(r.session, r.path)
  if name then
    save(name, r)
    written[r], known[name] = nil, nil
  end
end

-- what was typed since
api.nvim_create_autocmd('VimLeavePre', {
  group = api.nvim_create_augroup('caliban.review.restore.record', {}),
  callback = function()
    for r, name in pairs(written) do
      if r.open and api.nvim_buf_is_loaded(r.buf) then
        pcall(tracking.sync, r)
        pcall(save, name, r)
      end
    end
  end,
})

---@param name string
---@return caliban.Record? # absent: nothing that can be read
local function read(name)
  local all = disk.read(name) or ''
  local stop = all:find('\n', 1, true) or 0
  local ok, it = pcall(vim.json.decode, all:sub(1, stop - 1), { luanil = { object = true } })
  if not ok or type(it) ~= 'table' or not require('caliban.review.restore.schema').is_one(it) then
    return nil
  end
  local texts, from = {}, stop + 1 ---@type string[][], integer
  for i, count in ipairs(it.texts) do
    texts[i] = lines_of(all:sub(from, from + count[1] - 1), count[2])
    from = from + count[1]
  end
  if from ~= #all + 1 or not require('caliban.review.restore.schema').fits(it, texts) then
    return nil
  end
  it.base, it.origin = texts[it.base], texts[it.origin] or texts[it.base]
  for _, proposal in ipairs(it.proposals) do
    proposal.lines, proposal.program = texts[proposal.text], 0
  end
  it.name = name
  return it
end

--- The reviews of a conversation that wait from before; each is given once.
---@param message caliban.SessionOpened
---@return caliban.Record[]
function M.waiting(message)
  local out = {} ---@type caliban.Record[]
  local dir = require('caliban.program.project').dir(message.root)
  for _, record in ipairs(dir and message.reviews or {}) do
    local name = ('%s/%s'):format(dir, record)
    local it = not known[name] and read(name)
    known[name] = true
    if it then
      -- its conversation may have had another name when it was written
      it.session = message.session
      out[#out + 1] = it
    end
  end
  return out
end

require('caliban.review.listeners').add({
  pending = function(r, decided)
    local count = state.count(r)
    if count > 0 and (decided or pending[r] ~= count) then
      -- the first write drops what an older record left, and this number with it
      M.save(r)
      pending[r] = count
    end
  end,
  closed = M.drop,
  renamed = M.move,
})

return M
