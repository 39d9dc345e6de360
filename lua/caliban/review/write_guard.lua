--- Guards a buffer with pending hunks: refuses an accidental write, and prevents Neovim from asking
--- the user when the file changes on disk.
local M = {}

local api = vim.api
local BUF = require('caliban.editor.since').BUF
local bytes = require('caliban.editor.bytes')
local file = require('caliban.editor.file')
local merged = require('caliban.editor.merged')
local names = require('caliban.editor.name')
local unread = require('caliban.editor.unread')
local written = require('caliban.editor.written')
local write_command = require('caliban.editor.write_command')

local group = api.nvim_create_augroup('caliban.review.write_guard', {})

--- How long an empty file may be one that is just being written, in milliseconds.
local WRITING = 200

local guarded = {} ---@type table<integer, caliban.Guarded>
local autoread_before = {} ---@type table<integer, { own?: boolean }> the buffer's own 'autoread', which may be unset
local seen = {} ---@type table<integer, string> stamp of the file at the last `check_disk`
local has_bang = false -- whether the running command was typed with a bang
local is_saveas = false -- whether the running command is a typed `:saveas`

---@class caliban.Guarded
---@field refusal fun(): string the message when a write is refused
---@field written fun(past: boolean): boolean called after a write; `past`: a write may have bypassed this guard.
---Returns whether the buffer was written and the user has been told
---@field changed fun(reason: string) called after the file changed on disk; `reason` as in `v:fcs_reason`

--- Carries out `:w!` or `:w other` as if the buffer had no guard.
---@param buf integer
---@param own boolean whether the write is to the buffer's own file
---@param it caliban.Guarded
---@param event { file: string }
local function write(buf, own, it, event)
  M.clear(buf)
  local bang = own or vim.v.cmdbang == 1
  if own then
    merged.drop(buf)
  end
  local failed = write_command.run(buf, not own and event.file or nil, bang)
  if api.nvim_buf_is_valid(buf) then
    M.set(buf, it)
    if own and not failed then
      bytes.note_options(buf)
      it.written(false)
    end
  end
  if failed then
    write_command.refuse(failed)
  end
end

--- Calls `changed` after a change on disk; otherwise Neovim would ask the user what to do.
---@param buf integer
---@param it caliban.Guarded
local function follow_disk(buf, it)
  api.nvim_create_autocmd('FileChangedShell', {
    group = group,
    [BUF] = buf,
    callback = function()
      local why = file.keep_text(buf)
      if vim.fn.getfsize(api.nvim_buf_get_name(buf)) ~= 0 then
        return it.changed(why)
      end
      -- the program that writes the file may have emptied it first
      vim.defer_fn(function()
        if autoread_before[buf] ~= nil then
          it.changed(why)
        end
      end, WRITING)
    end,
  })
end

--- Calls `written` after a write without autocommands, such as `:noautocmd w`. It is noticed because it resets
--- 'modified'.
---@param buf integer
---@param it caliban.Guarded
local function notice_writes(buf, it)
  -- the event is gone in Neovim's next version, where `OptionSet` takes its place
  local has_event = vim.fn.exists('##BufModifiedSet') == 1
  api.nvim_create_autocmd(has_event and 'BufModifiedSet' or 'OptionSet', {
    group = group,
    [BUF] = has_event and buf or nil,
    pattern = not has_event and 'modified' or nil,
    callback = function(event)
      if not has_event and (event.buf ~= 0 and event.buf or api.nvim_get_current_buf()) ~= buf then
        return
      end
      if not vim.bo[buf].modified then
        it.written(true)
      end
    end,
  })
end

--- Turns 'autoread' off: with it, Neovim would replace the text with the hunks by a text that another program has
--- written.
---@param buf integer
local function keep_text(buf)
  autoread_before[buf] = autoread_before[buf] or { own = vim.bo[buf].autoread }
  vim.bo[buf].autoread = false
end

---@param buf integer
local function restore_autoread(buf)
  local was = autoread_before[buf]
  autoread_before[buf] = nil
  if was and api.nvim_buf_is_valid(buf) then
    vim.bo[buf].autoread = was.own
  end
end

--- Guards a buffer.
---@param buf integer
---@param it caliban.Guarded
function M.set(buf, it)
  M.clear(buf)
  guarded[buf] = it
  keep_text(buf)
  file.guard(buf, true)
  api.nvim_create_autocmd('BufWriteCmd', {
    group = group,
    [BUF] = buf,
    nested = true,
    callback = function(event)
      local own = names.real(event.match) == names.real(api.nvim_buf_get_name(buf))
      if own and not (has_bang and vim.v.cmdbang == 1) and not is_saveas then
        -- a BufWriteCmd of the user may have written the buffer already. If not, 'modified' stays set, so that `:wq`
        -- and `:wqa` see that the write has failed
        if not it.written(true) then
          write_command.refuse(it.refusal())
        end
      else
        write(buf, own, it, event)
      end
    end,
  })
  follow_disk(buf, it)
  -- remove the guard, because Neovim would read the file again with the guard's 'buftype'
  api.nvim_create_autocmd('BufUnload', {
    group = group,
    [BUF] = buf,
    callback = function()
      M.clear(buf)
    end,
  })
  notice_writes(buf, it)
end

--- Watches a file whose pending hunks are on disk already: the buffer may be written like any other.
---@param buf integer
---@param it caliban.Guarded
function M.follow(buf, it)
  M.clear(buf)
  keep_text(buf)
  api.nvim_create_autocmd('BufWritePost', {
    group = group,
    [BUF] = buf,
    callback = function(event)
      local own = names.real(event.match) == names.real(api.nvim_buf_get_name(buf))
      if own and written.is_done(buf) then
        it.written(false)
      end
    end,
  })
  follow_disk(buf, it)
  notice_writes(buf, it)
end

--- Removes the guard, or stops watching the writes, and restores the buffer's options.
---@param buf integer
function M.clear(buf)
  guarded[buf] = nil
  file.guard(buf, false)
  if api.nvim_buf_is_valid(buf) then
    api.nvim_clear_autocmds({ group = group, [BUF] = buf })
  end
  restore_autoread(buf)
end

--- Lifts all guards until the current command has ended.
local function lift_briefly()
  for buf, it in pairs(guarded) do
    if unread.has_appeared(buf) then
      it.changed('changed')
    else
      file.guard(buf, false)
    end
  end
  vim.schedule(function()
    for buf in pairs(guarded) do
      file.guard(buf, true)
    end
  end)
end

--- Lets Neovim note that a file has changed on disk, after which it does not ask the user about this change.
---@param buf integer
function M.acknowledge(buf)
  seen[buf] = file.stamp(buf)
  local is_kept = autoread_before[buf] ~= nil
  keep_text(buf)
  file.guard(buf, false)
  file.check(buf, '')
  file.guard(buf, guarded[buf] ~= nil)
  if not is_kept then
    restore_autoread(buf)
  end
end

--- Checks whether a file under review has changed on disk.
---@param buf integer
function M.look(buf)
  local it, now = guarded[buf], file.stamp(buf)
  if it and now == seen[buf] then
    return
  end
  seen[buf] = it and now or nil
  if it and (file.odd(buf) or unread.has_appeared(buf)) then
    it.changed('changed')
  else
    file.guard(buf, false)
    file.checktime(buf)
    file.guard(buf, guarded[buf] ~= nil)
  end
end

--- Checks all guarded files, because Neovim checks only buffers without a guard.
local function check_disk()
  for _, buf in ipairs(vim.tbl_keys(guarded)) do
    M.look(buf)
  end
end

api.nvim_create_autocmd(
  { 'FocusGained', 'BufEnter', 'CursorHold', 'ShellCmdPost', 'TermLeave', 'VimResume' },
  { group = group, nested = true, callback = check_disk }
)

-- `:set autoread` changes the value of the current buffer too
api.nvim_create_autocmd('OptionSet', {
  group = group,
  pattern = 'autoread',
  callback = function()
    for buf, was in pairs(autoread_before) do
      -- the value is nil where the buffer has none of its own
      if api.nvim_buf_is_valid(buf) and vim.bo[buf].autoread ~= false then
        was.own = vim.v.option_type == 'local' or nil
        vim.bo[buf].autoread = false
      end
    end
  end,
})

-- `:cd` adapts relative names only of unguarded buffers; a guarded buffer's name would then mean another file
api.nvim_create_autocmd('DirChangedPre', { group = group, callback = lift_briefly })

--- The keys for `<CR>` in a quickfix window. Neovim shows an entry only in a window with an
--- unguarded file, and otherwise splits a window. These keys first go to a window with a guarded
--- file, so that no window is split.
---@return string
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
    local is_list = next(guarded) ~= nil and vim.bo[event.buf].buftype == 'quickfix'
    if is_list and vim.fn.maparg('<CR>', 'n') == '' then
      vim.keymap.set('n', '<CR>', from_list, { [BUF] = event.buf, expr = true })
    end
  end,
})

--- Commands that need unguarded buffers.
local LIFTED = { checktime = true, mksession = true, mkview = true }

-- a `:w!` or `:noautocmd w` that the user types is not an accidental write
api.nvim_create_autocmd('CmdlineLeave', {
  group = group,
  pattern = ':',
  callback = function()
    if next(guarded) == nil or vim.v.event.abort then
      return
    end
    local line = vim.fn.getcmdline()
    -- the bang of `:silent!` does not count
    has_bang = line:gsub('%f[%a]sil%a*!', ''):find('%a!') ~= nil
    local ok, cmd = pcall(api.nvim_parse_cmd, line, {})
    is_saveas = ok and cmd.cmd == 'saveas'
    if ok and (cmd.mods.noautocmd or LIFTED[cmd.cmd]) then
      lift_briefly()
    end
  end,
})

-- a command may run other commands, but at SafeState all of them have ended
api.nvim_create_autocmd('SafeState', {
  group = group,
  callback = function()
    has_bang, is_saveas = false, false
  end,
})

return M
