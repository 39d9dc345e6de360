--- Fits chips into a row: a name, its size in lines, its size in tokens. A chip names a text once, and has always the
--- tokens: if there is no room, the beginning of a path is cut, and the lines are left out.
local M = {}

local api = vim.api
local ns = api.nvim_create_namespace('caliban_chat')
local GAP = '  '

--- A name in at most `width` cells: the end of a path after `…`, or the beginning of a command after `!`.
---@param name string
---@param width integer
---@return string
function M.short(name, width)
  if api.nvim_strwidth(name) <= width then
    return name
  elseif vim.startswith(name, require('caliban.chat.shell').SIGN) then
    return require('caliban.chat.fit').cut(name, width)
  end
  local more = require('caliban.editor.icons').of('…')
  local from, count = 0, vim.fn.strchars(name)
  repeat
    from = from + 1
    local rest = more .. vim.fn.strcharpart(name, from)
  until from >= count or api.nvim_strwidth(rest) <= width
  return more .. vim.fn.strcharpart(name, from)
end

--- A chip in at most `width` cells, if its tokens have room there.
---@param name string
---@param figures string[] the sizes, the tokens last
---@param width integer
---@return string
function M.fit(name, figures, width)
  local function with(from)
    local rest = vim.list_slice(figures, from)
    return #rest > 0 and GAP .. table.concat(rest, GAP) or ''
  end
  local first = 1
  -- the name keeps a few cells
  while first < #figures and api.nvim_strwidth(name .. with(first)) > width do
    first = first + 1
  end
  local sizes = with(first)
  return M.short(name, math.max(4, width - api.nvim_strwidth(sizes))) .. sizes
end

--- A number with its unit, as the program writes sizes.
---@param n integer
---@param unit string
---@return string
local function counted(n, unit)
  local number = n < 1000 and tostring(n)
    or ('%d.%dk'):format(math.floor(n / 1000), math.floor(n % 1000 / 100))
  return ('%s %s%s'):format(number, unit, n == 1 and '' or 's')
end

--- The chip of an excerpt, in the words of the program's chip below the sent message.
---@param excerpt caliban.Excerpt
---@param width integer
---@return string
function M.excerpt(excerpt, width)
  local where = excerpt.path
  if excerpt.lines then
    local first, last = excerpt.lines[1], excerpt.lines[2]
    where = first == last and where .. ':' .. first or ('%s:%d-%d'):format(where, first, last)
  end
  local image = excerpt.image
  if image then
    local tokens = math.ceil(image.width * image.height / 750)
    local size = require('caliban.editor.icons').of('%d×%d'):format(image.width, image.height)
    return M.fit(where, { size, counted(tokens, 'token') }, width)
  end
  local kind = ({ selection = 'selection  ', hunk = 'comment on ' })[excerpt.kind] or ''
  local _, ends = excerpt.text:gsub('\n', '\n')
  -- the last line of a range has no line break behind it, also if the line is empty
  local lines = ends + ((excerpt.lines or excerpt.text:find('[^\n]$')) and 1 or 0)
  local figures = { counted(lines, 'line'), counted(math.ceil(#excerpt.text / 4), 'token') }
  return kind .. M.fit(where, figures, width - #kind)
end

--- Whether a mention is written as the path that it means: a chip then shows the path alone.
---@param written string
---@param path string as the program names it, with its lines
---@return boolean
local function is_path(written, path)
  local bare = written:gsub('^@', ''):gsub('"', '')
  return bare == path or vim.endswith(path, '/' .. bare) or vim.endswith(bare, '/' .. path)
end

--- The name in a chip, and its sizes, as the program says them.
---@param about string
---@return string name
---@return string[] figures its lines and its tokens; empty if it has none
local function parts_of(about)
  local parts = vim.split(about, GAP, { plain = true })
  -- a name may contain the gap: the sizes are the last two parts that name lines and tokens
  local at = #parts
  while at > 1 and not parts[at]:find('^%S+ tokens?$') do
    at = at - 1
  end
  if at == 1 then
    return about, {}
  end
  local from = math.max(2, at - 1)
  return table.concat(parts, GAP, 1, from - 1), { unpack(parts, from, at) }
end

--- Shows the chips of a sent message below its text, in the width of the narrowest window.
---@param chat caliban.Chat
---@param block caliban.Block
---@param last integer the row of the message's last line
function M.show(chat, block, last)
  local icon, bar = require('caliban.editor.icons').of, '▏'
  local room = chat.narrowest and chat.narrowest.room
  local rows = vim.tbl_map(function(line)
    local width, about = api.nvim_strwidth(line), line:sub(#bar + 1)
    block.need = math.max(block.need or 0, width)
    if room and width > room then
      local name, figures = parts_of(about)
      about = M.fit(name, figures, room - 1)
    end
    return { { icon('┃ '), 'CalibanUser' }, { icon(bar .. about), 'CalibanChip' } }
  end, block.below or {})
  block.room = room
  block.marks.below = api.nvim_buf_set_extmark(chat.transcript, ns, last, 0, {
    id = block.marks.below,
    virt_lines = rows,
    virt_lines_leftcol = true,
  })
end

--- The chip of a mention.
---@param written string
---@param about string its name and sizes, as the program says them
---@param width integer
---@return string
function M.mention(written, about, width)
  local parts = vim.split(about, GAP, { plain = true })
  if #parts < 3 then
    return M.fit(written, parts, width)
  end
  local path, figures = parts_of(about)
  local head = is_path(written, path) and '' or written .. GAP
  if api.nvim_strwidth(head .. about) <= width then
    return head .. about
  end
  return head .. M.fit(path, figures, width - api.nvim_strwidth(head))
end

return M
