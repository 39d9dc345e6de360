--- The chat in a real Neovim. The program is a stub: messages to it are kept in `sent`.
local api, fn = vim.api, vim.fn
vim.o.columns, vim.o.lines = 200, 50

local sent, told, exit = {}, {}, nil
local jobs = 0

---@diagnostic disable: duplicate-set-field
vim.fn.jobstart = function(_, opts)
  exit, jobs = opts.on_exit, jobs + 1
  return 1000 + jobs
end
vim.fn.jobstop = function() end
vim.rpcnotify = function(_, method, message)
  assert(method == 'caliban')
  table.insert(sent, vim.deepcopy(message))
end
vim.notify = function(text)
  table.insert(told, text)
end

---@param got any
---@param want any
local function eq(got, want)
  if not vim.deep_equal(got, want) then
    error(('got %s\nwant %s'):format(vim.inspect(got), vim.inspect(want)), 2)
  end
end

---@param kind string
---@return table? # the last message of this kind
local function last(kind)
  for i = #sent, 1, -1 do
    if sent[i].kind == kind then
      return sent[i]
    end
  end
end

---@param kind string
---@param fields table
local function receive(kind, fields)
  fields.kind = kind
  return require('caliban.program.dispatch').receive(fields)
end

---@param keys string
local function type_keys(keys)
  api.nvim_feedkeys(vim.keycode(keys), 'xt', false)
  -- waits, so that Neovim runs the functions that a key has scheduled
  vim.wait(60000, function()
    return true
  end)
  vim.wait(0)
end

local function settle()
  local done = false
  vim.schedule(function()
    done = true
  end)
  vim.wait(60000, function()
    return done
  end)
end

---@param config? table
---@return caliban.Chat?
local function fresh(config)
  pcall(vim.cmd, 'silent! tabonly! | silent! only! | silent! %bwipeout!')
  for name in pairs(package.loaded) do
    if name:find('^caliban') then
      package.loaded[name] = nil
    end
  end
  package.loaded['caliban.review.registry'] = {
    open = function()
      return {}
    end,
    stopped = function(session, turn)
      table.insert(sent, { kind = 'stopped', session = session, turn = turn })
    end,
    reviews = function()
      return {}
    end,
  }
  vim.g.loaded_caliban = nil
  vim.cmd.runtime('plugin/caliban.lua')
  sent, told = {}, {}
  vim.g.caliban = vim.tbl_extend('force', { bin = vim.v.progpath }, config or {})
end

---@param extra? table
local function welcome(extra)
  receive(
    'welcome',
    { version = require('caliban.version'), model = 'm', origin = '', tour = false }
  )
  local opened = {
    session = 'main',
    root = fn.getcwd(),
    ephemeral = false,
    draft = '',
    draft_context = {},
    reviews = {},
  }
  receive('session', vim.tbl_extend('force', opened, extra or {}))
end

---@return caliban.Chat
local function chat()
  return require('caliban.chat.chats').current
end

---@return caliban.Chat
local function opened(config)
  fresh(config)
  vim.cmd('Caliban')
  welcome()
  return chat()
end

---@param updates table[]
local function paint(updates, reset)
  for _, update in ipairs(updates) do
    update.at, update.shape = update.at or 0, update.shape or 'text'
    update.final = update.final ~= false
  end
  receive('paint', { session = 'main', reset = reset or false, updates = updates })
end

---@param fields? table
local function status(fields)
  receive(
    'status',
    vim.tbl_extend('force', {
      session = 'main',
      phase = 'idle',
      turn = 1,
      model = 'a/b',
      mode = 'ask',
      tour = false,
      unsaved = false,
      input = 0,
      output = 0,
      cached = 0,
      context = 0,
      size = 0,
      fill = 'ample',
      window = 0,
      queue = {},
      jobs = 0,
    }, fields or {})
  )
end

---@return string[]
local function transcript()
  return api.nvim_buf_get_lines(chat().transcript, 0, -1, false)
end

---@return string[]
local function composer()
  return api.nvim_buf_get_lines(chat().composer, 0, -1, false)
end

---@param part 'transcript'|'composer'
---@return integer
local function window(part)
  return fn.win_findbuf(chat()[part])[1]
end

---@param row integer
---@return string[] # highlight groups of a row, as `col-col group`: groups of extmarks and of `markdown.spans`
local function marks(row)
  local list = {}
  local buf, ns = chat().transcript, require('caliban.chat.paint').ns
  for _, m in
    ipairs(api.nvim_buf_get_extmarks(buf, ns, { row, 0 }, { row, -1 }, { details = true }))
  do
    if m[4].hl_group then
      table.insert(list, ('%d-%d %s'):format(m[3], m[4].end_col, m[4].hl_group))
    end
  end
  local block, top = require('caliban.chat.paint').at(chat(), row)
  local spans = require('caliban.chat.markdown').spans(buf, assert(block), top, row - top)
  for i = 1, #spans, 3 do
    local group = fn.synIDattr(spans[i + 2], 'name')
    table.insert(list, ('%d-%d %s'):format(spans[i], spans[i + 1], group))
  end
  table.sort(list)
  return list
end

--- Waits until a row of code is highlighted; its parser is loaded in the background.
---@param row integer
---@param mark string
local function coloured(row, mark)
  local function has()
    return vim.tbl_contains(marks(row), mark)
  end
  assert(vim.wait(60000, has, 1), ('%d has no %s'):format(row, mark))
end

--- The gaps before code spans in rows of the transcript: the byte and the cells of each.
---@param first integer
---@param last? integer default: `first`
---@return integer[][]
local function gaps(first, last)
  local ns, found = require('caliban.chat.paint').ns, {}
  local opts, to = { details = true }, { last or first, -1 }
  for _, m in ipairs(api.nvim_buf_get_extmarks(chat().transcript, ns, { first, 0 }, to, opts)) do
    if m[4].virt_text_pos == 'inline' then
      table.insert(
        found,
        last and { m[2], m[3], #m[4].virt_text[1][1] } or { m[3], #m[4].virt_text[1][1] }
      )
    end
  end
  return found
end

local tests = {}
local function test(name, run)
  tests[name] = run
end

test('the command opens transcript and composer before the program answers', function()
  fresh()
  local here = api.nvim_get_current_win()
  vim.cmd('Caliban')
  eq(#api.nvim_tabpage_list_wins(0), 3)
  eq(api.nvim_get_current_buf(), chat().composer)
  eq(api.nvim_win_get_width(window('transcript')), 80)
  eq(sent[1].kind, 'hello')
  eq(sent[1].config.mode, 'ask')
  eq(#sent, 1)
  welcome()
  eq(sent[2], { kind = 'open' })
  eq(api.nvim_buf_get_name(chat().transcript), 'caliban://main')
  eq(api.nvim_buf_get_name(chat().composer), 'caliban://main/prompt')
  eq(vim.bo[chat().transcript].filetype, 'caliban')
  eq(vim.bo[chat().composer].filetype, 'caliban-prompt')
  eq(vim.b[chat().transcript].caliban_session, 'main')
  eq(vim.bo[chat().transcript].modifiable, false)
  eq(fn.getbufinfo({ buflisted = 1 })[2], nil)
  api.nvim_set_current_win(here)
  vim.cmd('Caliban')
  eq(api.nvim_get_current_buf(), chat().composer)
  eq(#api.nvim_tabpage_list_wins(0), 3)
end)

test('blocks are appended, replaced and removed, and keep their order', function()
  opened()
  paint({ { id = 1, shape = 'user', lines = { 'hello' } } })
  paint({ { id = 2, lines = { '', 'one' }, final = false } })
  paint({
    { id = 3, shape = 'tool', lines = { '', '▸ read' } },
    { id = 2, append = ' two\nthree', final = false },
  })
  eq(transcript(), { 'hello', '', 'one two', 'three', '', '▸ read' })
  paint({ { id = 3, shape = 'tool', at = 1, lines = { '▾ read', '  body' } } })
  paint({ { id = 2, at = 2, lines = { 'drei', 'vier' } } })
  eq(transcript(), { 'hello', '', 'one two', 'drei', 'vier', '', '▾ read', '  body' })
  paint({ { id = 2, remove = true }, { id = 4, append = 'new\n' } })
  eq(transcript(), { 'hello', '', '▾ read', '  body', 'new', '' })
  paint({ { id = 4, append = 'x' } })
  eq(transcript()[6], 'x')
  paint({ { id = 9, lines = { 'again' } } }, true)
  eq(transcript(), { 'again' })
  paint({ { id = 9, remove = true } })
  eq(transcript(), { '' })
  paint({ { id = 10, append = 'first' } })
  eq(transcript(), { 'first' })
  eq(chat().total, 1)
  eq(vim.bo[chat().transcript].modifiable, false)
end)

test('random paints give the same lines as a plain list of blocks', function()
  opened()
  math.randomseed(7)
  local model, order = {}, {}
  for step = 1, 400 do
    local id = math.random(1, 12)
    local lines = model[id]
    local kind = math.random(1, 8)
    local update = { id = id, final = kind % 2 == 0 }
    if lines and kind == 1 then
      update.remove, model[id] = true, nil
      order = vim.tbl_filter(function(other)
        return other ~= id
      end, order)
    else
      if not lines then
        lines = {}
        model[id] = lines
        table.insert(order, id)
        table.sort(order)
      end
      if kind <= 4 then
        update.at = math.random(0, #lines)
        update.lines = {}
        for _ = 1, math.random(0, 3) do
          table.insert(update.lines, ('l%d `x`'):format(step))
        end
        while #lines > update.at do
          table.remove(lines)
        end
        vim.list_extend(lines, update.lines)
      else
        update.append = ('a%d'):format(step) .. ('\n'):rep(math.random(0, 2)) .. 'ü'
        local new = vim.split(update.append, '\n')
        lines[math.max(#lines, 1)] = (lines[#lines] or '') .. table.remove(new, 1)
        vim.list_extend(lines, new)
      end
    end
    paint({ update })
    local want = {}
    for _, other in ipairs(order) do
      vim.list_extend(want, model[other])
    end
    eq(transcript(), #want > 0 and want or { '' })
  end
end)

test('painting moves a broken code span to the next row, at a bounded cost', function()
  local measured, virtcol = 0, fn.virtcol
  fn.virtcol = function(...)
    measured = measured + 1
    return virtcol(...)
  end
  opened()
  -- in a window with 78 cells for text, the code span would not fit into the first row
  local line = ('word '):rep(14) .. '`git push origin main` and more'
  local plain, code = {}, { '```', line, '```', '| ' .. line .. ' |', '' }
  for i = 1, 3000 do
    plain[i] = line
  end
  paint({ { id = 1, append = table.concat(plain, '\n') .. '\n' } })
  assert(measured > 0 and measured < 1000, measured)
  eq(gaps(2998), { { 70, 8 } })
  eq(gaps(1500), {})
  api.nvim_win_set_cursor(window('transcript'), { 1500, 0 })
  vim.cmd.redraw()
  settle()
  eq(gaps(1500), { { 70, 8 } })
  -- after a window has become narrower, the gaps near the visible rows are updated first
  vim.cmd('vertical resize 64')
  vim.cmd('doautocmd WinResized')
  eq(gaps(1500), {})
  eq(gaps(2998), { { 70, 8 } })
  -- no gaps are in code, in tables and in a line that was painted again
  paint({ { id = 1, at = 0, lines = vim.list_extend(code, { 'end' }) } })
  for row = 0, #code - 1 do
    eq(gaps(row), {})
  end
  -- a line with thousands of code spans gets no gaps; of many shorter lines only some are measured
  measured = 0
  local many = (('`a b` with words '):rep(60) .. '\n'):rep(50)
  paint({ { id = 2, append = ('`a b` '):rep(170000) .. '\n' .. many } })
  assert(measured < 1000, measured)
  fn.virtcol = virtcol
end)

test('random paints leave the gaps that a look at all lines gives', function()
  opened()
  api.nvim_win_set_width(window('transcript'), 42)
  local pieces = { '`git push', ' origin main`', ' `cargo test --all`', '`git push', ' `x`' }
  vim.list_extend(
    pieces,
    { '\n```\n`a b`\n```\n', '\n', ',', ' words and more', ' and other words ' }
  )
  local total = 0
  for seed = 1, 40 do
    math.randomseed(seed)
    paint({ { id = 1, lines = { '' } } }, true)
    local sizes = {} ---@type table<integer, integer>
    for step = 1, 60 do
      local id, kind = math.random(2, 9), math.random(1, 16)
      local shape = ({ 'text', 'user', 'notice', 'error' })[id % 4 + 1]
      local update = { id = id, shape = shape, final = false }
      if kind == 1 and sizes[id] then
        update.remove, sizes[id] = true, nil
      elseif kind <= 3 then
        update.at, update.lines = math.random(0, sizes[id] or 0), {}
        for n = 1, math.random(1, 3) do
          update.lines[n] = ('word '):rep(math.random(1, 30)) .. '`a b c d e f g`'
        end
        sizes[id] = update.at + #update.lines
      else
        update.append = ''
        for _ = 1, math.random(1, 4) do
          update.append = update.append .. pieces[math.random(1, #pieces)]
        end
        local _, breaks = update.append:gsub('\n', '')
        sizes[id] = math.max(sizes[id] or 0, 1) + breaks
      end
      paint({ update })
      if step % 5 == 0 then
        local was = gaps(0, -1)
        chat().narrowest = nil
        require('caliban.chat.windows').refit(chat())
        eq({ seed, step, was }, { seed, step, gaps(0, -1) })
        total = total + #was
      end
    end
  end
  assert(total > 500, total)
end)

test('the view follows the end only where the cursor is on it', function()
  opened()
  local lines = {}
  for i = 1, 100 do
    lines[i] = 'line ' .. i
  end
  paint({ { id = 1, lines = lines } })
  local first = window('transcript')
  eq(api.nvim_win_get_cursor(first)[1], 100)
  local second = api.nvim_open_win(chat().transcript, false, { split = 'left', win = first })
  api.nvim_win_set_cursor(second, { 50, 0 })
  local focus = api.nvim_get_current_win()
  paint({ { id = 2, append = 'more\nand more' } })
  eq(api.nvim_win_get_cursor(first), { 102, 7 })
  eq(api.nvim_win_get_cursor(second), { 50, 0 })
  eq(api.nvim_get_current_win(), focus)
  api.nvim_win_set_cursor(second, { 102, 0 })
  paint({ { id = 2, append = '!\nend' } })
  eq(api.nvim_win_get_cursor(second)[1], 103)
  api.nvim_set_current_win(first)
  vim.cmd('normal! V')
  paint({ { id = 2, append = '\nx' } })
  eq(api.nvim_win_get_cursor(first)[1], 103)
  vim.cmd('normal! \27')
end)

test('other windows keep size, options, cursor, alternate file and jumps', function()
  fresh()
  vim.cmd('edit one | edit two | vsplit | split | resize 5')
  local wins = api.nvim_tabpage_list_wins(0)
  local function look()
    return vim.tbl_map(function(win)
      return {
        api.nvim_win_get_height(win),
        vim.wo[win].number,
        vim.wo[win].winbar,
        vim.wo[win].signcolumn,
        fn.getjumplist(win)[1],
        api.nvim_win_call(win, function()
          return fn.bufnr('#')
        end),
      }
    end, wins)
  end
  local before, focus = look(), api.nvim_get_current_win()
  require('caliban').ask('hi')
  eq(api.nvim_get_current_win(), focus)
  welcome()
  status({ phase = 'streaming' })
  paint({ { id = 1, append = ('x\n'):rep(300) } })
  require('caliban').add()
  eq(api.nvim_get_current_win(), focus)
  eq(look(), before)
  eq(last('send').text, 'hi')
  vim.cmd('Caliban close')
  eq(look(), before)
  eq(#api.nvim_tabpage_list_wins(0), 3)
end)

test("the chat has its own winbar and options beside the user's", function()
  fresh()
  vim.o.winbar, vim.o.number = 'mine', true
  vim.cmd('Caliban')
  welcome()
  local win = window('transcript')
  eq({ vim.wo[win].number, vim.wo[win].signcolumn }, { false, 'yes:1' })
  assert(vim.wo[win].winbar ~= 'mine')
  api.nvim_set_current_win(win)
  vim.cmd('setlocal number | enew')
  eq({ vim.wo.winbar, vim.wo.number, vim.wo.signcolumn }, { 'mine', true, 'auto' })
  vim.cmd('buffer ' .. chat().transcript)
  eq({ vim.wo.number, vim.wo.signcolumn }, { true, 'yes:1' })
  vim.o.winbar, vim.o.number = '', false
end)

test('each window may be closed and comes back', function()
  opened()
  api.nvim_win_close(window('composer'), true)
  vim.cmd('Caliban')
  eq(#api.nvim_tabpage_list_wins(0), 3)
  api.nvim_win_close(window('transcript'), true)
  vim.cmd('Caliban')
  eq(#api.nvim_tabpage_list_wins(0), 3)
  vim.cmd('Caliban toggle')
  eq(#api.nvim_tabpage_list_wins(0), 1)
  vim.cmd('Caliban toggle')
  eq(#api.nvim_tabpage_list_wins(0), 3)
end)

for _, how in ipairs({ 'bwipeout!', 'bdelete!' }) do
  test('a chat survives :' .. how, function()
    opened()
    api.nvim_buf_set_lines(chat().composer, 0, -1, false, { 'half a', 'thought' })
    paint({ { id = 1, lines = { 'old' } } })
    sent = {}
    vim.cmd(how .. ' ' .. chat().transcript)
    vim.cmd(how .. ' ' .. chat().composer)
    paint({ { id = 1, append = 'late' } })
    vim.cmd('Caliban')
    eq(composer(), { 'half a', 'thought' })
    eq(last('open').session, 'main')
    paint({ { id = 1, lines = { 'old' } } }, true)
    eq(transcript(), { 'old' })
    eq(api.nvim_buf_get_name(chat().transcript), 'caliban://main')
  end)
end

test('every layout opens and closes', function()
  for _, layout in ipairs({ 'auto', 'right', 'left', 'top', 'bottom', 'tab', 'float', 'current' }) do
    opened({ layout = layout })
    eq(api.nvim_get_current_buf(), chat().composer)
    api.nvim_buf_set_lines(chat().composer, 0, -1, false, { '1', '2', '3', '4', '5' })
    require('caliban.chat.layout').fit(chat())
    -- the keys take a row of a floating composer, which has no statusline for them
    eq(api.nvim_win_get_height(window('composer')), layout == 'float' and 6 or 5)
    vim.cmd('Caliban close')
    eq(fn.win_findbuf(chat().composer), {})
    eq(fn.win_findbuf(chat().transcript), {})
  end
end)

test('the composer grows with its text and takes the rows from the transcript', function()
  opened()
  local upper = window('transcript')
  local height = api.nvim_win_get_height(upper) + api.nvim_win_get_height(window('composer'))
  for _, case in ipairs({ { 1, 3 }, { 5, 5 }, { 40, 10 }, { 2, 3 } }) do
    local lines = fn['repeat']({ 'x' }, case[1])
    api.nvim_buf_set_lines(chat().composer, 0, -1, false, lines)
    require('caliban.chat.layout').fit(chat())
    eq(api.nvim_win_get_height(window('composer')), case[2])
    eq(api.nvim_win_get_height(upper), height - case[2])
  end
end)

test('the composer sends and steers, and u brings a sent text back', function()
  opened()
  type_keys('<CR>')
  eq(told, { 'Nothing sent. The message is empty.' })
  type_keys('ihello<CR>world<C-s><Esc>')
  eq(
    last('send'),
    { kind = 'send', session = 'main', text = 'hello\nworld', context = {}, steer = false }
  )
  eq(composer(), { '' })
  type_keys('u')
  eq(composer(), { 'hello', 'world' })
  type_keys('<M-CR>')
  eq(last('send').steer, true)
  type_keys('<Up>')
  settle()
  eq(composer(), { 'hello', 'world' })
  type_keys('gg<Up>')
  settle()
  eq(composer(), { 'hello', 'world' })
  type_keys('G<Down>')
  settle()
  eq(composer(), { '' })
end)

test('a message written before the session is open is sent once it is open', function()
  fresh()
  vim.cmd('Caliban')
  type_keys('ihello<C-s><Esc>')
  eq(last('send'), nil)
  welcome()
  eq(last('send').text, 'hello')
end)

test(
  'a text that bounced moves to the conversation that took the place, with the reason',
  function()
    for _, first in ipairs({ 'bounce', 'session' }) do
      opened()
      local back = { session = 'main', text = 'mine', context = {}, why = 'It is not open.' }
      local instead =
        { session = 'main-2', instead = 'main', root = fn.getcwd(), ephemeral = false }
      instead = vim.tbl_extend('error', instead, { draft = '', draft_context = {}, reviews = {} })
      receive(first, first == 'bounce' and back or instead)
      receive(first == 'bounce' and 'session' or 'bounce', first == 'bounce' and instead or back)
      eq(chat().session, 'main-2')
      eq(composer(), { 'mine' })
      eq(chat().warning.text, 'It is not open.')
    end
  end
)

test('text and unsent messages outlive the program, and a restart opens all again', function()
  opened()
  type_keys('ikeep me<Esc>')
  exit(1000 + jobs, 137)
  eq(
    transcript()[2],
    '! The program ended (signal 9). :Caliban restart starts it again; your text is safe.'
  )
  type_keys('<CR>')
  eq(composer(), { 'keep me' })
  eq(require('caliban').state().phase, 'offline')
  require('caliban.program.process').notify({ kind = 'reviewed', proposals = { 3 } })
  sent = {}
  vim.cmd('Caliban restart')
  welcome()
  eq(
    vim.tbl_map(function(message)
      return message.kind
    end, sent),
    { 'hello', 'open', 'draft', 'reviewed' }
  )
  eq(composer(), { 'keep me' })
end)

test('a message the program never saw comes back when it ends', function()
  fresh()
  require('caliban').ask('lost?')
  exit(1000 + jobs, 1)
  eq(composer(), { 'lost?' })
end)

test('a program of another version is reported in one sentence', function()
  fresh()
  vim.cmd('Caliban')
  receive('welcome', { version = '9.9.9' })
  assert(transcript()[2]:find('The plugin is version .*, but its program is version 9.9.9'))
end)

test('a missing program is reported in one sentence', function()
  fresh({ bin = '/nowhere/caliban' })
  vim.cmd('Caliban')
  eq(#told, 1)
  assert(told[1]:find('/nowhere/caliban is not an executable file%. .* cargo build %-%-release'))
  eq(#api.nvim_tabpage_list_wins(0), 1)
end)

test('drafts are sent when they change, and come back', function()
  opened()
  type_keys('idraft<Esc>')
  vim.cmd.wincmd('p')
  eq(last('draft'), { kind = 'draft', session = 'main', text = 'draft', context = {} })
  sent = {}
  api.nvim_exec_autocmds('VimLeave', {})
  eq(sent, {})
  api.nvim_buf_set_lines(chat().composer, 0, -1, false, { 'later' })
  api.nvim_exec_autocmds('VimLeave', {})
  eq(last('draft').text, 'later')
  fresh()
  vim.cmd('Caliban')
  local excerpt = { path = 'a', filetype = '', kind = 'file', text = 'x' }
  welcome({ draft = 'from\nbefore', draft_context = { excerpt } })
  eq(composer(), { 'from', 'before' })
  eq(chat().context, { excerpt })
  receive('bounce', { session = 'main', text = 'back', context = {}, why = 'No key.' })
  eq(composer(), { 'back', '', 'from', 'before' })
  eq(chat().warning.text, 'No key.')
  eq(told, {})
end)

---@param lines string[]
local function file(lines)
  vim.cmd('enew')
  api.nvim_buf_set_lines(0, 0, -1, false, lines)
end

test('a selection is added exactly as selected', function()
  local cases = {
    { 'ggVj', 'one two\nthree four', { 1, 2 } },
    { 'ggwvj', 'two\nthree', { 1, 2 } },
    { 'gg<C-v>jl', 'on\nth', { 1, 2 } },
    { 'ggw<C-v>j$', 'two\ne four', { 1, 2 } },
    { 'gg0w<C-v>jj$', 'two\ne four\n ß', { 1, 3 } },
    { 'Gvgg', 'one two\nthree four\nf', { 1, 3 } },
    { '3Gv$', 'fünf ß', { 3, 3 } },
  }
  for _, case in ipairs(cases) do
    for _, keys in ipairs({ ':Caliban<CR>', '<Plug>(caliban-add)' }) do
      fresh()
      file({ 'one two', 'three four', 'fünf ß' })
      vim.bo.filetype = 'text'
      type_keys(case[1] .. keys)
      local chip = chat().context[1]
      eq({ case[1], keys, chip.text, chip.lines }, { case[1], keys, case[2], case[3] })
      eq({ chip.path, chip.filetype, chip.kind }, { '[No Name]', 'text', 'selection' })
      eq(fn.mode(), 'n')
    end
  end
end)

test('a range adds whole lines, and the operator adds the text of the motion', function()
  fresh()
  file({ 'one two', 'three four', 'five' })
  type_keys('wvy')
  vim.cmd('2,3Caliban add')
  eq(chat().context[1].text, 'three four\nfive')
  type_keys('gg0<Plug>(caliban-add)w')
  eq(chat().context[2].text, 'one ')
  type_keys('<Plug>(caliban-add)j')
  eq(chat().context[3].text, 'one two\nthree four')
  eq(vim.bo.filetype, '')
end)

test('asking sends at once, with the selection, and leaves the focus', function()
  opened()
  vim.cmd('wincmd p')
  file({ 'one two', 'three' })
  vim.ui.input = function(_, on)
    on('why?')
  end
  for _, keys in ipairs({ ':Caliban ask  why?<CR>', ':Caliban ask<CR>', '<Plug>(caliban-ask)' }) do
    sent = {}
    type_keys('gg0wve' .. keys)
    eq({ last('send').text, last('send').context[1].text, fn.mode() }, { 'why?', 'two', 'n' })
    eq(api.nvim_buf_get_lines(0, 0, 1, false), { 'one two' })
  end
  vim.cmd('Caliban ask plain')
  eq(last('send').context, {})
  vim.cmd('Caliban steer and | this')
  eq({ last('send').text, last('send').steer }, { 'and | this', true })
  eq(composer(), { '' })
end)

test('a text that is too big to be added is refused with a message', function()
  opened()
  vim.cmd('wincmd p')
  file({ ('x'):rep(300000) })
  vim.cmd('Caliban add')
  eq(told, {
    'The text is 292 kB long; at most 256 kB can be added. Name the file in the message instead.',
  })
end)

test('a paint that the editor refuses changes nothing, and can be repeated', function()
  opened()
  paint({ { id = 1, append = 'one', final = false } })
  local set_text, set_lines = api.nvim_buf_set_text, api.nvim_buf_set_lines
  local function refuse()
    error('E565: Not allowed to change text or change window')
  end
  for _, update in ipairs({ { id = 1, append = ' two' }, { id = 2, append = '\nnew' } }) do
    api.nvim_buf_set_text, api.nvim_buf_set_lines = refuse, refuse
    eq(pcall(paint, { update }), false)
    api.nvim_buf_set_text, api.nvim_buf_set_lines = set_text, set_lines
    eq(vim.bo[chat().transcript].modifiable, false)
    paint({ update })
  end
  eq(transcript(), { 'one two', '', 'new' })
end)

test('a path is relative to the root of the session', function()
  opened()
  vim.cmd('wincmd p | edit lua/caliban/init.lua')
  vim.cmd('Caliban add')
  eq(
    { chat().context[1].path, chat().context[1].kind, chat().context[1].lines },
    { 'lua/caliban/init.lua', 'file' }
  )
end)

test('chips are shown, sent along and removed', function()
  opened()
  require('caliban.chat.composer').chip(chat(), {
    path = 'src/a.rs',
    lines = { 3, 9 },
    filetype = 'rust',
    kind = 'selection',
    text = ('x'):rep(5000),
  })
  require('caliban.chat.composer').chip(
    chat(),
    { path = 'b', filetype = '', kind = 'file', text = 'x' }
  )
  local ns = api.nvim_get_namespaces().caliban_composer
  local mark = api.nvim_buf_get_extmarks(chat().composer, ns, 0, -1, { details = true })[1]
  eq(mark[4].virt_lines[1][1], { '▏selection  src/a.rs:3-9  1 line  1.2k tokens', 'CalibanChip' })
  type_keys('<C-x>')
  eq(#chat().context, 1)
  type_keys('igo<Esc><CR>')
  eq(last('send').context[1].path, 'src/a.rs')
  eq(chat().context, {})
  type_keys('i7<Esc><C-x>')
  eq(composer(), { '6' })
end)

test('queued messages stand at the end, and can be removed or edited', function()
  opened()
  local queue = {
    { id = 5, text = 'first\nthing', context = {}, steer = false },
    { id = 6, text = 'second', context = {}, steer = true },
  }
  status({ phase = 'streaming', queue = queue })
  paint({ { id = 1, lines = { 'answer' } }, { id = 2, append = '\nmore' } })
  eq(
    transcript(),
    { 'answer', '', 'more', '', '◷ queued: first thing', '◷ joins this turn: second' }
  )
  api.nvim_set_current_win(window('transcript'))
  type_keys('5Gx')
  settle()
  eq({ last('unqueue').id, last('unqueue').edit }, { 5, false })
  type_keys('6G<CR>')
  settle()
  eq({ last('unqueue').id, last('unqueue').edit }, { 6, true })
  -- the composer is empty until the program gives the message back
  eq(composer(), { '' })
  eq(api.nvim_get_current_win(), window('composer'))
  status({ phase = 'streaming' })
  eq(transcript(), { 'answer', '', 'more' })
end)

--- Waits until the question takes keys.
local function wait_for_keys()
  vim.wait(60000, function()
    vim.cmd.redraw()
    return chat().question.armed
  end, 20)
end

test('the keys of a question act on its lines only', function()
  opened()
  paint({
    { id = 1, lines = { 'some words here' } },
    { id = 2, shape = 'ask', lines = { '', '? Run `ls`?', '  y once' }, call = 'c1' },
  })
  api.nvim_set_current_win(window('transcript'))
  fn.setreg('a', 'old')
  type_keys('gg0"ayw')
  eq(fn.getreg('a'), 'some ')
  type_keys('gg0"ay2w')
  eq(fn.getreg('a'), 'some words ')
  type_keys('gg2"ayy')
  eq(fn.getreg('a'), 'some words here\n\n')
  type_keys('2Gyy')
  eq(last('rule'), nil)
  wait_for_keys()
  -- a question takes only one answer, so each key gets another question
  local function another(call)
    paint({ { id = 2, shape = 'ask', lines = { '', '? Run `ls`?', '  y once' }, call = call } })
    api.nvim_win_set_cursor(0, { 3, 0 })
    wait_for_keys()
  end
  for key, want in pairs({ y = 'once', s = 'session', n = 'deny' }) do
    sent = {}
    another(key)
    type_keys('3G' .. key)
    settle()
    eq(last('rule'), { kind = 'rule', session = 'main', call = key, ruling = want, reason = '' })
    type_keys('3G' .. key .. '<Esc>')
    settle()
    eq(#sent, 1)
  end
  another('c1')
  vim.ui.input = function(_, on)
    on('not now')
  end
  type_keys('4Ge')
  settle()
  eq(last('rule').reason, 'not now')
  another('c2')
  vim.cmd('Caliban approve session')
  eq(last('rule').ruling, 'session')
  another('c3')
  vim.cmd('Caliban deny too risky')
  eq({ last('rule').ruling, last('rule').reason }, { 'deny', 'too risky' })
  paint({ { id = 2, remove = true } })
  vim.cmd('Caliban approve')
  eq(told[#told], 'Nothing waits for your permission.')
end)

test('tools and thoughts open and close; other keys keep their meaning', function()
  opened()
  paint({ { id = 1, lines = { 'text' } }, { id = 2, shape = 'tool', lines = { '', '▸ read' } } })
  api.nvim_set_current_win(window('transcript'))
  type_keys('gg<CR>')
  eq(api.nvim_win_get_cursor(0)[1], 2)
  eq(last('toggle'), nil)
  type_keys('G<CR>')
  settle()
  eq(last('toggle'), { kind = 'toggle', session = 'main', block = 2 })
  local diff = { { path = 'a', at = 2, old = 9, new = 9, signs = '-+' } }
  local lines = { '', '▾ edit a', '    -old', '    +new' }
  paint({ { id = 2, shape = 'tool', lines = lines, diff = diff } })
  eq(api.nvim_win_get_cursor(0)[1], 3)
  type_keys('G')
  paint({ { id = 3, append = '\nnext' } })
  eq(api.nvim_win_get_cursor(0)[1], 7)
end)

test('keys jump to messages, copy code blocks and open files', function()
  opened()
  paint({
    { id = 1, shape = 'user', lines = { 'one' } },
    { id = 2, lines = { '', 'see lua/caliban/init.lua:7', '```lua', 'x = 1', '```' } },
    { id = 3, shape = 'user', lines = { '', 'two' } },
    { id = 4, shape = 'tool', lines = { '', '▸ read path="lua/caliban/init.lua" lines=5-9' } },
  })
  api.nvim_set_current_win(window('transcript'))
  type_keys('gg]]')
  eq(api.nvim_win_get_cursor(0)[1], 8)
  type_keys('G2[[')
  eq(api.nvim_win_get_cursor(0)[1], 1)
  type_keys('4Ggy')
  eq(fn.getreg('"'), 'x = 1\n')
  type_keys('3G0wgf')
  eq({ fn.expand('%:.'), fn.line('.') }, { 'lua/caliban/init.lua', 7 })
  api.nvim_set_current_win(window('transcript'))
  type_keys('10G0f"lgf')
  eq(fn.line('.'), 5)
end)

test('Markdown is highlighted once a line is finished', function()
  opened()
  paint({ { id = 1, append = '# Title\na `code` **bold** [x](y)\n- it', final = false } })
  eq(marks(0), { '0-7 CalibanHeading1' })
  eq(marks(1), { '18-24 @markup.link', '2-8 @markup.raw', '9-17 @markup.strong' })
  eq(marks(2), {})
end)

test('a fence highlights its code when it closes, and does not leak into the next block', function()
  opened()
  paint({ { id = 1, append = '```lua\nlocal x = 1\n', final = false } })
  eq(marks(1), {})
  paint({ { id = 1, append = '```\n', final = false } })
  coloured(1, '0-5 @keyword.lua')
  paint({ { id = 2, append = '```lua\nopen', final = true }, { id = 3, append = '# head' } })
  eq(#marks(6), 1)
end)

test('a comment over many lines of code is highlighted on each line', function()
  opened()
  local lines = { '```lua', 'local x = 1 --[[' }
  for i = 1, 150 do
    lines[#lines + 1] = 'word ' .. i
  end
  vim.list_extend(lines, { ']] local y', '```', '# after' })
  paint({ { id = 1, append = table.concat(lines, '\n') } })
  for _, row in ipairs({ 140, 2, 64, 65, 66 }) do
    coloured(row, '0-2147483647 @comment.lua')
  end
  assert(vim.tbl_contains(marks(152), '0-2 @comment.lua'))
  assert(vim.tbl_contains(marks(152), '3-8 @keyword.lua'))
  eq(marks(154), { '0-7 CalibanHeading1' })
end)

test('of a large paint only the visible rows are highlighted', function()
  opened()
  paint({ { id = 1, append = ('# head `x` and **y**\n'):rep(20000) } })
  vim.cmd.redraw()
  local seen = vim.tbl_count(chat().blocks[1].spans)
  assert(seen > 0 and seen < 200, seen)
  eq(#marks(0), 3)
  eq(#marks(19999), 3)
end)

test('the composer takes no line from a window below it', function()
  fresh({ layout = 'current' })
  vim.cmd('split')
  local below = fn.win_getid(fn.winnr('j'))
  local height = api.nvim_win_get_height(below)
  vim.cmd('Caliban')
  welcome()
  for _, n in ipairs({ 8, 1 }) do
    api.nvim_buf_set_lines(chat().composer, 0, -1, false, fn['repeat']({ 'x' }, n))
    require('caliban.chat.layout').fit(chat())
    eq(api.nvim_win_get_height(window('composer')), math.max(n, 3))
    eq(api.nvim_win_get_height(below), height)
  end
end)

test('replaced lines are highlighted again, also where a fence goes', function()
  opened()
  paint({ { id = 1, lines = { '# one', '```', '# two', '# three' } } })
  eq({ marks(0), marks(3) }, { { '0-5 CalibanHeading1' }, {} })
  paint({ { id = 1, at = 1, lines = { 'no fence', '# two' } } })
  eq({ marks(0), marks(1), marks(2) }, { { '0-5 CalibanHeading1' }, {}, { '0-5 CalibanHeading1' } })
end)

test('blocks have notes beside and below them', function()
  opened()
  paint({ { id = 1, shape = 'tool', lines = { '', '▸ grep' }, right = '7 matches' } })
  paint({ { id = 2, shape = 'user', lines = { '', 'hi' }, below = { '▏src/lib.rs' } } })
  local ns = require('caliban.chat.paint').ns
  local found = {}
  for _, m in ipairs(api.nvim_buf_get_extmarks(chat().transcript, ns, 0, -1, { details = true })) do
    if m[4].virt_text then
      table.insert(found, { m[2], m[4].virt_text[1][1] })
    elseif m[4].virt_lines then
      table.insert(found, { m[2], m[4].virt_lines[1][2][1] })
    elseif m[4].sign_text then
      table.insert(found, { m[2], vim.trim(m[4].sign_text) })
    end
  end
  table.sort(found, function(a, b)
    return a[1] .. a[2] < b[1] .. b[2]
  end)
  eq(found, { { 1, '7 matches' }, { 3, '┃' }, { 3, '▏src/lib.rs' } })
end)

test('the status reaches the API, the winbar, events and notifications', function()
  fresh()
  eq(require('caliban').status(), '')
  eq(require('caliban').state().phase, 'offline')
  vim.cmd('Caliban')
  welcome()
  status({
    phase = 'running',
    tool = 'shell',
    context = 12400,
    size = 12400,
    window = 200000,
    input = 100,
    output = 20,
    hit = 91,
    cost = 0.084,
    unpriced = false,
  })
  eq(require('caliban').status(), 'caliban: running shell')
  local widths = {}
  for _, width in ipairs({ 99, 72, 60, 50, 42, 38, 30, 18, 5 }) do
    table.insert(widths, require('caliban').status(width))
  end
  eq(widths, {
    'a/b · ask · ● running shell  12.4k/200k  6% · in 100 · out 20 · cached 91% · $0.08',
    'a/b · ask · ● running shell  12.4k/200k  6% · cached 91% · $0.08',
    'b · ask · ● running shell  12.4k/200k  6% · $0.08',
    'b · ask · ● running shell  12.4k/200k  6% · $0.08',
    'b · ask · ● running shell  6% · $0.08',
    'b · ask · ● running shell  6% · $0.08',
    'b · ask · ● running shell  6%',
    'ask · ● running',
    '●',
  })
  eq(require('caliban').state().usage.context, 12400)
  eq(
    vim.wo[window('transcript')].winbar,
    '%< a/b · %#CalibanModeAsk#ask%* · ● running shell%=  12.4k/200k  6%% · cached 91%% · $0.08 '
  )
  eq(told, {})
  status({ size = 90000, fill = 'long', window = 200000, context = 12400, cost = 0.084 })
  eq(
    vim.wo[window('transcript')].winbar,
    '%< a/b · %#CalibanModeAsk#ask%* · ○ idle%=  %#CalibanLong#90k/200k  45%%%* · $0.08 '
  )
  status({ size = 120000, fill = 'full', window = 200000 })
  eq(
    vim.wo[window('transcript')].winbar,
    '%< a/b · %#CalibanModeAsk#ask%* · ○ idle%=  %#CalibanFull#120k/200k  60%%%* '
  )
  widths = {}
  for _, width in ipairs({ 40, 30, 18, 16, 12, 5 }) do
    table.insert(widths, require('caliban').status(width))
  end
  eq(widths, {
    'a/b · ask · ○ idle  120k/200k  60%',
    'b · ask · ○ idle  60%',
    'ask · ○ idle  60%',
    'ask · ○ idle',
    'ask · ○ idle',
    '○',
  })
  vim.cmd('Caliban close')
  status({ phase = 'asking', waiting_for = 'permission' })
  eq(told, { 'Caliban is waiting for you (main).' })
  local got
  require('caliban').on('TurnEnd', function(data)
    got = data
  end)
  receive('event', { name = 'CalibanTurnEnd', data = { turn = 3 } })
  eq(got, { turn = 3 })
  receive('from the future', {})
end)

test('a stop keeps proposals out of buffers before the program hears of it', function()
  opened()
  status({ phase = 'streaming', turn = 4 })
  sent = {}
  type_keys('<C-c>')
  eq(
    sent,
    { { kind = 'stopped', session = 'main', turn = 4 }, { kind = 'stop', session = 'main' } }
  )
end)

---@param session string
local function arrives(session)
  local fields = { root = '/', ephemeral = false, draft = '', draft_context = {} }
  receive('session', vim.tbl_extend('force', { reviews = {} }, fields, { session = session }))
end

test('several chats keep their own text and their place', function()
  opened()
  type_keys('iunsent<Esc>')
  paint({ { id = 1, append = ('line\n'):rep(200) } })
  api.nvim_win_call(window('transcript'), function()
    fn.winrestview({ topline = 50, lnum = 60 })
  end)
  vim.cmd('Caliban new other')
  eq(last('new'), { kind = 'new', name = 'other', ephemeral = false })
  arrives('other')
  eq(chat().session, 'other')
  eq(api.nvim_get_current_buf(), chat().composer)
  eq(composer(), { '' })
  eq(#api.nvim_tabpage_list_wins(0), 3)
  paint({ { id = 2, append = '\nmeanwhile' } })
  sent = {}
  vim.cmd('Caliban resume main')
  eq(composer(), { 'unsent' })
  eq(last('open'), nil)
  local win = window('transcript')
  eq({ api.nvim_win_get_cursor(win)[1], fn.line('w0', win) }, { 60, 50 })
  vim.cmd('Caliban resume nosuch')
  eq(last('open'), nil)
  vim.cmd('Caliban new third')
  eq(last('new'), { kind = 'new', name = 'third', ephemeral = false })
  arrives('third')
  eq(chat().session, 'third')
  vim.cmd('Caliban new!')
  eq(last('new').ephemeral, true)
end)

test('the first chat of all may be a new one', function()
  fresh()
  vim.cmd('Caliban new')
  eq(api.nvim_get_current_buf(), chat().composer)
  receive('welcome', { version = require('caliban.version') })
  arrives('chat-2')
  eq({ chat().session, #require('caliban.chat.chats').all }, { 'chat-2', 1 })
end)

test('each setting of the configuration is checked', function()
  local check = require('caliban.config').check
  local cases = {
    {
      { layout = 'middle' },
      "caliban: config.layout: expected 'auto', 'right', 'left', 'top', 'bottom', 'tab', 'float' or 'current', got 'middle'",
    },
    { { modle = 'x' }, "caliban: config.modle: there is no such setting. Did you mean 'model'?" },
    { { debug = 1 }, 'caliban: config.debug: expected a boolean, got 1' },
    {
      { providers = { mine = { dialect = 'foo', base_url = 'http://x' } } },
      "caliban: config.providers.mine.dialect: expected 'anthropic', 'openai-chat', 'openai-responses', 'gemini' or 'ollama', got 'foo'",
    },
    {
      { providers = { mine = { base_url = 1 } } },
      'caliban: config.providers.mine.base_url: expected a string, got 1',
    },
    {
      { mode = 'autopilot' },
      "caliban: config.mode: expected 'plan', 'ask', 'auto-edit' or 'auto', got 'autopilot'",
    },
    {
      { sandbox = { net = true } },
      'caliban: config.sandbox: expected true, false or a table with `network` (a boolean) and `writable` (a list of folders), got a table',
    },
    { { providers = { 'x' } }, "caliban: config.providers.1: expected a table, got 'x'" },
    {
      { providers = { mine = { headers = 'x: y' } } },
      "caliban: config.providers.mine.headers: expected a table, got 'x: y'",
    },
    {
      { system = 'a', no_system = true },
      'caliban: config: system and no_system exclude each other, so none is used. Keep one of them',
    },
    { 3, 'caliban: config: expected a table, got 3' },
    {
      { trim = 50 },
      'caliban: config.trim: expected a number up to 1, such as 0.5, or false, got 50',
    },
    {
      { models = { ['a/b'] = { trim = 'never' } } },
      "caliban: config.models['a/b'].trim: expected a number up to 1, such as 0.5, or false, got 'never'",
    },
    { { resume = 'yes' }, "caliban: config.resume: expected true, false or 'open', got 'yes'" },
  }
  for _, case in ipairs(cases) do
    local config, problems = check(case[1])
    eq(problems, { case[2] })
    eq({ config.layout, config.mode, config.system }, { 'auto', 'ask' })
  end
  local _, none = check({
    model = 'a/b',
    providers = {
      m = { dialect = 'anthropic', base_url = 'u', models = { 'x' } },
      anthropic = { key = 'cmd:pass show key' },
    },
  })
  eq(none, {})
end)

test('headers of a provider are checked one by one, and no value is shown', function()
  local check = require('caliban.config').check
  local cases = {
    { { ['X-API-Key'] = 'x' }, 'X-API-Key: this header holds the key; set `key` instead' },
    { { authorization = 'env:A' }, 'authorization: this header holds the key; set `key` instead' },
    { { Host = 'x' }, 'Host: the HTTP connection sets this header' },
    { { ['Transfer-Encoding'] = 'x' }, 'Transfer-Encoding: the HTTP connection sets this header' },
    { { ['content-type'] = 'x' }, 'content-type: Caliban sets this header' },
    { { ['x y'] = 'x' }, 'x y: this is not a valid header name' },
    { { ['x\r\nHost'] = 'x' }, 'x^M^@Host: this is not a valid header name' },
    { { [''] = 'x' }, ': this is not a valid header name' },
    { { 'x-a: b' }, '1: this is not a valid header name' },
    { { ['x-a'] = 1 }, 'x-a: expected a string, got 1' },
    { { ['x-a'] = 'se\r\ncret' }, 'x-a: its value contains control characters' },
    { { ['x-a'] = 'env:' }, 'x-a: the name of a variable is missing after `env:`' },
    { { ['X-A'] = 'x', ['x-a'] = 'y' }, 'x-a: it is given twice' },
  }
  for _, case in ipairs(cases) do
    local config, problems = check({ providers = { mine = { headers = case[1] } } })
    eq(problems, { 'caliban: config.providers.mine.headers.' .. case[2] })
    eq(config.providers, {})
  end
  local headers = { ['X-Team'] = 'blue', ['x-pass'] = 'env:PASS', ['anthropic-beta'] = 'b' }
  local config, problems = check({ providers = { mine = { headers = headers } } })
  eq(problems, {})
  eq(config.providers.mine.headers, headers)
  eq(
    check({ providers = { mine = { headers = {}, key = 'env:K' } } }).providers,
    { mine = { key = 'env:K' } }
  )
end)

test('the command completes, and suggests the nearest subcommand for a misspelt one', function()
  fresh()
  local data = fn.tempname()
  local digest = fn.sha256(require('caliban.program.project').root()):sub(1, 8)
  for _, folder in ipairs({ 'x-' .. digest, 'x-00000000' }) do
    fn.mkdir(data .. '/caliban/sessions/' .. folder, 'p')
  end
  fn.writefile({}, data .. '/caliban/sessions/x-' .. digest .. '/mine.json')
  fn.writefile({}, data .. '/caliban/sessions/x-00000000/other.json')
  vim.env.XDG_DATA_HOME = data
  eq(fn.getcompletion('Caliban resume ', 'cmdline'), { 'mine' })
  eq(
    fn.getcompletion('Caliban re', 'cmdline'),
    { 'reject', 'rename', 'request', 'restart', 'resume', 'review', 'rewind' }
  )
  eq(fn.getcompletion('Caliban accept f', 'cmdline'), { 'file' })
  vim.cmd('Caliban acept')
  eq(told, { ":Caliban has no subcommand 'acept'. Did you mean 'accept'?" })
end)

return tests
