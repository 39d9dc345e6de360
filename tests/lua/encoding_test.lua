local H = require('bench')
local E = require('caliban.editor.encoding')
local T = {}

function T.each_encoding_is_decoded_in_its_own_byte_order()
  local rows = {
    { 'latin1', 'a\233', 'aé' },
    { 'cp1252', '\128', '€' },
    { 'utf-16le', 'a\0\223\0\61\216\0\222', 'aß😀' },
    { 'utf-16', '\0a\0\223\216\61\222\0', 'aß😀' },
    { 'ucs-2le', 'a\0\223\0', 'aß' },
    { 'ucs-2', '\0a\0\223', 'aß' },
    { 'ucs-4le', 'a\0\0\0\0\246\1\0', 'a😀' },
    { 'ucs-4', '\0\0\0a\0\1\246\0', 'a😀' },
    { 'utf-8', '\255', '\255' },
    { 'utf-16', '', '' },
  }
  for _, row in ipairs(rows) do
    H.eq(row[3], E.decode(row[2], row[1]), row[1])
    H.eq(true, E.encodes(row[3], row[1]), row[1])
  end
end

--- Each of these would crash Neovim 0.11, which reads and writes beyond its memory.
function T.invalid_units_are_not_converted()
  local rows = {
    { 'utf-16', '\0' },
    { 'utf-16le', 'a\0\0' },
    { 'utf-16le', '\0\216' },
    { 'utf-16le', '\0\216a\0' },
    { 'utf-16', '\220\0' },
    { 'ucs-2le', '\61\216\0\222' },
    { 'ucs-4', '\0\17\0\0' },
    { 'ucs-4le', '\0\216\0\0' },
    { 'ucs-4le', 'a\0\0' },
  }
  for _, row in ipairs(rows) do
    H.eq(nil, E.decode(row[2], row[1]), row[1])
  end
end

function T.a_text_that_an_encoding_lacks_is_not_encoded()
  H.eq(false, E.encodes('€', 'latin1'))
  H.eq(false, E.encodes('😀', 'ucs-2le'))
  H.eq(false, E.encodes('\255', 'utf-16'))
  H.eq(true, E.encodes('😀', 'utf-16'))
end

return T
