//! Variables by which programs keep their logins, keys and histories in another place than the usual one. There the rules
//! of the usual place apply.

use std::env;
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// The variables, each with the name of its usual place, with which a pattern of the table of protected paths begins. A
/// variable may hold several paths with colons between them.
#[rustfmt::skip]
const TABLE: &[(&str, &str)] = &[
    ("ANSIBLE_VAULT_PASSWORD_FILE", ".vault_pass"),
    ("AWS_CONFIG_FILE", ".aws"),
    ("AWS_SHARED_CREDENTIALS_FILE", ".aws"),
    ("AWS_WEB_IDENTITY_TOKEN_FILE", ".aws"),
    ("AZURE_CONFIG_DIR", ".azure"),
    ("BORG_CONFIG_DIR", ".config/borg"),
    ("BORG_KEYS_DIR", ".config/borg"),
    ("BORG_KEY_FILE", ".config/borg"),
    ("BOTO_CONFIG", ".boto"),
    ("BUNDLE_USER_CONFIG", ".bundle/config"),
    ("BUNDLE_USER_HOME", ".bundle"),
    ("CARGO_HOME", ".cargo"),
    ("CARGO_INSTALL_ROOT", ".cargo"),
    ("CLAUDE_CONFIG_DIR", ".claude"),
    ("CLOUDSDK_CONFIG", ".config/gcloud"),
    ("CODEX_HOME", ".codex"),
    ("COMPOSER_HOME", ".composer"),
    ("CONDARC", ".condarc"),
    ("CURL_HOME", "~"),
    ("DATABRICKS_CONFIG_FILE", ".databrickscfg"),
    ("DBT_PROFILES_DIR", "~/.dbt"),
    ("DOCKER_CONFIG", ".docker"),
    ("GH_CONFIG_DIR", ".config/gh"),
    ("GLAB_CONFIG_DIR", ".config/glab-cli"),
    ("GNUPGHOME", ".gnupg"),
    ("GOOGLE_APPLICATION_CREDENTIALS", "application_default_credentials.json"),
    ("GOPASS_HOMEDIR", "~"),
    ("GRADLE_USER_HOME", ".gradle"),
    ("HELM_CONFIG_HOME", ".config/helm"),
    ("HELM_REGISTRY_CONFIG", ".config/helm/registry"),
    ("HEX_HOME", ".hex"),
    ("HF_HOME", "huggingface"),
    ("HF_TOKEN_PATH", "huggingface/token"),
    ("HISTFILE", ".bash_history"),
    ("ICEAUTHORITY", ".ICEauthority"),
    ("KAGGLE_CONFIG_DIR", ".kaggle"),
    ("KRB5CCNAME", ".netrc"),
    ("KRB5_CLIENT_KTNAME", ".netrc"),
    ("KRB5_KTNAME", ".netrc"),
    ("KUBECONFIG", ".kube"),
    ("LESSHISTFILE", ".lesshst"),
    ("LPASS_HOME", ".lpass"),
    ("MINIKUBE_HOME", ".minikube"),
    ("MYSQL_HISTFILE", ".mysql_history"),
    ("MYSQL_TEST_LOGIN_FILE", ".mylogin.cnf"),
    ("NETRC", ".netrc"),
    ("NODE_REPL_HISTORY", ".node_repl_history"),
    ("NOTMUCH_CONFIG", ".config/aerc"),
    ("NPM_CONFIG_GLOBALCONFIG", ".npmrc"),
    ("NPM_CONFIG_USERCONFIG", ".npmrc"),
    ("OCI_CLI_CONFIG_FILE", ".oci"),
    ("OP_CONFIG_DIR", ".config/op"),
    ("PASSWORD_STORE_DIR", ".password-store"),
    ("PGPASSFILE", ".pgpass"),
    ("PIP_CONFIG_FILE", "pip.conf"),
    ("POETRY_CONFIG_DIR", ".config/pypoetry"),
    ("PSQL_HISTORY", ".psql_history"),
    ("PULUMI_CREDENTIALS_PATH", ".pulumi"),
    ("PULUMI_HOME", ".pulumi"),
    ("PYTHON_HISTORY", ".python_history"),
    ("RCLONE_CONFIG", ".config/rclone"),
    ("REDISCLI_HISTFILE", ".rediscli_history"),
    ("REGISTRY_AUTH_FILE", "containers/auth.json"),
    ("RESTIC_PASSWORD_FILE", ".config/restic"),
    ("S3CMD_CONFIG", ".s3cfg"),
    ("SNOWFLAKE_HOME", "~/.snowflake"),
    ("SOPS_AGE_KEY_FILE", "age/keys.txt"),
    ("SQLITE_HISTORY", ".sqlite_history"),
    ("SSLKEYLOGFILE", ".netrc"),
    ("STEPPATH", ".step"),
    ("TELEPORT_HOME", ".tsh"),
    ("TF_CLI_CONFIG_FILE", ".terraformrc"),
    ("UV_CREDENTIALS_DIR", ".local/share/uv/credentials"),
    ("WANDB_CONFIG_DIR", ".config/wandb"),
    ("WEECHAT_HOME", ".weechat"),
    ("WGETRC", ".netrc"),
    ("XAUTHORITY", ".Xauthority"),
    ("npm_config_globalconfig", ".npmrc"),
    ("npm_config_userconfig", ".npmrc"),
];

/// The places that the variables of this program name, each with the name of its usual place.
pub(super) fn places() -> Vec<(PathBuf, String)> {
    named(|it| env::var_os(it))
}

fn named(variable: impl Fn(&str) -> Option<OsString>) -> Vec<(PathBuf, String)> {
    let pairs = TABLE.iter().filter_map(|(it, name)| Some((variable(it)?, *name)));
    let paths = pairs.flat_map(|(value, name)| {
        // `FILE:/tmp/krb5cc_0`, `/a/config:/b/config`
        let parts = value.as_bytes().split(|it| *it == b':');
        let paths = parts.map(|it| PathBuf::from(OsString::from_vec(it.to_vec())));
        paths.map(|it| (it, name.to_owned())).collect::<Vec<_>>()
    });
    // the root of the disk would make each file one of the program's
    paths.filter(|it| it.0.is_absolute() && it.0.parent() > Some(Path::new("/"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reach::{Folders, Reach, Reading};

    /// A file of each program that the variable moves is one that the table protects.
    #[test]
    fn each_variable_moves_a_file_that_is_protected() {
        let inner = |name: &str| match name {
            ".bundle" => "config",
            ".cargo" => "credentials.toml",
            ".claude" => ".credentials.json",
            ".codex" | ".composer" => "auth.json",
            ".config/helm" => "registry/config.json",
            ".config/pypoetry" => "auth.toml",
            ".docker" => "config.json",
            ".gradle" => "gradle.properties",
            ".hex" => "hex.config",
            ".step" => "secrets/key",
            "huggingface" => "token",
            "~" => ".netrc",
            _ => "",
        };
        for (variable, name) in TABLE {
            let of = |it: &str| (it == *variable).then(|| "FILE:/moved/x y:rest".into());
            let named = named(of);
            assert_eq!(named, [(PathBuf::from("/moved/x y"), (*name).to_owned())]);
            let reach = Reach::new(&Folders { named, ..Folders::default() });
            let path = Path::new("/moved/x y").join(inner(name));
            assert!(matches!(reach.reading(&path), Reading::Asked(_)), "{variable}: {path:?}");
        }
        assert_eq!(named(|_| Some("/home:/:relative".into())), []);
    }
}
