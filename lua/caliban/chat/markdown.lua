--- Highlights Markdown line by line: only lines on the screen, each complete line once, and a code
--- block when it is closed. No parser is attached to the buffer, because it would get slower as the
--- chat grows.
local M = {}

local api = vim.api

---@class caliban.Fence: caliban.Colored
---@field from integer index in the block of the opening line
---@field to? integer index of the closing line
---@field mark string the backticks or tildes of the opening fence
---@field info string the text after the opening fence
---@field hidden? integer the mark that hides the closing line

--- The highlights of a line: three numbers for each span, its first byte, the byte after its last and the highlight
--- group.
---@class caliban.Spans: integer[]
---@field veils? integer[] the parts that signs replace: for each its first byte, the byte after its last, and the sign's index in `M.SIGNS`
---@field group? integer the highlight group of these signs
---@field rule? boolean whether the line is drawn as a horizontal rule
---@field length? integer the bytes of the line, if it may be a row of a table
---@field table? caliban.Table
---@field laid? integer the number of complete lines that the block had when the table was last looked for
---@field label? string what is drawn at the right end of the line

--- The signs that are drawn in place of Markdown's marks. The empty sign hides a mark.
M.SIGNS = { '', '•', '▎', '☐', '☑' }
for i, sign in ipairs(M.SIGNS) do
  M.SIGNS[i] = require('caliban.editor.icons').of(sign)
end
local HIDDEN, BULLET, BAR, OPEN, TICKED = 1, 2, 3, 4, 5

local HEADINGS = { 'CalibanHeading1', 'CalibanHeading2', 'CalibanHeading3' }
local CODE_CAP = 32768 -- bytes; a longer block stays plain
local PIECE = 64 -- lines of code to highlight at once
local MAXCOL = vim.v.maxcol
local NONE = {} ---@type caliban.Spans

---@type table<string, integer>
local ids = setmetatable({}, {
  __index = function(known, group)
    known[group] = api.nvim_get_hl_id_by_name(group)
    return known[group]
  end,
})

---@param spans integer[] three numbers for each span: first byte, byte after the last, highlight group
---@param from integer
---@param to integer
---@param id integer
local function add(spans, from, to, id)
  -- the spans are sorted, because where spans overlap, the one that begins later is drawn on top
  local n = #spans + 1
  while n > 1 and spans[n - 3] > from do
    spans[n], spans[n + 1], spans[n + 2] = spans[n - 3], spans[n - 2], spans[n - 1]
    n = n - 3
  end
  spans[n], spans[n + 1], spans[n + 2] = from, to, id
end

---@class caliban.Code
---@field fence caliban.Fence
---@field source string
---@field query? vim.treesitter.Query
---@field groups table<integer, integer|false> by the query's capture: the highlight group
---@field root? TSNode nil if the code stays plain

--- The code block that was parsed last: a long code block is highlighted in several steps.
---@type caliban.Code?
local parsed

---@param fence caliban.Fence
---@param lines string[]
---@param lang string
---@return caliban.Code
local function parse(fence, lines, lang)
  local code = { fence = fence, source = table.concat(lines, '\n'), groups = {} }
  code.query = vim.treesitter.query.get(lang, 'highlights')
  for id, name in ipairs(code.query and code.query.captures or {}) do
    local shown = name:sub(1, 1) ~= '_' and name ~= 'spell'
    code.groups[id] = shown and ids['@' .. name .. '.' .. lang]
  end
  if #code.source <= CODE_CAP then
    local ok, trees = pcall(function()
      return vim.treesitter.get_string_parser(code.source, lang):parse()
    end)
    local tree = ok and trees and trees[1] or nil
    code.root = tree and tree:root()
  end
  return code
end

--- Highlights a part of a closed code block: line `i` and the lines around it.
---@param buf integer
---@param block caliban.Block
---@param fence caliban.Fence
---@param row integer the block's first row
---@param i integer the line's index in the block
---@return integer[]? # the line's spans
local function code(buf, block, fence, row, i)
  local to = fence.to
  local lang = to and require('caliban.chat.languages').of(fence.info, buf)
  if not to then
    return nil
  end
  local top = fence.from + 1
  if not lang then
    local name = require('caliban.chat.languages').syntax(fence.info)
    if name then
      local syntax = require('caliban.chat.syntax')
      block.spans[i] = syntax.of(fence, name, buf, row + top, to - top, i - top)
    end
    return block.spans[i]
  end
  if not parsed or parsed.fence ~= fence then
    parsed = parse(fence, api.nvim_buf_get_lines(buf, row + top, row + to, false), lang)
  end
  local first = math.floor((i - top) / PIECE) * PIECE
  local last = math.min(first + PIECE, to - top)
  for r = first, last - 1 do
    block.spans[top + r] = {}
  end
  if not (parsed.root and parsed.query) then
    return block.spans[i]
  end
  for id, node in parsed.query:iter_captures(parsed.root, parsed.source, first, last) do
    local group = parsed.groups[id]
    if group then
      local r0, c0, r1, c1 = node:range()
      for r = math.max(r0, first), math.min(r1, last - 1) do
        local spans = block.spans[top + r] ---@as integer[]
        add(spans, r == r0 and c0 or 0, r == r1 and c1 or MAXCOL, group)
      end
    end
  end
  return block.spans[i]
end

---@param spans caliban.Spans
---@param from integer
---@param to integer
---@param sign integer
local function veil(spans, from, to, sign)
  local veils = spans.veils or {}
  spans.veils = veils
  local n = #veils
  veils[n + 1], veils[n + 2], veils[n + 3] = from, to, sign
end

---@param spans caliban.Spans
---@param s string
---@param pattern string
---@param group string
---@param head integer the length of the mark before the text
---@param tail? string the pattern of the mark after the text; default: a mark of the same length
---@return string # the text with blanks for the matches, so that later patterns do not match inside them
local function each(spans, s, pattern, group, head, tail)
  local from, to = s:find(pattern)
  while from and to do
    add(spans, from - 1, to, ids[group])
    veil(spans, from - 1, from - 1 + head, HIDDEN)
    veil(spans, tail and (s:find(tail, from) or to + 1) - 1 or to - head, to, HIDDEN)
    s = s:sub(1, from - 1) .. (' '):rep(to - from + 1) .. s:sub(to + 1)
    from, to = s:find(pattern, to + 1)
  end
  return s
end

---@param spans caliban.Spans
---@param s string
local function inline(spans, s)
  if not s:find('[`*_%[~]') or #s > 4096 then
    return
  end
  if s:find('`', 1, true) then
    s = each(spans, s, '``[^`].-``', '@markup.raw', 2)
    s = each(spans, s, '`[^`]+`', '@markup.raw', 1)
  end
  if s:find('](', 1, true) then
    s = each(spans, s, '%f[!%[]%[[^%]]+%]%([^)%s]*%)', '@markup.link', 1, '%]%(')
  end
  if s:find('*', 1, true) then
    s = each(spans, s, '%*%*[^%s*][^*]*%*%*', '@markup.strong', 2)
    s = each(spans, s, '%*[^%s*][^*]*%*', '@markup.italic', 1)
  end
  if s:find('~~', 1, true) then
    s = each(spans, s, '~~[^%s~][^~]*~~', '@markup.strikethrough', 2)
  end
  if s:find('_', 1, true) then
    s = each(spans, s, '%f[%w_]__[^%s_][^_]*__%f[^%w_]', '@markup.strong', 2)
    each(spans, s, '%f[%w_]_[^%s_][^_]*_%f[^%w_]', '@markup.italic', 1)
  end
end

--- The highlights of a text in a line, and the marks in the text that are hidden.
---@param s string
---@return caliban.Spans
function M.inline(s)
  local spans = {}
  inline(spans, s)
  return spans
end

---@param spans caliban.Spans
---@param s string
---@return boolean
local function heading(spans, s)
  local _, to, marks = s:find('^%s*(#+) +')
  if not (to and marks) or #marks > 6 then
    return false
  end
  local group = HEADINGS[math.min(#marks, #HEADINGS)] ---@as string
  add(spans, 0, #s, ids[group])
  veil(spans, 0, to, HIDDEN)
  inline(spans, (' '):rep(to) .. s:sub(to + 1))
  return true
end

---@param s string
---@return boolean # whether the line is a horizontal rule
local function is_rule(s)
  local signs = #s < 200 and s:gsub('%s', '') or ''
  return #signs >= 3 and signs == signs:sub(1, 1):rep(#signs)
end

--- A bullet or a task box. Returns the length of the part before the item's text; 0 if the line is no item.
---@param spans caliban.Spans
---@param s string
---@return integer
local function bullet(spans, s)
  local _, to = s:find('^%s*[-*+]%s')
  if not to then
    return 0
  end
  add(spans, to - 2, to - 1, ids['@markup.list'])
  spans.group = ids['@markup.list']
  local box = s:match('^%[([ xX])%]%s', to + 1)
  if not box then
    veil(spans, to - 2, to - 1, BULLET)
    return to
  end
  add(spans, to, to + 3, ids['@markup.list'])
  veil(spans, to - 2, to, HIDDEN)
  veil(spans, to, to + 3, box == ' ' and OPEN or TICKED)
  return to + 3
end

---@param spans caliban.Spans
---@param s string
local function quote(spans, s)
  spans.group = ids['@markup.quote']
  local at = s:find('>', 1, true)
  while at do
    -- only the bar has a colour, so that a quote does not stand out from the prose around it
    add(spans, at - 1, at, ids['@markup.quote'])
    veil(spans, at - 1, at, BAR)
    local _, next = s:find('^ ?>', at + 1)
    at = next
  end
end

---@param spans caliban.Spans
---@param s string
local function plain(spans, s)
  local first = s:match('^%s*(%S)')
  if not first or first == '#' and heading(spans, s) then
    return
  end
  if (first == '-' or first == '*' or first == '_') and is_rule(s) then
    spans.rule = true
    return add(spans, 0, #s, ids['CalibanDim'])
  elseif first == '>' then
    quote(spans, s)
  elseif first == '|' then
    spans.length = #s
  elseif first == '-' or first == '*' or first == '+' then
    local to = bullet(spans, s)
    s = (' '):rep(to) .. s:sub(to + 1)
  elseif first:find('%d') then
    local _, to = s:find('^%s*%d+[.)]%s')
    if to then
      add(spans, 0, to - 1, ids['@markup.list'])
    end
  end
  inline(spans, s)
end

--- The last fence that opens at or above a line.
---@param block caliban.Block
---@param i integer
---@return caliban.Fence?
local function fence_at(block, i)
  local low, high = 1, #block.fences
  while low <= high do
    local middle = math.floor((low + high) / 2)
    if block.fences[middle].from <= i then
      low = middle + 1
    else
      high = middle - 1
    end
  end
  return block.fences[high]
end

--- Whether a line has the background of code. The lines of a code block have it, and the line above
--- them, which names the language.
---@param block caliban.Block
---@param i integer the line's index in the block
---@return boolean
function M.has_ground(block, i)
  local fence = fence_at(block, i)
  return fence ~= nil and i < (fence.to or math.huge)
end

--- The highlights of a line. They are computed when the line is first drawn. An incomplete line has none.
---@param buf integer
---@param block caliban.Block
---@param row integer the block's first row
---@param i integer the line's index in the block
---@return caliban.Spans
function M.spans(buf, block, row, i)
  local known = block.spans[i]
  if known or i >= block.done then
    return known or NONE
  end
  local fence = fence_at(block, i)
  if fence and i > fence.from and i < (fence.to or math.huge) then
    return code(buf, block, fence, row, i) or NONE
  end
  local spans = {} ---@type caliban.Spans
  local s = api.nvim_buf_get_lines(buf, row + i, row + i + 1, false)[1]
  if fence and (i == fence.from or i == fence.to) then
    add(spans, 0, #s, ids['CalibanDim'])
    veil(spans, 0, #s, HIDDEN)
    spans.label = i == fence.from and fence.info:match('^%s*(%S*)') or nil
  else
    plain(spans, s)
  end
  block.spans[i] = spans
  return spans
end

--- The code spans of a line of prose, also of an incomplete one: for each its first byte and the byte after its last.
---@param buf integer
---@param block caliban.Block
---@param row integer the block's first row
---@param i integer the line's index in the block
---@param s string the line
---@return integer[]
function M.codes(buf, block, row, i, s)
  if M.has_ground(block, i) or s:find('^%s*|') then
    return {}
  end
  local spans, codes = i < block.done and M.spans(buf, block, row, i) or M.inline(s), {}
  for n = 1, #spans, 3 do
    if spans[n + 2] == ids['@markup.raw'] then
      vim.list_extend(codes, { spans[n], spans[n + 1] })
    end
  end
  return codes
end

--- Notes whether a complete line is a fence.
---@param buf integer
---@param block caliban.Block
---@param row integer the block's first row
---@param i integer the line's index
---@param s string
---@return integer? # index of the first line to redraw
local function finish(buf, block, row, i, s)
  local mark, info = s:match('^%s*(```+)([^`]*)$')
  if not (mark and info) then
    mark, info = s:match('^%s*(~~~+)(.*)$')
  end
  if not (mark and info) or require('caliban.chat.long').continues(buf, row + i) then
    return nil
  end
  local fence = block.fences[#block.fences]
  if not fence or fence.to then
    local opened = { from = i, mark = mark, info = info }
    table.insert(block.fences, opened)
    -- begins to load the parser before the block is closed
    require('caliban.chat.languages').of(info, buf)
  elseif mark:byte() == fence.mark:byte() and #mark >= #fence.mark and vim.trim(info) == '' then
    fence.to = i
    return fence.from + 1
  end
end

--- Hides the closing lines of code blocks, which would be empty rows. The last line of the buffer stays, because the
--- cursor may be on it, and so does a line with virtual lines below it.
---@param buf integer
---@param block caliban.Block
---@param row integer the block's first row
function M.hide_ends(buf, block, row)
  local last = block.below and row + block.n or api.nvim_buf_line_count(buf)
  for n = #block.fences, 1, -1 do
    local fence = block.fences[n] ---@as caliban.Fence
    local is_last = fence.to and row + fence.to + 1 >= last
    if fence.hidden and not is_last then
      return
    elseif fence.hidden and is_last then
      require('caliban.chat.hidden').show(buf, fence.hidden)
      fence.hidden = nil
    elseif fence.to and not is_last then
      fence.hidden = require('caliban.chat.hidden').hide(buf, row + fence.to)
    end
  end
end

--- Notes the fences in lines that were completed since the last call, and redraws.
---@param buf integer
---@param block caliban.Block
---@param row integer the block's first row
function M.advance(buf, block, row)
  local finished = block.final and block.n or block.n - 1
  local anew = block.done
  while block.done < finished do
    local upto = math.min(finished, block.done + 1024)
    local lines = api.nvim_buf_get_lines(buf, row + block.done, row + upto, false)
    for i, s in ipairs(lines) do
      local first = s:byte()
      -- a backtick, a tilde, or a blank that may precede them
      if first == 96 or first == 126 or first == 32 or first == 9 then
        anew = math.min(anew, finish(buf, block, row, block.done + i - 1, s) or anew)
      end
    end
    block.done = upto
  end
  M.hide_ends(buf, block, row)
  if anew < finished then
    -- like Neovim's own Treesitter highlighter
    api.nvim__redraw({ buf = buf, range = { row + anew, row + finished }, flush = false })
  end
end

--- The address of the link at a byte of a line; nil if there is none.
---@param s string
---@param col integer from 0
---@return string?
function M.link_at(s, col)
  local from, to, address = s:find('%[[^%]]+%]%(([^)%s]*)%)')
  while from and to do
    if col >= from - 1 and col < to then
      return address
    end
    from, to, address = s:find('%[[^%]]+%]%(([^)%s]*)%)', to + 1)
  end
end

--- The lines of the code block around a line, which may be one of its fences.
---@param lines string[]
---@param at integer the line's index in `lines`, from 1
---@return string[]?
function M.code_at(lines, at)
  local open, mark ---@type integer?, string
  for i, s in ipairs(lines) do
    local found = s:match('^%s*(```+)') or s:match('^%s*(~~~+)')
    if not open and found then
      open, mark = i, found
    elseif open and found and found:byte() == mark:byte() and #found >= #mark then
      if at >= open and at <= i then
        return vim.list_slice(lines, open + 1, i - 1)
      end
      open = nil
    end
  end
  return open and at >= open and vim.list_slice(lines, open + 1) or nil
end

return M
