--- The user's answers to questions. A key counts as an answer only if it was pressed after the
--- question appeared. Consent is accepted only after the whole question has been on the screen; an
--- answer to the model allows nothing, so the question need not be read to its end.
local M = {}

local api, fn = vim.api, vim.fn
local questions, seen_in = require('caliban.chat.question'), require('caliban.chat.sight')

--- A question accepts keys only after it has been on the screen for this many milliseconds without
--- a key press.
local REST = 400
--- If a timer fires more than this many ms late, Neovim was busy and may not have handled all typed keys yet.
local LATE = 100

--- The words for an answer to a question of which a part was folded. The answer opens the fold.
local UNFOLDED = 'More is open now. Read it all, then answer.'

--- Makes the question accept keys once it has been on the screen for `REST` without a key press.
---@param chat caliban.Chat
---@param question caliban.Question
---@param wait number ms
local function arm(chat, question, wait)
  local due = questions.now() + wait
  vim.defer_fn(function()
    if chat.question ~= question or question.armed then
      return
    end
    local time = questions.now()
    question.since = time - due > LATE and time
      or math.max(question.since or time, (questions.last_key()))
    local left = REST - (time - question.since)
    if left > 0 then
      return arm(chat, question, left)
    end
    question.armed = true
    if question.objected then
      M.correct(chat, question)
    end
    require('caliban.chat.paint').last_line(chat, question.call, question.lines[#question.lines])
    require('caliban.chat.windows').hint(chat)
  end, math.ceil(wait))
end

local waiting = api.nvim_create_augroup('caliban.consent', {})

--- Draws a window again after an event that may have closed or moved the floating window above it.
---@param win integer
local function again(win)
  api.nvim_clear_autocmds({ group = waiting })
  api.nvim_create_autocmd({ 'WinClosed', 'WinResized', 'TabEnter' }, {
    group = waiting,
    once = true,
    desc = 'caliban: draw the part of a question that a floating window covered',
    callback = vim.schedule_wrap(function()
      if api.nvim_win_is_valid(win) then
        api.nvim__redraw({ win = win, valid = false, flush = false })
      end
    end),
  })
end

---@param text string
local function say(text)
  require('caliban.editor.notify').show(text, vim.log.levels.WARN)
end

--- Says why an answer is not accepted yet.
---@param chat caliban.Chat
---@param question caliban.Question
---@param why string
function M.object(chat, question, why)
  question.objected = M.objection(chat, question) == why and why or nil
  question.said = why
  say(why)
end

--- Called when more of a question was on the screen. Says how many lines are still missing, or that none is.
---@param chat caliban.Chat
---@param question caliban.Question
function M.correct(chat, question)
  local why = M.objection(chat, question)
  if why == question.objected then
    return
  end
  question.objected, question.said = why, why or 'You can answer the question now.'
  vim.schedule(function()
    local _ = chat.question == question and require('caliban.editor.notify').correct(question.said)
  end)
end

--- Notes which lines of the question a window shows. Called after the window was drawn.
---@param chat caliban.Chat
---@param win integer
function M.drawn(chat, win)
  local question = chat.question
  local block, row = require('caliban.chat.order').asking(chat)
  if not (question and block) then
    return
  end
  local over = seen_in.covers(win)
  if #over > 0 then
    again(win)
  end
  -- the line below the last fully visible line may be partly visible
  local last = math.min(fn.line('w$', win) + 1, row + block.n)
  for lnum = math.max(fn.line('w0', win), row + 1), last do
    local i = lnum - row
    local text, seen = question.lines[i] or '', question.seen[i]
    if type(seen) == 'table' and i < block.n and not seen_in.in_fold(win, lnum) then
      if
        seen_in.is_whole(win, lnum, text, over) or seen_in.see_part(win, lnum, text, seen, over)
      then
        question.seen[i] = true
      end
    end
    local pos = fn.screenpos(win, lnum, 1)
    if
      not question.since
      and text ~= ''
      and not seen_in.is_covered(over, pos.row, pos.col, pos.col)
    then
      question.since = questions.now()
      arm(chat, question, REST)
    end
  end
  if question.objected and question.armed then
    M.correct(chat, question)
  end
end

--- The words for the ways to the lines that have not been on the screen.
---@param ways table<'up'|'down'|'right', boolean?>
---@param here boolean whether the cursor is in the transcript, where the keys work
---@return string
local function scrolling(ways, here)
  if ways.right then
    return here and ': zl scrolls right' or '. Scroll the chat right.'
  elseif ways.up and ways.down then
    return here and ': <C-y> up, <C-e> down' or '. Scroll the chat.'
  elseif ways.up then
    return here and ': <C-y> scrolls up' or '. Scroll the chat up.'
  end
  return here and ': <C-e> scrolls down' or '. Scroll the chat down.'
end

---@param count integer
---@return string
local function missing(count)
  return count == 1 and '1 line not shown yet' or ('%d lines not shown yet'):format(count)
end

--- How many lines of a question have not been on the screen, and the keys that show them; nil if there are none.
---@param chat caliban.Chat
---@param question caliban.Question
---@return string?
---@return integer count
local function unseen(chat, question)
  local block, row = require('caliban.chat.order').asking(chat)
  local here = api.nvim_get_current_buf() == chat.transcript
  local win = here and api.nvim_get_current_win() or fn.win_findbuf(chat.transcript)[1]
  local count, ways = 0, {} ---@type integer, table<'up'|'down'|'right', boolean?>
  for i = 1, #question.lines - 1 do
    local line, seen = question.lines[i], question.seen[i]
    if line ~= '' and type(seen) == 'table' then
      count = count + 1
      ways[block and win and seen_in.way(win, row + i, line, seen) or 'down'] = true
    end
  end
  return count > 0 and missing(count) .. scrolling(ways, here) or nil, count
end

--- Why an answer is not accepted yet, in one sentence.
---@param chat caliban.Chat
---@param question caliban.Question
---@param ruling? caliban.WireRuling absent for an answer to the model
---@return string?
function M.objection(chat, question, ruling)
  if ruling == 'always' and not question.always then
    return 'Caliban proposes no rule for this call. Allow it once or for this session.'
  elseif not question.armed then
    return 'The question has only just appeared. Read it, then answer.'
  elseif ruling == 'deny' or question.asks then
    return nil
  elseif next(question.folds) then
    return UNFOLDED
  end
  return (unseen(chat, question))
end

--- Opens all folds of a question. The windows show what they showed: the cursor goes to the first fold only where it is
--- on the screen. The question takes keys again only after the user had time to read what was folded.
---@param chat caliban.Chat
---@param question caliban.Question
local function unfold(chat, question)
  local block, row = require('caliban.chat.order').asking(chat)
  if not block then
    return
  end
  local folds = vim.tbl_keys(question.folds) ---@type integer[]
  -- the last one first, because each moves the lines below it
  table.sort(folds, function(a, b)
    return a > b
  end)
  question.armed, question.since = nil, nil
  for _, line in ipairs(folds) do
    local toggle = { kind = 'toggle', block = block.id, line = line - 1 }
    require('caliban.chat.chats').send(chat, toggle)
  end
  local first = row + folds[#folds]
  for _, win in ipairs(fn.win_findbuf(chat.transcript)) do
    if first >= fn.line('w0', win) and first <= fn.line('w$', win) then
      api.nvim_win_set_cursor(win, { first, 0 })
    end
  end
end

--- Goes to the first line of a question that has not been on the screen, and says so. The question takes keys again only
--- after the user had time to read there.
---@param chat caliban.Chat
---@param question caliban.Question
---@return boolean # whether there is such a line elsewhere
local function go_on(chat, question)
  local win = require('caliban.chat.reading').go_on(chat, question)
  if not win then
    return false
  end
  local _, count = unseen(chat, question)
  local where = count == 1 and '. Here it is.' or '. Here are the first of them.'
  question.armed, question.since = nil, nil
  require('caliban.chat.paint').last_line(chat, question.call, questions.WAITS)
  question.objected, question.said = missing(count) .. where, missing(count) .. where
  say(question.said)
  api.nvim__redraw({ win = win, valid = false, flush = false })
  return true
end

--- Says why a question is not answered yet, and opens its folds. A user who was told of lines that have not been on the
--- screen is led to them.
---@param chat caliban.Chat
---@param question caliban.Question
---@param why string
local function refuse(chat, question, why)
  if why == UNFOLDED then
    unfold(chat, question)
  elseif
    question.armed
    and question.told
    and why == unseen(chat, question)
    and go_on(chat, question)
  then
    return
  end
  question.told = question.told or why == unseen(chat, question)
  M.object(chat, question, why)
end

--- Answers the question, unless a part of it has not been shown yet.
---@param chat caliban.Chat
---@param question caliban.Question
---@param ruling caliban.WireRuling
---@param reason? string
---@param command? string runs in place of the question's command
local function answer(chat, question, ruling, reason, command)
  local open = chat.question
  if open and open.answered then
    return
  elseif not (open and open.call == question.call) then
    return say('The question has been answered or withdrawn.')
  end
  local why = M.objection(chat, open, ruling)
  if why then
    return refuse(chat, open, why)
  end
  local message = { kind = 'rule', call = question.call, ruling = ruling, reason = reason or '' }
  message.command = command
  open.answered = require('caliban.chat.chats').send(chat, message)
end

--- The question under the cursor, for consent or from the model, if it accepts keys now.
---@param block? caliban.Block
---@param chat caliban.Chat
---@return caliban.Question?
function M.taking(chat, block)
  local question = chat.question
  local asked = block and block.shape == 'ask' and block.call
  local is_open = question and question.armed and asked == question.call
  return is_open and fn.reg_executing() == '' and question or nil
end

--- The question under the cursor that asks for consent, if it accepts keys now.
---@param chat caliban.Chat
---@param block? caliban.Block
---@return caliban.Question?
local function taking(chat, block)
  local question = M.taking(chat, block)
  return question and not question.asks and question or nil
end

--- A function that answers the question, for a key; absent if the question does not accept keys
--- yet.
---@param chat caliban.Chat
---@param block? caliban.Block under the cursor
---@param ruling caliban.WireRuling
---@return fun()?
function M.key(chat, block, ruling)
  local question = taking(chat, block)
  if question and (ruling ~= 'always' or question.always) then
    return function()
      answer(chat, question, ruling)
    end
  end
end

--- A function that asks the user for a reason and answers no; absent if the question does not
--- accept keys yet.
---@param chat caliban.Chat
---@param block? caliban.Block
---@return fun()?
function M.because(chat, block)
  local question = taking(chat, block)
  return question
    and function()
      require('caliban.editor.prompt').ask({ prompt = 'No, because: ' }, function(reason)
        if reason then
          answer(chat, question, 'deny', reason)
        end
      end)
    end
end

--- Opens the command of a question, to be changed. The changed command runs in place of the model's.
---@param chat caliban.Chat
---@param question caliban.Question
local function change(chat, question)
  local why = M.objection(chat, question, 'once')
  if why then
    return refuse(chat, question, why)
  end
  require('caliban.chat.command_input').open(question.command or '', function(command)
    if command == question.command then
      return say('The command is unchanged, and still waits for your answer.')
    end
    answer(chat, question, 'once', nil, command)
  end)
end

--- A function that opens the command to be changed; absent if the question takes no keys yet or is about no command.
---@param chat caliban.Chat
---@param block? caliban.Block
---@return fun()?
function M.change(chat, block)
  local question = taking(chat, block)
  return question and question.command and function()
    change(chat, question)
  end
end

--- A window of this tab that shows the chat, and whether the question can be seen in it: of several windows the one that
--- shows most lines of the question.
---@param chat caliban.Chat
---@return integer? win
---@return boolean shown
local function window(chat)
  local block, row = require('caliban.chat.order').asking(chat)
  local found, most = nil, 0 ---@type integer?, integer
  for _, win in ipairs(api.nvim_tabpage_list_wins(0)) do
    if api.nvim_win_get_buf(win) == chat.transcript then
      local first = block and math.max(fn.line('w0', win), row + (block.head or 0) + 1) or 1
      local lines = block and math.min(fn.line('w$', win), row + block.n) - first + 1 or 0
      if not found or lines > most then
        found, most = win, math.max(most, lines)
      end
    end
  end
  return found, most > 0
end

--- The chat whose question a command answers: preferably one on the screen, otherwise the current
--- one.
---@param by_model boolean true: a question from the model; false: a question for consent
---@return caliban.Chat?
---@return boolean shown
function M.asking(by_model)
  local chats = require('caliban.chat.chats')
  local best, rank = nil, -1 ---@type caliban.Chat?, number
  for _, chat in ipairs(chats.all) do
    if chat.question and (chat.question.asks ~= nil) == by_model then
      local _, shown = window(chat)
      local it = (shown and 2 or 0) + (chat == chats.current and 1 or 0)
      if it > rank then
        best, rank = chat, it
      end
    end
  end
  return best, rank >= 2
end

--- Shows a chat, with the cursor on its pending question, on the block of a plan that waits, or on the first change that
--- waits.
---@param chat caliban.Chat
---@return integer? win of the transcript
local function find(chat)
  require('caliban.chat.windows').open(chat, false)
  require('caliban.chat.paint').renew(chat)
  local win = window(chat)
  local block, row = require('caliban.chat.order').asking(chat)
  if win and block then
    require('caliban.chat.reading').go(win, row + (block.head or 0) + 1)
  elseif win and not chat.question then
    local plan = require('caliban.chat.plan_keys').row(chat)
    local change, head = nil, nil ---@type integer?, integer?
    if not plan and chat.listing then
      change, head = require('caliban.chat.changes').first(chat)
    end
    local waits = plan or change
    local _ = waits and require('caliban.chat.reading').go(win, waits + 1, head and head + 1)
  end
  return win
end

--- Goes to the transcript, and there to the question, the plan or the first change that waits.
---@param chat caliban.Chat
function M.read(chat)
  local win = find(chat)
  local _ = win and api.nvim_set_current_win(win)
end

--- Shows a pending question.
---@param chat caliban.Chat
function M.show(chat)
  require('caliban.chat.chats').current = chat
  find(chat)
  local what = chat.question and chat.question.asks and 'asks you a question'
    or 'asks for your permission'
  say(('`%s` %s. Read the question, then answer.'):format(chat.session, what))
end

--- Answers the open question if it is on the screen. Otherwise only shows the question.
---@param ruling caliban.WireRuling
---@param reason? string
---@param command? string runs in place of the question's command
function M.rule(ruling, reason, command)
  local chat, shown = M.asking(false)
  if not (chat and chat.question) then
    require('caliban.editor.notify').say('Nothing waits for your permission.', vim.log.levels.INFO)
  elseif shown and command and not chat.question.command then
    say('This question has no command that you can change.')
  elseif shown then
    answer(chat, chat.question, ruling, reason, command)
  else
    M.show(chat)
  end
end

return M
