-- Colour schemes like those that many people use: only the groups that Caliban's groups are linked
-- to, and those that show code. Returns, for each scheme, a function that sets its groups for a
-- dark or a light background.
local function set(groups)
  for name, it in pairs(groups) do
    if type(it) == 'string' then
      it = { link = it }
    end
    vim.api.nvim_set_hl(0, name, it)
  end
end

--- Sets the groups of a scheme with these colours.
local function scheme(c)
  set({
    Normal = {
      fg = c.text,
      bg = c.ground,
      ctermfg = c.cterm and c.cterm[1],
      ctermbg = c.cterm and c.cterm[2],
    },
    Comment = { fg = c.comment, italic = true, ctermfg = c.cterm and c.cterm[3] },
    Identifier = { fg = c.name },
    Function = { fg = c.call, bold = c.bold },
    Statement = { fg = c.keyword },
    String = { fg = c.string },
    Constant = { fg = c.constant },
    Special = { fg = c.special },
    Title = { fg = c.title or c.call, bold = true },
    CursorLine = { bg = c.line },
    DiffAdd = c.add,
    DiffDelete = c.delete,
    DiffChange = c.change,
    DiffText = c.word,
    WarningMsg = { fg = c.warn },
    WinBar = { fg = c.bar or c.text },
    StatusLine = { fg = c.text, bg = c.line },
  })
  if c.error then
    set({
      DiagnosticError = { fg = c.error },
      DiagnosticWarn = { fg = c.warn },
      DiagnosticInfo = { fg = c.info },
      DiagnosticHint = { fg = c.hint },
    })
  end
end

local function bg(colour)
  return { bg = colour }
end

return {
  default = function() end,
  gruvbox = function(is_dark)
    scheme(is_dark and {
      text = '#ebdbb2',
      ground = '#282828',
      comment = '#928374',
      name = '#83a598',
      call = '#b8bb26',
      bold = true,
      keyword = '#fb4934',
      string = '#b8bb26',
      constant = '#d3869b',
      special = '#fe8019',
      line = '#3c3836',
      add = bg('#62693e'),
      delete = bg('#722529'),
      change = bg('#49503b'),
      word = { fg = '#282828', bg = '#fabd2f' },
      error = '#fb4934',
      warn = '#fabd2f',
      info = '#83a598',
      hint = '#8ec07c',
      bar = '#a89984',
    } or {
      text = '#3c3836',
      ground = '#fbf1c7',
      comment = '#928374',
      name = '#076678',
      call = '#79740e',
      bold = true,
      keyword = '#9d0006',
      string = '#79740e',
      constant = '#8f3f71',
      special = '#af3a03',
      line = '#ebdbb2',
      add = bg('#d5d39b'),
      delete = bg('#fc9487'),
      change = bg('#e6e9c1'),
      word = { fg = '#fbf1c7', bg = '#b57614' },
      error = '#9d0006',
      warn = '#b57614',
      info = '#076678',
      hint = '#427b58',
      bar = '#7c6f64',
    })
  end,
  catppuccin = function(is_dark)
    scheme(is_dark and {
      text = '#cdd6f4',
      ground = '#1e1e2e',
      comment = '#9399b2',
      name = '#f2cdcd',
      call = '#89b4fa',
      keyword = '#cba6f7',
      string = '#a6e3a1',
      constant = '#fab387',
      special = '#f5c2e7',
      line = '#2a2b3c',
      add = bg('#364143'),
      delete = bg('#443244'),
      change = bg('#25293c'),
      word = bg('#3e4b6b'),
      error = '#f38ba8',
      warn = '#f9e2af',
      info = '#89dceb',
      hint = '#94e2d5',
      bar = '#f5e0dc',
    } or {
      text = '#4c4f69',
      ground = '#eff1f5',
      comment = '#7c7f93',
      name = '#dd7878',
      call = '#1e66f5',
      keyword = '#8839ef',
      string = '#40a02b',
      constant = '#fe640b',
      special = '#ea76cb',
      line = '#e9ebf1',
      add = bg('#d0e2d1'),
      delete = bg('#eac8d3'),
      change = bg('#e0e7f5'),
      word = bg('#b0c7f5'),
      error = '#d20f39',
      warn = '#df8e1d',
      info = '#04a5e5',
      hint = '#179299',
      bar = '#dc8a78',
    })
  end,
  tokyonight = function(is_dark)
    scheme(is_dark and {
      text = '#c0caf5',
      ground = '#1a1b26',
      comment = '#565f89',
      name = '#bb9af7',
      call = '#7aa2f7',
      keyword = '#bb9af7',
      string = '#9ece6a',
      constant = '#ff9e64',
      special = '#2ac3de',
      line = '#292e42',
      add = bg('#243e4a'),
      delete = bg('#4a272f'),
      change = bg('#1f2231'),
      word = bg('#394b70'),
      error = '#db4b4b',
      warn = '#e0af68',
      info = '#0db9d7',
      hint = '#1abc9c',
      bar = '#a9b1d6',
    } or {
      text = '#3760bf',
      ground = '#e1e2e7',
      comment = '#848cb5',
      name = '#9854f1',
      call = '#2e7de9',
      keyword = '#9854f1',
      string = '#587539',
      constant = '#b15c00',
      special = '#188092',
      line = '#c4c8da',
      add = bg('#b7ced5'),
      delete = bg('#dababe'),
      change = bg('#d5d9e4'),
      word = bg('#92a6d5'),
      error = '#c64343',
      warn = '#8c6c3e',
      info = '#07879d',
      hint = '#118c74',
      bar = '#6172b0',
    })
  end,
  -- sets no group of diagnostics, so Neovim's own stay
  solarized = function(is_dark)
    local line = is_dark and '#073642' or '#eee8d5'
    local function on(colour)
      return { fg = colour, bg = line, bold = true }
    end
    scheme({
      text = is_dark and '#839496' or '#657b83',
      ground = is_dark and '#002b36' or '#fdf6e3',
      comment = is_dark and '#586e75' or '#93a1a1',
      name = '#268bd2',
      call = '#268bd2',
      keyword = '#859900',
      string = '#2aa198',
      constant = '#2aa198',
      special = '#dc322f',
      title = '#cb4b16',
      line = line,
      add = on('#859900'),
      delete = on('#dc322f'),
      change = on('#b58900'),
      word = on('#268bd2'),
      warn = '#dc322f',
    })
  end,
  -- a short scheme, which leaves all other groups to Neovim
  few = function(is_dark)
    set({
      Normal = is_dark and { fg = '#d0d0d0', bg = '#000000', ctermfg = 252, ctermbg = 16 }
        or { fg = '#202020', bg = '#ffffff', ctermfg = 234, ctermbg = 231 },
      Comment = is_dark and { fg = '#808080', ctermfg = 244 } or { fg = '#606060', ctermfg = 241 },
      Statement = {
        fg = is_dark and '#ffaf5f' or '#af5f00',
        bold = true,
        ctermfg = is_dark and 215 or 130,
      },
      String = { fg = is_dark and '#87d787' or '#008700', ctermfg = is_dark and 114 or 28 },
    })
  end,
}
