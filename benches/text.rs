//! The streamed text: Markdown as models write it, the same in every run.

use std::iter::repeat_with;

const WORDS: &str = "the a of to in is it that for on with as this be are by from or an at when which one can not if then \
    buffer window value function error line file each state call return list text table string first last cursor \
    because before after only without between however therefore changes update result message program editor \
    option default matches pattern session request answer reply stream width height column";

const LUA: &str = "local function collect(items, seen)\n  local out = {}\n  for i, item in ipairs(items) do\n    \
    -- only what was not there before\n    if not seen[item.name] and item.size > 0 then\n      seen[item.name] = true\n      \
    out[#out + 1] = { name = item.name, at = i, 'plain' }\n    end\n  end\n  return out, #out\nend\n";

const C: &str = "static int push(struct list *list, const char *name, size_t len)\n{\n    if (list->used == list->room) {\n        \
    size_t room = list->room ? list->room * 2 : 8;\n        void *grown = realloc(list->items, room * sizeof *list->items);\n        \
    if (!grown)\n            return -1; /* the old one stays */\n        list->items = grown;\n        list->room = room;\n    }\n    \
    list->items[list->used++] = strndup(name, len);\n    return 0;\n}\n";

const VIM: &str = "function! s:Jump(count, back) abort\n  let l:flags = a:back ? 'bW' : 'W'\n  for l:n in range(a:count)\n    \
    if search('^\\s*function\\>', l:flags) == 0\n      echohl WarningMsg | echo 'none left' | echohl None\n      break\n    endif\n  \
    endfor\nendfunction\nnnoremap <silent> ]f :<C-u>call <SID>Jump(v:count1, 0)<CR>\n";

/// A linear congruential generator (the constants are Knuth's).
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % sides
    }
}

/// About `tokens` tokens of four to five bytes each, determined by `seed`.
pub(crate) fn tokens(tokens: usize, seed: u64) -> Vec<String> {
    let mut dice = Dice(seed);
    let mut text = String::new();
    while text.len() < tokens * 9 / 2 {
        section(&mut text, &mut dice);
    }
    let mut bytes = text.as_bytes();
    let cut = repeat_with(|| {
        let (token, rest) = bytes.split_at(bytes.len().min(4 + dice.roll(2)));
        bytes = rest;
        String::from_utf8(token.to_vec()).unwrap()
    });
    let mut cut: Vec<String> = cut.take(tokens).collect();
    // an open fence would turn all later text of the floors' chat into code
    if cut.concat().matches("```").count() % 2 == 1 {
        cut.push("\n```\n".into());
    }
    cut
}

fn section(text: &mut String, dice: &mut Dice) {
    text.push_str(["## ", "### "][dice.roll(2)]);
    sentence(text, dice, 4);
    text.push_str("\n\n");
    for _ in 0..=dice.roll(3) {
        paragraph(text, dice);
        text.push_str("\n\n");
    }
    for n in 1..=dice.roll(6) {
        text.push_str(&if dice.roll(3) == 0 { format!("{n}. ") } else { "- ".to_owned() });
        sentence(text, dice, 9);
        text.push('\n');
    }
    text.push('\n');
    let (name, code) = [("lua", LUA), ("c", C), ("vim", VIM)][dice.roll(3)];
    text.push_str(&format!("```{name}\n"));
    for _ in 0..=dice.roll(2) {
        text.push_str(code);
    }
    text.push_str("```\n\n");
}

fn paragraph(text: &mut String, dice: &mut Dice) {
    for n in 0..2 + dice.roll(4) {
        text.push_str(if n == 0 { "" } else { " " });
        let words = 6 + dice.roll(12);
        sentence(text, dice, words);
    }
}

fn sentence(text: &mut String, dice: &mut Dice, words: usize) {
    let all: Vec<&str> = WORDS.split_whitespace().collect();
    for n in 0..words {
        text.push_str(if n == 0 { "" } else { " " });
        let word = all[dice.roll(all.len())];
        match dice.roll(16) {
            0 => text.push_str(&format!("`{word}()`")),
            1 => text.push_str(&format!("**{word}**")),
            _ => text.push_str(word),
        }
    }
    text.push('.');
}
