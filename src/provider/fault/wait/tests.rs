use super::*;

#[test]
fn retry_after_headers_are_read_as_seconds_durations_or_dates() {
    // Sun, 06 Nov 1994 08:49:37 GMT.
    let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777);
    for (ms, after, expected) in [
        (None, None, None),
        (None, Some("2"), Some(2000)),
        (None, Some("0"), Some(0)),
        (None, Some("1.5"), Some(1500)),
        (None, Some("-3"), Some(0)),
        (None, Some("86400"), Some(86_400_000)),
        (None, Some("99999999999999999999"), Some(86_400_000)),
        (None, Some("inf"), Some(86_400_000)),
        (None, Some("NaN"), None),
        (None, Some("soon"), None),
        (None, Some("1m30s"), Some(90_000)),
        (None, Some("Sun, 06 Nov 1994 08:50:07 GMT"), Some(30_000)),
        (None, Some("Sat, 05 Nov 1994 08:50:07 GMT"), Some(0)),
        (None, Some("Tue, 29 Feb 2028 00:00:00 GMT"), Some(86_400_000)),
        (None, Some("Sun, 99 Nov 1994 08:50:07 GMT"), None),
        (Some("250"), Some("9"), Some(250)),
        (Some("soon"), Some("9"), Some(9000)),
    ] {
        let header = |name: &str| match name {
            "retry-after-ms" => ms.map(str::to_owned),
            "retry-after" => after.map(str::to_owned),
            _ => None,
        };
        assert_eq!(in_headers(header, now), expected, "{ms:?} {after:?}");
    }
}

#[test]
fn http_dates_around_leap_days_are_read() {
    let seconds = |text: &str| {
        http_date(text).unwrap().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs()
    };
    assert_eq!(seconds("Thu, 01 Jan 1970 00:00:00 GMT"), 0);
    assert_eq!(seconds("Sun, 06 Nov 1994 08:49:37 GMT"), 784_111_777);
    assert_eq!(seconds("Tue, 29 Feb 2000 12:00:00 GMT"), 951_825_600);
    assert_eq!(seconds("Wed, 01 Mar 2000 12:00:00 GMT"), 951_912_000);
    assert_eq!(seconds("Sun, 28 Feb 2100 00:00:00 GMT"), 4_107_456_000);
    assert_eq!(seconds("Mon, 01 Mar 2100 00:00:00 GMT"), 4_107_542_400);
}

/// The headers are written as `name: value`, without the prefix that all their names have.
#[test]
fn the_wait_is_the_longest_reset_time_of_the_used_up_limits() {
    let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_741_305_000);
    for (headers, expected) in [
        (
            "remaining-requests: 0; reset-requests: 1s; remaining-tokens: 9; reset-tokens: 6m0s",
            Some(1000),
        ),
        (
            "remaining-requests: 5; reset-requests: 1s; remaining-tokens: 0; reset-tokens: 6m0s",
            Some(360_000),
        ),
        (
            "remaining-requests: 0; reset-requests: 20ms; remaining-tokens: 0; reset-tokens: 7.66s",
            Some(7660),
        ),
        ("remaining-requests: 5; reset-requests: 1s", None),
        ("reset-requests: 1s", None),
        ("reset: 30", Some(30_000)),
        ("remaining: 0; reset: 1741305600", Some(600_000)),
        ("remaining: 0; reset: 1741305600000", Some(600_000)),
        ("remaining: 0; reset: 1741304000", Some(0)),
        ("remaining: 3; reset: 30", None),
        ("remaining: 0; reset: soon", None),
        ("", None),
    ] {
        let header = |name: &str| {
            let name = name.strip_prefix("x-ratelimit-")?;
            headers
                .split("; ")
                .find_map(|it| it.strip_prefix(name)?.strip_prefix(": "))
                .map(str::to_owned)
        };
        assert_eq!(in_headers(header, now), expected, "{headers}");
    }
}

#[test]
fn a_wait_named_in_an_error_message_is_read() {
    for (text, expected) in [
        ("Rate limit reached. Please try again in 1.3s. Visit", Some(1300)),
        ("Please try again in 20ms.", Some(20)),
        ("Please try again in 1m30s", Some(90_000)),
        ("Please try again in 2h3m4.5s.", Some(7_384_500)),
        ("Please retry in 34.074824224s.", Some(34_075)),
        ("Please retry after 20 seconds. To increase", Some(20_000)),
        ("Try again in 2 minutes", Some(120_000)),
        ("try again in 3 days", Some(86_400_000)),
        ("try again in a while", None),
        ("try again in 7", None),
        ("try again in ..s", None),
        ("try again later", None),
        ("", None),
    ] {
        assert_eq!(in_text(text), expected, "{text}");
    }
}
