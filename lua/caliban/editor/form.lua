--- Finds out in which form a text is on disk: its encoding, its byte order mark and its line ends. A form that was known
--- before stays as long as the bytes fit it. Pure functions.
local M = {}

local encoding = require('caliban.editor.encoding')

---@class caliban.Form
---@field encoding string as 'fileencoding'
---@field bom boolean whether a byte order mark comes first
---@field format string as 'fileformat'

local MARK = '\239\187\191'

--- The byte order marks. A longer one comes before the one that it begins with.
local MARKS = {
  { '\255\254\0\0', 'ucs-4le' },
  { '\0\0\254\255', 'ucs-4' },
  { MARK, 'utf-8' },
  { '\255\254', 'utf-16le' },
  { '\254\255', 'utf-16' },
}

---@param bytes string
---@param form caliban.Form
---@return string? text lines joined by '\n'; nil if the bytes are not in this encoding
---@return boolean? eol
function M.decoded(bytes, form)
  local text = encoding.decode(bytes, form.encoding)
  if not text then
    return nil
  end
  if form.bom and text:sub(1, 3) == MARK then
    text = text:sub(4)
  end
  if form.format == 'dos' then
    text = text:gsub('\r\n', '\n')
  elseif form.format == 'mac' then
    text = text:gsub('[\r\n]', { ['\r'] = '\n', ['\n'] = '\r' })
  end
  local eol = text:sub(-1) == '\n'
  text = eol and text:sub(1, -2) or text
  return text:find('\0', 1, true) and text:gsub('%z', '\n') or text, eol
end

--- The encoding that Neovim would find for bytes that are not UTF-8.
---@param bytes string
---@return string
local function other(bytes)
  for _, name in ipairs(vim.opt.fileencodings:get()) do
    local is_other = name ~= 'ucs-bom' and name ~= 'default' and not encoding.is_utf8(name)
    if is_other and encoding.decode(bytes, name) then
      return name
    end
  end
  return 'latin1'
end

--- The encoding named by the byte order mark.
---@param bytes string
---@return string?
local function marked(bytes)
  for _, it in ipairs(MARKS) do
    if vim.startswith(bytes, it[1]) then
      return it[2]
    end
  end
end

---@param bytes string
---@param was caliban.Form
---@param before string the text before
---@return string
local function encoded(bytes, was, before)
  local is_utf8 = encoding.is_valid_utf8(bytes)
  if encoding.is_utf8(was.encoding) then
    local stays = is_utf8 or not encoding.is_valid_utf8(before)
    return stays and was.encoding or other(bytes)
  elseif encoding.is_wide(was.encoding) then
    local is_plain = is_utf8 and not bytes:find('\0', 1, true)
    return is_plain and 'utf-8' or was.encoding
  elseif is_utf8 and bytes:find('[\128-\255]') then
    return 'utf-8'
  end
  return encoding.decode(bytes, was.encoding) and was.encoding or other(bytes)
end

--- The line ends of a text. Line ends of two kinds stay what they were.
---@param text string
---@param was string as 'fileformat'
---@param before string the text before, lines joined by '\n'
---@return string
local function format(text, was, before)
  local _, all = text:gsub('\n', '')
  local _, dos = text:gsub('\r\n', '')
  local _, mac = text:gsub('\r', '')
  if all == 0 then
    return was
  elseif was == 'unix' then
    local _, ends = before:gsub('\r%f[\n%z]', '')
    return dos == all and mac == all and ends == 0 and 'dos' or was
  elseif was == 'dos' then
    return mac == 0 and 'unix' or was
  end
  return mac == 0 and 'unix' or dos == all and mac == all and 'dos' or was
end

--- Whether a text begins with a byte order mark that was read as text, perhaps in Latin-1.
---@param text string
---@return boolean
function M.is_marked(text)
  for _, it in ipairs({ MARK, 'ï»¿', 'ÿþ', 'þÿ' }) do
    if vim.startswith(text, it) then
      return true
    end
  end
  return false
end

--- The form of the bytes that are on disk now.
---@param bytes string
---@param was caliban.Form the form before
---@param before string the text before, lines joined by '\n'
---@return caliban.Form
function M.found(bytes, was, before)
  local name = marked(bytes)
  if name and vim.startswith(encoding.decode(bytes, was.encoding) or '', MARK) then
    name = was.encoding
  end
  -- the user may have read the mark as text
  local is_text = not was.bom and M.is_marked(before)
  ---@type caliban.Form
  local it = {
    encoding = not is_text and name or encoded(bytes, was, before),
    bom = name ~= nil and not is_text,
    format = was.format,
  }
  local text = encoding.decode(bytes, it.encoding)
  if not text then
    return was
  end
  it.format = format(text, was.format, before)
  return it
end

return M
