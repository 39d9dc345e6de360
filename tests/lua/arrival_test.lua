--- Tests when a proposal may be applied to its buffer. Each test starts another Neovim and types
--- keys in it.
local T = {}

local root = vim.fn.fnamemodify(debug.getinfo(1, 'S').source:sub(2), ':p:h:h:h')

---@param want any
---@param got any
---@param what? string
local function eq(want, got, what)
  if not vim.deep_equal(want, got) then
    error(('%s\nwant %s\ngot  %s'):format(what or '', vim.inspect(want), vim.inspect(got)), 2)
  end
end

local SETUP = [[
  local root, path = ...
  vim.opt.runtimepath:prepend(root)
  vim.o.swapfile = false
  Sent = {}
  package.loaded['caliban.program.process'] = { notify = function(m) Sent[#Sent + 1] = m end, program = function() end, listen = function() end }
  B = require('caliban.review')
  vim.cmd.edit(path)
  Propose = function(before, after)
    local hunks = {}
    for _, d in ipairs(require('caliban.review.hunks.algebra').runs(before, after)) do
      local new = vim.list_slice(after, d[3] + 1, d[3] + d[4])
      hunks[#hunks + 1] = { start = d[1], count = d[2], text = table.concat(new, '\n'), n = #new }
    end
    local p = { id = 1, group = 1, path = path, create = false, eol = true, hunks = hunks }
    p.sha = vim.fn.sha256(table.concat(before, '\n'))
    B.propose({ kind = 'propose', session = 's', owner = 's', turn = 1, proposals = { p } })
  end
  Text = function()
    return table.concat(vim.api.nvim_buf_get_lines(vim.fn.bufnr(path), 0, -1, false), ' ')
  end
]]

---@class caliban.test.Child
---@field chan integer
local Child = {}
Child.__index = Child

---@return caliban.test.Child
local function start()
  local path = vim.fn.tempname() .. '.txt'
  vim.fn.writefile({ 'a', 'b', 'c', 'd' }, path)
  local bin = vim.env.CALIBAN_TEST_NVIM or vim.v.progpath
  local self = setmetatable({}, Child)
  self.chan = vim.fn.jobstart({ bin, '--embed', '--clean', '-n' }, { rpc = true })
  vim.rpcrequest(self.chan, 'nvim_ui_attach', 80, 20, {})
  self:lua(SETUP, root, path)
  return self
end

function Child:lua(code, ...)
  return vim.rpcrequest(self.chan, 'nvim_exec_lua', code, { ... })
end

function Child:mode()
  return vim.rpcrequest(self.chan, 'nvim_get_mode')
end

--- Types keys, and returns when Neovim has read them.
function Child:keys(keys)
  vim.rpcrequest(self.chan, 'nvim_input', keys)
  self:mode()
end

--- Waits until an expression is true in the other Neovim.
function Child:wait(code, what)
  local ok = vim.wait(60000, function()
    return not self:mode().blocking and self:lua('return ' .. code)
  end, 2)
  eq(true, ok, ('%s: %s never came'):format(what, code))
end

--- Lets the other Neovim's event loop run a few times. After that, a proposal that may be applied
--- has been applied.
function Child:rounds()
  for _ = 1, 5 do
    self:lua('Rounds = Rounds or 0; vim.schedule(function() Rounds = Rounds + 1 end)')
    self:lua('return Rounds')
  end
end

function Child:stop()
  vim.fn.jobstop(self.chan)
end

local BEFORE, AFTER = "{ 'a', 'b', 'c', 'd' }", "{ 'a', 'X', 'c', 'd' }"

function T.a_proposal_enters_an_idle_editor()
  local child = start()
  child:lua(('Propose(%s, %s)'):format(BEFORE, AFTER))
  child:wait("Text() == 'a X c d'", 'normal mode')
  eq({ 'entered', 0 }, { child:lua('return Sent[1].state'), child:lua('return #B.waiting()') })
  child:stop()
end

function T.a_proposal_waits_until_the_user_has_finished_a_command()
  -- each row of this table: name, keys before the proposal arrives, keys after its arrival, the
  -- final text, the answer to the program
  local rows = {
    { 'insert', 'i', '<Esc>', 'a X c d' },
    { 'visual', 'V', '<Esc>', 'a X c d' },
    { 'operator', 'd', '<Esc>', 'a X c d' },
    { 'operator that goes on', '3Gd', 'j', nil, 'moved' },
    { 'macro', 'qa', 'q', 'a X c d' },
    { 'replace', 'R', '<Esc>', 'a X c d' },
    { 'command line', ':echo', '<Esc>', 'a X c d' },
    { 'command-line window', 'q:', ':q<CR>', 'a X c d' },
    { 'completion', 'i<C-n>', '<Esc>', nil, nil },
    { 'count', '2', '<Esc>', 'a X c d' },
    { 'register', '"', '<Esc>', 'a X c d' },
    { 'find', 'f', '<Esc>', 'a X c d' },
    { 's///c', ':s/a/z/c<CR>', '<Esc>', 'a X c d' },
  }
  for _, row in ipairs(rows) do
    local what, before, after, text, state = row[1], row[2], row[3], row[4], row[5] or 'entered'
    local child = start()
    child:keys(before)
    local message = ('Propose(%s, %s)'):format(BEFORE, AFTER)
    if child:mode().blocking then
      vim.rpcnotify(child.chan, 'nvim_exec_lua', message, {})
    else
      child:lua(message)
      child:rounds()
      eq({ 'a b c d', 1 }, { child:lua('return Text()'), child:lua('return #B.waiting()') }, what)
    end
    child:keys(after)
    child:wait('#Sent == 1', what)
    if text then
      eq({ text, state }, { child:lua('return Text()'), child:lua('return Sent[1].state') }, what)
    elseif row[5] then
      eq(state, child:lua('return Sent[1].state'), what)
    end
    child:stop()
  end
end

function T.a_proposal_enters_while_the_user_types_in_another_buffer()
  local child = start()
  child:keys(':new<CR>ityping')
  child:lua(('Propose(%s, %s)'):format(BEFORE, AFTER))
  child:wait("Text() == 'a X c d'", 'insert mode elsewhere')
  eq('i', child:mode().mode)
  child:stop()
end

--- Trying to apply a proposal causes another SafeState event, which must not cause another try.
function T.a_waiting_proposal_does_not_try_again_without_an_event()
  local child = start()
  child:keys('i')
  child:lua(('Propose(%s, %s)'):format(BEFORE, AFTER))
  child:rounds()
  child:lua([[
    Tries = 0
    local arrival = require('caliban.review.arrival')
    local calm = arrival.calm
    arrival.calm = function(...) Tries = Tries + 1 return calm(...) end
  ]])
  for _ = 1, 20 do
    child:rounds()
  end
  eq(0, child:lua('return Tries'))
  child:keys('<Esc>')
  child:wait("Text() == 'a X c d'", 'after insert mode')
  child:stop()
end

function T.the_header_above_the_first_line_scrolls_away()
  local child = start()
  vim.rpcrequest(child.chan, 'nvim_ui_try_resize', 80, 6)
  child:lua("Propose({ 'a', 'b', 'c', 'd' }, { 'X', 'b', 'c', 'd' })")
  child:wait("Text() == 'X b c d'", 'entry')
  local function top()
    return child:lua([[
      vim.cmd.redraw()
      local rows = {}
      for row = 1, 3 do
        rows[row] = ''
        for column = 3, 18 do
          rows[row] = rows[row] .. vim.fn.screenstring(row, column)
        end
        rows[row] = vim.trim(rows[row])
      end
      return rows
    ]])
  end
  child:wait('vim.fn.winsaveview().topfill == 2', 'room')
  eq({ '1 change by Cali', 'a', 'X   [1/1] \\a acc' }, top())
  child:keys('<C-e>')
  eq({ 'a', 'X   [1/1] \\a acc', 'b' }, top())
  child:keys('<C-e><C-e>')
  eq({ 'b', 'c', 'd' }, top())
  child:keys('gg')
  child:wait('vim.fn.winsaveview().topfill == 2', 'back at the top')
  eq({ '1 change by Cali', 'a', 'X   [1/1] \\a acc' }, top())
  child:stop()
end

function T.a_refused_wqa_keeps_the_editor_open()
  local child = start()
  child:lua(('Propose(%s, %s)'):format(BEFORE, AFTER))
  child:wait("Text() == 'a X c d'", 'entry')
  child:keys(':wqa<CR>')
  eq({ mode = 'n', blocking = false }, child:mode())
  assert(child:lua("return vim.fn.execute('messages')"):find('is not written', 1, true))
  eq({ true, 'a X c d' }, { child:lua('return vim.bo.modified'), child:lua('return Text()') })
  child:stop()
end

return T
