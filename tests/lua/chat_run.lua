--- `nvim --clean --headless -c 'luafile tests/lua/chat_run.lua'`: runs the tests of the chat in this Neovim.
local here = vim.fs.dirname(vim.fs.abspath(debug.getinfo(1, 'S').source:sub(2)))
vim.opt.runtimepath:prepend(vim.fs.dirname(vim.fs.dirname(here)))
vim.o.columns, vim.o.lines = 200, 50
local failed, passed = 0, 0
for name, test in pairs(dofile(here .. '/chat_test.lua')) do
  if name:find(vim.env.ONLY or '') then
    local ok, err = xpcall(test, debug.traceback)
    failed, passed = failed + (ok and 0 or 1), passed + (ok and 1 or 0)
    if not ok then
      io.stdout:write(('not ok - %s\n%s\n'):format(name, err))
    end
  end
end
io.stdout:write(('%d passed, %d failed\n'):format(passed, failed))
vim.cmd.cquit({ count = failed > 0 and 1 or 0 })
