--- `:Caliban run`: carries out one prompt in a Neovim without a window, and quits Neovim with the exit code. The program
--- does the work as `caliban run` does; it gets the settings of this Neovim.
local M = {}

local uv = vim.uv

--- How long Neovim, which has to end, waits for the program, in milliseconds.
local ending = 5000

--- The options with a value.
---@type table<string, boolean?>
local valued = {
  ['--mode'] = true,
  ['--model'] = true,
  ['--agent'] = true,
  ['--limit-usd'] = true,
  ['--limit-tokens'] = true,
  ['--max-requests'] = true,
  ['--session'] = true,
  ['--cwd'] = true,
}
--- The options without a value.
---@type table<string, boolean?>
local flags = {
  ['--coordinator'] = true,
  ['--json'] = true,
  ['--ephemeral'] = true,
  ['--help'] = true,
  ['-h'] = true,
}

--- The options as a list, for completion.
M.options = vim.list_extend(vim.tbl_keys(valued), vim.tbl_keys(flags))
table.sort(M.options)

--- Splits the words after `:Caliban run`: options come first, the rest is the prompt as it was typed. Quotation marks
--- around the whole prompt are left out.
---@param text string
---@return string[]? arguments for the program; nil if an option is wrong
---@return string? why
function M.arguments(text)
  local out, rest = {}, text
  while rest:find('^%-') do
    local word, after = rest:match('^(%S+)%s*(.*)$') --[[@as string]]
    local name = word:match('^[^=]*') --[[@as string]]
    if word == '--' then
      rest = after
      break
    elseif valued[name] and name == word then
      local value, behind = after:match('^(%S+)%s*(.*)$')
      if not value then
        return nil, ('The value of %s is missing.'):format(name)
      end
      vim.list_extend(out, { name, value })
      rest = behind
    elseif flags[word] or valued[name] then
      out[#out + 1], rest = word, after
    else
      local hint = require('caliban.editor.nearest').hint(name, M.options)
      return nil, ("There is no option '%s'.%s"):format(name, hint)
    end
  end
  local prompt = rest:match('^"([^"]*)"$') or rest
  if prompt ~= '' then
    vim.list_extend(out, { '--', prompt })
  end
  return out
end

--- Quits Neovim. Changed buffers are not saved.
---@param code integer
local function quit(code)
  vim.cmd(('%dcquit'):format(code))
end

---@param why string
local function fail(why)
  io.stderr:write(('caliban: %s\n'):format(why))
  quit(2)
end

--- Starts the program. The program shares Neovim's standard output and standard error.
---@param path string
---@param arguments string[]
---@param done fun(code: integer)
---@return uv.uv_process_t?
local function spawn(path, arguments, done)
  local settings = vim.fn.json_encode(require('caliban.config').wire())
  local input = assert(uv.new_pipe())
  local process = uv.spawn(path, {
    args = vim.list_extend({ 'run', '--neovim' }, arguments),
    cwd = vim.fn.getcwd(),
    stdio = { input, 1, 2 },
    -- a process group of its own: a signal to Neovim's group reaches the program once, through
    -- `stop`
    detached = true,
  }, function(code, signal)
    done(signal > 0 and 128 + signal or code)
  end)
  -- the pipe stays open: the program stops the turn when the pipe closes, also because Neovim is
  -- killed
  input:write(settings .. '\n')
  return process
end

--- Runs a prompt to its end.
---@param text string the words after `:Caliban run`
function M.run(text)
  if #vim.api.nvim_list_uis() > 0 then
    local say = require('caliban.editor.notify').show
    local help =
      ':Caliban run is for scripts, in a Neovim without a window: :help caliban-run-nvim.'
    return say(help .. ' Here, type the message in the chat.', vim.log.levels.WARN)
  end
  local arguments, why = M.arguments(text)
  if not arguments then
    return fail(why --[[@as string]])
  end
  local path, missing = require('caliban.program.process').path()
  if not path then
    return fail(missing --[[@as string]])
  end
  local result ---@type integer?
  local process = spawn(path, arguments, function(code)
    result = code
  end)
  if not process then
    return fail(('%s could not be started.'):format(path))
  end
  local is_stopped = false
  -- a second signal would end the program at once; Neovim 0.12 also leaves by itself after an interrupt
  local function stop()
    if not is_stopped then
      is_stopped = true
      process:kill('sigterm')
    end
  end
  local interrupt = assert(uv.new_signal())
  interrupt:start('sigint', stop)
  local leaving = vim.api.nvim_create_autocmd('VimLeavePre', {
    callback = function()
      stop()
      if vim.v.dying > 0 then
        -- Neovim would leave with an exit code of its own, and before the program has said what it did
        vim.wait(ending, function()
          return result ~= nil
        end, 10)
        os.exit(result or 1)
      end
    end,
  })
  while not result do
    vim.wait(1000, function()
      return result ~= nil
    end, 10)
  end
  vim.api.nvim_del_autocmd(leaving)
  interrupt:close()
  quit(result --[[@as integer]])
end

return M
