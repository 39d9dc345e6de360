//! Operates a real Neovim over RPC as a user would: types keys and reads the screen.

use super::LIMIT;
use super::grid::Grid;
use super::setup::{Setup, end_all, kill, signal};
use expect_test::Expect;
use rmpv::Value;
use std::cell::{Cell, RefCell};
use std::fs::File;
use std::io::{BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// How long to wait for messages before a condition is checked again.
const TICK: Duration = Duration::from_millis(10);
/// If this many checks in a row find Neovim blocked, Neovim counts as waiting for a key.
const BLOCKED: u32 = 50;
/// The number of times that this process has started Neovim.
static RUNS: AtomicU32 = AtomicU32::new(0);

/// One running Neovim. Dropping it kills Neovim and every process that was started from it.
pub struct Nvim {
    /// The home and the project of this Neovim.
    pub setup: Setup,
    child: RefCell<Child>,
    stdin: RefCell<ChildStdin>,
    incoming: Receiver<Value>,
    answers: RefCell<Vec<(u64, Result<Value, String>)>>,
    last_id: Cell<u64>,
    /// The screen as last drawn.
    pub grid: RefCell<Grid>,
    stderr: PathBuf,
    /// Whether the test has asked Neovim to quit. If so, a wait does not fail when Neovim ends.
    left: Cell<bool>,
    /// A value in the environment of every process started from this Neovim. The value identifies these processes.
    run: String,
}

impl Nvim {
    /// Starts Neovim and waits until it has drawn its first screen.
    pub fn start(setup: &Setup) -> Nvim {
        let stderr = setup.dir().join("stderr");
        let run = format!("{}#{}.", setup.dir().display(), RUNS.fetch_add(1, Ordering::Relaxed));
        let mut child = setup
            .command(&run)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(File::create(&stderr).unwrap())
            .spawn()
            .unwrap();
        let stdin = child.stdin.take().unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let (sender, incoming) = channel();
        std::thread::spawn(move || {
            while let Ok(message) = rmpv::decode::read_value(&mut stdout) {
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        let nvim = Nvim {
            setup: setup.clone(),
            child: RefCell::new(child),
            stdin: RefCell::new(stdin),
            incoming,
            answers: RefCell::default(),
            last_id: Cell::new(0),
            grid: RefCell::default(),
            stderr,
            left: Cell::new(false),
            run,
        };
        if let Some((columns, rows)) = setup.size {
            let options = ["rgb", "ext_linegrid", "ext_hlstate"];
            let options = options.map(|name| (Value::from(name), Value::from(true))).to_vec();
            nvim.request("nvim_ui_attach", vec![columns.into(), rows.into(), Value::Map(options)]);
        }
        nvim.request("nvim_eval", vec!["1".into()]);
        nvim
    }

    /// Types keys in Neovim's notation (`<Esc>`). Returns once Neovim has processed the keys or waits for another key.
    pub fn keys(&self, keys: &str) {
        let mut rest = keys;
        while !rest.is_empty() {
            let taken = self.request("nvim_input", vec![rest.into()]).as_u64().unwrap();
            rest = &rest[usize::try_from(taken).unwrap()..];
        }
        let id = self.send("nvim_eval", vec!["1".into()]);
        let _ = self.answer(id, 3);
    }

    /// Resizes the terminal. Returns once Neovim has drawn the new size.
    pub fn resize(&self, columns: u16, rows: u16) {
        self.request("nvim_ui_try_resize", vec![columns.into(), rows.into()]);
        self.wait(
            |nvim| nvim.grid.borrow().size() == (columns.into(), rows.into()),
            "the screen to be resized",
        );
        self.request("nvim_eval", vec!["1".into()]);
    }

    /// Runs Lua code, which has the arguments as `...`, and returns its result. Panics on a Lua error.
    pub fn lua(&self, code: &str, arguments: &[Value]) -> Value {
        self.request("nvim_exec_lua", vec![code.into(), Value::Array(arguments.to_vec())])
    }

    /// Like `lua`, but returns a Lua error instead of panicking.
    pub fn try_lua(&self, code: &str, arguments: &[Value]) -> Result<Value, String> {
        self.try_request("nvim_exec_lua", vec![code.into(), Value::Array(arguments.to_vec())])
    }

    /// Runs Lua code and returns `tostring` of its result.
    pub fn lua_str(&self, code: &str) -> String {
        let code = format!("return tostring((function() {code} end)())");
        self.lua(&code, &[]).as_str().unwrap().to_owned()
    }

    /// Runs Lua code and returns its result, encoded as JSON by Neovim.
    pub fn lua_json(&self, code: &str) -> serde_json::Value {
        let code = format!("return vim.json.encode((function() {code} end)())");
        serde_json::from_str(self.lua(&code, &[]).as_str().unwrap()).unwrap()
    }

    /// Runs an Ex command. Panics on an error.
    pub fn command(&self, command: &str) {
        self.request("nvim_command", vec![command.into()]);
    }

    /// The rows of the screen without trailing blanks.
    pub fn screen(&self) -> String {
        self.listen(Duration::ZERO);
        self.grid.borrow().text()
    }

    /// The screen, in which text in a highlight group whose name starts with `prefix` is written as `⟦Group|text⟧`.
    /// Caliban's groups are shown under their own names, even if they are links to other groups.
    pub fn screen_marked(&self, prefix: &str) -> String {
        self.listen(Duration::ZERO);
        self.grid.borrow().marked(prefix)
    }

    /// The names of the highlight groups at a cell, from 0.
    pub fn hl_at(&self, row: usize, column: usize) -> Vec<String> {
        self.listen(Duration::ZERO);
        self.grid.borrow().at(row, column)
    }

    /// Waits until `text` is on the screen and returns the highlight groups that cover all of its first occurrence.
    pub fn hl_of(&self, text: &str) -> Vec<String> {
        self.wait_screen(text);
        self.grid.borrow().of(text).unwrap_or_default()
    }

    /// Makes `screen_marked` name Caliban's groups that were defined after the start.
    pub fn name_groups(&self) {
        self.lua("KitNameGroups()", &[]);
    }

    /// Waits until `text` is on the screen, within one row.
    pub fn wait_screen(&self, text: &str) {
        self.wait(
            |nvim| nvim.grid.borrow().find(text).is_some(),
            &format!("{text:?} on the screen"),
        );
    }

    /// Waits until `shown` returns the expected snapshot. If it does not within the limit, fails like
    /// `expected.assert_eq`.
    #[expect(clippy::needless_pass_by_value, reason = "a call gives its snapshot away")]
    #[track_caller]
    pub fn wait_expect(&self, expected: Expect, shown: impl Fn(&Nvim) -> String) {
        let wanted = trimmed(expected.data());
        let start = Instant::now();
        while shown(self) != wanted && start.elapsed() < LIMIT {
            self.listen(TICK);
        }
        expected.assert_eq(&shown(self));
    }

    /// Waits until `text` is not on the screen.
    pub fn wait_gone(&self, text: &str) {
        self.wait(|nvim| nvim.grid.borrow().find(text).is_none(), &format!("{text:?} gone"));
    }

    /// Waits until `condition` is true. After `LIMIT` panics with `awaited`, the screen, `:messages` and the end of the
    /// debug log.
    pub fn wait(&self, condition: impl Fn(&Nvim) -> bool, awaited: &str) {
        self.wait_within(LIMIT, condition, awaited);
    }

    /// Like `wait`, with another limit.
    pub fn wait_within(&self, limit: Duration, condition: impl Fn(&Nvim) -> bool, awaited: &str) {
        let start = Instant::now();
        loop {
            self.listen(Duration::ZERO);
            if condition(self) {
                return;
            }
            if start.elapsed() > limit {
                self.fail(&format!("waited in vain for {awaited}"));
            }
            if !self.listen(TICK) && !self.left.get() && self.exited().is_some() {
                self.fail(&format!("Neovim ended before {awaited}"));
            }
        }
    }

    /// The text of the buffer whose name ends with `name`. Panics unless there is exactly one.
    pub fn buffer(&self, name: &str) -> String {
        let code = "local found = {}
            for _, buf in ipairs(vim.api.nvim_list_bufs()) do
              if vim.endswith(vim.api.nvim_buf_get_name(buf), ...) then found[#found + 1] = buf end
            end
            assert(#found == 1, #found .. ' buffers are named ' .. ...)
            return table.concat(vim.api.nvim_buf_get_lines(found[1], 0, -1, false), '\\n')";
        self.lua(code, &[name.into()]).as_str().unwrap().to_owned()
    }

    /// Whether Neovim waits for a key and answers no requests until then, as in a hit-enter prompt or after `f`.
    pub fn is_blocked(&self) -> bool {
        let mode = self.request("nvim_get_mode", vec![]);
        let fields = mode.as_map().unwrap();
        fields.iter().any(|(key, value)| key.as_str() == Some("blocking") && value == &true.into())
    }

    pub fn pid(&self) -> u32 {
        self.child.borrow().id()
    }

    /// Kills Neovim alone, with SIGKILL.
    pub fn kill(&self) {
        kill(self.pid());
        self.wait_exit();
    }

    /// Ends Neovim alone as the end of its terminal does, with SIGHUP.
    pub fn hang_up(&self) {
        signal(self.pid(), rustix::process::Signal::HUP);
        self.wait_exit();
    }

    /// Types keys that make Neovim quit, and waits until it has ended.
    pub fn quit_with(&self, keys: &str) -> ExitStatus {
        self.send("nvim_input", vec![keys.into()]);
        self.wait_exit()
    }

    /// Called after Neovim has ended: waits until its program has ended too, because the program may still be saving.
    pub fn wait_program_end(&self) {
        let start = Instant::now();
        while !self.setup.processes().is_empty() {
            assert!(start.elapsed() < LIMIT, "still running: {:?}", self.setup.processes());
            self.listen(TICK);
        }
    }

    fn wait_exit(&self) -> ExitStatus {
        self.left.set(true);
        let start = Instant::now();
        loop {
            if let Some(status) = self.exited() {
                return status;
            }
            assert!(
                start.elapsed() < LIMIT,
                "Neovim did not end; the screen:\n{}",
                self.grid.borrow().text()
            );
            self.listen(TICK);
        }
    }

    fn exited(&self) -> Option<ExitStatus> {
        self.child.borrow_mut().try_wait().unwrap()
    }

    /// Calls a function of Neovim's API. Panics on an error.
    pub fn request(&self, method: &str, arguments: Vec<Value>) -> Value {
        self.try_request(method, arguments)
            .unwrap_or_else(|error| self.fail(&format!("{method}: {error}")))
    }

    pub fn try_request(&self, method: &str, arguments: Vec<Value>) -> Result<Value, String> {
        let id = self.send(method, arguments);
        let fast = ["nvim_input", "nvim_get_mode"].contains(&method);
        let answer = self.answer(id, if fast { u32::MAX } else { BLOCKED });
        answer.unwrap_or_else(|| {
            self.fail(&format!("{method} is not answered: Neovim waits for a key"))
        })
    }

    fn send(&self, method: &str, arguments: Vec<Value>) -> u64 {
        let id = self.last_id.get() + 1;
        self.last_id.set(id);
        let message = vec![0.into(), id.into(), method.into(), Value::Array(arguments)];
        let mut bytes = Vec::new();
        rmpv::encode::write_value(&mut bytes, &Value::Array(message)).unwrap();
        // A write fails if Neovim has ended. `answer` then notices the end.
        let _ = self.stdin.borrow_mut().write_all(&bytes);
        id
    }

    /// Waits for the answer to a request; `None` if Neovim was found blocked `patience` times in a row.
    fn answer(&self, id: u64, patience: u32) -> Option<Result<Value, String>> {
        let start = Instant::now();
        let mut blocked = 0;
        loop {
            let mut answers = self.answers.borrow_mut();
            if let Some(at) = answers.iter().position(|(of, _)| *of == id) {
                return Some(answers.swap_remove(at).1);
            }
            drop(answers);
            if self.listen(TICK) {
                continue;
            }
            if self.exited().is_some() || start.elapsed() > LIMIT {
                self.fail("Neovim ended, or hangs");
            }
            if patience < u32::MAX {
                blocked = if self.is_blocked() { blocked + 1 } else { 0 };
            }
            if blocked >= patience {
                return None;
            }
        }
    }

    /// Processes the messages that have arrived, and waits at most `limit` for the first one. Returns false if none has
    /// arrived.
    fn listen(&self, limit: Duration) -> bool {
        let mut any = false;
        loop {
            match self.incoming.recv_timeout(if any { Duration::ZERO } else { limit }) {
                Ok(message) => self.take(message),
                Err(RecvTimeoutError::Timeout) => return any,
                Err(RecvTimeoutError::Disconnected) => {
                    // The channel is closed, so without a pause the caller's loop would not rest.
                    if !any {
                        std::thread::sleep(limit);
                    }
                    return any;
                }
            }
            any = true;
        }
    }

    fn take(&self, message: Value) {
        let Value::Array(mut parts) = message else { return };
        match parts[0].as_u64() {
            Some(1) => {
                let result = parts.pop().unwrap();
                let error = parts.pop().unwrap();
                let answer = if error.is_nil() { Ok(result) } else { Err(error_text(&error)) };
                self.answers.borrow_mut().push((parts[1].as_u64().unwrap(), answer));
            }
            Some(2) if parts[1].as_str() == Some("redraw") => {
                self.grid.borrow_mut().redraw(parts[2].as_array().unwrap());
            }
            _ => {}
        }
    }

    /// Panics with everything that is known about the failure. Sends only requests that Neovim answers even while it is
    /// blocked.
    fn fail(&self, what: &str) -> ! {
        let messages = self.messages();
        let stderr = std::fs::read_to_string(&self.stderr).unwrap_or_default();
        let log = self.setup.debug_log();
        let tail =
            log.lines().skip(log.lines().count().saturating_sub(30)).collect::<Vec<_>>().join("\n");
        panic!(
            "{what}\n──── screen\n{}\n──── :messages\n{messages}\n──── stderr\n{stderr}\n──── debug log\n{tail}\n────",
            self.grid.borrow().text()
        )
    }

    fn messages(&self) -> String {
        if self.exited().is_some() {
            return "(Neovim has ended)".into();
        }
        let command = Value::Map(vec![("output".into(), true.into())]);
        let id = self.send("nvim_exec2", vec!["messages".into(), command]);
        let start = Instant::now();
        while start.elapsed() < Duration::from_millis(500) {
            self.listen(TICK);
            let answers = self.answers.borrow();
            if let Some((_, Ok(Value::Map(fields)))) = answers.iter().find(|(of, _)| *of == id) {
                let output = fields.first().and_then(|(_, text)| text.as_str());
                return output.unwrap_or_default().to_owned();
            }
        }
        "(Neovim does not answer)".into()
    }
}

impl Drop for Nvim {
    fn drop(&mut self) {
        kill(self.pid());
        let _ = self.child.borrow_mut().wait();
        end_all(&self.run);
    }
}

/// A snapshot's text without its indentation and its leading line break, as `expect_test` compares it.
fn trimmed(data: &str) -> String {
    if !data.contains('\n') {
        return data.to_owned();
    }
    let text = data.strip_prefix('\n').unwrap_or(data);
    let full = text.lines().filter(|it| !it.trim().is_empty());
    let indent = full.map(|it| it.len() - it.trim_start().len()).min().unwrap_or(0);
    let mut cut = String::new();
    for line in text.split_inclusive('\n') {
        cut += if line.len() <= indent { line.trim_start_matches(' ') } else { &line[indent..] };
    }
    cut
}

/// The message of an API error, `[type, message]`.
fn error_text(error: &Value) -> String {
    let text = error.as_array().and_then(|parts| parts.get(1)).and_then(Value::as_str);
    text.map_or_else(|| error.to_string(), str::to_owned)
}
