//! The files with secrets in the user's home folder, and in the places to which variables move them, that commands do not
//! see.

use crate::reach::{self, Reach, Reading};
use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};

/// Folders of the home folder in which programs keep settings, histories and logins, each with the number of levels
/// that are looked at. The home folder itself is the first.
const FOLDERS: &[(&str, u32)] = &[
    ("", 1),
    (".config", 3),
    (".local/share", 3),
    (".local/state", 2),
    (".m2", 1),
    (".nuget", 2),
    (".gradle", 1),
    (".cargo", 1),
    (".cache", 2),
];
/// The most entries that are looked at, so that the first command begins soon also where a folder is huge.
const MOST: usize = 10_000;
/// How many levels below the home folder other projects are looked for.
const PROJECTS: u32 = 4;
/// The most files of other projects that are hidden, because each takes a mount before each command.
const HIDDEN: usize = 300;
/// Folders in which tools keep much, and seldom a secret. Hidden folders are left out too.
const FULL: &[&str] = &[
    "__pycache__",
    "anaconda3",
    "build",
    "dist",
    "go",
    "miniconda3",
    "node_modules",
    "out",
    "pods",
    "snap",
    "target",
    "vendor",
    "venv",
];

/// The secrets: those of the table whose place below the home folder is known, all that lie where programs keep theirs,
/// and the files in other projects. A link is found where it leads. Nothing in `root`, the project.
pub(super) fn found(home: &Path, root: &Path, reach: &Reach) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> = reach::secrets_in_home().map(|it| home.join(it)).collect();
    let mut open: VecDeque<(PathBuf, u32)> =
        FOLDERS.iter().map(|(name, depth)| (home.join(name), *depth)).collect();
    moved(home, reach, &mut all, &mut open);
    let mut left = MOST;
    while let Some((folder, depth)) = open.pop_front() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            left = left.saturating_sub(1);
            let path = entry.path();
            let Ok(kind) = entry.file_type() else { continue };
            if left == 0 || path.starts_with(root) {
                continue;
            }
            if matches!(reach.reading(&path), Reading::Asked(_)) {
                all.push(path.canonicalize().unwrap_or(path));
            } else if kind.is_dir() && depth > 1 {
                open.push_back((path, depth - 1));
            }
        }
    }
    all.extend(of_projects(home, root, reach));
    all.retain(|it| !it.starts_with(root));
    all.sort();
    all.dedup();
    all
}

/// Adds the secrets that lie in other places than the usual ones, and the folders that are looked at there.
fn moved(home: &Path, reach: &Reach, all: &mut Vec<PathBuf>, open: &mut VecDeque<(PathBuf, u32)>) {
    for (place, name) in reach.places() {
        let usual = home.join(name.trim_start_matches(['~', '/']));
        if *place == usual || home.starts_with(place) {
            continue;
        }
        if matches!(reach.reading(place), Reading::Asked(_)) {
            all.push(place.canonicalize().unwrap_or(place.clone()));
            continue;
        }
        let below = |it: &str| {
            let below = home.join(it).strip_prefix(&usual).ok().map(|it| place.join(it));
            below.filter(|it| it != place)
        };
        all.extend(reach::secrets_in_home().filter_map(below));
        let folders = FOLDERS.iter().filter_map(|(of, depth)| Some((below(of)?, *depth)));
        let own = FOLDERS.iter().find(|it| home.join(it.0) == usual).map_or(1, |it| it.1);
        open.extend(folders.chain([(place.clone(), own)]).filter(|it| it.0.is_dir()));
    }
}

/// The files with secrets in other projects, from the nearest folders on.
fn of_projects(home: &Path, root: &Path, reach: &Reach) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = VecDeque::from([(home.to_owned(), PROJECTS)]);
    let mut left = MOST;
    while let Some((folder, depth)) = open.pop_front() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            left = left.saturating_sub(1);
            if left == 0 || found.len() >= HIDDEN {
                return found;
            }
            let Ok(kind) = entry.file_type() else { continue };
            let (name, path) = (entry.file_name(), entry.path());
            let name = name.to_string_lossy();
            if kind.is_dir() {
                let is_left = name.starts_with('.') || FULL.contains(&&*name.to_ascii_lowercase());
                if depth > 1 && !is_left && path != root {
                    open.push_back((path, depth - 1));
                }
            } else if kind.is_file() && matches!(reach.reading(&path), Reading::Asked(_)) {
                found.push(path);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reach::Folders;

    /// A file of each tool whose login, key or history commands do not see.
    #[rustfmt::skip]
    const TOOLS: &[&str] = &[
        ".ICEauthority",
        ".Xauthority",
        ".acme.sh/account.conf",
        ".arcrc",
        ".argocd/config",
        ".authinfo.gpg",
        ".bash_history",
        ".bitcoin/wallet.dat",
        ".boto",
        ".bunfig.toml",
        ".cache/cliphist/db",
        ".cache/clipman.json",
        ".cache/huggingface/token",
        ".cargo/credentials.toml",
        ".cf/config.json",
        ".circleci/cli.yml",
        ".cisco/x",
        ".civo.json",
        ".claude/.credentials.json",
        ".claude/projects/x/y.jsonl",
        ".codeium/config.json",
        ".codex/auth.json",
        ".codex/sessions/x.jsonl",
        ".config/.jira/.config.yml",
        ".config/Code/User/globalStorage/state.vscdb",
        ".config/Element/IndexedDB/x",
        ".config/JetBrains/IdeaIC/options/other.xml",
        ".config/Mattermost/Cookies",
        ".config/Microsoft/Cookies",
        ".config/NuGet/NuGet.Config",
        ".config/Signal/config.json",
        ".config/aerc/accounts.conf",
        ".config/aichat/config.yaml",
        ".config/argocd/config",
        ".config/atlascli/config.toml",
        ".config/borg/keys/x",
        ".config/cachix/cachix.dhall",
        ".config/cf/config.json",
        ".config/configstore/firebase-tools.json",
        ".config/configstore/update-notifier.json",
        ".config/copyq/x",
        ".config/crush/crush.json",
        ".config/dart/pub-credentials.json",
        ".config/doctl/config.yaml",
        ".config/exoscale/exoscale.toml",
        ".config/filezilla/sitemanager.xml",
        ".config/flyctl/x",
        ".config/gcloud/credentials.db",
        ".config/gh/hosts.yml",
        ".config/ghorg/conf.yaml",
        ".config/git/credentials",
        ".config/glab-cli/config.yml",
        ".config/goa-1.0/accounts.conf",
        ".config/goose/secrets.yaml",
        ".config/gopass/config",
        ".config/hcloud/cli.toml",
        ".config/helm/registry/config.json",
        ".config/heroku/x",
        ".config/himalaya/config.toml",
        ".config/hub",
        ".config/io.datasette.llm/keys.json",
        ".config/isyncrc",
        ".config/jira/config.yml",
        ".config/launchdarkly/x",
        ".config/letsencrypt/accounts/x",
        ".config/linode-cli",
        ".config/mongocli/config.toml",
        ".config/mutt/muttrc",
        ".config/mycli/myclirc",
        ".config/neomutt/neomuttrc",
        ".config/ngrok/ngrok.yml",
        ".config/nushell/history.txt",
        ".config/obs-studio/service.json",
        ".config/openvpn/auth.txt",
        ".config/ovh.conf",
        ".config/pgcli/config",
        ".config/pypoetry/auth.toml",
        ".config/rbw/config.json",
        ".config/rclone/rclone.conf",
        ".config/restic/password",
        ".config/rustic/rustic.toml",
        ".config/sentry/x",
        ".config/smb.cred",
        ".config/solana/id.json",
        ".config/sops/age/keys.txt",
        ".config/spotify/Users/x",
        ".config/stripe/config.toml",
        ".config/syncthing/config.xml",
        ".config/syncthing/key.pem",
        ".config/tea/config.yml",
        ".config/teams/Cookies",
        ".config/teleport/x",
        ".config/tigervnc/passwd",
        ".config/twilio-cli/config.json",
        ".config/upctl.yaml",
        ".config/uv/credentials.toml",
        ".config/vault/token",
        ".config/vdirsyncer/config",
        ".config/vultr-cli.yaml",
        ".config/wandb/settings",
        ".config/weechat/sec.conf",
        ".databrickscfg",
        ".davfs2/secrets",
        ".dbt/profiles.yml",
        ".doppler/.doppler.yaml",
        ".duply/x/conf",
        ".edgerc",
        ".electrum/wallets/default_wallet",
        ".erlang.cookie",
        ".ethereum/keystore/UTC--x",
        ".expo/state.json",
        ".fetchmailrc",
        ".floorp/x/cookies.sqlite",
        ".fly/config.yml",
        ".foundry/keystores/a",
        ".gem/credentials",
        ".gemini/oauth_creds.json",
        ".gitcookies",
        ".gradle/gradle.properties",
        ".huggingface/token",
        ".ibmcloud/config.json",
        ".infisical/infisical-config.json",
        ".irssi/config",
        ".jfrog/x",
        ".local/share/DBeaverData/workspace6/General/.dbeaver/credentials-config.json",
        ".local/share/atuin/key",
        ".local/share/epiphany/cookies.sqlite",
        ".local/share/evolution/mail/x",
        ".local/share/fish/fish_history",
        ".local/share/gem/credentials",
        ".local/share/gnome-online-accounts/x",
        ".local/share/goose/sessions/x",
        ".local/share/heroku/x",
        ".local/share/keyrings/login.keyring",
        ".local/share/klipper/history2.lst",
        ".local/share/nu/history.sqlite3",
        ".local/share/opencode/auth.json",
        ".local/share/qutebrowser/webengine/Cookies",
        ".local/share/recently-used.xbel",
        ".local/share/remmina/x.remmina",
        ".local/share/uv/credentials/credentials.toml",
        ".local/share/zsh/history",
        ".local/state/bash/history",
        ".local/state/nvim/log",
        ".local/state/zsh/history",
        ".m2/settings.xml",
        ".mbsyncrc",
        ".mcp-auth/x/tokens.json",
        ".modal.toml",
        ".msmtprc",
        ".muttrc",
        ".myclirc",
        ".mysql_history",
        ".netlify/config.json",
        ".netrc",
        ".ngrok2/ngrok.yml",
        ".ngrok2/x",
        ".node_repl_history",
        ".nuget/NuGet/NuGet.Config",
        ".offlineimaprc",
        ".okta/okta.yaml",
        ".ovh.conf",
        ".password-store/x.gpg",
        ".pulumi/credentials.json",
        ".putty/sessions/x",
        ".pypirc",
        ".python_history",
        ".railway/config.json",
        ".rclone.conf",
        ".rdesktop/x",
        ".redis-cli_history",
        ".rediscli_history",
        ".s3cfg",
        ".saml2aws",
        ".sentryclirc",
        ".smbcredentials",
        ".snowflake/config.toml",
        ".snowsql/config",
        ".step/secrets/x",
        ".supabase/access-token",
        ".supermaven/config.json",
        ".terraform.d/credentials.tfrc.json",
        ".travis/config.yml",
        ".tsh/keys/x",
        ".twilio-cli/config.json",
        ".vault-token",
        ".vercel/auth.json",
        ".vnc/passwd",
        ".vultr-cli.yaml",
        ".waterfox/x/logins.json",
        ".weechat/sec.conf",
    ];

    #[test]
    fn what_programs_keep_in_the_home_folder_is_found_by_the_patterns_of_the_table() {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().canonicalize().unwrap();
        let root = home.join("project");
        let secrets = [
            ".bash_history",
            ".authinfo.gpg",
            "kubeconfig",
            "work.ovpn",
            ".m2/settings.xml",
            ".config/google-chrome-beta/Default/Cookies",
            ".config/sops/age/keys.txt",
            ".local/share/fish/fish_history",
            ".local/share/opencode/auth.json",
            ".cache/huggingface/token",
            "code/other/.env",
            "code/other/certs/server.pem",
            "other/id_ed25519",
            "other/.env.local",
        ];
        let others = [
            ".config/git/config",
            "notes.txt",
            "project/.env",
            ".cache/x/y/id_rsa",
            "other/.env.example",
            "other/node_modules/a/.env",
            "a/b/c/d/.env",
        ];
        for name in secrets.iter().chain(TOOLS).chain(&others) {
            fs::create_dir_all(home.join(name).parent().unwrap()).unwrap();
            fs::write(home.join(name), "").unwrap();
        }
        fs::write(root.join("elsewhere"), "").unwrap();
        fs::write(home.join("kept"), "").unwrap();
        std::os::unix::fs::symlink("kept", home.join(".zsh_history")).unwrap();
        std::os::unix::fs::symlink(root.join("elsewhere"), home.join(".psql_history")).unwrap();
        let named = vec![(home.clone(), "~".to_owned())];
        let reach = Reach::new(&Folders { root: root.clone(), named, ..Folders::default() });
        let found = found(&home, &root, &reach);
        let hides = |name: &str| found.iter().any(|it| home.join(name).starts_with(it));
        let seen: Vec<_> = secrets.iter().chain(TOOLS).filter(|it| !hides(it)).collect();
        assert_eq!(seen, Vec::<&&str>::new());
        assert!(hides("kept") && !hides("project/elsewhere"), "{found:?}");
        let hidden: Vec<_> = others.iter().filter(|it| hides(it)).collect();
        assert_eq!(hidden, Vec::<&&str>::new());
    }
}
