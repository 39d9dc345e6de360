--- Keys mapped in a buffer for a while: the user's own come back.
local M = {}

local api = vim.api

---@class caliban.Mapping
---@field mode string
---@field lhs string `<localleader>` may stand first
---@field rhs function
---@field desc string

---@class caliban.Mapped
---@field mode string
---@field lhs string
---@field before? table the buffer's own map

--- The localleader as it is typed.
---@return string
function M.leader()
  local key = vim.g.maplocalleader
  return (key == nil or key == '') and '\\' or key == ' ' and '<Space>' or vim.fn.keytrans(key)
end

---@param buf integer
---@param mode string
---@param lhs string
---@return table? map the buffer's own
local function own(buf, mode, lhs)
  local map = api.nvim_buf_call(buf, function()
    return vim.fn.maparg(lhs, mode, false, true)
  end)
  return map.buffer == 1 and map or nil
end

---@param buf integer
---@param mappings caliban.Mapping[]
---@return caliban.Mapped[] # what `clear` takes
function M.set(buf, mappings)
  local out = {}
  for _, m in ipairs(mappings) do
    local lhs = m.lhs:gsub('^<localleader>', (M.leader():gsub('%%', '%%%%')))
    out[#out + 1] = { mode = m.mode, lhs = lhs, before = own(buf, m.mode, lhs) }
    local desc = 'Caliban: ' .. m.desc
    vim.keymap.set(m.mode, lhs, m.rhs, { buffer = buf, desc = desc, nowait = true })
  end
  return out
end

---@param buf integer
---@param mapped caliban.Mapped[]
function M.clear(buf, mapped)
  for _, key in ipairs(mapped) do
    local now = own(buf, key.mode, key.lhs)
    if now and (now.desc or ''):find('^Caliban: ') then
      vim.keymap.del(key.mode, key.lhs, { buffer = buf })
      if key.before then
        api.nvim_buf_call(buf, function()
          vim.fn.mapset(key.before)
        end)
      end
    end
  end
end

return M
