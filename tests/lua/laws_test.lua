--- Random scripts on a real buffer against the plainest model: the base as a whole text per undo state.
local H = require('bench')
local B = require('caliban.buffers')
local R = require('caliban.review')
local T = {}
local api = vim.api

---@return string[]
local function lines()
  return require('caliban.file').lines(0)
end

---@return string[]
local function base()
  local hunks = vim.tbl_map(function(h)
    return { start = h.start, new = h.added, old = h.removed }
  end, B.pending(0))
  return R.base(lines(), hunks)
end

local serial = 0

---@param n integer
---@return string[]
local function words(n)
  local out = {}
  for i = 1, n do
    serial = serial + 1
    out[i] = math.random() < 0.5 and string.char(96 + math.random(4)) or 'w' .. serial
  end
  return out
end

local function propose()
  local now = lines()
  local after = vim.list_slice(now)
  for _ = 1, math.random(2) do
    local at = math.random(0, #after)
    local count = math.min(#after - at, math.random(0, 2))
    for _ = 1, count do
      table.remove(after, at + 1)
    end
    for i, word in ipairs(words(math.random(0, 2))) do
      table.insert(after, at + i, word)
    end
  end
  local want = base()
  H.sent()
  H.propose({ H.proposal(api.nvim_buf_get_name(0), now, after) })
  local told = H.sent()
  H.eq('entered', told[1].state, told[1].why)
  H.eq(after, lines(), 'a proposal gives its text')
  H.eq(want, base(), 'and leaves the base')
end

--- A line typed at a random place; true if it must be the user's own.
---@return string word, boolean own
local function type_line()
  serial = serial + 1
  local word, row = 'typed' .. serial, math.random(api.nvim_buf_line_count(0))
  local own = true
  for _, h in ipairs(B.pending(0)) do
    own = own and not (h.start < row and row < h.start + h.count)
  end
  vim.cmd(('silent normal! %dGo%s'):format(row, word))
  return word, own
end

---@param verdict 'accept'|'reject'
local function decide(verdict)
  local was, text = base(), lines()
  local scope = ({ 'file', 'range', 'hunk' })[math.random(3)]
  local first = math.random(api.nvim_buf_line_count(0))
  api.nvim_win_set_cursor(0, { first, 0 })
  local last = math.random(first, api.nvim_buf_line_count(0))
  B[verdict]({ scope = scope, range = scope == 'range' and { first, last } or nil })
  if verdict == 'accept' then
    H.eq(text, lines(), 'accepting leaves the buffer')
  else
    H.eq(was, base(), 'rejecting leaves the base')
  end
  if scope == 'file' then
    H.eq(verdict == 'accept' and text or was, lines(), verdict .. ' of the file')
    H.eq('', H.pending(0))
  end
end

---@return integer
local function state()
  return vim.fn.undotree().seq_cur
end

function T.random_scripts()
  math.randomseed(5)
  for _ = 1, 150 do
    H.fresh()
    vim.cmd.edit(H.write('f.txt', 'a\nb\nc\nd\ne\na\nb\n'))
    propose()
    local typed = {}
    local bases = { [state()] = { base(), lines() } } -- undo state: base and text
    for _ = 1, 25 do
      local what = math.random()
      if what < 0.2 then
        propose()
      elseif what < 0.45 then
        local word, own = type_line()
        if own then
          typed[word] = true
          assert(vim.list_contains(base(), word), 'a line typed outside is in the base')
        end
      elseif what < 0.55 then
        vim.cmd(('silent normal! %dGdd'):format(math.random(api.nvim_buf_line_count(0))))
      elseif what < 0.75 then
        decide(math.random() < 0.5 and 'accept' or 'reject')
      else
        vim.cmd('silent ' .. (math.random() < 0.6 and 'undo' or 'redo'))
        local known = bases[state()]
        if known then
          H.eq(known[2], lines(), 'undo gives the text back')
          H.eq(known[1], base(), 'and the base')
        end
      end
      if math.random() < 0.5 then
        H.settle()
      end
      bases[state()] = { base(), lines() }
      for word in pairs(typed) do
        typed[word] = vim.list_contains(lines(), word) or nil
      end
      local before = lines()
      for _, h in ipairs(B.pending(0)) do
        H.eq(
          h.added,
          vim.list_slice(before, h.start + 1, h.start + h.count),
          'a hunk is what stands there'
        )
      end
    end
    local kept = vim.tbl_filter(function(word)
      return vim.list_contains(base(), word)
    end, vim.tbl_keys(typed))
    B.reject({ scope = 'file' })
    for _, word in ipairs(kept) do
      assert(vim.list_contains(lines(), word), 'reject-all lost a line typed outside')
    end
  end
end

return T
