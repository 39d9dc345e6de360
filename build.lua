--- Builds the program with cargo and shows the progress. lazy.nvim runs this file by itself when it installs or
--- updates the plugin; other plugin managers call `dofile(folder .. '/build.lua')`.
--- An error says what is missing and what to do.

local here = debug.getinfo(1, 'S').source:sub(2) ---@diagnostic disable-line: need-check-nil
local root = vim.fs.dirname(vim.fn.fnamemodify(here, ':p'))

--- How many lines of cargo's output an error quotes.
local QUOTED = 5

--- Whether the build can yield. lazy.nvim runs this file in a coroutine and shows each yielded
--- text; a plain `dofile` cannot yield.
---@return boolean
local function yields()
  ---@diagnostic disable-next-line: undefined-field
  return coroutine.isyieldable()
end

---@param text string
local function show(text)
  if yields() then
    ---@diagnostic disable-next-line: await-in-sync
    coroutine.yield(text)
  else
    vim.api.nvim_echo({ { text } }, false, {})
    vim.cmd.redraw()
  end
end

--- The number of crates in Cargo.lock, for the progress: cargo prints a line for each crate that it
--- compiles.
---@return integer
local function crates()
  local count = 0
  for line in io.lines(root .. '/Cargo.lock') do
    count = count + (line == '[[package]]' and 1 or 0)
  end
  return count
end

if vim.fn.executable('cargo') ~= 1 then
  error(
    'Caliban needs cargo to build its program: install Rust (rustup), then build the plugin again.',
    0
  )
end

local total, compiled = crates(), 0
local lines = {} ---@type string[]
local cut = '' -- the beginning of a line whose end has not arrived
---@param data? string
local function read(_, data)
  local parts = vim.split(cut .. (data or ''), '\n', { plain = true })
  cut = table.remove(parts)
  for _, line in ipairs(parts) do
    compiled = compiled + (line:find('^%s*Compiling') and 1 or 0)
    lines[#lines + 1] = vim.trim(line)
  end
end

local command = { 'cargo', 'build', '--release', '--locked', '--color', 'never' }
local code ---@type integer?
vim.system(command, { cwd = root, text = true, stderr = read }, function(completed)
  code = completed.code
end)
show('Caliban: building its program; the first build takes about ten minutes.')
local shown = 0
local function progress()
  if #lines > shown then
    shown = #lines
    show(('Caliban: %d of about %d crates  %s'):format(compiled, total, lines[shown]))
  end
end
while not code do
  if yields() then
    ---@diagnostic disable-next-line: await-in-sync
    coroutine.yield()
  else
    vim.wait(200, function()
      return code ~= nil
    end)
  end
  progress()
end
progress()
if code ~= 0 then
  local last = table.concat(lines, '\n', math.max(#lines - QUOTED + 1, 1))
  local how =
    'Caliban could not be built: cargo ended with exit code %d. Run `cargo build --release` in %s to see why.\n%s'
  error(how:format(code, root, last), 0)
end
show('Caliban: its program is built.')
