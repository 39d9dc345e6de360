//! Words that nobody can guess.

use std::fs::File;
use std::io::{self, Read};

/// A word of 32 digits.
pub fn word() -> io::Result<String> {
    let mut bytes = [0; 16];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(format!("{:032x}", u128::from_ne_bytes(bytes)))
}
