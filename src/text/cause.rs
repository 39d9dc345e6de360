//! The cause of an error, in words for users and models.

use std::fmt::Display;

/// After this text the standard library writes the operating system's error number. It is removed, because the number
/// does not help a user.
const NUMBER: &str = " (os error ";

/// The message of an error as the end of a sentence: without the operating system's error number, and without a capital
/// letter at the beginning.
pub fn cause(error: &impl Display) -> String {
    let mut text = error.to_string();
    let mut from = 0;
    while let Some(at) = text[from..].find(NUMBER).map(|it| from + it) {
        let digits = text[at + NUMBER.len()..].bytes().take_while(u8::is_ascii_digit).count();
        let end = at + NUMBER.len() + digits;
        if digits > 0 && text[end..].starts_with(')') {
            text.replace_range(at..=end, "");
            from = at;
        } else {
            from = end;
        }
    }
    // a message that begins with a name in capital letters stays as it is
    let second = text.as_bytes().get(1);
    let is_word = second.is_some_and(|it| it.is_ascii_lowercase() || *it == b' ');
    if let Some(first) = text.get_mut(..1).filter(|_| is_word) {
        first.make_ascii_lowercase();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io;

    #[test]
    fn an_error_message_loses_its_error_number_and_its_capital_letter() {
        let rows = [
            ("No such file or directory (os error 2)", "no such file or directory"),
            ("a (os error 1): B (os error 22).", "a: B."),
            (
                "EOF while parsing (os error x) (os error ",
                "EOF while parsing (os error x) (os error ",
            ),
            ("I/O error (os error 5)", "I/O error"),
            ("A folder", "a folder"),
            ("Ärger", "Ärger"),
            ("", ""),
        ];
        for (said, told) in rows {
            assert_eq!(cause(&said), told);
        }
        assert_eq!(cause(&io::Error::from_raw_os_error(13)), "permission denied");
    }
}
