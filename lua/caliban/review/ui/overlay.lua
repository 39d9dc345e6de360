--- Draws a file under review: the hunks in its windows, and the header above row 0. Also maps the
--- keys for decisions.
local M = {}

local api = vim.api
local BUF = require('caliban.editor.since').BUF
local drawing = require('caliban.review.ui.drawing')
local gutter = require('caliban.review.ui.gutter')
local removed = require('caliban.review.ui.removed')
local maps = require('caliban.editor.maps')
local registry = require('caliban.review.registry')
local tracking = require('caliban.review.hunks.tracking')
local undone = require('caliban.review.undone')

local struck = api.nvim_create_namespace('caliban.review.struck')
local group = api.nvim_create_augroup('caliban.review.ui.overlay', {})

--- This many rows above and below the visible rows of a window are drawn too.
local MARGIN = 50

--- The command for each action. It is shown instead of the key if the user has mapped the key to
--- something else.
local COMMANDS = {
  ['next hunk'] = ':Caliban next',
  ['accept hunk'] = ':Caliban accept',
  ['reject hunk'] = ':Caliban reject',
  ['accept file'] = ':Caliban accept file',
  ['reject file'] = ':Caliban reject file',
}

---@class caliban.Shown
---@field review caliban.Review
---@field keys caliban.Mapped[]
---@field drawn table<string[], caliban.Drawn> by the hunk's `new`
---@field style string the values of the options that the drawing depends on
---@field top? caliban.Top
---@field above integer the number of virtual lines above row 0

---@class caliban.Top the virtual lines above row 0
---@field mark integer
---@field head [string, string][][] the header
---@field drawn? caliban.Drawn the hunk at row 0, whose removed lines are shown below the header

local shown = {} ---@type table<integer, caliban.Shown>
--- The keys of buffers in which nothing waits any more, while the user is still there and other files wait.
local lingering = {} ---@type table<integer, caliban.Mapped[]?>

--------------------------------------------------------------------------------------------- keys

---@return caliban.Mapping[]
local function bindings()
  local function call(name, opts)
    return function()
      registry[name](opts)
    end
  end
  local function range(name)
    return function()
      local first, last = vim.fn.line('v'), vim.fn.line('.')
      api.nvim_feedkeys('\27', 'nx', false)
      registry[name]({ scope = 'range', range = { first, last } })
    end
  end
  local comment = '<Plug>(caliban-comment)'
  local hunk, all, every = { scope = 'hunk' }, { scope = 'file' }, { scope = 'all' }
  return {
    { mode = 'n', lhs = ']h', rhs = '<Plug>(caliban-next)', desc = 'next hunk' },
    { mode = 'n', lhs = '[h', rhs = '<Plug>(caliban-prev)', desc = 'previous hunk' },
    { mode = 'n', lhs = '<localleader>a', rhs = call('accept', hunk), desc = 'accept hunk' },
    { mode = 'n', lhs = '<localleader>r', rhs = call('reject', hunk), desc = 'reject hunk' },
    { mode = 'n', lhs = '<localleader>A', rhs = call('accept', all), desc = 'accept file' },
    { mode = 'n', lhs = '<localleader>*', rhs = call('accept', every), desc = 'accept all files' },
    { mode = 'n', lhs = '<localleader>R', rhs = call('reject', all), desc = 'reject file' },
    { mode = 'n', lhs = '<localleader>c', rhs = comment, desc = 'comment on hunk' },
    { mode = 'x', lhs = '<localleader>a', rhs = range('accept'), desc = 'accept lines' },
    { mode = 'x', lhs = '<localleader>r', rhs = range('reject'), desc = 'reject lines' },
    { mode = 'x', lhs = '<localleader>c', rhs = comment, desc = 'comment on lines' },
  }
end

--- The key for an action, or a command if the user has mapped the key to something else.
---@param buf integer
---@param desc caliban.ReviewKey
---@return string
function M.key(buf, desc)
  local keys = shown[buf] and shown[buf].keys or lingering[buf]
  return keys and maps.key(buf, keys, desc) or COMMANDS[desc]
end

--- The keys of the current buffer in words, if it is under review. Only the keys that work at the cursor.
---@return string[]
function M.keys()
  local buf, out = api.nvim_get_current_buf(), {} ---@type integer, string[]
  local r = shown[buf] and shown[buf].review
  if lingering[buf] then
    return { require('caliban.review.ui.hint').worded(M.key(buf, 'next hunk'), 'next') }
  elseif not r or undone.holds(r) or tracking.is_undoing(r) or tracking.count(r) == 0 then
    return out
  end
  local worded = require('caliban.review.ui.hint').worded
  if tracking.at(r, api.nvim_win_get_cursor(0)[1] - 1) then
    out = {
      worded(M.key(buf, 'accept hunk'), 'accept'),
      worded(M.key(buf, 'reject hunk'), 'reject'),
    }
  end
  out[#out + 1] = worded(M.key(buf, 'next hunk'), 'next')
  return out
end

--- The message for a cursor that is on no hunk.
---@return string
function M.no_hunk()
  local key = M.key(api.nvim_get_current_buf(), 'next hunk')
  return ('No hunk here. %s goes to the next one.'):format(key)
end

--------------------------------------------------------------------------------------------- drawing

--- The header above a file under review.
---@param r caliban.Review
---@return string
---@return string brief the header in fewer words
local function header(r)
  if undone.holds(r) then
    return undone.words, undone.words
  end
  local n = tracking.count(r)
  local accept, reject = M.key(r.buf, 'accept file'), M.key(r.buf, 'reject file')
  local worded = require('caliban.review.ui.hint').worded
  local keys = ('%s · %s'):format(worded(accept, 'accept file'), worded(reject, 'reject file'))
  local title = r.whole and require('caliban.review.whole_words').title(r)
  ---@param by string
  local function with(by)
    local on_disk = require('caliban.review.on_disk').words(r)
    local written = on_disk and ', ' .. on_disk or ''
    local count = ('%d change%s%s%s'):format(n, n == 1 and '' or 's', by, written)
    local what = title and n == 0 and title or title and title .. ' · ' .. count or count
    what = r.create and 'new file · ' .. what or what
    return require('caliban.editor.icons').of(what .. ' · ' .. keys)
  end
  return with(' by Caliban'), with('')
end

--- The header as virtual lines. Neovim does not wrap virtual lines, so they are wrapped here to the buffer's narrowest
--- window.
---@param buf integer
---@param text string
---@param brief string shown instead of `text` if `text` is too wide
---@return [string, string][][]
local function header_lines(buf, text, brief)
  local wrap = require('caliban.editor.wrap')
  local narrowest = wrap.narrowest(buf)
  local rows = { text }
  if narrowest and api.nvim_strwidth(text) > narrowest.room then
    rows = wrap.rows(brief, narrowest.room, '  ')
  end
  return vim.tbl_map(function(row)
    return { { row, 'CalibanDim' } }
  end, rows)
end

--- The rows to draw for each window: the visible rows, and `MARGIN` rows above and below them.
---@param buf integer
---@return [integer, integer][]
local function visible(buf)
  return vim.tbl_map(function(win)
    local first, last = vim.fn.line('w0', win), vim.fn.line('w$', win)
    return { math.max(0, first - 1 - MARGIN), last + MARGIN }
  end, vim.fn.win_findbuf(buf))
end

--- The number of virtual lines above row 0 that each window shows, so that they can be shown again
--- after they are redrawn.
---@param buf integer
---@return table<integer, integer> the number of lines by window, for the windows that show row 0 at the top
local function room(buf)
  local out = {}
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    local view = api.nvim_win_call(win, vim.fn.winsaveview)
    out[win] = view.topline == 1 and view.topfill or nil
  end
  return out
end

--- Shows the virtual lines above row 0 again.
---@param buf integer
---@param before table<integer, integer> as `room` returned it before the drawing
---@param all boolean whether to show all lines, not only as many as before
local function make_room(buf, before, all)
  local above = shown[buf].above
  for win, fill in pairs(before) do
    api.nvim_win_call(win, function()
      vim.fn.winrestview({ topline = 1, topfill = all and above or math.min(fill, above) })
    end)
  end
end

--- Removes the empty rows that erased virtual lines leave at the top of windows. Neovim removes
--- them in the current window only, and fills them with dashes in the others.
---@param buf integer
local function close_room(buf)
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    local view, top = api.nvim_win_call(win, vim.fn.winsaveview), vim.fn.line('w0', win) - 1
    local at = { start_row = top, end_row = top }
    local there = view.topfill > 0 and api.nvim_win_text_height(win, at).fill
    if there and there < view.topfill then
      api.nvim_win_call(win, function()
        vim.fn.winrestview({ topfill = there })
      end)
    end
  end
end

--- Strikes out the lines of a file that is to be deleted.
---@param buf integer
---@param rows [integer, integer][]
local function strike(buf, rows)
  local opts = { hl_group = 'CalibanDelete', hl_eol = true, priority = 90, strict = false }
  for _, range in ipairs(rows) do
    opts.end_row = math.min(range[2] + 1, api.nvim_buf_line_count(buf))
    api.nvim_buf_set_extmark(buf, struck, range[1], 0, opts)
  end
end

--- Shows the keys on the hunk under the cursor.
---@param buf integer
local function hint(buf)
  local state = shown[buf] ---@as caliban.Shown?
  if state and not tracking.is_undoing(state.review) then
    require('caliban.review.ui.hint').show(state.review, M.key)
  end
end

--- Draws the virtual lines above row 0: the header, and lines removed there.
---@param r caliban.Review
---@param drawn? caliban.Drawn the hunk at row 0
---@param back boolean whether a window has scrolled back to the top
---@param marks table<integer, integer> by id: the place of each mark
---@param head [string, string][][]
---@param before? table<integer, integer> as `room` returned it before marks were erased
local function draw_top(r, drawn, back, marks, head, before)
  local buf, state = r.buf, shown[r.buf]
  local top = state.top
  local stays = top
    and marks[top.mark] == 0
    and vim.deep_equal(top.head, head)
    and top.drawn == drawn
  if stays and not back then
    return
  end
  before = before or room(buf)
  local lines = vim.list_extend(gutter.indented(buf, head), drawn and drawn.above or {})
  local grown = #lines > state.above
  if not stays then
    local mark = drawing.above(buf, 0, lines, top and top.mark)
    state.top, state.above = { mark = mark, head = head, drawn = drawn }, #lines
  end
  make_room(buf, before, grown or back)
end

local paint ---@type fun(r: caliban.Review, back: boolean)

--- Draws the hunks that are not drawn yet, and erases hunks that no longer exist.
---@param r caliban.Review
---@param back boolean whether a window has scrolled back to the top
function paint(r, back)
  local buf, state = r.buf, shown[r.buf]
  local tabs = vim.bo[buf].vartabstop .. ' ' .. vim.bo[buf].tabstop
  local cells = gutter.measure(buf, function()
    local stands = shown[buf] == state and api.nvim_buf_is_loaded(buf)
    local _ = stands and not tracking.is_undoing(r) and paint(r, false)
  end)
  local style = ('%d %s %s %s'):format(vim.o.columns, tabs, vim.bo[buf].filetype, cells)
  local room_before ---@type table<integer, integer>?
  if style ~= state.style then
    room_before = room(buf)
    drawing.clear(buf)
    -- `top` is reset, because a new mark of a hunk may get the id of the erased `top.mark`
    state.drawn, state.top, state.style = {}, nil, style
  end
  local before, after, top = state.drawn, {}, nil ---@type table<string[], caliban.Drawn>, table<string[], caliban.Drawn>, caliban.Drawn?
  local marks, ranges = drawing.marks(buf), visible(buf)
  -- the header is made only where it is about to be seen
  local is_near = false
  for _, rows in ipairs(ranges) do
    is_near = is_near or rows[1] == 0
  end
  -- new marks make Neovim measure the windows again, so the header is made before them; but the
  -- first marks may add the sign column, which narrows the windows, and then the header is made
  -- after them
  local head = is_near and state.top and header_lines(buf, header(r))
  -- called once the parser of the file's language is loaded: draws the hunks again, with syntax
  local function anew()
    if shown[buf] == state and api.nvim_buf_is_loaded(buf) and not tracking.is_undoing(r) then
      state.style = ''
      paint(r, false)
    end
  end
  for _, rows in ipairs(ranges) do
    local near = tracking.near(r, rows[1], rows[2])
    local code = removed.excerpt(buf, near, anew)
    for _, hunk in ipairs(near) do
      local it = drawing.draw(buf, hunk, rows, marks, before[hunk.new], after[hunk.new], code)
      before[hunk.new], after[hunk.new] = nil, it
      top = hunk.start == 0 and it or top
    end
  end
  for _, it in pairs(before) do
    drawing.erase(buf, it)
  end
  if next(before) then
    close_room(buf)
  end
  state.drawn = after
  api.nvim_buf_clear_namespace(buf, struck, 0, -1)
  if r.whole and r.whole.kind == 'delete' then
    strike(buf, ranges)
  end
  if is_near or not state.top then
    draw_top(r, top, back, marks, head or header_lines(buf, header(r)), room_before)
  end
  hint(buf)
end

require('caliban.editor.tint').listen(function()
  for _, state in pairs(shown) do
    state.style = ''
    vim.schedule(function()
      local _ = shown[state.review.buf] == state
        and not tracking.is_undoing(state.review)
        and paint(state.review, false)
    end)
  end
end)

---@param buf integer
local function listen(buf)
  api.nvim_create_autocmd({ 'CursorMoved', 'BufEnter', 'BufLeave' }, {
    group = group,
    [BUF] = buf,
    callback = function(event)
      local state = shown[buf]
      -- if the buffer was loaded without a window, a plugin may have mapped its keys only at this
      -- event
      if
        event.event == 'BufEnter'
        and state
        and maps.take(buf, state.keys)
        and not tracking.is_undoing(state.review)
      then
        require('caliban.review.ui.hint').clear(buf)
        return paint(state.review, false)
      end
      hint(buf)
    end,
  })
  api.nvim_create_autocmd({ 'BufWinEnter', 'WinScrolled' }, {
    group = group,
    [BUF] = buf,
    callback = function(event)
      local state = shown[buf]
      if not state or tracking.is_undoing(state.review) then
        return
      end
      local scroll = event.event == 'WinScrolled' and vim.v.event[event.match] or nil --[[@as { topline: integer }?]]
      local back = event.event == 'BufWinEnter' or (scroll ~= nil and scroll.topline < 0)
      paint(state.review, back)
    end,
  })
end

--- Shows the virtual lines above row 0, if the window has room for them and for the first rows.
---@param buf integer shown in the current window
---@param last integer the last row that must stay visible
function M.uncover(buf, last)
  local state = shown[buf] ---@as caliban.Shown?
  local win = api.nvim_get_current_win()
  local rows = math.min(last + vim.wo.scrolloff, api.nvim_buf_line_count(buf) - 1)
  if not state or rows >= api.nvim_win_get_height(win) then
    return
  end
  local height = vim.fn.getwininfo(win)[1].height
  -- a very long line does not fit, and Neovim would need a long time to measure it
  local bytes = api.nvim_buf_get_offset(buf, rows + 1)
  if rows >= height or bytes > 8 * height * vim.o.columns then
    return
  elseif api.nvim_win_text_height(win, { end_row = rows }).all <= height then
    vim.fn.winrestview({ topline = 1, topfill = state.above })
  end
end

--- Restores the user's keys in a buffer in which Caliban's still work.
---@param buf integer
local function release(buf)
  local keys = lingering[buf]
  lingering[buf] = nil
  if keys and api.nvim_buf_is_valid(buf) then
    maps.clear(buf, keys)
  end
end

--- Restores the user's keys, or leaves Caliban's until the user leaves the buffer, if changes in other files wait: the user
--- goes on with the keys of the last file, which would else change the text.
---@param buf integer
---@param keys caliban.Mapped[]
local function leave(buf, keys)
  local others = vim.tbl_filter(function(r)
    return r.buf ~= buf
  end, registry.open())
  lingering[buf] = keys
  if #others == 0 or buf ~= api.nvim_get_current_buf() then
    return release(buf)
  end
  api.nvim_create_autocmd('BufLeave', {
    group = group,
    [BUF] = buf,
    once = true,
    callback = function()
      release(buf)
    end,
  })
end

--- Draws a review. Maps its keys the first time.
---@param r caliban.Review
---@param decided? boolean whether the user has just decided something
function M.draw(r, decided)
  local is_new = not shown[r.buf]
  if is_new then
    release(r.buf)
    local keys = maps.set(r.buf, bindings())
    shown[r.buf] = { review = r, keys = keys, drawn = {}, style = '', above = 0 }
    listen(r.buf)
  end
  -- Neovim has no event for `:highlight`, and comparing the colours at each key would take too long
  if is_new or decided then
    require('caliban.editor.tint').update()
  end
  paint(r, false)
end

--- Called when nothing is pending: erases the hunks and restores the user's keys.
---@param buf integer
function M.clear(buf)
  local state = shown[buf]
  shown[buf] = nil
  if not state or not api.nvim_buf_is_valid(buf) then
    return
  end
  api.nvim_clear_autocmds({ group = group, [BUF] = buf })
  drawing.clear(buf)
  gutter.forget(buf)
  require('caliban.review.ui.hint').clear(buf)
  api.nvim_buf_clear_namespace(buf, struck, 0, -1)
  close_room(buf)
  leave(buf, state.keys)
end

---@param r caliban.Review
local function clear(r)
  M.clear(r.buf)
  if #registry.open() == 0 then
    for _, buf in ipairs(vim.tbl_keys(lingering)) do
      release(buf)
    end
  end
end

require('caliban.review.listeners').add({
  pending = M.draw,
  cleared = clear,
  closed = clear,
  parsed = function(r)
    hint(r.buf)
  end,
  missed = function()
    require('caliban.editor.notify').show(M.no_hunk())
  end,
})

return M
