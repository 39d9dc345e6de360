--- How a buffer's text becomes the bytes of its file. The options that decide about this, such as 'fileencoding', may
--- change at any time. So the form in which the file was last read or written is noted, and the file on disk is read in
--- that form.
local M = {}

local api = vim.api
local disk = require('caliban.editor.disk')
local encoding = require('caliban.editor.encoding')
local forms = require('caliban.editor.form')

local decoded = forms.decoded

---@class caliban.FormNoted
---@field form caliban.Form the form of the file on disk
---@field eol boolean whether the last line on disk ends in a line break
---@field options caliban.FormOptions the options then: arguments such as `++ff=dos` count for one write only
---@field is_sure? boolean whether the form was compared with the bytes on disk
---@field stamp? string the stamp of the file on disk whose form was followed

---@class caliban.FormOptions
---@field fileencoding string
---@field fileformat string
---@field bomb boolean
---@field endofline boolean
---@field fixendofline boolean

local noted = {} ---@type table<integer, caliban.FormNoted>

--- The options that the arguments of a `:write` replace.
---@param given string as `v:cmdarg`
---@return { fileformat?: string, fileencoding?: string, binary?: boolean }
function M.asked(given)
  return {
    fileformat = given:match('%+%+ff=(%S+)'),
    fileencoding = given:match('%+%+enc=(%S+)'),
    binary = given:find('%+%+bin') and true or not given:find('%+%+nobin') and nil,
  }
end

--- The form in which `:write` would write a buffer.
---@param buf integer
---@param given? string arguments of the `:write`, as `v:cmdarg`
---@return caliban.Form
function M.wanted(buf, given)
  local bo, asked = vim.bo[buf], M.asked(given or '')
  local binary = asked.binary or asked.binary == nil and bo.binary
  return {
    encoding = asked.fileencoding or bo.fileencoding,
    bom = bo.bomb and not binary,
    format = asked.fileformat or binary and 'unix' or bo.fileformat,
  }
end

--- Whether `:write` would end the last line of a buffer with a line break. Caliban's own writes add none to a file that
--- has none, unless the user has set 'fixendofline' since.
---@param buf integer
---@param own? boolean whether Caliban writes
---@return boolean
local function ends(buf, own)
  local bo, it = vim.bo[buf], noted[buf] ---@type vim.bo, caliban.FormNoted?
  local keeps = own and it ~= nil and not it.eol and it.options.fixendofline
  return bo.endofline or bo.fixendofline and not bo.binary and not keeps
end

--- The form in which the file's bytes are the buffer's text. An autocommand may have changed the options while Neovim
--- read the file, before they could be noted.
---@param buf integer
---@param noted_form caliban.Form the form if no other fits
---@param text? string the buffer's text if the caller knows it
---@return caliban.Form
local function fitting(buf, noted_form, text)
  local bytes = disk.read(api.nvim_buf_get_name(buf))
  text = text or table.concat(api.nvim_buf_get_lines(buf, 0, -1, false), '\n')
  if not bytes or decoded(bytes, noted_form) == text then
    return noted_form
  end
  local encodings = { 'utf-8', 'utf-16le', 'utf-16', M.wanted(buf).encoding }
  for _, name in ipairs(vim.list_extend(encodings, vim.opt.fileencodings:get())) do
    for _, format in ipairs({ 'unix', 'dos', 'mac' }) do
      for _, bom in ipairs({ false, true }) do
        local form = { encoding = name, bom = bom, format = format } ---@type caliban.Form
        if decoded(bytes, form) == text then
          return form
        end
      end
    end
  end
  return noted_form
end

---@param buf integer
---@return caliban.FormOptions
local function options(buf)
  local bo = vim.bo[buf]
  return {
    fileencoding = bo.fileencoding,
    fileformat = bo.fileformat,
    bomb = bo.bomb,
    endofline = bo.endofline,
    fixendofline = bo.fixendofline,
  }
end

--- The options with which Neovim compares those of an unmodified buffer. With 'fixendofline', a new 'endofline' does not
--- make the buffer modified, and Neovim notes it neither then nor at a write.
---@param buf integer
---@return caliban.FormOptions
local function compared(buf)
  local it, bo = options(buf), vim.bo[buf]
  if it.fixendofline and not bo.modified then
    bo.fixendofline = false
    it.endofline = it.endofline ~= bo.modified
    bo.fixendofline = true
  end
  return it
end

--- Called after options were restored that were set for one write only.
---@param buf integer
function M.note_options(buf)
  local it = noted[buf] ---@type caliban.FormNoted?
  if it then
    it.options = compared(buf)
  end
end

---@param buf integer
---@param form caliban.Form
---@param eol boolean
local function note(buf, form, eol)
  noted[buf] = { form = form, eol = eol, options = compared(buf) }
end

--- Called after the file was read into the buffer.
---@param buf integer
function M.note_read(buf)
  note(buf, M.wanted(buf), vim.bo[buf].endofline)
end

--- Called after the buffer was written.
---@param buf integer
---@param given string arguments of the `:write`, as `v:cmdarg`
function M.note_written(buf, given)
  note(buf, M.wanted(buf, given), ends(buf))
  noted[buf].is_sure = true
end

--- Whether the last line of the file on disk ended in a line break when the file was last read or written.
---@param buf integer
---@return boolean?
function M.ended(buf)
  local it = noted[buf] ---@type caliban.FormNoted?
  return it and it.eol
end

--- Sets options as another program has written the file. An option that the user has set since stays.
---@param buf integer
---@param it caliban.FormNoted
---@param form caliban.Form the form of the file on disk now
---@param eol boolean
local function take_over(buf, it, form, eol)
  local bo, was = vim.bo[buf], it.form
  local is_modified = bo.modified
  ---@param name 'fileencoding'|'fileformat'|'bomb'|'endofline'
  ---@param before any
  ---@param now any
  local function set(name, before, now)
    local is_same = bo[name] == before
      or name == 'fileencoding' and bo[name] == '' and before == 'utf-8'
    -- fails if Neovim does not know the encoding
    if before ~= now and is_same and pcall(function()
      bo[name] = now
    end) then
      it.options[name] = now
    end
  end
  set('fileencoding', was.encoding, form.encoding)
  set('fileformat', was.format, form.format)
  set('bomb', was.bom, form.bom)
  -- a write without autocommands may have added the line break
  if bo.fixendofline == it.options.fixendofline then
    set('endofline', it.options.endofline, eol)
  end
  it.form, it.eol = form, eol
  if not is_modified then
    bo.modified = false
  end
end

--- Called before another program may write the file: compares the noted form with the bytes on disk.
---@param buf integer
function M.be_sure(buf)
  if noted[buf] and noted[buf].is_sure then
    return
  end
  M.follow(buf, table.concat(api.nvim_buf_get_lines(buf, 0, -1, false), '\n'))
end

--- Called when another program may have written the file: if its text becomes bytes in another way now, such as with
--- other line ends, the buffer follows.
---@param buf integer
---@param text string the text on disk before, lines joined by '\n'
---@return boolean changed
---@return boolean? eol whether the last line on disk ends in a line break now
function M.follow(buf, text)
  local path = api.nvim_buf_get_name(buf)
  local stamp = disk.stamp(path)
  if not noted[buf] then
    M.note_read(buf)
  end
  local it = noted[buf]
  local bytes = it.stamp ~= stamp and disk.read(path)
  if not bytes or bytes == '' or vim.bo[buf].binary then
    return false
  end
  it.stamp = stamp
  local form = forms.found(bytes, it.form, text)
  if not it.is_sure and decoded(bytes, form) == text then
    -- an autocommand has set the options after Neovim has read these bytes
    it.form, it.is_sure = form, true
    return false
  end
  local _, eol = decoded(bytes, form)
  local is_same = vim.deep_equal(form, it.form) and eol == it.eol
  if is_same or eol == nil then
    return false
  end
  take_over(buf, it, form, eol)
  return true, eol
end

--- Notes that the text which the user has agreed to does not end in a line break.
---@param buf integer
function M.note_no_end(buf)
  local it = noted[buf] ---@type caliban.FormNoted?
  if it then
    it.eol, it.options.fixendofline = false, vim.bo[buf].fixendofline
  end
end

--- Called before a review. What autocommands have set while Neovim read the file is no change of an unmodified buffer.
---@param buf integer
---@param text? string the buffer's text if the caller knows it
function M.note_before(buf, text)
  if not noted[buf] then
    -- the file was read before Caliban was loaded
    M.note_read(buf)
  end
  local it = noted[buf]
  if not it.is_sure then
    it.form, it.is_sure = fitting(buf, it.form, text), true
  end
  if not vim.bo[buf].modified then
    -- with 'fixendofline', a new 'endofline' does not make the buffer modified
    local ended = it.options.endofline
    it.options = options(buf)
    it.options.endofline = ended
  end
end

--- Calls `write`, which adds no line break to a file that has none.
---@param buf integer
---@param write fun()
---@return boolean ok
---@return any err
function M.keep_end(buf, write)
  local keep = vim.bo[buf].fixendofline
  if keep and not ends(buf, true) then
    vim.bo[buf].fixendofline = false
  end
  local ok, err = pcall(write)
  if api.nvim_buf_is_loaded(buf) and vim.bo[buf].fixendofline ~= keep then
    vim.bo[buf].fixendofline = keep
    M.note_options(buf)
  end
  return ok, err
end

--- Whether options have changed since the file was read or written, so that the buffer is modified even if its text is
--- on disk. Compares those options which Neovim compares for 'modified'.
---@param buf integer
---@return boolean
function M.changed(buf)
  local now, was = options(buf), noted[buf] and noted[buf].options
  if not was then
    return false
  end
  local binary = vim.bo[buf].binary
  local counts = binary or not now.fixendofline
  return now.fileencoding ~= was.fileencoding
    or now.fileformat ~= was.fileformat
    or not binary and now.bomb ~= was.bomb
    or counts and now.endofline ~= was.endofline
end

--- Whether a write would give the file the end that it has on disk.
---@param buf integer
---@param text string the text on disk
---@param eol? boolean whether its last line ends in a line break
---@return boolean
function M.keeps_end(buf, text, eol)
  return text == '' or (eol == true) == ends(buf, true)
end

--- The text on disk as the buffer would show it, lines joined by '\n'.
---@param buf integer
---@return string? text nil if the file cannot be read, or is not in the encoding in which it was read before
---@return boolean? eol whether the last line ends with a line break
function M.disk(buf)
  local bytes = disk.read(api.nvim_buf_get_name(buf))
  if not bytes then
    return nil
  end
  return decoded(bytes, noted[buf] and noted[buf].form or M.wanted(buf))
end

--- Whether the file on disk is as a `:write` leaves it.
---@param buf integer
---@param given string arguments of the `:write`, as `v:cmdarg`
---@return boolean
function M.holds(buf, given)
  local bytes = disk.read(api.nvim_buf_get_name(buf))
  local text = table.concat(api.nvim_buf_get_lines(buf, 0, -1, false), '\n')
  return bytes ~= nil and decoded(bytes, M.wanted(buf, given)) == text
end

--- Whether a text is on disk. If it was written without autocommands, notes the form in which it was written.
---@param buf integer
---@param text string
---@return boolean
function M.has(buf, text)
  local bytes = disk.read(api.nvim_buf_get_name(buf))
  if not bytes then
    return false
  elseif decoded(bytes, M.wanted(buf)) == text then
    M.note_written(buf, '')
    return true
  end
  return noted[buf] ~= nil and decoded(bytes, noted[buf].form) == text
end

---@param buf integer
---@return boolean
function M.is_utf8(buf)
  return encoding.is_utf8(vim.bo[buf].fileencoding)
end

--- Whether a text can be written in the buffer's encoding.
---@param buf integer
---@param text string
---@return boolean
function M.encodes(buf, text)
  return encoding.encodes(text, vim.bo[buf].fileencoding)
end

return M
