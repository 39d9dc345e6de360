--- Names of files, sessions and models as plain bytes: made absolute, compared, found among the buffers, shown. Nothing
--- here knows a wildcard, a variable or a backtick, and nothing asks a shell.
local M = {}

local api = vim.api

--- The absolute path, without `.`, `..` and doubled slashes. Links stay.
---@param path string
---@return string
function M.absolute(path)
  if path == '' then
    return ''
  end
  local full = path:find('^/') and path or vim.fn.getcwd() .. '/' .. path
  return vim.fs.normalize(full, { expand_env = false })
end

--- The absolute path that a user or a model means: `~/` is the home folder.
---@param path string
---@param folder? string where a relative path begins; else the working directory
---@return string
function M.meant(path, folder)
  local home = path:find('^~/') and vim.env.HOME
  if home then
    return M.absolute(home .. path:sub(2))
  end
  local relative = folder and not path:find('^/')
  return M.absolute(relative and folder .. '/' .. path or path)
end

--- The path as it is written from a folder; absent where it does not lie in it.
---@param folder string
---@param path string
---@return string?
function M.below(folder, path)
  if path == folder then
    return '.'
  end
  local start = folder == '/' and '/' or folder .. '/'
  return vim.startswith(path, start) and path:sub(#start + 1) or nil
end

--- The path with `~` for the home folder.
---@param path string
---@return string
function M.tilde(path)
  local home = vim.env.HOME ---@as string?
  local below = home and home ~= '' and M.below(home, path)
  return below and (below == '.' and '~' or '~/' .. below) or path
end

--- A text on one line, its control characters shown as `?`.
---@param text string
---@return string
function M.shown(text)
  return (text:gsub('%c', '?'))
end

--- A path for the user's eyes: relative where it lies below the working directory.
---@param path string
---@return string
function M.short(path)
  return M.shown(M.below(vim.fn.getcwd(), path) or path)
end

--- The buffer that has exactly this name.
---@param full string
---@param but? integer a buffer that is not meant
---@return integer?
function M.buffer(full, but)
  for _, buf in ipairs(api.nvim_list_bufs()) do
    if buf ~= but and api.nvim_buf_get_name(buf) == full then
      return buf
    end
  end
end

--- Sets the line above a window. The texts go into the format, a 'statusline' in which `%%` stands for `%`, as they
--- are: none of their characters is an item.
---@param win integer 0 for the current one
---@param format string
---@param ... string
function M.winbar(win, format, ...)
  local texts = vim.tbl_map(function(text)
    return (M.shown(text):gsub('%%', '%%%%'))
  end, { ... })
  local line = format:format(unpack(texts))
  if vim.wo[win].winbar ~= line then
    vim.wo[win][0].winbar = line
  end
end

return M
