--- The words for pending deletions, renamings and files without text.
local M = {}

local file = require('caliban.editor.file')

--- What is not true on disk any more of a file that was deleted, renamed or created, as the end of a sentence about it.
---@param whole caliban.Whole
---@return string?
local function astray(whole)
  local is_there = vim.uv.fs_lstat(whole.to or whole.from) ~= nil
  if whole.kind == 'delete' then
    return is_there and ', but it is there again' or nil
  end
  return not is_there and ', but it is not on disk' or nil
end

---@param whole caliban.Whole
---@return string
local function words(whole)
  if whole.done then
    local from = ('renamed from %s'):format(file.short(whole.from))
    local done = { rename = from, create = 'created without text', delete = 'deleted' }
    return done[whole.kind] .. (astray(whole) or '')
  end
  return whole.to and ('rename to %s'):format(file.short(whole.to))
    or whole.kind == 'create' and 'create it without text'
    or 'delete'
end

---@param whole caliban.Whole
---@return string # like `words`, for use within a sentence about the file
function M.in_sentence(whole)
  return whole.to and ('rename it to %s'):format(file.short(whole.to)) or whole.kind .. ' it'
end

--- The header of the file, for the user.
---@param r caliban.Review
---@return string
function M.title(r)
  local whole = r.whole --[[@as caliban.Whole]]
  if whole.done then
    local from = whole.kind == 'rename' and ' from ' .. file.short(whole.from) or ''
    local done = { delete = 'deleted', rename = 'renamed', create = 'created' }
    local without = whole.kind == 'create' and ' without text' or ''
    local rest = astray(whole) or ''
    return ('Caliban has %s this file%s%s%s'):format(done[whole.kind], from, without, rest)
  elseif whole.kind == 'create' then
    return 'Create this file without text?'
  end
  local to = whole.to and ' to ' .. file.short(whole.to) or ''
  return ('%s this file%s?'):format(whole.kind == 'delete' and 'Delete' or 'Rename', to)
end

--- The number of changes of each kind in words, such as `2 hunks, 1 deletion`. Empty if there are
--- none.
---@param counts { hunk: integer, delete: integer, rename: integer, create: integer }
---@return string
function M.counted(counts)
  local parts = {}
  for _, it in ipairs({
    { counts.hunk, 'hunk' },
    { counts.delete, 'deletion' },
    { counts.rename, 'renaming' },
    { counts.create, 'empty file' },
  }) do
    local n, what = it[1], it[2]
    if n > 0 then
      parts[#parts + 1] = require('caliban.editor.count').of(n, what)
    end
  end
  return table.concat(parts, ', ')
end

--- The pending deletion, renaming or creation in words, for a line of a list.
---@param r caliban.Review
---@return string
function M.line(r)
  return words(r.whole --[[@as caliban.Whole]])
end

return M
