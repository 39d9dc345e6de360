--- Random scripts of real keys in several windows, of edits by plugins, of decisions and restarts, compared with a model
--- that knows nothing of what Neovim reports: the text of the base, the text of the buffer, and what each act does to
--- both. The environment variables `KEYS` and `KEYS_SEED` set the number of scripts and the seed of the first one.
local H = require('bench')
local B = require('caliban.review')
local R = require('caliban.review.hunks.algebra')
local T = {}
local api = vim.api

local SCRIPTS, SEED = tonumber(vim.env.KEYS) or 500, tonumber(vim.env.KEYS_SEED) or 1
local STEPS = 12

---@return string[]
local function lines()
  return require('caliban.editor.file').lines(0)
end

---@class Hunk rows [first, last) are pending instead of the lines `old`
---@field first integer
---@field last integer
---@field old string[]

---@class Look
---@field text string[] the buffer's lines
---@field base string[] the lines that rejecting everything would leave
---@field hunks Hunk[]
---@field seq integer

local story = {} ---@type string[]
local recent = {} ---@type Look[] since the last decision or proposal

---@return Look
local function look()
  H.settle()
  local text, hunks, plain = lines(), {}, {}
  local row = -1
  for i, h in ipairs(B.pending(0)) do
    assert(h.start > row, 'hunks are apart: ' .. table.concat(story, ' | '))
    row = h.start + h.count
    H.eq(h.added, vim.list_slice(text, h.start + 1, row), table.concat(story, ' | '))
    hunks[i] = { first = h.start, last = row, old = h.removed }
    plain[i] = { start = h.start, new = h.added, old = h.removed }
    local parts = R.diff(h.removed, h.added, h.start)
    H.eq(
      1,
      #parts,
      'nothing is pending that is the same in base and buffer: ' .. table.concat(story, ' | ')
    )
  end
  return { text = text, base = R.base(text, plain), hunks = hunks, seq = vim.fn.undotree().seq_cur }
end

---@param look Look
---@return string
local function shown(look)
  local out = {}
  for _, h in ipairs(look.hunks) do
    local new = vim.list_slice(look.text, h.first + 1, h.last)
    out[#out + 1] = ('%d:-%s+%s'):format(h.first, table.concat(h.old, ','), table.concat(new, ','))
  end
  return ('text %s\nbase %s\nhunks %s'):format(
    table.concat(look.text, ','),
    table.concat(look.base, ','),
    table.concat(out, ' ')
  )
end

---@param what string
---@param before Look
---@param after Look
---@return string
local function context(what, before, after)
  local done = vim.list_slice(story, math.max(1, #story - 7))
  return ('%s after %s\n%s\nthen\n%s'):format(what, vim.inspect(done), shown(before), shown(after))
end

---@param ok boolean
---@param what string
---@param before Look
---@param after Look
local function check(ok, what, before, after)
  if not ok then
    error(context(what, before, after), 2)
  end
end

---@param keys string
local function typed(keys)
  story[#story + 1] = keys
  api.nvim_feedkeys(vim.keycode(keys), 'tx', false)
end

--- Begins an act of a plugin: as between two keys, the undo block before it has ended.
---@param what string
local function plugin(what)
  story[#story + 1] = what
  vim.bo.undolevels = vim.bo.undolevels
end

local serial = 0

--- A new word of the user (`u`) or of the agent (`x`).
---@param whose 'u'|'x'|'b'
---@return string
local function word(whose)
  serial = serial + 1
  return whose .. serial
end

---@param list string[]
---@return table<string, integer>
local function count(list)
  local out = {}
  for _, line in ipairs(list) do
    for it in line:gmatch('%w+') do
      out[it] = (out[it] or 0) + 1
    end
  end
  return out
end

--- The lines outside of all hunks.
---@param it Look
---@return string[]
local function outside(it)
  local out, row = {}, 0
  for _, h in ipairs(it.hunks) do
    vim.list_extend(out, it.text, row + 1, h.first)
    row = h.last
  end
  return vim.list_extend(out, it.text, row + 1, #it.text)
end

---@param it Look
---@param row integer
---@return Hunk?
local function hunk_at(it, row)
  for _, h in ipairs(it.hunks) do
    if h.first <= row and row < h.last then
      return h
    end
  end
end

---@param it Look
---@param row integer a row outside of hunks
---@return integer the line's row in the base
local function base_row(it, row)
  local shift = 0
  for _, h in ipairs(it.hunks) do
    if h.first <= row then
      shift = shift + #h.old - (h.last - h.first)
    end
  end
  return row + shift
end

---@param list string[]
---@param line string
---@return string[]
local function without(list, line)
  local out, dropped = {}, false
  for _, it in ipairs(list) do
    if it == line and not dropped then
      dropped = true
    else
      out[#out + 1] = it
    end
  end
  return out
end

---@param list string[]
---@param words table<string, integer>
---@return string[] the words of the list that are in `words`
local function among(list, words)
  local out = {}
  for _, line in ipairs(list) do
    for it in line:gmatch('%w+') do
      if words[it] then
        out[#out + 1] = it
      end
    end
  end
  return out
end

--------------------------------------------------------------------------------------------- acts with a whole model

---@type table<string, fun(before: Look): fun(after: Look)|nil>
local ACTS = {}

function ACTS.type_a_line(before)
  local row, it = math.random(0, #before.text), word('u')
  typed(row == 0 and ('ggO' .. it .. '<Esc>') or ('%dGo%s<Esc>'):format(row, it))
  local within = false
  for _, h in ipairs(before.hunks) do
    within = within or (h.first < row and row < h.last)
  end
  return function(after)
    check(vim.list_contains(after.text, it), 'the line is typed', before, after)
    local want = within and before.base or without(after.base, it)
    check(vim.deep_equal(before.base, want), 'the base has its lines', before, after)
    check(within or vim.list_contains(after.base, it), "the line is the user's", before, after)
  end
end

--- Whether a line equal to this one, with only such lines in between, is in a hunk. If one of these lines is removed,
--- nothing tells which.
---@param it Look
---@param row integer
---@return boolean
local function has_twin(it, row)
  for _, step in ipairs({ -1, 1 }) do
    local other = row
    while it.text[other + 1] == it.text[row + 1] do
      if hunk_at(it, other) then
        return true
      end
      other = other + step
    end
  end
  return false
end

---@param it Look
---@param row integer
---@return boolean whether another line is the same
local function has_copy(it, row)
  for n, line in ipairs(it.text) do
    if line == it.text[row + 1] and n ~= row + 1 then
      return true
    end
  end
  return false
end

function ACTS.delete_a_line(before)
  local row = math.random(0, #before.text - 1)
  local at = not has_twin(before, row) and base_row(before, row) or nil
  typed(('%dGdd'):format(row + 1))
  return function(after)
    local want = vim.list_slice(before.base)
    if at then
      table.remove(want, at + 1)
    end
    check(vim.deep_equal(want, after.base), 'the base follows', before, after)
  end
end

function ACTS.change_a_line(before)
  local row, it = math.random(0, #before.text - 1), word('u')
  local at = not hunk_at(before, row) and base_row(before, row) or nil
  typed(('%dGcc%s<Esc>'):format(row + 1, it))
  return function(after)
    local want = vim.list_slice(before.base)
    if at then
      want[at + 1] = it
    end
    check(vim.deep_equal(want, after.base), 'the base follows', before, after)
  end
end

--- Whether the act has led back to a text that was there before, with the base of that time.
---@param after Look
---@return boolean
local function is_back(after)
  for _, it in ipairs(recent) do
    if vim.deep_equal(it.text, after.text) and vim.deep_equal(it.base, after.base) then
      return true
    end
  end
  return false
end

--- Replaces a hunk's lines by those of the base, in one of several ways: nothing of the hunk is pending.
function ACTS.put_the_base_back(before)
  local h = before.hunks[math.random(#before.hunks)]
  if not h or #before.text < 2 then
    return nil
  end
  for row = h.first, h.last - 1 do
    -- a copy that the user has made could be taken for the hunk's line
    if has_copy(before, row) then
      return nil
    end
  end
  local n, way = h.last - h.first, math.random(4)
  if n > 0 and way == 4 and #h.old > 0 then
    vim.fn.writefile(h.old, 'old')
    typed((':%d,%d!cat old<CR>'):format(h.first + 1, h.last))
  else
    if n > 0 then
      typed(('%dG%ddd'):format(h.first + 1, n))
      local cut = look()
      if is_back(cut) then
        -- the user's copy of a line of the agent's is the agent's line again
        return nil
      end
      recent[#recent + 1] = cut
    end
    local empty = #before.text == n
    if #h.old > 0 and (way == 1 or empty) then
      local keys = h.first == 0 and 'ggO' or ('%dGo'):format(h.first)
      typed((empty and 'i' or keys) .. table.concat(h.old, '<CR>') .. '<Esc>')
    elseif #h.old > 0 and way == 2 then
      for i = #h.old, 1, -1 do
        typed(
          h.first == 0 and ('ggO' .. h.old[i] .. '<Esc>')
            or ('%dGo%s<Esc>'):format(h.first, h.old[i])
        )
        recent[#recent + 1] = look()
      end
    elseif #h.old > 0 then
      vim.fn.setreg('a', h.old, 'V')
      typed((':%dput a<CR>'):format(h.first))
    end
  end
  return function(after)
    check(vim.deep_equal(before.base, after.base), 'the base stays', before, after)
    check(#after.hunks < #before.hunks, 'the hunk is no longer pending', before, after)
  end
end

function ACTS.cut_lines_and_put_them_back(before)
  local row = math.random(0, #before.text - 1)
  local n = math.random(math.min(3, #before.text - row))
  if n == #before.text then
    return nil
  end
  typed(('%dG%ddd'):format(row + 1, n))
  local between = math.random() < 0.5 and look() or nil
  typed((':%dput<CR>'):format(row))
  if between and #between.hunks == 0 then
    -- nothing was pending any more, so the review has ended
    return nil
  end
  return function(after)
    check(vim.deep_equal(before.text, after.text), 'the text is the same', before, after)
    local words = count(before.base)
    check(vim.deep_equal(words, count(after.base)), 'the base has the same words', before, after)
  end
end

---@type (fun(before: Look))[] what leaves the text as it is
local SAME = {
  function()
    typed(':%!cat<CR>')
  end,
  function(before)
    local first = math.random(#before.text)
    typed((':%d,%d!cat<CR>'):format(first, math.random(first, #before.text)))
  end,
  function(before)
    plugin('set_lines with the same lines')
    api.nvim_buf_set_lines(0, 0, -1, false, before.text)
  end,
  function(before)
    plugin('lines removed and set again')
    api.nvim_buf_set_lines(0, 0, -1, false, {})
    api.nvim_buf_set_lines(0, 0, -1, false, before.text)
  end,
  function()
    typed(':%s/$//<CR>')
  end,
  function(before)
    plugin('an edit of a language server')
    local all =
      { start = { line = 0, character = 0 }, ['end'] = { line = #before.text, character = 0 } }
    local text = table.concat(before.text, '\n') .. '\n'
    vim.lsp.util.apply_text_edits(
      { { range = all, newText = text } },
      api.nvim_get_current_buf(),
      'utf-8'
    )
  end,
  function()
    typed(':g/./s/^/z/<CR>')
    typed(':%s/^z//<CR>')
  end,
}

function ACTS.change_nothing(before)
  SAME[math.random(#SAME)](before)
  return function(after)
    check(vim.deep_equal(before.text, after.text), 'the text stays', before, after)
    check(vim.deep_equal(before.base, after.base), 'the base stays', before, after)
    check(#before.hunks == #after.hunks, 'the hunks stay', before, after)
  end
end

--- Opens another buffer beside this one, and compares the two.
---@param lines string[]
local function compare(lines)
  local here = api.nvim_get_current_win()
  vim.fn.writefile(lines, 'other')
  vim.cmd('silent keepalt new | silent 0read other | silent $delete _ | diffthis')
  vim.bo.bufhidden, vim.bo.buftype = 'wipe', 'nofile'
  local there = api.nvim_get_current_win()
  api.nvim_set_current_win(here)
  vim.cmd('diffthis | diffupdate')
  return here, there
end

--- Gets or puts changes between this buffer and another one, which has the base or an earlier text.
function ACTS.get_and_put_changes(before)
  local of_base = math.random() < 0.5
  local other = of_base and before.base or recent[math.random(#recent)].text
  if #other == 0 then
    return nil
  end
  local last = math.random(#before.text)
  local range = ('%d,%d'):format(math.random(last), last)
  local way = ({ 'get', 'put', 'get from there', 'put from there' })[math.random(4)]
  plugin(('diff: %s %s of %s'):format(way, range, table.concat(other, ',')))
  local here, there = compare(other)
  local is_there = way:find('there', 1, true) ~= nil
  api.nvim_set_current_win(is_there and there or here)
  local rows = is_there and '' or range
  vim.cmd(('silent! %sdiff%s'):format(rows, way:sub(1, 3)))
  local gets = way == 'get' or way == 'put from there'
  api.nvim_set_current_win(here)
  vim.cmd('diffoff! | silent only')
  -- the other buffer may have a text that its change has made
  local into = lines()
  if not gets then
    return function(after)
      check(vim.deep_equal(before.text, after.text), 'the text stays', before, after)
      check(vim.deep_equal(before.base, after.base), 'the base stays', before, after)
      check(#before.hunks == #after.hunks, 'the hunks stay', before, after)
    end
  end
  return function(after)
    check(vim.deep_equal(into, after.text), 'the text is what Neovim made', before, after)
    -- the user may have deleted other lines: those that Neovim does not take for the same
    local there, base = count(before.text), count(after.base)
    for _, hunk in ipairs(of_base and before.hunks or {}) do
      for it in pairs(count(hunk.old)) do
        check(there[it] or base[it], it .. ' of the base is lost', before, after)
      end
    end
  end
end

--- Makes the whole buffer the base, as a user does who throws the agent's work away: nothing is pending.
function ACTS.make_the_buffer_the_base(before)
  if #before.base == 0 or math.random() < 0.6 then
    return nil
  end
  local way = math.random(4)
  vim.fn.writefile(before.base, 'base')
  if way == 1 then
    typed(':%!cat base<CR>')
  elseif way == 2 then
    plugin('set_lines with the base')
    api.nvim_buf_set_lines(0, 0, -1, false, before.base)
  elseif way == 3 then
    typed('ggVG"_c' .. table.concat(before.base, '<CR>') .. '<Esc>')
  else
    plugin('diffget')
    compare(before.base)
    vim.cmd('silent 0,$diffget | diffoff! | silent only')
    -- `:diffget` does not get everything when lines were added at both ends
    if not vim.deep_equal(lines(), before.base) then
      return nil
    end
  end
  return function(after)
    check(vim.deep_equal(before.base, after.text), 'the text is the base', before, after)
    check(#after.hunks == 0, 'nothing is pending', before, after)
  end
end

--------------------------------------------------------------------------------------------- commands, judged by words

--- `N` is a random line, `M` one at or below it, `W` a new word.
local STILL = {
  'NGx',
  'NGD',
  'NGAW<Esc>',
  'NGIW <Esc>',
  'NG3dd',
  'NGdMG',
  'NGcMGW<Esc>',
  'NGoW<Esc>oW<Esc>',
  'NGoW<CR>W<CR>W<Esc>',
  'NGRWW<Esc>',
  'NG$a<CR>W<Esc>',
  'NGI<CR><Esc>',
  'NGrz',
  'NG~',
  'NG>>',
  'NG=MG',
  'NG<C-v>MGIW <Esc>',
  'NG<C-v>MG$AW<Esc>',
  'NG<C-v>MGd',
  'NGVMGcW<Esc>',
  'NGAW<Esc>j.',
  'NGqqAW<Esc>jq@q',
  'NGqqoW<Esc>jq2@q',
  ':N,Md<CR>',
  ':N,Ms/$/ W/<CR>',
  ':N,Ms/ /\\r/ge<CR>',
  ':N,M!sed s/$/z/<CR>',
  ':N,M!uniq<CR>',
  ':Nread !echo W<CR>',
  ':g/[02468]$/s/$/ W/<CR>',
  ':g/[135]$/d<CR>',
  ":Nput ='W'<CR>",
  ':N,Mnormal AW<CR>',
  'NGo<Esc>',
  'NGO<Esc>',
  ':N,M>><CR>',
  'NGviwcW<Esc>',
  'NGcipW<Esc>',
  'NGdip',
  'NGS<C-u>W<Esc>',
  'gg=G',
} -- stylua: ignore
local JOINS = { 'NGJ', 'NG2J', 'NGgJ', 'NGgqMG', 'NGVMGJ', ':N,Mjoin<CR>', ':N,Ms/\\n/ /<CR>' }
local MOVES = {
  'NGddp',
  'NGddkP',
  'NGyyMGp',
  'NGyyP',
  'NGdMGP',
  ':N,Mm0<CR>',
  ':N,Mm$<CR>',
  ':N,Mt$<CR>',
  ':N,Mt0<CR>',
  ':N,Msort<CR>',
  ':sort!<CR>',
  ':N,Msort u<CR>',
  ':N,M!tac<CR>',
  ':g/[135]$/m0<CR>',
  ':g/u/t.<CR>',
  'NGdwMGp',
} -- stylua: ignore

---@param list string[]
---@param before Look
local function command(list, before)
  local first = math.random(math.max(1, #before.text))
  local last = math.random(first, math.max(first, math.min(#before.text, first + 3)))
  local keys = list[math.random(#list)]:gsub('N', tostring(first)):gsub('M', tostring(last))
  typed((keys:gsub('W', function()
    return word('u')
  end)))
end

--- Judges a command by its words: each is unique, and says whose it is.
---@param before Look
---@param still? 'all'|'own' the words whose order the command keeps
---@return fun(after: Look)
local function by_words(before, still)
  local own, removed = count(outside(before)), {}
  for _, h in ipairs(before.hunks) do
    for it in pairs(count(h.old)) do
      removed[it] = true
    end
  end
  return function(after)
    local text, base, was = count(after.text), count(after.base), count(before.base)
    for it in pairs(removed) do
      check(base[it], it .. ' of the base is lost', before, after)
      check(
        text[it] or own[it] or base[it] == was[it],
        it .. ' of the base is doubled',
        before,
        after
      )
    end
    local had = count(before.text)
    for it, n in pairs(own) do
      local copied = (had[it] or 0) > n or n > 1
      check(base[it] or not text[it] or copied, it .. " is no longer the user's", before, after)
      local left = base[it] and not text[it] and not removed[it] and not copied
      check(not left, it .. ' is deleted, and still in the base', before, after)
    end
    if still then
      local both = {}
      for it, n in pairs(was) do
        local counts = n == 1 and base[it] == 1 and (still == 'all' or own[it])
        both[it] = counts and n or nil
      end
      local old, new = among(before.base, both), among(after.base, both)
      check(vim.deep_equal(old, new), 'the base keeps its order', before, after)
    end
  end
end

function ACTS.command(before)
  command(STILL, before)
  return by_words(before, 'all')
end

function ACTS.joining_command(before)
  command(JOINS, before)
  return by_words(before, 'own')
end

function ACTS.moving_command(before)
  command(MOVES, before)
  return by_words(before)
end

--------------------------------------------------------------------------------------------- the agent, undo, decisions

--- What a proposal makes of the lines: some are removed, others added.
---@param now string[]
---@param plain boolean whether its words are those of a small alphabet
---@return string[]
local function proposed(now, plain)
  local after = vim.list_slice(now)
  for _ = 1, math.random(3) do
    local at = math.random(0, #after)
    for _ = 1, math.min(#after - at, math.random(0, 2)) do
      table.remove(after, at + 1)
    end
    for k = 1, math.random(0, 3) do
      table.insert(after, at + k, plain and ({ 'a', 'b', '', '}' })[math.random(4)] or word('x'))
    end
  end
  return after
end

---@param auto boolean
---@param plain boolean
---@return boolean whether there was something to propose
local function propose(auto, plain)
  local before = look()
  local after = proposed(before.text, plain)
  if vim.deep_equal(after, before.text) then
    return false
  end
  story[#story + 1] = 'the agent: ' .. table.concat(after, ',')
  H.propose({ H.proposal(api.nvim_buf_get_name(0), before.text, after, { at_once = auto }) })
  local now = look()
  check(vim.deep_equal(after, now.text), 'a proposal gives its text', before, now)
  check(vim.deep_equal(before.base, now.base), 'and leaves the base', before, now)
  return true
end

---@return boolean whether anything was decided: no hunk may be in the rows
local function decide()
  local before, verdict = look(), math.random() < 0.5 and 'accept' or 'reject'
  local row = math.random(math.max(1, #before.text))
  api.nvim_win_set_cursor(0, { row, 0 })
  local scope = ({ 'hunk', 'range', 'hunk', 'range', 'file' })[math.random(5)]
  local range = scope == 'range' and { row, math.random(row, #before.text) } or nil
  story[#story + 1] = ('%s %s %d'):format(verdict, scope, row)
  B[verdict]({ scope = scope, range = range })
  local after = look()
  if verdict == 'accept' then
    check(vim.deep_equal(before.text, after.text), 'accepting leaves the buffer', before, after)
  else
    check(vim.deep_equal(before.base, after.base), 'rejecting leaves the base', before, after)
  end
  return not vim.deep_equal(before.hunks, after.hunks)
end

local BACK = { 'u', 'u', '2u', '<C-r>', 'g-', 'g+', ':earlier 2<CR>', ':later 1<CR>' }

--- Forgets the states before a decision from which commands that changed nothing have led to it: undoing such a command
--- takes no decision back.
---@param states table<integer, Look>
---@param now Look
local function forget_same(states, now)
  local seq = now.seq - 1
  while seq >= 0 and (not states[seq] or vim.deep_equal(states[seq].text, now.text)) do
    states[seq], seq = nil, seq - 1
  end
end

--- Undoes or redoes something: a known state has its text and its base again.
---@param states table<integer, Look>
local function undo(states)
  local before = look()
  typed(BACK[math.random(#BACK)])
  local after = look()
  local known = states[after.seq]
  local same = vim.deep_equal({ before.text, before.base }, { after.text, after.base })
  if known and not same then
    check(vim.deep_equal(known.text, after.text), 'undo gives the text back', known, after)
    check(vim.deep_equal(known.base, after.base), 'and the base', known, after)
  end
  return before
end

local runs = 0

--- The folder of the records is another one after each restart, because a Neovim reads a record only once.
require('caliban.program.project').folder_of = function()
  return vim.fn.getcwd() .. '/' .. runs
end
require('caliban.program.project').dir = require('caliban.program.project').folder_of

local function options()
  -- `gq` wraps lines; typing neither wraps nor indents them
  vim.bo.textwidth, vim.bo.formatoptions, vim.bo.autoindent = 12, 'q', false
end

--- Ends this Neovim and starts another one, as far as the review can tell: the record is written as at the end of
--- Neovim, the buffer is gone, and the record is taken up. Nothing is pending differently afterwards. Text that would be
--- lost without a review, too, is written before.
---@param states table<integer, Look>
local function restart(states)
  local before = look()
  local path = api.nvim_buf_get_name(0)
  local disk = vim.fn.readfile(path)
  local is_same = vim.deep_equal(disk, before.base) or vim.deep_equal(disk, before.text)
  if #before.hunks == 0 or #before.text == 0 or #before.base == 0 then
    return
  elseif not is_same or math.random() < 0.5 then
    typed(':w!<CR>')
  end
  story[#story + 1] = 'restart'
  vim.cmd('silent! only')
  api.nvim_exec_autocmds('VimLeavePre', { group = 'caliban.review.restore.record' })
  local from = vim.fn.glob(vim.fn.getcwd() .. '/' .. runs .. '/s.review-*', true, true)
  H.eq(1, #from, 'one record: ' .. table.concat(story, ' | '))
  local name = vim.fs.basename(from[1])
  vim.fn.mkdir(tostring(runs + 1))
  assert(vim.uv.fs_copyfile(from[1], ('%d/%s'):format(runs + 1, name)))
  vim.cmd('silent bwipeout!')
  H.settle()
  runs = runs + 1
  vim.cmd.edit(path)
  options()
  B.take_up({ session = 's', root = '', reviews = { name } })
  local after = look()
  check(vim.deep_equal(before.text, after.text), 'a restart keeps the text', before, after)
  check(vim.deep_equal(before.base, after.base), 'and the base', before, after)
  for seq in pairs(states) do
    states[seq] = nil
  end
  recent = {}
end

--- Splits the window, closes it, or goes to another one with the same buffer.
local function windows()
  local keys = { '<C-w>s', '<C-w>v', '<C-w>w', '<C-w>W', '<C-w>o' }
  typed(keys[math.random(#keys)])
end

---@param states table<integer, Look>
---@param plain boolean
---@param auto number the share of proposals in auto-edit mode
local function step(states, plain, auto)
  local before, dice = look(), math.random()
  states[before.seq] = before
  recent[#recent + 1] = before
  if dice < 0.1 then
    recent = propose(math.random() < auto, plain) and {} or recent
  elseif dice < 0.2 then
    if decide() then
      recent = {}
      forget_same(states, look())
    end
  elseif dice < 0.3 then
    undo(states)
  elseif dice < 0.33 then
    restart(states)
  elseif dice < 0.38 then
    windows()
  else
    local names = plain
        and {
          'change_nothing',
          'make_the_buffer_the_base',
          'delete_a_line',
          'put_the_base_back',
          'get_and_put_changes',
        }
      or vim.fn.sort(vim.tbl_keys(ACTS))
    local judge = #before.text > 0 and ACTS[names[math.random(#names)]](before)
    local after = look()
    if judge and not is_back(after) then
      judge(after)
    end
  end
  local now = look()
  states[now.seq] = now
end

--- Ends a script: accepts or rejects what is left.
local function finish()
  local before, accepts = look(), math.random() < 0.5
  B[accepts and 'accept' or 'reject']({ scope = 'file' })
  local after = look()
  check(
    vim.deep_equal(accepts and before.text or before.base, after.text),
    'the end',
    before,
    after
  )
  check(#after.hunks == 0, 'nothing is left', before, after)
  if not accepts and #before.hunks > 0 then
    typed('u')
    local undone = look()
    check(vim.deep_equal(before.text, undone.text), 'the decision is taken back', before, undone)
    check(vim.deep_equal(before.base, undone.base), 'and the base is the same', before, undone)
  end
end

---@param seed integer
local function script(seed)
  math.randomseed(seed)
  story, serial = {}, 0
  H.fresh()
  -- most scripts have one mode, some mix them
  local plain, auto, start = math.random() < 0.3, ({ 0, 0, 1, 0.5 })[math.random(4)], {}
  for i = 1, math.random(3, 9) do
    start[i] = plain and ({ 'a', 'b', '', '}' })[math.random(4)] or word('b')
    start[i] = (not plain and math.random() < 0.3) and start[i] .. ' ' .. word('b') or start[i]
  end
  runs = 0
  vim.fn.mkdir('0')
  vim.cmd('silent! only')
  vim.cmd.edit(H.write('f.txt', table.concat(start, '\n') .. '\n'))
  options()
  local states = {}
  recent = {}
  propose(math.random() < auto, plain)
  for _ = 1, STEPS do
    step(states, plain, auto)
  end
  finish()
end

--- The user joins a line of the agent's with one of the base, and later moves another line of the agent's below it.
function T.a_line_that_is_moved_takes_no_removed_line_past_the_base()
  story = {}
  H.fresh()
  vim.cmd('silent! only')
  vim.cmd.edit(H.write('f.txt', 'b1\nb2\nb3\n'))
  options()
  local after = { 'x1', 'b3', 'x2', 'x3', 'x4' }
  H.propose({ H.proposal(api.nvim_buf_get_name(0), { 'b1', 'b2', 'b3' }, after) })
  typed(':1s/\\n/ /<CR>')
  typed('1Gou1<Esc>')
  H.eq({ 'x1 b3', 'u1', 'x2', 'x3', 'x4' }, look().text)
  H.eq({ 'b1', 'b2', 'x1 b3', 'u1' }, look().base)
  typed('4GddkP')
  H.eq({ 'x1 b3', 'u1', 'x3', 'x2', 'x4' }, look().text)
  H.eq({ 'b1', 'b2', 'x1 b3', 'u1' }, look().base)
  B.reject({ scope = 'file' })
  H.eq({ 'b1', 'b2', 'x1 b3', 'u1' }, look().text)
end

function T.random_keys_keep_base_and_buffer_apart()
  vim.o.shellredir, vim.o.more = '>%s 2>&1', false
  for seed = SEED, SEED + SCRIPTS - 1 do
    local ok, err = pcall(script, seed)
    if not ok then
      error(('KEYS_SEED=%d KEYS=1: %s\nthe script: %s'):format(seed, err, vim.inspect(story)), 0)
    end
  end
end

return T
