--- The folders that Caliban has made for the user's files. If a file is rejected, the folders that were made for it are
--- removed, unless they have other files.
local M = {}

local names = require('caliban.editor.name')

local made = {} ---@type table<string, true>

--- Makes the missing folders of a file. Raises an error if this fails.
---@param path string
function M.make(path)
  local missing = {} ---@type string[]
  for dir in vim.fs.parents(path) do
    if vim.uv.fs_lstat(dir) then
      break
    end
    missing[#missing + 1] = dir
  end
  vim.fn.mkdir(vim.fs.dirname(path), 'p')
  M.note(missing)
end

--- Notes folders that Caliban has made.
---@param folders string[]
function M.note(folders)
  for _, dir in ipairs(folders) do
    made[names.real(dir)] = true
  end
end

--- The folders of a file that Caliban has made.
---@param path string
---@return string[]
function M.of(path)
  local out = {} ---@type string[]
  for dir in vim.fs.parents(path) do
    if not made[names.real(dir)] then
      break
    end
    out[#out + 1] = dir
  end
  return out
end

--- Called when a file is gone: removes those of its folders that Caliban has made and that are empty.
---@param path string
function M.remove(path)
  for _, dir in ipairs(M.of(path)) do
    local name = names.real(dir)
    local stat = vim.uv.fs_lstat(dir)
    -- of folders, `os.remove` removes only empty ones
    if not stat or stat.type ~= 'directory' or not os.remove(dir) then
      return
    end
    made[name] = nil
  end
end

return M
