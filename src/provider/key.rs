//! Where an API key is stored. The key itself is read when a request needs it, and is dropped after the request.

pub use super::secret::Secret;

use super::stored;
use crate::event::Failure;
use crate::text::cause;
use std::fmt;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;
use tokio::process::Command;
use tokio::sync::watch;

/// How long a command that prints a key may take. The user may have to unlock a key store first.
const PATIENCE: Duration = Duration::from_secs(60);

/// A function that looks up an environment variable. Tests use their own.
pub type Env = fn(&str) -> Option<String>;

/// The program's own environment.
pub fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Where to find a key.
#[derive(Clone, PartialEq, Eq)]
pub enum Key {
    None,
    /// In this environment variable.
    Env(String),
    /// The first line that this shell command prints.
    Command(String),
    /// The user entered the key in Caliban. This file says where the key is stored.
    Stored(PathBuf),
}

/// The keys that the program has used since it started. They are replaced in all text that is shown. Clones share the
/// list.
#[derive(Debug, Clone, Default)]
pub struct Used(Arc<watch::Sender<Vec<Secret>>>);

impl Used {
    pub fn note(&self, key: &Secret) {
        self.0.send_if_modified(|keys| {
            let is_new = keys.iter().all(|it| it.expose() != key.expose());
            keys.extend(is_new.then(|| key.clone()));
            is_new
        });
    }

    pub fn keys(&self) -> Vec<Secret> {
        self.0.borrow().clone()
    }
}

impl Key {
    /// Parses `env:NAME` or `cmd:COMMAND` from the configuration. The error does not quote the text, because it may be
    /// a key that was written there by mistake.
    pub fn parse(text: &str) -> Result<Key, String> {
        match text.split_once(':') {
            Some(("env", name)) if !name.trim().is_empty() => Ok(Key::Env(name.trim().to_owned())),
            Some(("cmd", command)) if !command.trim().is_empty() => {
                Ok(Key::Command(command.trim().to_owned()))
            }
            _ if text.is_empty() || text == "none" => Ok(Key::None),
            _ => Err("write a key as `env:NAME` or `cmd:COMMAND`, never the key itself".to_owned()),
        }
    }

    /// Reads the key; `None` if no key is needed. The error says why the key cannot be read.
    pub async fn read(&self, provider: &str, env: Env) -> Result<Option<Secret>, Failure> {
        let text = match self {
            Key::None => return Ok(None),
            Key::Env(name) => env(name).unwrap_or_default(),
            Key::Command(command) => {
                let provider = provider.to_owned();
                first_line(command).await.map_err(|why| Failure::KeyCommand { provider, why })?
            }
            Key::Stored(file) => {
                let key = stored::read(file, provider).await;
                let provider = provider.to_owned();
                key.map_err(|why| Failure::StoredKey { provider, why })?
            }
        };
        let text = text.trim();
        if text.is_empty() {
            let provider = provider.to_owned();
            return Err(match self {
                Key::Env(name) => Failure::NoKey { provider, variable: name.clone() },
                _ => Failure::KeyCommand { provider, why: "printed nothing".to_owned() },
            });
        }
        Ok(Some(Secret::given(text)))
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Key::None => f.write_str("None"),
            Key::Env(name) => write!(f, "Env({name})"),
            Key::Command(_) => f.write_str("Command"),
            Key::Stored(_) => f.write_str("Stored"),
        }
    }
}

/// The first line that the command prints. Its error output is dropped, because it may quote the key.
async fn first_line(command: &str) -> Result<String, String> {
    let child = Command::new("sh")
        .args(["-c", command])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .output();
    let output = tokio::time::timeout(PATIENCE, child)
        .await
        .map_err(|_| format!("did not finish within {} s", PATIENCE.as_secs()))?
        .map_err(|error| format!("did not start: {}", cause(&error)))?;
    if !output.status.success() {
        return Err(format!("failed ({})", output.status));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text.lines().next().unwrap_or_default().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn env(name: &str) -> Option<String> {
        (name == "MY_KEY").then(|| "  sk-secret-1\n".to_owned())
    }

    async fn read(key: &str) -> String {
        match Key::parse(key).unwrap().read("mine", env).await {
            Ok(secret) => secret.map(|secret| secret.expose().to_owned()).unwrap_or_default(),
            Err(failure) => format!("{failure:?}"),
        }
    }

    #[tokio::test]
    async fn a_key_is_read_from_its_variable_or_the_first_line_of_its_command() {
        assert_eq!(read("env:MY_KEY").await, "sk-secret-1");
        assert_eq!(read("cmd:printf 'sk-2\\nmore\\n'").await, "sk-2");
        assert_eq!(read("").await, "");
        assert_eq!(read("env:OTHER").await, r#"NoKey { provider: "mine", variable: "OTHER" }"#);
        let failed = read("cmd:echo sk-3; echo sk-3 >&2; exit 3").await;
        assert_eq!(failed, r#"KeyCommand { provider: "mine", why: "failed (exit status: 3)" }"#);
    }

    #[tokio::test]
    async fn debug_output_and_errors_never_show_a_key() {
        let shown = |key: &Key| format!("{key:?}");
        assert_eq!(shown(&Key::parse("cmd:echo sk-secret").unwrap()), "Command");
        assert!(!Key::parse("sk-secret").unwrap_err().contains("secret"));
        let secret = Key::Env("MY_KEY".into()).read("mine", env).await.unwrap();
        assert_eq!(format!("{secret:?}"), "Some(Secret)");
    }
}
