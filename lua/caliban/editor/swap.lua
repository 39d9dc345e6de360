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
  local info = vim.fn.swapinfo(found)
  local of = vim.tbl_filter(function(written)
    return names.real(written) == path
  end, meant(info.fname or ''))
  if #of > 0 then
    local lives = (info.pid or 0) > 0 and vim.uv.kill(info.pid, 0) == 0
    return lives and 'it is open in another Neovim (swap file)'
      or 'it has a swap file of a Neovim that has ended'
  end
end

--- If a file has a swap file, the reason why it must not be loaded. This has to be checked before
--- loading, because `bufload()` does not fire SwapExists, shows its error despite `silent!`, and
--- loads the file anyway. `~` and variables are expanded only in the user's option 'directory'.
---@param path string with links resolved
---@return string?
function M.of(path)
  for _, dir in ipairs(vim.opt.directory:get()) do
    local beside = dir == '.' or dir:find('^%./') ~= nil
    local stem = dir:find('//$') and path:gsub('/', '%%') or vim.fs.basename(path)
    local folder = vim.fs.normalize(dir)
    folder = beside and vim.fs.joinpath(vim.fs.dirname(path), folder) or folder
    for _, name in ipairs(disk.names(folder)) do
      local why = fits(name, stem) and obstacle(path, vim.fs.joinpath(folder, name))
      if why then
        return why
      end
    end
  end
end

return M
