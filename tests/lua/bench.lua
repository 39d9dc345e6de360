--- Functions that tests of reviews share: they make a project folder, collect messages to the
--- program, and make proposals.
local M = {}

local api = vim.api

local sent = {} ---@type table[]
local said = {} ---@type string[]
package.loaded['caliban.program.process'] = {
  notify = function(message)
    sent[#sent + 1] = message
  end,
  program = function()
    return 1
  end,
  listen = function() end,
}
vim.notify = function(text)
  said[#said + 1] = text
end

-- `rest` pauses long work when a slice of time is over. It is turned off here, so that the clock
-- does not affect the tests. Tests that need pauses use `M.rest`
M.rest = require('caliban.editor.slices').rest
require('caliban.editor.slices').rest = function() end

-- the keys of a review are mapped to <Plug> maps, which `plugin/caliban.lua` defines
vim.cmd.runtime('plugin/caliban.lua')
local review = require('caliban.review')
-- `calm` says whether the user is not in the middle of a command, but no main loop runs here.
-- `arrival_test` tests the real `calm` in another Neovim
require('caliban.review.arrival').calm = function()
  return M.calm
end
M.calm = true

---@param want any
---@param got any
---@param what? string
function M.eq(want, got, what)
  if not vim.deep_equal(want, got) then
    error(('%s\nwant %s\ngot  %s'):format(what or '', vim.inspect(want), vim.inspect(got)), 2)
  end
end

--- Lets scheduled functions run.
function M.settle()
  for _ = 1, 4 do
    local done = false
    vim.schedule(function()
      done = true
    end)
    vim.wait(1000, function()
      return done
    end, 1)
  end
end

--- The messages to the program since the last call.
---@return table[]
function M.sent()
  M.settle()
  local out = sent
  sent = {}
  return out
end

--- The notifications since the last call.
---@return string[]
function M.said()
  M.settle()
  local out = said
  said = {}
  return out
end

--- Wipes out all buffers, forgets all messages, and makes an empty folder the working directory. Returns the folder.
function M.fresh()
  M.calm = true
  vim.cmd('silent! %bwipeout!')
  M.settle()
  sent, said = {}, {}
  local dir = vim.uv.fs_realpath(vim.fn.fnamemodify(vim.fn.tempname(), ':h'))
    .. '/'
    .. vim.fn.rand()
  vim.fn.mkdir(dir, 'p')
  vim.fn.chdir(dir)
  return dir
end

---@param name string
---@param text string
---@return string path
function M.write(name, text)
  local path = vim.fn.getcwd() .. '/' .. name
  vim.fn.mkdir(vim.fs.dirname(path), 'p')
  local handle = assert(io.open(path, 'wb'))
  handle:write(text)
  handle:close()
  return path
end

---@param name string
---@return string?
function M.disk(name)
  local handle = io.open(vim.fn.getcwd() .. '/' .. name, 'rb')
  local text = handle and handle:read('*a')
  if handle then
    handle:close()
  end
  return text
end

local id = 0

--- A proposal that changes the lines `before` into `after`.
---@param path string
---@param before string[]
---@param after string[]
---@param opts? table
---@return table
function M.proposal(path, before, after, opts)
  id = id + 1
  local hunks = {}
  for _, d in ipairs(require('caliban.review.hunks.algebra').runs(before, after)) do
    local new = vim.list_slice(after, d[3] + 1, d[3] + d[4])
    hunks[#hunks + 1] = { start = d[1], count = d[2], text = table.concat(new, '\n'), n = #new }
  end
  local create = opts and opts.create or false
  local sha = create and '' or vim.fn.sha256(table.concat(before, '\n'))
  return vim.tbl_extend(
    'force',
    { id = id, group = id, path = path, create = create, sha = sha, hunks = hunks, eol = true },
    opts or {}
  )
end

---@param proposals table[]
---@param session? string
---@param turn? integer
function M.propose(proposals, session, turn)
  review.propose({
    kind = 'propose',
    session = session or 's',
    owner = session or 's',
    turn = turn or 1,
    proposals = proposals,
  })
  M.settle()
end

---@param words string
---@return string[]
function M.l(words)
  return vim.split(words, ' ', { trimempty = true })
end

---@param buf? integer
---@return string
function M.text(buf)
  return table.concat(api.nvim_buf_get_lines(buf or 0, 0, -1, false), ' ')
end

--- Opens a file with the words `before` and applies a proposal that makes them `after`.
---@param before string
---@param after string
---@param opts? table
---@return integer buf
function M.review(before, after, opts)
  M.fresh()
  local path = M.write('f.txt', before == '' and '' or before:gsub(' ', '\n') .. '\n')
  vim.cmd.edit(path)
  M.propose({ M.proposal(path, M.l(before), M.l(after), opts) })
  return api.nvim_get_current_buf()
end

--- The pending hunks, as `row:-old+new`.
---@param buf? integer
---@return string
function M.pending(buf)
  local out = {}
  for _, h in ipairs(review.pending(buf)) do
    out[#out + 1] = ('%d:-%s+%s'):format(
      h.start,
      table.concat(h.removed, ','),
      table.concat(h.added, ',')
    )
  end
  return table.concat(out, ' ')
end

---@param keys string
function M.keys(keys)
  vim.cmd('silent! normal! ' .. vim.keycode(keys))
  M.settle()
end

---@param command string
---@return string error in one line, without Vim's prefix; '' if there is none
function M.try(command)
  vim.v.errmsg = ''
  local ok, err = pcall(vim.cmd --[[@as function]], 'silent ' .. command)
  M.settle()
  local text = ok and vim.v.errmsg or tostring(err)
  return (text:gsub('^.-Vim[^:]*:', ''):gsub('\n.*', ''))
end

return M
