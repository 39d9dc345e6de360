--- Fits chips into a row: a name, its size in lines, its size in tokens. A chip names a text once, and has always the
--- tokens: if there is no room, the beginning of a path is cut, and the lines are left out.
local M = {}

local api = vim.api
local GAP = '  '

--- The end of a name in at most `width` cells, after `…`.
---@param name string
---@param width integer
---@return string
local function ending(name, width)
  if api.nvim_strwidth(name) <= width then
    return name
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
  return ending(name, math.max(4, width - api.nvim_strwidth(sizes))) .. sizes
end

--- The chip of an excerpt.
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
    return M.fit(where, { size, ('about %d tokens'):format(tokens) }, width)
  end
  local kind = ({ selection = 'selection  ', hunk = 'comment on ' })[excerpt.kind] or ''
  local size = math.ceil(#excerpt.text / 4)
  local about = size < 1000 and tostring(size) or ('%.1fk'):format(size / 1000)
  local figures = { ('about %s tokens'):format(about) }
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
  -- a name may contain the gap: the sizes are the last two parts that name lines and tokens
  local at = #parts
  while at > 1 and not parts[at]:find('^%S+ tokens?$') do
    at = at - 1
  end
  local from = math.max(2, at - 1)
  local path = table.concat(parts, GAP, 1, from - 1)
  local head = is_path(written, path) and '' or written .. GAP
  return head .. M.fit(path, { unpack(parts, from) }, width - api.nvim_strwidth(head))
end

return M
