//! Texts in other encodings than UTF-8, as bytes.

use super::{BOM, Text};
use encoding_rs::Encoding;

/// The encodings that are tried, beside Latin-1 and UTF-16, by their labels in the Encoding Standard. Only encodings that
/// give exactly the bytes of the file are used.
const TRIED: [&str; 20] = [
    "windows-1252",
    "iso-8859-2",
    "iso-8859-5",
    "iso-8859-7",
    "iso-8859-8",
    "iso-8859-15",
    "koi8-r",
    "koi8-u",
    "windows-1250",
    "windows-1251",
    "windows-1253",
    "windows-1254",
    "windows-1255",
    "windows-1256",
    "windows-1257",
    "shift_jis",
    "euc-jp",
    "euc-kr",
    "gb18030",
    "big5",
];

#[derive(Clone, Copy)]
enum Form {
    Latin1,
    /// UTF-16, with or without a byte order mark.
    Utf16 {
        is_big: bool,
        bom: bool,
    },
    Named(&'static Encoding),
}

/// The bytes of `text` in the encoding in which `known` has the bytes `bytes`. `None` if there is no such
/// encoding, or if several give different bytes.
pub fn like(bytes: &[u8], known: &Text, text: &Text) -> Option<Vec<u8>> {
    let named = TRIED.iter().filter_map(|it| Encoding::for_label(it.as_bytes()));
    let utf16 = [(false, true), (true, true), (false, false), (true, false)];
    let utf16 = utf16.into_iter().map(|(is_big, bom)| Form::Utf16 { is_big, bom });
    let forms = [Form::Latin1].into_iter().chain(utf16).chain(named.map(Form::Named));
    let fitting = forms.filter(|it| it.encode(known).as_deref() == Some(bytes));
    let mut encoded = fitting.filter_map(|it| it.encode(text));
    let first = encoded.next()?;
    encoded.all(|it| it == first).then_some(first)
}

impl Form {
    /// `None` if the encoding does not have a character of the text.
    fn encode(self, text: &Text) -> Option<Vec<u8>> {
        let utf8 = text.encode();
        let body = std::str::from_utf8(utf8.strip_prefix(BOM).unwrap_or(&utf8)).ok()?;
        match self {
            Form::Latin1 => body.chars().map(|it| u8::try_from(it).ok()).collect(),
            Form::Utf16 { is_big, bom } => {
                let mark = bom.then_some(0xfeff_u16);
                let units = mark.into_iter().chain(body.encode_utf16());
                let bytes = |it: u16| if is_big { it.to_be_bytes() } else { it.to_le_bytes() };
                Some(units.flat_map(bytes).collect())
            }
            Form::Named(encoding) => {
                let (bytes, _, has_unknown) = encoding.encode(body);
                (!has_unknown).then(|| bytes.into_owned())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Newline;

    #[test]
    fn a_text_is_encoded_like_another_whose_bytes_are_known() {
        let (known, text) = (Text::new("caf\u{e9}\n"), Text::new("th\u{e9}\nl\u{e0}"));
        let check = |bytes: &[u8], expected: Option<&[u8]>| {
            assert_eq!(like(bytes, &known, &text).as_deref(), expected, "{bytes:x?}");
        };
        check(b"caf\xe9\n", Some(b"th\xe9\nl\xe0"));
        check(b"\xff\xfec\0a\0f\0\xe9\0\n\0", Some(b"\xff\xfet\0h\0\xe9\0\n\0l\0\xe0\0"));
        check(b"\0c\0a\0f\0\xe9\0\n", Some(b"\0t\0h\0\xe9\0\n\0l\0\xe0"));
        check(b"caf\xe9", None);
        check(b"caf\x8e\n", None);
        let dos = |it: &str| Text { newline: Newline::Dos, ..Text::new(it) };
        let bytes = like(b"\xe9\r\n", &dos("\u{e9}\n"), &dos("\u{e8}\n\u{e9}\n"));
        assert_eq!(bytes.as_deref(), Some(&b"\xe8\r\n\xe9\r\n"[..]));
        // a file in which `\u{e4}` is in both encodings, and `\u{f8}` has another byte in each
        assert_eq!(like(b"\xe4", &Text::new("\u{e4}"), &Text::new("\u{f8}")), None);
        // a character that the encoding does not have
        assert_eq!(like(b"\xe9", &Text::new("\u{e9}"), &Text::new("\u{4e2d}")), None);
        let cyrillic = like(b"\xcf\xf0", &Text::new("\u{41f}\u{440}"), &Text::new("\u{44f}"));
        assert_eq!(cyrillic.as_deref(), Some(&b"\xff"[..]));
    }
}
