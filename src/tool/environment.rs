//! The environment variables that the model's commands get: without the address of the editor and without secrets.

use crate::provider::key::{Secret, Used};
use crate::text::secret;
use tokio::process::Command;

/// The argument that makes this program list the variables that it withholds.
pub const ARGUMENT: &str = "withheld";

/// Environment variables by which a command could find the editor. No command gets these variables.
const EDITOR: [&str; 5] = ["NVIM", "NVIM_LISTEN_ADDRESS", "VIM", "VIMRUNTIME", "MYVIMRC"];

/// A variable whose name contains one of these parts has a secret. Names are compared in capital letters.
const PARTS: [&str; 14] = [
    "ACCESS_KEY",
    "API_KEY",
    "APIKEY",
    "CONNECTIONSTRING",
    "CONNECTION_STRING",
    "COOKIE",
    "CREDENTIAL",
    "OP_SESSION",
    "PASSPHRASE",
    "PASSWD",
    "PASSWORD",
    "PRIVATE_KEY",
    "SECRET",
    "TOKEN",
];

/// A variable whose name ends in one of these has a secret. Digits may follow (`DEPLOY_KEY2`). `PWD` is not in the
/// list, because `PWD` and `OLDPWD` are folders.
const ENDS: [&str; 11] = [
    "DATABASE_URL",
    "_AUTH",
    "_CREDS",
    "_DSN",
    "_KEY",
    "_KEYS",
    "_PASS",
    "_PAT",
    "_PW",
    "_PWD",
    "BW_SESSION",
];

/// A variable whose name begins with one of these has a secret.
const BEGINNINGS: [&str; 1] = ["PRIVATE"];

/// Variables with exactly these names have secrets.
const NAMES: [&str; 4] = ["AUTH", "DSN", "PASS", "PAT"];

/// The variables that are withheld from commands, and the secrets that are replaced in the answers of tools.
#[derive(Debug, Clone, Default)]
pub struct Secrets {
    /// Variables that, according to the user's settings, contain API keys.
    pub variables: Vec<String>,
    /// Variables that, according to the user's settings, commands get in any case.
    pub passed: Vec<String>,
    /// The keys that the program has used since it started.
    pub used: Used,
}

impl Secrets {
    /// Removes the withheld variables from a command's environment.
    pub fn withhold(&self, command: &mut Command) {
        for (name, value) in std::env::vars_os() {
            if self.withholds(&name.to_string_lossy(), &value.to_string_lossy()) {
                command.env_remove(name);
            }
        }
    }

    /// The names of the variables that are withheld from commands, except those that lead to the editor.
    pub fn withheld(&self) -> Vec<String> {
        let names = std::env::vars_os().filter_map(|(name, value)| {
            let name = name.to_string_lossy().into_owned();
            let is_editors = EDITOR.contains(&name.as_str());
            (!is_editors && self.withholds(&name, &value.to_string_lossy())).then_some(name)
        });
        names.collect()
    }

    fn withholds(&self, name: &str, value: &str) -> bool {
        EDITOR.contains(&name)
            || !self.passed.iter().any(|it| it == name)
                && (self.variables.iter().any(|it| it == name)
                    || is_secret(name)
                    || secret::is_secret(value)
                    || self.known().iter().any(|it| value.contains(it.as_str())))
    }

    /// The keys that are replaced in the answers of all tools.
    pub fn known(&self) -> Vec<String> {
        let keys = self.used.keys().into_iter().filter(Secret::is_distinct);
        keys.map(|it| it.expose().to_owned()).collect()
    }

    /// The known keys, and those values of withheld variables that are not ordinary words, because a command may find
    /// such a value in the environment of another process.
    pub fn known_to_commands(&self) -> Vec<String> {
        let withheld = std::env::vars_os().filter_map(|(name, value)| {
            let (name, value) = (name.to_string_lossy(), value.to_str()?);
            let is_secret = self.withholds(&name, value) && secret::is_distinct(value);
            (is_secret && !EDITOR.contains(&&*name)).then(|| value.to_owned())
        });
        withheld.chain(self.known()).collect()
    }
}

/// Whether a variable with this name has a secret. The socket of an SSH agent (`SSH_AUTH_SOCK`) is not a secret: a
/// command can sign in with it, but it reveals no key.
pub fn is_secret(name: &str) -> bool {
    let name = name.to_uppercase();
    let stem = name.trim_end_matches(|it: char| it.is_ascii_digit());
    PARTS.iter().any(|it| name.contains(it))
        || ENDS.iter().any(|it| stem.ends_with(it))
        || BEGINNINGS.iter().any(|it| name.starts_with(it))
        || NAMES.contains(&stem)
        || stem == "KEY"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_with_secrets_are_recognised_by_their_names() {
        for name in [
            "OPENAI_API_KEY",
            "GH_TOKEN",
            "my_secret_x",
            "PGPASSWORD",
            "DB_PASS",
            "AZURE_PAT",
            "MYSQL_PWD",
            "OPENAIAPIKEY",
            "DEPLOY_KEY2",
            "KEY1",
            "DATABASE_URL",
            "TEST_DATABASE_URL",
            "SENTRY_DSN",
            "GOOGLE_APPLICATION_CREDENTIALS",
            "REGISTRY_AUTH",
            "npm_config__auth",
            "npm_config_//registry.example/:_authToken",
            "GPG_PASSPHRASE",
            "REDIS_PASSWD",
            "AZURE_STORAGE_CONNECTION_STRING",
            "PRIVATE_PEM",
            "SESSION_COOKIE",
            "BW_SESSION",
            "OP_SESSION_my",
            "AWS_ACCESS_KEY_ID",
        ] {
            assert!(is_secret(name), "{name}");
        }
        for name in [
            "PATH",
            "HOME",
            "VIMINIT",
            "SSH_AUTH_SOCK",
            "CARGO_HOME",
            "PWD",
            "OLDPWD",
            "XDG_SESSION_ID",
            "DBUS_SESSION_BUS_ADDRESS",
            "SSH_ASKPASS",
            "KEYBOARD",
            "PASSENGER",
            "COMPASS",
            "XAUTHORITY",
            "PATTERN",
            "COLUMNS",
        ] {
            assert!(!is_secret(name), "{name}");
        }
    }

    #[test]
    fn a_variable_is_withheld_by_its_name_its_value_or_the_settings() {
        let key = Secret::given("a-key-in-use-77");
        let secrets = Secrets {
            variables: vec!["TEAM".into()],
            passed: vec!["DATABASE_URL".into(), "NVIM".into()],
            used: Used::default(),
        };
        secrets.used.note(&key);
        for (name, value, withheld) in [
            ("NVIM", "", true),
            ("VIMRUNTIME", "", true),
            ("TEAM", "blue", true),
            ("TEAM_NAME", "blue", false),
            ("DATABASE_URL", "postgres://me:pass@db", false),
            ("OTHER_DATABASE_URL", "", true),
            ("CACHE", "redis://:pass@h", true),
            ("PLAIN", key.expose(), true),
            ("LINE", "Bearer a-key-in-use-77", true),
            ("HTTP_PROXY", "http://proxy:80", false),
        ] {
            assert_eq!(secrets.withholds(name, value), withheld, "{name}");
        }
    }
}
