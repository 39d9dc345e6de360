---@meta
-- What is said of a session that two Neovims want; part of wire.lua.

--------------------------------------------------------------------------------------------- to the program

--- What the user wants of a session that another Neovim has: to read it, to go on in a copy, or to take it over once it
--- is let go of.
---@class (exact) caliban.Claim
---@field kind 'claim'
---@field session string
---@field way 'read'|'fork'|'take'
---@field root? string of its project, where that is another: only copied from there

--- Another Neovim takes a session over; its reviews are given up already.
---@class (exact) caliban.Yield
---@field kind 'yield'
---@field session string
---@field by string

--------------------------------------------------------------------------------------------- to the editor

--- The session that was asked for is another Neovim's.
---@class (exact) caliban.Held
---@field kind 'held'
---@field session string
---@field by string who has it, for the user; '' where that is not known
---@field server string where that Neovim listens, '' likewise
