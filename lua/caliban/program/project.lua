--- Finds the folder in which the program stores this project's conversations, and the files in it.
--- The folder's name is made as in `src/store/mod.rs`: the project's name, and the first 8 digits
--- of the SHA-256 of the root.
local M = {}

local disk = require('caliban.editor.disk')

--- How many bytes of a journal are read to find its second line. A journal with more bytes counts
--- as having a second line.
local JOURNAL = 65536

--- How many bytes of an agent's file are read to find its name.
local AGENT = 65536

--- How many bytes of a session's file are read to find the session that gave it its task.
local HEAD = 8192

--- The project's root: that of the current chat, otherwise that of the working directory.
---@return string
function M.root()
  return require('caliban.program.roots').current() or M.root_of(vim.fn.getcwd())
end

--- The root of a folder's project: the nearest folder with `.git`, otherwise the folder itself.
---@param folder string
---@return string
function M.root_of(folder)
  local cwd = vim.uv.fs_realpath(folder) or folder
  for parent in vim.fs.parents(cwd .. '/.') do
    if vim.uv.fs_lstat(vim.fs.joinpath(parent, '.git')) then
      return parent
    end
  end
  return cwd
end

--- Caliban's folder below an XDG base directory.
---@param variable string
---@param below_home string the base directory if the variable is not set
---@return string
function M.folder(variable, below_home)
  local given = vim.env[variable]
  local base = given and given:find('^/') and given
    or vim.fs.joinpath(vim.env.HOME or '~', below_home)
  return vim.fs.joinpath(base, 'caliban')
end

--- The folder of a project's conversations.
---@param root? string the project's root; default: this project's
---@return string? # nil if the project has no conversation on disk
function M.dir(root)
  local digest = '-' .. vim.fn.sha256(root or M.root()):sub(1, 8)
  local all = vim.fs.joinpath(M.folder('XDG_DATA_HOME', '.local/share'), 'sessions')
  for _, name in ipairs(disk.names(all)) do
    if vim.endswith(name, digest) then
      return vim.fs.joinpath(all, name)
    end
  end
end

--- The files in the project's folder whose names begin with `start` and end with `stop`.
---@param start string
---@param stop string
---@param root? string the project's root; default: this project's
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

--- Names of the conversations on disk that belong to subagents of a conversation.
---@param of string
---@return string[]
function M.subagents(of)
  local names = {} ---@type string[]
  for _, file in ipairs(M.files('', '.json')) do
    local head = disk.read(file, HEAD) or ''
    local parent = head:match('"parent":%s*(%b{})') or ''
    local is_copy = parent:find('"is_copy":%s*true') ~= nil
    if not is_copy and parent:match('^{%s*"session":%s*"([%w_-]+)"') == of then
      names[#names + 1] = vim.fs.basename(file):match('^([%w_-]+)%.json$')
    end
  end
  return names
end

--- The agents' names in a list of agents (`agents.md`).
---@param path string
---@return string[]
local function listed(path)
  local folder, file = vim.fs.dirname(path), vim.fs.basename(path)
  -- a file system that ignores upper and lower case also finds instructions, whose name is AGENTS.md
  local text = vim.tbl_contains(disk.names(folder), file) and disk.read(path, AGENT) or ''
  local names = {} ---@type string[]
  for name in ('\n' .. text):gmatch('\n# +([%w_-]+)%s*\n%-%-%-') do
    names[#names + 1] = name
  end
  return names
end

--- The names of the project's and the user's agents, for completion. The program reads the files
--- more exactly.
---@return string[]
function M.agents()
  local home, own = vim.env.HOME or '~', M.folder('XDG_CONFIG_HOME', '.config')
  local of_project = vim.fs.joinpath(M.root(), '.caliban')
  local names = vim.list_extend(listed(own .. '/agents.md'), listed(of_project .. '/agents.md'))
  for _, folder in ipairs({
    own .. '/agents',
    home .. '/.claude/agents',
    of_project .. '/agents',
    M.root() .. '/.claude/agents',
  }) do
    for _, file in ipairs(disk.names(folder)) do
      local stem = file:match('^([^.].*)%.md$')
      local text = stem and disk.read(folder .. '/' .. file, AGENT)
      if stem and text then
        local front = text:match('^%-%-%-%s*\n(.-)\n%-%-%-') or ''
        local name = ('\n' .. front):match('\nname:%s*["\']?([^%s"\']+)')
        names[#names + 1] = (name or stem):match('^[%w_-]+$')
      end
    end
  end
  table.sort(names)
  return vim.fn.uniq(names) --[[@as string[] ]]
end

--- Whether a conversation has a session file, a journal or a draft on disk.
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

--- The messages that were sent in this project, the newest last, without repetitions.
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

--- The conversations that have a pending review, or a turn that has not ended. Such a turn was
--- interrupted when Neovim or the program ended, or it runs in another Neovim. It is recognised by
--- a journal with more than one line.
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

--- The folder of a conversation; nil if this Neovim does not have the conversation open for
--- writing.
---@param session string
---@return string?
function M.folder_of(session)
  local root = require('caliban.program.roots').of(session)
  return root and M.dir(root)
end

return M
