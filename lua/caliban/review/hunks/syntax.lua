--- Finds the syntax errors that changes add to a text, by Neovim's Treesitter parsers, in slices.
local M = {}

local algebra = require('caliban.review.hunks.algebra')
local long = require('caliban.review.hunks.long')
local places = require('caliban.review.hunks.places')
local slices = require('caliban.editor.slices')

--- Longer texts are not parsed. In bytes.
local LARGEST = 1000000
--- A text that is not parsed after this time is given up. In milliseconds.
local LONGEST = 3000
--- The most errors to find in a text, and the most children of a node to look at without a rest.
local MOST, SOME = 500, 64

---@class caliban.SyntaxError
---@field row integer
---@field first integer the first row of the construct in which the parser found the error
---@field last integer the last row of that construct
---@field what string

--- The language of a buffer, if Neovim has a Treesitter parser for it.
---@param buf integer
---@return string?
function M.language(buf)
  local lang = vim.treesitter.language.get_lang(vim.bo[buf].filetype) or ''
  local ok, found = pcall(vim.treesitter.language.add, lang)
  return ok and found and lang or nil
end

--- Whether a buffer's text is too long to be parsed.
---@param buf integer
---@return boolean
function M.too_long(buf)
  return vim.api.nvim_buf_get_offset(buf, vim.api.nvim_buf_line_count(buf)) > LARGEST
end

---@param node TSNode
---@return caliban.SyntaxError
local function describe(node)
  local first, _, last = node:range()
  if not node:missing() then
    return { row = first, first = first, last = last, what = 'cannot be parsed' }
  end
  local parent = node:parent()
  local from = parent and parent:start() or first
  local what = (node:named() and 'missing %s' or 'missing `%s`'):format(node:type())
  return { row = first, first = from, last = first, what = what }
end

--- The errors below a node, in the order of the text. Errors within an error are left out, and repetitions on a row.
---@param root TSNode
---@return caliban.SyntaxError[]
local function collect(root)
  local out, open = {}, { root }
  while #open > 0 and #out < MOST do
    local node = table.remove(open)
    if node:missing() or node:type() == 'ERROR' then
      local it, last = describe(node), out[#out]
      -- the same error again on a row is left out
      out[#out + 1] = not (last and last.row == it.row and last.what == it.what) and it or nil
    else
      local inner, count = {}, 0 ---@type TSNode[], integer
      for child in node:iter_children() do
        count = count + 1
        inner[#inner + 1] = child:has_error() and child or nil
        if count % SOME == 0 then
          slices.rest()
        end
      end
      for i = #inner, 1, -1 do
        open[#open + 1] = inner[i]
      end
    end
    slices.rest()
  end
  return out
end

--- Parses a text, and calls `done` with its errors, or with nil if the text is too long or parsing
--- takes too long.
---@param text string
---@param lang string
---@param done fun(errors?: caliban.SyntaxError[])
local function parse(text, lang, done)
  if #text > LARGEST then
    return done(nil)
  end
  local over = false
  local timer ---@type uv.uv_timer_t
  ---@param errors? caliban.SyntaxError[]
  local function finish(errors)
    if not over then
      over = true
      timer:close()
      done(errors)
    end
  end
  timer = vim.defer_fn(finish, LONGEST)
  -- without injections, only the language of the file itself is parsed
  local opts = { injections = { [lang] = '' } }
  local ok, tree = pcall(vim.treesitter.get_string_parser, text .. '\n', lang, opts)
  if not ok then
    return finish(nil)
  end
  tree:parse(nil, function(_, trees)
    local root = trees and trees[1] and trees[1]:root()
    if not root or not root:has_error() then
      return finish(root and {})
    end
    long.run(function()
      return collect(root)
    end, function(found, errors)
      finish(found and errors or nil)
    end)
  end)
end

--- The errors of the new text that the old text does not have. An error has the same place in both texts if its row is
--- the same unchanged row, or in the same changed rows.
---@param had caliban.SyntaxError[]
---@param has caliban.SyntaxError[]
---@param runs integer[][] the changes from the old text to the new one, as `algebra.runs` returns them
---@return caliban.SyntaxError[]
function M.compare(had, has, runs)
  local stood, old, new = {}, places.of(runs, 1), places.of(runs, 3)
  for _, it in ipairs(had) do
    local key = it.what .. '\0' .. old(it.row)
    stood[key] = (stood[key] or 0) + 1
  end
  return vim.tbl_filter(function(it)
    local key = it.what .. '\0' .. new(it.row)
    local count = stood[key] or 0
    stood[key] = count - 1
    return count <= 0
  end, has)
end

--- Calls `done` with the syntax errors that a text has and the text before does not have; with nil if they are not
--- known.
---@param lang string
---@param before fun(): string[] the lines of the text before; called only if the text has errors
---@param lines string[] the lines of the text
---@param done fun(errors?: caliban.SyntaxError[])
function M.added(lang, before, lines, done)
  parse(table.concat(lines, '\n'), lang, function(has)
    if not has or #has == 0 then
      return done(has)
    end
    local old = before()
    parse(table.concat(old, '\n'), lang, function(had)
      done(had and M.compare(had, has, algebra.runs(old, lines)))
    end)
  end)
end

return M
