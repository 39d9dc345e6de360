--- The signs that Caliban draws and writes, as the setting `icons` wants them. The code names a sign by its Unicode
--- character; this table has the others. Only texts of Caliban's own are put through it: a model's text, a file's, and the
--- commands in questions stay as they are.
local M = {}

--- Without ASCII signs that are wider than the Unicode ones, except where a text only gets longer.
---@type table<string, string>
local ascii = {
  ['┃'] = '|', -- the user's messages
  ['▏'] = '|', -- context
  ['▎'] = '|', -- quotes and changes
  ['▸'] = '+', -- closed
  ['▾'] = '-', -- open
  ['●'] = '*', -- working
  ['○'] = 'o', -- idle
  ['◷'] = '@', -- waits
  ['✓'] = 'v', -- done
  ['✔'] = 'v',
  ['✗'] = 'x',
  ['⠋'] = '|', -- the spinner
  ['⠙'] = '/',
  ['⠸'] = '-',
  ['⠴'] = '\\',
  ['⠦'] = '|',
  ['⠇'] = '/',
  ['•'] = '*', -- bullets
  ['☐'] = '-', -- tasks
  ['☑'] = 'x',
  ['─'] = '-', -- rules and tables
  ['│'] = '|',
  ['┼'] = '+',
  ['·'] = '-', -- between the parts of a line
  ['›'] = '>',
  ['↪'] = '>', -- goes on
  ['↳'] = '>', -- a subagent
  ['→'] = '->',
  ['⏎'] = '\\n',
  ['…'] = '...',
  ['\u{a0}'] = ' ',
  ['⋯'] = '...', -- between the hunks of a diff
  ['—'] = '--',
  ['–'] = '-',
  ['×'] = 'x',
  ['“'] = '"',
  ['”'] = '"',
  ['‘'] = "'",
  ['’'] = "'",
}

--- Signs of fonts that are patched by Nerd Fonts.
---@type table<string, string>
local nerd = {
  ['▸'] = '\u{f460}',
  ['▾'] = '\u{f47c}',
  ['●'] = '\u{f444}',
  ['○'] = '\u{f4aa}',
  ['◷'] = '\u{f43a}',
  ['✓'] = '\u{f42e}',
  ['☐'] = '\u{f0131}',
  ['☑'] = '\u{f0c52}',
}

local sets = { ascii = ascii, nerd = nerd } ---@type table<string, table<string, string>>

--- A character of more than one byte.
local WIDE = '[\194-\244][\128-\191]*'

--- The set of the setting; nil for Unicode.
local current ---@type table<string, string>?

--- Takes the setting `icons`.
---@param name string
function M.use(name)
  current = sets[name]
end

--- A text of Caliban's own with the signs of the setting.
---@param text string
---@return string
function M.of(text)
  return current and (text:gsub(WIDE, current)) or text
end

--- The border of a small window.
---@return any
function M.border()
  return current == ascii and { '+', '-', '+', '|', '+', '-', '+', '|' } or 'single'
end

--- The blocks whose lines are Caliban's own words.
---@type table<string, boolean?>
local OWN = { notice = true, error = true, intro = true, plan = true }
--- The blocks of which only the signs at the beginnings of lines are: what the user agrees to or sends stays exact.
---@type table<string, boolean?>
local SIGNED = { ask = true, queue = true }
--- The blocks whose first line is; below are results, files or thoughts.
---@type table<string, boolean?>
local HEADED = { tool = true, thinking = true, boundary = true }

--- A line in which only the sign at its beginning is Caliban's own.
---@param line string
---@return string
local function begun(line)
  local blank, sign, rest = line:match('^(%s*)(' .. WIDE .. ')(.*)$')
  return sign and blank .. M.of(sign) .. rest or line
end

--- Whether a line below an edit is none of its diff, whose lines begin with a sign.
---@param line string
---@return boolean
local function is_apart(line)
  return line == '    ⋯' or line:find('^    … %d+ more lines$') ~= nil
end

--- The line of a worker. The title is a model's and stays as it is.
---@param worker caliban.WorkerRow
---@return string
local function of_worker(worker)
  local to = worker.parts[2]
  worker.line = worker.line:sub(1, to) .. M.of(worker.line:sub(to + 1))
  return worker.line
end

--- The line of a call, whose parts keep their places. What the model wrote in it stays as it is.
---@param call caliban.CallLine
---@param line string
---@return string
local function of_call(call, line)
  local moves, pieces, from = {}, {}, 0 ---@type [integer, integer][], string[], integer
  local grown = 0
  for n, at in ipairs(call.own) do
    local sign = line:match('^' .. WIDE, at + 1) or ''
    pieces[n] = line:sub(from + 1, at) .. M.of(sign)
    from, grown = at + #sign, grown + #M.of(sign) - #sign
    moves[n] = { from, grown }
  end
  local function moved(at)
    local by = 0
    for _, move in ipairs(moves) do
      by = move[1] <= at and move[2] or by
    end
    return at + by
  end
  call.name, call.main = moved(call.name), { moved(call.main[1]), moved(call.main[2]) }
  call.names = call.names and vim.tbl_map(moved, call.names)
  return table.concat(pieces) .. line:sub(from + 1)
end

---@param update caliban.BlockUpdate
---@param lines string[]
local function own_lines(update, lines)
  local head = 0 ---@type integer
  if HEADED[update.shape] and update.at == 0 then
    head = lines[1] == '' and 2 or 1
  end
  -- the last line of a question names the keys
  local keys = update.shape == 'ask' and #lines or 0
  local workers = update.workers or {}
  for i, line in ipairs(lines) do
    if i == head and update.call_line then
      lines[i] = of_call(update.call_line, line)
    elseif OWN[update.shape] or i == head or i == keys then
      lines[i] = M.of(line)
    elseif update.diff and is_apart(line) then
      lines[i] = M.of(line)
    elseif SIGNED[update.shape] then
      lines[i] = begun(line)
    elseif head > 0 and i > head and i <= head + #workers then
      lines[i] = of_worker(workers[i - head] --[[@as caliban.WorkerRow]])
    end
  end
end

--- Gives a block of the transcript the signs of the setting.
---@param update caliban.BlockUpdate
function M.block(update)
  if not current then
    return
  end
  if update.lines then
    own_lines(update, update.lines)
  end
  update.right = update.right and M.of(update.right)
  update.below = update.below and vim.tbl_map(M.of, update.below)
end

return M
