---@meta
--- The editor's answers to requests of the program. Generated from the types in `src/nvim/wire.rs`: change these,
--- then run `UPDATE_EXPECT=1 cargo test --lib wire::lua`.
---
--- A text is one string: its lines joined by `\n`, without a newline at the end. `eol` says whether the file's last
--- line ends in a newline. Lines are counted from 0, and ranges are half open, unless the field says otherwise.

--- The answer to `read`.
---@class (exact) caliban.BufferText
---@field loaded boolean
---@field pending integer How many hunks of the file are pending.
---@field text? string The buffer's text, if it is modified.
---@field eol? boolean
---@field dos? boolean
---@field bom? boolean

--- A part of the answer to `held_texts`.
---@class (exact) caliban.HeldText
---@field text string The hash of the buffer's text (`Text::sha256_hex`); empty if no buffer of the file is loaded.
---@field disk? string The hash of the text on disk, if a buffer is loaded and the file can be read in the buffer's
--- encoding.

--- The answer to `decided_so_far`.
---@class (exact) caliban.PartlyDecided
---@field words string[] How many changes were accepted, rejected and so on, such as `1 rejected`; empty if none or
--- all are decided.
---@field reasons string[] The user's reasons for rejections.

--- The answer to `restore`.
---@class (exact) caliban.Restored
---@field done boolean
---@field why string If `done` is false: why nothing was done. If `done` is true: why the text is not saved on disk,
--- or the empty string if it is.

--- The editor's answer to the question about a part.
---@class (exact) caliban.Scene
---@field things? caliban.Thing[]
---@field more? integer How many things there are besides the listed ones.
---@field why? string Why there is nothing, as a sentence for the user.

--- One buffer, one entry of a list, or the clipboard.
---@class (exact) caliban.Thing
---@field name? string The absolute path of a file, or the name of a buffer without a file. May be empty.
---@field is_file? boolean
---@field lines? [integer, integer] The first and the last line, from 1, inclusive.
---@field filetype? string
---@field text? string The text. Absent for a whole file, which the program reads itself.
---@field total? integer The full number of lines, if `text` has fewer.
