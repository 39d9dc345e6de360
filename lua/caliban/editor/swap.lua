--- Finds the swap file of a file before it is loaded.
local M = {}

local disk = require('caliban.editor.disk')
local names = require('caliban.editor.name')

--- The paths that the file name in a swap file may mean, because Neovim writes the home folder as
--- `~user`.
---@param written string
---@return string[]
local function meant(written)
  local user, rest = written:match('^~([^/]*)(/.*)$')
  if not user then
    return { written }
  end
  local ok, own = pcall(vim.uv.os_get_passwd)
  if not ok or user ~= '' and user ~= own.username then
    return {}
  end
  return { own.homedir .. rest, (vim.env.HOME or own.homedir) .. rest }
end

--- Whether `name` is a swap file's name for a file: its stem with `.swp`, `.swo` and so on.
---@param name string
---@param stem string the file's name, or its whole path with `%` for `/`
---@return boolean
local function fits(name, stem)
  name = name:sub(1, 1) == '.' and stem:sub(1, 1) ~= '.' and name:sub(2) or name
  return #name == #stem + 4 and name:sub(1, #stem + 2) == stem .. '.s'
end

--- Whether `found` is the swap file of a file, and whether its Neovim runs.
---@param path string
---@param found string a regular file
---@return boolean is_one, boolean lives
local function belongs(path, found)
  local info = vim.fn.swapinfo(found)
  local of = vim.tbl_filter(function(written)
    return names.real(written) == path
  end, meant(info.fname or ''))
  return #of > 0, (info.pid or 0) > 0 and vim.uv.kill(info.pid, 0) == 0
end

--- If `found` is the swap file of a file, the reason why the file must not be loaded.
---@param path string
---@param found string
---@return string?
local function obstacle(path, found)
  local odd = disk.odd(found)
  if odd then
    -- Neovim would open the pipe or device as a swap file
    return 'its swap file is not a regular file: ' .. odd
  end
  local is_one, lives = belongs(path, found)
  if is_one then
    return lives and 'it is open in another Neovim (swap file)'
      or 'it has a swap file of a Neovim that has ended'
  end
end

--- What `each` returns for the first file that may be a swap file of a file. `~` and variables are expanded only in the
--- user's option 'directory'.
---@generic T
---@param path string with links resolved
---@param each fun(found: string): T?
---@return T?
local function first(path, each)
  for _, dir in ipairs(vim.opt.directory:get()) do
    local beside = dir == '.' or dir:find('^%./') ~= nil
    local stem = dir:find('//$') and path:gsub('/', '%%') or vim.fs.basename(path)
    local folder = vim.fs.normalize(dir)
    folder = beside and vim.fs.joinpath(vim.fs.dirname(path), folder) or folder
    for _, name in ipairs(disk.names(folder)) do
      local found = fits(name, stem) and each(vim.fs.joinpath(folder, name))
      if found then
        return found
      end
    end
  end
end

--- If a file has a swap file, the reason why it must not be loaded. This has to be checked before
--- loading, because `bufload()` does not fire SwapExists, shows its error despite `silent!`, and
--- loads the file anyway.
---@param path string with links resolved
---@return string?
function M.of(path)
  return first(path, function(found)
    return obstacle(path, found)
  end)
end

--- When the swap files of a file that Neovims which have ended have left were last written; nil if there is none.
---@param path string with links resolved
---@return number? # in seconds since 1970
function M.left(path)
  local newest ---@type number?
  first(path, function(found)
    if not disk.odd(found) then
      local is_one, lives = belongs(path, found)
      local time = is_one and not lives and disk.written_at(found) or nil
      newest = time and math.max(time, newest or 0) or newest
    end
  end)
  return newest
end

return M
