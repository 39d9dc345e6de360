--- The removed lines of hunks as virtual lines, in their own syntax, dimmed.
local M = {}

local api = vim.api
local gutter = require('caliban.review.ui.gutter')
local tint = require('caliban.editor.tint')

--- This many rows above and below the hunks are parsed with them, because the syntax depends on the
--- code around the hunks.
local ABOVE, BELOW = 40, 10
--- The most rows to parse.
local MOST = 2000

local GROUND, WORD = 'CalibanDeleteGround', 'CalibanDeleteWordGround'

--- The languages of file types whose parsers are loaded; false if there is no parser.
local languages = {} ---@type table<string, string|false>

---@class caliban.RemovedCode the rows around some hunks, with the removed lines in place of the added ones
---@field buf integer
---@field hunks caliban.Hunk[]
---@field at table<string[], integer> by a hunk's `new`: the row of its first removed line
---@field lang string
---@field parsed? caliban.Captures|false nil until it is needed, false if it cannot be made

--- Loads a parser and its queries, which can take 20 ms.
---@param filetype string
---@return string|false
local function load(filetype)
  local lang = vim.treesitter.language.get_lang(filetype) or ''
  local ok, found = pcall(vim.treesitter.language.add, lang)
  local read, query = pcall(vim.treesitter.query.get, lang, 'highlights')
  return ok and found and read and query ~= nil and lang or false
end

--- The language of a buffer; nil if there is no parser for it, or the parser is not loaded yet.
---@param buf integer
---@param loaded fun() called once the parser is loaded
---@return string?
local function language(buf, loaded)
  local filetype = vim.bo[buf].filetype
  if filetype ~= '' and languages[filetype] == nil then
    local active = vim.treesitter.highlighter.active ---@type table<integer, table?>
    if active[buf] then
      languages[filetype] = load(filetype)
    else
      vim.defer_fn(function()
        local known = languages[filetype] ~= nil
        languages[filetype] = load(filetype)
        local _ = not known and languages[filetype] and loaded()
      end, 1)
    end
  end
  return languages[filetype] or nil
end

--- The text around some hunks of a buffer. It is read and parsed when one of them is drawn.
---@param buf integer
---@param hunks caliban.Hunk[]
---@param loaded fun() called once the parser is loaded, if it was not loaded yet
---@return caliban.RemovedCode?
function M.excerpt(buf, hunks, loaded)
  local lang = #hunks > 0 and language(buf, loaded)
  return lang and { buf = buf, hunks = hunks, lang = lang, at = {} } or nil
end

---@param it caliban.RemovedCode
---@return caliban.Captures|false
local function parse(it)
  local lines, row = {}, math.max(0, it.hunks[1].start - ABOVE)
  for _, hunk in ipairs(it.hunks) do
    if #lines + #hunk.old + hunk.start - row > MOST then
      return false
    end
    vim.list_extend(lines, api.nvim_buf_get_lines(it.buf, row, hunk.start, false))
    it.at[hunk.new] = #lines
    vim.list_extend(lines, hunk.old)
    row = hunk.start + #hunk.new
  end
  vim.list_extend(lines, api.nvim_buf_get_lines(it.buf, row, row + BELOW, false))
  return require('caliban.editor.captures').parse(lines, it.lang) or false
end

--- The syntax highlights of a hunk's removed lines.
---@param it? caliban.RemovedCode
---@param hunk caliban.Hunk
---@return table<integer, (integer|string)[]> by the line, from 1
local function syntax(it, hunk)
  if not it then
    return {}
  elseif it.parsed == nil then
    it.parsed = parse(it)
  end
  local top, out = it.at[hunk.new], {}
  if it.parsed and top then
    for row, spans in pairs(it.parsed:spans(top, top + #hunk.old)) do
      out[row - top + 1] = spans
    end
  end
  return out
end

--- The part of a line that fits on the screen, because virtual lines are not wrapped.
---@param line string
---@return string
local function cut(line)
  local most = vim.o.columns
  return #line > 8 * most and vim.fn.strcharpart(line:sub(1, 8 * most), 0, most) or line
end

--- Returns a function that gives the width of a tab at a column.
---@param buf integer
---@return fun(col: integer): integer
local function tabs(buf)
  local stops = {} ---@type integer[]
  for stop in vim.bo[buf].vartabstop:gmatch('%d+') do
    stops[#stops + 1] = tonumber(stop)
  end
  stops[1] = stops[1] or vim.bo[buf].tabstop
  return function(col)
    local at = 0
    for _, stop in ipairs(stops) do
      at = at + stop
      if at > col then
        return at - col
      end
    end
    local last = stops[#stops] ---@as integer
    return last - (col - at) % last
  end
end

--- A text as Neovim would show it in a buffer.
---@param text string
---@param col integer the column of its first cell
---@param tab fun(col: integer): integer
---@return string
local function visible(text, col, tab)
  if not text:find('%c') then
    return text
  end
  local out = {}
  for plain, sign in text:gmatch('([^%c]*)(%c?)') do
    if plain ~= '' then
      out[#out + 1], col = plain, col + api.nvim_strwidth(plain)
    end
    if sign ~= '' then
      local shown = sign == '\t' and (' '):rep(tab(col)) or vim.fn.strtrans(sign)
      out[#out + 1], col = shown, col + #shown
    end
  end
  return table.concat(out)
end

--- A removed line as chunks of virtual text.
---@param line string
---@param ranges integer[] the bytes of words that differ
---@param spans (integer|string)[]
---@param tab fun(col: integer): integer
---@return [string, string[]][] chunks
---@return integer width
function M.chunks(line, ranges, spans, tab)
  line = cut(line)
  local groups, words = {}, {} ---@type table<integer, string>, table<integer, true>
  for n = 1, #spans, 3 do
    for at = spans[n] + 1, math.min(spans[n + 1] --[[@as integer]], #line) do
      groups[at] = spans[n + 2] --[[@as string]]
    end
  end
  for n = 1, #ranges, 2 do
    for at = ranges[n] + 1, math.min(ranges[n + 1] --[[@as integer]], #line) do
      words[at] = true
    end
  end
  local out, col, from = {}, 0, 1
  for at = 1, #line do
    if at == #line or groups[at + 1] ~= groups[at] or words[at + 1] ~= words[at] then
      local text = visible(line:sub(from, at), col, tab)
      local text_group = tint.dimmed(groups[at] or 'Normal')
      local is_word = words[at]
      out[#out + 1] = {
        text,
        is_word and { GROUND, tint.on(WORD, text_group), WORD } or { GROUND, text_group },
      }
      col, from = col + api.nvim_strwidth(text), at + 1
    end
  end
  return out, col
end

--- The removed lines of a hunk as virtual lines. Their background extends to the right edge, like
--- that of added lines.
---@param buf integer
---@param hunk caliban.Hunk
---@param words table<integer, integer[]> by the line: the bytes of words that differ
---@param code? caliban.RemovedCode
---@param tail? string text after the last line
---@return [string, string[]][][]
function M.lines(buf, hunk, words, code, tail)
  local out, spans, tab, cells = {}, syntax(code, hunk), tabs(buf), gutter.cells(buf)
  local sign = cells and gutter.sign(cells) or { gutter.in_text(buf, '-') }
  for i, line in ipairs(hunk.old) do
    local chunks, width = M.chunks(line, words[i] or {}, spans[i] or {}, tab)
    if tail and i == #hunk.old then
      chunks[#chunks + 1] = { tail, { GROUND, WORD } }
      width = width + #tail
    end
    chunks[#chunks + 1] = { (' '):rep(math.max(0, vim.o.columns - width)), { GROUND } }
    out[i] = vim.list_extend(vim.list_slice(sign), chunks)
  end
  return out
end

return M
