--- The user's decisions on the changes that were proposed for a file. The user sees these decisions
--- in a notice and in the list of changes; the program tells them to the model. Each proposed
--- change has a key, and each hunk has the keys of the changes of which it is a part. A change that
--- is neither decided nor pending is no longer in the text.
local M = {}

local index = require('caliban.review.hunks.index')
local tracking = require('caliban.review.hunks.tracking')

---@alias caliban.Verdict 'accepted'|'reworked'|'rejected'|'reverted'|'thrown'|'left'

---@class caliban.Decided a decision, and the decisions before it. Never changed, because undo states share decisions
---@field fate caliban.Verdict
---@field of integer[] keys of the changes, as in a hunk
---@field before? caliban.Decided

---@class caliban.Tally how many changes were accepted, rejected, and so on
---@field accepted integer changes that were accepted as proposed
---@field reworked integer changes that were accepted after the user had changed them
---@field part integer changes of which only a part was accepted
---@field rejected integer
---@field reverted integer changes that a formatter has taken back as the file was written
---@field thrown integer changes that another program has thrown away on disk
---@field left integer changes that the user had not decided on when the review ended
---@field any integer `accepted`, `reworked` and `part` together

local last = 0 ---@type integer the last key in use

--- The words that tell the user how changes were decided. The words for the model are in `edit::outcome`.
local WORDS = {
  accepted = 'accepted',
  reworked = 'reworked',
  part = 'accepted in part',
  rejected = 'rejected',
  reverted = 'taken back by a formatter',
  thrown = 'undone on disk',
  left = 'not decided',
}

--- The fates that are not the user's decisions on hunks.
local OTHER = { reject = 'rejected', revert = 'reverted', throw = 'thrown', leave = 'left' }

local NO_KEYS = {} ---@type integer[]

--- Makes keys for the changes of a proposal.
---@param count integer
---@return integer # the first key minus 1
function M.new_keys(count)
  last = last + count
  return last - count
end

--- A string that identifies the lines of a hunk: hunks with equal strings have the same lines.
---@param hunk caliban.Hunk
---@return string
local function key(hunk)
  return table.concat(hunk.old, '\n') .. '\0' .. table.concat(hunk.new, '\n')
end

--- A string that identifies the lines of a hunk without their blanks: hunks whose new lines differ
--- only in blanks have equal strings. Empty if the hunk changes nothing but blanks.
---@param hunk caliban.Hunk
---@return string
local function without_blanks(hunk)
  local old, new = table.concat(hunk.old), table.concat(hunk.new)
  local bare = new:gsub('%s', '')
  return bare ~= old:gsub('%s', '') and '\1' .. key({ start = 0, old = hunk.old, new = { bare } })
    or ''
end

---@class caliban.Written the hunks as the model wrote them
---@field came caliban.Hunks[] the hunks after each proposal, until `texts` identifies them
---@field texts table<string, true> the strings of `key` and `without_blanks` that identify hunks
---@field seen integer the number of proposals that were recorded

local written = setmetatable({}, { __mode = 'k' }) ---@type table<caliban.Review, caliban.Written>

--- Called when a review begins: forgets the hunks of an earlier review.
---@param r caliban.Review
function M.begin(r)
  written[r] = { came = {}, texts = {}, seen = 0 }
end

--- Records the hunks after a new proposal, as the model wrote them.
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
  -- the strings are computed only now, because computing them when 2,000 hunks are applied would
  -- block the editor
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

--- Records a decision on hunks. A hunk without keys, from the record of an older Caliban, gets the key `0`.
---@param r caliban.Review
---@param verdict 'accept'|'reject'|'revert'|'throw'|'leave'
---@param taken caliban.Hunk[]
function M.decided(r, verdict, taken)
  local of = {} ---@type table<caliban.Verdict, integer[]>
  for _, hunk in ipairs(taken) do
    local fate = OTHER[verdict] or reworked(r, hunk) and 'reworked' or 'accepted'
    of[fate] = of[fate] or {}
    local keys = of[fate]
    for _, k in ipairs(hunk.of or { 0 }) do
      keys[#keys + 1] = k
    end
  end
  for fate, keys in pairs(of) do
    if #keys > 0 then
      tracking.decide(r, { fate = fate, of = keys, before = r.decided })
    end
  end
end

--- The hunks of which no change is pending any more.
---@param r caliban.Review
---@param was caliban.Hunk[] hunks that were pending
---@return caliban.Hunk[]
function M.missing(r, was)
  local pending = {} ---@type table<integer, true>
  index.each(tracking.hunks(r), function(hunk)
    for _, k in ipairs(hunk.of or NO_KEYS) do
      pending[k] = true
    end
  end)
  return vim.tbl_filter(function(hunk)
    for _, k in ipairs(hunk.of or NO_KEYS) do
      if pending[k] == true then
        return false
      end
    end
    return true
  end, was)
end

--- Whether the user has decided on any change in the current undo state.
---@param r caliban.Review
---@return boolean
function M.has_decisions(r)
  return r.decided ~= nil
end

--- The decision on a whole change, from the decisions on two of its parts.
---@param one? caliban.Decision
---@param other caliban.Decision
---@return caliban.Decision
local function joined(one, other)
  if not one or one == other then
    return other
  end
  local both = { [one] = true, [other] = true }
  if both.left then
    return 'left'
  end
  for _, fate in ipairs({ 'rejected', 'reverted' }) do
    if both[fate] and (both.thrown or both.reverted) then
      return fate
    end
  end
  local is_absent = both.rejected or both.reverted or both.thrown
  return (is_absent or both.part) and 'part' or 'reworked'
end

--- The decision on each change.
---@param r caliban.Review
---@return table<integer, caliban.Decision> fates by key
---@return table<integer, true> past keys of changes that a later proposal changed again
---@return caliban.Decision[]? pieces the decision on each hunk, if some hunks have no key
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

--- The fate of a change that is neither decided nor pending: the user has removed it by typing or by `u`. If they have
--- given a new file a text of their own instead, they have reworked it.
---@param r caliban.Review
---@param at integer the number of the change's proposal
---@return caliban.Decision
local function removed(r, at)
  local is_other = at == 1
    and r.create
    and vim.api.nvim_buf_is_loaded(r.buf)
    and not require('caliban.editor.file').empty(r.buf)
  return is_other and 'reworked' or 'rejected'
end

--- The decisions for the program: for each proposal, a list with the decision on each of its
--- changes. The list is empty if the proposal was stored by an older version of Caliban, which gave
--- changes no keys.
---@param r caliban.Review
---@return caliban.Decision[][]
function M.decisions(r)
  local fates, all = fold(r), {}
  for at, it in ipairs(r.proposals) do
    local out = {} ---@type caliban.Decision[]
    for n = 1, fates[0] == nil and it.count or 0 do
      out[n] = fates[(it.key or 0) + n] or removed(r, at)
    end
    all[at] = out
  end
  return all
end

--- The user's reasons for the program: for each proposal, the changes that a reason is for, counted from 0.
---@param r caliban.Review
---@return caliban.Reason[]
function M.reasons(r)
  return vim.tbl_map(function(given)
    local changes = vim.tbl_map(function(it)
      local out = {} ---@type integer[]
      for _, k in ipairs(given.of or NO_KEYS) do
        local size = k < 0 and -k or k ---@type integer
        local first = it.key or 0 ---@type integer
        local n = size - first
        if it.key and n > 0 and n <= (it.count or 0) then
          table.insert(out, n - 1)
        end
      end
      return out
    end, r.proposals)
    return { changes = changes, whole = given.whole == true, reason = given.reason }
  end, r.reasons)
end

---@param r caliban.Review
---@param only? caliban.Entered[] the proposals whose changes are counted; default: all
---@return caliban.Tally
local function tallied(r, only)
  local fates, past, pieces = fold(r)
  local pending = {} ---@type table<integer, true>
  index.each(tracking.hunks(r), function(hunk)
    local of = hunk.of or NO_KEYS
    for n = 1, #of do
      local k = of[n]
      local own = k < 0 and -k or k
      pending[own], past[own] = true, k < 0 or past[own]
    end
  end)
  local out = {
    accepted = 0,
    reworked = 0,
    part = 0,
    rejected = 0,
    reverted = 0,
    thrown = 0,
    left = 0,
    any = 0,
  }
  for at, it in ipairs(pieces and {} or r.proposals) do
    local counts = not only or vim.list_contains(only, it)
    for k = (it.key or 0) + 1, (it.key or 0) + (counts and it.count or 0) do
      if not pending[k] and not past[k] then
        local fate = fates[k] or removed(r, at)
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

---@class caliban.Tallied
---@field hunks? caliban.Hunks
---@field decided? caliban.Decided
---@field proposals? caliban.Entered[]
---@field count? integer the number of proposals
---@field tick? integer the changedtick of the buffer
---@field tally? caliban.Tally

--- The last result of `tally`, until the garbage collector frees it. The end of a review calls
--- `tally` several times.
local latest = setmetatable({}, { __mode = 'v' }) ---@type caliban.Tallied

--- The numbers for the user: how many changes were accepted, rejected, and so on. Pending changes
--- are not counted.
---@param r caliban.Review
---@return caliban.Tally
function M.tally(r)
  local hunks, known = tracking.hunks(r), latest.tally
  local is_valid = vim.api.nvim_buf_is_valid(r.buf)
  local tick = is_valid and vim.api.nvim_buf_get_changedtick(r.buf) or -1
  local stands = latest.hunks == hunks
    and latest.decided == r.decided
    and latest.proposals == r.proposals
    and latest.count == #r.proposals
    and latest.tick == tick
  if known and stands then
    return known
  end
  local tally = tallied(r)
  latest.hunks, latest.decided, latest.tally = hunks, r.decided, tally
  latest.proposals, latest.count, latest.tick = r.proposals, #r.proposals, tick
  return tally
end

--- The number of pending hunks that are parts of the changes of some proposals.
---@param r caliban.Review
---@param of caliban.Entered[]
---@return integer
function M.pending(r, of)
  local count = 0
  index.each(tracking.hunks(r), function(hunk)
    for _, k in ipairs(hunk.of or NO_KEYS) do
      local own = math.abs(k)
      for _, it in ipairs(of) do
        if own > (it.key or 0) and own <= (it.key or 0) + (it.count or 0) then
          count = count + 1
          return
        end
      end
    end
  end)
  return count
end

local FATES = { 'accepted', 'reworked', 'part', 'rejected', 'reverted', 'thrown', 'left' }

--- Adds to `sums` how many changes of some proposals were decided in which way.
---@param r caliban.Review
---@param of caliban.Entered[]
---@param sums table<string, integer>
function M.add(r, of, sums)
  local tally = M.has_decisions(r) and tallied(r, of) or {}
  for _, fate in ipairs(FATES) do
    sums[fate] = (sums[fate] or 0) + (tally[fate] or 0)
  end
end

--- The sums of `add` in words.
---@param sums table<string, integer>
---@return string[]
function M.worded(sums)
  local out = {} ---@type string[]
  for _, fate in ipairs(FATES) do
    if (sums[fate] or 0) > 0 then
      out[#out + 1] = ('%d %s'):format(sums[fate], WORDS[fate])
    end
  end
  return out
end

--- The numbers in words, such as `1 accepted`. Empty if nothing is decided in the current undo
--- state.
---@param r caliban.Review
---@return string[]
function M.words(r)
  local tally, out = M.tally(r), {}
  if not M.has_decisions(r) and tally.reworked == 0 then
    return out
  end
  for _, fate in ipairs(FATES) do
    if tally[fate] > 0 then
      local is_unclear = fate == 'reworked' and r.outside
      local words = is_unclear and 'reworked in the editor or on disk' or WORDS[fate]
      out[#out + 1] = ('%d %s'):format(tally[fate], words)
    end
  end
  return out
end

--- The decisions, for the record on disk.
---@param r caliban.Review
---@return { fate: caliban.Verdict, of: integer[] }[] list the first decision first
function M.list(r)
  local reversed, out, it = {}, {}, r.decided
  while it do
    reversed[#reversed + 1] = { fate = it.fate, of = it.of }
    it = it.before
  end
  for i = #reversed, 1, -1 do
    out[#out + 1] = reversed[i]
  end
  return out
end

--- Restores the decisions from the record on disk.
---@param r caliban.Review
---@param list { fate: caliban.Verdict, of: integer[] }[]
---@param again? boolean whether accepted changes have to be decided again
function M.take_up(r, list, again)
  for _, it in ipairs(r.proposals) do
    -- new keys have to be different from the keys in the record
    last = math.max(last, (it.key or 0) + (it.count or 0))
  end
  tracking.decide(r, nil)
  for _, it in ipairs(list) do
    if not again or it.fate ~= 'accepted' and it.fate ~= 'reworked' then
      tracking.decide(r, { fate = it.fate, of = it.of, before = r.decided })
    end
  end
end

--- Takes the decisions on these hunks back, because the hunks are pending again.
---@param r caliban.Review
---@param hunks caliban.Hunk[]
function M.take_back(r, hunks)
  local pending = {} ---@type table<integer, true>
  for _, hunk in ipairs(hunks) do
    for _, k in ipairs(hunk.of or { 0 }) do
      pending[k] = true
    end
  end
  local list = M.list(r)
  tracking.decide(r, nil)
  for _, it in ipairs(list) do
    local of = vim.tbl_filter(function(k)
      return it.fate ~= 'thrown' and it.fate ~= 'left' or not pending[k]
    end, it.of)
    if #of > 0 then
      tracking.decide(r, { fate = it.fate, of = of, before = r.decided })
    end
  end
end

--- The hunks no change of which has one of these keys.
---@param hunks caliban.Hunk[]
---@param keys table<integer, true> the numbers of changes, without signs
---@return caliban.Hunk[]
function M.without(hunks, keys)
  return vim.tbl_filter(function(hunk)
    for _, k in ipairs(hunk.of or { 0 }) do
      if keys[math.abs(k)] == true then
        return false
      end
    end
    return true
  end, hunks)
end

--- The hunks on no change of which the user has decided.
---@param r caliban.Review
---@param hunks caliban.Hunk[]
---@return caliban.Hunk[]
function M.undecided(r, hunks)
  local done, it = {}, r.decided ---@type table<integer, true>, caliban.Decided?
  while it do
    for _, k in ipairs((it.fate == 'thrown' or it.fate == 'left') and NO_KEYS or it.of) do
      done[math.abs(k)] = true
    end
    it = it.before
  end
  return M.without(hunks, done)
end

--- The last decision in the undo state of the review's buffer; nil if there is none.
---@param r caliban.Review
---@return caliban.Decided?
function M.last(r)
  return r.decided
end

return M
