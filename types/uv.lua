---@meta
--- The part of vim.uv that is used here, for Neovims that come without its definitions.

---@class uv
---@field hrtime fun(): integer ns
---@field kill fun(pid: integer, signal: string|integer): integer?
---@field fs_stat fun(path: string): table?
---@field fs_lstat fun(path: string): table?
---@field fs_rename fun(from: string, to: string): boolean?, string?
---@field fs_realpath fun(path: string): string?
---@field new_timer fun(): uv.uv_timer_t?

---@class uv.uv_timer_t
---@field start fun(self: uv.uv_timer_t, timeout: integer, again: integer, callback: fun()): integer?
---@field stop fun(self: uv.uv_timer_t): integer?
---@field close fun(self: uv.uv_timer_t)
---@field is_closing fun(self: uv.uv_timer_t): boolean
