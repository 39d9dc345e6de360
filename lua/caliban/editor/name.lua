--- Handles names of files, sessions and models literally. No function here expands wildcards,
--- variables or backticks, or runs a shell.
local M = {}

local api = vim.api

--- The absolute path, without `.`, `..` and doubled slashes. Does not resolve links.
---@param path string
---@return string
function M.absolute(path)
  if path == '' then
    return ''
  end
  local full = path:find('^/') and path or vim.fn.getcwd() .. '/' .. path
  return vim.fs.normalize(full, { expand_env = false })
end

--- The absolute path of a path that a user or a model wrote: `~/` is the home folder.
---@param path string
---@param folder? string where a relative path begins; default: the working directory
---@return string
function M.meant(path, folder)
  local home = path:find('^~/') and vim.env.HOME
  if home then
    return M.absolute(home .. path:sub(2))
  end
  local relative = folder and not path:find('^/')
  return M.absolute(relative and folder .. '/' .. path or path)
end

--- The path relative to a folder; absent if it is not below that folder.
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

---@param c string a control character
---@return string
local function spelt(c)
  return ('[U+%04X]'):format(c:byte(-1))
end

--- A text on one line, with control characters spelt out: `[U+000A]` for a line break.
---@param text string
---@return string
function M.shown(text)
  return (text:gsub('%c', spelt):gsub('\194[\128-\159]', spelt))
end

--- The name under which `:edit` lists a file: relative if it is below the working directory. A relative name that
--- begins with `~` or with a URL's scheme would mean something else to Neovim: such a file keeps its absolute path.
---@param path string absolute
---@return string
function M.listed(path)
  local below = M.below(vim.fn.getcwd(), path)
  local odd = below and (below == '.' or below:find('^~') or below:find('^%a[%w+.-]*:'))
  return below and not odd and below or path
end

--- A path to show to the user: relative if it is below the working directory, with control characters spelt out.
---@param path string
---@return string
function M.short(path)
  return M.shown(M.below(vim.fn.getcwd(), path) or path)
end

--- The buffer that has exactly this name.
---@param full string
---@param but? integer a buffer to leave out
---@return integer?
function M.buffer(full, but)
  for _, buf in ipairs(api.nvim_list_bufs()) do
    if buf ~= but and api.nvim_buf_get_name(buf) == full then
      return buf
    end
  end
end

--- A text, escaped for a 'statusline' or a 'winbar': a `%` in the text begins no item.
---@param text string
---@return string
function M.literal(text)
  return (M.shown(text):gsub('%%', '%%%%'))
end

--- Makes the value of a 'winbar' or a 'statusline'. `M.winbar` describes `format` and the texts.
---@param format string
---@param ... string
---@return string
local function filled(format, ...)
  local texts = vim.tbl_map(M.literal, { ... })
  return require('caliban.editor.icons').of(format:format(unpack(texts)))
end

--- Sets a window's 'winbar'. `format` is a 'statusline' value with `string.format` codes: `%%`
--- stands for `%`, `%s` for the next text. Texts are escaped, so that a `%` in them does not begin
--- a statusline item. Does not replace a winbar that the user or another plugin has set.
---@param win integer 0 for the current one
---@param format string
---@param ... string
---@return boolean # whether the winbar is set
function M.winbar(win, format, ...)
  local line = filled(format, ...)
  local last = vim.w[win].caliban_winbar ---@type { buf: integer, line: string }?
  local buf, now = api.nvim_win_get_buf(win), vim.wo[win].winbar
  if last and last.buf == buf and now ~= last.line and now ~= '' then
    return false
  elseif now ~= line then
    vim.wo[win][0].winbar = line
  end
  vim.w[win].caliban_winbar = { buf = buf, line = line }
  return true
end

--- Sets a window's 'statusline' from a format and texts like those of `winbar`, or clears it. Does
--- not replace a statusline of the user. Caliban's own statusline is recognised by its beginning
--- (`%=`), because Neovim may have restored it with the window options of a buffer that is shown
--- again.
---@param win integer
---@param format? string begins with `%%=`; nil clears the statusline
---@param ... string
---@return boolean # whether the statusline is Caliban's
function M.statusline(win, format, ...)
  local now = api.nvim_get_option_value('statusline', { scope = 'local', win = win })
  if now ~= '' and not vim.startswith(now, '%=') then
    return false
  end
  local line = format and filled(format, ...) or ''
  if now ~= line then
    vim.wo[win][0].statusline = line
  end
  return format ~= nil
end

--- The rows of the screen, from 0, that have a winbar or a statusline of Caliban's: the states and the keys.
---@return integer[]
function M.bars()
  local rows = {} ---@type integer[]
  for _, win in ipairs(api.nvim_tabpage_list_wins(0)) do
    local top, last = api.nvim_win_get_position(win)[1], vim.w[win].caliban_winbar
    local winbar = vim.wo[win].winbar
    if last and winbar ~= '' and winbar == last.line then
      rows[#rows + 1] = top
    end
    local line = api.nvim_get_option_value('statusline', { scope = 'local', win = win })
    if vim.startswith(line, '%=') and vim.o.laststatus < 3 then
      rows[#rows + 1] = top + api.nvim_win_get_height(win)
    end
  end
  return rows
end

--- The path with links resolved. The file need not exist.
---@param path string
---@return string
function M.real(path)
  local full = M.absolute(path)
  local folder = full
  while folder ~= '' do
    local found = vim.uv.fs_realpath(folder)
    if found then
      local rest = full:sub(#folder + 1)
      return found == '/' and rest ~= '' and rest or found .. rest
    end
    folder = folder:match('^(.*)/') or ''
  end
  return full
end

--- Why a file must not be changed by this name: links in the name lead to another file than `path`,
--- which the program has checked. A name without links is allowed even if it differs from `path`,
--- because then the user has renamed the buffer.
---@param path string the file's path when the program checked it, without links
---@param name? string another name of the file; default: the path
---@return string? # the end of a sentence
function M.strayed(path, name)
  local given = M.absolute(name or path)
  local real = M.real(given)
  return real ~= path and real ~= given and 'a symbolic link was put into its path' or nil
end

--- Gives a buffer the name of a file, as `:file` does. No character of the path has a meaning for Neovim.
---@param buf integer
---@param path? string default: the buffer gets no name
function M.give(buf, path)
  vim.api.nvim_buf_call(buf, function()
    local mods = { keepalt = true, silent = true }
    if path then
      vim.cmd({ cmd = 'file', args = { M.listed(path) }, mods = mods, magic = { file = false } })
    else
      vim.cmd({ cmd = 'file', range = { 0 }, mods = mods })
    end
  end)
end

return M
