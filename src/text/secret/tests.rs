use super::*;
use proptest::prelude::*;

#[test]
fn keys_are_replaced_and_words_that_resemble_keys_are_kept() {
    let cases = [
        ("key=sk-ant-api03-abcdefghijk123.", "key=[secret].", 1),
        ("ghp_0123456789abcdef0123 AKIA0123456789ABCDEF", "[secret] [secret]", 2),
        ("eyJhbGciOiJIUzI1.eyJzdWIiOiIx.c2ln9", "[secret]", 1),
        ("task-0123456789abcdef01 sk-short1", "task-0123456789abcdef01 sk-short1", 0),
        ("hf_a_name_of_a_function_here", "hf_a_name_of_a_function_here", 0),
        ("sk-loading-spinner-container-2", "sk-loading-spinner-container-2", 0),
        ("npm_config_user_agent_of_2025_is", "npm_config_user_agent_of_2025_is", 0),
        ("a\\nsk-abcdefghijklmnop1", "a\\n[secret]", 1),
        (
            "a -----BEGIN RSA PRIVATE KEY-----\nx\n-----END RSA PRIVATE KEY----- b",
            "a [secret] b",
            1,
        ),
        ("-----BEGIN PRIVATE KEY-----\nbmV2ZXIgZW5kZWQ=", "[secret]", 1),
        ("-----BEGIN PRIVATE KEY-----\nMIIE\nno key any more", "[secret]\nno key any more", 1),
        (
            "1:\"-----BEGIN PRIVATE KEY-----\";\n2:b \"-----END PRIVATE KEY-----\"",
            "1:\"[secret]\";\n2:b \"-----END PRIVATE KEY-----\"",
            1,
        ),
        (
            "{\"private_key\": \"-----BEGIN PRIVATE KEY-----\\nMIIE\\n-----END PRIVATE KEY-----\\n\"}",
            "{\"private_key\": \"[secret]\\n\"}",
            1,
        ),
        ("  1\t-----BEGIN OPENSSH PRIVATE KEY-----\n  2\tb3Bl\n", "  1\t[secret]", 1),
        ("-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: Gnu PG 2\n\nlQ\n", "[secret]", 1),
        ("-----BEGIN CERTIFICATE-----", "-----BEGIN CERTIFICATE-----", 0),
        ("known!known", "[secret]![secret]", 2),
    ];
    for (text, expected, count) in cases {
        assert_eq!(marked(text, &["known", ""]), (expected.to_owned(), count), "{text}");
    }
}

/// An invented key of this form.
fn made_up(form: &Form) -> String {
    let len = match form.body {
        forms::Body::Exactly(len) => len,
        _ => 40,
    };
    let body: String = "aB3dE5gH7jK9mN1pQ2sT4vW6xY8z".chars().cycle().take(len).collect();
    format!("{}{body}", form.prefix)
}

#[test]
fn a_key_of_every_known_form_is_replaced_and_its_prefix_alone_is_kept() {
    for form in &FORMS {
        let key = made_up(form);
        assert_eq!(marked(&format!("a {key}, b"), &[]), ("a [secret], b".to_owned(), 1), "{key}");
        assert_eq!(marked(form.prefix, &[]), (form.prefix.to_owned(), 0));
    }
}

#[test]
fn a_variables_value_is_secret_if_it_looks_like_a_key_or_has_a_password() {
    let token = ["gh", "p_0123456789abcdef0123"].concat();
    for value in ["postgres://me:pass@db/x", "a redis://:pass@h:1/0", &token] {
        assert!(is_secret(value), "{value}");
    }
    for value in ["postgres://me@db/x", "http://h:80/@scope", "https://h/a:b@c", "/usr/bin", ""] {
        assert!(!is_secret(value), "{value}");
    }
}

#[test]
fn partial_quotations_of_a_key_are_replaced() {
    let key = "sk-abQ2rstuvwxyz0123456789wxY4";
    for (text, expected) in [
        ("bad key sk-abQ2rstuvwxyz0123456789wxY4", "bad key [key]"),
        ("provided: sk-ab***wxY4. You", "provided: [key]. You"),
        ("provided: sk-************************wxY4.", "provided: [key]."),
        ("`sk-abQ2…` is", "`[key]` is"),
        ("sk-a...xY4", "[key]"),
        ("it holds rstuvwxy here", "it holds [key] here"),
        ("key=sk-abQ2rstuvw*", "key=[key]*"),
        ("the one that ends with wxY4", "the one that ends with [key]"),
        ("wait... what", "wait... what"),
        ("a key begins with sk- and has *** in it", "a key begins with sk- and has *** in it"),
    ] {
        assert_eq!(without_parts(text, key, "[key]"), expected, "{text}");
    }
    assert_eq!(without_parts("a short one", "short", "[key]"), "a [key] one");
    assert_eq!(without_parts("none", "", "[key]"), "none");
}

/// Pieces of texts with keys in them, whole or cut off.
fn piece() -> impl Strategy<Value = String> {
    let form = (0..FORMS.len()).prop_map(|at| made_up(&FORMS[at]));
    let part = (0..FORMS.len(), 0..20_usize).prop_map(|(at, len)| {
        let key = made_up(&FORMS[at]);
        key[..len.min(key.len())].to_owned()
    });
    prop_oneof![
        form,
        part,
        "[ -~\n]{0,12}",
        Just("knownkey-1".to_owned()),
        Just("knownkey".to_owned()),
        Just("-----BEGIN RSA PRIVATE KEY-----\n".to_owned()),
        Just("-----END RSA PRIVATE KEY-----".to_owned()),
        "[A-Za-z0-9+/]{0,30}\n",
        Just("é\\n".to_owned()),
    ]
}

const KNOWN: [&str; 3] = ["knownkey-1", "knownkey", "é\\né"];

fn in_pieces<'a>(pieces: impl Iterator<Item = &'a str>) -> (String, usize) {
    let mut marking = Marking::new(KNOWN.iter().map(|&it| it.to_owned()));
    let mut out: String = pieces.map(|it| marking.push(it)).collect();
    out.push_str(&marking.end());
    (out, marking.count())
}

proptest! {
    #[test]
    fn a_text_whose_secrets_were_replaced_has_no_more_secrets(text in ".{0,80}(sk-|eyJ|-----BEGIN PRIVATE KEY-----)?.{0,80}") {
        let (once, _) = marked(&text, &[]);
        prop_assert_eq!(marked(&once, &[]).1, 0);
    }

    #[test]
    fn a_secret_is_replaced_wherever_a_streamed_text_is_cut(pieces in prop::collection::vec(piece(), 0..8)) {
        let text = pieces.concat();
        let whole = marked(&text, &KNOWN);
        for at in (0..=text.len()).filter(|it| text.is_char_boundary(*it)) {
            let (head, tail) = text.split_at(at);
            prop_assert_eq!(&in_pieces([head, tail].into_iter()), &whole, "cut at {}", at);
        }
        let single: Vec<String> = text.chars().map(String::from).collect();
        prop_assert_eq!(&in_pieces(single.iter().map(String::as_str)), &whole);
        prop_assert!(!whole.0.contains("knownkey"));
    }

    #[test]
    fn a_secret_in_a_long_text_is_replaced_as_in_a_short_one(
        pieces in prop::collection::vec(prop_oneof![piece(), Just("Log entry \\n".repeat(150)), Just("x".repeat(1100))], 0..8)
    ) {
        let text = pieces.concat();
        let parts: Vec<String> = text.chars().collect::<Vec<_>>().chunks(200).map(|it| it.iter().collect()).collect();
        prop_assert_eq!(in_pieces(parts.iter().map(String::as_str)), marked(&text, &KNOWN));
    }

    #[test]
    fn no_eight_consecutive_characters_of_a_key_remain(
        key in "[a-zA-Z0-9]{16,40}", before in "[ -~]{0,20}", cut in (0..8_usize, 8..30_usize), after in "[ -~]{0,20}"
    ) {
        let part = &key[cut.0..(cut.0 + cut.1).min(key.len())];
        let said = without_parts(&format!("{before}{part}{after}"), &key, "[key]");
        for run in key.as_bytes().windows(8) {
            prop_assert!(!said.contains(std::str::from_utf8(run).unwrap()), "{said}");
        }
    }
}

/// Neither an endless word nor an endless line of a private key is kept back without limit.
#[test]
fn only_a_limited_amount_of_text_is_kept_back_while_it_may_be_a_secret() {
    for (begin, more) in [("sk-", "a1"), ("-----BEGIN PRIVATE KEY-----", "ab"), ("x", "y")] {
        let text = format!("{begin}{}", more.repeat(40_000));
        let whole = marked(&text, &KNOWN);
        let mut marking = Marking::new(KNOWN.iter().map(|&it| it.to_owned()));
        let mut out = String::new();
        for piece in text.as_bytes().chunks(1000) {
            out.push_str(&marking.push(std::str::from_utf8(piece).unwrap()));
            assert!(marking.undecided.len() <= 20_000, "{}", marking.undecided.len());
        }
        out.push_str(&marking.end());
        assert_eq!((out, marking.count()), whole);
    }
}
