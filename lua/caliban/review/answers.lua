--- Answers what `program/workspace` asks about the review of a buffer.
local file = require('caliban.editor.file')
local tracking = require('caliban.review.hunks.tracking')
local state = require('caliban.review.state')
local whole = require('caliban.review.whole')

local of = require('caliban.review.registry').of

require('caliban.program.workspace').listen({
  pending = function(buf)
    local r = of(buf)
    return r and not r.auto and tracking.count(r) or 0
  end,
  undecided = function(buf)
    local r = of(buf)
    return r ~= nil and not r.auto and state.count(r) > 0
  end,
  gone = function(buf)
    local r = of(buf)
    return r ~= nil and whole.gone(r)
  end,
  agreed = function(buf)
    local r = of(buf)
    return r ~= nil and state.is_attempt(r, file.text(buf))
  end,
  saved = function(buf)
    local r = of(buf)
    if r then
      tracking.set_own(r, false)
      state.set_attempt(r, nil)
    end
  end,
})
