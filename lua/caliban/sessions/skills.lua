--- The skills: a list from which the user chooses one for the next message.
local M = {}

local api = vim.api

--- The most bytes of a `SKILL.md` that are read for a preview.
local MOST = 50000

--- Asks the program for the skills, which `offer` shows.
function M.ask()
  require('caliban.chat').send({ kind = 'send', text = '/skill', context = {}, steer = false })
end

--- The text of a skill's `SKILL.md`.
---@param skill caliban.SkillRow
---@return string[]
local function text(skill)
  local found = require('caliban.editor.disk').read(skill.path, MOST)
  return vim.split(found or 'This file cannot be read.', '\n', { plain = true })
end

--- Puts the call of a skill into the composer and makes the composer the current window, so that
--- the user can add the message. Replaces the call of another skill.
---@param chat caliban.Chat
---@param skill caliban.SkillRow
local function use(chat, skill)
  if require('caliban.chat.chats').usable(chat.composer) then
    local line = api.nvim_buf_get_lines(chat.composer, 0, 1, false)[1] or ''
    local _, call = line:find('^/skill%f[%s%z]%s*%S*%s*')
    api.nvim_buf_set_text(chat.composer, 0, 0, 0, call or 0, {})
  end
  require('caliban.chat.composer').give_back(chat, ('/skill %s '):format(skill.name), {}, '')
  if require('caliban.chat.chats').current ~= chat then
    return
  end
  require('caliban.chat').show(true)
  if api.nvim_get_current_buf() == chat.composer then
    vim.cmd.startinsert({ bang = true })
  end
end

--- Offers the skills.
---@param message caliban.Skills
function M.offer(message)
  local chat = require('caliban.chat.chats').find(message.session)
  if not chat then
    return
  end
  local opts = {
    prompt = 'Skills. Choose one for your message:',
    kind = 'caliban_skills',
    give = 3,
    ---@param skill caliban.SkillRow
    cells = function(skill)
      return { skill.name, skill.source, skill.description }
    end,
    ---@param skill caliban.SkillRow
    preview = function(skill, show)
      show(text(skill), 'markdown')
    end,
  }
  require('caliban.editor.pick').one(message.skills, opts, function(skill)
    use(chat, skill)
  end)
end

return M
