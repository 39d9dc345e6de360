--- A command that changes lines, and another one that changes them back, leave no text of the user's own: accepted hunks
--- are written.
local H = require('bench')
local B = require('caliban.review')
local K = require('keys.model')
local T = {}
local api = vim.api

---@param lines string[]
local function put(lines)
  api.nvim_buf_set_lines(0, 0, -1, false, lines)
end

---@type table<string, fun()> what leaves the text as it was
local SAME = {
  ['filters all lines'] = function()
    K.typed(':%!cat<CR>')
  end,
  ['filters a range'] = function()
    K.typed(':2,4!cat<CR>')
  end,
  ['sets the same lines'] = function()
    put(K.lines())
  end,
  ['removes the lines and sets them again'] = function()
    local lines = K.lines()
    put({})
    put(lines)
  end,
  ['replaces what is empty'] = function()
    K.typed(':%s/$//<CR>')
  end,
  ['marks each line and removes the marks'] = function()
    K.typed(':g/./s/^/z/<CR>')
    K.typed(':%s/^z//<CR>')
  end,
  ['marks the ends and removes the marks'] = function()
    K.typed(':g/./s/$/z/<CR>')
    K.typed(':g/z$/s/z$//<CR>')
  end,
  ['replaces a character by itself'] = function()
    K.typed(':g/./s/./&/<CR>')
  end,
  ['sorts and sets the lines again'] = function()
    local lines = K.lines()
    K.typed(':%!sort<CR>')
    put(lines)
  end,
  ['undoes'] = function()
    K.typed(':g/./s/^/z/<CR>')
    K.typed('u')
  end,
}

---@param row integer
---@param decision 'accept'|'reject'
local function decide(row, decision)
  api.nvim_win_set_cursor(0, { row, 0 })
  B[decision]()
  H.settle()
end

---@type { steps: (fun(same: fun()))[], want: string }[] decisions, with the command before or between them
local STORIES = {
  {
    want = 'a X c Y e',
    steps = {
      function(same)
        same()
        B.accept({ scope = 'file' })
      end,
    },
  },
  {
    want = 'a X c d e',
    steps = {
      function(same)
        same()
        decide(2, 'accept')
        decide(4, 'reject')
      end,
      function(same)
        same()
        decide(4, 'reject')
        decide(2, 'accept')
      end,
      function(same)
        decide(2, 'accept')
        same()
        decide(4, 'reject')
      end,
    },
  },
}

function T.accepted_hunks_are_on_disk_after_commands_that_leave_the_text_as_it_was()
  for name, same in vim.spairs(SAME) do
    for _, story in ipairs(STORIES) do
      for n, steps in ipairs(story.steps) do
        for _, at_once in ipairs({ false, true }) do
          H.fresh()
          K.story = {}
          local path = H.write('f.txt', 'a\nb\nc\nd\ne\n')
          vim.cmd.edit(path)
          local after = H.l('a X c Y e')
          H.propose({ H.proposal(path, H.l('a b c d e'), after, { at_once = at_once }) })
          steps(same)
          H.settle()
          local what = ('%s, story %d of %s, at once: %s'):format(name, n, story.want, at_once)
          H.eq(H.l(story.want), K.lines(), what)
          H.eq((story.want:gsub(' ', '\n')) .. '\n', H.disk('f.txt'), what)
        end
      end
    end
  end
end

--- What is left of the user's own is not written for them.
function T.text_of_the_users_own_beside_decisions_is_not_written()
  for _, at_once in ipairs({ false, true }) do
    H.fresh()
    K.story = {}
    local path = H.write('f.txt', 'a\nb\nc\nd\ne\n')
    vim.cmd.edit(path)
    H.propose({ H.proposal(path, H.l('a b c d e'), H.l('a X c Y e'), { at_once = at_once }) })
    local before = H.disk('f.txt')
    K.typed(':g/./s/^/z/<CR>')
    K.typed(':1,4s/^z//<CR>')
    B.accept({ scope = 'file' })
    H.settle()
    H.eq(H.l('a X c Y ze'), K.lines())
    H.eq(before, H.disk('f.txt'))
  end
end

return T
