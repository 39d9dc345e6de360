--- Comments on changes under review. The comment goes to the model with a diff of the change. The
--- change stays undecided.
local M = {}

local decision = require('caliban.review.decision')
local pending = require('caliban.review.pending')
local algebra = require('caliban.review.hunks.algebra')

--- The most lines of the diff, and the most characters of one line.
local MOST_LINES, MOST_CHARS = 200, 400

---@param out string[]
---@param sign '-'|'+'
---@param lines string[]
local function side(out, sign, lines)
  for _, line in ipairs(lines) do
    -- in Lua, a '\n' within a line of a buffer stands for a NUL byte
    line = line:gsub('\n', '\0')
    local short = vim.fn.strcharpart(line, 0, MOST_CHARS)
    out[#out + 1] = sign .. (short == line and line or short .. '…')
  end
end

--- Some hunks of a review as a diff, as context for the model.
---@param r caliban.Review
---@param hunks caliban.Hunk[]
---@param title? string the proposed deletion or renaming of the file
---@return caliban.Excerpt
local function excerpt(r, hunks, title)
  local out = title and { title } or {} ---@type string[]
  for _, hunk in ipairs(hunks) do
    if #hunks > 1 then
      out[#out + 1] = ('@@ line %d'):format(hunk.start + 1)
    end
    side(out, '-', hunk.old)
    side(out, '+', hunk.new)
  end
  local more = #out - MOST_LINES
  if more > 0 then
    out = vim.list_slice(out, 1, MOST_LINES)
    out[#out + 1] = ('… %s'):format(require('caliban.editor.count').of(more, 'more line'))
  end
  local first, last = hunks[1], hunks[#hunks]
  return {
    path = require('caliban.context.excerpt').path(r.buf),
    lines = first and { first.start + 1, math.max(first.start + 1, last.start + #last.new) },
    filetype = vim.bo[r.buf].filetype,
    kind = 'hunk',
    text = table.concat(out, '\n'),
  }
end

---@param opts caliban.Choice
---@return caliban.Excerpt[]
---@return string? session nil if the choice contains no change, after telling the user
local function chosen(opts)
  local open, out, session =
    require('caliban.review.decision').chosen(opts, require('caliban.review').open()), {}, nil
  for _, r in ipairs(open) do
    local first, last = decision.rows(r, opts)
    local title = r.whole and require('caliban.review.whole_words').line(r) or nil
    local whole = title and (#pending.list(r) == 0 or opts.scope == 'file' or opts.scope == 'all')
    local hunks = first and last and algebra.take(pending.list(r), first, last) or {}
    if (whole or #hunks > 0) and (session or r.session) == r.session then
      session = r.session
      out[#out + 1] = excerpt(r, hunks, whole and title or nil)
    end
  end
  if not session then
    local why = #open == 0 and 'Nothing is under review here.'
      or require('caliban.review.ui.overlay').no_hunk()
    require('caliban.editor.notify').show(why)
  end
  return out, session
end

---@param session string
---@param text string
---@param context caliban.Excerpt[]
local function send(session, text, context)
  local chats = require('caliban.chat.chats')
  local chat = chats.find(session) or require('caliban.chat').get()
  if vim.trim(text) == '' then
    return require('caliban.editor.notify').show('Nothing sent. The comment is empty.')
  elseif not chat then
    return
  elseif chat == chats.current then
    require('caliban.chat').show(false)
  else
    require('caliban.editor.notify').show(
      ('The comment goes to the conversation `%s`.'):format(session)
    )
  end
  local message = { kind = 'send', text = text, context = context, steer = true }
  if not chats.send(chat, message) then
    require('caliban.chat.composer').give_back(chat, text, context)
  end
end

--- Sends a comment on the chosen changes. The current window stays the same.
---@param text? string default: prompts for it
---@param opts caliban.Choice
function M.comment(text, opts)
  local context, session = chosen(opts)
  if vim.fn.mode():find('^[vV\22]') then
    vim.cmd('normal! \27')
  end
  if not session then
    return
  elseif text then
    return send(session, text, context)
  end
  require('caliban.editor.prompt').ask({ prompt = 'Comment: ' }, function(given)
    if given then
      send(session, given, context)
    end
  end)
end

return M
