--- The order of the blocks of a transcript.
local M = {}

--- The ids of blocks that Lua makes: the queue, the end of the program, the list of changes, the countdown to a retry.
M.QUEUE, M.ENDED, M.REVIEW, M.RETRY = -1, -2, -3, -4

--- Whether a block stays below a new block: the queue stays below all others, the countdown below the program's blocks,
--- the list of changes below all but a question, a question below the list of changes.
---@param block caliban.Block
---@param new caliban.Block
---@return boolean
local function stays_below(block, new)
  if block.shape == 'ask' then
    return new.id == M.REVIEW
  elseif block.id == M.RETRY then
    return new.id >= 0
  end
  return block.id == M.QUEUE or block.shape == 'review' and new.shape ~= 'ask'
end

--- Whether a block with this id has to be above the block that the program painted last. This
--- happens because the end of a long chat is painted first.
---@param chat caliban.Chat
---@param id integer
---@return boolean
function M.is_above(chat, id)
  for i = #chat.blocks, 1, -1 do
    if chat.blocks[i].id >= 0 then
      return id >= 0 and id < chat.blocks[i].id
    end
  end
  return false
end

--- Finds a block, searching from the nearer end of the chat: the program's blocks are in the order of their ids.
---@param chat caliban.Chat
---@param id integer
---@return caliban.Block?, integer index, integer row
function M.find(chat, id)
  local first, last = chat.blocks[1], chat.blocks[#chat.blocks]
  local row = 0
  if first and id >= 0 and id - first.id < last.id - id then
    for i, block in ipairs(chat.blocks) do
      if block.id == id then
        return block, i, row
      elseif block.id > id then
        break
      end
      row = row + block.n
    end
    return nil, 0, 0
  end
  row = chat.total
  for i = #chat.blocks, 1, -1 do
    local block = chat.blocks[i]
    row = row - block.n
    if block.id == id then
      return block, i, row
    elseif id >= 0 and block.id >= 0 and block.id < id then
      break
    end
  end
  return nil, 0, 0
end

--- The number of the user's messages below a block.
---@param chat caliban.Chat
---@param block caliban.Block
---@return integer
function M.messages_below(chat, block)
  local count = 0
  for i = #chat.blocks, 1, -1 do
    if chat.blocks[i] == block then
      break
    end
    count = count + (chat.blocks[i].shape == 'user' and 1 or 0)
  end
  return count
end

--- The index and the row at which to insert a new block.
---@param chat caliban.Chat
---@param block caliban.Block
---@return integer at
---@return integer row
function M.place(chat, block)
  local at, row = #chat.blocks + 1, chat.total
  if M.is_above(chat, block.id) then
    -- blocks that Lua made have negative ids
    at, row = 1, 0
    while chat.blocks[at].id < block.id do
      at, row = at + 1, row + chat.blocks[at].n
    end
    return at, row
  end
  while at > 1 and stays_below(chat.blocks[at - 1], block) do
    at, row = at - 1, row - chat.blocks[at - 1].n
  end
  return at, row
end

--- Whether the list of changes is above a block that must be above the list.
---@param chat caliban.Chat
---@param index integer
---@return boolean
function M.overtaken(chat, index)
  for i = index + 1, #chat.blocks do
    if not stays_below(chat.blocks[i], chat.blocks[index]) then
      return true
    end
  end
  return false
end

--- Whether the transcript is loaded and has the lines that were painted. Otherwise somebody has changed it, and no block
--- is at its row.
---@param chat caliban.Chat
---@return boolean
function M.is_intact(chat)
  return require('caliban.chat.chats').usable(chat.transcript)
    and vim.api.nvim_buf_line_count(chat.transcript) == math.max(1, chat.total)
end

--- The block of a chat's open question; nil if the transcript is not intact.
---@param chat caliban.Chat
---@return caliban.Block?
---@return integer row the block's first row
function M.asking(chat)
  local row = chat.total
  if not (chat.question and M.is_intact(chat)) then
    return nil, 0
  end
  for i = #chat.blocks, 1, -1 do
    local block = chat.blocks[i]
    row = row - block.n
    if block.shape == 'ask' and block.call then
      return block, row
    end
  end
  return nil, 0
end

--- The last block that passes a test; nil if the transcript is not intact.
---@param chat caliban.Chat
---@param test fun(block: caliban.Block, row: integer): boolean?
---@return caliban.Block?
---@return integer row
function M.last(chat, test)
  local row = chat.total
  for i = M.is_intact(chat) and #chat.blocks or 0, 1, -1 do
    row = row - chat.blocks[i].n
    if test(chat.blocks[i], row) then
      return chat.blocks[i], row
    end
  end
  return nil, 0
end

return M
