--- The record of a review is read again as it was written, whatever the lines of the file have.
local H = require('bench')
local B = require('caliban.review')
local K = require('keys.model')
local T = {}
local api = vim.api

local long = ('x'):rep(30000)
local HOSTILE = {
  'a\226\128\143b', -- U+200F
  'a\226\128\168b\226\128\169c\194\133d', -- U+2028, U+2029, U+0085
  '\194\173soft \239\187\191mark', -- U+00AD, U+FEFF
  'quote " and \' and \\ and ` and ]] and \\u0000 and \\n',
  '\27[31mcolour\7\1',
  '{"session":"other","reviews":[]}',
  '\226\128\174left\226\128\172 e\204\129 \232\170\158 \240\159\152\128',
  'tab\tand \194\160blank ',
  '',
  '-- \r',
  long,
  long:sub(1, 14000) .. '"' .. long:sub(1, 14000),
}

local project = require('caliban.program.project')
local before = { project.folder_of, project.dir }

---@param line string
local function check(line)
  H.fresh()
  for _, folder in ipairs({ '0', '1' }) do
    vim.fn.mkdir(folder)
  end
  local now = '0'
  project.folder_of = function()
    return vim.fn.getcwd() .. '/' .. now
  end
  project.dir = project.folder_of
  local base = { line, 'b', line .. 'x', 'c' }
  local after = { 'new ' .. line, 'b', line .. 'x', line, 'c' }
  local path = H.write('f.txt', table.concat(base, '\n') .. '\n')
  vim.cmd.edit(path)
  H.propose({ H.proposal(api.nvim_buf_get_name(0), base, after, { at_once = false }) })
  local was = K.look()
  K.typed(':w!<CR>')
  api.nvim_exec_autocmds('VimLeavePre', { group = 'caliban.review.restore.record' })
  local from = vim.fn.glob(vim.fn.getcwd() .. '/0/s.review-*', true, true)
  H.eq(1, #from, line:sub(1, 50))
  local name = vim.fs.basename(from[1])
  assert(vim.uv.fs_copyfile(from[1], '1/' .. name))
  vim.cmd('silent bwipeout!')
  H.settle()
  now = '1'
  vim.cmd.edit(path)
  B.take_up({ session = 's', root = '', reviews = { name } })
  local again = K.look()
  H.eq(was.text, again.text, line:sub(1, 50))
  H.eq(was.base, again.base, line:sub(1, 50))
  H.eq(2, #again.hunks, line:sub(1, 50))
  B.reject({ scope = 'file' })
  H.eq(base, K.look().text, line:sub(1, 50))
end

function T.any_line_is_in_the_record_as_it_was()
  for _, line in ipairs(HOSTILE) do
    K.story = {}
    check(line)
  end
  project.folder_of, project.dir = before[1], before[2]
end

return T
