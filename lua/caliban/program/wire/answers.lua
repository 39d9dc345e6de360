---@meta
--- The editor's answers to requests of the program. Generated from the types in `src/nvim/wire.rs`: change these,
--- then run `UPDATE_EXPECT=1 cargo test --lib wire::lua`.
---
--- A text is one string: its lines joined by `\n`, without a newline at the end. `eol` says whether the file's last
--- line ends in a newline. Lines are counted from 0, and ranges are half open, unless the field says otherwise.

--- The answer to `read`.
---@class (exact) caliban.BufferText
---@field loaded boolean
---@field pending integer How many hunks are pending.
---@field text? string The buffer's text, if it is modified.
---@field eol? boolean
---@field dos? boolean
---@field bom? boolean

--- The answer to `restore`.
---@class (exact) caliban.Restored
---@field done boolean
---@field why string If `done` is false: why nothing was done. If `done` is true: why the file is not on disk; empty
--- if it is.

--- The editor's answer.
---@class (exact) caliban.Scene
---@field things? caliban.Thing[]
---@field more? integer How many things there are besides the listed ones.
---@field why? string Why there is nothing, as a sentence for the user.

--- One buffer, one entry of a list, or the clipboard.
---@class (exact) caliban.Thing
---@field name? string A file's absolute path, or the name of a buffer that shows no file. May be empty.
---@field is_file? boolean
---@field lines? [integer, integer] First and last line, from 1, inclusive.
---@field filetype? string
---@field text? string Absent for the whole of a file, which the program reads.
---@field total? integer How many lines there are in full, if `text` has fewer.
