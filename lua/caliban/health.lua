--- `:checkhealth caliban`: reports what works, what is missing, and what to do about it.
local M = {}

local names = require('caliban.editor.name')

local health = vim.health

--- How long to wait for the program's version, in milliseconds.
local PATIENCE = 3000

--- The providers and the environment variables of their keys, in the program's order
--- (src/provider/endpoint/table.rs).
local keys = {
  { 'anthropic', 'ANTHROPIC_API_KEY' },
  { 'openai', 'OPENAI_API_KEY' },
  { 'gemini', 'GEMINI_API_KEY' },
  { 'openrouter', 'OPENROUTER_API_KEY' },
  { 'groq', 'GROQ_API_KEY' },
  { 'deepseek', 'DEEPSEEK_API_KEY' },
  { 'mistral', 'MISTRAL_API_KEY' },
  { 'xai', 'XAI_API_KEY' },
  { 'together', 'TOGETHER_API_KEY' },
  { 'cerebras', 'CEREBRAS_API_KEY' },
  { 'fireworks', 'FIREWORKS_API_KEY' },
  { 'moonshot', 'MOONSHOT_API_KEY' },
  { 'zai', 'ZAI_API_KEY' },
  { 'nvidia', 'NVIDIA_API_KEY' },
  { 'huggingface', 'HF_TOKEN' },
  { 'azure', 'AZURE_OPENAI_API_KEY' },
}

--- The providers that need a key, and the providers in the user's settings.
---@return string[]
function M.keyed()
  local names = vim.tbl_map(function(pair)
    return pair[1]
  end, keys)
  for name in vim.spairs(require('caliban.config').get().providers or {}) do
    if not vim.list_contains(names, name) then
      table.insert(names, name)
    end
  end
  return names
end

---@param name string
---@return boolean
local function is_set(name)
  return vim.trim(vim.env[name] or '') ~= ''
end

local function neovim()
  health.start('Neovim')
  local v = vim.fn.api_info().version ---@as table<string, integer>
  local name = ('%d.%d.%d'):format(v.major, v.minor, v.patch)
  if vim.fn.has('nvim-0.11') == 1 then
    health.ok(name)
  else
    health.error(name .. ': Caliban needs 0.11 or newer.')
  end
end

---@param path string
---@return string? version, string? why
local function version_of(path)
  local ok, ran = pcall(vim.system, { path, '--version' }, { text = true, timeout = PATIENCE })
  if not ok then
    return nil, tostring(ran)
  end
  local done = ran:wait()
  local version = (done.stdout or ''):match('^caliban (%S+)')
  return version, not version and ('it ended with exit code %d'):format(done.code) or nil
end

---@param report caliban.Report
local function program(report)
  health.start('The program')
  if not report.path then
    health.error(report.missing or '')
    return
  end
  health.info(names.tilde(report.path))
  local own = require('caliban.version')
  local version, why = version_of(report.path)
  if not version then
    health.error(
      ('The program does not report its version: %s.'):format(why),
      "Run: cargo build --release in the plugin's folder"
    )
  elseif version ~= own then
    local say = 'The program is version %s, but the plugin is version %s.'
    health.error(
      say:format(version, own),
      "Run: cargo build --release in the plugin's folder, then :Caliban restart"
    )
  else
    health.ok(('version %s, the same as the plugin'):format(version))
  end
  if report.ended then
    health.warn(report.ended)
  elseif report.welcome then
    health.ok('running')
  else
    health.info(report.running and 'starting' or 'not running: the first :Caliban starts it')
  end
  local stderr = vim.trim(table.concat(report.stderr, '\n'))
  if stderr ~= '' then
    health.warn("The program's last messages:\n" .. stderr)
  end
end

local function settings()
  health.start('Settings')
  local config = require('caliban.config')
  local problems = config.problems()
  for _, problem in ipairs(problems) do
    health.error((problem:gsub('^caliban: ', '')))
  end
  if #problems == 0 then
    health.ok('no problems')
  end
  local signs = require('caliban.editor.icons').of('▸ ▾ ● ○ ✓ ┃ •')
  health.info(
    ("icons: %s (%s); if they look wrong, set `icons` to 'ascii'"):format(config.get().icons, signs)
  )
  local file = config.get().system_file
  if file and not file:find('^[/~]') then
    file = vim.fs.joinpath(require('caliban.program.project').root(), file)
  end
  if file and vim.fn.filereadable(vim.fs.normalize(file)) == 0 then
    health.error(('system_file: %s cannot be read.'):format(file))
  end
end

--- Reports the names of the environment variables that commands do not get, never their values.
---@param path string? the program's executable
local function withheld(path)
  local passed = require('caliban.config').get().pass_env
  local command = vim.list_extend({ path or '', 'withheld' }, passed)
  local ok, ran = pcall(vim.system, command, { text = true, timeout = PATIENCE })
  local done = ok and ran:wait() or nil
  if not path or not done or done.code ~= 0 then
    return
  end
  local names = vim.split(vim.trim(done.stdout or ''), '\n', { trimempty = true })
  table.sort(names)
  if #names > 0 then
    health.info('withheld from commands: ' .. table.concat(names, ', '))
  end
  if #passed > 0 then
    health.info('passed on to commands by pass_env: ' .. table.concat(passed, ', '))
  end
end

--- Lets the program try, inside the sandbox, the actions that commands must not be able to do, and
--- reports the results.
---@param path string? the program's executable
local function sandbox(path)
  health.start('Sandbox')
  if not require('caliban.config').get().sandbox then
    return health.warn('turned off in the settings: commands run with all your rights')
  end
  local command = { path or '', 'sandbox-check' }
  local ok, ran = pcall(vim.system, command, { text = true, timeout = PATIENCE })
  local done = ok and ran:wait() or nil
  if not path or not done or done.code ~= 0 then
    return health.warn('The program could not test the sandbox.')
  end
  local said = vim.trim(done.stdout or '')
  if said == '' then
    return health.warn('This system has no sandbox: commands run with all your rights.')
  end
  for line in vim.gsplit(said, '\n') do
    local verdict, text = line:match('^(%a+)\t(.*)$')
    if verdict == 'strength' then
      health.info(text == 'full' and 'namespaces, Landlock and seccomp' or 'Landlock and seccomp')
    elseif verdict and text then
      health[verdict == 'holds' and 'ok' or 'warn'](text)
    end
  end
end

--- The most bytes of an instruction file that the model gets (src/context/instructions.rs).
local LIMIT = 32 * 1024

--- Reports the instruction files of a new conversation.
local function instructions()
  health.start('Instructions')
  if not require('caliban.config').get().instructions then
    health.info('turned off in the settings')
    return
  end
  local root = require('caliban.program.project').root()
  local folders = { vim.uv.fs_realpath(vim.fn.getcwd()) or vim.fn.getcwd() }
  for folder in vim.fs.parents(folders[1]) do
    if names.below(root, folder) then
      table.insert(folders, 1, folder)
    end
  end
  table.insert(folders, 1, require('caliban.program.project').folder('XDG_CONFIG_HOME', '.config'))
  local found = false
  for _, folder in ipairs(folders) do
    local path ---@type string?
    for _, name in ipairs({ 'CLAUDE.md', 'AGENTS.md', 'AGENTS.override.md' }) do
      local file = vim.fs.joinpath(folder, name)
      path = vim.uv.fs_stat(file) and file or path
    end
    if path then
      found = true
      local size = vim.fn.getfsize(path)
      local shown = names.tilde(path)
      if vim.fn.filereadable(path) == 0 then
        health.warn(shown .. ' cannot be read.')
      elseif size > LIMIT then
        health.warn(
          ('%s is %d kB long: the model gets only the first 32 kB.'):format(shown, size / 1024)
        )
      else
        health.ok(('%s, %s'):format(shown, require('caliban.editor.count').of(size, 'byte')))
      end
    end
  end
  if not found then
    health.info('No AGENTS.md: see :help caliban-instructions')
  end
end

---@param provider string
---@param key? string as written in the settings
local function own_key(provider, key)
  local variable = key and key:match('^env:%s*(.-)%s*$')
  if not key or key == '' or key == 'none' then
    health.ok(provider .. ': no key needed')
  elseif variable and is_set(variable) then
    health.ok(('%s: key from %s'):format(provider, variable))
  elseif variable then
    health.warn(('%s: %s is not set'):format(provider, variable))
  elseif key:find('^cmd:') then
    health.ok(provider .. ': key from a command, run when it is needed')
  else
    health.error(provider .. ': write its key as `env:NAME` or `cmd:COMMAND`')
  end
end

--- For each provider whose key the user entered by `/connect`, where the key is stored.
---@return table<string, string>
local function stored_keys()
  local data = require('caliban.program.project').folder('XDG_DATA_HOME', '.local/share')
  local file = vim.fs.joinpath(data, 'keys.json')
  local ok, entries = pcall(function()
    return vim.json.decode(require('caliban.editor.disk').read(file) or '')
  end)
  local places = {}
  for name, key in pairs(ok and type(entries) == 'table' and entries or {}) do
    places[name] = key == vim.NIL and "the system's keyring" or names.tilde(file)
  end
  return places
end

local function model()
  health.start('The model')
  local config = require('caliban.config').get()
  local current = require('caliban').state().model
  local chosen = config.model or vim.env.CALIBAN_MODEL
  if current then
    health.ok('in the chat: ' .. current)
  end
  if chosen and vim.trim(chosen) ~= '' then
    local where = config.model and 'the settings' or 'CALIBAN_MODEL'
    health.ok(('for new sessions: %s, from %s'):format(chosen, where))
  end
  local own = config.providers or {}
  local found = 0
  for name, provider in vim.spairs(own) do
    found = found + 1
    own_key(name, provider.key)
  end
  for _, pair in ipairs(keys) do
    if not own[pair[1]] and is_set(pair[2]) then
      found = found + 1
      health.ok(('%s: key from %s'):format(pair[1], pair[2]))
    end
  end
  for name, place in vim.spairs(stored_keys()) do
    found = found + 1
    health.ok(('%s: key stored in %s'):format(name, place))
  end
  if found == 0 then
    local used = config.probe
        and 'a model server on this machine, or the offline tour if there is none'
      or 'the offline tour'
    health.warn('No key is set: Caliban uses ' .. used .. '.', 'See :help caliban-models')
  end
end

--- Reports, for each model, how many of its edits fitted at the first try.
local function edits()
  local data = require('caliban.program.project').folder('XDG_DATA_HOME', '.local/share')
  local ok, models = pcall(function()
    local file = vim.fs.joinpath(data, 'edits.json')
    return vim.json.decode(require('caliban.editor.disk').read(file) or '')
  end)
  if not ok or type(models) ~= 'table' or not next(models) then
    return
  end
  health.start('Edits that matched on the first try')
  for name, formats in vim.spairs(models) do
    for format, count in vim.spairs(formats) do
      local fitted = tonumber(count.fitted) or 0
      local total = fitted + (tonumber(count.missed) or 0)
      local share = math.floor(100 * fitted / math.max(total, 1))
      health.info(('%s, %s: %d of %d (%d %%)'):format(name, format, fitted, total, share))
    end
  end
end

local function sessions()
  health.start('Sessions')
  local data = require('caliban.program.project').folder('XDG_DATA_HOME', '.local/share')
  local folder = vim.fs.joinpath(data, 'sessions')
  local shown = names.tilde(folder)
  local there = folder
  while not vim.uv.fs_stat(there) and vim.fs.dirname(there) ~= there do
    there = vim.fs.dirname(there)
  end
  if vim.fn.filewritable(there) > 0 then
    health.ok(shown .. (there == folder and '' or ' (created when needed)'))
  else
    health.error(
      ('%s cannot be written: conversations are not saved.'):format(shown),
      ('Make %s writable.'):format(there)
    )
  end
end

local function other_programs()
  health.start('Other programs')
  if vim.fn.executable('bash') == 1 then
    health.ok('bash: runs commands')
  else
    health.warn('No bash: commands run with sh.')
  end
  if vim.fn.executable('git') == 1 then
    health.ok('git')
  else
    health.info('No git: Caliban works without git, but the model may need it.')
  end
  local usable, seen = {}, {}
  for _, path in ipairs(vim.api.nvim_get_runtime_file('parser/*.*', true)) do
    local name = vim.fs.basename(path):gsub('%.[^.]*$', '')
    if not seen[name] then
      seen[name] = true
      local ok, loaded = pcall(vim.treesitter.language.add, name)
      local found, query = pcall(vim.treesitter.query.get, name, 'highlights')
      if ok and loaded and found and query then
        table.insert(usable, name)
      end
    end
  end
  table.sort(usable)
  if #usable > 0 then
    health.ok('code in the chat is highlighted for: ' .. table.concat(usable, ', '))
  else
    health.info("No Treesitter parsers: only Neovim's syntax files highlight code in the chat.")
  end
end

function M.check()
  local report = require('caliban.program.process').report()
  neovim()
  program(report)
  settings()
  withheld(report.path)
  sandbox(report.path)
  instructions()
  model()
  edits()
  sessions()
  other_programs()
end

return M
