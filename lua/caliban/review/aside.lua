--- Buffers with the text of a file that is gone, while another file is renamed to its name. They keep their text without
--- a name, and get the name back if the renaming is taken back.
local M = {}

local api = vim.api
local file = require('caliban.editor.file')
local names = require('caliban.editor.name')
local remains = require('caliban.review.remains')

local aside = {} ---@type table<string, integer> by path

--- Removes a buffer with this path that is not loaded, because otherwise Neovim would not give the name to another
--- buffer.
---@param path string
function M.free(path)
  local buf = file.find(path)
  if buf and not api.nvim_buf_is_loaded(buf) then
    pcall(api.nvim_buf_delete, buf, { force = true })
  end
end

--- Takes its name away from a buffer. Its windows show another buffer then. A buffer with a proposal of the model's is
--- closed.
---@param buf integer
---@param path string
---@param other integer
function M.step(buf, path, other)
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    pcall(api.nvim_win_set_buf, win, other)
  end
  if remains.are_models(buf) or not pcall(names.give, buf) then
    pcall(api.nvim_buf_delete, buf, { force = true })
    return
  end
  aside[path] = buf
  vim.bo[buf].buflisted = true
  local what =
    'Buffer %d, without a name, has the text that %s had: the file was gone, and another one has its name.'
  require('caliban.editor.notify').show(what:format(buf, file.short(path)))
end

--- Gives the buffer its name back, if there is one.
---@param path string
function M.back(path)
  local buf = aside[path] ---@type integer?
  aside[path] = nil
  if buf and api.nvim_buf_is_loaded(buf) and api.nvim_buf_get_name(buf) == '' then
    M.free(path)
    if pcall(names.give, buf, path) then
      file.adopt(buf)
    end
  end
end

return M
