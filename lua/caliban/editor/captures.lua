--- Finds the highlights of code that is in no buffer of its own, with Neovim's Treesitter parsers.
local M = {}

--- The most bytes of a text that is parsed.
local LARGEST = 32768

---@class caliban.Captures
---@field private source string
---@field private root TSNode
---@field private query vim.treesitter.Query
---@field private groups table<integer, string|false> by the capture's id; false if it is not drawn
local Captures = {}
Captures.__index = Captures

--- Parses a text; nil if it is too long or the parser fails. The parser and its queries must be loaded.
---@param lines string[]
---@param lang string
---@return caliban.Captures?
function M.parse(lines, lang)
  local source = table.concat(lines, '\n')
  local query = #source <= LARGEST and vim.treesitter.query.get(lang, 'highlights')
  if not query then
    return nil
  end
  local ok, trees = pcall(function()
    return vim.treesitter.get_string_parser(source, lang):parse()
  end)
  local tree = ok and trees and trees[1] or nil
  local groups = {}
  for id, name in ipairs(query.captures) do
    local drawn = name:sub(1, 1) ~= '_' and not name:find('^n?o?spell$') and name ~= 'conceal'
    groups[id] = drawn and '@' .. name .. '.' .. lang
  end
  return tree
    and setmetatable(
      { source = source, root = tree:root(), query = query, groups = groups },
      Captures
    )
end

--- The highlights of some rows. Where two highlights overlap, the later one is drawn on top.
---@param first integer
---@param last integer exclusive
---@return table<integer, (integer|string)[]> by row: the first byte, the byte after the last and the group of each
function Captures:spans(first, last)
  local out = {}
  for row = first, last - 1 do
    out[row] = {}
  end
  for id, node in self.query:iter_captures(self.root, self.source, first, last) do
    local group = self.groups[id]
    local r0, c0, r1, c1 = node:range()
    for row = math.max(r0, first), group and math.min(r1, last - 1) or -1 do
      local list = out[row] ---@as (integer|string)[]
      list[#list + 1] = row == r0 and c0 or 0
      list[#list + 1] = row == r1 and c1 or vim.v.maxcol
      list[#list + 1] = group --[[@as string]]
    end
  end
  return out
end

return M
