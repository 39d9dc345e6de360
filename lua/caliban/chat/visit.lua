--- Goes from the transcript to the file or the subagent's chat under the cursor.
local M = {}

local api = vim.api

--- The most bytes of an address that are shown.
local LONG = 4000

--- A window of this tab that shows a file, preferably the last used one.
---@return integer?
function M.code_window()
  local wins = api.nvim_tabpage_list_wins(0)
  table.insert(wins, 1, vim.fn.win_getid(vim.fn.winnr('#')))
  for _, win in ipairs(wins) do
    local plain = win > 0 and require('caliban.editor.file').ordinary(api.nvim_win_get_buf(win))
    if plain and api.nvim_win_get_config(win).relative == '' and not vim.wo[win].winfixbuf then
      return win
    end
  end
end

--- The file name under the cursor or, as with `gf`, the first file name after the cursor.
---@param line string
---@param col integer
---@return string name '' if there is none
---@return string after the text after the name
local function name_at(line, col)
  -- search only near the cursor, because a line may be very long
  local from, start = 0, math.max(0, col - 1024)
  line, col = line:sub(start + 1, col + 4096), col - start
  while true do
    local found = vim.fn.matchstrpos(line, [[\f\+]], from)
    local name, first, stop = found[1], found[2], found[3]
    if first < 0 then
      return '', ''
    elseif stop > col then
      name = name:gsub('([^.])[.,:;!]$', '%1')
      return name, line:sub(first + #name + 1)
    end
    from = stop
  end
end

--- Shows a file at a line, if possible in a window of this tab that shows a file.
---@param path string
---@param lnum? integer
function M.file(path, lnum)
  local win = M.code_window()
  if win then
    api.nvim_set_current_win(win)
    vim.cmd("normal! m'")
  end
  require('caliban.editor.file').show(path)
  if lnum then
    local last = api.nvim_buf_line_count(0)
    api.nvim_win_set_cursor(0, { math.min(math.max(lnum, 1), last), 0 })
  end
end

--- Opens the file under the cursor, at its line; on the call of a subagent, opens the subagent's chat.
---@param chat caliban.Chat
function M.go(chat)
  local block = require('caliban.chat.paint').at(chat, api.nvim_win_get_cursor(0)[1] - 1)
  if block and block.session then
    local open = { kind = 'open', session = block.session }
    require('caliban.chat.chats').wanted = require('caliban.program.process').ask(open)
    return
  end
  local line, col = require('caliban.chat.source').line(chat)
  local address = require('caliban.chat.markdown').link_at(line, col)
  if address then
    line, col = address, 0
  end
  local file, after = name_at(line, col)
  local lnum = after:match('^"?%s+lines=(%d+)') or after:match('^:(%d+)') or file:match(':(%d+)')
  local names, name = require('caliban.editor.name'), (file:gsub(':%d+.*$', ''))
  local path = names.meant(name, chat.root)
  local odd = require('caliban.editor.disk').odd(path)
  if name == '' or not vim.uv.fs_stat(path) or odd and vim.fn.isdirectory(path) == 0 then
    local why = (odd and '%s was not opened: ' .. odd .. '.' or "No file '%s'.")
    require('caliban.editor.notify').show(why:format(names.shown(name)), vim.log.levels.WARN)
    return
  end
  M.file(path, lnum and tonumber(lnum))
end

--- Goes to the next or the previous entry of the quickfix list, such as the model's comments of a code review, in a window
--- outside of the chats. A count repeats this.
---@param step -1|1
function M.entry(step)
  if vim.fn.getqflist({ size = 0 }).size == 0 then
    local why = 'No comments are here. `/review` has the model review a diff.'
    return require('caliban.editor.notify').show(why)
  end
  local count, outside = vim.v.count1, require('caliban.chat.outside').last()
  local win = M.code_window()
  local there = not win and outside and api.nvim_win_is_valid(outside.win) and outside.win
  if there and not require('caliban.chat.chats').of(api.nvim_win_get_buf(there)) then
    win = there
  end
  if win then
    api.nvim_set_current_win(win)
  else
    vim.cmd('aboveleft split')
    vim.wo.winfixbuf = false
  end
  local command = require('caliban.editor.comments').command(step)
  local ok, err = pcall(function()
    if command == 'cc' then
      vim.cmd.cc()
    elseif command == 'cnext' then
      vim.cmd.cnext({ count = count })
    else
      vim.cmd.cprevious({ count = count })
    end
  end)
  if not ok then
    local why = tostring(err):gsub('^.-(E%d+:)', '%1')
    require('caliban.editor.notify').show(why, vim.log.levels.WARN)
  end
end

--- The web address under the cursor: the target of a link, or an address in the text.
---@param line string
---@param col integer
---@return string?
local function web_address(line, col)
  local address = require('caliban.chat.markdown').link_at(line, col)
  if address then
    return address:match('^https?://.+')
  end
  for from, found, to in line:gmatch('()(https?://[^%s<>"`]+)()') do
    if col >= from - 1 and col < to - 1 then
      return (found:gsub('[.,:;!?)%]]+$', ''))
    end
  end
end

--- Opens the web address under the cursor in the browser; without one, the file under the cursor.
---@param chat caliban.Chat
function M.open(chat)
  local address = web_address(require('caliban.chat.source').line(chat))
  if not address then
    return M.go(chat)
  end
  local _, wrong = vim.ui.open(address)
  if wrong then
    require('caliban.editor.notify').show(wrong, vim.log.levels.WARN)
  end
end

--- Shows where the link under the cursor leads.
---@return boolean # false if there is no link
function M.show_target()
  local line, col = api.nvim_get_current_line(), api.nvim_win_get_cursor(0)[2]
  local address = require('caliban.chat.markdown').link_at(line, col)
  if address then
    -- `strtrans` spells out characters that cannot be seen or that turn the text around
    local shown = vim.fn.strtrans(vim.fn.strcharpart(address:sub(1, LONG), 0, LONG / 4))
    local place = { relative = 'cursor', row = 1, col = 0 } ---@type vim.api.keyset.win_config
    vim.schedule(function()
      require('caliban.chat.float').show({ shown }, 'Link', place, 'K')
    end)
  end
  return address ~= nil
end

--- Moves the cursor to the next or previous message of the user. A count repeats this.
---@param chat caliban.Chat
---@param step -1|1
function M.message(chat, step)
  local rows = {}
  local count = vim.v.count1
  if step < 0 then
    require('caliban.chat.above').wait(chat)
  end
  require('caliban.chat.order').last(chat, function(block, top)
    if block.shape == 'user' then
      table.insert(rows, 1, top + (block.head or 0))
    end
  end)
  local at = api.nvim_win_get_cursor(0)[1] - 1
  local ahead = vim.tbl_filter(function(r)
    return (r - at) * step > 0
  end, rows)
  local target = step > 0 and ahead[math.min(count, #ahead)]
    or ahead[math.max(1, #ahead - count + 1)]
  if target then
    vim.cmd("normal! m'")
    api.nvim_win_set_cursor(0, { target + 1, 0 })
  end
end

return M
