--- The diffs under an opened edit: line numbers, the words that differ, and the syntax of both sides.
local M = {}

local api = vim.api
local tint = require('caliban.editor.tint')
local ns = api.nvim_create_namespace('caliban_chat')

--- The bytes before a line's sign.
local INDENT = 4
--- The bytes before a line's text.
local TEXT = INDENT + 1
--- This many lines are highlighted at once.
local PIECE = 64

--- A diff that is on the screen.
---@class caliban.Diffed: caliban.DiffRows
---@field filetype string
---@field file string the file's absolute path
---@field files table<string, caliban.ReadLines|false> by path, for all diffs of the call: how to read the file; false if it cannot be read
---@field lang? string the language of `parsed`
---@field read boolean whether the fields below are filled
---@field parsed table<string, caliban.Captures|false> by side: `-`, `+`
---@field above integer the number of lines of the file that are parsed above the diff's lines
---@field rows table<string, integer[]> by side and line of the diff, from 1: the line's row in that side
---@field words table<string, table<integer, integer[]>> by side and line: the bytes of words that differ
---@field spans table<integer, caliban.Runs> by line, from 1: the highlights

--- Parts of a line that do not overlap: for each its first byte, the byte after its last, and its
--- highlight group.
---@alias caliban.Runs any[]

--- Shows the numbers of a diff's lines.
---@param chat caliban.Chat
---@param row integer the block's first row
---@param it caliban.DiffRows
---@param width integer the digits of the highest number
local function number(chat, row, it, width)
  local old, new = it.old, it.new
  for i = 1, old > 0 and #it.signs or 0 do
    local sign = it.signs:sub(i, i)
    local text = ('%' .. width .. 'd '):format(sign == '-' and old or new)
    api.nvim_buf_set_extmark(chat.transcript, ns, row + it.at + i - 1, INDENT, {
      virt_text = { { text, 'CalibanDim' } },
      virt_text_pos = 'inline',
      hl_mode = 'combine',
      right_gravity = false,
      strict = false,
    })
    old, new = old + (sign == '+' and 0 or 1), new + (sign == '-' and 0 or 1)
  end
end

--- Stores the diffs of an opened call in its block, and shows their line numbers.
---@param chat caliban.Chat
---@param block caliban.Block
---@param row integer the block's first row
---@param diffs? caliban.DiffRows[]
function M.take(chat, block, row, diffs)
  block.diffs = nil
  if not diffs or #diffs == 0 then
    return
  end
  tint.update()
  local taken = diffs --[[@as caliban.Diffed[] ]]
  block.diffs = taken
  local highest, files = 0, {}
  for _, it in ipairs(taken) do
    highest = math.max(highest, it.old + #it.signs, it.new + #it.signs)
  end
  for _, it in ipairs(taken) do
    it.read, it.spans, it.parsed, it.above, it.rows, it.words = false, {}, {}, 0, {}, {}
    -- `match` can fail, because the path may be any text
    local ok, name = pcall(vim.filetype.match, { filename = it.path })
    it.files, it.file = files, require('caliban.editor.name').meant(it.path, chat.root)
    it.filetype = ok and name or it.path:match('%.(%w+)$') or ''
    number(chat, row, it, #tostring(highest))
  end
end

--- The diff to which a line of a block belongs.
---@param diffs caliban.Diffed[]
---@param i integer the line's index in the block
---@return caliban.Diffed?
local function at(diffs, i)
  local low, high = 1, #diffs
  while low < high do
    local middle = math.ceil((low + high) / 2)
    if diffs[middle].at <= i then
      low = middle
    else
      high = middle - 1
    end
  end
  local it = diffs[low]
  return it and it.at <= i and i < it.at + #it.signs and it or nil
end

--- The lines of a diff without their signs.
---@param buf integer
---@param top integer the block's first row
---@param it caliban.Diffed
---@return string[]
local function code(buf, top, it)
  local lines = api.nvim_buf_get_lines(buf, top + it.at, top + it.at + #it.signs, false)
  for i, line in ipairs(lines) do
    lines[i] = line:sub(INDENT + 2)
  end
  return lines
end

--- Parses both sides of a diff, with the lines of the file around them.
---@param it caliban.Diffed
---@param sides table<string, string[]>
---@param lang? string
local function parse(it, sides, lang)
  local above, below = {}, {} ---@type string[], string[]
  if lang and it.new > 0 then
    local surroundings = require('caliban.chat.surroundings')
    if it.files[it.file] == nil then
      it.files[it.file] = surroundings.file(it.file) or false
    end
    local file = it.files[it.file]
    if file then
      above, below = surroundings.of(file, it, sides)
    end
  end
  it.above = #above
  for side, list in pairs(sides) do
    local text = vim.list_extend(vim.list_extend(vim.list_slice(above), list), below)
    it.parsed[side] = lang and require('caliban.editor.captures').parse(text, lang) or false
  end
end

--- Reads a diff: parses both sides, and finds the words in which adjacent removed and added lines
--- differ.
---@param buf integer
---@param top integer the block's first row
---@param it caliban.Diffed
---@param lang? string
local function read(buf, top, it, lang)
  local lines, sides = code(buf, top, it), { ['-'] = {}, ['+'] = {} }
  it.rows, it.words = { ['-'] = {}, ['+'] = {} }, { ['-'] = {}, ['+'] = {} }
  local run = { ['-'] = {}, ['+'] = {} } ---@type table<string, integer[]>
  local function compare()
    local function text(side)
      return vim.tbl_map(function(i)
        return lines[i]
      end, run[side])
    end
    local words = require('caliban.review.hunks.words').changed(text('-'), text('+'))
    for side, found in pairs({ ['-'] = words.old, ['+'] = words.new }) do
      local words_of, rows = it.words[side], run[side] ---@type table<integer, integer[]>, integer[]
      for n, ranges in pairs(found) do
        local i = rows[n] ---@as integer
        words_of[i] = ranges
      end
    end
    run = { ['-'] = {}, ['+'] = {} }
  end
  for i, line in ipairs(lines) do
    local sign = it.signs:sub(i, i)
    if sign == ' ' or sign == '-' and #run['+'] > 0 then
      compare()
    end
    if sign ~= ' ' then
      table.insert(run[sign], i)
    end
    for side, list in pairs(sides) do
      if sign == ' ' or sign == side then
        table.insert(list, line)
        it.rows[side][i] = #list - 1
      end
    end
  end
  compare()
  parse(it, sides, lang)
end

--- Cuts the highlights of a line into parts that do not overlap.
---@param spans (integer|string)[]
---@param length integer
---@param group fun(capture: string): string
---@return caliban.Runs
local function runs(spans, length, group)
  local of, out = {}, {} ---@type table<integer, string>, caliban.Runs
  for n = 1, #spans, 3 do
    for byte = spans[n] + 1, math.min(spans[n + 1] --[[@as integer]], length) do
      of[byte] = spans[n + 2] --[[@as string]]
    end
  end
  local from = 1
  for byte = 1, length do
    if byte == length or of[byte + 1] ~= of[from] then
      local capture = of[from] ---@type string?
      if capture then
        vim.list_extend(out, { from - 1, byte, group(capture) })
      end
      from = byte + 1
    end
  end
  return out
end

--- Highlights line `k` of a diff and the lines around it.
---@param buf integer
---@param top integer the block's first row
---@param it caliban.Diffed
---@param k integer
local function highlight(buf, top, it, k)
  local first = math.floor((k - 1) / PIECE) * PIECE + 1
  local last, lines = math.min(first + PIECE - 1, #it.signs), code(buf, top, it)
  local found = {} ---@type table<string, table<integer, (integer|string)[]>>
  for side, rows in pairs(it.rows) do
    local from, to ---@type integer?, integer?
    for i = first, last do
      from, to = from or rows[i], rows[i] or to
    end
    local parsed, above = it.parsed[side], it.above
    found[side] = parsed and from and to and parsed:spans(above + from, above + to + 1) or {}
  end
  for i = first, last do
    local side = it.signs:sub(i, i) == '-' and '-' or '+'
    local spans = found[side][it.above + it.rows[side][i]] or {}
    it.spans[i] = runs(spans, math.min(#lines[i], 800), function(capture)
      return side == '-' and tint.dimmed(capture) or capture
    end)
  end
end

local opts = { ephemeral = true, strict = false } ---@type vim.api.keyset.set_extmark

---@param buf integer
---@param row integer
---@param from integer
---@param to integer
---@param group string
---@param priority integer
local function color(buf, row, from, to, group, priority)
  opts.end_row, opts.end_col, opts.hl_eol = row, to, nil
  opts.hl_group, opts.priority = group, priority
  api.nvim_buf_set_extmark(buf, ns, row, from, opts)
end

--- Draws a word that differs. Syntax in a colour that is hard to read on the word's background is
--- drawn as plain text.
---@param buf integer
---@param row integer
---@param range [integer, integer] the first byte and the byte after the last
---@param spans caliban.Runs
---@param sign string
local function word(buf, row, range, spans, sign)
  local ground = sign == '+' and 'CalibanAddWordGround' or 'CalibanDeleteWordGround'
  color(buf, row, TEXT + range[1], TEXT + range[2], ground, 203)
  for n = 1, #spans, 3 do
    local from, to = math.max(spans[n], range[1]), math.min(spans[n + 1], range[2])
    local group = tint.on(ground, spans[n + 2])
    if from < to and group ~= spans[n + 2] then
      color(buf, row, TEXT + from, TEXT + to, group, 204)
    end
  end
end

--- Draws a line of a block, if it belongs to a diff.
---@param buf integer
---@param block caliban.Block
---@param row integer
---@param i integer the line's index in the block
function M.draw(buf, block, row, i)
  local it = at(block.diffs or {}, i)
  if not it then
    return
  end
  local top, k = row - i, i - it.at + 1 ---@type integer, integer
  local sign = it.signs:sub(k, k)
  local lang = require('caliban.chat.languages').of(it.filetype, buf)
  if not it.read or it.lang ~= lang then
    read(buf, top, it, lang)
    it.spans, it.lang, it.read = {}, lang, true
  end
  if not it.spans[k] then
    highlight(buf, top, it, k)
  end
  if sign ~= ' ' then
    opts.end_row, opts.end_col, opts.hl_eol, opts.priority = row + 1, 0, true, 200
    opts.hl_group = sign == '+' and 'CalibanAddGround' or 'CalibanDeleteGround'
    api.nvim_buf_set_extmark(buf, ns, row, INDENT, opts)
  end
  local plain = sign == '-' and tint.dimmed('Normal') or tint.PLAIN
  color(buf, row, INDENT, vim.v.maxcol, plain, 201)
  local spans, words = it.spans[k], it.words[sign] and it.words[sign][k] or {}
  for n = 1, #spans, 3 do
    color(buf, row, TEXT + spans[n], TEXT + spans[n + 1], spans[n + 2], 202)
  end
  for n = 1, #words, 2 do
    word(buf, row, { words[n], words[n + 1] }, spans, sign)
  end
end

return M
