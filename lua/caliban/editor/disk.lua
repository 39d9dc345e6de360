--- Reads and writes only regular files, because opening a pipe, a device or a socket may block
--- forever.
local M = {}

--- The default limit of a read, in bytes: larger than any file (2^53).
local MOST = 9007199254740992

local kinds = {
  directory = 'it is a directory',
  fifo = 'it is a pipe',
  socket = 'it is a socket',
  char = 'it is a device',
  block = 'it is a device',
}

--- Why a path does not lead to a regular file, as the end of a sentence. Nil if the path leads to a
--- regular file, does not exist or cannot be examined. Follows links.
---@param path string
---@return string?
function M.odd(path)
  local stat = vim.uv.fs_stat(path)
  return stat and stat.type ~= 'file' and (kinds[stat.type] or 'it is not a file') or nil
end

--- The time at which a file was last written; empty if there is none.
---@param path string
---@return string
function M.stamp(path)
  local stat = vim.uv.fs_stat(path)
  return stat and ('%d.%d'):format(stat.mtime.sec, stat.mtime.nsec) or ''
end

--- The time at which a file was last written, in seconds since 1970.
---@param path string
---@return number? # nil if there is none
function M.written_at(path)
  local stat = vim.uv.fs_stat(path)
  return stat and stat.mtime.sec + stat.mtime.nsec / 1e9 or nil
end

--- The bytes of a regular file.
---@param path string
---@param limit? integer the most bytes to read
---@return string? # nil if the file cannot be read or is not a regular file
function M.read(path, limit)
  -- `odd` prevents the opening of a device; the `fstat` below detects a path that was replaced in
  -- the meantime
  local constants = vim.uv.constants
  local flags = constants.O_RDONLY + constants.O_NONBLOCK + constants.O_NOCTTY
  local fd = not M.odd(path) and vim.uv.fs_open(path, flags, 0)
  if not fd then
    return nil
  end
  local stat = vim.uv.fs_fstat(fd)
  local parts, left = {}, limit or MOST ---@type string[], integer
  local size = stat and stat.size or 0
  local part = stat and stat.type == 'file' and vim.uv.fs_read(fd, math.min(size + 1, left)) or nil
  while part and part ~= '' do
    parts[#parts + 1], left = part, left - #part
    part = left > 0 and vim.uv.fs_read(fd, math.min(65536, left)) or ''
  end
  vim.uv.fs_close(fd)
  return part and (#parts == 1 and parts[1] or table.concat(parts)) or nil
end

--- The names in a folder, sorted.
---@param folder string
---@return string[]
function M.names(folder)
  local out = {} ---@type string[]
  local entries = vim.uv.fs_scandir(folder)
  local name = entries and vim.uv.fs_scandir_next(entries)
  while entries and name do
    out[#out + 1] = name
    name = vim.uv.fs_scandir_next(entries)
  end
  table.sort(out)
  return out
end

--- Creates an empty file with these permissions, unless the path exists: nobody else may read the text that is written
--- into the file then.
---@param path string
---@param mode integer
function M.create(path, mode)
  local fd = vim.uv.fs_open(path, 'wx', 384) -- rw-------
  if fd then
    vim.uv.fs_close(fd)
    local permissions = ''
    for i = 1, 9 do
      local is_set = bit.band(mode, bit.lshift(1, 9 - i)) > 0
      permissions = permissions .. (is_set and ('rwxrwxrwx'):sub(i, i) or '-')
    end
    vim.fn.setfperm(path, permissions)
  end
end

--- Replaces one of Caliban's own files atomically: writes a temporary file beside the old file and renames the
--- temporary file. Does not sync.
---@param path string
---@param texts string[]
function M.replace(path, texts)
  local temporary = ('%s/.%s.tmp'):format(vim.fs.dirname(path), vim.fs.basename(path))
  -- a temporary file that a crash has left is removed, never opened
  vim.uv.fs_unlink(temporary)
  local fd = vim.uv.fs_open(temporary, 'wx', 384) -- rw-------
  if not fd then
    return
  end
  local ok = true ---@type any
  for _, text in ipairs(texts) do
    local from = 1
    while ok and from <= #text do
      local written = vim.uv.fs_write(fd, from == 1 and text or text:sub(from))
      ok, from = written, from + (written or 0)
    end
  end
  ok = vim.uv.fs_close(fd) and ok and vim.uv.fs_rename(temporary, path)
  if not ok then
    vim.uv.fs_unlink(temporary)
  end
end

return M
