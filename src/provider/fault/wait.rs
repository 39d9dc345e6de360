//! Reads how long a provider asks to wait before the next request, in all forms that providers use. The result is in
//! milliseconds.

use serde_json::Value;
use std::time::{Duration, SystemTime};

/// The longest wait that is accepted from a provider, in milliseconds: a day.
const LONGEST: f64 = 86_400_000.0;

/// The wait that the headers of an error ask for: from `retry-after-ms`; otherwise from `retry-after`, in seconds or as
/// a date; otherwise the time until a used-up limit is reset. A negative wait is ignored. A wait of more than a day
/// becomes a day.
pub fn in_headers(header: impl Fn(&str) -> Option<String>, now: SystemTime) -> Option<u64> {
    let ms = header("retry-after-ms").and_then(|ms| millis(ms.trim().parse().ok()?));
    ms.or_else(|| retry_after(header("retry-after")?.trim(), now)).or_else(|| resets(&header, now))
}

fn retry_after(text: &str, now: SystemTime) -> Option<u64> {
    let seconds = text.parse().ok().or_else(|| {
        let wait = http_date(text)?.duration_since(now).unwrap_or_default();
        Some(wait.as_secs_f64())
    });
    match seconds {
        Some(seconds) => millis(seconds * 1000.0),
        None => duration(text),
    }
}

/// The longest time until a reset, among the limits that are used up.
fn resets(header: impl Fn(&str) -> Option<String>, now: SystemTime) -> Option<u64> {
    let reset = |kind: &&str| {
        let remaining = header(&format!("x-ratelimit-remaining{kind}"));
        let used_up = remaining.map_or(kind.is_empty(), |left| left.trim() == "0");
        let text = header(&format!("x-ratelimit-reset{kind}")).filter(|_| used_up)?;
        reset_in(text.trim(), now)
    };
    ["", "-requests", "-tokens"].iter().filter_map(reset).max()
}

/// Reads the time until a reset: a duration with units, a number of seconds from now, or a point in time in seconds or
/// milliseconds since 1970.
fn reset_in(text: &str, now: SystemTime) -> Option<u64> {
    let Ok(number) = text.parse::<f64>() else { return duration(text) };
    let since = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs_f64();
    match number {
        _ if number > 1e12 => millis(number - since * 1000.0),
        _ if number > 1e9 => millis((number - since) * 1000.0),
        _ => millis(number * 1000.0),
    }
}

/// The wait in Google's `RetryInfo`: `"retryDelay": "37s"`.
pub(super) fn delay(error: &Value) -> Option<u64> {
    let details = error["details"].as_array()?;
    duration(details.iter().find_map(|detail| detail["retryDelay"].as_str())?)
}

/// The wait in a message: `Please try again in 1.3s`, `in 1m30s`, `retry after 20 seconds`.
pub(super) fn in_text(text: &str) -> Option<u64> {
    let text = text.to_lowercase();
    let said = ["try again in ", "retry in ", "retry after ", "try again after "];
    let after = said.iter().find_map(|said| Some(text.split_once(said)?.1))?;
    duration(after)
}

/// The sum of numbers with units at the beginning of a text: `1m30.5s`, `20ms`, `2 minutes`.
fn duration(text: &str) -> Option<u64> {
    let mut rest = text.trim_start();
    let mut total = None;
    while let Some((amount, behind)) = number(rest) {
        let behind = behind.trim_start();
        let end = behind.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(behind.len());
        let unit = match &behind[..end] {
            "ms" | "milliseconds" => 1.0,
            "s" | "sec" | "secs" | "second" | "seconds" => 1000.0,
            "m" | "min" | "mins" | "minute" | "minutes" => 60_000.0,
            "h" | "hour" | "hours" => 3_600_000.0,
            "d" | "day" | "days" => LONGEST,
            _ => break,
        };
        total = Some(total.unwrap_or(0.0) + amount * unit);
        rest = behind[end..].trim_start();
    }
    millis(total?)
}

fn number(text: &str) -> Option<(f64, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    Some((text[..end].parse().ok()?, &text[end..]))
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "clamped to 0..=LONGEST before"
)]
fn millis(wait: f64) -> Option<u64> {
    (!wait.is_nan()).then(|| wait.clamp(0.0, LONGEST).ceil() as u64)
}

/// Reads a date such as `Sun, 06 Nov 1994 08:49:37 GMT` (IMF-fixdate), the only format that HTTP servers may send.
fn http_date(text: &str) -> Option<SystemTime> {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let mut words = text.split_once(", ")?.1.split([' ', ':']);
    let day: u64 = words.next()?.parse().ok().filter(|day| (1..=31).contains(day))?;
    let month = words.next()?;
    let month = MONTHS.iter().position(|name| *name == month)? as u64;
    let year: u64 = words.next()?.parse().ok().filter(|year| (1970..10_000).contains(year))?;
    let mut time = 0;
    for _ in 0..3 {
        time = time * 60 + words.next()?.parse::<u64>().ok().filter(|part| *part < 61)?;
    }
    // the days before the month are counted in a year that begins in March, so that the leap day is the last day
    let (year, month) = if month < 2 { (year - 1, month + 10) } else { (year, month - 2) };
    let days = year * 365 + year / 4 - year / 100 + year / 400 + (month * 153 + 2) / 5 + day - 1;
    let since = days.checked_sub(719_468)? * 86_400 + time;
    Some(SystemTime::UNIX_EPOCH + Duration::from_secs(since))
}

#[cfg(test)]
mod tests;
