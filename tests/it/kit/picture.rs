//! A screen with its colours, and its form for snapshots: the text, a letter for the look of each cell, and a legend of
//! these letters.

use rmpv::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The attributes of a highlight as Neovim sends them.
#[derive(Clone, Copy, Default)]
pub struct Attributes {
    foreground: Option<u32>,
    background: Option<u32>,
    is_reversed: bool,
    marks: Marks,
}

/// What a look has besides its colours: whether it is bold, italic, underlined, struck through.
pub type Marks = [bool; 4];
pub const BOLD: usize = 0;
pub const ITALIC: usize = 1;
pub const UNDERLINED: usize = 2;
pub const STRUCK: usize = 3;
const MARKS: [&str; 4] = ["bold", "italic", "underlined", "struck"];

/// How a cell looks. Colours are RGB values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Look {
    pub foreground: u32,
    pub background: u32,
    pub marks: Marks,
}

/// A row of cells. The text of a cell is one character with its combining characters, or empty for the right half of a
/// wide character.
pub type Row = Vec<(String, Look)>;

#[derive(Clone)]
pub struct Picture {
    pub rows: Vec<Row>,
    /// The look of a cell without a highlight.
    pub normal: Look,
    pub cursor: (usize, usize),
    /// Whether the cursor is a bar, as in insert mode, and no block.
    pub is_bar: bool,
}

impl Attributes {
    pub(super) fn new(sent: &Value) -> Attributes {
        let find = |name: &str| {
            let pairs = sent.as_map()?;
            pairs.iter().find(|(key, _)| key.as_str() == Some(name)).map(|(_, value)| value)
        };
        let colour = |name: &str| find(name)?.as_u64().and_then(|it| u32::try_from(it).ok());
        let is = |name: &str| find(name).and_then(Value::as_bool).unwrap_or(false);
        let lines = ["underline", "undercurl", "underdouble", "underdotted", "underdashed"];
        Attributes {
            foreground: colour("foreground"),
            background: colour("background"),
            is_reversed: is("reverse") || is("standout"),
            marks: [is("bold"), is("italic"), lines.into_iter().any(is), is("strikethrough")],
        }
    }

    pub(super) fn of(foreground: Option<u32>, background: Option<u32>) -> Attributes {
        Attributes { foreground, background, ..Attributes::default() }
    }
}

impl Look {
    /// The look of a highlight, with the colours of `normal` where it has none of its own. Without `is_rgb` the colours
    /// are numbers of a terminal's palette.
    pub(super) fn new(own: Attributes, normal: Attributes, is_rgb: bool) -> Look {
        let rgb = |it: u32| if is_rgb { it } else { palette(it) };
        let colour =
            |own: Option<u32>, normal: Option<u32>, other| own.or(normal).map_or(other, rgb);
        let mut look = Look {
            foreground: colour(own.foreground, normal.foreground, 0x00e0_e2ea),
            background: colour(own.background, normal.background, 0x0014_161b),
            marks: own.marks,
        };
        if own.is_reversed {
            std::mem::swap(&mut look.foreground, &mut look.background);
        }
        look
    }

    /// A look as words, such as `#9b9ea4 on #14161b bold`.
    fn name(&self) -> String {
        let mut name = format!("#{:06x} on #{:06x}", self.foreground, self.background);
        for (word, _) in MARKS.iter().zip(self.marks).filter(|it| it.1) {
            name.push(' ');
            name.push_str(word);
        }
        name
    }
}

/// The RGB value of a colour of xterm's palette.
pub fn palette(number: u32) -> u32 {
    const BASE: [u32; 16] = [
        0x00_0000, 0xcd_0000, 0x00_cd00, 0xcd_cd00, 0x00_00ee, 0xcd_00cd, 0x00_cdcd, 0xe5_e5e5,
        0x7f_7f7f, 0xff_0000, 0x00_ff00, 0xff_ff00, 0x5c_5cff, 0xff_00ff, 0x00_ffff, 0xff_ffff,
    ];
    match number {
        0..=15 => BASE[number as usize],
        16..=231 => {
            let step = |it: u32| if it == 0 { 0 } else { 55 + it * 40 };
            let cube = number - 16;
            step(cube / 36) << 16 | step(cube / 6 % 6) << 8 | step(cube % 6)
        }
        _ => (8 + (number.min(255) - 232) * 10) * 0x01_0101,
    }
}

impl Picture {
    /// The text, the letters of the looks, the legend. A cell without a highlight has a blank for a letter, and so has
    /// a blank on the normal background without a line under or through it.
    pub fn text(&self) -> String {
        let mut letters: BTreeMap<String, char> = BTreeMap::new();
        let mut legend = format!("  {}\n", self.normal.name());
        let mut names = ('a'..='z').chain('A'..='Z').chain('0'..='9');
        let mut rows = Vec::new();
        for row in &self.rows {
            let mut line = String::new();
            for (text, look) in row {
                let look = self.seen(text, *look);
                if look == self.normal {
                    line.push(' ');
                    continue;
                }
                let letter = *letters.entry(look.name()).or_insert_with(|| {
                    let letter = names.next().unwrap_or('?');
                    let _ = writeln!(legend, "{letter} {}", look.name());
                    letter
                });
                line.push(letter);
            }
            rows.push(line);
        }
        let texts = self.rows.iter().map(|row| row.iter().map(|cell| cell.0.as_str()).collect());
        let rule = "─".repeat(self.rows.first().map_or(0, Vec::len));
        let texts = trimmed(texts);
        format!("{texts}\n{rule}\n{}\n{rule}\n{legend}", trimmed(rows.into_iter()))
    }

    /// The look of a cell; for a blank, without the attributes that a blank does not show.
    fn seen(&self, text: &str, look: Look) -> Look {
        if text != " " || look.marks[UNDERLINED] || look.marks[STRUCK] {
            return look;
        }
        Look {
            foreground: self.normal.foreground,
            background: look.background,
            marks: self.normal.marks,
        }
    }
}

fn trimmed(rows: impl Iterator<Item = String>) -> String {
    rows.map(|row| row.trim_end().to_owned()).collect::<Vec<_>>().join("\n")
}
