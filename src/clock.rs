//! The time of the user's clock, in the time zone of the user.

use jiff::Zoned;

/// The time in seconds with its offset from UTC, such as `2026-11-22T15:05:09+01:00`.
pub fn second() -> String {
    Zoned::now().strftime("%Y-%m-%dT%H:%M:%S%:z").to_string()
}

/// The time in minutes, such as `2026-11-22 15:05`.
pub fn minute() -> String {
    Zoned::now().strftime("%Y-%m-%d %H:%M").to_string()
}
