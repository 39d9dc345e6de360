-- Defines the parts of the plugin that must exist before its first use: the command, the <Plug> mappings, the highlight
-- groups.
if vim.g.loaded_caliban then
  return
end
vim.g.loaded_caliban = true

if vim.fn.has('nvim-0.11') == 0 then
  vim.notify('Caliban needs Neovim 0.11 or newer.', vim.log.levels.ERROR)
  return
end

vim.api.nvim_create_user_command('Caliban', function(opts)
  require('caliban.command').run(opts)
end, {
  nargs = '*',
  range = true,
  bang = true,
  desc = 'Open the chat with Caliban, or run a subcommand',
  complete = function(lead, line)
    return require('caliban.command').complete(lead, line)
  end,
})

-- revives the `caliban://` buffers of session files (`:mksession`), which restore them by `:file`
-- or `:edit`
local revive = vim.api.nvim_create_augroup('caliban_revive', {})
vim.api.nvim_create_autocmd({ 'BufReadCmd', 'BufFilePost' }, {
  group = revive,
  pattern = 'caliban://*',
  callback = function(args)
    require('caliban.chat.revive').found(args.buf, args.event == 'BufReadCmd')
  end,
})
vim.api.nvim_create_autocmd('BufFilePre', {
  group = revive,
  callback = function()
    if vim.g.SessionLoad == 1 then
      require('caliban.chat.revive').naming()
    end
  end,
})
vim.api.nvim_create_autocmd('SessionLoadPost', {
  group = revive,
  callback = vim.schedule_wrap(function()
    require('caliban.chat.breaks').update()
  end),
})

---@param mode string
---@param name string
---@param call string a call of a function of the public API
---@param desc string
local function plug(mode, name, call, desc)
  local rhs = '<Cmd>lua require("caliban").' .. call .. '<CR>'
  -- faster than vim.keymap.set(), because this file runs at each start of Neovim
  local opts = { noremap = true, desc = 'Caliban: ' .. desc }
  vim.api.nvim_set_keymap(mode, '<Plug>(caliban-' .. name .. ')', rhs, opts)
end

plug('n', 'open', 'open()', 'open or focus the chat')
plug('n', 'ask', 'prompt()', 'write a message in a prompt')
plug('x', 'ask', 'prompt()', 'write a message in a prompt')
plug('n', 'send', 'send()', 'send the message')
plug('n', 'steer', 'steer()', 'send into the running turn')
plug('n', 'stop', 'stop()', 'stop the turn')
plug('n', 'accept', 'accept()', 'accept the change under the cursor')
plug('x', 'accept', 'accept({ visual = true })', 'accept the changes in the selection')
plug('n', 'reject', 'reject()', 'reject the change under the cursor')
plug('x', 'reject', 'reject({ visual = true })', 'reject the changes in the selection')
plug('n', 'accept-file', 'accept({ scope = "file" })', 'accept all changes in the file')
plug('n', 'reject-file', 'reject({ scope = "file" })', 'reject all changes in the file')
plug('n', 'accept-all', 'accept({ scope = "all" })', 'accept all changes everywhere')
plug('n', 'comment', 'comment()', 'comment on the change under the cursor')
plug('x', 'comment', 'comment(nil, { visual = true })', 'comment on the changes in the selection')
plug('n', 'next', 'next()', 'next change')
plug('n', 'prev', 'prev()', 'previous change')
plug('n', 'approve', 'approve("once")', 'allow the call that asks for permission')
plug('n', 'deny', 'deny()', 'deny the call that asks for permission')
plug('n', 'mode', 'mode()', 'the next mode')
plug('n', 'todo', 'todo()', 'show or hide the to-do list')
plug('n', 'unchip', 'unchip()', 'remove the last piece of context')
vim.keymap.set('n', '<Plug>(caliban-add)', function()
  vim.go.operatorfunc = "v:lua.require'caliban'._operator"
  return 'g@'
end, { expr = true, desc = 'Caliban: add the text of a motion' })
local add = '<Cmd>lua require("caliban").add()<CR><Esc>'
vim.keymap.set('x', '<Plug>(caliban-add)', add, { desc = 'Caliban: add the selection' })

-- after the first screen: open the chat, or look for conversations that wait for the user
local function resume()
  local config = package.loaded['caliban.config']
  local settings = config and config.get() or vim.g.caliban
  local choice = nil
  if type(settings) == 'table' then
    choice = settings.resume
  end
  if choice == 'open' then
    require('caliban.chat').show(false)
  elseif choice ~= false then
    require('caliban.chat.interrupted').look()
  end
end
if vim.v.vim_did_enter == 1 then
  vim.schedule(resume)
else
  -- a timer, because a scheduled call would run before the terminal shows the first screen
  vim.api.nvim_create_autocmd('UIEnter', {
    once = true,
    callback = function()
      vim.defer_fn(resume, 1)
    end,
  })
end

local links = {
  CalibanAdd = 'DiffAdd',
  CalibanDelete = 'DiffDelete',
  CalibanAddWord = 'DiffText',
  CalibanDeleteWord = 'DiffText',
  CalibanUser = 'Identifier',
  CalibanTool = 'Function',
  CalibanDim = 'Comment',
  CalibanHeading1 = 'Title',
  CalibanHeading2 = 'Identifier',
  CalibanHeading3 = '@markup.italic',
  CalibanCode = 'CursorLine',
  CalibanFollow = 'CursorLine',
  CalibanError = 'DiagnosticError',
  CalibanAsk = 'DiagnosticWarn',
  CalibanNotice = 'DiagnosticInfo',
  CalibanSign = 'DiagnosticHint',
  CalibanSyntax = 'DiagnosticError',
  CalibanChip = 'Special',
  CalibanLong = 'DiagnosticInfo',
  CalibanFull = 'DiagnosticError',
  CalibanModePlan = 'DiagnosticHint',
  CalibanModeAsk = 'WinBar',
  CalibanModeAutoEdit = 'DiagnosticInfo',
  CalibanModeAuto = 'Statement',
}
local function highlight()
  for group, target in pairs(links) do
    vim.api.nvim_set_hl(0, group, { link = target, default = true })
  end
end
highlight()
vim.api.nvim_create_autocmd('ColorScheme', {
  group = vim.api.nvim_create_augroup('caliban_highlight', {}),
  callback = highlight,
})
