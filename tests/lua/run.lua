--- Runs the tests of reviews: `nvim --clean -l tests/lua/run.lua [name…]`. A test file returns a table of functions.
local here = vim.fn.fnamemodify(debug.getinfo(1, 'S').source:sub(2), ':p:h')
local root = vim.fn.fnamemodify(here, ':h:h')
vim.opt.runtimepath:prepend(root)
vim.opt.swapfile = false
package.path = here .. '/?.lua;' .. package.path

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

local wanted = #arg > 0 and arg or { 'arrive_test', 'buffers_test', 'laws_test', 'review_test' }
for _, name in ipairs(wanted) do
  local tests = dofile(('%s/%s.lua'):format(here, name))
  for _, key in ipairs(vim.fn.sort(vim.tbl_keys(tests))) do
    run(name .. ': ' .. key, tests[key])
  end
end
io.stdout:write(('%d passed, %d failed\n'):format(passed, failed))
os.exit(failed == 0 and 0 or 1)
