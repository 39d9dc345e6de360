local tint = require('caliban.editor.tint')
local T = {}

local function check(background, it, most, want)
  local got = tint.ground(background, it, most)
  got = got and ('#%06x'):format(got)
  assert(got == want, ('want %s, got %s for %s'):format(want, got, vim.inspect(it)))
end

function T.a_ground_stays_near_the_background_and_keeps_its_hue()
  -- the groups DiffAdd, DiffDelete and DiffText of Neovim's default scheme, dark and light
  check(0x14161b, { fg = 0xeef1f8, bg = 0x005523 }, 36, '#093a20')
  check(0x14161b, { fg = 0xffc0b9 }, 36, '#381717')
  check(0x14161b, { bg = 0x007373 }, 84, '#026a6a')
  check(0xe0e2ea, { fg = 0x07080d, bg = 0xb3f6c0 }, 36, '#bcf2c8')
  check(0xe0e2ea, { fg = 0x590008 }, 36, '#e5bec8')
  -- in a group with `reverse`, the text colour is the ground
  check(0x000000, { fg = 0x00ff00, bg = 0x000000, reverse = true }, 40, '#002800')
  -- a ground that is near enough to the background stays as it is, and a group without colours has
  -- no ground
  check(0x101010, { bg = 0x202010 }, 36, '#202010')
  check(0x101010, {}, 36, nil)
end

function T.a_colour_is_mapped_to_the_nearest_one_of_256()
  for color, want in pairs({ [0x005f00] = 22, [0x093a20] = 22, [0xd7ffd7] = 194, [0x808080] = 102 }) do
    assert(tint.index(color, false) == want, ('%06x: %d'):format(color, tint.index(color, false)))
  end
  assert(tint.index(0x808080, true) == 244)
  for _, index in ipairs({ 16, 22, 123, 231, 244 }) do
    assert(tint.index(tint.color(index), index >= 232) == index, index)
  end
end

function T.an_illegible_word_gets_the_colour_of_plain_text()
  vim.o.termguicolors = true
  vim.cmd.runtime('plugin/caliban.lua')
  local want = { dark = tint.PLAIN, light = 'Comment' }
  for background, group in pairs(want) do
    vim.o.background = background
    tint.update()
    assert(tint.on('CalibanAddWordGround', 'Comment') == group, background)
    assert(tint.on('CalibanAddWordGround', 'Function') == 'Function', background)
  end
end

function T.removed_text_is_dimmed_unless_that_makes_it_illegible()
  vim.o.termguicolors = true
  vim.cmd.runtime('plugin/caliban.lua')
  for _, background in ipairs({ 'dark', 'light' }) do
    vim.o.background = background
    tint.update()
    local shown = tint.on('CalibanDeleteWordGround', tint.dimmed('Comment'))
    assert(shown == 'CalibanDimComment' or shown == 'CalibanDimNormal', background .. ' ' .. shown)
    assert(tint.on('CalibanDeleteWordGround', tint.dimmed('Function')) ~= tint.PLAIN, background)
  end
  -- on the light ground, a dimmed comment could not be read, so it keeps its colour
  vim.o.background = 'light'
  tint.update()
  tint.dimmed('Comment')
  local comment = vim.api.nvim_get_hl(0, { name = 'Comment', link = false })
  assert(vim.api.nvim_get_hl(0, { name = 'CalibanDimComment' }).fg == comment.fg)
end

return T
