local H = require('bench')
local names = require('caliban.editor.name')
local T = {}
local eq = H.eq

function T.links_above_a_missing_file_are_resolved()
  local root = vim.uv.fs_realpath(vim.fs.dirname(vim.fn.tempname())) .. '/links'
  local at = function(name)
    return root .. '/' .. name
  end
  vim.fn.mkdir(at('a [b]/c'), 'p')
  local links = { link = 'a [b]', top = '/', loop = 'loop', dangling = 'none' }
  for name, target in pairs(links) do
    assert(vim.uv.fs_symlink(target, at(name)))
  end
  local cases = {
    [at('link/c')] = at('a [b]/c'),
    [at('link/x/%$(y)')] = at('a [b]/x/%$(y)'),
    [at('link/../x')] = at('x'),
    [at('top')] = '/',
    [at('top/none/x')] = '/none/x',
    [at('loop/x')] = at('loop/x'),
    [at('dangling/x')] = at('dangling/x'),
    ['/'] = '/',
    ['/none'] = '/none',
    ['//none//x/'] = '/none/x',
    ['none/x'] = vim.uv.fs_realpath(vim.fn.getcwd()) .. '/none/x',
    [''] = '',
  }
  for path, want in pairs(cases) do
    eq(want, names.real(path), path)
  end
end

return T
