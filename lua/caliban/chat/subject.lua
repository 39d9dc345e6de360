--- The highlights of a question. Its subject, which the user decides on, is normal text; a command
--- is highlighted as shell. The rest of the question is dim.
local M = {}

local api = vim.api
local MAXCOL = vim.v.maxcol
local CAP = 32768 -- bytes; a longer command stays plain

--- How a question looks: for each line, three numbers for each highlight.
---@class caliban.QuestionLook: caliban.Colored
---@field lang? string the parser or the syntax file of its command
---@field taken? integer the number of the subject's lines whose `colors` are in `lines` already
---@field lines table<integer, integer[]?> by the index in the block, from 0

---@param spans integer[]
---@param from integer
---@param to integer
---@param group string|integer
local function add(spans, from, to, group)
  if from < to then
    local id = type(group) == 'string' and api.nvim_get_hl_id_by_name(group) or group
    vim.list_extend(spans, { from, to, id })
  end
end

--- The highlights of a question's lines, which make all but the subject dim.
---@param question caliban.Question
---@return table<integer, integer[]?>
local function dimmed(question)
  local lines, done = {}, {} ---@type table<integer, integer[]?>, table<integer, integer>
  for i, line in ipairs(question.lines) do
    lines[i - 1] = {}
    if line:find('^%? ') then
      add(lines[i - 1], 0, 1, 'CalibanAsk')
      done[i - 1] = 1
    end
  end
  for _, part in ipairs(question.subject) do
    local i, from, to = part[1], part[2], part[3]
    add(lines[i] or {}, done[i] or 0, from, 'CalibanDim')
    done[i] = to
  end
  for i, spans in pairs(lines) do
    add(spans, done[i] or 0, MAXCOL, 'CalibanDim')
  end
  return lines
end

--- The lines of the subject.
---@param question caliban.Question
---@return string[]
local function texts_of(question)
  local texts = {} ---@type string[]
  for n, part in ipairs(question.subject) do
    texts[n] = (question.lines[part[1] + 1] or ''):sub(part[2] + 1, part[3])
  end
  return texts
end

--- Adds to the highlights the colours from the syntax file that are known so far.
---@param question caliban.Question
---@param look caliban.QuestionLook
---@param name string
---@param buf integer
local function color(question, look, name, buf)
  if not look.colors then
    require('caliban.chat.syntax').color(look, name, texts_of(question), buf)
  end
  local known = look.colors or {}
  for n = (look.taken or 0) + 1, #known do
    local part, colors = question.subject[n], known[n] or {}
    local spans = part and look.lines[part[1]] or {}
    for k = 1, part and #colors or 0, 3 do
      local from, to, group = unpack(colors, k, k + 2)
      add(spans, part[2] + from --[[@as integer]], part[2] + to --[[@as integer]], group)
    end
    look.taken = n
  end
end

--- Highlights the subject as code.
---@param question caliban.Question
---@param lang string
---@param lines table<integer, integer[]?>
local function highlight(question, lang, lines)
  local source = table.concat(texts_of(question), '\n')
  local query = vim.treesitter.query.get(lang, 'highlights')
  if #source > CAP or not query then
    return
  end
  local trees = vim.treesitter.get_string_parser(source, lang):parse() or {}
  local tree = trees[1] ---@as TSTree
  for id, node in query:iter_captures(tree:root(), source) do
    local name = query.captures[id]
    local r0, c0, r1, c1 = node:range()
    for r = r0, name:sub(1, 1) ~= '_' and name ~= 'spell' and r1 or -1 do
      local part = question.subject[r + 1]
      local spans = part and lines[part[1]]
      if part and spans then
        local from, to = r == r0 and c0 or 0, r == r1 and c1 or part[3] - part[2]
        add(spans, part[2] + from, part[2] + to, ('@%s.%s'):format(name, lang))
      end
    end
  end
end

--- The highlights of a line of a question.
---@param chat caliban.Chat
---@param block caliban.Block
---@param i integer the line's index in the question's block
---@return integer[] # three numbers for each: first byte, byte after the last, highlight group
function M.spans(chat, block, i)
  local question = chat.question
  if not question or question.call ~= block.call then
    return { 0, MAXCOL, api.nvim_get_hl_id_by_name('CalibanDim') }
  end
  local languages = require('caliban.chat.languages')
  local lang = question.shell and languages.of('bash', chat.transcript) or nil
  local name = question.shell and not lang and languages.syntax('bash') or nil
  local look = question.look
  if not look or look.lang ~= (lang or name) then
    look = { lang = lang or name, lines = dimmed(question) }
    question.look = look
    local _ = lang and pcall(highlight, question, lang, look.lines)
  end
  if name then
    color(question, look, name, chat.transcript)
  end
  return look.lines[i] or {}
end

return M
