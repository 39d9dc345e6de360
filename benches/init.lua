-- The configuration of the bench: loads Caliban or a floor, and measures the delays of the event loop.
vim.o.termguicolors = true
vim.o.swapfile = false

local ffi = require('ffi')

-- The lateness of a 5 ms timer and the delay of `vim.schedule`, in ns. They are kept in C arrays,
-- so that measuring makes no work for the garbage collector.
local ROOM, PERIOD = 100000, 5e6
local late = ffi.new('double[?]', ROOM) ---@as table<integer, number>
local delay = ffi.new('double[?]', ROOM) ---@as table<integer, number>
local lates, delays, last = 0, 0, 0
local timer = assert(vim.uv.new_timer())
local asked = 0

local function scheduled()
  if asked > 0 and delays < ROOM then
    delay[delays] = vim.uv.hrtime() - asked
    delays = delays + 1
  end
  asked = 0
end

local Probe = {}
_G.Probe = Probe

function Probe.start()
  lates, delays, asked, last = 0, 0, 0, vim.uv.hrtime()
  timer:start(5, 5, function()
    local now = vim.uv.hrtime()
    if lates < ROOM then
      late[lates] = math.max(0, now - last - PERIOD)
      lates = lates + 1
    end
    last = now
    if asked == 0 then
      asked = now
      vim.schedule(scheduled)
    end
  end)
end

---@param values table<integer, number>
---@param n integer
---@return number[] # in ms
local function taken(values, n)
  local list = {}
  for i = 1, n do
    list[i] = values[i - 1] / 1e6
  end
  return list
end

---@return number[][]
function Probe.stop()
  timer:stop()
  return { taken(late, lates), taken(delay, delays) }
end

if vim.env.BENCH_SUBJECT ~= 'caliban' then
  return
end

vim.opt.runtimepath:prepend(vim.env.BENCH_ROOT)
vim.g.caliban = { bin = vim.env.BENCH_BIN, titles = false }
vim.cmd.runtime('plugin/caliban.lua')

---@param text string
function _G.BenchSubmit(text)
  require('caliban').ask(text)
end

---@return string
function _G.BenchPhase()
  return require('caliban').state().phase
end

---@class bench.Times
---@field welcome number ms
---@field answers number[] ms from a key to each answer of the completion
---@field pause number ms
local Bench = { welcome = 0, answers = {}, pause = 0 }
_G.Bench = Bench

---@param fn fun()
---@return number ms
local function time(fn)
  local start = vim.uv.hrtime()
  fn()
  return (vim.uv.hrtime() - start) / 1e6
end

--- Sources `plugin/caliban.lua` a hundred times, and opens the first chat.
---@return number[] # the median ms to source the plugin, and the ms to open the chat
function Bench.first()
  local sourced = {}
  for i = 1, 100 do
    vim.g.loaded_caliban = nil
    sourced[i] = time(function()
      vim.cmd.runtime('plugin/caliban.lua')
    end)
  end
  table.sort(sourced)
  local started = 0 ---@type number
  local jobstart = vim.fn.jobstart
  ---@diagnostic disable-next-line: duplicate-set-field
  vim.fn.jobstart = function(...)
    started = vim.uv.hrtime()
    return jobstart(...)
  end
  local opened = time(function()
    require('caliban').open()
    vim.cmd.redraw()
  end)
  local dispatch = require('caliban.program.dispatch')
  local receive = dispatch.receive
  dispatch.receive = function(message)
    if message.kind == 'welcome' then
      Bench.welcome = (vim.uv.hrtime() - started) / 1e6
    end
    return receive(message)
  end
  return { sourced[50], opened }
end

--- Notes the time from each key to the answer with the menu's entries.
function Bench.watch_completion()
  local key = 0 ---@type number
  vim.on_key(function(_, typed)
    key = typed ~= '' and vim.uv.hrtime() or key
  end)
  local completion = require('caliban.chat.completion')
  local answer = completion.answer
  completion.answer = function(message)
    answer(message)
    table.insert(Bench.answers, (vim.uv.hrtime() - key) / 1e6)
  end
end

--- Notes the longest time for which the editor's event loop is blocked.
function Bench.watch_pauses()
  local before = vim.uv.hrtime()
  assert(vim.uv.new_timer()):start(1, 1, function()
    local now = vim.uv.hrtime()
    Bench.pause = math.max(Bench.pause, (now - before) / 1e6)
    before = now
  end)
end
