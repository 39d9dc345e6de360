--- Where the program keeps this project's conversations, and what a look at the folder tells. The rule of the
--- folder's name is the program's (src/store/mod.rs): a slug, and the beginning of a digest of the root.
local M = {}

---@param variable string
---@param below_home string
---@return string
function M.folder(variable, below_home)
  local given = vim.env[variable]
  local base = given and given:find('^/') and given
    or vim.fs.joinpath(vim.env.HOME or '~', below_home)
  return vim.fs.joinpath(base, 'caliban')
end

---@param pattern string
---@return string[] paths
local function files(pattern)
  local digest = vim.fn.sha256(require('caliban.context').root()):sub(1, 8)
  local below = ('sessions/*-%s/%s'):format(digest, pattern)
  return vim.fn.globpath(M.folder('XDG_DATA_HOME', '.local/share'), below, true, true)
end

--- Names of the conversations on disk.
---@return string[]
function M.sessions()
  return vim.tbl_map(function(file)
    return vim.fn.fnamemodify(file, ':t:r')
  end, files('*.json'))
end

--- The messages sent in this project, the newest last, each once.
---@return string[]
function M.history()
  local prompts, seen = {}, {} ---@type string[], table<string, boolean>
  for _, file in ipairs(files('history')) do
    local lines = vim.fn.readfile(file)
    for i = #lines, 1, -1 do
      local ok, prompt = pcall(vim.json.decode, lines[i])
      if ok and type(prompt) == 'string' and not seen[prompt] then
        seen[prompt] = true
        table.insert(prompts, 1, prompt)
      end
    end
  end
  return prompts
end

--- The conversation whose turn was cut off when the editor or the program ended, or is running in another
--- Neovim: its journal holds more than its first line.
---@return string?
local function interrupted()
  for _, file in ipairs(files('*.journal')) do
    if #vim.fn.readfile(file, '', 2) > 1 then
      return vim.fn.fnamemodify(file, ':t:r')
    end
  end
end

--- After the first screen: an interrupted turn is brought to rest in the background. The program says so.
function M.look()
  local session = interrupted()
  if session then
    require('caliban.rpc').ask({ kind = 'look', session = session })
  end
end

return M
