--- Random edits and decisions on a real buffer, compared with a simple model that keeps the whole
--- text of the base for each undo state.
local H = require('bench')
local B = require('caliban.review')
local R = require('caliban.review.hunks.algebra')
local T = {}
local api = vim.api

---@return string[]
local function lines()
  return require('caliban.editor.file').lines(0)
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

--- Types a line at a random place.
---@return string word, boolean own whether the line is outside of all hunks
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

function T.random_proposals_decisions_and_undos_keep_the_base_and_typed_lines()
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
          'the lines of a hunk stand in the buffer'
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

--- Lines of unique words. The second letter of each word says whose word it is.
---@param whose 'u'|'x'
---@param n integer
---@return string[]
local function marked(whose, n)
  local out = {}
  for i = 1, n do
    local line = {}
    for k = 1, math.random(3) do
      serial = serial + 1
      line[k] = string.char(96 + math.random(20)) .. whose .. serial
    end
    out[i] = table.concat(line, ' ')
  end
  return out
end

---@param list string[]
---@return table<string, integer> for each word: how often it occurs in the lines
local function words_of(list)
  local out = {}
  for _, line in ipairs(list) do
    for word in line:gmatch('%w+') do
      out[word] = (out[word] or 0) + 1
    end
  end
  return out
end

--- Opens a file with lines of the user, and applies a proposal with lines of the agent.
---@param most integer
local function marked_review(most)
  H.fresh()
  local before = marked('u', math.random(2, most))
  local after = vim.list_slice(before)
  for _ = 1, math.random(3) do
    local at = math.random(0, #after)
    for _ = 1, math.min(#after - at, math.random(0, 2)) do
      table.remove(after, at + 1)
    end
    for i, line in ipairs(marked('x', math.random(0, 3))) do
      table.insert(after, at + i, line)
    end
  end
  vim.cmd.edit(H.write('f.txt', table.concat(before, '\n') .. '\n'))
  vim.bo.textwidth = 16
  H.propose({ H.proposal(api.nvim_buf_get_name(0), before, after) })
end

--- The words in the buffer outside of all hunks.
---@return table<string, integer> for each word: how often it occurs
local function users_words()
  local here, row, out = lines(), 0, {}
  for _, h in ipairs(B.pending(0)) do
    vim.list_extend(out, here, row + 1, h.start)
    row = h.start + h.count
  end
  return words_of(vim.list_extend(out, here, row + 1, #here))
end

local ADDRESSES = { '%', '1,3', '2,5', '.,$', '3,4' }
local MOVES =
  { 'sort', 'sort!', 'sort n', 'sort u', '!tac', 'g/[a-m]/m0', 'g/u/m$', 'm0', 'm$', 'm3' }
local CHANGES = {
  's/u/U/',
  's/[ux]/y/g',
  's/ /\r/',
  's/\\n/ /',
  '>',
  'join',
  'join!',
  'normal! gqq',
  'normal! 2J',
  'normal! gqG',
  'normal! ddp',
  'normal! yyP',
  '!fmt -w 12',
  't2',
  'd',
}

---@param list string[]
---@return string command
local function command(list)
  local address, what = ADDRESSES[math.random(#ADDRESSES)], list[math.random(#list)]
  return (what:find('^normal') and math.random(api.nvim_buf_line_count(0)) or address) .. what
end

--- Commands change and move lines of the user and of the agent; then a decision must not remove a word of the user.
function T.after_any_command_a_decision_removes_no_word_of_the_user()
  math.randomseed(7)
  local kept, lost = 0, 0
  for _ = 1, 600 do
    marked_review(math.random() < 0.1 and 90 or 8)
    local pure = math.random() < 0.5
    local done, was = {}, words_of(base())
    for _ = 1, math.random(3) do
      local mine = users_words()
      done[#done + 1] = command(pure and MOVES or CHANGES)
      local text, from, state_then = lines(), base(), state()
      -- a typed command is an undo step of its own
      vim.bo.undolevels = vim.bo.undolevels
      pcall(vim.cmd --[[@as function]], 'silent! ' .. done[#done])
      if math.random() < 0.7 then
        H.settle()
      end
      local what = table.concat(done, ' | ') .. '\n' .. table.concat(text, '\n')
      if pure then
        H.eq(was, words_of(base()), 'a move leaves the base its words: ' .. what)
      end
      local there, left = words_of(lines()), words_of(base())
      local once = words_of(text)
      for word in pairs(mine) do
        local ours = left[word] or not there[word] or once[word] > 1
        assert(ours, word .. " is no longer the user's: " .. what)
        kept, lost = kept + 1, lost + (there[word] and 0 or 1)
      end
      if state() ~= state_then and math.random() < 0.3 then
        local to = lines()
        vim.cmd('silent undo')
        H.eq({ text, from }, { lines(), base() }, 'undone: ' .. what)
        vim.cmd('silent redo')
        H.eq(to, lines())
        H.eq(left, words_of(base()), 'done again: ' .. what)
      end
    end
    local mine = users_words()
    decide(math.random() < 0.3 and 'accept' or 'reject')
    local there = words_of(lines())
    for word in pairs(mine) do
      assert(there[word], word .. ' is gone after ' .. table.concat(done, ' | '))
    end
    B.reject({ scope = 'file' })
  end
  assert(kept > 5 * lost, 'most commands leave the words')
end

return T
