--- The colours of code in languages without a Treesitter parser, from Neovim's own syntax files. They are computed in a
--- scratch buffer, between two keys, once for each closed block and each command in a question that is drawn.
local M = {}

local api = vim.api

--- The most lines of a block and bytes of a line that are coloured.
local LINES, BYTES = 200, 200
--- How long one step may take, in nanoseconds.
local STEP = 2e6

--- The languages whose syntax files are loaded, and other words for them. A word of the model's is only looked up here.
local NAMES =
  [[ada applescript asm awk bash basic bib c clojure cmake cobol cpp crystal cs css csv cuda d dart diff
  dockerfile dosbatch dosini ebnf elixir elm erlang eruby fish forth fortran gdscript gitcommit glsl gnuplot go gomod
  graphql groovy haml handlebars haskell haxe hcl hlsl html htmldjango http idris2 java javascript javascriptreact jinja
  jq json json5 jsonc julia just kotlin latex less lisp lua make markdown matlab mermaid meson nginx nim ninja nix nu
  objc objcpp ocaml octave odin pascal perl php plsql postscr prolog proto ps1 pug purescript python qml r racket raku
  rst ruby rust sass scala scheme scss sh sml solidity sparql sql ssh_config svelte swift systemd systemverilog tcl
  terraform tex tmux toml typescript typescriptreact typst v vala verilog vhdl vim vue wast xml yaml zig zsh]]
local ALIASES = {
  console = 'sh',
  ['c#'] = 'cs',
  csharp = 'cs',
  docker = 'dockerfile',
  golang = 'go',
  ini = 'dosini',
  makefile = 'make',
  patch = 'diff',
  powershell = 'ps1',
  shell = 'sh',
}

local known = {} ---@type table<string, string?>
for name in NAMES:gmatch('%S+') do
  known[name] = name
end

--- Code that is coloured: a code block, or the command in a question.
---@class caliban.Colored
---@field colors? table<integer, integer[]?> the spans of each line, from 1, if a syntax file colours the code

---@class caliban.Coloring
---@field name string
---@field of caliban.Colored
---@field lines string[]
---@field buf integer the transcript
---@field at integer the number of lines that are done

--- The names of the syntax files that there are, once they are needed.
local files ---@type table<string, true>?

local waiting = {} ---@type caliban.Coloring[]
--- The buffer with the code that is being coloured.
local scratch ---@type integer?

--- The name of the syntax file for the word after a fence; nil if there is none.
---@param word string
---@return string?
function M.name(word)
  local lower = word:lower()
  local name = known[ALIASES[lower] or lower]
  if not name then
    local ft = #word <= 10 and vim.filetype.match({ filename = 'x.' .. lower })
    name = ft and known[ft] or nil
  end
  if name and not files then
    files = {}
    for _, path in ipairs(api.nvim_get_runtime_file('syntax/*.vim', true)) do
      files[vim.fs.basename(path):sub(1, -5)] = true
    end
  end
  return name and files and files[name] and name or nil
end

--- The spans of a line: three numbers for each.
---@param lnum integer
---@param text string
---@return integer[]
local function spans(lnum, text)
  local found = {} ---@type integer[]
  local at = 1
  while true do
    local from = text:find('%S', at)
    if not from or from > BYTES then
      return found
    end
    -- a word has one colour, so only its first character is looked at; after `\`, one character belongs to the `\`
    local _, to = text:find('^[%w_\128-\255]+', from)
    to = text:byte(from - 1) ~= 92 and to or from
    local id = vim.fn.synID(lnum, from, 1)
    local n = #found
    if id > 0 and found[n] == id and found[n - 1] == from - 1 then
      found[n - 1] = to
    elseif id > 0 then
      found[n + 1], found[n + 2], found[n + 3] = from - 1, to, id
    end
    at = to + 1
  end
end

---@param job caliban.Coloring
local function prepare(job)
  if scratch and api.nvim_buf_is_valid(scratch) then
    api.nvim_buf_delete(scratch, { force = true })
  end
  scratch = require('caliban.editor.scratch').new()
  api.nvim_buf_set_lines(scratch, 0, -1, false, job.lines)
  vim.bo[scratch].syntax = job.name
end

--- Colours lines until the step's time is over.
---@param job caliban.Coloring
local function color(job)
  local till = vim.uv.hrtime() + STEP
  local done = job.of.colors or {}
  while job.at < #job.lines and vim.uv.hrtime() < till do
    job.at = job.at + 1
    done[job.at] = spans(job.at, job.lines[job.at])
  end
  job.of.colors = done
end

local function work()
  local job = waiting[1]
  if not job then
    return
  end
  if job.at == 0 then
    prepare(job)
  end
  local buf = scratch or 0
  local ok = api.nvim_buf_is_valid(buf)
    and pcall(api.nvim_buf_call, buf, function()
      color(job)
    end)
  if not ok or job.at >= #job.lines then
    table.remove(waiting, 1)
    if ok and api.nvim_buf_is_valid(job.buf) then
      api.nvim__redraw({ buf = job.buf, valid = false, flush = false })
    end
  end
  if #waiting > 0 then
    return vim.defer_fn(work, 1)
  end
  pcall(api.nvim_buf_delete, buf, { force = true })
  scratch = nil
end

--- The colours of a line of a closed code block. Nil while they are not known; the buffer is redrawn once they are.
---@param fence caliban.Fence
---@param name string the syntax file
---@param buf integer the transcript
---@param row integer the row of the block's first line of code
---@param count integer the lines of code
---@param i integer the line's index in the code, from 0
---@return integer[]?
function M.of(fence, name, buf, row, count, i)
  if not fence.colors then
    local lines = api.nvim_buf_get_lines(buf, row, row + math.min(count, LINES), false)
    M.color(fence, name, lines, buf)
  end
  return fence.colors and fence.colors[i + 1]
end

--- Begins to colour code. The buffer is redrawn once all colours are known.
---@param of caliban.Colored
---@param name string the syntax file
---@param lines string[] at most the first `LINES` lines are coloured
---@param buf integer the transcript
function M.color(of, name, lines, buf)
  of.colors = {}
  local cut = {} ---@type string[]
  for n = 1, math.min(#lines, LINES) do
    cut[n] = lines[n]:sub(1, 4 * BYTES)
  end
  waiting[#waiting + 1] = { name = name, of = of, lines = cut, buf = buf, at = 0 }
  if #waiting == 1 then
    vim.defer_fn(work, 1)
  end
end

return M
