--- The keys of a plan in words, for the winbar of its window.
local M = {}

local api = vim.api
local maps = require('caliban.editor.maps')

---@class caliban.PlanAction
---@field desc string the description of its key
---@field word string
---@field command string
---@field rank integer its place among the keys of a narrow winbar

---@type caliban.PlanAction[]
local ACTIONS = {
  { desc = 'accept the plan', word = 'accept', command = ':Caliban plan accept', rank = 1 },
  { desc = 'comment on the line', word = 'comment', command = ':Caliban comment', rank = 4 },
  { desc = 'send the plan back', word = 'change', command = ':Caliban plan change', rank = 2 },
  { desc = 'drop the plan', word = 'drop', command = ':Caliban plan drop', rank = 3 },
}

--- An action in words. A command stands for a key that the user has mapped to something else.
---@param plan caliban.OpenPlan
---@param it caliban.PlanAction
---@return string
local function words(plan, it)
  local is_open = api.nvim_buf_is_valid(plan.buf)
  local key = is_open and maps.key(plan.buf, plan.keys, it.desc)
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

return M
