--- The keys of a plan in words: for the winbar of its window, and for the chat.
local M = {}

local api = vim.api
local maps = require('caliban.editor.maps')

---@class caliban.PlanAction
---@field desc string the description of its key
---@field word string
---@field key string behind the local leader
---@field command string
---@field rank integer its place among the keys of a narrow winbar

---@type caliban.PlanAction[]
local ACTIONS = {
  {
    desc = 'accept the plan',
    word = 'accept',
    key = 'a',
    command = ':Caliban plan accept',
    rank = 1,
  },
  {
    desc = 'comment on the line',
    word = 'comment',
    key = 'c',
    command = ':Caliban comment',
    rank = 4,
  },
  {
    desc = 'send the plan back',
    word = 'change',
    key = 'r',
    command = ':Caliban plan change',
    rank = 2,
  },
  { desc = 'drop the plan', word = 'drop', key = 'd', command = ':Caliban plan drop', rank = 3 },
}

--- An action in words. A command stands for a key that the user has mapped to something else.
---@param plan? caliban.OpenPlan absent before the plan has been opened
---@param it caliban.PlanAction
---@return string
local function words(plan, it)
  local is_open = plan and api.nvim_buf_is_valid(plan.buf)
  local key = maps.leader() .. it.key ---@type string?
  if plan and is_open then
    key = maps.key(plan.buf, plan.keys, it.desc)
  end
  return key and key .. ' ' .. it.word or it.command
end

--- The keys in words: all, then fewer and fewer.
---@param plan caliban.OpenPlan
---@return string[]
function M.lists(plan)
  local lists = {} ---@type string[]
  for most = #ACTIONS, 1, -1 do
    local shown = {} ---@type string[]
    for _, it in ipairs(ACTIONS) do
      if it.rank <= most then
        table.insert(shown, words(plan, it))
      end
    end
    table.insert(lists, table.concat(shown, '  '))
  end
  return lists
end

--- The keys in one line of the chat, behind the key that goes to the plan.
---@param plan? caliban.OpenPlan
---@return string
function M.line(plan)
  local shown = { '<Tab> to the plan' }
  for _, it in ipairs(ACTIONS) do
    table.insert(shown, words(plan, it))
  end
  return table.concat(shown, '   ')
end

return M
