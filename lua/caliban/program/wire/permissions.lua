---@meta
--- What is said of the things that the user has allowed for a session; part of wire.lua.

--------------------------------------------------------------------------------------------- to the program

--- Asks for what is allowed; with `revoke`, takes that back.
---@class (exact) caliban.PermissionsWanted
---@field kind 'permissions'
---@field session string
---@field revoke? caliban.Granted

--- One thing that is allowed: reading a path with a tool, or running a command.
---@class (exact) caliban.Granted
---@field tool? string absent: it is a command
---@field what string the path or the command

--------------------------------------------------------------------------------------------- to the editor

--- What is allowed for a session, in the order in which it was.
---@class (exact) caliban.Permissions
---@field kind 'permissions'
---@field session string
---@field grants caliban.GrantRow[]

---@class (exact) caliban.GrantRow
---@field label string one line for the user
---@field tool? string
---@field what string
