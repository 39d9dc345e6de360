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
---@field format_item fun(item: any): string one line
---@field brief? fun(item: any, cells: integer): string one line of at most `cells` cells

--- Whether `vim.ui.select` is Neovim's own.
---@return boolean
local function is_plain()
  local select = vim.ui.select
  local info = type(select) == 'function' and debug.getinfo(select, 'S')
  return info and vim.endswith(info.source, '/vim/ui.lua') or false
end

--- Cuts a text to `cells` cells of the screen, with `…` at the end.
---@param text string
---@param cells integer
---@return string
function M.cut(text, cells)
  if vim.fn.strdisplaywidth(text) <= cells then
    return text
  end
  local count = math.min(vim.fn.strchars(text), cells)
  while count > 0 and vim.fn.strdisplaywidth(vim.fn.strcharpart(text, 0, count)) >= cells do
    count = count - 1
  end
  return vim.fn.strcharpart(text, 0, count) .. '…'
end

--- An item as one row of the screen; the row also has room for the item's number.
---@param item any
---@param opts caliban.PickOpts
---@return string
local function in_one_row(item, opts)
  local cells = vim.o.columns - 6
  return M.cut(opts.brief and opts.brief(item, cells) or opts.format_item(item), cells)
end

--- Whether a list fits on the screen with its title and prompt. An entry may take several rows.
---@param items any[]
---@param opts caliban.PickOpts
---@return boolean
local function fits_screen(items, opts)
  local rows = FREE - 2
  for i, item in ipairs(items) do
    local text = ('%d: %s'):format(i, opts.format_item(item))
    rows = rows + math.ceil(vim.fn.strdisplaywidth(text) / vim.o.columns)
    if rows > vim.o.lines then
      return false
    end
  end
  return true
end

---@param items any[]
---@param opts caliban.PickOpts
---@param chosen fun(item: any)
local function offer_all(items, opts, chosen)
  vim.ui.select(items, opts, function(item)
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
  vim.ui.input({ prompt = 'Search: ' }, function(text)
    if not text or text == '' then
      return
    end
    local wanted = vim.fn.tolower(text)
    local found = vim.tbl_filter(function(item)
      return vim.fn.tolower(opts.format_item(item)):find(wanted, 1, true) ~= nil
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
  if not is_plain() or #items <= MOST + 2 and fits_screen(items, opts) then
    return offer_all(items, opts, chosen)
  end
  local rows = {} ---@type { text: string, go: fun() }[]
  for i = 1, room do
    rows[i] = {
      text = in_one_row(items[i], opts),
      go = function()
        chosen(items[i])
      end,
    }
  end
  rows[room + 1] = {
    text = ('All %d …'):format(#items),
    go = function()
      offer_all(items, opts, chosen)
    end,
  }
  rows[room + 2] = {
    text = 'Search …',
    go = function()
      search(items, opts, chosen)
    end,
  }
  local shown = {
    prompt = opts.prompt,
    format_item = function(row)
      return row.text
    end,
  }
  vim.ui.select(rows, shown, function(row)
    if row then
      vim.cmd.redraw()
      row.go()
    end
  end)
end

return M
