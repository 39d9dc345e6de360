--- Refuses the edits that a language server sends by itself while the program asks it something:
--- they would be in the user's buffers without a review. Edits by a command of the server that the
--- user runs meanwhile are applied as usual.
local M = {}

local METHOD = 'workspace/applyEdit'
--- How long edits of a server are refused after an answer that has edits, in milliseconds.
local AFTER = 1000

local held = {} ---@type table<integer, integer> how many questions hold a client, by its id
local refused = {} ---@type table<integer, boolean> the clients whose edits were refused
--- The tables of handlers in which `guard` has replaced a handler.
local guarded = setmetatable({}, { __mode = 'k' }) ---@type table<table, boolean?>

--- Whether the user runs a command of the server. Caliban runs none.
---@param client vim.lsp.Client
---@return boolean
local function is_commanded(client)
  for _, it in pairs(client.requests) do
    if it.type == 'pending' and it.method == 'workspace/executeCommand' then
      return true
    end
  end
  return false
end

---@param client vim.lsp.Client
local function guard(client)
  local handlers = client.handlers
  if guarded[handlers] then
    return
  end
  guarded[handlers] = true
  local before = handlers[METHOD]
  handlers[METHOD] = function(err, result, context)
    local id = context.client_id
    local asked = vim.lsp.get_client_by_id(id)
    if not held[id] or not asked or is_commanded(asked) then
      return (before or vim.lsp.handlers[METHOD])(err, result, context)
    end
    refused[id] = true
    local text = '%s sent an edit that nobody had requested. Caliban refused the edit.'
    require('caliban.editor.notify').say(text:format(asked.name), vim.log.levels.WARN)
    return { applied = false, failureReason = "Caliban applies edits only with the user's consent." }
  end
end

--- Refuses the edits that a client sends by itself, until they are released.
---@param client vim.lsp.Client
function M.hold(client)
  guard(client)
  held[client.id] = (held[client.id] or 0) + 1
end

--- Ends a hold.
---@param client vim.lsp.Client
---@param edits boolean? whether the question was about edits; the hold then ends only after `AFTER`
---@return string? # a note if an edit was refused
function M.release(client, edits)
  local id = client.id
  local function free()
    held[id] = held[id] > 1 and held[id] - 1 or nil
    refused[id] = held[id] and refused[id] or nil
  end
  local note = refused[id]
    and ('%s sent an unrequested edit, which Caliban refused'):format(client.name)
  if edits then
    vim.defer_fn(free, AFTER)
  else
    free()
  end
  return note or nil
end

return M
