--- Tells the program what the user has in the editor, for mentions such as `@buffer` and
--- `@selection`.
local M = {}

local api = vim.api

--- The most bytes of a text, the most entries of a list, and the most bytes of an entry.
local BYTES, ENTRIES, ENTRY = 256 * 1024, 2000, 2000

--- Describes a buffer, without its text.
---@param buf integer
---@return caliban.Thing
local function about(buf)
  local name = api.nvim_buf_get_name(buf)
  local is_file = name:find('^/') ~= nil and require('caliban.editor.file').ordinary(buf)
  return { name = name, is_file = is_file, filetype = vim.bo[buf].filetype }
end

--- The last row of a text that begins at row `first` and has at most `BYTES` bytes; at least
--- `first`.
---@param buf integer
---@param first integer from 1
---@param last integer
---@return integer
local function fitting(buf, first, last)
  local start = api.nvim_buf_get_offset(buf, first - 1)
  local low, high = first, last
  while low < high do
    local middle = math.ceil((low + high) / 2)
    if api.nvim_buf_get_offset(buf, middle) - start <= BYTES then
      low = middle
    else
      high = middle - 1
    end
  end
  return low
end

---@param text string
---@return string # at most one byte more than may be sent, so that the program sees that the text is too long
local function clipped(text)
  return text:sub(1, BYTES + 1)
end

---@return caliban.Scene
local function no_buffer()
  return { why = 'No buffer is open beside the chat.' }
end

---@return caliban.Scene
local function buffer()
  local found = require('caliban.chat.outside').last()
  if not found then
    return no_buffer()
  end
  local buf = found.buf
  local it = about(buf)
  if not it.is_file then
    local total = api.nvim_buf_line_count(buf)
    local count = fitting(buf, 1, total)
    it.text = clipped(table.concat(api.nvim_buf_get_lines(buf, 0, count, false), '\n'))
    it.total = total
  end
  return { things = { it } }
end

---@return caliban.Scene
local function buffers()
  local infos = vim.fn.getbufinfo({ buflisted = 1, bufloaded = 1 })
  local rank = {} ---@type table<integer, integer>
  for _, info in ipairs(infos) do
    rank[info.bufnr] = require('caliban.chat.outside').rank(info.bufnr)
  end
  table.sort(infos, function(a, b)
    if rank[a.bufnr] ~= rank[b.bufnr] then
      return rank[a.bufnr] > rank[b.bufnr]
    end
    return a.lastused > b.lastused or a.lastused == b.lastused and a.bufnr < b.bufnr
  end)
  local scene = { things = {}, more = 0 }
  for _, info in ipairs(infos) do
    local it = about(info.bufnr)
    if it.is_file and #scene.things < ENTRIES then
      table.insert(scene.things, it)
    elseif it.is_file then
      scene.more = scene.more + 1
    end
  end
  scene.why = #scene.things == 0 and 'No file is open.' or ''
  return scene
end

---@return caliban.Scene
local function selection()
  local last = require('caliban.chat.outside').last()
  if not last then
    return no_buffer()
  end
  local buf, win = last.buf, last.win
  local found = require('caliban.context.excerpt').selected(buf, win, function(first, final)
    return fitting(buf, first, final)
  end)
  if not found then
    return { why = 'Nothing has been selected in the buffer beside the chat.' }
  end
  local it = about(buf)
  it.lines, it.total, it.text = found.lines, found.total, clipped(found.text)
  return { things = { it } }
end

local kinds = { E = 'error', W = 'warning', I = 'info', N = 'note' }

---@param item table an entry as getqflist() returns it
---@return caliban.Thing
local function entry(item)
  local it = { name = '', is_file = false } ---@type caliban.Thing
  if item.bufnr > 0 and api.nvim_buf_is_valid(item.bufnr) then
    it = { name = api.nvim_buf_get_name(item.bufnr), is_file = false }
    it.is_file = it.name:find('^/') ~= nil
  elseif item.module ~= '' then
    it.name = item.module
  end
  if item.lnum > 0 then
    local first = item.lnum ---@as integer
    it.lines = {
      first,
      math.max(first, item.end_lnum) --[[@as integer]],
    }
  end
  local kind = kinds[item.type:upper()]
  it.text = (kind and kind .. ': ' or '') .. item.text:sub(1, ENTRY)
  return it
end

---@param get fun(wanted: table): table getqflist(), or getloclist() of a window
---@param name string
---@return caliban.Scene
local function list(get, name)
  local head = get({ size = 0 })
  if not head.size or head.size == 0 then
    return { why = ('The %s is empty.'):format(name) }
  end
  local scene = { things = {}, more = math.max(head.size - ENTRIES, 0) }
  if head.size <= ENTRIES then
    scene.things = vim.tbl_map(entry, get({ items = 0 }).items)
    return scene
  end
  -- the number is limited, because all entries of a very long list would delay the editor
  for at = 1, ENTRIES do
    vim.list_extend(scene.things, vim.tbl_map(entry, get({ idx = at, items = 0 }).items))
  end
  return scene
end

---@return caliban.Scene
local function loclist()
  local last = require('caliban.chat.outside').last()
  if not last then
    return no_buffer()
  elseif not api.nvim_win_is_valid(last.win) then
    return { why = 'The window beside the chat is closed, and its location list with it.' }
  end
  return list(function(wanted)
    return vim.fn.getloclist(last.win, wanted)
  end, 'location list')
end

---@return caliban.Scene
local function clipboard()
  if vim.fn.has('clipboard') == 0 then
    return { why = 'Neovim has no clipboard here: see `:help clipboard`.' }
  end
  local ok, text = pcall(function()
    return vim.fn.getreg('+')
  end)
  if not ok or type(text) ~= 'string' then
    return { why = 'The clipboard cannot be read.' }
  end
  local _, breaks = text:gsub('\n', '')
  local total = breaks + (text:find('[^\n]$') and 1 or 0)
  return { things = { { name = '', is_file = false, text = clipped(text), total = total } } }
end

---@type table<string, fun(): caliban.Scene>
local parts = {
  buffer = buffer,
  buffers = buffers,
  selection = selection,
  clipboard = clipboard,
  loclist = loclist,
  quickfix = function()
    return list(vim.fn.getqflist, 'quickfix list')
  end,
}

--- A part of what the user has in the editor.
---@param part string
---@return caliban.Scene
function M.of(part)
  return parts[part]()
end

return M
