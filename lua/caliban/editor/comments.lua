--- The comments of a code review: diagnostics in the buffers, and a quickfix list.
local M = {}

local api = vim.api
local BUF = require('caliban.editor.since').BUF
local names = require('caliban.editor.name')

local TITLE = 'Caliban: comments'
local SOURCE = 'Caliban'

---@type table<caliban.Severity, [vim.diagnostic.Severity, string]> the severity of a diagnostic, the type in the quickfix list
local levels = {
  error = { vim.diagnostic.severity.ERROR, 'E' },
  warning = { vim.diagnostic.severity.WARN, 'W' },
  info = { vim.diagnostic.severity.INFO, 'I' },
  hint = { vim.diagnostic.severity.HINT, 'N' },
}

local all = {} ---@type table<integer, vim.Diagnostic[]> by buffer
local list ---@type integer? the id of the quickfix list
local is_new = false -- whether nobody has gone to an entry of the list from a chat yet
local watched = {} ---@type table<integer, boolean?> the buffers whose changes move their comments

---@return integer
local function space()
  return api.nvim_create_namespace('caliban_comments')
end

--- Draws the comments of a loaded buffer.
---@param buf integer
local function draw(buf)
  local last = api.nvim_buf_line_count(buf) - 1
  for _, it in ipairs(all[buf] or {}) do
    it.lnum = math.min(it.lnum, last)
  end
  vim.diagnostic.set(space(), buf, all[buf] or {})
end

--- Moves the comments of a buffer whose lines from `first` to `last` were replaced. A comment on one of them stays on the
--- line with the same number, where Neovim would move it below the new lines.
---@param buf integer
---@param first integer
---@param last integer
---@param new integer the end of the new lines
---@return boolean # whether a comment was on one of the lines
local function move(buf, first, last, new)
  local on = false
  for _, it in ipairs(all[buf] or {}) do
    if it.lnum >= last then
      it.lnum = it.lnum + new - last
    elseif it.lnum >= first then
      it.lnum, on = math.max(first, math.min(it.lnum, new - 1)), true
    end
  end
  return on
end

--- Keeps the comments of a buffer on their lines while the buffer changes.
---@param buf integer
local function watch(buf)
  if watched[buf] then
    return
  end
  local due = false
  local function again()
    due = false
    local _ = api.nvim_buf_is_loaded(buf) and all[buf] and draw(buf)
  end
  watched[buf] = api.nvim_buf_attach(buf, false, {
    on_lines = function(_, _, _, first, last, new)
      if not all[buf] then
        watched[buf] = nil
        return true
      elseif move(buf, first, last, new) and not due then
        due = true
        vim.schedule(again)
      end
    end,
    on_detach = function()
      watched[buf] = nil
    end,
  })
end

--- Shows the comments of a loaded buffer.
---@param buf integer
local function show(buf)
  draw(buf)
  watch(buf)
end

--- Shows the comments now, or once the buffer is loaded.
---@param buf integer
local function show_soon(buf)
  if api.nvim_buf_is_loaded(buf) then
    return show(buf)
  end
  api.nvim_create_autocmd('BufReadPost', {
    group = api.nvim_create_augroup('caliban_comments_' .. buf, {}),
    [BUF] = buf,
    once = true,
    callback = function()
      show(buf)
    end,
  })
end

---@param items vim.quickfix.entry[]
local function add_to_list(items)
  local known = list and vim.fn.getqflist({ id = list }).id == list
  local what = { title = TITLE, items = items, id = known and list or nil }
  vim.fn.setqflist({}, known and 'a' or ' ', what)
  list = known and list or vim.fn.getqflist({ id = 0 }).id
  is_new = is_new or not known
end

--- Adds comments to those that are shown.
---@param comments caliban.Comment[]
function M.add(comments)
  local file, items, bufs = require('caliban.editor.file'), {}, {}
  for _, it in ipairs(comments) do
    local buf = file.find(it.path) or vim.fn.bufadd(names.listed(it.path))
    vim.bo[buf].buflisted = true
    local level = levels[it.severity]
    all[buf] = all[buf] or {}
    table.insert(all[buf], {
      lnum = it.line,
      col = 0,
      severity = level[1],
      message = it.text,
      source = SOURCE,
    })
    bufs[buf] = true
    items[#items + 1] = {
      bufnr = buf,
      lnum = it.line + 1,
      col = 1,
      type = level[2],
      text = names.shown((it.text:gsub('%s+', ' '))),
    }
  end
  vim.tbl_map(show_soon, vim.tbl_keys(bufs))
  add_to_list(items)
  local count = #vim.fn.getqflist({ id = list, items = 0 }).items
  local what = count == 1 and '1 comment is' or ('%d comments are'):format(count)
  local text = ('%s in the quickfix list: `:copen` shows it.'):format(what)
  require('caliban.editor.notify').say(text, vim.log.levels.INFO)
end

--- The command that goes to the next or the previous entry of the quickfix list. For a new list of comments it goes to
--- the current one, the first.
---@param step -1|1
---@return 'cc'|'cnext'|'cprevious'
function M.command(step)
  local now = vim.fn.getqflist({ id = 0, idx = 0 })
  local begins = is_new and now.id == list and now.idx == 1
  is_new = false
  return begins and 'cc' or step > 0 and 'cnext' or 'cprevious'
end

--- Removes all comments.
function M.clear()
  all = {}
  vim.diagnostic.reset(space())
  if list and vim.fn.getqflist({ id = list }).id == list then
    vim.fn.setqflist({}, 'r', { id = list, items = {}, title = TITLE })
  end
  list = nil
end

return M
