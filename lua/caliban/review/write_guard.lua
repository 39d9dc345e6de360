--- Keeps a file with pending hunks from being written by accident, and from the prompt when it changes on disk.
local M = {}

local api = vim.api
local file = require('caliban.editor.file')
local names = require('caliban.editor.name')

local group = api.nvim_create_augroup('caliban.review.write_guard', {})

local guarded = {} ---@type table<integer, caliban.Guarded>
local autoread_before = {} ---@type table<integer, string> how 'autoread' comes back
local seen = {} ---@type table<integer, string> the file's stamp when it was last looked at
local has_bang = false -- the command that runs was typed with a bang

---@class caliban.Guarded
---@field refusal fun(): string the sentence shown instead of a write
---@field written fun(past: boolean): boolean what is shown was written, or so it seems, and past this guard; whether
---so it is, and the user was told
---@field changed fun(reason: string) the file changed on disk

--- Not an error of `:write`: from an autocommand that takes three lines and a key to dismiss.
---@param text string
local function refuse(text)
  vim.v.errmsg = text
  require('caliban.editor.notify').echo(text, 'ErrorMsg')
end

--- Sets the options of a buffer that a `:write` named, as in `++ff=dos`. The command that runs instead of it takes
--- either a name or these options, not both.
---@param buf integer
---@return fun() restore
local function as_asked(buf)
  local given = vim.v.cmdarg
  local bo, was = vim.bo[buf], {} ---@type vim.bo, table<string, any>
  ---@param option string
  ---@param value any
  local function set(option, value)
    if value ~= nil then
      was[option], bo[option] = bo[option], value
    end
  end
  if given == '' then
    return function() end
  end
  set('fileformat', given:match('%+%+ff=(%S+)'))
  set('fileencoding', given:match('%+%+enc=(%S+)'))
  set('binary', given:find('%+%+bin') and true or given:find('%+%+nobin') and false or nil)
  local modified = bo.modified
  return function()
    modified = bo.modified and modified
    for option, value in pairs(was) do
      bo[option] = value
    end
    bo.modified = modified
  end
end

--- `:w!`, and `:w other`, run as they would without us.
---@param buf integer
---@param own boolean
---@param it caliban.Guarded
---@param event { file: string }
local function write(buf, own, it, event)
  M.clear(buf)
  local bang = own or vim.v.cmdbang == 1
  local command = { cmd = 'write', bang = bang, args = not own and { event.file } or nil }
  command.magic = { file = false }
  local restore = as_asked(buf)
  local ok, err = pcall(api.nvim_cmd, command, {})
  restore()
  if api.nvim_buf_is_valid(buf) then
    M.set(buf, it)
    if own and ok then
      it.written(false)
    end
  end
  if not ok then
    refuse(tostring(err):match('E%d+: .*') or tostring(err))
  end
end

---@param buf integer
---@param it caliban.Guarded
local function follow_disk(buf, it)
  api.nvim_create_autocmd('FileChangedShell', {
    group = group,
    buffer = buf,
    callback = function()
      vim.v.fcs_choice = ''
      it.changed(vim.v.fcs_reason)
    end,
  })
end

---@param buf integer
---@param it caliban.Guarded
function M.set(buf, it)
  M.clear(buf)
  guarded[buf] = it
  file.guard(buf, true)
  api.nvim_create_autocmd('BufWriteCmd', {
    group = group,
    buffer = buf,
    nested = true,
    callback = function(event)
      local own = names.real(event.match) == names.real(api.nvim_buf_get_name(buf))
      if own and not (has_bang and vim.v.cmdbang == 1) then
        -- a BufWriteCmd of the user's may have come before; else 'modified' stays, so that the write has failed
        -- for `:wq` and `:wqa`
        if not it.written(true) then
          refuse(it.refusal())
        end
      else
        write(buf, own, it, event)
      end
    end,
  })
  follow_disk(buf, it)
  -- it would be read again as what it is not
  api.nvim_create_autocmd('BufUnload', {
    group = group,
    buffer = buf,
    callback = function()
      M.clear(buf)
    end,
  })
  -- `:noautocmd w`
  api.nvim_create_autocmd('BufModifiedSet', {
    group = group,
    buffer = buf,
    callback = function()
      if not vim.bo[buf].modified then
        it.written(true)
      end
    end,
  })
end

--- Follows a file whose pending hunks are on disk already: it may be written like any other.
---@param buf integer
---@param it caliban.Guarded
function M.follow(buf, it)
  M.clear(buf)
  -- else what another program writes would be read over the hunks
  autoread_before[buf] = vim.bo[buf].autoread == vim.go.autoread and 'global' or 'own'
  vim.bo[buf].autoread = false
  api.nvim_create_autocmd('BufWritePost', {
    group = group,
    buffer = buf,
    callback = function(event)
      if names.real(event.match) == names.real(api.nvim_buf_get_name(buf)) then
        it.written(false)
      end
    end,
  })
  follow_disk(buf, it)
end

---@param buf integer
function M.clear(buf)
  guarded[buf] = nil
  file.guard(buf, false)
  if api.nvim_buf_is_valid(buf) then
    api.nvim_clear_autocmds({ group = group, buffer = buf })
    local was = autoread_before[buf] ---@as string?
    if was == 'own' then
      vim.bo[buf].autoread = true
    elseif was then
      api.nvim_buf_call(buf, function()
        vim.cmd('setlocal autoread<')
      end)
    end
  end
  autoread_before[buf] = nil
end

--- Makes them ordinary files until the command at hand has run.
local function lift_briefly()
  for buf in pairs(guarded) do
    file.guard(buf, false)
  end
  vim.schedule(function()
    for buf in pairs(guarded) do
      file.guard(buf, true)
    end
  end)
end

--- Neovim asks only of ordinary files whether they changed on disk.
local function check_disk()
  for _, buf in ipairs(vim.tbl_keys(guarded)) do
    local now = file.stamp(buf)
    if now ~= seen[buf] then
      seen[buf] = now
      if file.odd(buf) then
        guarded[buf].changed('changed')
      else
        file.guard(buf, false)
        file.checktime(buf)
        file.guard(buf, guarded[buf] ~= nil)
      end
    end
  end
end

api.nvim_create_autocmd(
  { 'FocusGained', 'BufEnter', 'CursorHold', 'ShellCmdPost', 'TermLeave', 'VimResume' },
  { group = group, nested = true, callback = check_disk }
)

-- it shortens the names of ordinary files only, and another's would be written
api.nvim_create_autocmd('DirChangedPre', { group = group, callback = lift_briefly })

--- To go to an entry of a list Neovim looks for a window with an ordinary file, and else makes one.
---@return string keys
local function from_list()
  local target ---@type integer?
  local wins = api.nvim_tabpage_list_wins(0)
  wins[#wins + 1] = vim.fn.win_getid(vim.fn.winnr('#'))
  for _, win in ipairs(wins) do
    local buf = win > 0 and api.nvim_win_get_buf(win) or 0
    if vim.bo[buf].buftype == '' then
      return '<CR>'
    elseif guarded[buf] ~= nil then
      target = api.nvim_win_get_number(win)
    end
  end
  local list = vim.fn.win_gettype() == 'loclist' and 'll' or 'cc'
  local go = '<Cmd>%dwincmd w | %s %d<CR>'
  return target and go:format(target, list, vim.fn.line('.')) or '<CR>'
end

api.nvim_create_autocmd({ 'FileType', 'BufEnter' }, {
  group = group,
  callback = function(event)
    local there = next(guarded) ~= nil and vim.bo[event.buf].buftype == 'quickfix'
    if there and vim.fn.maparg('<CR>', 'n') == '' then
      vim.keymap.set('n', '<CR>', from_list, { buffer = event.buf, expr = true })
    end
  end,
})

local LIFTED = { checktime = true, mksession = true, mkview = true }

-- typed, `:w!` and `:noautocmd w` are meant
api.nvim_create_autocmd('CmdlineLeave', {
  group = group,
  pattern = ':',
  callback = function()
    if next(guarded) == nil or vim.v.event.abort then
      return
    end
    local line = vim.fn.getcmdline()
    -- the bang of `:silent!` is about errors
    has_bang = line:gsub('%f[%a]sil%a*!', ''):find('%a!') ~= nil
    local ok, cmd = pcall(api.nvim_parse_cmd, line, {})
    if ok and (cmd.mods.noautocmd or LIFTED[cmd.cmd]) then
      lift_briefly()
    end
  end,
})

-- what runs may let other things run before it is done
api.nvim_create_autocmd('SafeState', {
  group = group,
  callback = function()
    has_bang = false
  end,
})

return M
