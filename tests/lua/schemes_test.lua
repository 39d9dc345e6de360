--- Laws about Caliban's highlight groups in schemes that many people use, with dark and with light
--- backgrounds. A ground is a background colour, ink a text colour.
vim.o.termguicolors = true
local schemes = require('schemes')
vim.cmd.runtime('plugin/caliban.lua')
local T = {}

---@param colour integer
---@return number, number, number # red, green and blue, from 0 to 255
local function channels(colour)
  return math.floor(colour / 65536), math.floor(colour / 256) % 256, colour % 256
end

--- The relative luminance of WCAG.
---@param colour integer
---@return number
local function luminance(colour)
  local function linear(it)
    it = it / 255
    return it <= 0.03928 and it / 12.92 or ((it + 0.055) / 1.055) ^ 2.4
  end
  local red, green, blue = channels(colour)
  return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)
end

---@param a integer
---@param b integer
---@return number # from 1 to 21
local function contrast(a, b)
  local high, low = luminance(a), luminance(b)
  if high < low then
    high, low = low, high
  end
  return (high + 0.05) / (low + 0.05)
end

--- How far two colours are apart: the largest difference of a channel.
local function distance(a, b)
  local one, two = { channels(a) }, { channels(b) }
  local most = 0
  for i = 1, 3 do
    most = math.max(most, math.abs(one[i] - two[i]))
  end
  return most
end

local BASE = {
  0x000000,
  0xcd0000,
  0x00cd00,
  0xcdcd00,
  0x0000ee,
  0xcd00cd,
  0x00cdcd,
  0xe5e5e5,
  0x7f7f7f,
  0xff0000,
  0x00ff00,
  0xffff00,
  0x5c5cff,
  0xff00ff,
  0x00ffff,
  0xffffff,
}
--- A colour of xterm's palette.
local function xterm(number)
  if number < 16 then
    return BASE[number + 1]
  elseif number > 231 then
    return (8 + (number - 232) * 10) * 0x010101
  end
  local function step(it)
    return it == 0 and 0 or 55 + it * 40
  end
  local cube = number - 16
  return step(math.floor(cube / 36)) * 65536 + step(math.floor(cube / 6) % 6) * 256 + step(cube % 6)
end

---@class Colours the colours of a scheme's groups
---@field name string
---@field ink fun(group: string): integer
---@field ground fun(group: string): integer
---@field attributes fun(group: string): string

--- The current colours of the groups: those of a GUI, or the cterm colours as xterm shows them.
---@param name string
---@param is_dark boolean
---@param is_gui boolean
---@return Colours
local function read(name, is_dark, is_gui)
  local function get(group)
    local it = vim.api.nvim_get_hl(0, { name = group, link = false })
    if not is_gui then
      it = vim.tbl_extend('force', it.cterm or {}, { fg = it.ctermfg, bg = it.ctermbg })
      it.fg, it.bg = it.fg and xterm(it.fg), it.bg and xterm(it.bg)
    end
    return it
  end
  local normal = get('Normal')
  -- a scheme may leave the normal colours to the terminal
  local ink = normal.fg or (is_dark and 0xe5e5e5 or 0x000000)
  local ground = normal.bg or (is_dark and 0x000000 or 0xffffff)
  return {
    name = ('%s, %s%s'):format(name, is_dark and 'dark' or 'light', is_gui and '' or ', 256'),
    ink = function(group)
      local it = get(group)
      return it.reverse and (it.bg or ground) or it.fg or ink
    end,
    ground = function(group)
      local it = get(group)
      return it.reverse and (it.fg or ink) or it.bg or ground
    end,
    attributes = function(group)
      local it = get(group)
      return (it.bold and 'b' or '') .. (it.italic and 'i' or '') .. (it.underline and 'u' or '')
    end,
  }
end

--- Calls `law` with the colours of each scheme, dark and light. Fails with the schemes that break
--- the law.
---@param law fun(it: Colours, fails: fun(what: string), is_gui: boolean)
---@param terminal? boolean whether the law holds in a terminal's 256 colours too
local function each(law, terminal)
  local broken = {}
  for name, scheme in vim.spairs(schemes) do
    for _, ground in ipairs({ 'dark', 'light' }) do
      vim.cmd.highlight('clear')
      vim.o.background = ground
      scheme(ground == 'dark')
      vim.api.nvim_exec_autocmds('ColorScheme', { pattern = name })
      local has_numbers = name == 'default' or name == 'few'
      for _, is_gui in ipairs(terminal and has_numbers and { true, false } or { true }) do
        local it = read(name, ground == 'dark', is_gui)
        law(it, function(what)
          table.insert(broken, it.name .. ': ' .. what)
        end, is_gui)
      end
    end
  end
  assert(#broken == 0, '\n' .. table.concat(broken, '\n'))
end

--- Checks the contrast of a text on the ground of a group: at least `limit`, or half of the text's
--- contrast in the window if that is less.
local function readable(it, fails, text, group, limit)
  local own = contrast(it.ink(text), it.ground('Normal'))
  local ink = text == 'Normal' and it.ink(group) or it.ink(text)
  local has = contrast(ink, it.ground(group))
  if has < math.min(limit, 0.5 * own) then
    fails(('%s in %s has a contrast of %.2f, on the window %.2f'):format(text, group, has, own))
  end
end

function T.text_is_legible_on_each_background()
  each(function(it, fails, is_gui)
    if not is_gui then
      return -- the grounds are among the sixteen colours that the user sets in the terminal
    end
    readable(it, fails, 'Normal', 'CalibanCode', 4.5)
    readable(it, fails, 'Normal', 'CalibanAdd', 4)
    readable(it, fails, 'Normal', 'CalibanAddWord', 3)
    readable(it, fails, 'Normal', 'CalibanDeleteWord', 3)
    readable(it, fails, 'Comment', 'CalibanCode', 3)
    for _, group in ipairs({ 'CalibanAsk', 'CalibanError', 'CalibanNotice', 'CalibanTool' }) do
      local has = contrast(it.ink(group), it.ground('Normal'))
      if has < 2.3 then
        fails(('%s has a contrast of %.2f'):format(group, has))
      end
    end
  end)
end

function T.what_waits_for_the_user_has_a_colour_that_nothing_else_has()
  each(function(it, fails)
    for _, group in ipairs(vim.fn.getcompletion('Caliban', 'highlight')) do
      local is_same = distance(it.ink(group), it.ink('CalibanAsk')) < 24
      if group ~= 'CalibanAsk' and is_same and it.ground(group) == it.ground('CalibanAsk') then
        fails(group .. ' looks like CalibanAsk')
      end
    end
    if distance(it.ink('Normal'), it.ink('CalibanAsk')) < 24 then
      fails('CalibanAsk looks like text')
    end
    for _, group in ipairs({ 'CalibanTool', 'CalibanDim', 'CalibanNotice', 'Normal' }) do
      if distance(it.ink(group), it.ink('CalibanError')) < 24 then
        fails(group .. ' looks like CalibanError')
      end
    end
  end, true)
end

function T.the_background_of_code_differs_little_from_the_window()
  each(function(it, fails)
    local step = contrast(it.ground('CalibanCode'), it.ground('Normal'))
    if step < 1.03 or step > 1.8 then
      fails(('the ground of code has a contrast of %.2f to the window'):format(step))
    end
  end)
end

function T.added_removed_and_changed_text_look_different()
  each(function(it, fails)
    local groups = { 'CalibanAdd', 'CalibanDelete', 'CalibanAddWord', 'Normal' }
    for i, one in ipairs(groups) do
      for j = i + 1, #groups do
        local two = groups[j]
        local apart =
          math.max(distance(it.ink(one), it.ink(two)), distance(it.ground(one), it.ground(two)))
        if apart < 12 then
          fails(('%s looks like %s'):format(one, two))
        end
      end
    end
    local word, line = it.ground('CalibanAddWord'), it.ground('CalibanAdd')
    local normal = it.ground('Normal')
    if word == line and it.ink('CalibanAddWord') == it.ink('CalibanAdd') then
      fails('a changed word looks like its line')
    elseif contrast(word, normal) < 0.8 * contrast(line, normal) then
      fails('a changed word is quieter than its line')
    end
  end, true)
end

function T.headings_differ_from_each_other_and_from_text()
  each(function(it, fails)
    local seen = {}
    for _, group in ipairs({ 'Normal', 'CalibanHeading1', 'CalibanHeading2', 'CalibanHeading3' }) do
      local look = ('%06x %s'):format(it.ink(group), it.attributes(group))
      if seen[look] then
        fails(('%s looks like %s'):format(group, seen[look]))
      end
      seen[look] = group
    end
  end, true)
end

function T.text_is_legible_on_the_grounds_of_256_colours()
  local tint = require('caliban.editor.tint')
  each(function(it, fails, is_gui)
    tint.update()
    for group, limit in pairs(is_gui and {} or { Add = 4, Delete = 4, AddWord = 3, DeleteWord = 3 }) do
      local ground = 'Caliban' .. group .. 'Ground'
      readable(it, fails, 'Normal', ground, limit)
      if distance(it.ground(ground), it.ground('Normal')) < 12 then
        fails(ground .. ' looks like the window')
      end
    end
  end, true)
end

--- The attributes of the grounds of changed words.
local function of_words(it)
  return it.attributes('CalibanAddWordGround') .. ' ' .. it.attributes('CalibanDeleteWordGround')
end

function T.changed_words_are_underlined_only_where_they_have_no_colours()
  local tint, list = require('caliban.editor.tint'), vim.api.nvim_list_uis
  local function shown(uis, scheme)
    vim.cmd.highlight('clear')
    vim.o.background = 'dark'
    vim.api.nvim_list_uis = function()
      return uis
    end
    scheme()
    vim.api.nvim_exec_autocmds('ColorScheme', { pattern = 'x' })
    tint.update()
    vim.api.nvim_list_uis = list
    return of_words(read('x', true, true))
  end
  local function bare()
    for _, name in ipairs({ 'Normal', 'DiffAdd', 'DiffDelete', 'DiffChange', 'DiffText' }) do
      vim.api.nvim_set_hl(0, name, { reverse = name ~= 'Normal' })
    end
  end
  local gui, terminal = { rgb = true }, { rgb = false, term_colors = 256 }
  assert(shown({ gui }, schemes.default) == ' ')
  assert(shown({ terminal }, schemes.default) == ' ')
  assert(shown({ { rgb = false, term_colors = 0 } }, schemes.default) == 'u u')
  assert(shown({ { rgb = false, term_colors = 0 }, gui }, schemes.default) == ' ')
  assert(shown({ gui }, bare) == 'u u', 'a scheme without colours')
end

function T.without_colours_headings_and_removed_lines_have_attributes()
  vim.cmd.highlight('clear')
  vim.api.nvim_exec_autocmds('ColorScheme', { pattern = 'default' })
  local it = read('default', true, false)
  for _, group in ipairs({ 'CalibanHeading1', 'CalibanHeading3', 'CalibanDelete' }) do
    assert(it.attributes(group) ~= '', group)
  end
end

return T
