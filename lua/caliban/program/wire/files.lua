---@meta
--- What is said of the turns that changed files; part of wire.lua.

--------------------------------------------------------------------------------------------- to the program

--- Asks for the turns of a session that have changed files; of an entry, what taking back its changes would do; with
--- paths, takes back those of these files.
---@class (exact) caliban.Rewind
---@field kind 'rewind'
---@field session string
---@field entry? integer
---@field paths? string[] absolute

--------------------------------------------------------------------------------------------- to the editor

--- The turns that have changed files, the last first.
---@class (exact) caliban.Turns
---@field kind 'turns'
---@field session string
---@field turns caliban.TurnRow[]

---@class (exact) caliban.TurnRow
---@field entry integer
---@field title string
---@field age integer seconds since its first change
---@field files string[]

--- What taking back a turn's changes would do.
---@class (exact) caliban.Preview
---@field kind 'preview'
---@field session string
---@field entry integer
---@field title string
---@field files caliban.RewindFile[]

---@class (exact) caliban.RewindFile
---@field path string absolute
---@field name string as the user would write it
---@field about string what becomes of it, to follow its name
---@field diff string unified, without the head
---@field todo boolean there is something to do

--- Asks to do one thing to a file that is not to be reviewed; answered with `caliban.Restored`.
---@class (exact) caliban.Restore
---@field kind 'restore'
---@field file caliban.WireProposal

---@class (exact) caliban.Restored
---@field done boolean
---@field why string why not; where it is done, why it is not on disk, or ''

--- The program has written this file.
---@class (exact) caliban.Refresh
---@field kind 'refresh'
---@field path string
