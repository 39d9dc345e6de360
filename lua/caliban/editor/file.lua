--- Files and their buffers: finds and loads a file's buffer without a prompt or a window, reads the text from the
--- buffer or from disk, writes the buffer.
local M = {}

local api = vim.api
local BUF = require('caliban.editor.since').BUF
local bytes = require('caliban.editor.bytes')
local disk = require('caliban.editor.disk')
local merged = require('caliban.editor.merged')
local names = require('caliban.editor.name')
local unread = require('caliban.editor.unread')
local written = require('caliban.editor.written')

M.short, M.disk = names.short, bytes.disk
M.is_utf8, M.encodes = bytes.is_utf8, bytes.encodes

---@param path string
---@param resolved? boolean links in `path` were resolved before: a link in it now is not followed
---@return integer? buf
function M.find(path, resolved)
  local want = resolved and path or names.real(path)
  local folder, name = vim.fs.dirname(want), vim.fs.basename(want)
  local other
  for _, buf in ipairs(api.nvim_list_bufs()) do
    local full = api.nvim_buf_get_name(buf)
    if full == path or full == want then
      return buf
    elseif full ~= '' and not full:find('^%a[%w+.-]*://') and names.real(full) == want then
      other = buf
    elseif vim.fs.basename(full) == name and names.real(vim.fs.dirname(full)) == folder then
      other = buf
    end
  end
  return other
end

local guarded = {} ---@type table<integer, true>

--- Guards a buffer: sets its 'buftype' to `acwrite`, so that only Caliban's BufWriteCmd can write
--- it. Otherwise a `:write` in an autocommand that is not `nested` would skip the BufWriteCmd and
--- write the file.
---@param buf integer
---@param on boolean
function M.guard(buf, on)
  local from = on and '' or 'acwrite'
  if api.nvim_buf_is_valid(buf) and vim.bo[buf].buftype == from and (on or guarded[buf]) then
    if on then
      vim.cmd(("noautocmd lua vim.bo[%d].buftype = 'acwrite'"):format(buf))
    else
      vim.cmd(("noautocmd lua vim.bo[%d].buftype = ''"):format(buf))
    end
  end
  guarded[buf] = on or nil
end

--- Whether a buffer shows a file. A guarded buffer does.
---@param buf integer
---@return boolean
function M.ordinary(buf)
  local buftype = vim.bo[buf].buftype
  return buftype == '' or buftype == 'acwrite' and guarded[buf] == true
end

--- Whether a buffer has no text at all: Neovim shows one empty line for it.
---@param buf integer
---@return boolean
function M.empty(buf)
  if api.nvim_buf_line_count(buf) > 1 or api.nvim_buf_get_lines(buf, 0, 1, false)[1] ~= '' then
    return false
  end
  return api.nvim_buf_call(buf, function()
    return vim.fn.wordcount().bytes == 0
  end)
end

---@param buf integer
---@return string[]
function M.lines(buf)
  return M.empty(buf) and {} or api.nvim_buf_get_lines(buf, 0, -1, false)
end

--- Replaces rows of a buffer, which may have no text before or after the change.
---@param buf integer
---@param start integer
---@param count integer
---@param lines string[]
function M.put(buf, start, count, lines)
  if #lines > 0 and M.empty(buf) then
    count = 1
  end
  api.nvim_buf_set_lines(buf, start, start + count, true, lines)
end

---@param buf integer
---@return boolean
function M.eol(buf)
  return vim.bo[buf].endofline and not M.empty(buf)
end

---@param buf integer
---@return string lines joined by '\n'
function M.text(buf)
  return table.concat(M.lines(buf), '\n')
end

local stamps = {} ---@type table<integer, string> by buffer: the file's mtime when it was last read or written

---@param buf integer
---@return string
function M.stamp(buf)
  return disk.stamp(api.nvim_buf_get_name(buf))
end

--- Buffers that got another name, and were not read or written since.
local renamed = {} ---@type table<integer, true>
local group = api.nvim_create_augroup('caliban.file', {})

api.nvim_create_autocmd({ 'BufReadPost', 'BufWritePost', 'FileChangedShellPost' }, {
  group = group,
  callback = function(event)
    local buf = event.buf
    if event.event == 'BufReadPost' then
      bytes.note_read(buf)
    elseif event.event == 'BufWritePost' then
      local is_other = names.real(event.match) ~= names.real(api.nvim_buf_get_name(buf))
      if is_other or not written.is_done(buf) then
        -- `:write other`, or the user has not let Neovim write
        return
      end
      bytes.note_written(buf, vim.v.cmdarg)
    end
    M.adopt(buf)
  end,
})

api.nvim_create_autocmd('BufFilePost', {
  group = group,
  callback = function(event)
    renamed[event.buf], stamps[event.buf] = true, nil
  end,
})

--- Called when the text of a buffer's file is known: nobody else has written it.
---@param buf integer
function M.adopt(buf)
  renamed[buf], stamps[buf] = nil, M.stamp(buf)
end

--- Called when the changes of the file on disk were merged into the buffer: no `:write` asks the user about them.
---@param buf integer
---@param stamp string the stamp of the file before its text was read
function M.merged(buf, stamp)
  if stamp == M.stamp(buf) then
    M.adopt(buf)
    merged.note(buf)
  end
end

--- Answers Neovim in a FileChangedShell autocommand: the buffer keeps its text. Neovim will then ask the user before it
--- writes the buffer, unless only the time of the file has changed.
---@param buf integer
---@return string why `v:fcs_reason`
function M.keep_text(buf)
  local why = vim.v.fcs_reason
  if why == 'time' then
    -- there is nothing to ask about, and Neovim notes the time
    vim.v.fcs_choice = 'ask'
    M.adopt(buf)
  else
    vim.v.fcs_choice = ''
    stamps[buf] = stamps[buf] or 'before the change'
  end
  return why
end

--- Whether a buffer got another name, and was not read or written since.
---@param buf integer
---@return boolean
function M.is_renamed(buf)
  return renamed[buf] == true
end

--- Whether a buffer got the name of a file that has nothing to do with its text.
---@param buf integer
---@return boolean
function M.is_foreign(buf)
  return renamed[buf] == true and vim.uv.fs_stat(api.nvim_buf_get_name(buf)) ~= nil
end

--- Whether `:write` would ask the user because the file has changed since it was read. Neovim asks
--- even if a FileChangedShell autocommand has handled the change.
---@param buf integer
---@return boolean
function M.stale(buf)
  return stamps[buf] ~= nil and stamps[buf] ~= M.stamp(buf)
end

--- An error's message without file names, line numbers and the traceback.
---@param err any
---@return string
function M.reason(err)
  local text = tostring(err):gsub('\n.*', ''):gsub('^.*Autocommands for ".-": ', '')
  -- an error in nested calls has the place of each of them
  text = text:gsub('^.*Vim%b():', '')
  return vim.trim(text:match('E%d+: .*') or (text:gsub('^.*:%d+: ', '')))
end

--- Why the buffer's path does not lead to a regular file, as the end of a sentence.
---@param buf integer
---@return string?
function M.odd(buf)
  return disk.odd(api.nvim_buf_get_name(buf))
end

---@param buf integer
function M.checktime(buf)
  pcall(function()
    vim.cmd(('silent checktime %d'):format(buf))
  end)
end

--- Makes Neovim check whether the buffer's file has changed, without a prompt.
---@param buf integer
---@param choice ''|'reload'
---@return string? # how the file has changed (`v:fcs_reason`); nil if the file has not changed, or if 'autoread' has read it again
function M.check(buf, choice)
  if M.odd(buf) or unread.has_appeared(buf) then
    -- `:checktime` would read from the pipe or device, or ask the user about the new file (W13)
    return 'changed'
  end
  local why
  local id = api.nvim_create_autocmd('FileChangedShell', {
    [BUF] = buf,
    callback = function()
      why = vim.v.fcs_reason
      if choice == 'reload' and why ~= 'deleted' then
        vim.v.fcs_choice = choice
      else
        M.keep_text(buf)
      end
    end,
  })
  M.checktime(buf)
  pcall(api.nvim_del_autocmd, id)
  return why
end

--- Reads an unmodified buffer again if its file has changed.
---@param buf integer
function M.refresh(buf)
  local stat = vim.uv.fs_stat(api.nvim_buf_get_name(buf))
  if not M.empty(buf) then
    bytes.follow(buf, M.text(buf))
    M.check(buf, 'reload')
  elseif stat and stat.type == 'file' and stat.size > 0 then
    unread.read(buf)
  end
end

--- Writes the buffer without the autocommands that may change its text before, such as formatters.
---@param buf integer
---@return string? # why the buffer was not written, as the end of a sentence
function M.write_as_is(buf)
  local ignored = vim.o.eventignore
  if ignored ~= 'all' then
    local both = 'BufWritePre,FileWritePre'
    vim.o.eventignore = ignored == '' and both or ignored .. ',' .. both
  end
  local ok, why = pcall(M.write, buf, false)
  vim.o.eventignore = ignored
  return ok and why or not ok and M.reason(why) or nil
end

--- Writes the buffer as `:write` does. Creates the folder first if needed. Adds no line break if
--- the last line had none.
---@param buf integer
---@param force boolean do not ask about a change on disk: the caller has compared the texts
---@return string? # why the buffer was not written, as the end of a sentence
function M.write(buf, force)
  local path = api.nvim_buf_get_name(buf)
  local before = disk.stamp(path)
  local odd = disk.odd(path)
  if odd then
    -- writing to a pipe blocks until somebody reads
    return odd
  elseif not M.is_utf8(buf) and not M.encodes(buf, M.text(buf)) then
    -- `:write!` would replace the characters that do not fit
    return ('its encoding (%s) cannot represent the text'):format(vim.bo[buf].fileencoding)
  elseif vim.uv.fs_stat(path) and vim.fn.filewritable(path) == 0 then
    -- `:write!` would override the permissions
    return 'there is no permission to write it'
  elseif not force and M.stale(buf) and vim.uv.fs_stat(path) then
    -- Neovim would ask the user
    return 'it changed on disk too'
  end
  local holds = merged.holds(buf)
  merged.drop(buf)
  local ok, err = bytes.keep_end(buf, function()
    require('caliban.editor.folders').make(path)
    api.nvim_buf_call(buf, function()
      local bang = (force or holds) and not vim.bo[buf].readonly
      vim.cmd({ cmd = 'write', bang = bang, mods = { silent = true, lockmarks = true } })
    end)
  end)
  if not api.nvim_buf_is_loaded(buf) then
    return disk.stamp(path) == before and 'its buffer is gone' or nil
  elseif holds and disk.stamp(path) == before then
    merged.note(buf)
  end
  if vim.bo[buf].modified or (not ok and M.disk(buf) ~= M.text(buf)) then
    return ok and 'its buffer is still modified after the write' or M.reason(err)
  elseif not vim.uv.fs_stat(path) then
    return 'it is not on disk after the write'
  elseif disk.stamp(path) == before and M.disk(buf) ~= M.text(buf) then
    -- an autocommand is to write the file in place of Neovim
    vim.bo[buf].modified = true
    return 'the autocommand that writes it wrote nothing'
  end
end

--- Writes the buffer's text unchanged: runs no autocommands, which might format the text.
---@param buf integer
---@param mode? integer the permissions of a file that does not exist
---@return string? # why the buffer was not written, as the end of a sentence
function M.restore(buf, mode)
  local odd = M.odd(buf)
  if odd then
    return odd
  end
  local ok, err = bytes.keep_end(buf, function()
    local path = api.nvim_buf_get_name(buf)
    require('caliban.editor.folders').make(path)
    if mode then
      disk.create(path, mode)
    end
    api.nvim_buf_call(buf, function()
      vim.cmd('noautocmd silent lockmarks keepalt write!')
    end)
  end)
  stamps[buf] = M.stamp(buf)
  return not ok and M.reason(err) or nil
end

---@param buf integer
---@param quietly? boolean
---@return string? err
local function load(buf, quietly)
  vim.v.errmsg = ''
  -- an error in an autocommand of the user does not make the load fail
  pcall(function()
    if quietly then
      vim.cmd(('noautocmd silent! call bufload(%d)'):format(buf))
    else
      vim.cmd(('silent! call bufload(%d)'):format(buf))
    end
  end)
  local err = vim.v.errmsg
  if err:find('E325', 1, true) then
    return 'it is open in another Neovim (swap file)'
  end
  return not api.nvim_buf_is_loaded(buf) and (err ~= '' and err or 'it could not be loaded') or nil
end

---@param buf integer
---@param created boolean
function M.unload(buf, created)
  pcall(api.nvim_buf_delete, buf, { force = true, unload = not created })
end

--- Whether a file that does not exist can be created. Missing folders are made when the file is written.
---@param path string
---@return boolean
local function creatable(path)
  for dir in vim.fs.parents(path) do
    if vim.uv.fs_stat(dir) then
      return vim.fn.filewritable(dir) == 2
    end
  end
  return false
end

---@param buf integer
---@param there boolean
---@param path string
---@param creates? boolean
---@return string?
local function forbidden(buf, there, path, creates)
  local bo = vim.bo[buf]
  if not M.ordinary(buf) then
    return ('its buffer is a special buffer (%s)'):format(bo.buftype)
  elseif not bo.modifiable then
    return "its buffer is 'nomodifiable'"
  elseif bo.readonly then
    return 'it is read-only'
  elseif there and vim.fn.filewritable(path) == 0 then
    return 'there is no permission to write it'
  elseif not there and not creatable(path) then
    return 'there is no permission to create it'
  elseif not (there or creates or bo.modified or M.empty(buf)) then
    return 'it is no longer on disk'
  end
end

--- The loaded buffer of a file. Opens no window.
---@param path string
---@param quietly? boolean run no autocommands: for a buffer that is unloaded again
---@return integer? buf
---@return string? why the file could not be loaded, as the end of a sentence
---@return boolean? created whether this call created the buffer
function M.load(path, quietly)
  local odd = not path:find('^/') and 'it is not a file on disk' or disk.odd(path)
  if odd then
    return nil, odd
  end
  local buf = M.find(path)
  local created = not buf
  if not (buf and api.nvim_buf_is_loaded(buf)) then
    local swap = require('caliban.editor.swap').of(names.real(path))
    if swap then
      return nil, swap
    end
    buf = buf or vim.fn.bufadd(names.listed(path))
    local err = load(buf, quietly)
    if err then
      -- `bufload` may have loaded the text despite the error; the buffer is unloaded, so that a
      -- second call does not find it loaded
      M.unload(buf, created)
      if err:find('E565', 1, true) then
        error(err, 0)
      end
      return nil, err
    end
  end
  return buf, nil, created
end

--- Like `load`, but fails if the buffer or the file may not be changed.
---@param path string
---@param creates? boolean whether the file is to be created
---@return integer? buf
---@return string? why this failed, as the end of a sentence
---@return boolean? created whether this call created the buffer
function M.open(path, creates)
  local buf, err, created = M.load(path)
  if not buf then
    return nil, err
  end
  local why = forbidden(buf, vim.uv.fs_stat(path) ~= nil, path, creates)
  if why then
    if created then
      M.unload(buf, true)
    end
    return nil, why
  end
  return buf, nil, created
end

--- Shows a file or a folder in the current window, as `:edit` does. If the window has 'winfixbuf',
--- opens a split above it.
---@param path string absolute
function M.show(path)
  local buf = M.find(path) or vim.fn.bufadd(names.listed(path))
  vim.bo[buf].buflisted = true
  pcall(api.nvim_win_set_buf, 0, buf)
  if api.nvim_get_current_buf() ~= buf then
    vim.cmd('aboveleft split')
    vim.wo.winfixbuf = false
    api.nvim_win_set_buf(0, buf)
  end
end

--- A buffer's text and the options that decide its bytes on disk.
---@param buf integer
---@return { text: string, eol: boolean, dos: boolean, bom: boolean }
function M.snapshot(buf)
  return {
    text = M.text(buf),
    eol = M.eol(buf),
    dos = vim.bo[buf].fileformat == 'dos',
    bom = vim.bo[buf].bomb,
  }
end

--- The paths of loaded files that are modified in their buffer.
---@return string[]
function M.changed()
  local out = {}
  for _, buf in ipairs(api.nvim_list_bufs()) do
    local name, bo = api.nvim_buf_get_name(buf), vim.bo[buf]
    if api.nvim_buf_is_loaded(buf) and bo.modified and M.ordinary(buf) and name:find('^/') then
      out[#out + 1] = name
    end
  end
  return out
end

return M
