--- Loads the Treesitter parsers of code blocks. Loading a parser can take 20 ms, because its
--- queries are read. Parsers are loaded one at a time, between two keys. Until its parser is
--- loaded, a code block has no highlights. Without a parser, a syntax file colours the block.
local M = {}

local api = vim.api

--- For each first word after a fence, the parser; false if there is none.
---@type table<string, string|false>
local known = {}

--- For each first word without a parser, the syntax file.
---@type table<string, string?>
local syntaxes = {}

--- Words whose parsers still have to be loaded, each with the buffers to redraw afterwards.
---@type table<string, table<integer, true>>
local wanted = {}

--- The first word after a fence.
local WORD = '[%w_+#-]+'

---@param lang string
---@return boolean
local function usable(lang)
  local ok, loaded = pcall(vim.treesitter.language.add, lang)
  local found, query = pcall(vim.treesitter.query.get, lang, 'highlights')
  return ok and loaded == true and found and query ~= nil
end

---@param word string
---@return string|false
local function find(word)
  local name = vim.treesitter.language.get_lang(word) or word
  if usable(name) then
    return name
  end
  local ft = vim.filetype.match({ filename = 'x.' .. word })
  name = ft and vim.treesitter.language.get_lang(ft) or name
  return usable(name) and name
end

local function work()
  local word, bufs = next(wanted)
  if not (word and bufs) then
    return
  end
  known[word], wanted[word] = find(word), nil
  syntaxes[word] = not known[word] and require('caliban.chat.syntax').name(word) or nil
  for buf in pairs(bufs) do
    if (known[word] or syntaxes[word]) and api.nvim_buf_is_valid(buf) then
      api.nvim__redraw({ buf = buf, valid = false, flush = false })
    end
  end
  if next(wanted) then
    vim.defer_fn(work, 1)
  end
end

--- The parser for the text after a fence: `rust`, `rs`, `sh`, `{.lua}`. Nil if there is no parser, or the parser is not
--- loaded yet; the buffer is redrawn once the parser is loaded.
---@param info string
---@param buf integer
---@return string?
function M.of(info, buf)
  local word = info:match(WORD)
  if not word then
    return nil
  end
  if known[word] == nil then
    if not next(wanted) then
      vim.defer_fn(work, 1)
    end
    wanted[word] = wanted[word] or {}
    wanted[word][buf] = true
  end
  return known[word] or nil
end

--- The syntax file for the text after a fence, once it is known that there is no parser.
---@param info string
---@return string?
function M.syntax(info)
  local word = info:match(WORD)
  return word and syntaxes[word]
end

return M
