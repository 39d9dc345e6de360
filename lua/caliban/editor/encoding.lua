--- Converts texts between UTF-8 and other encodings, by Neovim's names for them. `vim.iconv` crashes Neovim at an invalid
--- unit of UTF-16 or UCS-4 that begins with a NUL byte, and takes the computer's byte order for both byte orders. So it
--- gets only valid units, in little-endian order.
local M = {}

---@class caliban.Units
---@field size 2|4
---@field name string the encoding with little-endian units
---@field big boolean
---@field pairs? boolean whether two units may form a character

---@type table<string, caliban.Units>
local UNITS = {
  ['ucs-2'] = { size = 2, name = 'ucs-2le', big = true },
  ['ucs-2le'] = { size = 2, name = 'ucs-2le', big = false },
  ['utf-16'] = { size = 2, name = 'utf-16le', big = true, pairs = true },
  ['utf-16le'] = { size = 2, name = 'utf-16le', big = false, pairs = true },
  ['ucs-4'] = { size = 4, name = 'ucs-4le', big = true },
  ['ucs-4le'] = { size = 4, name = 'ucs-4le', big = false },
}

--- The bytes with little-endian units.
---@param bytes string
---@param units caliban.Units
---@return string
local function little(bytes, units)
  if not units.big then
    return bytes
  elseif units.size == 2 then
    return (bytes:gsub('(.)(.)', '%2%1'))
  end
  return (bytes:gsub('(.)(.)(.)(.)', '%4%3%2%1'))
end

--- Whether the little-endian units are valid: each surrogate is one of a pair, and no unit of four bytes is too large.
---@param bytes string
---@param units caliban.Units
---@return boolean
local function is_valid(bytes, units)
  if #bytes % units.size ~= 0 then
    return false
  elseif units.size == 4 then
    for _, low, mid, high in bytes:gmatch('(.)(.)(.)(.)') do
      local is_surrogate = mid == '\0' and low >= '\216' and low <= '\223'
      if high ~= '\0' or mid > '\16' or is_surrogate then
        return false
      end
    end
    return true
  end
  local at = bytes:find('[\216-\223]')
  while at do
    local is_high = at % 2 == 0
    local second = is_high and bytes:byte(at + 2) or 0
    if is_high and (not units.pairs or bytes:byte(at) > 219 or second < 220 or second > 223) then
      return false
    end
    at = bytes:find('[\216-\223]', at + (is_high and 3 or 1))
  end
  return true
end

---@param encoding string as 'fileencoding'
---@return boolean
function M.is_utf8(encoding)
  return encoding == '' or encoding:find('^utf%-?8') ~= nil
end

--- Whether an encoding has units of two or four bytes.
---@param encoding string as 'fileencoding'
---@return boolean
function M.is_wide(encoding)
  return UNITS[encoding] ~= nil
end

--- The characters of UTF-8 that are not ASCII.
local CHARACTERS = {
  '[\194-\223][\128-\191]',
  '\224[\160-\191][\128-\191]',
  '[\225-\239][\128-\191][\128-\191]',
  '\240[\144-\191][\128-\191][\128-\191]',
  '[\241-\243][\128-\191][\128-\191][\128-\191]',
  '\244[\128-\143][\128-\191][\128-\191]',
}

---@param bytes string
---@return boolean
function M.is_valid_utf8(bytes)
  for _, character in ipairs(CHARACTERS) do
    if not bytes:find('[\128-\255]') then
      return true
    end
    bytes = bytes:gsub(character, ' ')
  end
  return not bytes:find('[\128-\255]')
end

---@param bytes string
---@param encoding string as 'fileencoding'
---@return string? # nil if the bytes are not in this encoding
function M.decode(bytes, encoding)
  local units = UNITS[encoding]
  if M.is_utf8(encoding) then
    return bytes
  elseif not units then
    return vim.iconv(bytes, encoding, 'utf-8')
  end
  local ordered = little(bytes, units)
  return is_valid(ordered, units) and vim.iconv(ordered, units.name, 'utf-8') or nil
end

--- Whether a text can be written in an encoding.
---@param text string
---@param encoding string as 'fileencoding'
---@return boolean
function M.encodes(text, encoding)
  local name = UNITS[encoding] and UNITS[encoding].name or encoding
  if M.is_utf8(encoding) then
    return true
  end
  local bytes = vim.iconv(text, 'utf-8', name)
  return bytes ~= nil and M.decode(bytes, name) == text
end

return M
