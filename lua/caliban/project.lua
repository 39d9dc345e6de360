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
---@param root? string of the project, if it is not this one
---@return string[] paths
function M.files(pattern, root)
  local digest = vim.fn.sha256(root or require('caliban.context').root()):sub(1, 8)
  local below = ('sessions/*-%s/%s'):format(digest, pattern)
  return vim.fn.globpath(M.folder('XDG_DATA_HOME', '.local/share'), below, true, true)
end

--- The project's folder, once a conversation of it is kept.
---@param root string
---@return string?
function M.dir(root)
  local dir = M.files('', root)[1]
  return dir and dir:gsub('/$', '') or nil
end

--- Writes a file beside them whole, and renames it. That it is durable is not waited for.
---@param name string
---@param texts string[]
function M.replace(name, texts)
  local temporary = ('%s/.%s.tmp'):format(vim.fs.dirname(name), vim.fs.basename(name))
  local handle = io.open(temporary, 'wb')
  if not handle then
    return
  end
  local ok = true ---@type any
  for _, text in ipairs(texts) do
    ok = ok and handle:write(text)
  end
  if not (handle:close() and ok) or not os.rename(temporary, name) then
    os.remove(temporary)
  end
end

--- Names of the conversations on disk.
---@return string[]
function M.sessions()
  local names = {} ---@type string[]
  for _, file in ipairs(M.files('*.json')) do
    names[#names + 1] = vim.fs.basename(file):match('^([%w_-]+)%.json$')
  end
  return names
end

--- The messages sent in this project, the newest last, each once.
---@return string[]
function M.history()
  local prompts, seen = {}, {} ---@type string[], table<string, boolean>
  for _, file in ipairs(M.files('history')) do
    local stat = vim.uv.fs_lstat(file)
    local lines = stat and stat.type == 'file' and vim.fn.readfile(file) or {}
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

--- The conversations that something waits in from before: a turn that was cut off when the editor or the program
--- ended (its journal holds more than its first line), or is running in another Neovim; or a review.
---@return string[]
local function waiting()
  local names = {} ---@type table<string, true>
  for _, path in ipairs(M.files('*.{journal,review-*}')) do
    local name, ending = vim.fs.basename(path):match('^([%w_-]+)%.(%a+)')
    local stat = vim.uv.fs_lstat(path)
    local is_file = stat ~= nil and stat.type == 'file'
    if name and is_file and (ending == 'review' or #vim.fn.readfile(path, '', 2) > 1) then
      names[name] = true
    end
  end
  return vim.tbl_keys(names)
end

--- After the first screen: an interrupted turn is brought to rest in the background, and reviews are opened again.
--- What there was is said then.
function M.look()
  for _, session in ipairs(waiting()) do
    require('caliban.chat').looked[session] = true
    require('caliban.rpc').ask({ kind = 'look', session = session })
  end
end

--- A conversation was opened: what was under review in it is again.
---@param message caliban.SessionOpened
function M.reopen(message)
  if #message.reviews > 0 then
    require('caliban.reopen').take_up(message)
  end
end

return M
