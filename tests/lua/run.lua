--- Runs the `*_test.lua` files of this folder, each in a Neovim of its own: `nvim -l tests/lua/run.lua [name…]`. A test
--- file returns a table of functions.
local self = vim.fs.abspath(debug.getinfo(1, 'S').source:sub(2))
local here = vim.fs.dirname(self)
local only = vim.env.CALIBAN_TEST_FILE

local passed, failed = 0, 0

---@param name string
---@param test fun()
local function run(name, test)
  local ok, err = xpcall(test, debug.traceback)
  if ok then
    passed = passed + 1
  else
    failed = failed + 1
    io.stdout:write(('FAILED %s\n%s\n'):format(name, err))
  end
end

---@param file string
local function run_file(file)
  vim.opt.runtimepath:prepend(vim.fs.dirname(vim.fs.dirname(here)))
  vim.opt.swapfile = false
  package.path = here .. '/?.lua;' .. package.path
  local tests = dofile(file)
  for _, key in ipairs(vim.fn.sort(vim.tbl_keys(tests))) do
    run(vim.fs.basename(file) .. ': ' .. key, tests[key])
  end
  io.stdout:write(('%s: %d passed, %d failed\n'):format(vim.fs.basename(file), passed, failed))
end

if only then
  run_file(only)
  os.exit(failed == 0 and 0 or 1)
end
-- if a loader started Neovim, `progpath` is the path of the loader; then $NVIM has the path of
-- Neovim
local nvim = vim.env.NVIM and vim.fn.executable(vim.env.NVIM) == 1 and vim.env.NVIM
  or vim.v.progpath
for _, file in ipairs(vim.fn.sort(vim.fn.glob(here .. '/*_test.lua', true, true))) do
  if #arg == 0 or vim.list_contains(arg, vim.fn.fnamemodify(file, ':t:r')) then
    -- `luafile` and not `-l`: with `-l` Neovim would have no screen, and its windows no sizes
    local command = { nvim, '--clean', '--headless', '-c', 'luafile ' .. self }
    local options = { env = { CALIBAN_TEST_FILE = file, CALIBAN_TEST_NVIM = nvim }, text = true }
    local ended = vim.system(command, options):wait()
    io.stdout:write(ended.stdout)
    -- a Neovim that crashed has a signal
    if ended.code ~= 0 or ended.signal ~= 0 then
      failed = failed + 1
      io.stdout:write(ended.stderr .. '\n')
    end
  end
end
os.exit(failed == 0 and 0 or 1)
