--- Carries out the `:write` of the user in an autocommand that takes its place.
local M = {}

local api = vim.api
local bytes = require('caliban.editor.bytes')

--- Sets the buffer's options according to arguments of the user's `:write` such as `++ff=dos`,
--- because the `:write` that Caliban runs instead accepts either a file name or such arguments, but
--- not both.
---@param buf integer
---@return fun() restore
local function as_asked(buf)
  local given = vim.v.cmdarg
  local asked = bytes.asked(given)
  local bo, was = vim.bo[buf], {} ---@type vim.bo, table<string, any>
  ---@param option string
  ---@param value any
  local function set(option, value)
    if value ~= nil then
      if was[option] == nil then
        was[option] = bo[option]
      end
      bo[option] = value
    end
  end
  if given == '' then
    return function() end
  end
  set('fileformat', asked.fileformat)
  set('fileencoding', asked.fileencoding)
  set('binary', asked.binary)
  if bo.binary and asked.fileformat then
    -- with 'binary' alone, 'fileformat' would count as `unix`
    set('binary', false)
    set('bomb', false)
    set('fixendofline', false)
  end
  local modified = bo.modified
  return function()
    modified = bo.modified and modified
    for option, value in pairs(was) do
      bo[option] = value
    end
    bo.modified = modified
  end
end

--- Writes the buffer.
---@param buf integer
---@param to? string the name of another file to write to
---@param bang boolean
---@return string? err why this failed
function M.run(buf, to, bang)
  local command = { cmd = 'write', bang = bang, args = to and { to } or nil }
  command.magic = { file = false }
  local restore = as_asked(buf)
  local ok, err = pcall(api.nvim_cmd, command, {})
  restore()
  return not ok and (tostring(err):match('E%d+: .*') or tostring(err)) or nil
end

--- Shows why a `:write` failed. An error that is raised in an autocommand would take three lines and wait for a key.
---@param text string
function M.refuse(text)
  vim.v.errmsg = text
  require('caliban.editor.notify').echo(text, 'ErrorMsg')
end

return M
