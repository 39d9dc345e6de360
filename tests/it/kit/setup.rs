//! A home folder and a project in a temporary directory, and the command and environment of a Neovim that runs in them.

use super::server::Server;
use super::{LIMIT, nvim_bin, root};
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::rc::Rc;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// The models that tests use by default. They are fixed, so that a change of Caliban's default models does not break
/// unrelated tests. They are in the order in which Caliban looks for their providers.
const MODELS: [&str; 3] = ["anthropic/claude-sonnet-4-5", "openai/gpt-5", "gemini/gemini-2.5-pro"];

/// The number of folders that this process has made for tests.
static FOLDERS: AtomicU32 = AtomicU32::new(0);

/// A home, a project and settings. Starting Neovim again with the same `Setup` uses the same home and project.
#[derive(Clone)]
pub struct Setup {
    place: Rc<Place>,
    config: String,
    before: String,
    environment: Vec<(String, String)>,
    /// The index in `MODELS` of the model in use by default.
    model: Option<usize>,
    /// Columns and rows of the attached UI; `None` for no UI.
    pub(super) size: Option<(u16, u16)>,
    titles: bool,
    /// Whether the user is asked about the project's instructions.
    asks: bool,
    /// Whether everyday commands may run without a question.
    is_everyday: bool,
    /// A folder of the project that Neovim finds on a disk of its own, and the disk's size in kilobytes.
    small: Option<(PathBuf, u32)>,
}

/// The temporary directory. Dropping it first kills the processes that still run in it.
struct Place(tempfile::TempDir);

impl Drop for Place {
    fn drop(&mut self) {
        end_all(&self.0.path().to_string_lossy());
        #[cfg(target_os = "linux")]
        {
            let adopter = rustix::process::child_subreaper().unwrap();
            let is_wrong = adopter.is_some() && !std::thread::panicking();
            assert!(!is_wrong, "a test lets this process adopt orphans: see `kit::alone`");
        }
    }
}

impl Default for Setup {
    fn default() -> Self {
        Setup::new()
    }
}

impl Setup {
    /// An empty project (with a `.git` folder, so that it is its own root), no configuration, no keys.
    pub fn new() -> Setup {
        let parent = std::env::temp_dir().canonicalize().unwrap();
        let place = numbered(&parent);
        let setup = Setup {
            place: Rc::new(Place(place)),
            config: "{}".into(),
            before: String::new(),
            environment: vec![("CALIBAN_DEBUG".into(), "1".into())],
            model: None,
            size: Some((120, 40)),
            titles: false,
            asks: false,
            is_everyday: false,
            small: None,
        };
        for dir in ["home", "config", "data", "state", "cache", "run", "tmp", "project/.git"] {
            fs::create_dir_all(setup.dir().join(dir)).unwrap();
        }
        setup
    }

    /// Writes a file of the project, and creates its folders.
    #[must_use]
    pub fn file(self, path: &str, content: impl AsRef<[u8]>) -> Setup {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
        self
    }

    /// Sets the permissions of a file or folder of the project.
    #[must_use]
    pub fn mode(self, path: &str, mode: u32) -> Setup {
        fs::set_permissions(self.path(path), fs::Permissions::from_mode(mode)).unwrap();
        self
    }

    /// Sets `vim.g.caliban`, given as the source of a Lua table. A missing `bin` is added.
    #[must_use]
    pub fn config(mut self, table: &str) -> Setup {
        self.config = table.into();
        self
    }

    /// Adds Lua code to the end of the init file, which runs before plugins load.
    #[must_use]
    pub fn before(mut self, lua: &str) -> Setup {
        self.before.push_str(lua);
        self.before.push('\n');
        self
    }

    /// Sets an environment variable. The environment otherwise has only the variables that Neovim needs.
    #[must_use]
    pub fn env(mut self, name: &str, value: &str) -> Setup {
        self.environment.push((name.into(), value.into()));
        self
    }

    /// Removes an environment variable, such as `CALIBAN_DEBUG`, which is 1 by default.
    #[must_use]
    pub fn without(mut self, name: &str) -> Setup {
        self.environment.retain(|(key, _)| key != name);
        self
    }

    /// Sets Anthropic's key and base URL, so that Caliban finds Anthropic, at this server.
    #[must_use]
    pub fn anthropic(self, server: &Server) -> Setup {
        self.asking(0)
            .env("ANTHROPIC_API_KEY", "key-of-the-test")
            .env("ANTHROPIC_BASE_URL", &server.url())
    }

    fn asking(mut self, model: usize) -> Setup {
        self.model = Some(self.model.map_or(model, |it| it.min(model)));
        self
    }

    /// Lets Caliban ask the model for a title, as it does by default. Without this call, Caliban requests no title.
    #[must_use]
    pub fn titled(mut self) -> Setup {
        self.titles = true;
        self
    }

    /// Uses Caliban's default `safe_commands = true`. In the other tests every command needs consent.
    #[must_use]
    pub fn everyday(mut self) -> Setup {
        self.is_everyday = true;
        self
    }

    /// Uses Caliban's default `instructions = 'ask'`. The other tests use `'always'`.
    #[must_use]
    pub fn cautious(mut self) -> Setup {
        self.asks = true;
        self
    }

    /// Puts a folder of the project on a disk of this size, which only Neovim and its processes see. The disk is empty
    /// when Neovim starts.
    #[must_use]
    pub fn small_disk(mut self, folder: &str, kilobytes: u32) -> Setup {
        let folder = self.path(folder);
        fs::create_dir_all(&folder).unwrap();
        self.small = Some((folder, kilobytes));
        self
    }

    /// Uses Caliban's default model of the provider that is found, instead of one of `MODELS`.
    #[must_use]
    pub fn default_model(mut self) -> Setup {
        self.model = None;
        self
    }

    /// Like `anthropic`, but at an address of another machine. The server acts as a proxy to it.
    #[must_use]
    pub fn anthropic_elsewhere(self, server: &Server) -> Setup {
        self.asking(0)
            .env("ANTHROPIC_API_KEY", "key-of-the-test")
            .env("http_proxy", &server.url())
            .config("{ providers = { anthropic = { base_url = 'http://models.test' } } }")
    }

    /// Like `anthropic`, for `OpenAI`'s Chat Completions.
    #[must_use]
    pub fn openai(self, server: &Server) -> Setup {
        let url = format!("{}/v1", server.url());
        self.asking(1).env("OPENAI_API_KEY", "key-of-the-test").env("OPENAI_BASE_URL", &url)
    }

    /// Like `anthropic`, for Gemini.
    #[must_use]
    pub fn gemini(self, server: &Server) -> Setup {
        self.asking(2)
            .env("GEMINI_API_KEY", "key-of-the-test")
            .env("GOOGLE_GEMINI_BASE_URL", &server.url())
    }

    /// Like `anthropic`, for a model of Ollama. The model is configured, so that Caliban does not look for a server.
    #[must_use]
    pub fn ollama(self, server: &Server) -> Setup {
        self.env("CALIBAN_MODEL", "ollama/qwen3:8b").env("OLLAMA_HOST", &server.url())
    }

    #[must_use]
    pub fn size(mut self, columns: u16, rows: u16) -> Setup {
        self.size = Some((columns, rows));
        self
    }

    /// Lets this bash script start the program, whose path is in `$KIT_BIN`. The setting `bin` in the configuration is
    /// the script; the configuration has no other settings.
    #[must_use]
    pub fn started_by(self, script: &str) -> Setup {
        let bin = self.script(script);
        self.config(&format!("{{ bin = '{bin}' }}"))
    }

    /// Writes this bash script to an executable file outside the project, and returns its path.
    pub fn script(&self, script: &str) -> String {
        let path = self.dir().join("start");
        fs::write(&path, format!("#!/usr/bin/env bash\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path.display().to_string()
    }

    /// Starts without a UI: there is no screen then.
    #[must_use]
    pub fn headless(mut self) -> Setup {
        self.size = None;
        self
    }

    /// The temporary directory, which contains `home`, `config`, `data`, `state`, `cache` and `project`.
    pub fn dir(&self) -> &Path {
        self.place.0.path()
    }

    /// The records of open reviews on disk. A temporary file that is still being written is no record.
    pub fn review_records(&self) -> Vec<PathBuf> {
        let projects = fs::read_dir(self.dir().join("data/caliban/sessions")).unwrap().flatten();
        let files = projects.flat_map(|it| fs::read_dir(it.path()).unwrap().flatten());
        let is_record = |it: &PathBuf| {
            let name = it.file_name().unwrap().to_string_lossy();
            name.contains(".review-") && !name.ends_with(".tmp")
        };
        files.map(|it| it.path()).filter(is_record).collect()
    }

    /// The folder with the files of the project's conversations. Panics unless there is exactly one.
    pub fn sessions(&self) -> PathBuf {
        let all = fs::read_dir(self.dir().join("data/caliban/sessions")).unwrap();
        let mut found: Vec<PathBuf> = all.map(|it| it.unwrap().path()).collect();
        assert_eq!(found.len(), 1, "{found:?}");
        found.remove(0)
    }

    /// A path in the project; "" is the project.
    pub fn path(&self, path: &str) -> PathBuf {
        let project = self.dir().join("project");
        if path.is_empty() { project } else { project.join(path) }
    }

    /// The text of a project file on disk; `None` if there is no such file.
    pub fn on_disk(&self, path: &str) -> Option<String> {
        fs::read(self.path(path)).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    }

    /// The text of the program's debug log.
    pub fn debug_log(&self) -> String {
        let log = fs::read(self.dir().join("cache/caliban/debug.log")).unwrap_or_default();
        String::from_utf8_lossy(&log).into_owned()
    }

    /// The id and the command line of each running process that was started in this setup, whatever its parent is now.
    pub fn processes(&self) -> Vec<(u32, String)> {
        processes(&self.dir().to_string_lossy())
    }

    /// The command that starts Neovim. Every process started from it has `run` in its environment.
    pub(super) fn command(&self, run: &str) -> Command {
        let mut command = self.neovim(run);
        command.arg("--embed");
        if self.size.is_none() {
            command.arg("--headless");
        }
        command
    }

    /// The command that starts a Neovim without a window, which carries out this Ex command.
    pub fn scripted(&self, line: &str) -> Command {
        let mut command = self.neovim("");
        command.args(["--headless", "-c", line]).stdin(std::process::Stdio::null());
        command
    }

    fn neovim(&self, run: &str) -> Command {
        let dir = self.dir();
        let init = dir.join("setup.lua");
        let source = format!(
            "vim.g.caliban = vim.tbl_extend('keep', {}, {{ bin = vim.env.KIT_BIN{} }})\n{}",
            self.config,
            [
                if self.titles { "" } else { ", titles = false" },
                if self.asks { "" } else { ", instructions = 'always'" },
                if self.is_everyday { "" } else { ", safe_commands = false" },
            ]
            .concat(),
            self.before
        );
        fs::write(&init, source).unwrap();
        let mut command = match &self.small {
            None => without_privileges(nvim_bin()),
            Some((folder, kilobytes)) => on_small_disk(folder, *kilobytes),
        };
        command.arg("-u").arg(root().join("tests/minimal_init.lua"));
        self.surround(&mut command);
        command.env("KIT_ROOT", root()).env("KIT_SETUP", init);
        command.env("KIT_RUN", run);
        command.env("KIT_BIN", env!("CARGO_BIN_EXE_caliban"));
        // a test may replace these variables
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command
    }
}

impl Setup {
    /// The command that runs the program with these arguments in the project, without a Neovim.
    pub fn program(&self, arguments: &[&str]) -> Command {
        let mut command = without_privileges(env!("CARGO_BIN_EXE_caliban").into());
        command.args(arguments);
        self.surround(&mut command);
        command
    }

    /// Sets the working directory and the environment.
    fn surround(&self, command: &mut Command) {
        command.current_dir(self.path("")).env_clear();
        for (name, value) in base_environment(self.dir()) {
            command.env(name, value);
        }
        if let Some(model) = self.model {
            command.env("CALIBAN_MODEL", MODELS[model]);
        }
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
    }
}

/// A new folder whose name ends in six digits. With letters, the name of an arbitrary run would match what a test types.
fn numbered(parent: &Path) -> tempfile::TempDir {
    loop {
        let number = FOLDERS.fetch_add(1, Ordering::Relaxed).wrapping_add(std::process::id() * 31);
        let name = format!("caliban-it-{:06}", number % 1_000_000);
        match tempfile::Builder::new().prefix(&name).rand_bytes(0).tempdir_in(parent) {
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => (),
            made => return made.unwrap(),
        }
    }
}

/// The path of the program `setpriv`. To start a program whose path is not given, the standard library first makes a
/// copy of this large process, which takes long.
static SETPRIV: LazyLock<PathBuf> = LazyLock::new(|| on_path("setpriv"));

/// Runs the program without root's right to read and write all files, so that tests of permissions have the same result
/// for root.
fn without_privileges(program: PathBuf) -> Command {
    if !rustix::process::geteuid().is_root() {
        return Command::new(program);
    }
    let mut command = Command::new(&*SETPRIV);
    command.arg("--bounding-set=-dac_override,-dac_read_search").arg("--").arg(program);
    command
}

/// Runs Neovim in a mount namespace of its own, in which the folder is a disk of this size.
fn on_small_disk(folder: &Path, kilobytes: u32) -> Command {
    let mut command = Command::new("unshare");
    let script = "mount -t tmpfs -o size=${1}k small \"$0\" && shift && exec \"$@\"";
    command.args(["-Urm", "sh", "-c", script]).arg(folder).arg(kilobytes.to_string());
    command.arg(nvim_bin());
    command
}

/// The path of a program that is in a folder of `PATH`.
fn on_path(name: &str) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let candidates = std::env::split_paths(&path).map(|it| it.join(name));
    candidates.into_iter().find(|it| it.is_file()).unwrap_or_else(|| name.into())
}

fn base_environment(dir: &Path) -> Vec<(&'static str, OsString)> {
    let at = |name: &str| dir.join(name).into_os_string();
    vec![
        ("PATH", std::env::var_os("PATH").unwrap_or_default()),
        ("HOME", at("home")),
        ("XDG_CONFIG_HOME", at("config")),
        ("XDG_DATA_HOME", at("data")),
        ("XDG_STATE_HOME", at("state")),
        ("XDG_CACHE_HOME", at("cache")),
        ("XDG_RUNTIME_DIR", at("run")),
        ("TMPDIR", at("tmp")),
        ("LANG", "C.UTF-8".into()),
        ("TERM", "xterm-256color".into()),
        ("SHELL", "/bin/sh".into()),
    ]
}

/// Every process with `needle` in its environment. Processes cannot be found by their parents: commands leave their
/// group, and their parent may be dead.
fn processes(needle: &str) -> Vec<(u32, String)> {
    let Ok(entries) = fs::read_dir("/proc") else { return processes_of_ps(needle) };
    let mut found = Vec::new();
    for entry in entries.flatten() {
        let Ok(pid) = entry.file_name().to_string_lossy().parse::<u32>() else { continue };
        let environment = fs::read(entry.path().join("environ")).unwrap_or_default();
        if String::from_utf8_lossy(&environment).contains(needle) {
            let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
            found.push((pid, String::from_utf8_lossy(&line).replace('\0', " ").trim_end().into()));
        }
    }
    found.retain(|(_, line): &(u32, String)| !line.is_empty());
    found
}

fn processes_of_ps(needle: &str) -> Vec<(u32, String)> {
    let output = Command::new("ps").args(["axeww", "-o", "pid=,command="]).output().unwrap();
    let lines = String::from_utf8_lossy(&output.stdout).into_owned();
    let matching = lines.lines().filter(|line| line.contains(needle));
    matching
        .filter_map(|line| {
            let (pid, command) = line.trim_start().split_once(' ')?;
            Some((pid.parse().ok()?, command.to_owned()))
        })
        .collect()
}

/// Kills every process with `needle` in its environment, also processes that start meanwhile, and waits until all have
/// ended.
pub(super) fn end_all(needle: &str) {
    let start = Instant::now();
    while start.elapsed() < LIMIT {
        let left = processes(needle);
        if left.is_empty() {
            return;
        }
        for (pid, _) in left {
            kill(pid);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Kills a process with SIGKILL, if it still exists.
pub fn kill(pid: u32) {
    signal(pid, rustix::process::Signal::KILL);
}

/// Sends a signal to a process, if it still exists.
pub fn signal(pid: u32, signal: rustix::process::Signal) {
    let pid = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw);
    if let Some(pid) = pid {
        let _ = rustix::process::kill_process(pid, signal);
    }
}
