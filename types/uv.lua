---@meta
--- The functions of vim.uv that this plugin uses, for Neovims without type definitions of vim.uv.

---@class uv
---@field hrtime fun(): integer ns
---@field kill fun(pid: integer, signal: string|integer): integer?
---@field fs_stat fun(path: string): table?
---@field fs_lstat fun(path: string): table?
---@field constants table<string, integer>
---@field fs_open fun(path: string, flags: string|integer, mode: integer): integer?, string?
---@field fs_fstat fun(fd: integer): table?
---@field fs_read fun(fd: integer, size: integer): string?, string?
---@field fs_write fun(fd: integer, data: string): integer?, string?
---@field fs_close fun(fd: integer): boolean?
---@field fs_mkdir fun(path: string, mode: integer): boolean?, string?
---@field fs_unlink fun(path: string): boolean?, string?
---@field fs_scandir fun(path: string): table?, string?
---@field fs_scandir_next fun(entries: table): string?, string?
---@field os_get_passwd fun(): table
---@field fs_rename fun(from: string, to: string): boolean?, string?
---@field fs_realpath fun(path: string): string?
---@field new_timer fun(): uv.uv_timer_t?
---@field new_pipe fun(): uv.uv_pipe_t?
---@field new_signal fun(): uv.uv_signal_t?
---@field spawn fun(path: string, options: table, done: fun(code: integer, signal: integer)): uv.uv_process_t?

---@class uv.uv_timer_t
---@field start fun(self: uv.uv_timer_t, timeout: integer, again: integer, callback: fun()): integer?
---@field stop fun(self: uv.uv_timer_t): integer?
---@field close fun(self: uv.uv_timer_t)
---@field is_closing fun(self: uv.uv_timer_t): boolean

---@class uv.uv_pipe_t
---@field write fun(self: uv.uv_pipe_t, data: string)
---@field shutdown fun(self: uv.uv_pipe_t, callback: fun())
---@field close fun(self: uv.uv_pipe_t)

---@class uv.uv_process_t
---@field kill fun(self: uv.uv_process_t, signal: string): integer?

---@class uv.uv_signal_t
---@field start fun(self: uv.uv_signal_t, signal: string, callback: fun()): integer?
---@field close fun(self: uv.uv_signal_t)
