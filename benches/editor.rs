//! A real Neovim with a UI attached. The bench types keys in it and notes when signs (see `is_sign`) appear on the
//! screen.

use super::Subject;
use caliban::store::Project;
use rmpv::Value;
use std::io::{BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

/// The time after which a wait fails.
const LIMIT: Duration = Duration::from_secs(120);
const SIZE: (u32, u32) = (160, 45);
/// The width in columns of the chat of the floors, the minimal plugins in `floor.lua`: as wide as Caliban's chat on
/// this screen.
const WIDTH: &str = "64";

enum Received {
    Answer(u64, Result<Value, Value>),
    Seen(char, Instant),
}

pub(crate) struct Editor {
    child: Child,
    stdin: ChildStdin,
    received: Receiver<Received>,
    seen: Vec<(char, Instant)>,
    last_id: u64,
    typed: u32,
    home: tempfile::TempDir,
}

/// Whether a character is a sign that the bench looks for: a Braille character or a rune. No other text on the screen
/// contains such characters.
fn is_sign(c: char) -> bool {
    ('\u{2801}'..='\u{28ff}').contains(&c) || ('\u{16a0}'..='\u{16ea}').contains(&c)
}

impl Editor {
    pub(crate) fn start(subject: Subject, port: u16) -> Editor {
        let home = tempfile::Builder::new().prefix("caliban-bench-").tempdir().unwrap();
        let project = home.path().join("project");
        std::fs::create_dir_all(project.join(".git")).unwrap();
        std::fs::write(project.join("notes.txt"), "one line\n".repeat(100)).unwrap();
        let mut editor = Editor::spawn(subject, port, home);
        editor.request("nvim_command", vec!["edit notes.txt".into()]);
        editor
    }

    /// The time from an editor's start to its first screen, in a project with prepared sessions.
    pub(crate) fn first_screen(port: u16, prepare: impl Fn(&Project)) -> Duration {
        let home = tempfile::Builder::new().prefix("caliban-bench-").tempdir().unwrap();
        let project = home.path().join("project");
        std::fs::create_dir_all(project.join(".git")).unwrap();
        std::fs::write(project.join("first.txt"), "\u{16a0}\n").unwrap();
        prepare(&sessions(&home));
        let start = Instant::now();
        Editor::spawn(Subject::Caliban, port, home).wait('\u{16a0}') - start
    }

    /// The sessions of the editor's project.
    pub(crate) fn sessions(&self) -> Project {
        sessions(&self.home)
    }

    /// Starts Neovim, with `first.txt` if it exists.
    fn spawn(subject: Subject, port: u16, home: tempfile::TempDir) -> Editor {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let project = home.path().join("project");
        let named = std::env::var_os("NVIM").map(PathBuf::from).filter(|it| it.is_file());
        let nvim = named.unwrap_or_else(|| root.join("target/nvim/0.11/bin/nvim"));
        let mut command = Command::new(nvim);
        let script = if subject == Subject::Caliban { "init.lua" } else { "floor.lua" };
        let script = root.join("benches").join(script);
        command.arg("--embed").arg("-u").arg(root.join("benches/init.lua"));
        if subject != Subject::Caliban {
            command.arg("-c").arg(format!("luafile {}", script.display()));
        }
        if project.join("first.txt").exists() {
            command.arg("first.txt");
        }
        command.current_dir(&project).env_clear();
        for name in [
            "HOME",
            "XDG_CONFIG_HOME",
            "XDG_DATA_HOME",
            "XDG_STATE_HOME",
            "XDG_CACHE_HOME",
            "XDG_RUNTIME_DIR",
        ] {
            command.env(name, home.path());
        }
        command
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .envs([("LANG", "C.UTF-8"), ("TERM", "xterm-256color"), ("SHELL", "/bin/sh")])
            .env("BENCH_ROOT", root)
            .env("BENCH_BIN", env!("CARGO_BIN_EXE_caliban"))
            .env("BENCH_SELF", std::env::current_exe().unwrap())
            .env("BENCH_SUBJECT", subject.name())
            .env("BENCH_PORT", port.to_string())
            .env("BENCH_WIDTH", WIDTH)
            .env("ANTHROPIC_API_KEY", "key-of-the-bench")
            .env("ANTHROPIC_BASE_URL", format!("http://127.0.0.1:{port}"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let stdin = child.stdin.take().unwrap();
        let stdout = BufReader::with_capacity(1 << 16, child.stdout.take().unwrap());
        let (sender, received) = channel();
        std::thread::spawn(move || listen(stdout, &sender));
        let mut editor =
            Editor { child, stdin, received, seen: Vec::new(), last_id: 0, typed: 0, home };
        let options = ["rgb", "ext_linegrid"].map(|it| (Value::from(it), Value::from(true)));
        let size = [SIZE.0.into(), SIZE.1.into(), Value::Map(options.to_vec())];
        editor.request("nvim_ui_attach", size.to_vec());
        editor
    }

    /// The project's folder.
    pub(crate) fn project(&self) -> PathBuf {
        self.home.path().join("project")
    }

    /// Puts a file into the project.
    pub(crate) fn put(&self, name: &str, text: &str) {
        std::fs::write(self.home.path().join("project").join(name), text).unwrap();
    }

    /// Types keys and waits until all of them are handled and drawn.
    pub(crate) fn done(&mut self, keys: &str) -> Duration {
        let sent = Instant::now();
        self.keys(keys);
        self.lua("vim.cmd.redraw()", &[]);
        sent.elapsed()
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The process id of the editor's child program.
    pub(crate) fn program(&mut self) -> Option<u32> {
        let children = self.request("nvim_get_proc_children", vec![self.pid().into()]);
        u32::try_from(children[0].as_u64()?).ok()
    }

    pub(crate) fn lua(&mut self, code: &str, arguments: &[Value]) -> Value {
        self.request("nvim_exec_lua", vec![code.into(), Value::Array(arguments.to_vec())])
    }

    pub(crate) fn request(&mut self, method: &str, arguments: Vec<Value>) -> Value {
        self.last_id += 1;
        let id = self.last_id;
        self.write(vec![0.into(), id.into(), method.into(), Value::Array(arguments)]);
        loop {
            match self.received.recv_timeout(LIMIT).expect(method) {
                Received::Answer(of, result) if of == id => return result.unwrap(),
                Received::Answer(..) => {}
                Received::Seen(sign, at) => self.seen.push((sign, at)),
            }
        }
    }

    /// Types keys without waiting.
    pub(crate) fn keys(&mut self, keys: &str) {
        let arguments = vec![keys.into()];
        self.write(vec![2.into(), "nvim_input".into(), Value::Array(arguments)]);
    }

    fn write(&mut self, message: Vec<Value>) {
        let mut bytes = Vec::new();
        rmpv::encode::write_value(&mut bytes, &Value::Array(message)).unwrap();
        self.stdin.write_all(&bytes).unwrap();
    }

    /// Receives messages for this time.
    pub(crate) fn listen(&mut self, time: Duration) {
        let end = Instant::now() + time;
        while let Ok(received) =
            self.received.recv_timeout(end.saturating_duration_since(Instant::now()))
        {
            if let Received::Seen(sign, at) = received {
                self.seen.push((sign, at));
            }
        }
    }

    /// The time at which the sign appeared on the screen; `None` if it has not appeared.
    pub(crate) fn seen(&self, sign: char) -> Option<Instant> {
        self.seen.iter().find(|(seen, _)| *seen == sign).map(|(_, at)| *at)
    }

    pub(crate) fn forget_seen(&mut self) {
        self.seen.clear();
    }

    /// Types one sign in insert mode. Returns the time until it is on the screen.
    pub(crate) fn type_one(&mut self) -> Duration {
        self.typed += 1;
        // a new line begins, so no cell shows the same sign as before
        if self.typed.is_multiple_of(40) {
            self.keys("<C-u>");
        }
        let sign = char::from_u32(0x2801 + self.typed % 250).unwrap();
        self.seen.retain(|(seen, _)| *seen != sign);
        let sent = Instant::now();
        self.keys(&sign.to_string());
        self.wait(sign) - sent
    }

    /// Waits for a sign on the screen.
    pub(crate) fn wait(&mut self, sign: char) -> Instant {
        let start = Instant::now();
        loop {
            if let Some(at) = self.seen(sign) {
                return at;
            }
            if let Ok(Received::Seen(sign, at)) =
                self.received.recv_timeout(Duration::from_millis(100))
            {
                self.seen.push((sign, at));
            }
            assert!(start.elapsed() < LIMIT, "{sign:?} never came to the screen");
        }
    }
}

fn sessions(home: &tempfile::TempDir) -> Project {
    let root = std::fs::canonicalize(home.path().join("project")).unwrap();
    Project::new(&home.path().join("caliban/sessions"), &root)
}

impl Drop for Editor {
    fn drop(&mut self) {
        // The programs end with their editor.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn listen(mut stdout: impl std::io::Read, sender: &Sender<Received>) {
    while let Ok(Value::Array(mut message)) = rmpv::decode::read_value(&mut stdout) {
        let at = Instant::now();
        match message[0].as_u64() {
            Some(1) => {
                let result = message.pop().unwrap();
                let error = message.pop().unwrap();
                let answer = if error.is_nil() { Ok(result) } else { Err(error) };
                let _ = sender.send(Received::Answer(message[1].as_u64().unwrap(), answer));
            }
            Some(2) if message[1].as_str() == Some("redraw") => {
                for sign in signs(&message[2]) {
                    let _ = sender.send(Received::Seen(sign, at));
                }
            }
            _ => {}
        }
    }
}

/// The signs in the lines of a `redraw` (`:h ui-linegrid`).
fn signs(redraw: &Value) -> Vec<char> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let batches = redraw.as_array().into_iter().flatten();
    let lines = batches.filter(|batch| batch[0].as_str() == Some("grid_line"));
    let cells = lines.flat_map(|batch| batch.as_array().into_iter().flatten().skip(1));
    let cells = cells.flat_map(|line| list(&line[3]));
    cells.filter_map(|cell| cell[0].as_str()?.chars().next().filter(|it| is_sign(*it))).collect()
}
