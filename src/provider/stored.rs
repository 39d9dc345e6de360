//! API keys that the user has entered. They are stored in the system's keyring, through the keyring's own command,
//! otherwise in a file that only the user can read. The file also lists the providers whose keys are in the keyring.

use super::secret::Secret;
use crate::regular;
use crate::text::cause;
use std::collections::BTreeMap;
use std::fs::DirBuilder;
use std::io::{self, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::process::Command;
use tokio::time::timeout;

/// How long the keyring's command may take. The user may have to unlock the keyring.
const PATIENCE: Duration = Duration::from_secs(60);

/// Where a key was stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    Keyring,
    File,
}

/// The key of each provider; `None` for a key in the keyring.
type Entries = BTreeMap<String, Option<String>>;

/// The providers that have a key.
pub fn providers(file: &Path) -> Vec<String> {
    entries(file).into_keys().collect()
}

/// The keys that are in the file, and not in the keyring.
pub fn in_file(file: &Path) -> Vec<Secret> {
    entries(file).into_values().flatten().map(|key| Secret::given(&key)).collect()
}

/// Reads the key of a provider. The error is the end of a sentence that says why the key cannot be read.
pub async fn read(file: &Path, provider: &str) -> Result<String, String> {
    match entries(file).remove(provider) {
        Some(Some(key)) => Ok(key),
        Some(None) => ask(&lookup(provider), "").await,
        None => Err("is gone".to_owned()),
    }
}

/// Stores a key in the keyring, or in the file if that fails.
pub async fn store(file: &Path, provider: &str, key: &Secret) -> io::Result<Place> {
    let (command, input) = keeping(provider, key);
    let kept = plain(provider)
        && plain(key.expose())
        && ask(&command, &input).await.is_ok()
        && ask(&lookup(provider), "").await.is_ok_and(|it| it == key.expose());
    let mut entries = entries(file);
    entries.insert(provider.to_owned(), (!kept).then(|| key.expose().to_owned()));
    write(file, &entries)?;
    Ok(if kept { Place::Keyring } else { Place::File })
}

fn entries(file: &Path) -> Entries {
    let bytes = regular::read(file).unwrap_or_default();
    serde_json::from_slice(&bytes).unwrap_or_default()
}

/// Replaces the file through a temporary file, which only the owner can read from the moment it exists.
fn write(file: &Path, entries: &Entries) -> io::Result<()> {
    let folder = file.parent().unwrap_or(Path::new("."));
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let mut whole = tempfile::NamedTempFile::new_in(folder)?;
    whole.write_all(&serde_json::to_vec_pretty(entries)?)?;
    whole.as_file().sync_all()?;
    whole.persist(file)?;
    Ok(())
}

/// Whether the command `security` of macOS reads the text as one word without quotes.
fn plain(text: &str) -> bool {
    text.bytes().all(|it| it.is_ascii_graphic() && !b"\"'\\".contains(&it))
}

/// The command that stores a key, and the input for the command. The key is in the input, because everybody can see
/// arguments with `ps`.
fn keeping(provider: &str, key: &Secret) -> (Vec<String>, String) {
    if cfg!(target_os = "macos") {
        let add = format!("add-generic-password -U -s caliban -a {provider} -w {}\n", key.expose());
        return (words(&["security", "-i"]), add);
    }
    let label = format!("Caliban: {provider}");
    let store =
        ["secret-tool", "store", "--label", &label, "service", "caliban", "provider", provider];
    (words(&store), key.expose().to_owned())
}

fn lookup(provider: &str) -> Vec<String> {
    if cfg!(target_os = "macos") {
        words(&["security", "find-generic-password", "-s", "caliban", "-a", provider, "-w"])
    } else {
        words(&["secret-tool", "lookup", "service", "caliban", "provider", provider])
    }
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|&it| it.to_owned()).collect()
}

/// Runs the keyring's command with this input and returns its output. Its error output is dropped, because it may quote
/// the key.
async fn ask(command: &[String], input: &str) -> Result<String, String> {
    let mut child = Command::new(&command[0])
        .args(&command[1..])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .map_err(|_| format!("cannot be read: there is no {}", command[0]))?;
    let answer = async {
        if let Some(mut stdin) = child.stdin.take() {
            // if the command ends before it reads its input, its exit status tells the failure
            let _ = stdin.write_all(input.as_bytes()).await;
        }
        child.wait_with_output().await
    };
    let output = timeout(PATIENCE, answer)
        .await
        .map_err(|_| format!("could not be read within {} s", PATIENCE.as_secs()))?
        .map_err(|error| format!("cannot be read: {}", cause(&error)))?;
    if !output.status.success() {
        return Err("is not in the keyring, or the keyring is locked".to_owned());
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim_end_matches(['\n', '\r']).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn only_its_owner_may_read_the_key_file_and_a_damaged_file_gives_no_key() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("caliban/keys.json");
        assert!(providers(&file).is_empty());
        let entries = Entries::from([("a".into(), None), ("b".into(), Some("sk-1".into()))]);
        write(&file, &entries).unwrap();
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(providers(&file), ["a", "b"]);
        let stored = super::entries(&file);
        assert_eq!(
            (&stored["a"], stored["b"].as_deref(), stored.get("c")),
            (&None, Some("sk-1"), None)
        );
        std::fs::write(&file, "{").unwrap();
        assert!(providers(&file).is_empty());
    }

    #[test]
    fn a_key_is_given_to_the_keyring_on_standard_input_not_as_an_argument() {
        let (command, input) = keeping("groq", &Secret::given("sk-1"));
        assert!(input.contains("sk-1") && !command.join(" ").contains("sk-1"));
        assert!(plain("sk-1_A") && !plain("a b") && !plain("a\n") && !plain("a'b"));
    }
}
