//! Deceptive characters: those that a reader cannot see or mistakes for others. One table for questions, instructions,
//! titles and the transcript. Sources: the general categories Cc, Cf, Zs, Zl and Zp, the property
//! `Default_Ignorable_Code_Point`, and the confusables of UTS 39.

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use unicode_normalization::char::{compose, is_combining_mark};

/// How a character deceives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Controls a terminal.
    Control,
    /// Changes the direction of the text after it.
    Direction,
    /// Has no visible shape.
    Invisible,
    /// Joins its neighbours, or keeps them apart.
    Joiner,
    /// Selects one of the shapes of the character before it.
    Selector,
    /// Looks like a space, but is not a space.
    Blank,
    /// A sign of a script that is drawn around or under the characters after it.
    Around,
}

fn kind(c: char) -> Option<Kind> {
    Some(match c {
        '\n' | '\t' | ' '..='~' => return None,
        _ if c.is_control() => Kind::Control,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
            Kind::Direction
        }
        '\u{200c}' | '\u{200d}' => Kind::Joiner,
        '\u{600}'..='\u{605}'
        | '\u{6dd}'
        | '\u{890}'
        | '\u{891}'
        | '\u{8e2}'
        | '\u{110bd}'
        | '\u{110cd}' => Kind::Around,
        '\u{180b}'..='\u{180d}'
        | '\u{180f}'
        | '\u{fe00}'..='\u{fe0f}'
        | '\u{e0100}'..='\u{e01ef}' => Kind::Selector,
        '\u{a0}'
        | '\u{1680}'
        | '\u{2000}'..='\u{200a}'
        | '\u{202f}'
        | '\u{205f}'
        | '\u{2800}'
        | '\u{3000}' => Kind::Blank,
        '\u{ad}'
        | '\u{34f}'
        | '\u{70f}'
        | '\u{115f}'
        | '\u{1160}'
        | '\u{17b4}'
        | '\u{17b5}'
        | '\u{180e}'
        | '\u{200b}'
        | '\u{2028}'
        | '\u{2029}'
        | '\u{2060}'..='\u{2065}'
        | '\u{206a}'..='\u{206f}'
        | '\u{3164}'
        | '\u{feff}'
        | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}'
        | '\u{13430}'..='\u{1343f}'
        | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}' => Kind::Invisible,
        _ => return None,
    })
}

/// Whether a letter looks like an ASCII letter or digit. Some scripts are listed completely.
fn is_twin_letter(c: char) -> bool {
    matches!(c, '\u{13a0}'..='\u{13fd}' | '\u{ab70}'..='\u{abbf}' | '\u{a4d0}'..='\u{a4ff}' | '\u{ff01}'..='\u{ff5e}'
        | '\u{1d400}'..='\u{1d7ff}' | '\u{2100}'..='\u{214f}')
        || "АВСЕԌНЈКМОРЅТѴԜХУҮаЬсԁеҽһіӏјІӀоорԛгѕѵѡԝхуүЗОб\
            ΑΒϹΕΗͿΚΜΝΟΡΤΧΥΖαϲιϳΙοσρϱυνγ\
            ՕՏՍքցհոռօզզսա\
            ɑƄᴄƒſɡɩıᴏʂƽᴜʋᴠɯᴡɣʏᴢƖꞮ"
            .contains(c)
}

/// Whether a character looks like ASCII punctuation that is used in commands, paths or addresses.
fn is_twin_sign(c: char) -> bool {
    "\u{1c0}\u{1c3}\u{2d0}\u{2d7}\u{37e}\u{589}\u{2010}\u{2011}\u{2024}\u{201a}\u{2041}\u{2044}\u{204e}\u{2053}\
     \u{2212}\u{2215}\u{2216}\u{2217}\u{2223}\u{2236}\u{223c}\u{2571}\u{27cb}\u{29f5}\u{29f8}\u{29f9}\u{a789}"
        .contains(c)
}

/// Whether a character is invisible in every context.
pub fn is_hidden(c: char) -> bool {
    matches!(kind(c), Some(Kind::Direction | Kind::Invisible))
}

/// Whether a character of this kind has a legitimate use after the character `before`: in an emoji, or in a script that
/// joins its letters.
fn belongs(kind: Kind, before: Option<char>) -> bool {
    let Some(before) = before else { return false };
    let is_picture = matches!(before, '#' | '*' | '0'..='9' | '©' | '®' | '\u{203c}' | '\u{2049}' | '\u{2122}'
        | '\u{2139}' | '\u{2190}'..='\u{23ff}' | '\u{24c2}' | '\u{25a0}'..='\u{27bf}' | '\u{2934}' | '\u{2935}'
        | '\u{2b00}'..='\u{2bff}' | '\u{3030}' | '\u{303d}' | '\u{3297}' | '\u{3299}' | '\u{1f000}'..='\u{1faff}');
    match kind {
        Kind::Joiner => {
            (is_picture && !before.is_ascii())
                || matches!(before, '\u{fe0f}' | '\u{600}'..='\u{109f}' | '\u{1780}'..='\u{18af}')
        }
        Kind::Selector => {
            is_picture
                || matches!(before, '\u{1820}'..='\u{18aa}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}'
                    | '\u{20000}'..='\u{3ffff}')
        }
        _ => false,
    }
}

/// Whether the transcript spells out a character that follows the character `before`. Emoji and the blanks of ordinary
/// text are not spelt out.
pub fn is_marked(c: char, before: Option<char>) -> bool {
    match kind(c) {
        None | Some(Kind::Blank | Kind::Control | Kind::Around) => false,
        Some(kind) => !belongs(kind, before),
    }
}

/// Writes a character as its code point, for example `[U+3164]`.
pub fn spell(out: &mut String, c: char) {
    out.push_str(&format!("[U+{:04X}]", u32::from(c)));
}

/// A text with each deceptive character written like `[U+3164]`, except where it belongs: in emoji, and in scripts that
/// need it. Also returns the number of characters that were written so.
pub fn spelt_out(text: &str) -> (Cow<'_, str>, usize) {
    let spelt = |c, before| kind(c).is_some_and(|kind| !belongs(kind, before));
    if is_plain(text) { (Cow::Borrowed(text), 0) } else { spelt_where(text, spelt) }
}

/// A name in one line: like `spelt_out`, also with line breaks and tabs spelt out.
pub fn name(text: &str) -> Cow<'_, str> {
    let spelt = spelt_out(text).0;
    if !spelt.contains(['\n', '\t']) {
        return spelt;
    }
    spelt.replace('\n', "[U+000A]").replace('\t', "[U+0009]").into()
}

/// The text of a question, with every deceptive character spelt out, also in emoji, and every mark that is drawn over
/// other characters, but for accents and the marks of scripts that need them. In a word with ASCII letters or digits,
/// characters that look like ASCII are spelt out too.
pub fn exact(text: &str) -> Cow<'_, str> {
    if is_plain(text) {
        return Cow::Borrowed(text);
    }
    let text = without_marks(&spelt_where(text, |c, _| kind(c).is_some()).0);
    let mut out = String::with_capacity(text.len());
    let ends = |c: char| c.is_whitespace() || (c.is_ascii() && !c.is_ascii_alphanumeric());
    for word in text.split_inclusive(ends) {
        let is_mixed = !word.is_ascii() && word.contains(|c: char| c.is_ascii_alphanumeric());
        let is_twin = |c, _| is_mixed && (is_twin_letter(c) || is_twin_sign(c));
        out.push_str(&spelt_where(word, is_twin).0);
    }
    Cow::Owned(out)
}

/// A text in which marks are spelt out that neither make one letter with the letter before them, as accents do, nor
/// belong to the script of this letter.
fn without_marks(text: &str) -> String {
    let (mut out, mut base) = (String::with_capacity(text.len()), None);
    for c in text.chars() {
        if !is_combining_mark(c) {
            base = Some(c);
            out.push(c);
            continue;
        }
        let whole = base.and_then(|it| compose(it, c));
        if whole.is_none() && !base.is_some_and(|it| is_of_script(c, it)) {
            spell(&mut out, c);
            continue;
        }
        base = whole.or(base);
        out.push(c);
    }
    out
}

/// Whether a mark belongs to a script, that of the letter before it, and not to all scripts.
fn is_of_script(mark: char, before: char) -> bool {
    let is_general = matches!(mark, '\u{300}'..='\u{36f}' | '\u{483}'..='\u{489}' | '\u{1ab0}'..='\u{1aff}'
        | '\u{1dc0}'..='\u{1dff}' | '\u{20d0}'..='\u{20ff}' | '\u{302a}'..='\u{302f}' | '\u{3099}' | '\u{309a}'
        | '\u{a66f}'..='\u{a67d}' | '\u{fe20}'..='\u{fe2f}' | '\u{1cf00}'..='\u{1cf46}' | '\u{1d165}'..='\u{1d244}');
    // the blocks of these scripts have 128 characters, or some of them together 256
    let is_near = u32::from(mark).abs_diff(u32::from(before)) < 0x100;
    !is_general && is_near && before >= '\u{590}' && before.is_alphabetic()
}

fn is_plain(text: &str) -> bool {
    text.bytes().all(|it| matches!(it, b'\n' | b'\t' | b' '..=b'~'))
}

fn spelt_where(text: &str, wanted: impl Fn(char, Option<char>) -> bool) -> (Cow<'_, str>, usize) {
    let (mut out, mut count, mut before, mut done) = (String::new(), 0, None, 0);
    for (at, c) in text.char_indices() {
        if wanted(c, before) {
            out.push_str(&text[done..at]);
            spell(&mut out, c);
            done = at + c.len_utf8();
            count += 1;
        }
        before = Some(c);
    }
    if count == 0 {
        return (Cow::Borrowed(text), 0);
    }
    out.push_str(&text[done..]);
    (Cow::Owned(out), count)
}
