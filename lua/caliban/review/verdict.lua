--- What the user decided of the changes that were proposed for a file. Both are told from this record: the user in a
--- notice and in the list of changes, and the model by the program. A change is known by its key, and each hunk says
--- of which changes it is a part. What nothing was decided of, and is not pending, is not in the text any more.
local M = {}

local index = require('caliban.review.hunks.index')
local tracking = require('caliban.review.hunks.tracking')

---@alias caliban.Verdict 'accepted'|'reworked'|'rejected'

---@class caliban.Decided one key press, and those before it; never changed in place: undo states share it
---@field fate caliban.Verdict
---@field of integer[] keys of the changes, as of a hunk
---@field before? caliban.Decided

---@class caliban.Tally changes by what became of them
---@field accepted integer
---@field reworked integer accepted as the user has changed them
---@field part integer accepted in part
---@field rejected integer
---@field any integer accepted, whether whole, changed or in part

local last = 0 ---@type integer the last key that was given out

--- Keys for the changes of a proposal.
---@param count integer
---@return integer # the one before the first
function M.new_keys(count)
  last = last + count
  return last - count
end

---@param hunk caliban.Hunk
---@return string
local function key(hunk)
  return table.concat(hunk.old, '\n') .. '\0' .. table.concat(hunk.new, '\n')
end

--- As `key`, for all that differ from it in blanks. Empty where blanks are what was proposed.
---@param hunk caliban.Hunk
---@return string
local function without_blanks(hunk)
  local old, new = table.concat(hunk.old), table.concat(hunk.new)
  local bare = new:gsub('%s', '')
  return bare ~= old:gsub('%s', '') and '\1' .. key({ start = 0, old = hunk.old, new = { bare } })
    or ''
end

---@class caliban.Written what the model wrote
---@field came caliban.Hunks[] the hunks of each proposal, until `texts` has them
---@field texts table<string, true> the same by their text
---@field seen integer how many of the proposals those are of

local written = setmetatable({}, { __mode = 'k' }) ---@type table<caliban.Review, caliban.Written>

--- Nothing is known of what the model wrote.
---@param r caliban.Review
function M.begin(r)
  written[r] = { came = {}, texts = {}, seen = 0 }
end

--- Keeps the hunks of a new proposal, as the model wrote them.
---@param r caliban.Review
function M.follow(r)
  local it = written[r]
  if it.seen < #r.proposals then
    it.seen = #r.proposals
    it.came[#it.came + 1] = tracking.hunks(r)
  end
end

--- Whether the user has changed a hunk since the model wrote it.
---@param r caliban.Review
---@param hunk caliban.Hunk
---@return boolean
local function reworked(r, hunk)
  if not hunk.typed then
    return false
  end
  -- only here: at the entry of 2,000 hunks these strings would hold the editor up
  local texts = written[r].texts
  for _, came in ipairs(written[r].came) do
    for _, it in ipairs(index.list(came)) do
      if not it.typed then
        texts[key(it)], texts[without_blanks(it)] = true, true
      end
    end
  end
  written[r].came, texts[''] = {}, nil
  return not texts[key(hunk)] and not texts[without_blanks(hunk)]
end

--- The user has decided on hunks. One without a key is of a record that an older Caliban wrote: `0` stands for it.
---@param r caliban.Review
---@param verdict 'accept'|'reject'
---@param taken caliban.Hunk[]
function M.decided(r, verdict, taken)
  local of = { accepted = {}, reworked = {}, rejected = {} } ---@type table<caliban.Verdict, integer[]>
  for _, hunk in ipairs(taken) do
    local fate = verdict == 'reject' and 'rejected'
      or reworked(r, hunk) and 'reworked'
      or 'accepted'
    vim.list_extend(of[fate], hunk.of or { 0 })
  end
  for fate, keys in pairs(of) do
    if #keys > 0 then
      tracking.decide(r, { fate = fate, of = keys, before = r.decided })
    end
  end
end

--- Whether the user has decided on any change in the present undo state.
---@param r caliban.Review
---@return boolean
function M.has_decisions(r)
  return r.decided ~= nil
end

---@param one? caliban.Decision
---@param other caliban.Decision
---@return caliban.Decision
local function joined(one, other)
  if not one or one == other then
    return other
  end
  local both = { [one] = true, [other] = true }
  return (both.rejected or both.part) and 'part' or 'reworked'
end

--- What was decided of each change, by its key; which were changed again by a later proposal.
---@param r caliban.Review
---@return table<integer, caliban.Decision> fates
---@return table<integer, true> past
---@return caliban.Decision[]? pieces what was decided of each hunk, where some have no key
local function fold(r)
  local fates, past = {}, {} ---@type table<integer, caliban.Decision>, table<integer, true>
  local pieces = {} ---@type caliban.Decision[]
  local it = r.decided
  while it do
    for _, k in ipairs(it.of) do
      local own = math.abs(k)
      fates[own], past[own] = joined(fates[own], it.fate), k < 0 or past[own]
      pieces[#pieces + 1] = it.fate
    end
    it = it.before
  end
  return fates, past, fates[0] and pieces or nil
end

--- For the program: what became of each change of each proposal. Of one whose changes have no keys nothing is known.
---@param r caliban.Review
---@return caliban.Decision[][]
function M.decisions(r)
  local fates = fold(r)
  return vim.tbl_map(function(it)
    local out = {} ---@type caliban.Decision[]
    for n = 1, fates[0] == nil and it.count or 0 do
      out[n] = fates[(it.key or 0) + n] or 'rejected'
    end
    return out
  end, r.proposals)
end

--- For the user: the changes that are not pending, by what became of them.
---@param r caliban.Review
---@return caliban.Tally
function M.tally(r)
  local fates, past, pieces = fold(r)
  local pending = {} ---@type table<integer, true>
  for _, hunk in ipairs(tracking.list(r)) do
    for _, k in ipairs(hunk.of or {}) do
      pending[math.abs(k)], past[math.abs(k)] = true, k < 0 or past[math.abs(k)]
    end
  end
  local out = { accepted = 0, reworked = 0, part = 0, rejected = 0, any = 0 }
  for _, it in ipairs(pieces and {} or r.proposals) do
    for k = (it.key or 0) + 1, (it.key or 0) + (it.count or 0) do
      if not pending[k] and not past[k] then
        local fate = fates[k] or 'rejected'
        out[fate] = out[fate] + 1
      end
    end
  end
  for _, fate in ipairs(pieces or {}) do
    out[fate] = out[fate] + 1
  end
  out.any = out.accepted + out.reworked + out.part
  return out
end

--- A tally in words, as `1 accepted`. Empty where nothing is decided in the present undo state.
---@param r caliban.Review
---@param words table<caliban.Decision, string>
---@return string[]
function M.words(r, words)
  if not M.has_decisions(r) then
    return {}
  end
  local tally, out = M.tally(r), {}
  for _, fate in ipairs({ 'accepted', 'reworked', 'part', 'rejected' }) do
    if tally[fate] > 0 then
      out[#out + 1] = ('%d %s'):format(tally[fate], words[fate])
    end
  end
  return out
end

--- What was decided, for a record on disk.
---@param r caliban.Review
---@return { fate: caliban.Verdict, of: integer[] }[] the first decision first
function M.list(r)
  local last_first, out, it = {}, {}, r.decided
  while it do
    last_first[#last_first + 1] = { fate = it.fate, of = it.of }
    it = it.before
  end
  for i = #last_first, 1, -1 do
    out[#out + 1] = last_first[i]
  end
  return out
end

--- The same, back from there.
---@param r caliban.Review
---@param list { fate: caliban.Verdict, of: integer[] }[]
---@param again? boolean what was accepted has to be decided again
function M.take_up(r, list, again)
  for _, it in ipairs(r.proposals) do
    -- keys of the Neovim before are not given out again
    last = math.max(last, (it.key or 0) + (it.count or 0))
  end
  tracking.decide(r, nil)
  for _, it in ipairs(list) do
    if not again or it.fate == 'rejected' then
      tracking.decide(r, { fate = it.fate, of = it.of, before = r.decided })
    end
  end
end

--- The text was read from disk again. What was written at once and is still there is accepted by that.
---@param r caliban.Review
---@param was caliban.Hunk[] pending before
function M.reread(r, was)
  if r.auto and tracking.text(r) == r.origin then
    M.decided(r, 'accept', was)
  else
    tracking.decide(r, nil)
  end
end

return M
