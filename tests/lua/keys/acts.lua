--- The acts of the law of random keys: each does something, and returns the function that judges what came of it.
local K = require('keys.model')
local api = vim.api

---@type table<string, fun(before: Look): fun(after: Look)|nil>
local ACTS = {}

function ACTS.type_a_line(before)
  local row, it = math.random(0, #before.text), K.word('u')
  K.typed(row == 0 and ('ggO' .. it .. '<Esc>') or ('%dGo%s<Esc>'):format(row, it))
  local within = false
  for _, h in ipairs(before.hunks) do
    within = within or (h.first < row and row < h.last)
  end
  return function(after)
    K.check(vim.list_contains(after.text, it), 'the line is typed', before, after)
    local want = within and before.base or K.without(after.base, it)
    K.check(vim.deep_equal(before.base, want), 'the base has its lines', before, after)
    K.check(within or vim.list_contains(after.base, it), "the line is the user's", before, after)
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
      if K.hunk_at(it, other) then
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
  local at = not has_twin(before, row) and K.base_row(before, row) or nil
  K.typed(('%dGdd'):format(row + 1))
  return function(after)
    local want = vim.list_slice(before.base)
    if at then
      table.remove(want, at + 1)
    end
    K.check(vim.deep_equal(want, after.base), 'the base follows', before, after)
  end
end

function ACTS.change_a_line(before)
  local row, it = math.random(0, #before.text - 1), K.word('u')
  local at = not K.hunk_at(before, row) and K.base_row(before, row) or nil
  K.typed(('%dGcc%s<Esc>'):format(row + 1, it))
  return function(after)
    local want = vim.list_slice(before.base)
    if at then
      want[at + 1] = it
    end
    K.check(vim.deep_equal(want, after.base), 'the base follows', before, after)
  end
end

--- Whether the act has led back to a text that was there before, with the base of that time.
---@param after Look
---@return boolean
function K.is_back(after)
  for _, it in ipairs(K.recent) do
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
    K.typed((':%d,%d!cat old<CR>'):format(h.first + 1, h.last))
  else
    if n > 0 then
      K.typed(('%dG%ddd'):format(h.first + 1, n))
      local cut = K.look()
      if K.is_back(cut) then
        -- the user's copy of a line of the agent's is the agent's line again
        return nil
      end
      K.recent[#K.recent + 1] = cut
    end
    local empty = #before.text == n
    if #h.old > 0 and (way == 1 or empty) then
      local keys = h.first == 0 and 'ggO' or ('%dGo'):format(h.first)
      K.typed((empty and 'i' or keys) .. table.concat(h.old, '<CR>') .. '<Esc>')
    elseif #h.old > 0 and way == 2 then
      for i = #h.old, 1, -1 do
        K.typed(
          h.first == 0 and ('ggO' .. h.old[i] .. '<Esc>')
            or ('%dGo%s<Esc>'):format(h.first, h.old[i])
        )
        K.recent[#K.recent + 1] = K.look()
      end
    elseif #h.old > 0 then
      vim.fn.setreg('a', h.old, 'V')
      K.typed((':%dput a<CR>'):format(h.first))
    end
  end
  return function(after)
    K.check(vim.deep_equal(before.base, after.base), 'the base stays', before, after)
    K.check(#after.hunks < #before.hunks, 'the hunk is no longer pending', before, after)
  end
end

function ACTS.cut_lines_and_put_them_back(before)
  local row = math.random(0, #before.text - 1)
  local n = math.random(math.min(3, #before.text - row))
  if n == #before.text then
    return nil
  end
  K.typed(('%dG%ddd'):format(row + 1, n))
  local between = math.random() < 0.5 and K.look() or nil
  K.typed((':%dput<CR>'):format(row))
  if between and #between.hunks == 0 then
    -- nothing was pending any more, so the review has ended
    return nil
  end
  return function(after)
    K.check(vim.deep_equal(before.text, after.text), 'the text is the same', before, after)
    local words = K.count(before.base)
    K.check(
      vim.deep_equal(words, K.count(after.base)),
      'the base has the same words',
      before,
      after
    )
  end
end

---@type (fun(before: Look))[] what leaves the text as it is
local SAME = {
  function()
    K.typed(':%!cat<CR>')
  end,
  function(before)
    local first = math.random(#before.text)
    K.typed((':%d,%d!cat<CR>'):format(first, math.random(first, #before.text)))
  end,
  function(before)
    K.plugin('set_lines with the same lines')
    api.nvim_buf_set_lines(0, 0, -1, false, before.text)
  end,
  function(before)
    K.plugin('lines removed and set again')
    api.nvim_buf_set_lines(0, 0, -1, false, {})
    api.nvim_buf_set_lines(0, 0, -1, false, before.text)
  end,
  function()
    K.typed(':%s/$//<CR>')
  end,
  function(before)
    K.plugin('an edit of a language server')
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
    K.typed(':g/./s/^/z/<CR>')
    K.typed(':%s/^z//<CR>')
  end,
}

function ACTS.change_nothing(before)
  SAME[math.random(#SAME)](before)
  return function(after)
    K.check(vim.deep_equal(before.text, after.text), 'the text stays', before, after)
    K.check(vim.deep_equal(before.base, after.base), 'the base stays', before, after)
    K.check(#before.hunks == #after.hunks, 'the hunks stay', before, after)
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
  local other = of_base and before.base or K.recent[math.random(#K.recent)].text
  if #other == 0 then
    return nil
  end
  local last = math.random(#before.text)
  local range = ('%d,%d'):format(math.random(last), last)
  local way = ({ 'get', 'put', 'get from there', 'put from there' })[math.random(4)]
  K.plugin(('diff: %s %s of %s'):format(way, range, table.concat(other, ',')))
  local here, there = compare(other)
  local is_there = way:find('there', 1, true) ~= nil
  api.nvim_set_current_win(is_there and there or here)
  local rows = is_there and '' or range
  vim.cmd(('silent! %sdiff%s'):format(rows, way:sub(1, 3)))
  local gets = way == 'get' or way == 'put from there'
  api.nvim_set_current_win(here)
  vim.cmd('diffoff! | silent only')
  -- the other buffer may have a text that its change has made
  local into = K.lines()
  if not gets then
    return function(after)
      K.check(vim.deep_equal(before.text, after.text), 'the text stays', before, after)
      K.check(vim.deep_equal(before.base, after.base), 'the base stays', before, after)
      K.check(#before.hunks == #after.hunks, 'the hunks stay', before, after)
    end
  end
  return function(after)
    K.check(vim.deep_equal(into, after.text), 'the text is what Neovim made', before, after)
    -- the user may have deleted other lines: those that Neovim does not take for the same
    local there, base = K.count(before.text), K.count(after.base)
    for _, hunk in ipairs(of_base and before.hunks or {}) do
      for it in pairs(K.count(hunk.old)) do
        K.check(there[it] or base[it], it .. ' of the base is lost', before, after)
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
    K.typed(':%!cat base<CR>')
  elseif way == 2 then
    K.plugin('set_lines with the base')
    api.nvim_buf_set_lines(0, 0, -1, false, before.base)
  elseif way == 3 then
    K.typed('ggVG"_c' .. table.concat(before.base, '<CR>') .. '<Esc>')
  else
    K.plugin('diffget')
    compare(before.base)
    vim.cmd('silent 0,$diffget | diffoff! | silent only')
    -- `:diffget` does not get everything when lines were added at both ends
    if not vim.deep_equal(K.lines(), before.base) then
      return nil
    end
  end
  return function(after)
    K.check(vim.deep_equal(before.base, after.text), 'the text is the base', before, after)
    K.check(#after.hunks == 0, 'nothing is pending', before, after)
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
  K.typed((keys:gsub('W', function()
    return K.word('u')
  end)))
end

--- Judges a command by its words: each is unique, and says whose it is.
---@param before Look
---@param still? 'all'|'own' the words whose order the command keeps
---@return fun(after: Look)
local function by_words(before, still)
  local own, removed = K.count(K.outside(before)), {}
  for _, h in ipairs(before.hunks) do
    for it in pairs(K.count(h.old)) do
      removed[it] = true
    end
  end
  return function(after)
    local text, base, was = K.count(after.text), K.count(after.base), K.count(before.base)
    for it in pairs(removed) do
      K.check(base[it], it .. ' of the base is lost', before, after)
      K.check(
        text[it] or own[it] or base[it] == was[it],
        it .. ' of the base is doubled',
        before,
        after
      )
    end
    local had = K.count(before.text)
    for it, n in pairs(own) do
      local copied = (had[it] or 0) > n or n > 1
      K.check(base[it] or not text[it] or copied, it .. " is no longer the user's", before, after)
      local left = base[it] and not text[it] and not removed[it] and not copied
      K.check(not left, it .. ' is deleted, and still in the base', before, after)
    end
    if still then
      local both = {}
      for it, n in pairs(was) do
        local counts = n == 1 and base[it] == 1 and (still == 'all' or own[it])
        both[it] = counts and n or nil
      end
      local old, new = K.among(before.base, both), K.among(after.base, both)
      K.check(vim.deep_equal(old, new), 'the base keeps its order', before, after)
    end
  end
end

function ACTS.command(before)
  command(STILL, before)
  return by_words(before, 'all')
end

--- A place between two words of a row, in bytes.
---@param line string
---@return integer
local function between_words(line)
  local at = { 0, #line }
  for from in line:gmatch('() ') do
    at[#at + 1] = from - 1
  end
  return at[math.random(#at)]
end

--- Plugins change parts of lines; Neovim then reports other ranges than for whole lines.
function ACTS.set_text(before)
  local first = math.random(0, #before.text - 1)
  local last = math.random(first, math.min(#before.text - 1, first + 2))
  local from, to = between_words(before.text[first + 1]), between_words(before.text[last + 1])
  if first == last and from > to then
    from, to = to, from
  end
  -- no line begins with a blank: a command may then paste a word of the user's there as a whole word
  to = from == 0 and before.text[last + 1]:sub(to + 1, to + 1) == ' ' and to + 1 or to
  local gap = from > 0 and ' ' or ''
  local new = ({
    { '' },
    { gap .. K.word('u') .. ' ' },
    { gap .. K.word('u'), K.word('u') .. ' ' },
  })[math.random(3)]
  K.plugin(('set_text %d,%d %d,%d %s'):format(first, from, last, to, table.concat(new, '/')))
  api.nvim_buf_set_text(0, first, from, last, to, new)
  return by_words(before, first == last and 'all' or 'own')
end

--- A language server adds a line and changes another one.
function ACTS.edits_of_a_language_server(before)
  local row, at = math.random(0, #before.text - 1), math.random(0, #before.text - 1)
  local changed = { line = row, character = #before.text[row + 1] }
  local edits = {
    { range = { start = changed, ['end'] = changed }, newText = ' ' .. K.word('u') },
    {
      range = { start = { line = at, character = 0 }, ['end'] = { line = at, character = 0 } },
      newText = K.word('u') .. '\n',
    },
  }
  K.plugin(('edits of a language server: %d, %d'):format(row, at))
  vim.lsp.util.apply_text_edits(edits, api.nvim_get_current_buf(), 'utf-8')
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

return ACTS
