--- The bars of a chat: its state above the transcript, a rule between transcript and composer, and the keys for the next
--- step below the composer. Where the statusline is the user's or a plugin's, the keys are above the composer.
local M = {}

local api = vim.api

--- Values of 'winhighlight' for a statusline that is drawn as a rule or as a line of keys.
local RULE = 'StatusLine:WinSeparator,StatusLineNC:WinSeparator'
local KEYS = 'StatusLine:WinBarNC,StatusLineNC:WinBarNC'

--- Whether a window has a statusline, and neither the user nor a plugin has set statuslines or winbars.
---@param win integer
---@return boolean
local function is_plain(win)
  return vim.o.laststatus == 2
    and vim.go.statusline == api.nvim_get_option_info2('statusline', {}).default
    and vim.go.winbar == ''
    and api.nvim_win_get_config(win).relative == ''
end

--- Adds values to an option, before those of the user, which then take precedence. Or removes the
--- added values.
---@param win integer
---@param option 'winhighlight'|'fillchars'
---@param values string
---@param present boolean whether the values are added, not removed
local function put(win, option, values, present)
  local now = vim.wo[win][option] --[[@as string]]
  local theirs = vim.startswith(now, values) and now:sub(#values + 2) or now
  local all = present and values .. (theirs == '' and '' or ',') .. theirs or theirs
  if now ~= all then
    vim.wo[win][0][option] = all
  end
end

--- Makes the statusline of a transcript's window a rule, which names the number of lines below the window.
---@param win integer
---@return boolean # whether the rule is drawn
local function rule(win)
  local name, sign = require('caliban.editor.name'), require('caliban.editor.icons').of('─')
  -- with 'ambiwidth' the sign may be too wide for 'fillchars'
  sign = api.nvim_strwidth(sign) == 1 and sign or '-'
  local below = require('caliban.chat.below').words(win)
  local line = '%%=' .. (below and '%%#CalibanDim# %s ' or '')
  local drawn = name.statusline(win, is_plain(win) and line or nil, below or '')
  put(win, 'winhighlight', RULE, drawn)
  put(win, 'fillchars', ('stl:%s,stlnc:%s'):format(sign, sign), drawn)
  return drawn
end

--- Sets the winbar and the rule of a transcript's window. Without a rule, the winbar names the number of lines below the
--- window.
---@param chat caliban.Chat
---@param win integer
---@return boolean # whether the winbar is shown
---@return string[] below the words for the lines below the window, and shorter ones, if the rule does not name them
function M.state(chat, win)
  local below = not rule(win) and { require('caliban.chat.below').words(win) } or {}
  local width = api.nvim_win_get_width(win) - 2
  local left, right = require('caliban.chat.status').line(chat, width, below[1], below[2])
  local texts = {} ---@type string[]
  ---@param chunk caliban.Chunk
  local function format(chunk)
    table.insert(texts, chunk[1])
    return chunk[2] and '%%#' .. chunk[2] .. '#%s%%*' or '%s'
  end
  local items = '%%< ' .. table.concat(vim.tbl_map(format, left))
  if #right > 0 then
    items = items .. '%%=  ' .. table.concat(vim.tbl_map(format, right)) .. ' '
  end
  return require('caliban.editor.name').winbar(win, items, unpack(texts) --[[@as string]]), below --[[@as string[] ]]
end

--- Shows the keys at a composer's window.
---@param chat caliban.Chat
---@param win integer
function M.keys(chat, win)
  local name = require('caliban.editor.name')
  local shown = require('caliban.chat.hint').of(chat, api.nvim_win_get_width(win) - 2)
  local line = '%%=%%<%%#CalibanDim# %s '
  local below = name.statusline(win, is_plain(win) and line or nil, shown)
  put(win, 'winhighlight', KEYS, below)
  name.winbar(win, below and '' or line, shown)
end

return M
