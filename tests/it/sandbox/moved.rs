//! Secrets in the places to which variables of the user's move them.

use super::{is_full, shell};
use crate::review::scene::Scene;
use std::fs;

/// A variable, what it names, and the file with a secret there: the named file itself if that is empty.
const MOVED: &[(&str, &str, &str)] = &[
    ("AWS_SHARED_CREDENTIALS_FILE", "aws", ""),
    ("CARGO_HOME", "cargo", "credentials.toml"),
    ("CODEX_HOME", "codex", "auth.json"),
    ("CURL_HOME", "curl", ".netrc"),
    ("DOCKER_CONFIG", "docker", "config.json"),
    ("GH_CONFIG_DIR", "hub", "hosts.yml"),
    ("GNUPGHOME", "keys", "private-keys-v1.d/a"),
    ("HF_HOME", "hf", "token"),
    ("HISTFILE", "typed", ""),
    ("KUBECONFIG", "k8s", ""),
    ("NETRC", "login", ""),
    ("NPM_CONFIG_USERCONFIG", "registry", ""),
    ("PASSWORD_STORE_DIR", "store", "bank.gpg"),
    ("PGPASSFILE", "database", ""),
    ("PIP_CONFIG_FILE", "wheels", ""),
    ("XDG_CONFIG_HOME", "config", "gh/hosts.yml"),
    ("XDG_DATA_HOME", "data", "keyrings/login.keyring"),
    ("XDG_STATE_HOME", "state", "bash/history"),
];

#[test]
fn a_command_sees_no_secret_in_a_place_that_a_variable_names() {
    if !is_full() {
        return;
    }
    let scene = Scene::start(|mut it| {
        for (variable, place, inner) in MOVED {
            let place = it.dir().join(place);
            let file = if inner.is_empty() { place.clone() } else { place.join(inner) };
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, "a secret\n").unwrap();
            it = it.env(variable, place.to_str().unwrap());
        }
        let other = it.dir().join("cargo/config.toml");
        fs::write(other, "no secret\n").unwrap();
        it
    });
    let above = scene.nvim.setup.dir();
    for (variable, place, inner) in MOVED {
        let path = above.join(place).join(inner);
        let said = shell(&scene, &format!("cat {}", path.to_str().unwrap().trim_end_matches('/')));
        assert!(!said.contains("a secret"), "{variable}: {said}");
    }
    let said = shell(&scene, &format!("cat {}/cargo/config.toml", above.display()));
    assert!(said.contains("no secret"), "{said}");
}
