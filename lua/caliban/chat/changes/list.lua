--- The lines of a chat's list of changes, computed from the reviews, and the item of each line.
local M = {}

local api = vim.api
local icon = require('caliban.editor.icons').of
local pending = require('caliban.review.pending')
local state = require('caliban.review.state')

--- If there are more than `FEW` changes, the list first shows only the files, without their hunks.
--- `MOST` is the most hunks of one file that the list shows.
local FEW, MOST = 30, 2000
--- The cells of a row while no window shows the transcript: those of a narrow chat at the bottom of a screen.
local ROOM = 57
--- The fewest cells of a path.
local LEAST = 12

---@class caliban.Listed a file of the list
---@field r caliban.Review
---@field of caliban.Entered[] the proposals of the review
---@field state integer the undo state that the first proposal made; 0 if the proposal also deletes or renames the file
---@field accepted? boolean whether the user had accepted a change when the file was settled
---@field open? boolean true or false: the user has opened or closed the file's hunks; nil: neither

---@class caliban.Listing
---@field files caliban.Listed[]
---@field folded? boolean true or false: the user has closed or opened the list; nil: neither
---@field spread? boolean whether the list shows its files, not only its first line
---@field items caliban.Item[] the item of each line of the block
---@field waits? boolean whether a change is pending

---@class caliban.Item a line of the list: for a hunk (`r`, `hunk`), a file (`r`, `listed`) or all changes (`session`)
---@field acts boolean whether keys can decide on the item
---@field session? string
---@field r? caliban.Review
---@field listed? caliban.Listed
---@field hunk? caliban.Hunk
---@field text? integer the byte at which a part in normal text begins; the rest of the line is dim
---@field stop? integer the byte after this part; default: the end of the line
---@field right? string the words at the right end of the line

--- The number of pending changes of a file; 0 once the file's buffer is unloaded.
---@param it caliban.Listed
---@return integer
local function count_pending(it)
  return api.nvim_buf_is_loaded(it.r.buf) and state.count(it.r) or 0
end

--- The number of pending changes in all files.
---@param listing caliban.Listing
---@return integer
function M.count(listing)
  local changes = 0
  for _, it in ipairs(listing.files) do
    changes = changes + count_pending(it)
  end
  return changes
end

--- The pending changes by kind and their files, as in `2 hunks, 1 deletion in 3 files`.
---@param listing caliban.Listing
---@return string
local function counted(listing)
  local counts, files = { hunk = 0, delete = 0, rename = 0, create = 0 }, 0
  for _, it in ipairs(listing.files) do
    local n, whole = count_pending(it), it.r.whole
    if n > 0 and whole then
      counts[whole.kind], n = counts[whole.kind] + 1, n - 1
      files = n == 0 and files + 1 or files
    end
    counts.hunk, files = counts.hunk + n, files + math.min(n, 1)
  end
  local changes = require('caliban.review.whole_words').counted(counts)
  return ('%s in %s'):format(changes, require('caliban.editor.count').of(files, 'file'))
end

--- The number of pending hunks of a file.
---@param it caliban.Listed
---@return integer
local function count_hunks(it)
  return count_pending(it) - (it.r.whole and 1 or 0)
end

--- Finds an undo state in the undo tree.
---@param entries vim.fn.undotree.entry[]
---@param seq integer
---@return vim.fn.undotree.entry? found
---@return boolean aside whether the state is on a branch other than the current one
local function find_state(entries, seq)
  for _, entry in ipairs(entries) do
    if entry.seq == seq then
      return entry, false
    end
    local found = entry.alt and find_state(entry.alt, seq)
    if found then
      return found, true
    end
  end
  return nil, false
end

--- The words for a file without pending changes in which the user has undone the proposals. Nil if
--- the proposals are still in the file, or if the verdict has already reported that they are not.
---@param it caliban.Listed
---@return string?
local function undone(it)
  local rest = require('caliban.review.undone')
  if rest.holds(it.r) then
    return rest.words
  elseif not it.accepted or not api.nvim_buf_is_loaded(it.r.buf) then
    return nil
  end
  local tree = vim.fn.undotree(it.r.buf)
  local found, aside = find_state(tree.entries, it.state)
  return aside and 'undone' or found and it.state > tree.seq_cur and rest.words or nil
end

--- The words at the right end of a file's line: its pending hunks, and how the user has decided on the others. Nil if
--- the file is settled: then it is not listed, because the line of its call says how the user has decided.
---@param it caliban.Listed
---@return string?
local function beside_line(it)
  if count_pending(it) == 0 then
    return undone(it)
  end
  local hunks = count_hunks(it)
  local parts = hunks > 0 and { require('caliban.editor.count').of(hunks, 'hunk') } or {}
  vim.list_extend(parts, require('caliban.review.verdict').words(it.r))
  return table.concat(parts, icon(' · '))
end

---@param text string
---@return string # on one line
local function clean(text)
  return require('caliban.editor.name').shown((text:gsub('\t', ' ')))
end

---@param it caliban.Listed
---@return string path
---@return string? what the kind of change, if the file is not just edited
local function label(it)
  local r = it.r
  local on_disk = count_pending(it) > 0 and require('caliban.review.on_disk').words(r) or nil
  if r.create then
    on_disk = on_disk and on_disk ~= 'written' and 'new, ' .. on_disk or 'new'
  end
  local what = r.whole and require('caliban.review.whole_words').line(r) or on_disk
  return require('caliban.review.named').shown(r), what and clean(what)
end

--- Whether a file's hunks are listed.
---@param it caliban.Listed
---@param changes integer the number of pending changes in all files
---@return boolean
function M.is_open(it, changes)
  if count_pending(it) == 0 then
    return false
  elseif it.open ~= nil then
    return it.open
  end
  return changes <= FEW
end

---@param r caliban.Review
---@param hunk caliban.Hunk
---@param room integer the cells of a row
---@return string line
---@return caliban.Item
local function hunk_line(r, hunk, room)
  local wrong = require('caliban.review.ui.syntax').words(r, hunk)
  local text = (hunk.new[1] or hunk.old[1] or ''):gsub('^%s+', '')
  local counts = ('    %5d  -%d +%d  '):format(hunk.start + 1, #hunk.old, #hunk.new)
  local gap = require('caliban.chat.beside').GAP
  local width = room - #counts - (wrong and api.nvim_strwidth(wrong) + gap or 0)
  -- `cut` measures the whole text, so a long text is first shortened to a little more than `width`
  local first = require('caliban.editor.wrap').first(text, width + 2)
  local short = require('caliban.chat.fit').cut(clean(first), width)
  local item = { acts = true, r = r, hunk = hunk, text = #counts, right = wrong }
  return counts .. short, item
end

---@param it caliban.Listed
---@param room integer
---@param add fun(text: string, item: caliban.Item)
local function list_hunks(it, room, add)
  local hunks = pending.list(it.r)
  for i = 1, math.min(#hunks, MOST) do
    add(hunk_line(it.r, hunks[i], room))
  end
  if #hunks > MOST then
    local key = require('caliban.review.ui.overlay').key(it.r.buf, 'next hunk')
    local more = icon('           …')
      .. (' %d more; %s in the file goes from hunk to hunk'):format(#hunks - MOST, key)
    add(more, { acts = false })
  end
end

---@param it caliban.Listed
---@param right string the words at the right end
---@param open boolean whether the file's hunks are listed
---@param room integer the cells of a row
---@return string line in one row with the words beside it, if the file's name has room there
---@return caliban.Item
local function file_line(it, right, open, room)
  local mark = count_hunks(it) <= 0 and ' ' or icon(open and '▾' or '▸')
  local path, what = label(it)
  local before = ('  %s '):format(mark)
  local size, gap = api.nvim_strwidth, require('caliban.chat.beside').GAP
  local rest = room - size(before) - (what and size(what) + 2 or 0) - size(right) - gap
  path = require('caliban.chat.chips').short(path, math.max(LEAST, rest))
  local item = { acts = true, r = it.r, listed = it, right = right }
  item.text, item.stop = #before, #before + #path
  return before .. path .. (what and '  ' .. what or ''), item
end

--- The list's lines: none once nothing is pending, unless the user has undone the proposals for a file.
---@param listing caliban.Listing
---@param spread boolean whether the list shows its files
---@param room? integer the cells of a row, if a window shows the transcript
---@return string[] lines
---@return caliban.Item[] items
---@return boolean waits whether a change is pending
function M.compose(listing, spread, room)
  local lines, items = { '' }, { { acts = false } } ---@type string[], caliban.Item[]
  ---@param text string
  ---@param item caliban.Item
  local function add(text, item)
    lines[#lines + 1], items[#items + 1] = text, item
  end
  local changes = M.count(listing)
  local rights = {} ---@type table<caliban.Listed, string>
  for _, it in ipairs(listing.files) do
    rights[it] = beside_line(it)
  end
  if changes > 0 then
    local session = listing.files[1].r.session
    local head = '? ' .. counted(listing)
    local more = spread and ' to review' or ' to review  (za lists them)'
    add(head .. more, { acts = true, session = session, text = 2, stop = #head })
    local k = require('caliban.editor.maps').leader()
    local keys = icon('  %sa accept  %sr reject  e reject, because …  %sc comment')
    add(keys:format(k, k, k), { acts = true, session = session })
    if not spread then
      return lines, items, true
    end
  elseif next(rights) then
    add('  nothing left to review', { acts = false })
  else
    return {}, {}, false
  end
  for _, it in ipairs(listing.files) do
    local right = rights[it] ---@type string?
    local open = M.is_open(it, changes)
    if right then
      add(file_line(it, right, open, room or ROOM))
    end
    if open then
      list_hunks(it, room or ROOM, add)
    end
  end
  return lines, items, changes > 0
end

return M
