--- Where the program keeps this project's conversations, and what a look at the folder tells. The rule of the
--- folder's name is the program's (src/store/mod.rs): a slug, and the beginning of a digest of the root.
local M = {}

local disk = require('caliban.editor.disk')

--- The second line of a journal begins within so many bytes.
local JOURNAL = 65536

---@class caliban.OpenChats what the chats of this editor tell of themselves
---@field root fun(): string? of the project of the one in use
---@field kept_in fun(session: string): string? root of the project that keeps it; absent: it is not written from here

---@type caliban.OpenChats
local chats = {
  root = function() end,
  kept_in = function() end,
}

--- The chats are there, and tell of themselves from now on.
---@param told caliban.OpenChats
function M.listen(told)
  chats = told
end

--- The project's root: the session's, else the nearest folder with `.git`, else the working directory.
---@return string
function M.root()
  local root = chats.root()
  if root then
    return root
  end
  local cwd = vim.uv.fs_realpath(vim.fn.getcwd()) or vim.fn.getcwd()
  for folder in vim.fs.parents(cwd .. '/.') do
    if vim.uv.fs_lstat(vim.fs.joinpath(folder, '.git')) then
      return folder
    end
  end
  return cwd
end

---@param variable string
---@param below_home string
---@return string
function M.folder(variable, below_home)
  local given = vim.env[variable]
  local base = given and given:find('^/') and given
    or vim.fs.joinpath(vim.env.HOME or '~', below_home)
  return vim.fs.joinpath(base, 'caliban')
end

--- The project's folder, once a conversation of it is kept.
---@param root? string the root of another project
---@return string?
function M.dir(root)
  local digest = '-' .. vim.fn.sha256(root or M.root()):sub(1, 8)
  local all = vim.fs.joinpath(M.folder('XDG_DATA_HOME', '.local/share'), 'sessions')
  for _, name in ipairs(disk.names(all)) do
    if vim.endswith(name, digest) then
      return vim.fs.joinpath(all, name)
    end
  end
end

--- The files of the project's folder whose names begin with `start` and end with `stop`.
---@param start string
---@param stop string
---@param root? string the root of another project
---@return string[] paths
function M.files(start, stop, root)
  local dir = M.dir(root)
  local fitting = vim.tbl_filter(function(name)
    return vim.startswith(name, start) and vim.endswith(name, stop) and name:sub(1, 1) ~= '.'
  end, dir and disk.names(dir) or {})
  return vim.tbl_map(function(name)
    return dir .. '/' .. name
  end, fitting)
end

--- Names of the conversations on disk.
---@return string[]
function M.sessions()
  local names = {} ---@type string[]
  for _, file in ipairs(M.files('', '.json')) do
    names[#names + 1] = vim.fs.basename(file):match('^([%w_-]+)%.json$')
  end
  return names
end

--- Whether something of a conversation is on disk.
---@param session string
---@return boolean
function M.has(session)
  local names = vim.tbl_map(vim.fs.basename, M.files(session .. '.', ''))
  for _, ending in ipairs({ '.json', '.journal', '.draft' }) do
    if vim.tbl_contains(names, session .. ending) then
      return true
    end
  end
  return false
end

--- The messages sent in this project, the newest last, each once.
---@return string[]
function M.history()
  local prompts, seen = {}, {} ---@type string[], table<string, boolean>
  local dir = M.dir()
  local text = dir and disk.read(vim.fs.joinpath(dir, 'history')) or ''
  local lines = vim.split(text, '\n', { plain = true })
  for i = #lines, 1, -1 do
    local ok, prompt = pcall(vim.json.decode, lines[i])
    if ok and type(prompt) == 'string' and not seen[prompt] then
      seen[prompt] = true
      table.insert(prompts, 1, prompt)
    end
  end
  return prompts
end

--- The conversations that something waits in from before: a turn that was cut off when the editor or the program
--- ended (its journal holds more than its first line), or is running in another Neovim; or a review.
---@return string[]
function M.waiting()
  local names = {} ---@type table<string, true>
  for _, path in ipairs(M.files('', '')) do
    local name, ending = vim.fs.basename(path):match('^([%w_-]+)%.(%a+)')
    local journal = ending == 'journal' and disk.read(path, JOURNAL) or ''
    if name and (ending == 'review' or journal:find('\n.') or #journal == JOURNAL) then
      names[name] = true
    end
  end
  return vim.tbl_keys(names)
end

--- The folder of a conversation that is kept on disk and written from here.
---@param session string
---@return string?
function M.kept_in(session)
  local root = chats.kept_in(session)
  return root and M.dir(root)
end

return M
