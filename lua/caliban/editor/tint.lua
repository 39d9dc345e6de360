--- The colours of diffs, mixed from the colours of the scheme. A ground is a background colour
--- behind text. The scheme's groups for added and removed lines may have a text colour, which would
--- hide the syntax, and may have no ground or a loud one. So lines and changed words get groups
--- that have only a quiet ground, and removed code gets its syntax colours, dimmed.
local M = {}

local api = vim.api

--- The group that has the text colour of `Normal` and no other attribute.
M.PLAIN = 'CalibanPlain'

--- By how much a channel (red, green or blue) of a ground may differ from the window's background:
--- for lines, for changed words, and for changed words in removed lines, whose text is dimmed.
local LINE, WORD, DIM_WORD = 36, 84, 64
--- The share of its own colour that dimmed text keeps.
local KEPT = 0.8
--- The least contrast of text on the ground of a changed word, as WCAG measures it.
local LEGIBLE = 4
--- The backgrounds of windows in schemes that leave the background to the terminal.
local BACKGROUNDS = { dark = 0x14161b, light = 0xe0e2ea }
local LEVELS = { 0, 95, 135, 175, 215, 255 } ---@type integer[]

--- The groups for which a ground is mixed, and by how much the ground may differ from the
--- background.
local LIMITS = {
  CalibanAdd = LINE,
  CalibanDelete = LINE,
  CalibanAddWord = WORD,
  CalibanDeleteWord = DIM_WORD,
}

---@class caliban.Colours
---@field fg? integer
---@field bg? integer
---@field reverse? boolean

---@param color integer
---@return integer red
---@return integer green
---@return integer blue
local function channels(color)
  return math.floor(color / 65536) % 256, math.floor(color / 256) % 256, color % 256
end

---@param r number
---@param g number
---@param b number
---@return integer
local function color_of(r, g, b)
  local function whole(x)
    return math.max(0, math.min(255, math.floor(x + 0.5)))
  end
  return whole(r) * 65536 + whole(g) * 256 + whole(b)
end

---@param from integer
---@param to integer
---@param share number of `to`, from 0 to 1
---@return integer
function M.mix(from, to, share)
  local r, g, b = channels(from)
  local R, G, B = channels(to)
  return color_of(r + (R - r) * share, g + (G - g) * share, b + (B - b) * share)
end

--- The pure hue of a colour: its brightest channel is full, its darkest one empty.
---@param color integer
---@return integer
local function hue(color)
  local r, g, b = channels(color)
  local low, high = math.min(r, g, b), math.max(r, g, b)
  local scale = high > low and 255 / (high - low) or 0
  return color_of((r - low) * scale, (g - low) * scale, (b - low) * scale)
end

--- A ground in the colour of a group. Of a text colour only the hue is used, because the colour is
--- as dark or light as text has to be, not as a ground.
---@param background integer
---@param it caliban.Colours
---@param most integer by how much a channel may differ from the background
---@return integer? # nil if the group has no colour
function M.ground(background, it, most)
  local ground = it.bg
  if it.fg and (it.reverse or not ground) then
    ground = hue(it.fg)
  end
  if not ground then
    return nil
  end
  local r, g, b = channels(background)
  local R, G, B = channels(ground)
  local far = math.max(math.abs(R - r), math.abs(G - g), math.abs(B - b))
  return M.mix(background, ground, far > most and most / far or 1)
end

--- The index of the nearest colour in a palette of 256 colours.
---@param color integer
---@param greys boolean whether the 24 greys count: they would lose the hue of a quiet ground
---@return integer
function M.index(color, greys)
  local index, off = 0, 0 ---@type integer, number
  for _, channel in ipairs({ channels(color) }) do
    local best, least = 1, math.huge
    for i, level in ipairs(LEVELS) do
      local distance = (level - channel) ^ 2
      if distance < least then
        best, least = i, distance
      end
    end
    index, off = 6 * index + best - 1, off + least
  end
  local r, g, b = channels(color)
  local step = math.max(0, math.min(23, math.floor(((r + g + b) / 3 - 8) / 10 + 0.5)))
  local grey = 8 + 10 * step
  local nearer = (grey - r) ^ 2 + (grey - g) ^ 2 + (grey - b) ^ 2 < off
  return greys and nearer and 232 + step or 16 + index
end

--- The colour of an index in the palette. The first 16 colours depend on the terminal; xterm's are
--- returned.
---@param index integer
---@return integer
function M.color(index)
  if index >= 232 then
    return (8 + 10 * (index - 232)) * 0x10101
  elseif index >= 16 then
    local n = index - 16
    local r, g, b = math.floor(n / 36), math.floor(n / 6) % 6, n % 6
    return color_of(LEVELS[r + 1] or 0, LEVELS[g + 1] or 0, LEVELS[b + 1] or 0)
  end
  local bit, level = index % 8, index >= 8 and 255 or 205
  return color_of(bit % 2 * level, math.floor(bit / 2) % 2 * level, math.floor(bit / 4) * level)
end

--- The relative luminance of a colour, as WCAG defines it.
---@param color integer
---@return number
local function luminance(color)
  local function linear(channel)
    local share = channel / 255
    return share <= 0.03928 and share / 12.92 or ((share + 0.055) / 1.055) ^ 2.4
  end
  local r, g, b = channels(color)
  return 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b)
end

---@param a integer
---@param b integer
---@return number # from 1 to 21
local function contrast(a, b)
  local one, two = luminance(a), luminance(b)
  return (math.max(one, two) + 0.05) / (math.min(one, two) + 0.05)
end

--- The colours of a group: those of a GUI, otherwise those of the palette of 256 colours.
---@param group string
---@return caliban.Colours
local function look(group)
  local hl = api.nvim_get_hl(0, { name = group, link = false })
  return {
    fg = hl.fg or hl.ctermfg and M.color(hl.ctermfg) or nil,
    bg = hl.bg or hl.ctermbg and M.color(hl.ctermbg) or nil,
    reverse = hl.reverse,
  }
end

--- The colours from which the groups were made, all in one string.
local made = ''
local background = 0
--- For each dimmed group that was made, the original group.
local dimmed = {} ---@type table<string, string>
--- The results of `M.on`: `legible[ground][group]`.
local legible = {} ---@type table<string, table<string, string>>

---@param name string
---@param group string
local function dim(name, group)
  local hl = api.nvim_get_hl(0, { name = group, link = false })
  local text = hl.fg or hl.ctermfg and M.color(hl.ctermfg) or look('Normal').fg
  local fg = text and M.mix(background, text, KEPT)
  local under = look('CalibanDeleteGround').bg
  if text and fg and under and contrast(fg, under) < LEGIBLE then
    fg = text
  end
  local opts = { fg = fg, ctermfg = fg and M.index(fg, true), italic = hl.italic, bold = hl.bold }
  opts.underline, opts.strikethrough = hl.underline, hl.strikethrough
  api.nvim_set_hl(0, name, opts --[[@as vim.api.keyset.highlight]])
end

--- Whether no terminal or window in which Neovim is shown has colours.
---@return boolean
function M.is_plain()
  local uis = api.nvim_list_uis()
  for _, ui in ipairs(uis) do
    if ui.rgb or (ui.term_colors or 0) >= 8 then
      return false
    end
  end
  return #uis > 0
end

--- Makes the groups if the colours of the scheme have changed.
function M.update()
  local normal, all = look('Normal'), { vim.o.background } ---@type caliban.Colours, string[]
  local looks = { Normal = normal } ---@type table<string, caliban.Colours>
  for group in pairs(LIMITS) do
    looks[group] = look(group)
  end
  for _, group in ipairs(vim.fn.sort(vim.tbl_keys(looks))) do
    local it = looks[group]
    all[#all + 1] = ('%s %s %s'):format(it.fg, it.bg, it.reverse)
  end
  local plain = M.is_plain()
  all[#all + 1] = tostring(plain)
  local now = table.concat(all, '|')
  if now == made then
    return
  end
  local dark = vim.o.background == 'dark'
  made, background = now, normal.bg or BACKGROUNDS[vim.o.background]
  legible = {}
  for group, most in pairs(LIMITS) do
    local ground = M.ground(background, looks[group], most)
    -- the palette has few dark colours, so the nearest one to a quiet ground may be black
    local strong = M.ground(dark and 0x121212 or 0xffffff, looks[group], dark and most + 44 or most)
    local opts = { bg = ground, ctermbg = strong and M.index(strong, false) }
    -- whole lines have signs, words have none
    opts.underline = (plain or not ground) and most ~= LINE or nil
    api.nvim_set_hl(0, group .. 'Ground', opts)
  end
  local fg = normal.fg
  api.nvim_set_hl(0, M.PLAIN, { fg = fg, ctermfg = fg and M.index(fg, true) })
  for name, group in pairs(dimmed) do
    dim(name, group)
  end
end

--- The group for the dimmed text of a highlight group.
---@param group string
---@return string
function M.dimmed(group)
  local name = 'CalibanDim' .. group
  if not dimmed[name] then
    dimmed[name] = group
    dim(name, group)
  end
  return name
end

--- The group that makes a word legible on a ground: the word's own group if it has enough contrast
--- or if plain text has no more, otherwise the group of plain text, dimmed if the word's group is
--- dimmed.
---@param ground string
---@param group string
---@return string
function M.on(ground, group)
  local known = legible[ground] or {}
  legible[ground] = known
  if not known[group] then
    local instead = dimmed[group] and M.dimmed('Normal') or M.PLAIN
    local text, under, plain = look(group).fg, look(ground).bg, look(instead).fg
    local has = text and under and contrast(text, under) or LEGIBLE
    local helps = has < LEGIBLE and under and plain and contrast(plain, under) > has
    known[group] = helps and instead or group
  end
  return known[group]
end

--- The functions to call after the scheme, 'background' or 'termguicolors' has changed.
local listeners = {} ---@type (fun())[]

---@param fn fun()
function M.listen(fn)
  table.insert(listeners, fn)
end

api.nvim_create_autocmd({ 'ColorScheme', 'OptionSet', 'UIEnter', 'UILeave' }, {
  group = api.nvim_create_augroup('caliban.editor.tint', {}),
  pattern = { '*' },
  callback = function(event)
    if
      event.event ~= 'OptionSet'
      or event.match == 'background'
      or event.match == 'termguicolors'
    then
      made = ''
      M.update()
      for _, fn in ipairs(listeners) do
        fn()
      end
    end
  end,
})

return M
