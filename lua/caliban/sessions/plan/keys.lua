--- The keys of a plan in words, for the winbar of its window.
local M = {}

local api = vim.api
local maps = require('caliban.editor.maps')

---@class caliban.PlanAction
---@field desc string the description of its key
---@field word string
---@field command string
---@field rank integer In a narrow winbar, the keys with the highest ranks are left out first

---@type caliban.PlanAction[]
local ACTIONS = {
  { desc = 'accept the plan', word = 'accept', command = ':Caliban plan accept', rank = 1 },
  { desc = 'comment on the line', word = 'comment', command = ':Caliban comment', rank = 4 },
  { desc = 'send the plan back', word = 'send back', command = ':Caliban plan change', rank = 2 },
  { desc = 'drop the plan', word = 'drop', command = ':Caliban plan drop', rank = 3 },
}

--- An action in words: its key and what it does. If the user has mapped the key to something else,
--- the action's command.
---@param plan caliban.OpenPlan
---@param it caliban.PlanAction
---@return string
local function words(plan, it)
  local is_open = api.nvim_buf_is_valid(plan.buf)
  local key = is_open and maps.key(plan.buf, plan.keys, it.desc)
  return key and key .. ' ' .. it.word or it.command
end

--- The keys in words. The first string has all keys, each later one has one key less.
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

return M
