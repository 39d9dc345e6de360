--- Which parts of a transcript's lines a window shows, and where the others are.
local M = {}

local api, fn = vim.api, vim.fn

--- A rectangle of the screen, in rows and columns from 1.
---@class caliban.Rect
---@field top integer
---@field bottom integer
---@field left integer
---@field right integer

--- The rectangles of the screen that are covered by floating windows above `win`. Windows of one or
--- two columns are ignored: they are scroll bars and signs, which hide no words.
---@param win integer
---@return caliban.Rect[]
function M.covers(win)
  local own = api.nvim_win_get_config(win).zindex or 0
  local all = {} ---@type caliban.Rect[]
  for _, other in ipairs(api.nvim_tabpage_list_wins(0)) do
    local config = api.nvim_win_get_config(other)
    if
      config.relative ~= ''
      and not config.hide
      and (config.zindex or 0) > own
      and config.width > 2
    then
      local info = fn.getwininfo(other)[1]
      local edge = config.border and config.border ~= 'none' and 2 or 0
      table.insert(all, {
        top = info.winrow,
        bottom = info.winrow + info.height + info.winbar + edge - 1,
        left = info.wincol,
        right = info.wincol + info.width + edge - 1,
      })
    end
  end
  return all
end

---@param rects caliban.Rect[]
---@param row integer
---@param left integer
---@param right integer
---@return boolean
function M.is_covered(rects, row, left, right)
  for _, it in ipairs(rects) do
    if row >= it.top and row <= it.bottom and right >= it.left and left <= it.right then
      return true
    end
  end
  return false
end

--- Notes which characters of a partly visible line a window shows. Cells that Neovim may cover with
--- a mark (such as `<<<` or `@@@`) do not count: the first cells if the line begins above the
--- window, and the last row if the line continues below the window.
---@param win integer
---@param lnum integer
---@param text string
---@param seen table<integer, true>
---@param over caliban.Rect[] the parts of the screen where other windows cover the window
---@return boolean # whether all characters have been seen
function M.see_part(win, lnum, text, seen, over)
  local info = fn.getwininfo(win)[1]
  local top = info.winrow + info.winbar
  local bottom = top + info.height - 1
  local cut_above = fn.screenpos(win, lnum, 1).row == 0 and vim.wo[win].wrap
  local cut_below = fn.screenpos(win, lnum, #text).row == 0 and lnum > info.botline
  local all, begun = true, false
  local left = info.wincol + info.textoff
  for _, byte in ipairs(vim.str_utf_pos(text)) do
    if not seen[byte] or not begun then
      local pos = fn.screenpos(win, lnum, byte)
      -- the sign of 'listchars' is in the place of the first character after the indent
      local marked = cut_above and pos.row == top and (not begun or pos.col < left + 3)
      begun = begun or pos.row > 0
      local hidden = marked or M.is_covered(over, pos.row, pos.col, pos.endcol)
      if pos.row > 0 and not hidden and not (cut_below and pos.row >= bottom) then
        seen[byte] = true
      end
    end
    all = all and seen[byte] or false
  end
  return all
end

--- Whether a window shows all of a line.
---@param win integer
---@param lnum integer
---@param text string
---@param over caliban.Rect[] the parts of the screen where other windows cover the window
---@return boolean
function M.is_whole(win, lnum, text, over)
  return #over == 0
    and vim.wo[win].wrap
    and lnum <= fn.line('w$', win)
    and fn.screenpos(win, lnum, 1).row > 0
    and fn.screenpos(win, lnum, math.max(1, #text)).row > 0
end

---@param win integer
---@param lnum integer
---@return boolean
function M.in_fold(win, lnum)
  return vim.wo[win].foldenable
    and api.nvim_win_call(win, function()
      return fn.foldclosed(lnum) > 0
    end)
end

--- Where the parts of a line that have not been on the screen are: the user scrolls there.
---@param win integer
---@param lnum integer
---@param text string
---@param seen table<integer, true>
---@return 'up'|'down'|'right'
function M.way(win, lnum, text, seen)
  if lnum < fn.line('w0', win) then
    return 'up'
  elseif lnum > fn.line('w$', win) + 1 then
    return 'down'
  elseif not vim.wo[win].wrap then
    return 'right'
  end
  local above = fn.screenpos(win, lnum, 1).row == 0 and lnum == fn.line('w0', win)
  for _, byte in ipairs(vim.str_utf_pos(text)) do
    -- of a line that begins above the window, the parts that come before the first visible one are above
    if fn.screenpos(win, lnum, byte).row > 0 then
      break
    elseif above and not seen[byte] then
      return 'up'
    end
  end
  return 'down'
end

return M
