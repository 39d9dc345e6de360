--- Asks the user for a line of text.
local M = {}

--- Asks with `vim.ui.input`, and then removes the prompt and the answer from the command line, where Neovim leaves them.
---@param opts { prompt: string, default?: string }
---@param done fun(text?: string) nil: the user has cancelled
function M.ask(opts, done)
  vim.ui.input(opts, function(text)
    vim.cmd("redraw | echo ''")
    done(text)
  end)
end

return M
