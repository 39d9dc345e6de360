--- Excerpts of buffers as context for a message: selections, ranges or whole buffers, with unsaved changes.
local M = {}

local api = vim.api

--- The name of a buffer as the user would write it: relative to the project, or with `~`.
---@param buf integer
---@return string
function M.path(buf)
  local name = api.nvim_buf_get_name(buf)
  if name == '' then
    return '[No Name]'
  end
  local plain = require('caliban.editor.file').ordinary(buf) or vim.bo[buf].buftype == 'help'
  if not plain or name:find('^%a+://') then
    return name
  end
  local names = require('caliban.editor.name')
  return names.below(require('caliban.program.project').root(), name) or names.tilde(name)
end

---@param buf integer
---@param lines? [integer, integer]
---@param text string[]
---@param kind 'file'|'selection'
---@return caliban.Excerpt
local function excerpt(buf, lines, text, kind)
  return {
    path = M.path(buf),
    lines = lines,
    filetype = vim.bo[buf].filetype,
    kind = kind,
    text = table.concat(text, '\n'),
  }
end

---@param buf integer
---@param first integer
---@param last integer
---@return caliban.Excerpt
local function whole_lines(buf, first, last)
  local text = api.nvim_buf_get_lines(buf, first - 1, last, false)
  return excerpt(buf, { first, last }, text, 'selection')
end

--- The text of a visual block that was extended to the ends of its lines by `$`. getregion() would
--- cut the lines at the cursor's column.
---@param from [integer, integer] line and column
---@param to [integer, integer]
---@return string[]
local function ragged(from, to)
  local left = math.min(vim.fn.virtcol(from, true)[1], vim.fn.virtcol(to, true)[1]) ---@as integer
  local first, last = math.min(from[1], to[1]), math.max(from[1], to[1])
  local text = {}
  for lnum = first, last do
    local line = api.nvim_buf_get_lines(0, lnum - 1, lnum, false)[1]
    local reaches = vim.fn.virtcol({ lnum, '$' }) > left
    local col = reaches and vim.fn.virtcol2col(0, lnum, left) or #line + 1
    table.insert(text, line:sub(col))
  end
  return text
end

--- The text between two positions of the current buffer, as visual mode would select it.
---@param from integer[] as getpos() returns it
---@param to integer[]
---@param mode string 'v', 'V' or CTRL-V
---@param exclusive? boolean whether to leave out the last character; default: as 'selection' says
---@param to_ends? boolean whether a block goes to the ends of its lines
---@return caliban.Excerpt
local function region(from, to, mode, exclusive, to_ends)
  local text
  if to_ends and mode == '\22' then
    text = ragged({ from[2], from[3] }, { to[2], to[3] })
  else
    text = vim.fn.getregion(from, to, { type = mode, exclusive = exclusive })
  end
  local lines = { math.min(from[2], to[2]), math.max(from[2], to[2]) }
  return excerpt(api.nvim_get_current_buf(), lines, text, 'selection')
end

--- The current selection; nil outside of visual mode.
---@return caliban.Excerpt?
function M.visual()
  local mode = vim.fn.mode()
  if not mode:find('^[vV\22]') then
    return nil
  end
  local to_ends = vim.fn.getcurpos()[5] == vim.v.maxcol
  return region(vim.fn.getpos('v'), vim.fn.getpos('.'), mode, nil, to_ends)
end

--- Whether the last visual block was extended to the ends of its lines by `$`. To find out, the
--- block has to be selected again.
---@return boolean
local function went_to_ends()
  local view = vim.fn.winsaveview()
  vim.cmd('noautocmd normal! gv')
  local ends = vim.fn.getcurpos()[5] == vim.v.maxcol
  vim.cmd('noautocmd normal! \27')
  vim.fn.winrestview(view)
  return ends
end

--- The excerpt for the range of a command in the current buffer: the last selection in its exact
--- shape if the range is `'<,'>`, otherwise whole lines.
---@param first integer
---@param last integer
---@param visual boolean whether the range was written as '<,'>
---@return caliban.Excerpt
function M.range(first, last, visual)
  local from, to = vim.fn.getpos("'<"), vim.fn.getpos("'>")
  local mode = vim.fn.visualmode()
  if not visual or mode == '' or from[2] ~= first or to[2] ~= last then
    return whole_lines(api.nvim_get_current_buf(), first, last)
  end
  return region(from, to, mode, nil, mode == '\22' and went_to_ends())
end

--- The last visual selection of a buffer, even if another buffer is the current one.
---@param buf integer
---@param win integer a window that had the buffer
---@param fitting fun(first: integer, last: integer): integer the last row within the size limit
---@return { text: string, lines: [integer, integer], total: integer }? # nil if there is none
function M.selected(buf, win, fitting)
  local is_shown = api.nvim_win_is_valid(win) and api.nvim_win_get_buf(win) == buf
  local function read()
    local mode, from, to = vim.fn.visualmode(), vim.fn.getpos("'<"), vim.fn.getpos("'>")
    if mode == '' or from[2] == 0 or to[2] > api.nvim_buf_line_count(buf) then
      return nil
    end
    local total, last = to[2] - from[2] + 1, fitting(from[2], to[2])
    if last < to[2] then
      to = { 0, last, #api.nvim_buf_get_lines(buf, last - 1, last, false)[1], 0 }
    end
    -- in other modes, selecting the block again would disturb the user's typing
    local to_ends = mode == '\22' and is_shown and vim.fn.mode() == 'n' and went_to_ends()
    local found = region(from, to, mode, nil, to_ends)
    return { text = found.text, lines = found.lines, total = total }
  end
  if is_shown then
    return api.nvim_win_call(win, read)
  end
  return api.nvim_buf_call(buf, read)
end

--- The text that an operator's motion has covered.
---@param kind 'line'|'char'|'block'
---@return caliban.Excerpt
function M.motion(kind)
  local mode = ({ line = 'V', char = 'v', block = '\22' })[kind]
  return region(vim.fn.getpos("'["), vim.fn.getpos("']"), mode, false)
end

---@class caliban.AddOpts
---@field buf? integer
---@field range? [integer, integer] lines, from 1

--- A range of a buffer, or all of it. Without `opts`: the selection in visual mode, else the current buffer or, from a chat,
--- the buffer that was used last outside of the chats.
---@param opts? caliban.AddOpts
---@return caliban.Excerpt? # nil if there is no buffer outside of the chats
function M.of(opts)
  opts = opts or {}
  local buf = opts.buf or api.nvim_get_current_buf()
  if opts.range then
    return whole_lines(buf, opts.range[1], opts.range[2])
  end
  local selection = not opts.buf and M.visual()
  if not selection and not opts.buf and require('caliban.chat.chats').of(buf) then
    local outside = require('caliban.chat.outside').last()
    if not outside then
      return nil
    end
    buf = outside.buf
  end
  return selection or excerpt(buf, nil, api.nvim_buf_get_lines(buf, 0, -1, false), 'file')
end

return M
