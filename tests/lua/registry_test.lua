local H = require('bench')
local B = require('caliban.review')
local W = require('caliban.program.workspace')
local T = {}
local eq = H.eq

function T.a_proposal_enters_in_one_undo_step()
  H.fresh()
  local path = H.write('f.txt', 'a\nb\nc\nd\ne\nf\n')
  vim.cmd.edit(path)
  H.keys('5Gma')
  local space = vim.api.nvim_create_namespace('t')
  local mark = vim.api.nvim_buf_set_extmark(0, space, 4, 1, {})
  H.propose({ H.proposal(path, H.l('a b c d e f'), H.l('n a X c d e F')) })
  eq('n a X c d e F', H.text())
  eq('0:-+n 2:-b+X 6:-f+F', H.pending())
  eq({ 6, 6, 5 }, {
    vim.fn.line('.'),
    vim.fn.line("'a"),
    vim.api.nvim_buf_get_extmark_by_id(0, space, mark, {})[1],
  })
  local m = H.sent()
  eq({ 1, 'entered', 3 }, { #m, m[1].state, m[1].hunks })
  H.keys('u')
  eq('a b c d e f', H.text())
  eq('', H.pending())
  eq(false, vim.bo.modified)
  H.keys('<C-r>')
  eq('0:-+n 2:-b+X 6:-f+F', H.pending())
end

function T.hunks_are_accepted_and_rejected_one_by_one()
  H.review('a b c d e', 'a X c Y e')
  H.keys('2G')
  B.accept()
  eq('3:-d+Y', H.pending())
  H.keys('4G')
  B.reject({ reason = 'no need' })
  eq('a X c d e', H.text())
  eq('a\nX\nc\nd\ne\n', H.disk('f.txt'))
  local m = H.sent()
  eq({ 'arrived', 'reviewed' }, { m[1].kind, m[2].kind })
  eq(
    { true, '', { { changes = { { 1 } }, whole = false, reason = 'no need' } } },
    { m[2].saved, m[2].unsaved, m[2].reasons }
  )
  eq({ m[1].id }, m[2].proposals)
  eq({ 'f.txt: 1 accepted, 1 rejected, saved' }, H.said())
  eq(4, vim.fn.line('.'))
end

function T.a_line_that_is_joined_across_the_edge_of_a_hunk_is_the_users()
  for keys, lines in pairs({
    ['3GJ'] = { 'a', 'b', 'Y c', 'd' },
    ['1GJ'] = { 'a X', 'b', 'c', 'd' },
  }) do
    H.review('a b c d', 'a X Y c d')
    H.keys(keys)
    B.reject({ scope = 'file' })
    eq(lines, vim.api.nvim_buf_get_lines(0, 0, -1, false))
    eq({ 'f.txt: 1 rejected, not saved: it has other unsaved changes' }, H.said())
    eq('a\nb\nc\nd\n', H.disk('f.txt'))
    vim.cmd('%bwipeout!')
  end
end

function T.accepting_outside_of_every_hunk_decides_nothing()
  H.review('a b c d e', 'a X c d e')
  H.keys('5G')
  B.accept()
  eq('1:-b+X', H.pending())
  eq({ 'No hunk here. ]h goes to the next one.' }, H.said())
end

function T.reloading_a_changed_file_for_a_proposal_reports_no_decision()
  H.review('a b c', 'a X c')
  B.accept({ scope = 'file' })
  eq('a\nX\nc\n', H.disk('f.txt'))
  H.sent()
  local path = H.write('f.txt', 'a\nb\nc\nd\n')
  vim.uv.fs_utime(path, os.time() + 60, os.time() + 60)
  H.propose({ H.proposal(path, H.l('a b c d'), H.l('a Y c d')) })
  H.settle()
  eq('1:-b+Y', H.pending())
  local m = H.sent()
  eq({ 1, 'arrived', 'entered' }, { #m, m[1].kind, m[1].state })
end

function T.all_hunks_of_a_range_or_a_file_can_be_decided_at_once()
  H.review('a b c d e', 'X b Y d Z')
  B.accept({ scope = 'range', range = { 1, 2 } })
  eq('2:-c+Y 4:-e+Z', H.pending())
  B.reject({ scope = 'file' })
  eq('X b c d e', H.text())
  eq('X\nb\nc\nd\ne\n', H.disk('f.txt'))
  H.review('a b c d e', 'a d e')
  H.keys('1G')
  B.reject()
  eq('a b c d e', H.text())
  eq(false, vim.bo.modified)
end

function T.accepting_all_saves_hidden_files_and_keeps_the_windows()
  H.fresh()
  vim.cmd.edit(H.write('here.txt', 'here\n'))
  local list = {}
  for i = 1, 3 do
    local path = H.write(i .. '.txt', 'a\nb\n')
    list[i] = H.proposal(path, H.l('a b'), H.l('a X'))
  end
  local before = {
    vim.api.nvim_get_current_buf(),
    vim.fn.bufnr('#'),
    #vim.fn.getjumplist()[1],
    #vim.api.nvim_list_wins(),
  }
  H.propose(list)
  eq(3, #B.reviews())
  B.accept({ scope = 'all' })
  eq({ 'a\nX\n', 'a\nX\n', 'a\nX\n' }, { H.disk('1.txt'), H.disk('2.txt'), H.disk('3.txt') })
  eq(before, {
    vim.api.nvim_get_current_buf(),
    vim.fn.bufnr('#'),
    #vim.fn.getjumplist()[1],
    #vim.api.nvim_list_wins(),
  })
  eq({ '3 files: 3 hunks accepted' }, H.said())
end

function T.the_message_about_several_files_counts_the_unsaved_ones()
  H.fresh()
  local one, two = H.write('1.txt', 'a\nb\n'), H.write('2.txt', 'a\nb\n')
  vim.cmd.edit(two)
  vim.api.nvim_buf_set_lines(0, 2, 2, false, { 'mine' })
  H.propose({
    H.proposal(one, H.l('a b'), H.l('a X')),
    H.proposal(two, H.l('a b mine'), H.l('a X mine')),
  })
  B.accept({ scope = 'all' })
  eq({ 'a\nX\n', 'a\nb\n' }, { H.disk('1.txt'), H.disk('2.txt') })
  eq({ '2 files: 2 hunks accepted, 1 file not saved' }, H.said())
end

function T.single_lines_of_a_hunk_can_be_decided()
  H.review('a b', 'a X Y Z b')
  B.reject({ scope = 'range', range = { 3, 3 } })
  eq('a X Z b', H.text())
  eq('1:-+X,Z', H.pending())
  B.accept({ scope = 'range', range = { 2, 2 } })
  eq('2:-+Z', H.pending())
end

function T.lines_typed_outside_a_hunk_survive_decisions()
  local rows = {
    { 'ggOtop<Esc>', 'top a b c d', 'top a X c d', 'above' },
    { '2GOtop<Esc>', 'a top b c d', 'a top X c d', 'O on its first line' },
    { '2Gobelow<Esc>', 'a b below c d', 'a X below c d', 'o on its last line' },
    { '2GA<CR>below<Esc>', 'a b below c d', 'a X below c d', '<CR> at its end' },
    { '2GccY<Esc>', 'a b c d', 'a Y c d', 'inside' },
    { 'Gdd', 'a b c', 'a X c', 'a line deleted below' },
    { '2Gdd', 'a b c d', 'a c d', 'the hunk deleted' },
    { '1GdG', 'b', '', 'all lines deleted' },
    { ':%s/^/-/<CR>', '-a b -c -d', '-a -X -c -d', 'every line' },
    { ':1m$<CR>', 'b c d a', 'X c d a', 'a line moved over it' },
  }
  for _, row in ipairs(rows) do
    for verdict, want in pairs({ reject = row[2], accept = row[3] }) do
      H.review('a b c d', 'a X c d')
      H.keys(row[1])
      B[verdict]({ scope = 'file' })
      eq(want, H.text(), verdict .. ', ' .. row[4])
      eq('', H.pending())
    end
  end
end

function T.typing_the_old_text_of_a_hunk_settles_the_review()
  H.review('a b c', 'a X c')
  H.keys('2Gccb<Esc>')
  eq('', H.pending())
  local m = H.sent()
  eq({ 'reviewed', true }, { m[2].kind, m[2].saved })
  eq({ 'f.txt: undone' }, H.said())
end

function T.undo_takes_decisions_back_and_redo_repeats_them()
  H.review('a b c d e', 'a X c Y e')
  H.keys('2G')
  B.reject()
  eq({ 'a b c Y e', '3:-d+Y' }, { H.text(), H.pending() })
  H.keys('u')
  eq({ 'a X c Y e', '1:-b+X 3:-d+Y' }, { H.text(), H.pending() })
  H.keys('<C-r>')
  eq({ 'a b c Y e', '3:-d+Y' }, { H.text(), H.pending() })
  H.keys('uu')
  eq({ 'a b c d e', '' }, { H.text(), H.pending() })
  H.keys('2<C-r>')
  eq({ 'a b c Y e', '3:-d+Y' }, { H.text(), H.pending() })
  B.accept({ scope = 'file' })
  eq('a\nb\nc\nY\ne\n', H.disk('f.txt'))
  H.keys('u')
  eq({ 'a b c Y e', '3:-d+Y' }, { H.text(), H.pending() }, 'u after the end opens it again')
  H.keys('u')
  eq({ 'a X c Y e', '1:-b+X 3:-d+Y' }, { H.text(), H.pending() })
end

function T.before_the_first_proposal_no_line_is_the_agents()
  H.fresh()
  local path = H.write('f.txt', 'a\nb\nc\n')
  vim.cmd.edit(path)
  H.keys('3Gdd')
  H.propose({ H.proposal(path, H.l('a b'), H.l('X Y Z')) })
  eq('0:-a,b+X,Y,Z', H.pending())
  H.keys(':earlier 2<CR>')
  eq({ 'a b c', '' }, { H.text(), H.pending() })
  H.keys('<C-r><C-r>')
  eq({ 'X Y Z', '0:-a,b+X,Y,Z' }, { H.text(), H.pending() })
end

function T.no_line_is_the_agents_on_a_branch_that_the_user_left_before_the_first_proposal()
  H.fresh()
  local path = H.write('f.txt', 'a\nb\nb\nc\n')
  vim.cmd.edit(path)
  H.keys('2Gdd')
  H.keys('u')
  H.propose({ H.proposal(path, H.l('a b b c'), H.l('a X c')) })
  H.keys(':undo 1<CR>')
  eq({ 'a b c', '' }, { H.text(), H.pending() })
end

function T.a_command_that_changes_nothing_accepts_nothing()
  H.review('a b', 'X')
  -- begins an undo state of which Neovim reports nothing
  H.keys('1G=1G')
  H.keys(':earlier 2<CR>')
  H.keys('2GccY<Esc>')
  H.keys('g-')
  eq({ 'X', '0:-a,b+X' }, { H.text(), H.pending() })
end

function T.a_removed_line_keeps_its_place_between_lines_that_are_broken_up()
  H.fresh()
  local path = H.write('f.txt', 'p q\nr\ns t\n')
  vim.cmd.edit(path)
  H.propose({ H.proposal(path, { 'p q', 'r', 's t' }, { 'p q', 's t' }) })
  H.keys(':%s/ /\\r/<CR>')
  eq('p q s t', H.text())
  eq('2:-r+', H.pending())
end

function T.hunks_follow_an_undo_and_typing_within_one_command()
  H.review('a b c d', 'a X c d')
  vim.cmd('silent normal! uGonew')
  eq({ 'a b c d new', '' }, { H.text(), H.pending() })
  H.review('a b c d', 'a X c d')
  vim.cmd('silent normal! Gonew')
  vim.cmd('silent normal! uu')
  vim.cmd.redo({ mods = { silent = true } })
  eq({ 'a X c d', '1:-b+X' }, { H.text(), H.pending() })
end

function T.ordinary_write_commands_are_refused_during_a_review()
  local sentence = 'f.txt is not written: 1 hunk waits for you. :w! writes it as it is.'
  for _, command in ipairs({ 'w', 'wa', 'wqa', 'update', 'x', 'wq' }) do
    H.review('a b c', 'a X c')
    local err = H.try(command)
    assert(err:find('is not written', 1, true), command .. ': ' .. err)
    eq({ true, 'a\nb\nc\n', '1:-b+X' }, { vim.bo.modified, H.disk('f.txt'), H.pending() }, command)
  end
  H.review('a b c', 'a X c')
  eq(sentence, H.try('w'))
end

function T.writing_with_a_bang_writes_the_pending_hunks()
  H.review('a b c', 'a X c')
  local ran = 0
  local id = vim.api.nvim_create_autocmd('BufWritePre', {
    callback = function()
      ran = ran + 1
    end,
  })
  assert(H.try('w!'):find('is not written', 1, true))
  H.keys(':w!<CR>')
  eq({ 'a\nX\nc\n', '1:-b+X', false, 1 }, { H.disk('f.txt'), H.pending(), vim.bo.modified, ran })
  assert(H.try('w'):find('is not written', 1, true))
  eq('', H.try('w other.txt'))
  eq({ 'a\nX\nc\n', '1:-b+X' }, { H.disk('other.txt'), H.pending() })
  assert(H.try('w other.txt'):find('E13', 1, true))
  B.reject({ scope = 'file' })
  eq({ 'a\nb\nc\n', '' }, { H.disk('f.txt'), H.try('w') })
  vim.api.nvim_del_autocmd(id)
end

function T.the_last_decision_saves_the_file_once_with_autocommands()
  H.review('a b c d', 'a X c Y')
  local ran = 0
  local id = vim.api.nvim_create_autocmd('BufWritePre', {
    callback = function()
      ran = ran + 1
      vim.cmd('silent %s/X/formatted/e')
    end,
  })
  H.keys('2G')
  B.accept()
  eq(0, ran)
  H.keys('4G')
  B.accept()
  eq({ 1, 'a\nformatted\nc\nY\n', false }, { ran, H.disk('f.txt'), vim.bo.modified })
  eq({ 'saved', '' }, { H.said()[1]:match('saved'), H.pending() })
  vim.api.nvim_del_autocmd(id)
end

function T.accepting_does_not_save_a_buffer_with_unsaved_text_of_the_user()
  H.fresh()
  local path = H.write('f.txt', 'a\nb\n')
  vim.cmd.edit(path)
  H.keys('Gomine<Esc>')
  H.propose({ H.proposal(path, H.l('a b mine'), H.l('a X mine')) })
  B.accept({ scope = 'file' })
  eq({ true, 'a\nb\n', 'a X mine' }, { vim.bo.modified, H.disk('f.txt'), H.text() })
  local m = H.sent()
  eq(
    { false, 'it has other unsaved changes', 'a\nX\nmine' },
    { m[2].saved, m[2].unsaved, m[2].text }
  )
end

function T.a_rejected_new_file_leaves_no_buffer_and_no_folder()
  local dir = H.fresh()
  local path = dir .. '/new/dir/n.txt'
  H.propose({ H.proposal(path, {}, H.l('x y'), { create = true }) })
  local buf = B.reviews()[1].buf
  eq({ 'x y', '0:-+x,y', 0 }, { H.text(buf), H.pending(), vim.fn.isdirectory(dir .. '/new') })
  B.accept({ scope = 'file', buf = buf })
  eq('x\ny\n', H.disk('new/dir/n.txt'))
  local two = dir .. '/two/n.txt'
  H.propose({ H.proposal(two, {}, H.l('x y'), { create = true }) })
  buf = B.reviews()[1].buf
  B.reject({ scope = 'file', buf = buf })
  eq({ false, 0 }, { vim.api.nvim_buf_is_valid(buf), vim.fn.isdirectory(dir .. '/two') })
  local m = H.sent()
  eq({ 'reviewed', true, true }, { m[#m].kind, m[#m].gone, m[#m].saved })
  H.write('there.txt', 'x\n')
  H.propose({ H.proposal(dir .. '/there.txt', {}, H.l('y'), { create = true }) })
  m = H.sent()
  eq({ 'moved', 'x' }, { m[1].state, m[1].text })
end

function T.a_file_that_another_program_made_is_not_overwritten()
  local dir = H.fresh()
  H.propose({ H.proposal(dir .. '/n.txt', {}, H.l('x y'), { create = true }) })
  H.write('n.txt', 'theirs\n')
  -- the change has become another one, so the user decides again
  B.accept({ scope = 'all' })
  eq({ 'theirs\n', 1 }, { H.disk('n.txt'), #B.open() })
  B.reject({ scope = 'all' })
  eq({ 'theirs\n', 0 }, { H.disk('n.txt'), #B.open() })
end

function T.line_ends_and_byte_order_marks_are_kept()
  local rows = {
    { 'a\r\nb\r\n', 'a b', 'a X', 'a\r\nX\r\n', 'CRLF' },
    { '\239\187\191a\nb\n', 'a b', 'a X', '\239\187\191a\nX\n', 'BOM' },
    { 'a\nb', 'a b', 'X b', 'X\nb', 'no newline at the end', { eol = false } },
    { 'a\nb', 'a b', 'X b', 'X\nb\n', 'a newline added' },
    { 'a\nb\n', 'a b', 'X b', 'X\nb', 'a newline taken', { eol = false } },
    { '', '', 'a b', 'a\nb\n', 'empty' },
    { 'a\nb\n', 'a b', '', '', 'every line deleted', { eol = false } },
    { 'a\nb\n', 'a b', 'n a b', 'n\na\nb\n', 'at line 1' },
    { 'a\nb\n', 'a b', 'a b n', 'a\nb\nn\n', 'at the end' },
    { 'a\nb\n', 'a b', 'b', 'b\n', 'line 1 deleted' },
    { 'a\nb\n', 'a b', 'a', 'a\n', 'last line deleted' },
  }
  for _, row in ipairs(rows) do
    for verdict, want in pairs({ accept = row[4], reject = row[1] }) do
      H.fresh()
      local path = H.write('f.txt', row[1])
      H.propose({ H.proposal(path, H.l(row[2]), H.l(row[3]), row[6]) })
      eq(1, #B.reviews(), row[5])
      B[verdict]({ scope = 'all' })
      eq(want, H.disk('f.txt'), row[5] .. ', ' .. verdict)
      eq(0, #W.changed(), row[5] .. ', ' .. verdict)
      eq(row[verdict == 'accept' and 3 or 2], H.text(vim.fn.bufnr('f.txt')), row[5])
    end
  end
end

function T.a_proposal_to_a_buffer_that_cannot_be_changed_is_refused_without_a_prompt()
  local function why(path, setup)
    if setup then
      vim.cmd.edit(path)
      setup()
    end
    H.propose({ H.proposal(path, H.l('a b'), H.l('a X')) })
    local m = H.sent()
    return m[#m].state .. ': ' .. (m[#m].why or '')
  end
  local dir = H.fresh()
  eq(
    "refused: its buffer is 'nomodifiable'",
    why(H.write('1', 'a\nb\n'), function()
      vim.bo.modifiable = false
    end)
  )
  eq(
    'refused: it is read-only',
    why(H.write('2', 'a\nb\n'), function()
      vim.bo.readonly = true
    end)
  )
  eq(
    'refused: its buffer is a special buffer (nofile)',
    why(H.write('3', 'a\nb\n'), function()
      vim.bo.buftype = 'nofile'
    end)
  )
  vim.fn.mkdir(dir .. '/d')
  eq('refused: it is a directory', why(dir .. '/d'))
  eq('refused: it is not a file on disk', why('oil:///x'))
  eq(
    'refused: it is no longer on disk',
    why(H.write('4', 'a\nb\n'), function()
      os.remove(dir .. '/4')
    end)
  )
end

function T.a_proposal_for_a_file_open_in_another_neovim_is_refused()
  local dir = H.fresh()
  local path = H.write('f.txt', 'a\nb\n')
  vim.o.directory = dir .. '//'
  local args = {
    vim.env.CALIBAN_TEST_NVIM or vim.v.progpath,
    '--embed',
    '--headless',
    '--clean',
    '--cmd',
    'set directory=' .. dir .. '//',
    path,
  }
  local other = vim.fn.jobstart(args, { rpc = true })
  vim.rpcrequest(other, 'nvim_command', 'normal! otheirs')
  vim.rpcrequest(other, 'nvim_command', 'preserve')
  vim.o.swapfile, vim.o.updatecount = true, 200
  for _ = 1, 2 do
    H.propose({ H.proposal(path, H.l('a b'), H.l('a X')) })
    local m = H.sent()
    eq({ 'refused', 'it is open in another Neovim (swap file)' }, { m[1].state, m[1].why })
    eq(-1, vim.fn.bufnr('f.txt'))
  end
  vim.o.swapfile, vim.o.updatecount = false, 0
  vim.fn.jobstop(other)
end

function T.a_proposal_on_old_text_returns_the_current_text()
  local dir = H.fresh()
  local path = H.write('f.txt', 'a\nb\n')
  H.propose({ H.proposal(path, H.l('old text'), H.l('a X')) })
  H.propose({ H.proposal(dir .. '/none', H.l('old'), H.l('X')) })
  local m = H.sent()
  eq(
    { 'moved', 'a\nb', true, false, false },
    { m[1].state, m[1].text, m[1].eol, m[1].dos, m[1].bom }
  )
  eq({ 'moved', nil }, { m[2].state, m[2].text })
end

function T.proposals_of_a_stopped_turn_do_not_enter()
  H.fresh()
  local path = H.write('f.txt', 'a\nb\n')
  H.calm = false
  H.propose({ H.proposal(path, H.l('a b'), H.l('a X')) }, 's', 7)
  eq({ 1, 'calm' }, { #B.waiting(), B.waiting()[1].waits })
  B.stopped('s', 7)
  eq('stopped', H.sent()[1].state)
  eq(0, #B.waiting())
end

function T.a_review_takes_proposals_of_its_own_session_only()
  local buf = H.review('a b c d', 'a X c d')
  local path = vim.api.nvim_buf_get_name(buf)
  H.propose({ H.proposal(path, H.l('a X c d'), H.l('a X Y d e')) })
  eq({ 'a X Y d e', '1:-b,c+X,Y 4:-+e' }, { H.text(), H.pending() })
  H.propose({ H.proposal(path, H.l('a X Y d e'), H.l('A X Y d e')) }, 'other')
  eq({ 'review' }, { B.waiting()[1].waits })
  B.accept({ scope = 'file' })
  H.settle()
  eq({ '0:-a+A', 0 }, { H.pending(), #B.waiting() })
  local m = H.sent()
  eq(2, #m[3].proposals)
end

function T.reloading_or_closing_a_buffer_ends_its_review()
  local buf = H.review('a b c', 'a X c')
  vim.cmd('silent edit!')
  eq({ 'a b c', '' }, { H.text(), H.pending() })
  local m = H.sent()
  eq({ 'reviewed', false, true }, { m[2].kind, m[2].gone, m[2].saved })
  eq('', H.try('w'))
  local path = vim.api.nvim_buf_get_name(buf)
  H.propose({ H.proposal(path, H.l('a b c'), H.l('a X c')) })
  eq('1:-b+X', H.pending())
  H.keys('u')
  eq('', H.pending())
  H.keys('<C-r>')
  eq('1:-b+X', H.pending())
  H.sent()
  for _, command in ipairs({ 'bwipeout!', 'bdelete!' }) do
    H.review('a b c', 'a X c')
    vim.cmd(command)
    m = H.sent()
    eq({ 'reviewed', true }, { m[2].kind, m[2].closed }, command)
    eq({ '', 0 }, { H.pending(), #B.reviews() })
  end
end

function T.changes_on_disk_during_a_review_are_merged()
  local function later(text)
    H.write('f.txt', text)
    vim.uv.fs_utime(vim.fn.getcwd() .. '/f.txt', os.time() + 9, os.time() + 9)
  end
  H.review('a b c d e', 'a X c d e')
  later('a\nb\nc\nd\nE\nf\n')
  vim.cmd('doautocmd FocusGained')
  H.settle()
  eq({ 'a X c d E f', '1:-b+X' }, { H.text(), H.pending() })
  B.accept({ scope = 'file' })
  eq('a\nX\nc\nd\nE\nf\n', H.disk('f.txt'))
  H.review('a b c d e', 'a X c d e')
  later('a\ntheirs\nc\nd\ne\n')
  B.accept({ scope = 'file' })
  eq({ 'a X c d e', 'a\ntheirs\nc\nd\ne\n', true }, { H.text(), H.disk('f.txt'), vim.bo.modified })
  local said = H.said()
  assert(said[1]:find('changed on disk while you were reviewing', 1, true), said[1])
  assert(said[2]:find('not saved: it changed on disk too', 1, true), said[2])
end

function T.a_file_changed_on_disk_is_read_before_a_proposal_enters()
  H.fresh()
  local path = H.write('f.txt', 'a\nb\n')
  vim.cmd.edit(path)
  H.write('f.txt', 'a\nc\n')
  vim.uv.fs_utime(path, os.time() + 9, os.time() + 9)
  vim.o.autoread = false
  H.propose({ H.proposal(path, H.l('a c'), H.l('a X')) })
  vim.o.autoread = true
  eq({ 'a X', '1:-c+X' }, { H.text(), H.pending() })
  local dir = H.fresh()
  vim.cmd.edit(dir .. '/later.txt')
  H.propose({ H.proposal(H.write('later.txt', 'a\nb\n'), H.l('a b'), H.l('a X')) })
  eq({ 'a X', '1:-b+X' }, { H.text(), H.pending() })
end

function T.the_users_mappings_are_restored_after_a_review()
  H.fresh()
  local path = H.write('f.txt', 'a\nb\nc\n')
  vim.cmd.edit(path)
  vim.keymap.set('n', ']h', 'x', { buffer = true, desc = 'mine', expr = true, silent = true })
  vim.keymap.set('n', '[h', 'x', { desc = 'global' })
  local before = { vim.fn.maparg(']h', 'n', false, true), vim.fn.maparg('[h', 'n', false, true) }
  H.propose({ H.proposal(path, H.l('a b c'), H.l('a X c')) })
  eq('Caliban: next hunk', vim.fn.maparg(']h', 'n', false, true).desc)
  vim.cmd('normal ]h')
  eq(2, vim.fn.line('.'))
  vim.cmd('normal \\a')
  eq('a\nX\nc\n', H.disk('f.txt'))
  eq(before, { vim.fn.maparg(']h', 'n', false, true), vim.fn.maparg('[h', 'n', false, true) })
  eq('', vim.fn.maparg('\\a', 'n'))
  vim.keymap.del('n', '[h')
  H.review('a b', 'a X Y Z b')
  vim.cmd('normal 3GV\\r')
  eq({ 'a X Z b', 'n' }, { H.text(), vim.fn.mode() })
end

function T.the_program_reads_and_saves_files_through_their_buffers()
  local buf = H.review('a b c', 'a X c')
  local path = vim.api.nvim_buf_get_name(buf)
  local read = function()
    return W.read({ kind = 'read', path = path })
  end
  eq({ loaded = true, pending = 1, text = 'a\nX\nc', eol = true, dos = false, bom = false }, read())
  eq({ path }, W.changed())
  eq({ path }, W.save({ kind = 'save', paths = { path }, agreed = { path } }))
  B.accept({ scope = 'file' })
  eq({ loaded = true, pending = 0 }, read())
  H.keys('Gomore<Esc>')
  eq({ path }, W.save({ kind = 'save', paths = { path }, agreed = {} }))
  eq('a\nX\nc\n', H.disk('f.txt'))
  eq({}, W.save({ kind = 'save', paths = { path }, agreed = { path } }))
  eq('a\nX\nc\nmore\n', H.disk('f.txt'))
  eq({ loaded = false, pending = 0 }, W.read({ kind = 'read', path = path .. 'x' }))
end

function T.jumping_to_the_next_hunk_continues_in_other_files()
  H.fresh()
  local one, two = H.write('one', 'a\nb\nc\n'), H.write('two', 'a\nb\nc\n')
  vim.cmd.edit(H.write('here', 'x\n'))
  H.propose({
    H.proposal(one, H.l('a b c'), H.l('X b Y')),
    H.proposal(two, H.l('a b c'), H.l('a Z c')),
  })
  local function at()
    return vim.fn.expand('%:t') .. ':' .. vim.fn.line('.')
  end
  local seen = {}
  for i = 1, 4 do
    B.next()
    seen[i] = at()
  end
  eq({ 'one:1', 'one:3', 'two:2', 'one:1' }, seen)
  B.prev()
  eq('two:2', at())
  vim.cmd.new()
  vim.bo.filetype, vim.bo.buftype = 'caliban', 'nofile'
  vim.cmd.wincmd('p')
  vim.cmd.edit('here')
  vim.cmd.wincmd('p')
  B.next()
  eq({ 'one:1', 2 }, { at(), #vim.api.nvim_list_wins() })
  B.quickfix()
  eq(3, #vim.fn.getqflist())
end

return T
