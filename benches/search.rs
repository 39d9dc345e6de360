//! The tools `grep` and `glob` in 200,000 files, compared with the programs `rg` and `fd`. The bench takes the programs
//! from `target/bench-tools`, else from the `PATH`.

use super::stream::ranked;
use caliban::message::{CallId, Input, ToolCall};
use caliban::reach::{Folders, Reach};
use caliban::tool::{self, Desk, disk::Disk};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::mpsc;

const FOLDERS: usize = 2_000;
const FILES: usize = 100;
const TIMES: usize = 7;
/// How the programs are installed.
const INSTALL: &str = "cargo install --root target/bench-tools ripgrep fd-find";
/// The limit for the time of a tool divided by the time of its program.
const LIMIT: f64 = 1.2;

/// The rows of the table. Both sides run once before they are measured, so that the kernel has the files in memory.
pub(crate) fn table() -> String {
    let folder = tempfile::tempdir().unwrap();
    let root = fs::canonicalize(folder.path()).unwrap();
    for n in 0..FOLDERS {
        let below = root.join(format!("{}/{n}", n % 40));
        fs::create_dir_all(&below).unwrap();
        for file in 0..FILES {
            let text = format!("fn name_{n}_{file}() {{\n    call({file});\n}}\n").repeat(8);
            fs::write(below.join(format!("file_{file}.rs")), text).unwrap();
        }
    }
    let desk = desk(&root);
    let mut rows = format!(
        "| {} files, median of {TIMES}, ms | Caliban | program | factor | figure | |\n|---|--:|--:|--:|---|---|\n",
        FOLDERS * FILES
    );
    let rg = ["--hidden", "--no-require-git", "--line-number", "name_1999_99"];
    let fd = ["--hidden", "--no-require-git", "--type", "file", "--glob", "file_99.rs"];
    rows += &row(&desk, "grep", json!({ "pattern": "name_1999_99" }), (&["rg"], &rg));
    rows += &row(&desk, "glob", json!({ "pattern": "file_99.rs" }), (&["fd", "fdfind"], &fd));
    rows
}

fn desk(root: &Path) -> Desk {
    Desk {
        reach: Reach::new(&Folders { root: root.to_owned(), ..Folders::default() }),
        rules: Arc::default(),
        confinement: tool::confinement::Confinement::default(),
        jobs: tool::jobs::Jobs::default(),
        root: root.to_owned(),
        session: String::new(),
        project: None,
        home: None,
        config: root.join("config"),
        workspace: Arc::new(Disk { root: root.to_owned(), is_apart: false }),
        output: mpsc::unbounded_channel().0,
        tools: tool::own(),
        seen: None,
        agreed: None,
        skills: tool::skills::Usable::All,
        secrets: tool::environment::Secrets::default(),
        overflow: root.join("overflow"),
        program: PathBuf::new(),
        web: caliban::web::Web::new(Vec::new(), PathBuf::new()),
        servers: caliban::mcp::Servers::default(),
    }
}

/// The row of a tool. `program` has the names of the program and its arguments.
fn row(desk: &Desk, tool: &str, input: Value, program: (&[&str], &[&str])) -> String {
    let call = ToolCall { id: CallId("c".into()), tool: tool.into(), input: Input::Json(input) };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let own = median(|| {
        assert!(
            !runtime
                .block_on(tool::run(desk, &tool::Calls::default().of(desk, &call)))
                .answer
                .failed
        );
    });
    let found = program.0.iter().find_map(|name| other(name, program.1, &desk.root));
    let Some(theirs) = found else {
        let name = program.0[0];
        return format!("| {tool} | {own:.0} | `{name}` is missing: `{INSTALL}` | | | |\n");
    };
    let factor = own / theirs;
    let is = if factor <= LIMIT { "met" } else { "**short**" };
    format!("| {tool} | {own:.0} | {theirs:.0} | {factor:.2} | ≤ {LIMIT} | {is} |\n")
}

/// The time of a program; `None` if it is not installed.
fn other(name: &str, arguments: &[&str], root: &Path) -> Option<f64> {
    let installed = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/bench-tools/bin").join(name);
    let program = if installed.exists() { installed } else { PathBuf::from(name) };
    let mut command = Command::new(program);
    command.args(arguments).current_dir(root).stdin(Stdio::null()).stdout(Stdio::null());
    command.status().ok()?;
    Some(median(|| assert!(command.status().unwrap().success())))
}

/// The median of the times in milliseconds. The first run is not measured.
fn median(mut run: impl FnMut()) -> f64 {
    run();
    let times = (0..TIMES).map(|_| {
        let began = Instant::now();
        run();
        began.elapsed().as_secs_f64() * 1000.0
    });
    ranked(times.collect())[0]
}
