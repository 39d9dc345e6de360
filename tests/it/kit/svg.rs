//! Draws a picture of a screen as SVG. Lines and blocks are shapes, so that they join whatever the font is.

use super::picture::{BOLD, ITALIC, Look, Picture, Row, STRUCK, UNDERLINED};
use std::fmt::Write as _;

/// The size of a cell and of the margin, in hundredths of a pixel, and the font for it.
const WIDTH: usize = 840;
const HEIGHT: usize = 1800;
const MARGIN: usize = 1000;
const FONT: &str = "font-size:14px;font-family:'DejaVu Sans Mono',Menlo,Consolas,monospace";

/// The arms of signs that are lines from the middle of the cell: left, up, right, down.
const LINES: [(char, [bool; 4]); 15] = [
    ('─', [true, false, true, false]),
    ('│', [false, true, false, true]),
    ('┌', [false, false, true, true]),
    ('┐', [true, false, false, true]),
    ('└', [false, true, true, false]),
    ('┘', [true, true, false, false]),
    ('├', [false, true, true, true]),
    ('┤', [true, true, false, true]),
    ('┬', [true, false, true, true]),
    ('┴', [true, true, true, false]),
    ('┼', [true, true, true, true]),
    ('╭', [false, false, true, true]),
    ('╮', [true, false, false, true]),
    ('╰', [false, true, true, false]),
    ('╯', [true, true, false, false]),
];

struct Drawing {
    out: String,
    classes: Vec<String>,
}

/// The picture as the text of an SVG file.
pub fn svg(picture: &Picture) -> String {
    let columns = picture.rows.first().map_or(0, Vec::len);
    let (width, height) = (columns * WIDTH + 2 * MARGIN, picture.rows.len() * HEIGHT + 2 * MARGIN);
    let mut drawing = Drawing { out: String::new(), classes: Vec::new() };
    for (index, row) in picture.rows.iter().enumerate() {
        drawing.grounds(row, index, picture.normal.background);
    }
    drawing.cursor(picture);
    for (index, row) in picture.rows.iter().enumerate() {
        drawing.row(row, index, picture);
    }
    let mut style = format!("text{{{FONT};font-variant-ligatures:none}}");
    for (index, class) in drawing.classes.iter().enumerate() {
        let _ = write!(style, ".c{index}{{{class}}}");
    }
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" width=\"{}\" height=\"{}\">\n<style>{style}</style>\n\
         <rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"{}\"/>\n{}</svg>\n",
        pixels(width),
        pixels(height),
        pixels(width),
        pixels(height),
        colour(picture.normal.background),
        drawing.out
    )
}

impl Drawing {
    /// Rectangles for the cells of a row whose background differs from the screen's.
    fn grounds(&mut self, row: &Row, index: usize, normal: u32) {
        let mut column = 0;
        while column < row.len() {
            let ground = row[column].1.background;
            let end = run(row, column, |it| it.1.background == ground);
            if ground != normal {
                self.rect([column * WIDTH, 0, (end - column) * WIDTH, HEIGHT], index, ground);
            }
            column = end;
        }
    }

    /// The cursor: a bar, or a block on which the text has the background's colour.
    fn cursor(&mut self, picture: &Picture) {
        let (row, column) = picture.cursor;
        let width = if picture.is_bar { 160 } else { WIDTH };
        self.rect([column * WIDTH, 0, width, HEIGHT], row, picture.normal.foreground);
    }

    /// The signs of a row. A run of letters that look the same is one element of fixed width; a sign that a font may lack
    /// is an element of its own.
    fn row(&mut self, row: &Row, index: usize, picture: &Picture) {
        let mut column = 0;
        while column < row.len() {
            let (text, mut look) = (&row[column].0, row[column].1);
            if text.is_empty() {
                // the right half of a wide sign
                column += 1;
                continue;
            }
            let is_cursor = picture.cursor == (index, column) && !picture.is_bar;
            if is_cursor {
                look.foreground = look.background;
            }
            let mut end = column + 1;
            if text.is_ascii() && !is_cursor {
                end = run(row, column, |it| it.1 == look && it.0.is_ascii() && !it.0.is_empty());
                if picture.cursor.0 == index && !picture.is_bar && column < picture.cursor.1 {
                    end = end.min(picture.cursor.1);
                }
            }
            let whole: String = row[column..end].iter().map(|it| it.0.as_str()).collect();
            self.lines(look, index, column, end);
            if text.is_ascii() || !self.shape(text, look.foreground, index, column) {
                let is_wide = row.get(end).is_some_and(|it| it.0.is_empty());
                self.words(&whole, look, index, column, end + usize::from(is_wide));
            }
            column = end;
        }
    }

    /// Elements of text. A longer gap between words ends an element, so that no blanks need to be kept.
    fn words(&mut self, text: &str, look: Look, row: usize, column: usize, end: usize) {
        let fit = if text.is_ascii() { text.len() } else { end - column };
        let mut at = 0;
        for words in text.split("  ") {
            let words_at = at + (words.len() - words.trim_start().len());
            at += words.len() + 2;
            let words = words.trim();
            if words.is_empty() {
                continue;
            }
            let cells = if words.is_ascii() { words.len() } else { fit };
            let class = self.class(look);
            let _ = writeln!(
                self.out,
                "<text x=\"{}\" y=\"{}\" class=\"c{class}\" textLength=\"{}\">{}</text>",
                pixels(MARGIN + (column + words_at) * WIDTH),
                pixels(MARGIN + row * HEIGHT + 1350),
                pixels(cells * WIDTH),
                escaped(words)
            );
        }
    }

    /// The lines under and through the text.
    fn lines(&mut self, look: Look, row: usize, column: usize, end: usize) {
        let width = (end - column) * WIDTH;
        if look.marks[UNDERLINED] {
            self.rect([column * WIDTH, 1550, width, 100], row, look.foreground);
        }
        if look.marks[STRUCK] {
            self.rect([column * WIDTH, 900, width, 100], row, look.foreground);
        }
    }

    /// Draws a sign that consists of lines or blocks. Returns false if the sign is another.
    fn shape(&mut self, text: &str, ink: u32, row: usize, column: usize) -> bool {
        let Some(sign) = text.chars().next() else { return true };
        let left = column * WIDTH;
        if let Some((_, [to_left, to_top, to_right, to_bottom])) =
            LINES.iter().find(|it| it.0 == sign)
        {
            let (middle, centre) = (WIDTH / 2, HEIGHT / 2);
            if *to_left || *to_right {
                let start = if *to_left { 0 } else { middle - 50 };
                let end = if *to_right { WIDTH } else { middle + 50 };
                self.rect([left + start, centre - 50, end - start, 100], row, ink);
            }
            if *to_top || *to_bottom {
                let start = if *to_top { 0 } else { centre - 50 };
                let end = if *to_bottom { HEIGHT } else { centre + 50 };
                self.rect([left + middle - 50, start, 100, end - start], row, ink);
            }
            return true;
        }
        if let Some(dots) = (sign as u32).checked_sub(0x2800).filter(|it| *it < 256) {
            self.dots(dots, [left, row], ink);
            return true;
        }
        let [x, y, width, height] = match sign {
            '┃' => [WIDTH / 2 - 120, 0, 240, HEIGHT],
            '━' => [0, HEIGHT / 2 - 120, WIDTH, 240],
            '▔' => [0, 0, WIDTH, HEIGHT / 8],
            '▕' => [WIDTH - WIDTH / 8, 0, WIDTH / 8, HEIGHT],
            '▐' => [WIDTH / 2, 0, WIDTH / 2, HEIGHT],
            '▀' => [0, 0, WIDTH, HEIGHT / 2],
            // from one eighth of the height to the whole
            '▁'..='█' => {
                let part = HEIGHT * (sign as usize - '▁' as usize + 1) / 8;
                [0, HEIGHT - part, WIDTH, part]
            }
            // from seven eighths of the width to one
            '▉'..='▏' => [0, 0, WIDTH * (7 + '▉' as usize - sign as usize) / 8, HEIGHT],
            _ => return false,
        };
        self.rect([left + x, y, width, height], row, ink);
        true
    }

    /// A sign of Braille: each bit is a dot, the left column first; the two lowest dots come last.
    fn dots(&mut self, dots: u32, [left, row]: [usize; 2], ink: u32) {
        let places = [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2], [0, 3], [1, 3]];
        for (bit, [x, y]) in places.into_iter().enumerate() {
            if dots & (1 << bit) != 0 {
                self.rect([left + 180 + x * 320, 330 + y * 340, 180, 180], row, ink);
            }
        }
    }

    fn rect(&mut self, [x, y, width, height]: [usize; 4], row: usize, ink: u32) {
        let _ = writeln!(
            self.out,
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\" shape-rendering=\"crispEdges\"/>",
            pixels(MARGIN + x),
            pixels(MARGIN + row * HEIGHT + y),
            pixels(width),
            pixels(height),
            colour(ink)
        );
    }

    fn class(&mut self, look: Look) -> usize {
        let mut class = format!("fill:{}", colour(look.foreground));
        class.push_str(if look.marks[BOLD] { ";font-weight:700" } else { "" });
        class.push_str(if look.marks[ITALIC] { ";font-style:italic" } else { "" });
        let found = self.classes.iter().position(|it| *it == class);
        found.unwrap_or_else(|| {
            self.classes.push(class);
            self.classes.len() - 1
        })
    }
}

/// The end of the run of cells from `start` for which `belongs` returns true.
fn run(row: &Row, start: usize, belongs: impl Fn(&(String, Look)) -> bool) -> usize {
    start + row[start..].iter().take_while(|it| belongs(it)).count()
}

fn colour(rgb: u32) -> String {
    format!("#{rgb:06x}")
}

fn pixels(hundredths: usize) -> String {
    let text = format!("{}.{:02}", hundredths / 100, hundredths % 100);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
