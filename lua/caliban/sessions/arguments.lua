--- The words with which the arguments of `:Caliban` can be completed.
local M = {}

--- The models that the settings and the current chat name.
---@return string[]
function M.models()
  local names = {}
  for provider, settings in pairs(require('caliban.config').get().providers or {}) do
    for _, model in ipairs(settings.models or {}) do
      table.insert(names, provider .. '/' .. model)
    end
  end
  local chat = require('caliban.chat.chats').current
  local current = chat and chat.status and chat.status.model
  if current and not vim.tbl_contains(names, current) then
    table.insert(names, current)
  end
  table.sort(names)
  return names
end

--- For completion: the settings that can follow a model's name.
---@return string[]
function M.settings()
  local efforts = vim.tbl_map(function(effort)
    return 'thinking=' .. effort
  end, require('caliban.config').efforts)
  return vim.list_extend(efforts, { 'temperature=', 'max_output=' })
end

--- For completion: the conversations of this project, on disk or open in this Neovim, and those in
--- which subagents work.
---@return string[]
function M.sessions()
  local names = require('caliban.program.project').sessions()
  vim.list_extend(names, require('caliban.chat.chats').sessions())
  table.sort(names)
  return vim.fn.uniq(names) --[[@as string[] ]]
end

--- Completes a path. Hidden files are offered only after a `.`.
---@param lead string
---@return string[]
function M.paths(lead)
  local meant, folder = require('caliban.editor.name').meant, lead:match('^.*/') or ''
  local hidden = lead:sub(#folder + 1, #folder + 1) == '.'
  local out = {} ---@type string[]
  for _, name in ipairs(require('caliban.editor.disk').names(meant(folder == '' and '.' or folder))) do
    if hidden or name:sub(1, 1) ~= '.' then
      local is_folder = vim.fn.isdirectory(meant(folder .. name)) == 1
      out[#out + 1] = folder .. name .. (is_folder and '/' or '')
    end
  end
  return out
end

return M
