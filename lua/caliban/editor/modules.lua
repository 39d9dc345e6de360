--- The folders from which `require` loads. By default Neovim also looks in the current folder, which is the project: a file
--- `cmp.lua` there would run in Neovim as soon as some plugin looks whether nvim-cmp is installed. The model's commands and
--- edits can make such a file, and a repository can bring one.
local M = {}

--- The templates of a path without those that begin in the current folder.
---@param path string templates, with `;` between them
---@return string
function M.absolute(path)
  local kept = {} ---@type string[]
  for template in vim.gsplit(path, ';', { plain = true }) do
    if template:sub(1, 1) == '/' then
      kept[#kept + 1] = template
    end
  end
  return table.concat(kept, ';')
end

--- Takes the current folder out of the places from which `require` loads.
function M.keep_out()
  package.path, package.cpath = M.absolute(package.path), M.absolute(package.cpath)
end

return M
