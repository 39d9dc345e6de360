--- Tests the words beside a running call.
local H = require('bench')
local running = require('caliban.chat.running')
local T = {}

function T.a_running_call_shows_its_time_and_the_key_that_stops_it()
  local now = 5000
  ---@diagnostic disable-next-line: duplicate-set-field
  vim.uv.hrtime = function()
    return now * 1e6
  end
  local chat = {} ---@type any
  running.set_clock(chat, 1000)
  local said = {}
  for _, at in ipairs({ 4990, 5000, 5999, 6000, 124999, 125000 }) do
    now = at
    local long, short = running.words(chat, { began = 1000 } --[[@as any]])
    table.insert(said, short)
    H.eq(long, short .. ' · <C-c> stops')
  end
  local seconds = { 'running 0 s', 'running 0 s', 'running 0 s', 'running 1 s' }
  H.eq(said, vim.list_extend(seconds, { 'running 119 s', 'running 2 min' }))
  H.eq(running.words(chat, {} --[[@as any]]), nil)
end

return T
