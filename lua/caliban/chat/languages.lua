--- The parsers of code blocks. Getting one ready reads its queries, 20 ms for some: that is done between two keys, one
--- language at a time, and its blocks are plain until then.
local M = {}

local api = vim.api

--- The parser for a word behind a fence; false where there is none.
---@type table<string, string|false>
local known = {}

--- Words whose parsers are to be found, and the buffers to be drawn anew then.
---@type table<string, table<integer, true>>
local wanted = {}

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
  for buf in pairs(bufs) do
    if known[word] and api.nvim_buf_is_valid(buf) then
      api.nvim__redraw({ buf = buf, valid = false, flush = false })
    end
  end
  if next(wanted) then
    vim.defer_fn(work, 1)
  end
end

--- The parser for what stands behind a fence: `rust`, `rs`, `sh`, `{.lua}`. Nil where there is none, or none yet: the
--- buffer is drawn anew as soon as there is.
---@param info string
---@param buf integer
---@return string?
function M.of(info, buf)
  local word = info:match('[%w_+#-]+')
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

return M
