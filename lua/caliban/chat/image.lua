--- Images that are pasted into a composer: a dropped file, whose path the terminal pastes, and the image in the
--- clipboard.
local M = {}

local api, uv = vim.api, vim.uv

--- The most bytes of an image in the clipboard, and the longest time for reading it, in
--- milliseconds.
local LARGEST, PATIENCE = 30e6, 5000
--- The most bytes of a pasted text in which paths of several images are looked for.
local LONGEST = 8192
--- How long a pasted image is kept, in seconds: 30 days.
local LIFE = 30 * 24 * 60 * 60

--- A PowerShell script that prints the clipboard's image in base64.
local SCRIPT = 'Add-Type -AssemblyName System.Windows.Forms,System.Drawing;'
  .. '$i=[Windows.Forms.Clipboard]::GetImage();if($i){$m=New-Object IO.MemoryStream;'
  .. '$i.Save($m,[Drawing.Imaging.ImageFormat]::Png);[Convert]::ToBase64String($m.ToArray())}'

---@class caliban.ClipboardTool
---@field command string[]
---@field variable? string the environment variable without which the tool cannot work
---@field base64? boolean

--- Tools that print the clipboard's image. The first one that is installed is used.
---@type caliban.ClipboardTool[]
local tools = {
  { command = { 'wl-paste', '--no-newline', '--type', 'image/png' }, variable = 'WAYLAND_DISPLAY' },
  {
    command = { 'xclip', '-selection', 'clipboard', '-t', 'image/png', '-o' },
    variable = 'DISPLAY',
  },
  { command = { 'pngpaste', '-' } },
  {
    command = { 'powershell.exe', '-NoProfile', '-NonInteractive', '-STA', '-Command', SCRIPT },
    base64 = true,
  },
}

--- Whether these bytes begin a PNG, JPEG, GIF or WebP image.
---@param head string
---@return boolean
local function is_image(head)
  return vim.startswith(head, '\137PNG\r\n\26\n')
    or vim.startswith(head, '\255\216\255')
    or vim.startswith(head, 'GIF87a')
    or vim.startswith(head, 'GIF89a')
    or (vim.startswith(head, 'RIFF') and head:sub(9, 12) == 'WEBP')
end

---@param path string
---@return boolean
local function holds_image(path)
  local stat = uv.fs_stat(path)
  -- opening a pipe would wait for its other end
  local fd = stat and stat.type == 'file' and uv.fs_open(path, 'r', 0)
  if not fd then
    return false
  end
  local head = uv.fs_read(fd, 12)
  uv.fs_close(fd)
  return type(head) == 'string' and is_image(head)
end

--- A path as a mention, which the program reads as the same path.
---@param path string
---@return string
local function mention(path)
  if path:find('^[%w/_.-]+$') then
    return '@' .. path
  end
  return '@"' .. path:gsub('[\\"]', '\\%0') .. '"'
end

--- The mention of one image that was dropped on the terminal.
---@param text string
---@return string? mention nil if the text is no path of an image
local function one(text)
  local inner = text:match("^'(.*)'$") or text:match('^"(.*)"$') or text
  local unescaped = inner:gsub('\\(.)', '%1')
  local readings = { inner, unescaped } ---@type string[]
  local from = inner:match('^file://[^/]*(/.*)$')
  if from then
    local decoded = from:gsub('%%(%x%x)', function(hex)
      return string.char(tonumber(hex, 16) or 0)
    end)
    readings = { decoded }
  end
  for _, path in ipairs(readings) do
    if vim.startswith(path, '/') and not path:find('[%z\n]') and holds_image(path) then
      return mention(path)
    end
  end
  return nil
end

--- The words of a text, as a shell separates them: in quotes, or with backslashes before blanks.
---@param text string
---@return string[]
local function words(text)
  local all, rest = {}, vim.trim(text) ---@type string[], string
  while rest ~= '' do
    local word = rest:match("^'[^']*'") or rest:match('^"[^"]*"')
    if not word then
      local stop = 1
      while stop <= #rest and not rest:sub(stop, stop):find('%s') do
        stop = stop + (rest:sub(stop, stop) == '\\' and 2 or 1)
      end
      word = rest:sub(1, stop - 1)
    end
    table.insert(all, word)
    rest = vim.trim(rest:sub(#word + 1))
  end
  return all
end

--- The mentions of images that were dropped on the terminal. Terminals paste the absolute path of each image: unchanged,
--- in quotes, with backslashes before special characters, or as a `file://` address.
---@param pasted string
---@return string? mentions nil if the text is more than paths of images
function M.dropped(pasted)
  local whole = one(vim.trim(pasted))
  if whole or #pasted > LONGEST then
    return whole
  end
  local all = {} ---@type string[]
  for i, word in ipairs(words(pasted)) do
    all[i] = one(word)
    if not all[i] then
      return nil
    end
  end
  return #all > 0 and table.concat(all, ' ') or nil
end

--- Adds a mention to the end of a chat's composer.
---@param chat caliban.Chat
---@param text string
local function append(chat, text)
  local last = api.nvim_buf_get_lines(chat.composer, -2, -1, false)[1] or ''
  local gap = (last == '' or last:find('%s$')) and '' or ' '
  api.nvim_buf_set_lines(chat.composer, -2, -1, false, { last .. gap .. text })
end

--- Inserts a mention at the cursor in the composer. It begins after a blank: else it would be no mention.
---@param text string
local function insert_here(text)
  local normal = api.nvim_get_mode().mode == 'n'
  local line, col = api.nvim_get_current_line(), api.nvim_win_get_cursor(0)[2]
  local before = normal and line ~= '' and line:sub(1, col + 1) or line:sub(1, col)
  local gap = (before == '' or before:find('%s$')) and '' or ' '
  api.nvim_put({ gap .. text }, 'c', normal, true)
end

--- Takes what is pasted into a window of a chat, if it is not ordinary text for the composer.
---@param chat caliban.Chat
---@param lines string[]
---@param phase integer as for |vim.paste()|
---@return boolean taken
local function take(chat, lines, phase)
  local buf = api.nvim_get_current_buf()
  local found = phase == -1 and #lines == 1 and M.dropped(lines[1])
  if found and buf == chat.composer and not api.nvim_get_mode().mode:find('^[vV\22sSR]') then
    insert_here(found .. ' ')
    return true
  elseif buf ~= chat.transcript then
    return false
  end
  if found then
    append(chat, found .. ' ')
    require('caliban.editor.notify').show('The image is mentioned in the composer.')
  elseif phase < 2 then
    require('caliban.editor.notify').show(
      'The chat is not written into. Paste in the composer: i goes there.'
    )
  end
  return true
end

local watches = false

--- From now on watches the texts that are pasted into composers.
function M.watch()
  if watches then
    return
  end
  watches = true
  local paste = vim.paste
  ---@diagnostic disable-next-line: duplicate-set-field
  vim.paste = function(lines, phase)
    local chat = require('caliban.chat.chats').of(api.nvim_get_current_buf())
    return chat and take(chat, lines, phase --[[@as integer]]) or paste(lines, phase)
  end
end

---@param text string
local function warn(text)
  require('caliban.editor.notify').show(text, vim.log.levels.WARN)
end

--- The folder for pasted images. It is not inside Neovim's data folder, because the model may not
--- read files there.
---@return string
local function folder_of_pasted()
  return require('caliban.program.project').folder('XDG_STATE_HOME', '.local/state') .. '/pasted'
end

--- Writes an image to a new file. The file is kept when Neovim exits, because a draft may mention
--- it.
---@param bytes string
---@return string? path nil if the file could not be written
local function keep(bytes)
  local folder = folder_of_pasted()
  pcall(vim.fn.mkdir, vim.fs.dirname(folder), 'p')
  uv.fs_mkdir(folder, 448) -- rwx------
  for _, name in ipairs(require('caliban.editor.disk').names(folder)) do
    local stat = uv.fs_lstat(folder .. '/' .. name)
    if stat and stat.type == 'file' and stat.mtime.sec < os.time() - LIFE then
      uv.fs_unlink(folder .. '/' .. name)
    end
  end
  local path = ('%s/%s-%d.png'):format(folder, os.date('%Y%m%d-%H%M%S'), uv.hrtime() % 1e6)
  local fd = uv.fs_open(path, 'wx', 384) -- rw-------
  if not fd then
    return nil
  end
  local is_written = uv.fs_write(fd, bytes) == #bytes
  uv.fs_close(fd)
  return is_written and path or nil
end

---@param chat caliban.Chat
---@param bytes string
local function insert(chat, bytes)
  local path = keep(bytes)
  if not path then
    local to = require('caliban.editor.name').shown(folder_of_pasted())
    return warn(
      ('The image was not mentioned: it could not be written to a file in %s.'):format(to)
    )
  end
  if not api.nvim_buf_is_valid(chat.composer) then
    return
  end
  local text = mention(path) .. ' '
  if api.nvim_get_current_buf() == chat.composer then
    return insert_here(text)
  end
  append(chat, text)
end

---@return caliban.ClipboardTool?
local function tool()
  for _, it in ipairs(tools) do
    local works = not it.variable or (vim.env[it.variable] or '') ~= ''
    if works and vim.fn.executable(it.command[1]) == 1 then
      return it
    end
  end
  return nil
end

--- Mentions the image in the clipboard.
---@param chat caliban.Chat
function M.paste(chat)
  local with = tool()
  if not with then
    return warn(
      'The clipboard cannot be read: none of wl-paste, xclip, pngpaste and PowerShell is installed.'
    )
  end
  local pieces, size = {}, 0
  local running ---@type vim.SystemObj?
  local function take(_, piece)
    size = size + #(piece or '')
    if size <= LARGEST * 2 then
      table.insert(pieces, piece)
    elseif running then
      running:kill('sigkill')
    end
  end
  local function done()
    local bytes = table.concat(pieces)
    if with.base64 then
      local plain = bytes:gsub('%s', '')
      local ok, decoded = pcall(vim.base64.decode, plain)
      bytes = ok and tostring(decoded) or ''
    end
    if #bytes > LARGEST or not is_image(bytes) then
      return warn('The clipboard has no image that can be sent.')
    end
    insert(chat, bytes)
  end
  local options = { stdout = take, stderr = false, timeout = PATIENCE }
  local ok, started = pcall(vim.system, with.command, options, vim.schedule_wrap(done))
  if not ok then
    return warn('The clipboard cannot be read: ' .. with.command[1] .. ' cannot be started.')
  end
  running = started
end

return M
