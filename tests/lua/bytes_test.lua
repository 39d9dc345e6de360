--- Random settings of the options that say how text becomes bytes, before, during and after reviews of files of every
--- kind. A plain Neovim, which gets the same commands and the text that each verdict leaves, says which bytes have to be
--- on disk. The environment variables `BYTES` and `BYTES_SEED` set the number of scripts and the seed of the first one.
local H = require('bench')
local B = require('caliban.review')
local T = {}
local api = vim.api

local SCRIPTS, SEED = tonumber(vim.env.BYTES) or 200, tonumber(vim.env.BYTES_SEED) or 1

local story = {} ---@type string[]
local plain ---@type integer the channel of the plain Neovim

---@param code string
---@param ... any
---@return any
local function ask(code, ...)
  return vim.rpcrequest(plain, 'nvim_exec_lua', code, { ... })
end

local UTF16 = 'a\0\233\0\n\0b\0\n\0c\0\n\0d\0\n\0e\0\n\0'
local BIG16 = '\0a\0\233\0\n\0b\0\n\0c\0\n\0d\0\n\0e\0\n'
--- The bytes of a file; false: it does not exist.
local KINDS = {
  'aé\nb\nc\nd\ne\n',
  'aé\nb\nc\nd\ne',
  'aé\r\nb\r\nc\r\nd\r\ne\r\n',
  'aé\r\nb\r\nc\r\nd\r\ne',
  'aé\r\nb\nc\r\nd\ne\n',
  '\239\187\191aé\nb\nc\nd\ne\n',
  '\239\187\191aé\r\nb\r\nc\r\nd\r\ne',
  'a\233\nb\nc\nd\ne\n',
  'a\233\r\nb\r\nc\r\nd\r\ne\r\n',
  '\255\254' .. UTF16,
  '\254\255' .. BIG16,
  '\255\254' .. UTF16:sub(1, -3),
  '',
  false,
}

--- What a user sets.
local WISHES = {
  'setlocal fileencoding=latin1',
  'setlocal fileencoding=utf-16le',
  'setlocal fileencoding=utf-16le bomb',
  'setlocal fileencoding=utf-16',
  'setlocal fileencoding=ucs-2le',
  'setlocal fileencoding=cp1252',
  'setlocal fileencoding=utf-8',
  'set fenc=',
  'setlocal bomb',
  'setlocal nobomb',
  'setlocal binary',
  'setlocal nobinary',
  'set ff=dos',
  'set ff=unix',
  'setlocal fileformat=mac',
  'setlocal noendofline',
  'setlocal noendofline nofixendofline',
  'setlocal endofline',
  'setlocal nofixendofline',
  'set fileformats=dos,unix',
}

local OPTIONS = { 'fileencoding', 'bomb', 'binary', 'fileformat', 'endofline', 'fixendofline' }

--------------------------------------------------------------------------------------------- the plain Neovim

--- Begins a script in the plain Neovim: opens a file with these bytes.
local FRESH = [[
  local dir, bytes, reset = ...
  vim.cmd('silent! %bwipeout!')
  vim.cmd(reset)
  vim.fn.mkdir(dir, 'p')
  vim.fn.chdir(dir)
  if bytes then
    local handle = assert(io.open('f.txt', 'wb'))
    handle:write(bytes)
    handle:close()
  end
  vim.cmd('silent edit f.txt')
  vim.b.ends = vim.bo.endofline
  ]]

--- Gives the buffer this text. Returns whether it had another one.
local PUT = [[
  local lines = ...
  local now = vim.fn.wordcount().bytes == 0 and {} or vim.api.nvim_buf_get_lines(0, 0, -1, false)
  local other = not vim.deep_equal(lines, now)
  if other then
    vim.api.nvim_buf_set_lines(0, 0, -1, false, lines)
  end
  return other
  ]]

--- Writes the buffer. `keeps`: adds no line break to a file that has none.
local WRITE = [[
  local command, keeps = ...
  local fix = vim.bo.fixendofline
  vim.bo.fixendofline = fix and not (keeps and not vim.bo.endofline and not vim.b.ends)
  vim.b.ends = vim.bo.endofline or vim.bo.fixendofline and not vim.bo.binary
  vim.cmd('silent ' .. command)
  vim.bo.fixendofline = fix
  ]]

local OF = [[
  local out = { modified = vim.bo.modified }
  for _, name in ipairs(...) do
    out[name] = vim.bo[name]
  end
  local handle = io.open('f.txt', 'rb')
  out.bytes = handle and handle:read('*a') or nil
  if handle then
    handle:close()
  end
  return out
  ]]

---@return string[]
local function lines()
  return require('caliban.editor.file').lines(0)
end

--- Compares bytes and options with those of the plain Neovim, and says that nobody has changed the file on disk.
---@param what string
---@param is_pending? boolean whether hunks are pending, with which a buffer may be modified
local function same(what, is_pending)
  H.settle()
  local want, got = ask(OF, OPTIONS), { modified = vim.bo.modified, bytes = H.disk('f.txt') }
  for _, name in ipairs(OPTIONS) do
    got[name] = vim.bo[name]
  end
  want.modified = want.modified or is_pending and got.modified or false
  H.eq(want, got, what .. ': ' .. vim.inspect(story))
  for _, line in ipairs(H.said()) do
    local lies = line:find('on disk', 1, true) or line:find('conflict', 1, true)
    assert(not lies, line .. ': ' .. vim.inspect(story))
  end
end

--------------------------------------------------------------------------------------------- acts

---@class Script
---@field auto boolean auto-edit mode
---@field own boolean whether the user had unsaved changes before the proposal
---@field accepted integer
---@field is_new boolean whether the file does not exist
---@field wrote boolean whether the user has written the file with pending changes

--- Sets options, as a user or a plugin does at any time.
---@param chance number
local function perhaps(chance)
  while math.random() < chance do
    local command = WISHES[math.random(#WISHES)]
    story[#story + 1] = command
    vim.cmd(command)
    ask('vim.cmd(...)', command)
  end
end

---@param keys string
local function typed(keys)
  story[#story + 1] = keys
  api.nvim_feedkeys(vim.keycode(keys), 'tx', false)
  H.settle()
end

--- What the plain Neovim does after a decision of the user: it has the same text, and writes it if Caliban has to.
---@param it Script
---@param is_over boolean whether the review has ended
local function follow(it, is_over)
  H.settle()
  local is_other = ask(PUT, lines())
  local wants = is_other or ask('return vim.bo.modified') and (it.accepted > 0 or not is_over)
  if not it.own and wants and (is_over or it.auto) then
    ask(WRITE, 'write', true)
  end
end

---@param it Script
---@param verdict 'accept'|'reject'
---@param scope 'file'|'first'
local function decide(it, verdict, scope)
  story[#story + 1] = verdict .. ' ' .. scope
  local pending = B.pending(0)
  local row = pending[1].start + 1
  local is_over = scope == 'file' or #pending == 1
  it.accepted = it.accepted + (verdict == 'accept' and 1 or 0)
  if scope == 'file' then
    B[verdict]({ scope = 'file' })
  else
    api.nvim_win_set_cursor(0, { row, 0 })
    B[verdict]({ scope = 'hunk' })
  end
  if is_over or it.auto and not it.own then
    follow(it, is_over)
  end
  if is_over and it.is_new and it.accepted == 0 then
    -- there is no such file, as before the proposal, unless the user has written it
    return assert(it.wrote or not H.disk('f.txt'), vim.inspect(story))
  elseif is_over and vim.bo.buftype ~= '' then
    error('the review has not ended: ' .. vim.inspect(story))
  end
  same(verdict, not is_over and (not it.auto or it.own))
end

--- The user's own `:write` while changes are pending.
---@param it Script
local function write_pending(it)
  local commands = { 'w', 'w!', 'noautocmd w', 'w! ++enc=utf-16le', 'w! ++ff=dos' }
  -- with 'binary', Neovim remembers the line that had no line break, and `++ff` alone would not show it
  local command = commands[math.random(vim.bo.binary and 4 or 5)]
  typed((':silent %s<CR>'):format(command))
  -- no main loop runs here, which would notice a write without autocommands
  if vim.fn.exists('##BufModifiedSet') == 1 then
    api.nvim_exec_autocmds('BufModifiedSet', { buffer = 0 })
  else
    api.nvim_exec_autocmds('OptionSet', { pattern = 'modified' })
  end
  if command ~= 'w' or it.auto then
    ask(PUT, lines())
    ask(WRITE, (command:gsub('^noautocmd ', '')), false)
    it.own, it.wrote = false, true
  end
  same(command, command == 'w' and not it.auto)
  perhaps(0.3)
end

---@param now string[]
---@return string[]
local function proposed(now)
  if #now < 4 then
    return { 'x', 'y' }
  end
  local after = vim.list_slice(now)
  after[2] = math.random() < 0.5 and 'ß' .. now[2]:gsub('b', '') or after[2]:gsub('b', 'B')
  if math.random() < 0.7 then
    table.insert(after, 4, (now[2]:gsub('b', 'new')))
  end
  return after
end

---@param bytes string|false
---@param it Script
---@return boolean whether changes are pending
local function propose(bytes, it)
  local base = lines()
  if #base == 0 then
    -- the agent ends its lines, and would set the option
    vim.bo.endofline = true
    ask('vim.bo.endofline = true')
  end
  it.own = vim.bo.modified
  local opts = { at_once = it.auto, create = not bytes, eol = vim.bo.endofline }
  local path = api.nvim_buf_get_name(0)
  H.propose({ H.proposal(path, base, proposed(base), opts) })
  if it.auto and not it.own then
    ask(PUT, lines())
    ask(WRITE, 'write', true)
  end
  return #B.pending(0) > 0
end

---@param it Script
local function decide_all(it)
  it.accepted = 0
  if math.random() < 0.5 then
    decide(it, math.random() < 0.5 and 'accept' or 'reject', 'first')
    perhaps(0.4)
  end
  if #B.pending(0) > 0 then
    decide(it, math.random() < 0.5 and 'accept' or 'reject', 'file')
  end
end

--- Takes the last rejection back with `u`, and decides again.
---@param it Script
local function change_ones_mind(it)
  typed('u')
  if #B.pending(0) == 0 then
    error('nothing is pending: ' .. vim.inspect(story))
  end
  same('u', true)
  perhaps(0.3)
  decide(it, math.random() < 0.7 and 'accept' or 'reject', 'file')
end

local RESET = 'set fileformats=unix,dos fileformat=unix fileencoding= nobomb nobinary eol fixeol'

---@param seed integer
local function script(seed)
  math.randomseed(seed)
  story = {}
  local bytes = KINDS[math.random(#KINDS)]
  local it = { auto = math.random() < 0.3, own = false, accepted = 0, wrote = false }
  it.is_new = not bytes
  story[1] = ('%q%s'):format(bytes or 'no file', it.auto and ', auto-edit' or '')
  local dir = H.fresh()
  vim.cmd(RESET)
  if bytes then
    H.write('f.txt', bytes)
  end
  vim.cmd('silent edit f.txt')
  ask(FRESH, dir .. '/plain', bytes, RESET)
  perhaps(0.15)
  if not propose(bytes, it) then
    error('nothing is pending: ' .. vim.inspect(story))
  end
  same('the proposal', not it.auto or it.own)
  perhaps(0.6)
  if math.random() < 0.3 then
    write_pending(it)
  end
  if bytes and math.random() < 0.1 then
    -- with 'binary', the text would be read without a conversion
    typed(':setlocal nobinary | silent edit!<CR>')
    ask('vim.cmd("setlocal nobinary | silent edit! | let b:ends = &endofline")')
    same('edit!')
  else
    decide_all(it)
    if not it.is_new and it.accepted == 0 and math.random() < 0.3 then
      change_ones_mind(it)
    end
  end
  if bytes or it.accepted > 0 then
    perhaps(0.3)
    typed(':silent w<CR>')
    ask(PUT, lines())
    ask(WRITE, 'write', false)
    same('the end')
  end
end

local function start()
  local nvim = vim.env.CALIBAN_TEST_NVIM or vim.v.progpath
  plain = vim.fn.jobstart({ nvim, '--clean', '--headless', '--embed', '-n' }, { rpc = true })
  vim.o.fileencodings = 'ucs-bom,utf-8,default,latin1'
end

--- Neovim notes 'endofline' at a write only if the buffer was modified. So after this the buffer is not modified, and
--- nothing is written.
function T.an_option_that_neovim_has_not_noted_at_a_write_makes_no_other_write()
  start()
  for _, command in ipairs({ 'w!', 'w', 'noautocmd w!' }) do
    story = { command }
    local dir = H.fresh()
    vim.cmd(RESET)
    H.write('f.txt', 'a\nb\nc\nd')
    vim.cmd('silent edit f.txt')
    ask(FRESH, dir .. '/plain', 'a\nb\nc\nd', RESET)
    local it = { auto = true, own = false, accepted = 0, is_new = false, wrote = false }
    propose('a\nb\nc\nd', it)
    same('the proposal')
    for _, set in ipairs({ 'setlocal endofline', command, 'setlocal noeol nofixeol' }) do
      vim.cmd('silent ' .. set)
      ask('vim.cmd(...)', 'silent ' .. set)
    end
    same(command)
    H.eq('\n', H.disk('f.txt'):sub(-1), command)
    decide(it, 'accept', 'file')
    H.eq('\n', H.disk('f.txt'):sub(-1), command)
  end
  vim.fn.jobstop(plain)
end

function T.no_option_mixes_with_the_bytes_on_disk()
  start()
  for seed = SEED, SEED + SCRIPTS - 1 do
    local ok, err = pcall(script, seed)
    if not ok then
      error(('BYTES_SEED=%d BYTES=1: %s'):format(seed, err), 0)
    end
  end
  vim.fn.jobstop(plain)
end

return T
