--- Saves open reviews to disk, so that they can be reopened at the next start of Neovim. For each
--- file under review there is a record, a file beside that of its conversation. The first line of a
--- record is JSON, with the lengths of the texts that follow.
local M = {}

local api = vim.api
local disk = require('caliban.editor.disk')
local file = require('caliban.editor.file')
local long = require('caliban.review.hunks.long')
local tracking = require('caliban.review.hunks.tracking')
local state = require('caliban.review.state')
local versions = require('caliban.review.versions')

--- A text with more lines counts as long: its record is written only `WHILE` after a decision, once
--- for all decisions in that time.
local LONG = 4000
--- The delay of writing the record of a long text, in milliseconds.
local WHILE = 1000
--- How long the user has to pause before what they have typed is written, and the longest time that it waits for a
--- pause, in milliseconds.
local PAUSE, LONGEST = 1000, 5000

---@class caliban.Record a review as kept on disk
---@field session string
---@field path string
---@field create boolean
---@field auto boolean
---@field binary boolean
---@field own boolean
---@field eol boolean
---@field agreed? { old: string[], new: string[] }[] the accepted hunks that are not on disk
---@field decided? { fate: caliban.Verdict, of: integer[] }[] the first decision first
---@field reasons caliban.Given[]
---@field was? string
---@field returned? boolean
---@field away? boolean whether the review has ended, because none of its hunks was in the file
---@field whole? caliban.Whole
---@field folders? string[] folders of the file that Caliban has made
---@field hunks caliban.Hunk[] with rows in the text of the base after all hunks are applied
---@field base string[] the text that the user has agreed to
---@field origin string[] the file's text on disk; if it is not known, the base, or for a new file no line
---@field proposals caliban.Entered[]
---@field name string path of the record

local known = {} ---@type table<string, true> paths of records whose reviews are or were open here
local written = {} ---@type table<caliban.Review, string> path of the record, of reviews that have one
--- The reviews whose record is being written; true if it is to be written again afterwards.
local saving = {} ---@type table<caliban.Review, boolean>
local pending = setmetatable({}, { __mode = 'k' }) ---@type table<caliban.Review, integer> changes that were pending at the last write
--- The reviews whose record is to be written after `WHILE`.
local due = {} ---@type table<caliban.Review, boolean>
local ticks = setmetatable({}, { __mode = 'k' }) ---@type table<caliban.Review, integer> changedticks at the last write
--- The reviews in which the user types: a timer, and when they began.
local pauses = {} ---@type table<caliban.Review, { timer: uv.uv_timer_t, since: integer }>
local is_leaving = false -- whether Neovim is about to end
local texts_of = setmetatable({}, { __mode = 'k' }) ---@type table<string[], string> the joined lines of proposals

--- The path of a record.
---@param session string
---@param path string of the file under review
---@return string? # nil if the conversation is not saved to disk
local function name_of(session, path)
  local dir = require('caliban.program.project').folder_of(session)
  return dir and ('%s/%s.review-%s'):format(dir, session, vim.fn.sha256(path):sub(1, 12))
end

---@param text string
---@param count integer the number of the text's lines
---@return string[]
local function lines_of(text, count)
  local lines = count == 0 and {} or vim.split(text, '\n', { plain = true })
  for i, line in ipairs(text:find('\0', 1, true) and lines or {}) do
    lines[i] = line:gsub('%z', '\n')
  end
  return lines
end

--- The text of the buffer before a proposal.
---@param proposal caliban.Entered
---@return string
local function text_of(proposal)
  local lines = proposal.lines
  texts_of[lines] = texts_of[lines] or long.joined(lines)
  return texts_of[lines]
end

--- The parts of a record. A text that occurs several times is stored once.
---@param r caliban.Review
---@return string head the first line
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
  local list, eol, away = tracking.list(r), file.eol(r.buf), versions.away(r)
  list = away and away.hunks or list
  -- `long.base` works in slices: when it returns, the buffer may be gone
  local base = add(long.base(away and away.lines or tracking.lines(r), list))
  local proposals = vim.tbl_map(function(it)
    local text = add(text_of(it), #it.lines)
    local one = { id = it.id, eol = it.eol, whole = it.whole, to = it.to, text = text }
    one.key, one.count, one.calls = it.key, it.count, it.calls
    return long.json(one, { edits = it.edits })
  end, r.proposals)
  local text = away and long.joined(away.lines) or r.origin
  local origin = text and (at[text] or add(text, text == '' and 0 or long.count(text)))
  local fields = vim.tbl_extend('error', state.stored(r), {
    version = 1,
    eol = eol,
    away = not r.open or nil,
    decided = require('caliban.review.verdict').list(r),
    base = base,
    origin = origin,
    agreed = vim.tbl_map(function(it)
      return { start = it.start, old = it.old, new = it.new }
    end, state.agreed(r)),
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

--- Whether a review is to be saved to disk.
---@param r caliban.Review
---@return boolean
local function is_kept(r)
  local is_loaded = api.nvim_buf_is_loaded(r.buf)
  if not r.open then
    return is_loaded and versions.away(r) ~= nil
  end
  -- a signal that ends Neovim has closed the buffers before `VimLeavePre`; then the copy of the text is written
  return is_loaded or is_leaving and next(tracking.lines(r)) ~= nil
end

--- Writes a record, in slices.
---@param name string
---@param r caliban.Review
---@return boolean done false if the buffer has changed meanwhile
local function save(name, r)
  if not is_kept(r) then
    return true
  end
  local tick = api.nvim_buf_get_changedtick(r.buf)
  local head, texts = parts(r)
  if not is_kept(r) then
    return true
  elseif tick ~= api.nvim_buf_get_changedtick(r.buf) then
    return false
  end
  table.insert(texts, 1, head .. '\n')
  disk.replace(name, texts)
  ticks[r] = tick
  return true
end

---@param r caliban.Review
local function end_pause(r)
  local it = pauses[r] ---@as { timer: uv.uv_timer_t, since: integer }?
  if it then
    it.timer:close()
    pauses[r] = nil
  end
end

--- Removes the record of a review because the review has ended.
---@param r caliban.Review
function M.drop(r)
  end_pause(r)
  local name = written[r] ---@as string?
  pending[r] = nil
  written[r] = nil
  -- the review of a file may be elsewhere (see `named`), and another one of the file have begun
  if name and not vim.list_contains(vim.tbl_values(written), name) then
    os.remove(name)
  end
end

--- Notes that the file `name` is the record of a review.
---@param r caliban.Review
---@param name string
function M.adopt(r, name)
  known[name], written[r] = true, name
end

--- Writes a record in the background, and once more if the review has changed meanwhile.
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

--- Writes the record of a review in the background, after a delay if its text is long.
---@param r caliban.Review
function M.save(r)
  local name = is_kept(r) and name_of(r.session, r.path)
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
  if api.nvim_buf_line_count(r.buf) <= LONG then
    return start(name, r)
  end
  due[r] = true
  vim.defer_fn(function()
    due[r] = nil
    if is_kept(r) and written[r] and saving[r] == nil then
      start(written[r], r)
    end
  end, first and 1 or WHILE)
end

--- Writes the record once the user has paused, if the text has changed since it was last written.
---@param r caliban.Review
local function save_typed(r)
  if not written[r] or ticks[r] == api.nvim_buf_get_changedtick(r.buf) then
    return
  end
  local now = math.floor(vim.uv.hrtime() / 1e6)
  local it = pauses[r] or { timer = vim.uv.new_timer(), since = now }
  pauses[r] = it
  local wait = math.max(0, math.min(PAUSE, it.since + LONGEST - now))
  it.timer:start(
    wait --[[@as integer]],
    0,
    vim.schedule_wrap(function()
      end_pause(r)
      if is_kept(r) and written[r] then
        tracking.sync(r)
        M.save(r)
      end
    end)
  )
end

--- Called after the program has renamed a conversation and its records. Writes the record of a
--- review under the new name if the review is open; otherwise removes the record.
---@param r caliban.Review
function M.move(r)
  local name = name_of(r.session, r.path)
  if r.open then
    M.save(r)
  elseif name then
    os.remove(name)
  end
end

--- Writes the record of a review for the Neovim that takes the review over. Afterwards this Neovim
--- no longer writes the record.
---@param r caliban.Review
function M.hand_over(r)
  local name = name_of(r.session, r.path)
  if name then
    save(name, r)
    written[r], known[name] = nil, nil
  end
end

-- saves the text that the user has typed since the record was last written
api.nvim_create_autocmd('VimLeavePre', {
  group = api.nvim_create_augroup('caliban.review.restore.record', {}),
  callback = function()
    is_leaving = true
    for r, name in pairs(written) do
      if is_kept(r) then
        if api.nvim_buf_is_loaded(r.buf) then
          pcall(tracking.sync, r)
        end
        pcall(save, name, r)
      end
    end
  end,
})

---@param name string
---@return caliban.Record? # nil if the file is no valid record
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
  it.base, it.origin = texts[it.base], texts[it.origin] or (it.create and {} or texts[it.base])
  for _, proposal in ipairs(it.proposals) do
    proposal.lines, proposal.program = texts[proposal.text], 0
  end
  it.name = name
  return it
end

--- Reads the records of a conversation, for reopening. A record is returned only once.
---@param message caliban.Session
---@return caliban.Record[]
function M.waiting(message)
  local out = {} ---@type caliban.Record[]
  local dir = require('caliban.program.project').dir(message.root)
  for _, record in ipairs(dir and message.reviews or {}) do
    local name = ('%s/%s'):format(dir, record)
    local it = not known[name] and read(name)
    known[name] = true
    if it then
      -- the conversation may have been renamed since the record was written
      it.session = message.session
      out[#out + 1] = it
    end
  end
  return out
end

require('caliban.review.listeners').add({
  looked = function(r, decided)
    if not decided then
      save_typed(r)
    end
  end,
  pending = function(r, decided)
    local count = state.count(r)
    if count > 0 and (decided or pending[r] ~= count) then
      -- the first `save` of a review calls `drop`, which clears `pending[r]`, so the count is set afterwards
      M.save(r)
      pending[r] = count
    end
  end,
  closed = function(r)
    if versions.away(r) and written[r] then
      return M.save(r)
    end
    M.drop(r)
  end,
  renamed = M.move,
})

return M
