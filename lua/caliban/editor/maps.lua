--- Maps keys in a buffer for a while and restores the user's own mappings afterwards.
local M = {}

local api = vim.api
local BUF = require('caliban.editor.since').BUF

---@class caliban.Mapping
---@field mode string
---@field lhs string may begin with `<localleader>`
---@field rhs function|string a function, or the `<Plug>` mapping to run
---@field desc string

---@class caliban.Mapped
---@field mode string
---@field lhs string with `<localleader>` resolved
---@field rhs function|string
---@field desc string
---@field before? table the user's mapping that Caliban's mapping replaces, in the form of `maparg()`
---@field text? string the text of `maparg()` while the key had Caliban's mapping

--- The localleader in key notation, as in `<Space>`.
---@return string
function M.leader()
  local key = vim.g.maplocalleader
  return (key == nil or key == '') and '\\' or key == ' ' and '<Space>' or vim.fn.keytrans(key)
end

--- Calls a function while a buffer is the current one.
---@generic T
---@param buf integer
---@param fn fun(): T
---@return T
local function within(buf, fn)
  if api.nvim_get_current_buf() == buf then
    return fn()
  end
  return api.nvim_buf_call(buf, fn)
end

---@param buf integer
---@param key caliban.Mapped
---@return boolean ours whether the key still has Caliban's mapping
---@return table? other the buffer's mapping, if it is not Caliban's
local function works(buf, key)
  local map = within(buf, function()
    return vim.fn.maparg(key.lhs, key.mode, false, true)
  end)
  if map.buffer ~= 1 then
    return false
  end
  local ours = (map.callback or map.rhs) == key.rhs and map.desc == 'Caliban: ' .. key.desc
  return ours, not ours and map or nil
end

--- Maps each key that does not have Caliban's mapping (any more).
---@param buf integer
---@param keys caliban.Mapped[]
---@return boolean # whether a key was mapped
function M.take(buf, keys)
  local taken = false
  for _, key in ipairs(keys) do
    local ours, other = works(buf, key)
    if not ours then
      key.before, taken = other, true
      local opts = { [BUF] = buf, desc = 'Caliban: ' .. key.desc, nowait = true }
      opts.remap = type(key.rhs) == 'string'
      vim.keymap.set(key.mode, key.lhs, key.rhs, opts)
    end
  end
  return taken
end

---@param buf integer
---@param mappings caliban.Mapping[]
---@return caliban.Mapped[] # for `take`, `key` and `clear`
function M.set(buf, mappings)
  local keys = {} ---@type caliban.Mapped[]
  for _, m in ipairs(mappings) do
    local lhs = m.lhs:gsub('^<localleader>', (M.leader():gsub('%%', '%%%%')))
    keys[#keys + 1] = { mode = m.mode, lhs = lhs, rhs = m.rhs, desc = m.desc }
  end
  M.take(buf, keys)
  return keys
end

--- The normal-mode key of a mapping; absent while the user has mapped that key to something else.
---@param buf integer
---@param keys caliban.Mapped[]
---@param desc string
---@return string?
function M.key(buf, keys, desc)
  for _, key in ipairs(keys) do
    if key.mode == 'n' and key.desc == desc then
      -- `maparg()` takes four times as long if it returns a table instead of the text
      local text = within(buf, function()
        return vim.fn.maparg(key.lhs, key.mode) --[[@as string]]
      end)
      if text == key.text then
        return key.lhs
      elseif works(buf, key) then
        key.text = text
        return key.lhs
      end
    end
  end
end

--- Removes Caliban's mappings and restores the earlier ones. A key that the user has mapped in the
--- meantime keeps the user's mapping.
---@param buf integer
---@param keys caliban.Mapped[]
function M.clear(buf, keys)
  for _, key in ipairs(keys) do
    if works(buf, key) then
      vim.keymap.del(key.mode, key.lhs, { [BUF] = buf })
      if key.before then
        api.nvim_buf_call(buf, function()
          vim.fn.mapset(key.before)
        end)
      end
    end
  end
end

return M
