--- Answers what `program/workspace` and `program/process` ask about reviews.
local file = require('caliban.editor.file')
local tracking = require('caliban.review.hunks.tracking')
local state = require('caliban.review.state')
local whole = require('caliban.review.whole')

local registry = require('caliban.review.registry')
local of = registry.of

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
  absent = function(buf)
    return require('caliban.review.remains').are_in(buf)
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

require('caliban.program.process').listen({
  under_review = function()
    return vim.tbl_map(function(r)
      return r.path
    end, registry.open())
  end,
})
