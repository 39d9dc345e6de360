//! The cost of deciding whether a path may be read or written, and whether a command may run.

use super::report::median;
use caliban::event::Access;
use caliban::reach::{Folders, Reach};
use caliban::rules::{self, Origin, Rules, WrittenRule};
use caliban::sandbox::network::{Files, Held, Network};
use caliban::sandbox::{self, Sandbox};
use caliban::supervisor::{self, Supervised};
use caliban::tool::tree::OnDisk;
use caliban::web::Web;
use caliban::web::proxy::{Gate, Proxy};
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::watch;

/// The limit for the decision about one path, in microseconds.
const LIMIT: f64 = 20.0;
const TIMES: u32 = 20_000;
/// The limit for parsing and judging one command, in microseconds.
const JUDGED: f64 = 1_000.0;
/// The limit for judging a command that reads many files, in microseconds.
const LOOKED: f64 = 20_000.0;
/// The number of files in the repository for this.
const FILES: usize = 50_000;
/// The most milliseconds by which the sandbox may delay a command.
const SANDBOXED: f64 = 10.0;

fn reach(root: &str) -> Reach {
    let home = PathBuf::from("/home/user");
    let below = |it: &str| home.join(it);
    Reach::new(&Folders {
        root: root.into(),
        named: vec![
            (home.clone(), "~".into()),
            (below(".config"), ".config".into()),
            (below(".local/share"), ".local/share".into()),
            (below(".local/state"), ".local/state".into()),
            (below(".cache"), ".cache".into()),
        ],
        own: vec![below(".local/share/caliban"), below(".config/caliban"), below(".cache/caliban")],
        open: vec![below(".cache/caliban/outputs"), below(".config/caliban/skills")],
    })
}

/// The rows of the table.
pub(crate) fn table() -> String {
    let mut rows = "| **what may be read and written, µs a path** | | | | | | | |\n".to_owned();
    let cases = [
        ("a source file", "/home/user/src/app/src/parser/lexer/tokens.rs".to_owned()),
        (
            "below the home folder's settings",
            "/home/user/.config/nvim/lua/plugins/x.lua".to_owned(),
        ),
        ("twenty folders deep", format!("/home/user/src/app/{}x.rs", "folder/".repeat(20))),
        ("not ASCII, in capitals", "/home/user/src/app/ÜBER/.GİT/Ärger.RS".to_owned()),
        ("a name of 255 bytes", format!("/home/user/src/app/{}.rs", "x.*".repeat(84))),
    ];
    for root in ["/home/user/src/app", "/home/user"] {
        let reach = reach(root);
        for (name, path) in &cases {
            let path = PathBuf::from(path);
            let start = Instant::now();
            for _ in 0..TIMES {
                black_box(reach.reading(black_box(&path)));
            }
            let each = start.elapsed().as_secs_f64() * 1e6 / f64::from(TIMES);
            let is = if each <= LIMIT { "met" } else { "**short**" };
            rows += &format!("| {name}, in {root} | | | {each:.2} | | | ≤ {LIMIT} | {is} |\n");
        }
    }
    let start = Instant::now();
    black_box(reach("/home/user"));
    let once = start.elapsed().as_secs_f64() * 1e6;
    rows += &format!("| made ready, once a start | | | {once:.0} | | | | |\n");
    rows + &commands() + &readers() + &sandboxed() + &in_the_editor()
}

/// The rows for a command in the sandbox and without it.
fn sandboxed() -> String {
    let program = Path::new(env!("CARGO_BIN_EXE_caliban"));
    let Some(strength) = sandbox::probed(program) else { return String::new() };
    let folder = tempfile::tempdir().unwrap();
    let limits = Sandbox {
        strength,
        writable: vec![folder.path().to_owned()],
        pinned: Vec::new(),
        fixed: vec![PathBuf::from("/etc")],
        hidden: vec![PathBuf::from("/root"), PathBuf::from("/home")],
        shown: Vec::new(),
        temporary: None,
        network: false,
        holder: None,
        proxy: false,
        gate: None,
        kept: Vec::new(),
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let held = Held { network: true, files: Files::Real };
    let network = runtime.block_on(Network::start(program, &held)).ok();
    let holder = network.as_ref().and_then(Network::holder);
    let proxied = Sandbox { proxy: true, ..limits.clone() };
    let shared = Sandbox { holder, ..proxied.clone() };
    let without = each_run(program, None);
    let mut rows = format!(
        "| **a command in the sandbox, ms** | | | | | | | |\n\
         | without the sandbox | | | {without:.2} | | | | |\n"
    );
    let kinds = [
        ("in the sandbox", &limits),
        ("in the sandbox with a proxy", &proxied),
        ("in the network of a conversation", &shared),
    ];
    for (name, limits) in kinds {
        let more = each_run(program, Some(limits)) - without;
        let is = if more <= SANDBOXED { "met" } else { "**short**" };
        rows += &format!("| {name}, more | | | {more:.2} | | | ≤ {SANDBOXED} | {is} |\n");
    }
    rows
}

/// The median time in milliseconds from the start of a command to the end of its processes.
fn each_run(program: &Path, limits: Option<&Sandbox>) -> f64 {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let times = (0..60).map(|_| {
        let start = Instant::now();
        runtime.block_on(run(program, limits));
        start.elapsed().as_secs_f64() * 1e3
    });
    median(times)
}

/// Runs a command to its end. A sandbox with a proxy is served meanwhile.
async fn run(program: &Path, limits: Option<&Sandbox>) {
    let mut command = supervisor::command(program, Path::new("/bin/true"), limits).unwrap();
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut supervised = Supervised::start(command).await.unwrap();
    let mut proxy = None;
    if limits.is_some_and(|it| it.proxy) {
        let rules = watch::channel(Arc::default()).1;
        let web = Web::new(Vec::new(), PathBuf::new());
        let gate = Gate { rules, web, closed: None, opened: Vec::new(), pass: None };
        proxy = Some(Proxy::start(supervised.listener().await.unwrap(), gate).unwrap());
    }
    assert!(supervised.ended().await.unwrap().success());
    supervised.finish().await;
    drop(proxy);
}

/// The rows for parsing and judging a command line, with a hundred rules.
fn commands() -> String {
    let rows = "| **parsing and judging a command, µs** | | | | | | | |\n".to_owned();
    let written: Vec<WrittenRule> = (0..99)
        .map(|n| format!("tool{n} sub"))
        .chain(["cargo test".into()])
        .map(|it| WrittenRule::always(&it))
        .collect();
    let all = rules::read(&written, Origin::Settings, "").0;
    let root = PathBuf::from("/home/user/src/app");
    let rules = Rules::new(all, &root, &reach("/home/user/src/app"));
    let cases = [
        ("`cargo test`", "cargo test --lib foo -- --nocapture".to_owned()),
        (
            "a pipe of five",
            "cd src && cargo build 2>&1 | grep -n 'a b' | sort -u | head -50".to_owned(),
        ),
        ("a script of 3,870 bytes", "git log --oneline -20 src/a.rs && echo 'a b'\n".repeat(86)),
        ("a wrapper with 700 words", format!("xargs {}", "word ".repeat(700))),
        ("the same with quotes", format!("xargs {}", "word 'a b' ".repeat(350))),
        ("five wrappers in each other", nested(5)),
        ("nested 1,000 times", format!("{}ls{}", "(".repeat(1_000), ")".repeat(1_000))),
    ];
    let all: Vec<(&str, String)> = cases.into_iter().collect();
    rows + &judged(&rules, &all, (200, JUDGED))
}

/// The rows for judging everyday commands that read many files, in a repository with 50,000 of them.
fn readers() -> String {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    for at in 0..FILES {
        let folder = root.join(format!("src/part{}/unit{}", at / 1_000, at / 20));
        if at % 20 == 0 {
            std::fs::create_dir_all(&folder).unwrap();
        }
        std::fs::write(folder.join(format!("file{at}.rs")), "").unwrap();
    }
    for words in [&["init", "-q"][..], &["add", "-A"]] {
        assert!(Command::new("git").current_dir(&root).args(words).status().unwrap().success());
    }
    let reach = reach(root.to_str().unwrap());
    let rules = Rules::new(rules::safe::rules(), &root, &reach).seeing(Arc::new(OnDisk));
    let lines =
        ["rg x", "git grep x", "git diff", "git show", "grep -rn x .", "grep -rn x src/part1"];
    let cases: Vec<(&str, String)> = lines.iter().map(|it| (*it, (*it).to_owned())).collect();
    let title = "| **judging a command among 50,000 files of git, µs** | | | | | | | |\n";
    title.to_owned() + &judged(&rules, &cases, (20, LOOKED))
}

/// The rows for judging these commands, each so many times, with the limit for one time.
fn judged(rules: &Rules, cases: &[(&str, String)], (times, limit): (u32, f64)) -> String {
    let mut rows = String::new();
    for (name, command) in cases {
        let command = command.clone();
        let access = Access::Act {
            command,
            outside: None,
            background: false,
            hosts: Vec::new(),
            unlocked: Vec::new(),
        };
        let start = Instant::now();
        for _ in 0..times {
            black_box(rules.judge(black_box(&access)));
        }
        let each = start.elapsed().as_secs_f64() * 1e6 / f64::from(times);
        let is = if each <= limit { "met" } else { "**short**" };
        rows += &format!("| {name} | | | {each:.0} | | | ≤ {limit} | {is} |\n");
    }
    rows
}

/// A command of wrappers that each run the next one as a text.
fn nested(times: usize) -> String {
    (0..times).fold("ls a; rm b".to_owned(), |it, _| format!("watch {}", quoted(&it)))
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// The rows for the functions that make file names safe in the editor (`names.lua`).
fn in_the_editor() -> String {
    let nvim = std::env::var("NVIM").unwrap_or_else(|_| "nvim".to_owned());
    let root = env!("CARGO_MANIFEST_DIR");
    let script = format!("{root}/benches/names.lua");
    let ran = Command::new(nvim).args(["--clean", "-l", &script, root]).output().unwrap();
    let said = String::from_utf8_lossy(&[ran.stdout, ran.stderr].concat()).into_owned();
    let row = |line: &str| {
        let (name, each) = line.split_once('\t')?;
        let each: f64 = each.trim().parse().ok()?;
        let is = if each <= LIMIT { "met" } else { "**short**" };
        Some(format!("| {name} | | | {each:.2} | | | ≤ {LIMIT} | {is} |\n"))
    };
    let rows: String = said.lines().filter_map(row).collect();
    assert!(!rows.is_empty(), "{said}");
    rows
}
