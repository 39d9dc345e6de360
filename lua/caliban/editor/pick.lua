--- Lets the user choose from a list that may be long. Neovim's own `vim.ui.select` prints all rows
--- and stops after each screen, so it gets only as many items as fit on the screen. A plugin's
--- picker can search, so it gets all items.
local M = {}

--- The most rows of a long list to offer at first.
local MOST = 30
--- The rows of the screen that are kept free when the first entries of a long list are offered: for
--- the title, the two entries `All` and `Search`, and the prompt.
local FREE = 6

---@class caliban.PickOpts
---@field prompt string
---@field kind string the `kind` of `vim.ui.select`: tells a plugin's picker what the items are
---@field cells fun(item: any): string[]|string its columns, or a text that belongs to no column
---@field give? integer the column that is shortened if there is no room; default 1
---@field preview? fun(item: any, show: fun(lines: string[], filetype?: string)) shows more of an item, now or later

---@param text string
---@return string
local function icon(text)
  return require('caliban.editor.icons').of(text)
end

--- Whether `vim.ui.select` is Neovim's own.
---@return boolean
local function is_plain()
  local select = vim.ui.select
  local info = type(select) == 'function' and debug.getinfo(select, 'S')
  return info and vim.endswith(info.source, '/vim/ui.lua') or false
end

--- The cells of a row of Neovim's own list, which begins with the item's number.
---@return integer
local function row_cells()
  return vim.o.columns - 6
end

--- Whether a list fits on the screen with its title and prompt. An entry may take several rows.
---@param items any[]
---@param shown table<any, string>
---@return boolean
local function fits_screen(items, shown)
  local rows = FREE - 2
  for i, item in ipairs(items) do
    local text = ('%d: %s'):format(i, shown[item])
    rows = rows + math.ceil(vim.fn.strdisplaywidth(text) / vim.o.columns)
    if rows > vim.o.lines then
      return false
    end
  end
  return true
end

--- The items as the list shows them.
---@param items any[]
---@param opts caliban.PickOpts
---@return table<any, string>
local function lines(items, opts)
  -- a plugin's picker does not tell how wide its window is
  local room = is_plain() and row_cells() or math.max(56, math.floor(vim.o.columns * 0.8) - 8)
  local rows = vim.tbl_map(opts.cells, items)
  local laid = require('caliban.editor.columns').lay(rows, room, opts.give or 1)
  local shown = {} ---@type table<any, string>
  for i, item in ipairs(items) do
    shown[item] = icon(laid[i])
  end
  return shown
end

---@param items any[]
---@param opts caliban.PickOpts
---@param shown table<any, string>
---@param chosen fun(item: any)
local function offer_all(items, opts, shown, chosen)
  local peek = opts.preview and require('caliban.editor.preview').new(opts.preview)
  local given = {
    prompt = icon(opts.prompt),
    kind = opts.kind,
    format_item = function(item)
      return shown[item]
    end,
    preview_item = peek and peek.item,
    snacks = peek and peek.snacks,
  }
  vim.ui.select(items, given, function(item)
    local _ = peek and peek.close()
    if is_plain() then
      -- Neovim leaves its question on the screen until something is drawn over it
      vim.cmd("redraw | echo ''")
    end
    if item ~= nil then
      chosen(item)
    end
  end)
end

--- Asks for a text and offers the items that contain it.
---@param items any[]
---@param opts caliban.PickOpts
---@param chosen fun(item: any)
local function search(items, opts, chosen)
  require('caliban.editor.prompt').ask({ prompt = 'Search: ' }, function(text)
    if not text or text == '' then
      return
    end
    local wanted = vim.fn.tolower(text)
    local found = vim.tbl_filter(function(item)
      local cells = opts.cells(item)
      local text = type(cells) == 'table' and table.concat(cells, '  ') or cells --[[@as string]]
      return vim.fn.tolower(text):find(wanted, 1, true) ~= nil
    end, items)
    if #found == 0 then
      local line = ('No entry contains "%s".'):format(require('caliban.editor.name').shown(text))
      return require('caliban.editor.notify').say(line, vim.log.levels.INFO)
    end
    vim.cmd.redraw()
    M.one(found, opts, chosen)
  end)
end

--- Lets the user choose an item. Only the first items of a long list are offered at once.
---@param items any[]
---@param opts caliban.PickOpts
---@param chosen fun(item: any)
function M.one(items, opts, chosen)
  local room = math.max(1, math.min(MOST, vim.o.lines - FREE, #items))
  local shown = lines(items, opts)
  if not is_plain() or #items <= MOST + 2 and fits_screen(items, shown) then
    return offer_all(items, opts, shown, chosen)
  end
  local rows = {} ---@type { text: string, go: fun() }[]
  for i = 1, room do
    rows[i] = {
      text = require('caliban.editor.columns').cut(shown[items[i]], row_cells()),
      go = function()
        chosen(items[i])
      end,
    }
  end
  rows[room + 1] = {
    text = icon(('All %d …'):format(#items)),
    go = function()
      offer_all(items, opts, shown, chosen)
    end,
  }
  rows[room + 2] = {
    text = icon('Search …'),
    go = function()
      search(items, opts, chosen)
    end,
  }
  local given = {
    prompt = icon(opts.prompt),
    kind = opts.kind,
    format_item = function(row)
      return row.text
    end,
  }
  vim.ui.select(rows, given, function(row)
    if row then
      vim.cmd.redraw()
      row.go()
    end
  end)
end

return M
