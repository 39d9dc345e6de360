--- The signs that Caliban draws and writes, in the set that the setting `icons` names. The rest of
--- the code uses Unicode characters; this module replaces them by those of the set. It does so only
--- in Caliban's own texts, not in a model's text, in a file's text or in the commands of questions.
local M = {}

--- An ASCII sign is as wide as the Unicode sign. The exceptions occur only in texts that may become
--- longer.
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
  ['↓'] = 'v', -- lines below a window
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

--- The set of signs that is used; nil for Unicode.
local current ---@type table<string, string>?

--- Chooses the set of signs.
---@param name string the value of the setting `icons`
function M.use(name)
  current = sets[name]
end

--- One of Caliban's own texts, with the signs of the chosen set.
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
--- The blocks in which only the sign at the beginning of each line is Caliban's own. The rest,
--- which the user agrees to or sends, stays exact.
---@type table<string, boolean?>
local SIGNED = { ask = true, queue = true }
--- The blocks whose first line is Caliban's own. The other lines are results, files or thoughts.
---@type table<string, boolean?>
local HEADED = { tool = true, thinking = true, boundary = true }

--- Replaces only the sign at the beginning of a line.
---@param line string
---@return string
local function begun(line)
  local blank, sign, rest = line:match('^(%s*)(' .. WIDE .. ')(.*)$')
  return sign and blank .. M.of(sign) .. rest or line
end

--- Whether a line of an edit's block is Caliban's own: the gap between two hunks, or the count of
--- hidden lines.
---@param line string
---@return boolean
local function is_apart(line)
  return line == '    ⋯' or line:find('^    … %d+ more lines$') ~= nil
end

--- Replaces the signs in the line of a worker, except in the title, which a model wrote.
---@param worker caliban.WorkerRow
---@return string
local function of_worker(worker)
  local to = worker.parts[2]
  worker.line = worker.line:sub(1, to) .. M.of(worker.line:sub(to + 1))
  return worker.line
end

--- Replaces Caliban's own signs (`call.own`) in the line of a call, and moves the positions of the
--- line's parts accordingly. What the model wrote in the line stays as it is.
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

--- Replaces the signs in a block of the transcript by those of the chosen set.
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
