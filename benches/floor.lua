-- The floors: two minimal chats with which Caliban is compared. *plain* appends the text as it
-- arrives; *marked* also highlights each finished line once, and parses each closed code block
-- once.
local api = vim.api
local ns = api.nvim_create_namespace('floor')
local marked = vim.env.BENCH_SUBJECT == 'marked'

vim.cmd('botright ' .. vim.env.BENCH_WIDTH .. 'vnew')
local buf, win = api.nvim_get_current_buf(), api.nvim_get_current_win()
vim.bo[buf].buftype = 'nofile'
vim.wo[win].wrap = true
vim.wo[win].linebreak = true
vim.cmd.wincmd('p')

local row, col = 1, 0
api.nvim_buf_set_lines(buf, 0, -1, false, { '# floor', '' })
api.nvim_win_set_cursor(win, { 2, 0 })

local Floor = {}
_G.Floor = Floor

---@param text string
local function append(text)
  local lines = vim.split(text, '\n', { plain = true })
  local following = api.nvim_win_get_cursor(win)[1] >= row + 1
  api.nvim_buf_set_text(buf, row, col, row, col, lines)
  if #lines == 1 then
    col = col + #text
  else
    row, col = row + #lines - 1, #lines[#lines]
  end
  if following then
    api.nvim_win_set_cursor(win, { row + 1, col })
  end
end

local set = api.nvim_buf_set_extmark
local next_row = 0
local code ---@type floor.Code?

---@class floor.Code
---@field row integer
---@field lang string

---@param block floor.Code
---@param last integer
local function highlight_code(block, last)
  local source = table.concat(api.nvim_buf_get_lines(buf, block.row, last, false), '\n')
  local ok, parser = pcall(vim.treesitter.get_string_parser, source, block.lang)
  local query = ok and vim.treesitter.query.get(block.lang, 'highlights')
  if not query then
    return
  end
  local trees = (parser --[[@as vim.treesitter.LanguageTree]]):parse() or {}
  local tree = trees[1] ---@as TSTree
  for id, node in query:iter_captures(tree:root(), source) do
    local r0, c0, r1, c1 = node:range()
    local group = '@' .. query.captures[id] .. '.' .. block.lang
    local opts = { end_row = block.row + r1, end_col = c1, hl_group = group, strict = false }
    set(buf, ns, block.row + r0, c0, opts)
  end
end

---@param r integer
---@param s string
local function highlight(r, s)
  if code then
    if s:find('^```') then
      highlight_code(code, r)
      code = nil
    end
    return
  end
  local lang = s:match('^```(%w*)')
  if lang then
    code = { row = r + 1, lang = lang }
    return
  end
  if s:find('^#+ ') then
    set(buf, ns, r, 0, { end_row = r + 1, end_col = 0, hl_group = '@markup.heading' })
    return
  end
  if s:find('^%s*[-*] ') then
    set(buf, ns, r, 0, { end_col = 1, hl_group = '@markup.list' })
  end
  for i, j in s:gmatch('()`[^`]+`()') do
    set(buf, ns, r, i - 1, { end_col = j - 1, hl_group = '@markup.raw' })
  end
  for i, j in s:gmatch('()%*%*[^*]+%*%*()') do
    set(buf, ns, r, i - 1, { end_col = j - 1, hl_group = '@markup.strong' })
  end
end

---@param text string
function Floor.append(text)
  append(text)
  local finished = api.nvim_buf_line_count(buf) - 1
  if marked and finished > next_row then
    for i, line in ipairs(api.nvim_buf_get_lines(buf, next_row, finished, false)) do
      highlight(next_row + i - 1, line)
    end
    next_row = finished
  end
end

local piece, breath = '16384', '33'
if marked then
  piece, breath = '4096', '8'
end
local command = { vim.env.BENCH_SELF, '--floor', vim.env.BENCH_PORT, '33', piece, breath }
local job = vim.fn.jobstart(command, { rpc = true })

---@param text string
function _G.BenchSubmit(text)
  vim.rpcnotify(job, 'submit', text)
end
