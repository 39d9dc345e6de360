--- What a file under review looks like: added and removed lines, signs, hints, and the keys that decide.
local M = {}

local api = vim.api
local maps = require('caliban.maps')
local review = require('caliban.review')

local space = api.nvim_create_namespace('caliban.review')
local hints = api.nvim_create_namespace('caliban.review.hint')
local group = api.nvim_create_augroup('caliban.overlay', {})

--- Lines above and below what windows show that are drawn too.
local MARGIN = 200
--- Beyond these, changed words are not looked for.
local MOST_LINES, MOST_BYTES = 60, 800

---@class caliban.Shown
---@field review caliban.Review
---@field keys caliban.Mapped[]
---@field above integer virtual lines above row 0

local shown = {} ---@type table<integer, caliban.Shown>

--------------------------------------------------------------------------------------------- keys

---@return caliban.Mapping[]
local function bindings()
  local function call(name, opts)
    return function()
      require('caliban.buffers')[name](opts)
    end
  end
  local function range(name)
    return function()
      local first, last = vim.fn.line('v'), vim.fn.line('.')
      api.nvim_feedkeys(vim.keycode('<Esc>'), 'nx', false)
      require('caliban.buffers')[name]({ scope = 'range', range = { first, last } })
    end
  end
  local function comment()
    require('caliban').comment(nil, { visual = vim.fn.mode() ~= 'n' })
  end
  local hunk, all = { scope = 'hunk' }, { scope = 'file' }
  return {
    { mode = 'n', lhs = ']h', rhs = call('next'), desc = 'next hunk' },
    { mode = 'n', lhs = '[h', rhs = call('prev'), desc = 'previous hunk' },
    { mode = 'n', lhs = '<localleader>a', rhs = call('accept', hunk), desc = 'accept hunk' },
    { mode = 'n', lhs = '<localleader>r', rhs = call('reject', hunk), desc = 'reject hunk' },
    { mode = 'n', lhs = '<localleader>A', rhs = call('accept', all), desc = 'accept file' },
    { mode = 'n', lhs = '<localleader>R', rhs = call('reject', all), desc = 'reject file' },
    { mode = 'n', lhs = '<localleader>c', rhs = comment, desc = 'comment on hunk' },
    { mode = 'x', lhs = '<localleader>a', rhs = range('accept'), desc = 'accept lines' },
    { mode = 'x', lhs = '<localleader>r', rhs = range('reject'), desc = 'reject lines' },
    { mode = 'x', lhs = '<localleader>c', rhs = comment, desc = 'comment on lines' },
  }
end

--------------------------------------------------------------------------------------------- drawing

---@param line string
---@return string[] words and what is between them
local function words(line)
  local out = {}
  for space_, word, other in line:gmatch('(%s*)([%w_\128-\255]*)([^%w%s_\128-\255]?)') do
    for _, part in ipairs({ space_, word, other }) do
      if part ~= '' then
        out[#out + 1] = part
      end
    end
  end
  return out
end

--- Byte ranges of the words that differ.
---@param old string
---@param new string
---@return integer[][] old, integer[][] new
local function differing(old, new)
  if #old > MOST_BYTES or #new > MOST_BYTES then
    return {}, {}
  end
  local a, b = words(old), words(new)
  local function ranges(list, at, size, out)
    local from = #table.concat(list, '', 1, at)
    if size > 0 then
      out[#out + 1] = { from, from + #table.concat(list, '', at + 1, at + size) }
    end
  end
  local left, right = {}, {}
  local runs = review.runs(a, b)
  -- lines that have little in common are not compared word by word
  local changed = 0
  for _, d in ipairs(runs) do
    changed = changed + math.max(d[2], d[4])
    ranges(a, d[1], d[2], left)
    ranges(b, d[3], d[4], right)
  end
  if changed * 2 > math.max(#a, #b) + 2 then
    return {}, {}
  end
  return left, right
end

---@param line string
---@param ranges integer[][]
---@return [string, string][] chunks
local function removed(line, ranges)
  line = line:gsub('\t', (' '):rep(vim.bo.tabstop)):gsub('%c', '?')
  local out, at = {}, 0
  for _, range in ipairs(ranges) do
    out[#out + 1] = { line:sub(at + 1, range[1]), 'CalibanDelete' }
    out[#out + 1] = { line:sub(range[1] + 1, range[2]), 'CalibanDeleteWord' }
    at = range[2]
  end
  out[#out + 1] = { line:sub(at + 1), 'CalibanDelete' }
  -- to the right edge, as a changed line is shown
  out[#out + 1] =
    { (' '):rep(math.max(0, vim.o.columns - vim.fn.strdisplaywidth(line))), 'CalibanDelete' }
  return out
end

---@param buf integer
---@param hunk caliban.Hunk
---@param from integer rows to draw
---@param to integer
---@return [string, string][][] above the removed lines, to be put above its first row
local function draw_hunk(buf, hunk, from, to)
  local above = {}
  local compare = math.min(#hunk.old, #hunk.new) <= MOST_LINES
  for i, line in ipairs(hunk.old) do
    local left, right = {}, {}
    if compare and hunk.new[i] then
      left, right = differing(line, hunk.new[i])
    end
    above[i] = removed(line, line:find('[%c]') and {} or left)
    for _, range in ipairs(right) do
      local opts =
        { end_col = range[2], hl_group = 'CalibanAddWord', priority = 210, strict = false }
      api.nvim_buf_set_extmark(buf, space, hunk.start + i - 1, range[1], opts)
    end
  end
  local first, last = math.max(hunk.start, from), math.min(hunk.start + #hunk.new, to)
  if first < last then
    local line =
      { end_row = last, hl_group = 'CalibanAdd', hl_eol = true, priority = 100, strict = false }
    api.nvim_buf_set_extmark(buf, space, first, 0, line)
  end
  for row = first, last - 1 do
    api.nvim_buf_set_extmark(
      buf,
      space,
      row,
      0,
      { sign_text = '▎', sign_hl_group = 'CalibanSign' }
    )
  end
  return above
end

---@param r caliban.Review
---@return [string, string][]
local function header(r)
  local key, n = maps.leader(), #r.hunks
  local what = ('%d change%s by Caliban%s'):format(
    n,
    n == 1 and '' or 's',
    r.auto and ', written' or ''
  )
  if r.whole then
    local title = require('caliban.whole').title(r)
    what = n > 0 and title .. ' · ' .. what or title
  end
  local text = ('%s · %sA accept file · %sR reject file'):format(what, key, key)
  return { { text, 'CalibanDim' } }
end

--- The rows to draw: those in windows and some around.
---@param buf integer
---@return integer first, integer last
local function visible(buf)
  local first, last = nil, -1 ---@type integer?, integer
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    first = math.min(first or math.huge, vim.fn.line('w0', win) - 1) --[[@as integer]]
    last = math.max(last, vim.fn.line('w$', win))
  end
  return math.max(0, (first or 0) - MARGIN), last + MARGIN
end

--- Virtual lines above row 0 show only where a window leaves room, and drawing them anew takes it.
---@param buf integer
---@return table<integer, integer> room by window, of those at the top
local function room(buf)
  local out = {}
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    local view = api.nvim_win_call(win, vim.fn.winsaveview)
    out[win] = view.topline == 1 and view.topfill or nil
  end
  return out
end

---@param buf integer
---@param before table<integer, integer>
---@param all boolean room for all lines, not just as much as before
local function make_room(buf, before, all)
  local above = shown[buf].above
  for win, fill in pairs(before) do
    api.nvim_win_call(win, function()
      vim.fn.winrestview({ topline = 1, topfill = all and above or math.min(fill, above) })
    end)
  end
end

---@param buf integer
---@param row integer
---@param lines [string, string][][]
local function put_above(buf, row, lines)
  local rows = api.nvim_buf_line_count(buf)
  local opts = { virt_lines = lines, virt_lines_above = row < rows, sign_text = nil }
  api.nvim_buf_set_extmark(buf, space, math.min(row, rows - 1), 0, opts)
end

--- All lines go.
---@param buf integer
---@param first integer
---@param last integer
local function strike(buf, first, last)
  local opts = { hl_group = 'CalibanDelete', hl_eol = true, priority = 90, strict = false }
  opts.end_row = math.min(last + 1, api.nvim_buf_line_count(buf))
  api.nvim_buf_set_extmark(buf, space, first, 0, opts)
end

--- The keys, on the hunk under the cursor.
---@param buf integer
local function hint(buf)
  api.nvim_buf_clear_namespace(buf, hints, 0, -1)
  local state = shown[buf]
  if not state or buf ~= api.nvim_get_current_buf() then
    return
  end
  local row, hunks, key = api.nvim_win_get_cursor(0)[1] - 1, state.review.hunks, maps.leader()
  local i = review.at(hunks, row)
  if i then
    local text = ('  [%d/%d] %sa accept  %sr reject  ]h next'):format(i, #hunks, key, key)
    api.nvim_buf_set_extmark(
      buf,
      hints,
      row,
      0,
      { virt_text = { { text, 'CalibanDim' } }, strict = false }
    )
  end
end

---@param r caliban.Review
---@param back boolean a window came to the top
local function paint(r, back)
  local buf = r.buf
  local before = room(buf)
  local state = shown[buf]
  api.nvim_buf_clear_namespace(buf, space, 0, -1)
  local first, last = visible(buf)
  local top = { header(r) }
  for _, hunk in ipairs(r.hunks) do
    if hunk.start > last then
      break
    elseif hunk.start + #hunk.new >= first then
      local above = draw_hunk(buf, hunk, first, last)
      if
        hunk.start == 0 and not (#hunk.new == 0 and hunk.start >= api.nvim_buf_line_count(buf))
      then
        vim.list_extend(top, above)
      elseif #above > 0 then
        put_above(buf, hunk.start, above)
      end
      if #hunk.new == 0 then
        local row = math.min(hunk.start, api.nvim_buf_line_count(buf) - 1)
        local opts = { sign_text = '▎', sign_hl_group = 'CalibanSign' }
        api.nvim_buf_set_extmark(buf, space, row, 0, opts)
      end
    end
  end
  if r.whole and r.whole.kind == 'delete' then
    strike(buf, first, last)
  end
  put_above(buf, 0, top)
  local grown = #top > state.above
  state.above = #top
  make_room(buf, before, grown or back)
  hint(buf)
end

---@param buf integer
local function listen(buf)
  api.nvim_create_autocmd({ 'CursorMoved', 'BufEnter', 'BufLeave' }, {
    group = group,
    buffer = buf,
    callback = function()
      hint(buf)
    end,
  })
  api.nvim_create_autocmd({ 'BufWinEnter', 'WinScrolled' }, {
    group = group,
    buffer = buf,
    callback = function(event)
      local state = shown[buf]
      if not state then
        return
      end
      local scroll = event.event == 'WinScrolled' and vim.v.event[event.match] or nil --[[@as { topline: integer }?]]
      local back = event.event == 'BufWinEnter' or (scroll ~= nil and scroll.topline < 0)
      paint(state.review, back)
    end,
  })
end

--- Draws a review as it stands; the first time its keys are mapped.
---@param r caliban.Review
function M.draw(r)
  if not shown[r.buf] then
    shown[r.buf] = { review = r, keys = maps.set(r.buf, bindings()), above = 0 }
    listen(r.buf)
  end
  paint(r, false)
end

--- Nothing is pending: the buffer looks and works as before.
---@param buf integer
function M.clear(buf)
  local state = shown[buf]
  shown[buf] = nil
  if not state or not api.nvim_buf_is_valid(buf) then
    return
  end
  api.nvim_clear_autocmds({ group = group, buffer = buf })
  api.nvim_buf_clear_namespace(buf, space, 0, -1)
  api.nvim_buf_clear_namespace(buf, hints, 0, -1)
  maps.clear(buf, state.keys)
end

return M
