//! The screen as Neovim's UI protocol paints it (`:h ui-linegrid`, with `ext_hlstate`).

use super::picture::{Attributes, Look, Picture};
use rmpv::Value;
use std::collections::HashMap;
use std::fmt::Write as _;

#[derive(Clone, Default)]
struct Cell {
    /// One character with its combining characters; empty for the right half of a wide character.
    text: String,
    highlight: u64,
}

#[derive(Default)]
pub struct Grid {
    rows: Vec<Vec<Cell>>,
    /// Row and column, from 0.
    pub cursor: (usize, usize),
    names: HashMap<u64, Vec<String>>,
    /// What the terminal would get for each highlight: with `termguicolors`, and without.
    attributes: HashMap<u64, [Attributes; 2]>,
    /// The colours of a cell without a highlight of its own.
    normal: [Attributes; 2],
    /// The name of the mode, which decides how the cursor looks.
    mode: String,
    /// Events since the last `flush`, which were not applied yet.
    unfinished: Vec<(String, Vec<Value>)>,
}

impl Grid {
    /// Takes the parameters of one `redraw` notification. A frame may arrive in several notifications and is applied at
    /// its `flush`.
    pub fn redraw(&mut self, batches: &[Value]) {
        for batch in batches.iter().filter_map(Value::as_array) {
            let name = batch[0].as_str().unwrap_or_default();
            for arguments in batch[1..].iter().filter_map(Value::as_array) {
                self.unfinished.push((name.to_owned(), arguments.clone()));
            }
            if name == "flush" {
                for (name, arguments) in std::mem::take(&mut self.unfinished) {
                    self.event(&name, &arguments);
                }
            }
        }
    }

    fn event(&mut self, name: &str, arguments: &[Value]) {
        let number = |i: usize| usize::try_from(arguments[i].as_u64().unwrap_or(0)).unwrap();
        match name {
            "grid_resize" => self.resize(number(1), number(2)),
            "grid_clear" => self.rows.iter_mut().flatten().for_each(|cell| *cell = blank()),
            "grid_line" => self.line(number(1), number(2), arguments[3].as_array().unwrap()),
            "grid_scroll" => {
                self.scroll([number(1), number(2), number(3), number(4)], arguments[5].as_i64());
            }
            "grid_cursor_goto" => self.cursor = (number(1), number(2)),
            "hl_attr_define" => {
                let id = arguments[0].as_u64().unwrap();
                self.names.insert(id, names(&arguments[3]));
                let both = [1, 2].map(|i| Attributes::new(&arguments[i]));
                self.attributes.insert(id, both);
            }
            "default_colors_set" => {
                let colour = |i: usize| arguments[i].as_i64().and_then(|it| u32::try_from(it).ok());
                self.normal = [Attributes::of(colour(0), colour(1)), {
                    // Neovim sends the numbers of a terminal's colours plus one.
                    let number = |i: usize| colour(i).and_then(|it| it.checked_sub(1));
                    Attributes::of(number(3), number(4))
                }];
            }
            "mode_change" => arguments[0].as_str().unwrap_or_default().clone_into(&mut self.mode),
            _ => {}
        }
    }

    /// The number of columns and the number of rows.
    pub(super) fn size(&self) -> (usize, usize) {
        (self.rows.first().map_or(0, Vec::len), self.rows.len())
    }

    fn resize(&mut self, columns: usize, rows: usize) {
        self.rows.resize(rows, Vec::new());
        for row in &mut self.rows {
            row.resize(columns, blank());
        }
    }

    fn line(&mut self, row: usize, mut column: usize, cells: &[Value]) {
        let mut highlight = 0;
        for cell in cells.iter().filter_map(Value::as_array) {
            highlight = cell.get(1).and_then(Value::as_u64).unwrap_or(highlight);
            let repeat = cell.get(2).and_then(Value::as_u64).unwrap_or(1);
            for _ in 0..repeat {
                let text = cell[0].as_str().unwrap_or_default().to_owned();
                self.rows[row][column] = Cell { text, highlight };
                column += 1;
            }
        }
    }

    /// Moves the lines of a region up (positive `rows`) or down. Neovim then sends the text of the lines that have
    /// become free.
    fn scroll(&mut self, [top, bottom, left, right]: [usize; 4], rows: Option<i64>) {
        let by = rows.unwrap_or(0);
        let shift = usize::try_from(by.unsigned_abs()).unwrap();
        let moves: Vec<(usize, usize)> = if by > 0 {
            (top..bottom - shift).map(|to| (to + shift, to)).collect()
        } else {
            (top + shift..bottom).rev().map(|to| (to - shift, to)).collect()
        };
        for (from, to) in moves {
            let cells = self.rows[from][left..right].to_vec();
            self.rows[to][left..right].clone_from_slice(&cells);
        }
    }

    /// The rows without trailing blanks, and without blank rows at the end.
    pub fn text(&self) -> String {
        let rows = self.rows.iter().map(|row| row_text(row, |_| None));
        finish(rows)
    }

    /// Like `text`, but text in a highlight group whose name starts with `prefix` is written as `⟦Group|text⟧`.
    pub fn marked(&self, prefix: &str) -> String {
        let rows = self.rows.iter().map(|row| {
            row_text(row, |cell| {
                let names = self.names.get(&cell.highlight)?;
                let names: Vec<&str> = names
                    .iter()
                    .map(String::as_str)
                    .filter(|name| name.starts_with(prefix))
                    .collect();
                (!names.is_empty()).then(|| names.join("+"))
            })
        });
        finish(rows)
    }

    /// The screen with its colours: those of `termguicolors`, or the terminal's.
    pub fn picture(&self, is_rgb: bool) -> Picture {
        let which = usize::from(!is_rgb);
        let look = |cell: &Cell| {
            let own = self.attributes.get(&cell.highlight).map(|it| it[which]).unwrap_or_default();
            Look::new(own, self.normal[which], is_rgb)
        };
        let rows = self
            .rows
            .iter()
            .map(|row| row.iter().map(|cell| (cell.text.clone(), look(cell))).collect());
        Picture {
            rows: rows.collect(),
            normal: Look::new(Attributes::default(), self.normal[which], is_rgb),
            cursor: self.cursor,
            is_bar: self.mode == "insert",
        }
    }

    /// The names of the highlight groups of a cell, the outermost last. Rows and columns are counted from 0.
    pub fn at(&self, row: usize, column: usize) -> Vec<String> {
        self.names.get(&self.rows[row][column].highlight).cloned().unwrap_or_default()
    }

    /// The highlight groups that cover every cell of the first occurrence of `text`; `None` if it is not on the
    /// screen.
    pub fn of(&self, text: &str) -> Option<Vec<String>> {
        let (row, columns) = self.find(text)?;
        let mut common = self.at(row, columns.start);
        for column in columns {
            let names = self.at(row, column);
            common.retain(|name| names.contains(name));
        }
        Some(common)
    }

    /// Row and columns (from 0) of `text`'s first occurrence within one row.
    pub fn find(&self, text: &str) -> Option<(usize, std::ops::Range<usize>)> {
        for (index, row) in self.rows.iter().enumerate() {
            let whole: String = row.iter().map(|cell| cell.text.as_str()).collect();
            let Some(byte) = whole.find(text) else { continue };
            let column = |limit: usize| {
                let mut bytes = 0;
                row.iter()
                    .position(|cell| {
                        let here = bytes >= limit;
                        bytes += cell.text.len();
                        here
                    })
                    .unwrap_or(row.len())
            };
            return Some((index, column(byte)..column(byte + text.len())));
        }
        None
    }
}

/// The text of a row. Cells for which `mark` returns a name are enclosed in `⟦name|` and `⟧`.
fn row_text(row: &[Cell], mark: impl Fn(&Cell) -> Option<String>) -> String {
    let mut text = String::new();
    let mut open: Option<String> = None;
    for cell in row {
        let name = mark(cell);
        if name != open {
            text.push_str(if open.is_some() { "⟧" } else { "" });
            if let Some(name) = &name {
                let _ = write!(text, "⟦{name}|");
            }
            open = name;
        }
        text.push_str(&cell.text);
    }
    text.push_str(if open.is_some() { "⟧" } else { "" });
    text
}

fn finish(rows: impl Iterator<Item = String>) -> String {
    let rows: Vec<String> = rows.map(|row| row.trim_end().to_owned()).collect();
    rows.join("\n").trim_end().to_owned()
}

fn blank() -> Cell {
    Cell { text: " ".into(), highlight: 0 }
}

/// The group names in the `info` of an `hl_attr_define`.
fn names(info: &Value) -> Vec<String> {
    let field = |item: &Value, name: &str| {
        let pairs = item.as_map()?;
        let (_, value) = pairs.iter().find(|(key, _)| key.as_str() == Some(name))?;
        value.as_str().filter(|text| !text.is_empty()).map(str::to_owned)
    };
    let items = info.as_array().map(Vec::as_slice).unwrap_or_default();
    items
        .iter()
        .filter_map(|item| field(item, "hi_name").or_else(|| field(item, "ui_name")))
        .collect()
}
