--- The user's own formatters for a file that no language server formats: those of conform.nvim, else 'formatprg'. Only
--- names their commands; the program runs them.
local M = {}

--- Quotes a word for a command line, if necessary.
---@param word string
---@return string
local function quoted(word)
  if word:find('^[%w_%-%./:,@+=]+$') then
    return word
  end
  return "'" .. word:gsub("'", "'\\''") .. "'"
end

---@param path string
---@return string # the path below the current folder, if the file is there
local function relative(path)
  local root = vim.fn.getcwd() .. '/'
  return vim.startswith(path, root) and path:sub(#root + 1) or path
end

--- The placeholders that conform.nvim replaces in a formatter's arguments, and their values.
---@param path string
---@return table<string, string>
local function names(path)
  return {
    ['$FILENAME'] = path,
    ['$DIRNAME'] = vim.fs.dirname(path),
    ['$RELATIVE_FILEPATH'] = relative(path),
    ['$EXTENSION'] = path:match('.*%.([^./]+)$') or '',
  }
end

--- Applies the modifiers of a `%` in 'formatprg' to a path, such as `:p` (see
--- |filename-modifiers|).
---@param path string
---@param modifiers string
---@return string
local function modified(path, modifiers)
  local out = relative(path)
  for letter in modifiers:gmatch(':(%a)') do
    out = letter == 'p' and path
      or letter == 'h' and vim.fs.dirname(out)
      or letter == 't' and vim.fs.basename(out)
      or letter == 'r' and (out:gsub('([^/])%.[^./]*$', '%1'))
      or letter == 'e' and (out:match('[^/]%.([^./]*)$') or '')
      or out
  end
  return out
end

---@param text string
---@param all table<string, string>
---@param change fun(word: string): string
---@return string
local function filled(text, all, change)
  return (text:gsub('%$[A-Z_]+', function(name)
    return all[name] and change(all[name])
  end))
end

---@generic T
---@param value T|fun(self: table, ctx: table): T
---@param config table
---@param ctx table
---@return T
local function evaluated(value, config, ctx)
  if type(value) == 'function' then
    return value(config, ctx)
  end
  return value
end

--- The command of a formatter of conform.nvim.
---@param info { name: string, command: string, cwd?: string }
---@param config table
---@param buf integer
---@return caliban.Filter? step
---@return string? why it cannot be used
local function step(info, config, buf)
  local path = vim.api.nvim_buf_get_name(buf)
  local all, shiftwidth = names(path), vim.fn.shiftwidth()
  local ctx = { buf = buf, filename = path, dirname = all['$DIRNAME'], shiftwidth = shiftwidth }
  if config.format then
    return nil, ('%s is a Lua function'):format(info.name)
  elseif config.stdin == false then
    return nil, ('%s formats files on disk, not standard input'):format(info.name)
  end
  local args = evaluated(config.args, config, ctx) or {}
  local words = { quoted(info.command) } ---@type string[]
  if type(args) == 'string' then
    words[2] = filled(args, all, quoted)
  else
    for _, word in ipairs(args) do
      words[#words + 1] = quoted(filled(word, all, tostring))
    end
  end
  for name, value in vim.spairs(evaluated(config.env, config, ctx) or {}) do
    table.insert(words, 1, ('%s=%s'):format(name, quoted(tostring(value))))
  end
  local line = table.concat(words, ' ')
  if info.cwd and info.cwd ~= vim.fn.getcwd() then
    line = ('(cd %s && %s)'):format(quoted(info.cwd), line)
  end
  return { line = line, codes = config.exit_codes or { 0 } }
end

--- The formatters of conform.nvim for a buffer.
---@param buf integer
---@return caliban.Filter[]? steps
---@return string? why they cannot be used
local function of_conform(buf)
  require('caliban.editor.modules').keep_out()
  local there, conform = pcall(require, 'conform')
  if not there then
    return nil
  end
  local steps, list = {}, conform.list_formatters_to_run(buf)
  for _, info in ipairs(list) do
    local config = conform.get_formatter_config(info.name, buf) or {}
    local one, why = step(info, config, buf)
    if not one then
      return nil, why
    end
    steps[#steps + 1] = one
  end
  if #steps > 0 then
    return steps
  end
  for _, name in ipairs(conform.list_formatters_for_buffer(buf)) do
    local info = conform.get_formatter_info(name, buf)
    if not info.available then
      return nil, ('%s is not available: %s'):format(name, tostring(info.available_msg))
    end
  end
end

--- The command of 'formatprg', with the file's name in the place of `%`, as when Neovim runs it.
---@param buf integer
---@return caliban.Filter?
local function of_option(buf)
  local own = vim.bo[buf].formatprg
  local line = own ~= '' and own or vim.go.formatprg
  if line == '' then
    return nil
  end
  local path = vim.api.nvim_buf_get_name(buf)
  line = line:gsub('(\\*)%%([:%a]*)', function(escape, modifiers)
    if escape ~= '' then
      return escape:sub(2) .. '%' .. modifiers
    end
    return quoted(modified(path, modifiers))
  end)
  return { line = line, codes = { 0 } }
end

--- The formatters of the user for a buffer.
---@param buf integer
---@return caliban.Formatter? formatter
---@return string? why conform.nvim cannot be used, as the end of a sentence
function M.find(buf)
  local ms = require('caliban.config').get().lsp.request_ms
  local ok, steps, why = pcall(of_conform, buf)
  if not ok then
    steps, why = nil, require('caliban.editor.file').reason(steps)
  end
  if steps then
    return { steps = steps, takes_lines = false, ms = ms }
  elseif why then
    return nil, why
  end
  local one = of_option(buf)
  return one and { steps = { one }, takes_lines = true, ms = ms } or nil
end

return M
