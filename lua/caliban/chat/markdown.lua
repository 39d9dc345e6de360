--- Highlights Markdown line by line, each finished line once, and a code block once when it is closed.
--- No parser stays attached to the buffer: its cost would grow with the chat.
local M = {}

local api = vim.api
local ns = api.nvim_create_namespace('caliban_chat')
local set = api.nvim_buf_set_extmark

---@class caliban.Fence
---@field from integer index in the block of the first code line
---@field mark string what the opening fence was made of
---@field info string

---@class caliban.CodeJob
---@field from integer
---@field source string
---@field lang string
---@field next? fun(): integer?, TSNode?
---@field names string[]

local CODE_CAP = 32768 -- bytes; a longer block stays plain

---@type table<string, string|false>
local langs = {}

--- The parser for what stands behind a fence: `rust`, `rs`, `sh`, `{.lua}`.
---@param info string
---@return string|false
local function language(info)
  local word = info:match('[%w_+#-]+')
  if not word then
    return false
  end
  if langs[word] == nil then
    local function usable(lang)
      local ok, loaded = pcall(vim.treesitter.language.add, lang)
      local found, query = pcall(vim.treesitter.query.get, lang, 'highlights')
      return ok and loaded and found and query ~= nil
    end
    local name = vim.treesitter.language.get_lang(word) or word
    if not usable(name) then
      local ft = vim.filetype.match({ filename = 'x.' .. word })
      name = ft and vim.treesitter.language.get_lang(ft) or name
    end
    langs[word] = usable(name) and name
  end
  return langs[word]
end

---@param job caliban.CodeJob
---@return boolean
local function parse(job)
  local trees = vim.treesitter.get_string_parser(job.source, job.lang):parse()
  local tree = trees and trees[1]
  local query = vim.treesitter.query.get(job.lang, 'highlights')
  if not (tree and query) then
    return false
  end
  job.names, job.next = query.captures, query:iter_captures(tree:root(), job.source)
  return true
end

--- Goes on with a closed code block.
---@param buf integer
---@param block caliban.Block
---@param row integer
---@param deadline integer
---@return boolean # false where the time was up first
local function code(buf, block, row, deadline)
  local job = block.code ---@as caliban.CodeJob
  if not job.next then
    local ok, parsed = pcall(parse, job)
    if not (ok and parsed) then
      block.code = nil
      return true
    end
  end
  local top, n = row + job.from, 0
  for id, node in job.next do
    local name = job.names[id] ---@as string
    if not vim.startswith(name, '_') and name ~= 'spell' then
      local r0, c0, r1, c1 = node:range()
      local group = '@' .. name .. '.' .. job.lang
      local opts = { end_row = top + r1, end_col = c1, hl_group = group, strict = false }
      set(buf, ns, top + r0, c0, opts)
    end
    n = n + 1
    if n % 64 == 0 and vim.uv.hrtime() > deadline then
      return false
    end
  end
  block.code = nil
  return true
end

---@param buf integer
---@param row integer
---@param s string
---@param pattern string
---@param group string
---@return string # with the matches blanked, so that nothing is found inside them
local function each(buf, row, s, pattern, group)
  local from, to = s:find(pattern)
  while from and to do
    set(buf, ns, row, from - 1, { end_col = to, hl_group = group })
    s = s:sub(1, from - 1) .. (' '):rep(to - from + 1) .. s:sub(to + 1)
    from, to = s:find(pattern, to + 1)
  end
  return s
end

---@param buf integer
---@param row integer
---@param s string
local function inline(buf, row, s)
  if not s:find('[`*_%[]') or #s > 4096 then
    return
  end
  if s:find('`', 1, true) then
    s = each(buf, row, s, '``[^`].-``', '@markup.raw')
    s = each(buf, row, s, '`[^`]+`', '@markup.raw')
  end
  if s:find('](', 1, true) then
    s = each(buf, row, s, '%[[^%]]*%]%([^)%s]*%)', '@markup.link')
  end
  if s:find('*', 1, true) then
    s = each(buf, row, s, '%*%*[^%s*][^*]*%*%*', '@markup.strong')
    s = each(buf, row, s, '%*[^%s*][^*]*%*', '@markup.italic')
  end
  if s:find('_', 1, true) then
    s = each(buf, row, s, '%f[%w_]__[^%s_][^_]*__%f[^%w_]', '@markup.strong')
    each(buf, row, s, '%f[%w_]_[^%s_][^_]*_%f[^%w_]', '@markup.italic')
  end
end

---@param buf integer
---@param row integer
---@param s string
local function plain(buf, row, s)
  local first = s:match('^%s*(%S)')
  if not first then
    return
  end
  if first == '#' and s:find('^%s*#+ ') then
    set(buf, ns, row, 0, { end_col = #s, hl_group = '@markup.heading' })
    return
  end
  if first == '>' then
    set(buf, ns, row, 0, { end_col = #s, hl_group = '@markup.quote' })
  elseif first == '-' or first == '*' or first == '+' then
    local _, to = s:find('^%s*[-*+]%s')
    if to then
      set(buf, ns, row, to - 2, { end_col = to - 1, hl_group = '@markup.list' })
      s = (' '):rep(to) .. s:sub(to + 1)
    end
  elseif first:find('%d') then
    local _, to = s:find('^%s*%d+[.)]%s')
    if to then
      set(buf, ns, row, 0, { end_col = to - 1, hl_group = '@markup.list' })
    end
  end
  inline(buf, row, s)
end

--- One finished line.
---@param buf integer
---@param block caliban.Block
---@param row integer the block's
---@param i integer the line's index in it
---@param s string
local function line(buf, block, row, i, s)
  local mark, info = s:match('^%s*(```+)([^`]*)$')
  if not (mark and info) then
    mark, info = s:match('^%s*(~~~+)(.*)$')
  end
  local fence = block.fence
  if not (fence or (mark and info)) then
    return plain(buf, row + i, s)
  end
  if fence then
    local closes = mark
      and info
      and mark:byte() == fence.mark:byte()
      and #mark >= #fence.mark
      and vim.trim(info) == ''
    if not closes then
      return
    end
    block.fence = nil
    local lang = language(fence.info)
    if lang and i > fence.from then
      local lines = api.nvim_buf_get_lines(buf, row + fence.from, row + i, false)
      local source = table.concat(lines, '\n')
      if #source <= CODE_CAP then
        block.code = { from = fence.from, source = source, lang = lang, names = {} }
      end
    end
  elseif mark and info then
    block.fence = { from = i + 1, mark = mark, info = info }
  end
  set(buf, ns, row + i, 0, { end_col = #s, hl_group = 'CalibanDim' })
end

--- Highlights what is finished of a block and not highlighted yet.
---@param buf integer
---@param block caliban.Block
---@param row integer its first row
---@param deadline integer `vim.uv.hrtime()` at which to leave off
---@return boolean # false where the time was up first
function M.advance(buf, block, row, deadline)
  if block.code and not code(buf, block, row, deadline) then
    return false
  end
  local finished = block.final and block.n or block.n - 1
  while block.done < finished do
    local upto = math.min(finished, block.done + 64)
    local lines = api.nvim_buf_get_lines(buf, row + block.done, row + upto, false)
    for _, s in ipairs(lines) do
      line(buf, block, row, block.done, s)
      block.done = block.done + 1
      if block.code and not code(buf, block, row, deadline) then
        return false
      end
    end
    if vim.uv.hrtime() > deadline and block.done < finished then
      return false
    end
  end
  return true
end

--- The lines of the code block a line stands in (its fences count as in it).
---@param lines string[]
---@param at integer index in them, from 1
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
