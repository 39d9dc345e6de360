--- The buffer of a plan: its text, its keys, and the user's edits.
local M = {}

local api = vim.api
local BUF = require('caliban.editor.since').BUF
local maps = require('caliban.editor.maps')
local drawing = require('caliban.sessions.plan.drawing')
local remarks = require('caliban.sessions.plan.remarks')

local group = api.nvim_create_augroup('caliban.plan.buffer', {})

---@class caliban.OpenPlan
---@field session string
---@field call string
---@field stage caliban.PlanStage
---@field buf integer
---@field keys caliban.Mapped[]
---@field kept { text: string, remarks: caliban.Remark[] } the state that the program has
---@field due? boolean whether the user's edits will be sent to the program soon
---@field shown? boolean whether the plan has been on the screen
---@field reworked? boolean whether the model works on the plan, which was sent back
---@field armed? boolean whether the user's keys and commands decide on the plan

--- The functions to call when the user does something with a plan.
---@class caliban.PlanEvents
---@field accept fun()
---@field change fun()
---@field drop fun()
---@field edited fun(plan: caliban.OpenPlan)
---@field written fun(plan: caliban.OpenPlan)
---@field shown fun(plan: caliban.OpenPlan) a window shows the plan

--- The current text and comments of a plan.
---@param plan caliban.OpenPlan
---@return { text: string, remarks: caliban.Remark[] }
function M.reading(plan)
  local lines = api.nvim_buf_get_lines(plan.buf, 0, -1, false)
  return { text = table.concat(lines, '\n') .. '\n', remarks = remarks.all(plan.buf) }
end

---@param on caliban.PlanEvents
---@return caliban.Mapping[]
local function bindings(on)
  local comment = '<Plug>(caliban-comment)'
  return {
    { mode = 'n', lhs = '<localleader>a', rhs = on.accept, desc = 'accept the plan' },
    { mode = 'n', lhs = '<localleader>r', rhs = on.change, desc = 'send the plan back' },
    { mode = 'n', lhs = '<localleader>d', rhs = on.drop, desc = 'drop the plan' },
    { mode = 'n', lhs = '<localleader>c', rhs = comment, desc = 'comment on the line' },
    { mode = 'x', lhs = '<localleader>c', rhs = comment, desc = 'comment on the lines' },
  }
end

--- Names the buffer after the plan's session.
---@param plan caliban.OpenPlan
function M.name(plan)
  local full = ('caliban://%s/plan'):format(plan.session)
  local old = require('caliban.editor.name').buffer(full, plan.buf)
  if old then
    api.nvim_buf_delete(old, { force = true })
  end
  local before = api.nvim_buf_get_name(plan.buf)
  vim.b[plan.buf].caliban_session = plan.session
  if before ~= full then
    api.nvim_buf_set_name(plan.buf, full)
    local left = before ~= '' and require('caliban.editor.name').buffer(before, plan.buf)
    local _ = left and api.nvim_buf_delete(left, { force = true })
  end
end

---@param plan caliban.OpenPlan
---@param on caliban.PlanEvents
local function make(plan, on)
  local buf = require('caliban.editor.scratch').new()
  plan.buf = buf
  vim.bo[buf].buftype, vim.bo[buf].bufhidden, vim.bo[buf].swapfile = 'acwrite', 'hide', false
  M.name(plan)
  local function at(events, callback)
    api.nvim_create_autocmd(events, { group = group, [BUF] = buf, callback = callback })
  end
  at({ 'TextChanged', 'TextChangedI' }, function()
    vim.bo[buf].modified = false
    drawing.read(buf)
    on.edited(plan)
  end)
  at('BufWipeout', function()
    drawing.forget(buf)
  end)
  at('BufWriteCmd', function()
    on.written(plan)
    vim.bo[buf].modified = false
    require('caliban.editor.notify').show('The plan is saved with the conversation.')
  end)
  at('BufWinEnter', function()
    vim.schedule(function()
      on.shown(plan)
    end)
  end)
  vim.bo[buf].filetype = 'markdown'
  -- The plan gets the colours of a reply, not those of its filetype: Neovim 0.12 starts Treesitter
  -- for Markdown, and stopping Treesitter sets 'syntax'.
  vim.treesitter.stop(buf)
  vim.bo[buf].syntax = ''
  plan.keys = maps.set(buf, bindings(on))
end

--- Puts a plan that the program has sent into the plan's buffer. `u` brings back the earlier text.
---@param plan caliban.OpenPlan
---@param message caliban.PlanOpened
---@param on caliban.PlanEvents
function M.fill(plan, message, on)
  local is_new = not api.nvim_buf_is_loaded(plan.buf)
  if is_new then
    make(plan, on)
  end
  local buf = plan.buf
  local lines = vim.split((message.text:gsub('\n$', '')), '\n')
  if not vim.deep_equal(api.nvim_buf_get_lines(buf, 0, -1, false), lines) then
    local levels = vim.bo[buf].undolevels
    vim.bo[buf].undolevels = is_new and -1 or levels
    api.nvim_buf_set_lines(buf, 0, -1, false, lines)
    vim.bo[buf].undolevels = levels
  end
  drawing.read(buf)
  remarks.set(buf, message.remarks)
  vim.bo[buf].modified = false
  plan.kept = M.reading(plan)
end

return M
