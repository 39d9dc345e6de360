--- The list of the commands that run in the background, from which the user can stop a command.
local M = {}

--- Asks the program for the list, which `offer` shows.
function M.ask()
  require('caliban.chat').send({ kind = 'jobs' })
end

---@param seconds integer
---@return string
local function age(seconds)
  if seconds < 60 then
    return ('%d s'):format(seconds)
  end
  local minutes = math.floor(seconds / 60)
  return minutes < 60 and ('%d min'):format(minutes) or ('%d h'):format(math.floor(minutes / 60))
end

--- Offers the jobs; stops the chosen job.
---@param message caliban.Jobs
function M.offer(message)
  local opts = {
    prompt = 'Background jobs. Choose one to stop it:',
    kind = 'caliban_jobs',
    give = 2,
    ---@param job caliban.JobRow
    cells = function(job)
      local began = ('started %s ago'):format(age(job.age))
      local state = job.ended or job.ports or 'running'
      return { ('job %d'):format(job.id), job.command, state, began }
    end,
  }
  require('caliban.editor.pick').one(message.jobs, opts, function(job)
    if job.ended then
      local text = ('Job %d has already ended.'):format(job.id)
      return require('caliban.editor.notify').say(text, vim.log.levels.INFO)
    end
    require('caliban.program.process').ask({
      kind = 'jobs',
      session = message.session,
      stop = job.id,
    })
  end)
end

return M
