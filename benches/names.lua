-- Measures the Lua functions that make file names safe in the editor. benches/reach.rs runs this
-- file. It prints a line for each function: its name and its time in microseconds.
vim.opt.runtimepath:prepend(arg[1])
vim.o.directory = vim.fn.tempname() .. '//'
vim.fn.mkdir(vim.fn.fnamemodify(vim.o.directory, ':h'), 'p')

local TIMES = 20000
local hostile = '/tmp/`touch PWN`/$(touch PWN)/%{system("x")} # <afile> | *?[a-z]{b,c}.txt'

---@param what string
---@param fn fun()
local function measure(what, fn)
  fn()
  local start = vim.uv.hrtime()
  for _ = 1, TIMES do
    fn()
  end
  print(('%s\t%.2f'):format(what, (vim.uv.hrtime() - start) / 1000 / TIMES))
end

measure('a hostile name: its swap file', function()
  require('caliban.editor.swap').of(hostile)
end)
measure('a hostile name: where it leads', function()
  require('caliban.editor.name').real(hostile)
end)
measure('a hostile name: for a message', function()
  require('caliban.editor.name').shown(hostile)
end)
