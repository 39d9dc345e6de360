//! The limits of a command as a profile of Seatbelt, the sandbox of macOS. The last rule of a profile that fits an
//! operation decides.

use super::limits::Sandbox;
use std::path::{Path, PathBuf};

/// What each command may do. It may not use the system's services that start programs or give out keys: a program that
/// such a service starts is not in the sandbox.
const ALWAYS: &str = r#"(version 1)
(deny default)
(allow process-exec)
(allow process-fork)
(allow signal (target same-sandbox))
(allow process-info* (target same-sandbox))
(allow sysctl-read)
(allow file-read*)
(allow file-ioctl (subpath "/dev"))
(allow file-write* (literal "/dev/null") (literal "/dev/zero") (literal "/dev/tty") (literal "/dev/ptmx") (regex #"^/dev/ttys[0-9]+$"))
(allow pseudo-tty)
(allow ipc-posix-sem)
(allow ipc-posix-shm*)
(allow mach-lookup (global-name "com.apple.system.logger") (global-name "com.apple.system.notification_center") (global-name "com.apple.system.opendirectoryd.libinfo"))
"#;

/// The machine's own servers.
const LOOPBACK: &str = r#"(allow network-bind network-inbound (local ip "localhost:*"))
(allow network-outbound (remote ip "localhost:*"))
"#;

const NETWORK: &str = r#"(allow network*)
(allow system-socket)
(allow mach-lookup (global-name "com.apple.SystemConfiguration.configd") (global-name "com.apple.dnssd.service") (global-name "com.apple.trustd") (global-name "com.apple.trustd.agent"))
"#;

/// The profile. An error names a path that cannot be written in a profile.
pub(super) fn profile(sandbox: &Sandbox) -> Result<String, String> {
    let mut text = ALWAYS.to_owned();
    text += if sandbox.network { NETWORK } else { LOOPBACK };
    // a socket of another program may be anywhere
    text += "(deny network-outbound (remote unix-socket))\n";
    rule(&mut text, "(allow file-write* ", "subpath", &sandbox.writable)?;
    rule(&mut text, "(allow network* ", "subpath", &sandbox.writable)?;
    rule(&mut text, "(deny file-write* ", "subpath", &sandbox.fixed)?;
    rule(&mut text, "(deny file-write-unlink ", "literal", &pinned(sandbox))?;
    rule(&mut text, "(deny file-read* file-write* network* ", "subpath", &sandbox.hidden)?;
    Ok(text)
}

fn rule(text: &mut String, head: &str, kind: &str, paths: &[PathBuf]) -> Result<(), String> {
    if paths.is_empty() {
        return Ok(());
    }
    let all: Result<Vec<String>, String> =
        paths.iter().map(|it| Ok(format!("({kind} {})", quoted(it)?))).collect();
    *text += &format!("{head}{})\n", all?.join(" "));
    Ok(())
}

/// The writable folders, the pinned ones, and those between a writable folder and a fixed path.
fn pinned(sandbox: &Sandbox) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> = sandbox.writable.iter().chain(&sandbox.pinned).cloned().collect();
    for path in &sandbox.fixed {
        let is_below = |it: &&Path| sandbox.writable.iter().any(|kept| it.starts_with(kept));
        all.extend(path.ancestors().skip(1).take_while(is_below).map(Path::to_owned));
    }
    all.sort();
    all.dedup();
    all
}

/// A path as a string of the profile's language.
fn quoted(path: &Path) -> Result<String, String> {
    match path.to_str() {
        Some(text) if !text.contains(char::is_control) => {
            Ok(format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"")))
        }
        _ => Err(format!("{} has control characters", path.to_string_lossy().escape_debug())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sandbox::Strength;
    use expect_test::expect;
    use proptest::prelude::*;

    fn sandbox(name: &str) -> Sandbox {
        let below = |it: &str| PathBuf::from(format!("/Users/me/{name}{it}"));
        Sandbox {
            strength: Strength::Plain,
            writable: vec![below(""), "/private/tmp/c".into()],
            pinned: vec![below("/.git")],
            fixed: vec![below("/.git/config"), below("/.github/workflows")],
            hidden: vec!["/Users/me/.ssh".into()],
            shown: Vec::new(),
            temporary: None,
            network: false,
            holder: None,
            proxy: false,
            gate: None,
            kept: Vec::new(),
        }
    }

    #[test]
    fn a_profile_allows_and_denies_what_the_sandbox_says() {
        let text = profile(&sandbox("project")).unwrap();
        let rest = text.strip_prefix(ALWAYS).unwrap();
        expect![[r#"
            (allow network-bind network-inbound (local ip "localhost:*"))
            (allow network-outbound (remote ip "localhost:*"))
            (deny network-outbound (remote unix-socket))
            (allow file-write* (subpath "/Users/me/project") (subpath "/private/tmp/c"))
            (allow network* (subpath "/Users/me/project") (subpath "/private/tmp/c"))
            (deny file-write* (subpath "/Users/me/project/.git/config") (subpath "/Users/me/project/.github/workflows"))
            (deny file-write-unlink (literal "/Users/me/project") (literal "/Users/me/project/.git") (literal "/Users/me/project/.github") (literal "/private/tmp/c"))
            (deny file-read* file-write* network* (subpath "/Users/me/.ssh"))
        "#]]
        .assert_eq(rest);
        let open = Sandbox { network: true, ..sandbox("project") };
        assert!(profile(&open).unwrap().contains("(allow network*)\n"));
    }

    #[test]
    fn a_path_that_cannot_be_written_in_a_profile_is_an_error() {
        assert!(profile(&sandbox("a\nb")).is_err());
        assert!(profile(&sandbox("a\u{1b}b")).is_err());
    }

    /// The strings of a profile, and the depth of its parentheses at the end.
    fn read(text: &str) -> (Vec<String>, i32) {
        let (mut strings, mut depth, mut chars) = (Vec::new(), 0, text.chars());
        while let Some(c) = chars.next() {
            match c {
                '(' => depth += 1,
                ')' => depth -= 1,
                '"' => {
                    let mut value = String::new();
                    loop {
                        match chars.next().unwrap() {
                            '"' => break,
                            '\\' => value.push(chars.next().unwrap()),
                            it => value.push(it),
                        }
                    }
                    strings.push(value);
                }
                _ => (),
            }
        }
        (strings, depth)
    }

    proptest! {
        /// A path stays one string of the profile, whatever its characters are.
        #[test]
        fn no_path_adds_a_rule_to_a_profile(name in r#"[ -~é"\\()#;]{1,20}"#) {
            let wanted = read(&profile(&sandbox("project")).unwrap());
            let (strings, depth) = read(&profile(&sandbox(&name)).unwrap());
            prop_assert_eq!(depth, 0);
            prop_assert_eq!(strings.len(), wanted.0.len());
            let path = format!("/Users/me/{name}");
            prop_assert!(strings.contains(&path), "{:?}", strings);
        }
    }
}
