//! The table of paths that are never read or written, that are read only after a question, and that are written only
//! after a review. Each row gives the reason.
//!
//! A pattern is a name, or several consecutive names, anywhere in a path. It also covers everything below that path.
//! `*` stands for any characters of one name. A pattern that begins with `~` begins at the home folder, one that begins
//! with `/` at the root of the disk. Upper and lower case are the same.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// No tool reads or writes the path. Only the part of a path below the project's root is compared with the pattern.
    Never,
    /// The path is read only after the user was asked.
    Ask,
    /// The path is written only after the user has reviewed the change.
    Review,
    /// As `Review`. Also, a command in the sandbox writes the path neither at the project's root nor in the folders
    /// below it that the pattern names: programs outside of the sandbox run it without being told to.
    Lock,
}

pub(super) struct Row {
    pub(super) kind: Kind,
    /// The reason. It follows a path's name in a sentence.
    pub(super) why: &'static str,
    pub(super) paths: &'static [&'static str],
    /// Exceptions: if the last name that a pattern matches also matches one of these, the row does not apply.
    pub(super) but: &'static [&'static str],
}

const fn never(why: &'static str, paths: &'static [&'static str]) -> Row {
    Row { kind: Kind::Never, why, paths, but: &[] }
}

const fn ask(why: &'static str, paths: &'static [&'static str]) -> Row {
    Row { kind: Kind::Ask, why, paths, but: EXAMPLES }
}

const fn lock(why: &'static str, paths: &'static [&'static str]) -> Row {
    Row { kind: Kind::Lock, why, paths, but: &[] }
}

const fn review(why: &'static str, paths: &'static [&'static str]) -> Row {
    Row { kind: Kind::Review, why, paths, but: &[] }
}

/// The reason why Caliban's own folders are protected. They have no row in the table, because their paths depend on the
/// machine.
pub(super) const OWN: &str = "is Caliban's own (keys, settings, conversations), which no tool reads or writes. It is never \
    sent to a model";

/// Names of files that are only an example of a secret file and contain no secrets.
const EXAMPLES: &[&str] = &[
    "*.example",
    "*.sample",
    "*.template",
    "*.dist",
    "example.*",
    "sample.*",
    "*.example.*",
    "*.pub",
];

#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    never("is in .git, which no tool reads or writes. Run git with `shell`, which needs consent", &[".git"]),

    ask("holds keys (SSH)", &[
        ".ssh", "id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*", "ssh_host_*_key", "*.ppk",
    ]),
    ask("holds the keys or settings of an environment", &[
        ".env*", "*.env", ".dev.vars*", "local.settings.json", ".renviron",
    ]),
    ask("holds keys", &[
        "*.pem", "*.key", "~/.chef", "~/.task", "~/.age", ".config/chezmoi/key.txt", ".vagrant.d/insecure_private_key", "*.p12", "*.pfx", "*.p8", "*.jks", "*.keystore", "*.agekey", "age/keys.txt", "*.ovpn",
        ".gnupg", "/etc/wireguard", ".pki",
    ]),
    ask("holds passwords", &[
        "*.kdbx", "*.kdb", ".password-store", ".local/share/keyrings", ".gnome2/keyrings", ".local/share/kwalletd",
        "*.kwl", "Library/Keychains", "*.keychain-db", ".config/keepassxc", ".config/1Password", ".config/op",
        ".config/Bitwarden*", ".vault_pass*", ".vault-token", ".htpasswd", "/etc/shadow*", "/etc/gshadow*",
        "/etc/ssl/private", "/etc/NetworkManager/system-connections", ".config/rbw", ".local/share/rbw", ".config/gopass",
        ".local/share/gopass", ".lpass", ".config/lpass", ".local/share/lpass", ".config/Enpass", ".config/nordpass",
        ".config/Proton*", ".config/protonmail", ".config/Dashlane", ".local/share/Enpass", ".config/authenticator",
        ".local/share/authenticator", ".config/io.ente.auth", ".config/Authy*", ".kde/share/apps/kwallet",
    ]),
    ask("holds the keys of a wallet", &[
        "wallet.dat", ".bitcoin", ".litecoin", ".dogecoin", ".dashcore", ".zcash", ".electrum*", ".electron-cash",
        ".ethereum", ".config/solana", ".bitmonero", ".shared-ringdb", ".config/Exodus", ".config/Ledger Live",
        ".config/atomic", ".sparrow", ".foundry/keystores", ".brownie/accounts", ".near-credentials", ".sui", ".aptos",
        ".lnd", ".lightning", ".config/Wasabi*", ".walletwasabi",
    ]),
    ask("holds a login to a private network", &[
        ".config/openvpn", ".openvpn", ".cisco", ".config/mullvad", ".config/wireguard", ".config/nordvpn",
        ".config/expressvpn", ".config/tailscale", ".local/share/tailscale", "~/.cert",
    ]),
    ask("holds secrets", &[
        ".secrets", ".secrets.*", "secrets.json", "secrets.y*ml", "secrets.toml", "secrets.xml", "secret.json",
        "secret.y*ml", "credentials.json", "credentials.toml", "credentials.y*ml", "config/credentials", "credentials.csv",
        "credentials.ini", "credentials.properties", "credentials.xml",
        "client_secret*.json", "service-account*.json", "service_account*.json", "serviceaccount*.json",
        "*-service-account.json", "*_service_account.json", "*firebase-adminsdk*.json", "*.tfstate", "*.tfstate.*",
        "*.tfvars", "*.tfvars.json",
    ]),
    ask("holds a login to a cloud", &[
        ".aws", ".azure", ".config/gcloud", "application_default_credentials.json", ".oci", ".kube", "kubeconfig*",
        "*.kubeconfig", ".minikube", ".config/doctl", ".config/hcloud", ".config/scw", ".config/linode-cli", ".aliyun",
        ".bluemix", ".fly", ".cloudflared", ".config/.wrangler", ".config/heroku", ".config/netlify",
        ".local/share/com.vercel.cli", ".config/stripe", ".config/rclone", ".boto", ".s3cfg", ".passwd-s3fs",
        ".terraform.d", ".terraformrc", ".tofurc", ".pulumi", ".databrickscfg", "~/.databricks", ".snowsql", "~/.snowflake",
        ".config/snowflake", "~/.railway", ".config/railway", "~/.vercel", ".config/com.vercel.cli", "~/.netlify",
        "~/.supabase", "~/.expo", ".config/flyctl", ".config/configstore", ".config/exoscale", ".config/vultr-cli.yaml",
        ".vultr-cli.yaml", ".civo.json", ".config/ovh.conf", ".ovh.conf", ".config/upctl.yaml", ".config/twilio-cli",
        ".twilio-cli", ".cf", ".config/cf", ".ibmcloud", ".config/argocd", "~/.argocd", ".config/mongocli",
        ".config/atlascli", ".config/wandb", "~/.dbt", ".config/helm/registry", ".config/cachix", ".saml2aws", ".aws-sso",
        ".okta", ".config/okta*", ".doppler", ".infisical", "~/.circleci", "~/.travis", ".tsh", ".config/teleport",
        ".step/secrets", ".acme.sh", ".config/letsencrypt", ".config/vault", ".rancher", ".config/launchdarkly",
        ".config/sentry", ".sentryclirc", ".local/share/heroku", ".config/koyeb", ".koyeb.yaml", ".config/clever-cloud",
        ".config/scalingo", ".gsutil", "~/.mc", ".mcli", ".b2_account_info", ".config/b2", ".rclone.conf", ".config/restic",
        ".config/borg", ".config/rustic", ".config/kopia", ".duply", ".ngrok2", ".config/ngrok", ".config/cloudflare",
        "~/.wrangler", ".ossutilconfig", ".tccli", ".config/spaces", ".config/jfrog", ".jfrog", ".config/render",
        "~/.render", ".oci-cli", ".config/hcp", ".config/buildkite", ".bk.yaml", ".modal.toml", ".config/modal",
        ".config/goreleaser", ".config/openstack", ".config/planetscale", ".config/turso", ".config/circleci", ".duckdb",
        ".config/dbt", ".wakatime.cfg", ".config/onedrive", ".config/nix", ".config/datadog", ".dogrc", ".newrelic", ".config/newrelic", ".akamai-cli", ".edgerc", ".config/fastly", ".docker/config.json", ".dockercfg", "containers/auth.json",
    ]),
    ask("holds a login to a server", &[
        ".netrc", ".netrc.gpg", "_netrc", ".config/forgejo-cli", ".local/share/forgejo-cli", ".x11vnc",
        ".local/share/jupyter/runtime", ".offlineimap.py", ".authinfo*", ".git-credentials", ".config/git/credentials", ".config/gh",
        ".config/glab-cli", ".config/hub", ".subversion/auth", ".pgpass", "pgpass.conf", ".my.cnf", ".mylogin.cnf",
        ".msmtprc", ".config/msmtp", ".esmtprc", ".fetchmailrc", ".getmail", ".mbsyncrc", ".config/isyncrc", ".muttrc",
        "~/.mutt", ".config/mutt", ".config/neomutt", ".config/aerc", ".config/himalaya", ".offlineimaprc",
        ".config/vdirsyncer", ".config/goa-1.0", ".local/share/gnome-online-accounts", ".vnc", ".config/tigervnc", ".rdesktop", ".config/remmina",
        ".local/share/remmina", ".config/filezilla", ".putty", ".config/putty", ".smbcredentials", ".config/smb*",
        ".davfs2", ".gitcookies", ".arcrc", ".config/tea", ".config/ghorg", ".config/jira", ".config/.jira", ".erlang.cookie",
        ".Xauthority", ".ICEauthority", ".config/obs-studio", ".config/syncthing", ".local/state/syncthing", ".myclirc",
        ".config/mycli", ".config/pgcli", ".config/usql", ".usqlpass", ".local/share/DBeaverData", ".config/JetBrains",
        ".config/Code*/User/globalStorage", ".config/VSCodium/User/globalStorage", ".config/Cursor/User/globalStorage",
        ".config/sqlelectron*", ".config/beekeeper-studio", ".config/TablePlus", ".config/Postman", ".config/Insomnia",
        ".config/Bruno", ".mssql-cli", ".config/mssql-cli", ".config/redisinsight", ".redisinsight*", ".config/gerrit",
    ]),
    ask("holds a login to a package registry", &[
        ".npmrc", ".yarnrc", ".yarnrc.yml", ".pypirc", ".config/pip", ".pip", "pip.conf", ".condarc",
        ".cargo/credentials*", ".gem/credentials", ".bundle/config", ".composer/auth.json", ".config/composer/auth.json", ".m2/settings*.xml", ".gradle/gradle.properties",
        "nuget.config", ".hex/hex.config", ".config/hex", ".config/pypoetry/auth.toml", ".config/uv/credentials.toml",
        ".local/share/uv/credentials", ".local/share/gem/credentials", ".config/dart/pub-credentials.json",
        ".pub-cache/credentials.json", "~/.bunfig.toml", ".sbt/.credentials", ".ivy2/.credentials", ".lein/credentials.clj*",
        ".continuum", ".config/binstar", ".platformio/appstate.json", ".huggingface", ".config/replicate", ".comet.config",
        ".mlflow/credentials", ".config/anaconda*", ".config/gem", ".local/share/containers/auth.json", "huggingface/token", "huggingface/stored_tokens", ".kaggle",
    ]),
    ask("holds the keys of another agent", &[
        ".claude/.credentials.json", ".claude.json", ".codex/auth.json", "opencode/auth.json", ".gemini/oauth_creds.json", ".config/github-copilot",
        "io.datasette.llm/keys.json", ".aider.conf.yml", ".config/openai", ".config/anthropic", ".codeium", ".config/codeium",
        ".supermaven", ".config/aichat", ".mcp-auth", ".qwen/oauth_creds.json", ".config/mods", ".config/shell_gpt",
        "~/.continue", ".config/cursor/auth.json", ".config/codex", ".factory/auth.json", "~/.cline", ".local/share/amazon-q",
        ".config/fabric", ".config/TabNine", ".config/crush", ".config/amp", ".openai", ".anthropic", "~/.grok",
    ]),
    ask("holds conversations with another agent", &[
        ".claude/projects", ".claude/history.jsonl", ".codex/sessions", ".codex/history.jsonl", ".gemini/tmp",
        ".local/share/opencode", ".local/share/goose", ".local/share/crush", ".local/share/amp", ".local/share/zed/threads",
        ".config/io.datasette.llm", ".local/share/io.datasette.llm", ".llm_history",
    ]),
    ask("holds logins of a browser, of mail or of chats", &[
        ".mozilla", ".librewolf", ".zen", ".thunderbird", ".config/google-chrome*", ".config/chromium",
        ".config/thorium", ".config/net.imput.helium", ".config/element-desktop", ".cache/mozilla", ".cache/chromium",
        ".cache/google-chrome", "~/Mail", "~/Maildir", "~/.mail", ".config/BraveSoftware", ".config/microsoft-edge*", ".config/opera*", ".config/vivaldi*", "snap/firefox",
        "snap/chromium", ".var/app", "Application Support/Google", "Application Support/Chromium",
        "Application Support/Firefox", "Application Support/BraveSoftware", "Application Support/Microsoft Edge",
        "Application Support/Arc", "Library/Safari", "Library/Cookies", "Library/Mail", "Library/Messages",
        ".config/Slack", ".config/discord*", ".config/Signal*", ".local/share/TelegramDesktop", ".purple", ".floorp",
        ".waterfox", ".local/share/epiphany", ".local/share/qutebrowser", ".config/qutebrowser", ".config/falkon",
        ".local/share/torbrowser", ".config/Element", ".config/Mattermost", ".config/teams*", ".config/Microsoft*",
        ".config/vesktop", ".config/WebCord", ".local/share/fractal", ".config/Rambox", ".config/zoom*", ".zoom",
        ".config/skypeforlinux", ".config/spotify", ".config/Beeper*", ".local/share/geary", ".config/geary",
        ".local/share/evolution", ".config/evolution", ".weechat", ".config/weechat", ".local/share/weechat", ".irssi",
        ".config/irssi", ".config/hexchat", ".local/share/signal-cli", ".config/nheko", ".local/share/gajim",
        ".config/tutanota*", ".config/Zulip", ".config/Rocket.Chat", ".config/WhatsApp*", ".local/share/kactivitymanagerd",
    ]),
    ask("holds what was typed in a shell or an editor", &[
        ".*_history", "mongosh_repl_history", "psysh_history", ".dbshell", "~/.local/share/Trash", ".zhistory", ".histfile", "fish_history", ".local/share/atuin", "ConsoleHost_history.txt",
        ".lesshst", ".viminfo", ".netrwhist", ".local/state/nvim", "nvim/shada", ".local/state/bash", ".local/state/zsh",
        ".local/share/zsh/history", ".local/share/nu", ".config/nushell/history*", ".zsh_sessions", ".bash_sessions",
        ".local/share/mc/history",
    ]),
    ask("holds what was copied, or opened last", &[
        ".local/share/klipper", ".config/copyq", ".local/share/copyq", ".cache/clipman.json", ".local/share/clipman.json",
        ".cache/cliphist", ".local/share/recently-used.xbel", ".local/share/gpaste",
    ]),
    ask("shows the data of running programs", &["/proc"]),

    lock("runs when a shell starts", &[
        ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".bash_completion", ".profile",
        ".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout", ".zsh", ".oh-my-zsh", ".config/zsh", ".kshrc", ".mkshrc",
        ".cshrc", ".tcshrc", ".login", ".logout", ".inputrc", ".xonshrc", ".config/fish", ".config/nushell",
        ".config/powershell", "Microsoft.PowerShell_profile.ps1", ".config/starship.toml", ".tmux.conf", ".config/tmux",
        ".screenrc", ".config/kitty", ".config/alacritty", ".config/wezterm", ".wezterm.lua", ".config/ghostty",
    ]),
    lock("runs when a folder is entered or opened", &[
        "rust-toolchain", "rust-toolchain.toml", ".nvim.lua", ".nvimrc", ".exrc", ".vimrc", "_vimrc", ".gvimrc", ".lvimrc", ".vim", ".lazy.lua", ".neoconf.json",
        ".vimspector.json", ".luarc.json", ".luarc.jsonc", "rust-analyzer.toml", ".clangd", ".ycm_extra_conf.py",
        ".nvim", ".projections.json", ".tasks", ".bsp", "pyrightconfig.json", ".cargo/config", ".cargo/config.toml",
        ".dir-locals.el", ".dir-locals-2.el", ".projectile", ".vscode", "*.code-workspace", ".idea", ".fleet", ".zed",
        ".helix", "*.sublime-project", ".envrc", ".autoenv*", ".mise", "mise.toml", ".mise.*", "mise.*.toml",
        ".tool-versions", "devbox.json", "flake.nix", "shell.nix", "default.nix", "devenv.nix", ".config/mise.toml",
        ".config/mise.*.toml", "mise/config.toml", ".rtx*.toml", ".config/rtx", ".prototools", ".pkgx.y*ml",
        "pkgx.y*ml", ".flox", ".hermit", "aqua.y*ml", ".aqua.y*ml", ".direnv", ".direnvrc", "devenv.y*ml", "devenv.local.*",
        ".ondirrc", ".env.leave", ".local.vimrc", ".vimlocal", ".vimproject", ".lnvim.lua", ".nvim-*", ".lua-format-nvim",
        ".nlsp-settings", "nlsp.json", ".lsp.json", ".ccls", ".ccls-root", ".cquery", ".solargraph.y*ml", ".efmrc*",
        "omnisharp.json", ".classpath", ".factorypath", ".project", ".settings", ".bloop", ".metals", ".elixir_ls",
        ".ensime*", ".lapce", ".nova", ".atom", ".brackets.json", ".theia", ".vs", ".textadept*", ".kate-project*",
        ".kateproject*",
        "Session.vim", ".session.vim", ".exrc.lua", ".vimrc.*", ".nvim-dap.lua", ".shadowenv.d", ".rvmrc",
        ".versions.conf", ".asdfrc", ".envrc.*", ".env.zsh", ".env.fish", ".env.nu", "bin/activate-hermit", "bin/hermit",
        "bin/hermit.hcl", "mise/config.*.toml", "mise/conf.d", "mise/mise.toml", "flake.lock", "devenv.lock", "devbox.lock",
        ".lsp", "hie.yaml", ".hie-bios", ".merlin", ".tern-project", ".phpactor.*", "erlang_ls.config", ".sourcekit-lsp",
        "buildServer.json", "zls.json", ".zls.json", "zls.build.json", ".rust-analyzer.toml", ".ruby-lsp", "Steepfile",
        ".latexmkrc", "latexmkrc", "texmf.cnf", ".luarc.doc.json", ".ijwb", ".aswb", ".clwb", ".spyproject",
        "stack.yaml", ".fvm", ".fvmrc", ".vfox.toml", ".miserc.toml", "miserc.toml", ".config/miserc.toml", "mise.lock",
        "devshell.toml", "guix.scm", "manifest.scm", "channels.scm", ".ctags", ".ctags.d", ".gutctags", ".globalrc",
        "gtags.conf", ".swiftpm", "*.ipr", "*.pro.user", "CMakeLists.txt.user", "nbproject", ".jupyter", ".p4config",
        ".smartcd", ".ondir", ".formatter.exs", ".php-cs-fixer*.php", ".jvmopts", ".sbtopts", ".mvn/jvm.config",
    ]),
    lock("runs when an editor starts", &[
        ".config/nvim", ".local/share/nvim", "nvim/site", "pack/*/start", ".emacs", ".emacs.d", ".config/emacs",
        ".doom.d", ".config/doom", ".spacemacs*", ".config/Code", ".vscode-server", ".config/zed", ".config/helix",
        ".kakrc", ".config/kak", ".ideavimrc",
    ]),
    review("runs when the project is built, installed or tested", &[
        "build.rs", "Cargo.toml", ".cargo", "rust-toolchain*", "Makefile*", "GNUmakefile", "*.mk", "justfile",
        ".justfile", "*.just", "Taskfile*", "CMakeLists.txt", "*.cmake", "CMakePresets.json", "CMakeUserPresets.json",
        "meson.build", "configure", "configure.ac", "autogen.sh", "SConstruct", "wscript", "build.zig", "build.zig.zon",
        "setup.py", "setup.cfg", "pyproject.toml", "conftest.py", "sitecustomize.py", "usercustomize.py", "*.pth",
        "tox.ini", "noxfile.py", "pytest.ini", "fabfile.py", "package.json", ".npmrc", ".yarnrc*", ".yarn",
        ".pnpmfile.cjs", "pnpm-workspace.yaml", ".pnp.*", "*.config.js", "*.config.ts", "*.config.mjs", "*.config.cjs",
        "*.config.mts", "*.config.cts", ".eslintrc*", ".prettierrc*", ".babelrc*", ".mocharc*", ".lintstagedrc*",
        ".stylelintrc*", ".postcssrc*",
        ".commitlintrc*", ".textlintrc*", ".sqlfluff", "ansible.cfg", "config.nims", "nim.cfg", ".releaserc*", ".remarkrc*", ".markdownlint*", ".swcrc", ".parcelrc", ".flake8", ".pylintrc",
        "pylintrc", "mypy.ini", ".mypy.ini", ".rubocop.y*ml", ".credo.exs", ".luacheckrc",
        "phpstan.neon*", ".golangci.*", "karma.conf.*", "gulpfile*", "Gruntfile*", "nx.json", "turbo.json", "deno.json*", "bunfig.toml", "build.gradle*",
        "settings.gradle*", "*.gradle", "*.gradle.kts", "gradlew*", "gradle-wrapper.*", "pom.xml", ".mvn", "mvnw*",
        "build.xml", "*.sbt", "Rakefile", "Gemfile", "*.gemspec", "Guardfile", "Podfile", "Fastfile", "Package.swift",
        "mix.exs", "rebar.config", "Setup.hs", "composer.json", ".bazelrc", "BUILD.bazel", "WORKSPACE.bazel",
        "MODULE.bazel", "*.bzl", "Directory.Build.*", "*.csproj", "*.fsproj", "*.vcxproj", "Earthfile", "Dockerfile*",
        "*.Dockerfile", "Containerfile*", "docker-compose*", "compose.y*ml", "compose.*.y*ml", "Vagrantfile", "Procfile*",
        "Tiltfile", "skaffold.y*ml", ".tflint.hcl", ".standard.yml", ".erb_lint.yml", "tsconfig*.json", "jsconfig*.json", "biome.json*", ".dprint.json*", "dprint.json*",
        ".oxlintrc.json", "compile_commands.json", "compile_flags.txt", ".scalafmt.conf", ".scalafix.conf", ".rspec",
        ".perlcriticrc", ".perltidyrc", "ruff.toml", ".ruff.toml", "pixi.toml", "uv.toml", "poetry.toml", "hatch.toml",
    ]),
    review("chooses which version of a program runs", &[
        ".python-version*", ".ruby-version", ".node-version", ".nvmrc", ".java-version", ".sdkmanrc", ".go-version",
        ".terraform-version", ".php-version", ".perl-version", ".crystal-version", ".bun-version", ".deno-version",
        "global.json", ".swift-version", ".zigversion", ".xcode-version", ".opentofu-version", ".terragrunt-version",
    ]),
    lock("runs when git works on the repository", &[
        ".gitattributes", ".gitmodules", ".lfsconfig", ".gitconfig", ".config/git", ".githooks", ".husky", ".huskyrc*", "*.git/hooks",
        ".pre-commit-config.y*ml", ".pre-commit-hooks.y*ml", "lefthook*.y*ml", "lefthook*.toml", "lefthook*.json*",
        ".lefthook*", ".config/lefthook*", ".overcommit.yml", ".local-overcommit.yml", ".overcommit_gems*",
        ".simple-git-hooks.*", "simple-git-hooks.*", ".hg/hgrc", ".hg/hgrc-not-shared", ".hg/sharedpath", ".hg/config", ".hgrc", ".hgsub", ".git-hooks", ".hooks", "captainhook.json",
        "captainhook.config.*", "grumphp.y*ml", "grumphp.dist.y*ml", ".trunk/trunk.yaml", "prek.toml", ".prek.toml", "hk.pkl", "hk.local.pkl",
        ".config/hk*.pkl", ".cargo-husky", ".githooks.*", ".autohooks",
        ".ghooks", "rusty-hook.*", ".rusty-hook.*", ".gitlint", ".jj/repo/config*.toml", ".jj/workspace-config.toml", ".jj/config.toml",
        ".jj/repo/config-id", ".jj/workspace-config-id", ".jj/repo/store/git_target", ".jj/repo/store/type",
        ".sl/config", ".sl/sharedpath", ".sl/hgrc-not-shared", ".pijul/config", ".bzr/branch/branch.conf", "CVS/Root", "_darcs/prefs", ".fossil-settings",
    ]),
    review("belongs to the repository", &[".hg", ".jj", ".svn"]),
    lock("runs on other machines (CI)", &[
        ".github/workflows", ".github/actions", "action.y*ml", ".gitlab-ci*", ".gitlab", ".circleci", ".travis.yml",
        ".drone.y*ml", ".woodpecker*", "Jenkinsfile*", "azure-pipelines*", ".azure-pipelines", "bitbucket-pipelines.yml",
        "appveyor.yml", ".appveyor.yml", ".buildkite", ".cirrus.*", ".forgejo", ".gitea", "cloudbuild.y*ml",
        "buildspec.y*ml", ".semaphore", ".teamcity", ".builds", ".build.yml", ".tekton", ".readthedocs.y*ml",
        "netlify.toml", "vercel.json", ".goreleaser.y*ml", "wercker.y*ml", ".scrutinizer.y*ml", "codefresh.y*ml",
        ".harness", ".zuul.y*ml", "zuul.d", ".prow.y*ml", ".ci-operator.y*ml", "heroku.yml", "render.y*ml", "fly.toml",
        "railway.json", "railway.toml", ".platform.app.y*ml", ".upsun", ".lagoon.yml", "now.json", ".codacy.y*ml",
        ".github/chatmodes", ".github/agents", ".depot", ".nixpacks", "nixpacks.toml", ".onedev-buildspec.yml",
    ]),
    lock("runs when a development container is made", &[
        ".devcontainer", ".devcontainer.json", "devcontainer.json", ".gitpod*", ".idx", ".replit", ".codesandbox",
        ".devfile.y*ml", "devfile.y*ml", ".devpod", ".coder", ".ona", ".stackblitzrc", ".daytona",
    ]),
    lock("tells agents what to do", &[
        "AGENTS.md", "AGENTS.override.md", "AGENT.md", "CLAUDE.md", "CLAUDE.local.md", "GEMINI.md", "QWEN.md", "CRUSH.md",
        "WARP.md", "SKILL.md", "copilot-instructions.md",
        ".github/copilot-instructions.md", ".github/copilot*", ".github/hooks", ".github/skills", ".github/instructions", ".github/prompts", ".cursorrules",
        ".windsurfrules", ".clinerules", ".goosehints", ".mcp.json", "mcp.json", ".caliban", ".agent", ".agents", ".claude", ".claude-plugin", ".skills", ".codex",
        ".cursor", ".gemini", ".qwen", ".crush", ".crush.json", "crush.json", ".windsurf", ".roo", ".kiro", ".junie", ".amazonq", ".continue",
        ".aider*", ".opencode", "opencode.json*", ".claude.json", "AGENTS.*.md", "GROK.md", ".grok", "KIMI.md", ".kimi",
        "IFLOW.md", ".iflow", ".trae", ".augment", ".augment-guidelines", ".rules", ".factory", ".kilocode",
        ".kilocodemodes", ".roomodes", ".roorules*", ".cline", ".goose", ".amp", ".openhands", ".openhands_instructions",
        ".devin", ".avante*", "avante.md", ".codecompanion", ".serena", ".vibe", ".rovodev", ".zencoder", ".cody",
        ".tabnine", ".void", ".plandex*", ".forge", "forge.yaml", ".jules", ".pi", ".copilot", ".firebender*", ".lovable",
        "CODEBUDDY.md", ".codebuddy", ".lingma", ".qoder", ".aiassistant", ".mentat*", ".sweep.y*ml", "sweep.y*ml",
        ".coderabbit.y*ml", "greptile.json", ".greptile", ".pr_agent.toml", ".bito.y*ml", ".antigravity", ".rulesync*",
        ".ruler", ".warp", ".airules", ".ampcode", "AMP.md", "ANTIGRAVITY.md", "JULES.md", "CODEX.md",
    ]),
    review("lets others in, or names programs that are run", &[
        ".ssh", "authorized_keys*", ".gnupg", ".aws", ".kube", ".docker", ".config/containers", ".netrc", ".pypirc",
        ".config/pip", ".pip", "pip.conf",
    ]),
    review("runs when you log in, or at set times", &[
        ".config/autostart", ".config/systemd", ".local/share/systemd", ".config/environment.d", ".pam_environment",
        ".xprofile", ".xinitrc", ".xsession*", ".config/i3", ".config/sway", ".config/hypr", ".config/awesome", ".xmonad",
        ".local/share/applications", ".local/share/dbus-1", "Library/LaunchAgents", "Library/LaunchDaemons", "crontab",
        ".crontab", "cron.d", "/var/spool/cron",
    ]),
    review("holds programs that a shell finds by name", &[
        "~/bin", ".local/bin", ".local/lib", ".local/share/mise", "~/go/bin", ".rustup", ".nvm", ".pyenv", ".rbenv",
        ".sdkman", ".volta", ".asdf", ".bun/bin", ".deno/bin", ".npm-global", "node_modules/.bin",
    ]),
    lock("runs when a command-line tool starts", &[
        ".gdbinit", ".lldbinit", ".psqlrc", ".sqliterc", ".mongorc.js", ".irbrc", ".pryrc", ".pdbrc*", ".pythonrc*",
        ".ipython", ".Rprofile", ".Renviron", ".RData", ".julia/config", ".ghci", ".iex.exs", ".curlrc", ".wgetrc", ".ackrc", ".ripgreprc",
        ".config/ripgrep", ".config/direnv", ".config/mise", ".config/lazygit", ".lazygit.yml", ".tigrc", ".octaverc",
        ".ocamlinit", ".utoprc", ".byebugrc", ".rdbgrc",
    ]),
    review("belongs to the system", &[
        "/etc", "/boot", "/bin", "/sbin", "/lib", "/lib64", "/usr/bin", "/usr/sbin", "/usr/lib", "/usr/local/bin",
        "/usr/local/sbin", "/usr/local/lib", "/Library", "/System",
    ]),
];
