-- The configuration of the integration tests: this plugin and the test's own settings.
vim.opt.runtimepath:prepend(vim.env.KIT_ROOT)
vim.o.termguicolors = true
-- Without this, Neovim starts every Python interpreter on $PATH when it opens a Python file.
vim.g.loaded_python3_provider = 0

--- Gives each of Caliban's highlight groups a colour of its own, so that a colour on the screen identifies the group.
function _G.KitNameGroups()
  for i, name in ipairs(vim.fn.getcompletion('Caliban', 'highlight')) do
    vim.api.nvim_set_hl(0, name, { fg = i, bg = 0x100000 + i })
  end
end
vim.api.nvim_create_autocmd('VimEnter', {
  callback = function()
    -- a test of colours keeps those of the scheme
    if not vim.g.kit_colours then
      _G.KitNameGroups()
    end
  end,
})

dofile(vim.env.KIT_SETUP)
