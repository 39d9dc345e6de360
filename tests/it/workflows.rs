//! Everyday work with git, once bare and once by the tool `shell` in the sandbox. Both give the same files, the same
//! references and the same exit code, or the tool has not begun: then nothing is different from before.

mod table;

use crate::kit::alone;
use crate::kit::dice::{Dice, number};
use crate::kit::sandbox::is_full;
use caliban::event::Access;
use caliban::message::{CallId, Input, ToolCall};
use caliban::reach::{Folders, Reach};
use caliban::tool::confinement::{Confinement, Settings};
use caliban::tool::disk::Disk;
use caliban::tool::environment::Secrets;
use caliban::tool::jobs::Jobs;
use caliban::tool::{self, Desk, Ran};
use caliban::web::Web;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, OnceLock};
use table::{Flow, Outcome, SEED, TABLE};
use tempfile::TempDir;
use tokio::sync::mpsc;

/// Prints all that a workflow may change, in a form that does not depend on times and hashes of commits.
const STATE: &str = r#"
git for-each-ref --format='%(refname) %(tree) %(upstream) %(subject)' refs/heads refs/tags refs/notes
git log --branches --tags HEAD --format='%T %s' | sort
git symbolic-ref -q HEAD || echo detached
git rev-parse -q --verify HEAD^{tree}
git status --porcelain -uall
git config --local --list | sort
git stash list | wc -l
git worktree list --porcelain | grep -c ^worktree
ls .git | grep -E 'HEAD$|^rebase|^sequencer|^BISECT|\.lock$' | sort
find . -name .git -prune -o -type f -print0 | sort -z | xargs -0 sha1sum
find . -name '*.refused*'
find . -path ./.git -prune -o -name .git -printf '%h\n' | sort | while read -r it; do
  echo "repository in $it"
  git -C "$it" for-each-ref --format='%(refname) %(tree) %(subject)'
  git -C "$it" log -1 --format='%T %s'
  git -C "$it" symbolic-ref -q HEAD || echo detached
  git -C "$it" status --porcelain -uall
  git -C "$it" config --local --list | sed 's|url=.*/|url=|' | sort
done
"#;
const REMOTES: &str = "git for-each-ref --format='%(refname) %(tree) %(subject)' refs/remotes; git -C ../remote.git for-each-ref --format='%(refname) %(tree) %(subject)'";

/// The folders of one workflow: `project` is a repository, `remote.git` its remote.
struct Place {
    base: PathBuf,
    desk: Desk,
}

fn bash(folder: &Path, script: &str) -> (i32, String) {
    let mut command = Command::new("bash");
    command.arg("-c").arg(script).current_dir(folder).stdin(std::process::Stdio::null());
    command.envs([("PAGER", "cat"), ("GIT_PAGER", "cat"), ("GIT_EDITOR", "true")]);
    command.envs([("GIT_TERMINAL_PROMPT", "0"), ("TERM", "dumb"), ("NO_COLOR", "1")]);
    let output = command.output().unwrap();
    let all = [output.stdout, output.stderr].concat();
    (output.status.code().unwrap_or(-1), String::from_utf8_lossy(&all).into_owned())
}

/// The repositories from which each workflow starts.
fn seed_of_all() -> &'static Path {
    static MADE: OnceLock<TempDir> = OnceLock::new();
    let made = MADE.get_or_init(|| {
        let dir = tempfile::tempdir().unwrap();
        let (code, said) = bash(dir.path(), SEED);
        assert_eq!(code, 0, "{said}");
        dir
    });
    made.path()
}

impl Place {
    fn new(base: PathBuf, from: &Path) -> Place {
        let copied = Command::new("cp").arg("-a").arg(from).arg(&base).status().unwrap();
        assert!(copied.success());
        let root = base.join("project");
        let settings = Settings {
            is_on: true,
            network: false,
            writable: vec![base.join("remote.git").display().to_string()],
        };
        let program = PathBuf::from(env!("CARGO_BIN_EXE_caliban"));
        let desk = Desk {
            tools: tool::own(),
            reach: Reach::new(&Folders { root: root.clone(), ..Folders::default() }),
            rules: Arc::default(),
            workspace: Arc::new(Disk { root: root.clone(), is_apart: false }),
            root,
            project: None,
            session: String::new(),
            home: Some(base.join("home")),
            config: base.join("config"),
            seen: None,
            agreed: None,
            skills: tool::skills::Usable::All,
            output: mpsc::unbounded_channel().0,
            secrets: Secrets::default(),
            overflow: base.join("overflow"),
            web: Web::new(Vec::new(), program.clone()),
            servers: caliban::mcp::Servers::default(),
            confinement: Confinement::new(
                settings,
                Vec::new(),
                Vec::new(),
                base.join("layers"),
                program.clone(),
            ),
            program,
            jobs: Jobs::default(),
        };
        Place { base, desk }
    }

    fn root(&self) -> &Path {
        &self.desk.root
    }

    /// The state, without the path of this place.
    fn state(&self) -> String {
        let state = bash(self.root(), STATE).1;
        state.replace(&self.base.display().to_string(), "BASE")
    }

    async fn run(&self, command: &str, unlocked: Vec<String>) -> Ran {
        let confinement = self.desk.confinement.clone().unlocking(unlocked);
        let desk = Desk { confinement, ..self.desk.clone() };
        let call = ToolCall {
            id: CallId("c1".to_owned()),
            tool: "shell".to_owned(),
            input: Input::Json(json!({ "command": command })),
        };
        tool::run(&desk, &tool::Calls::default().of(&desk, &call)).await
    }
}

/// How the workflow went by the tool, and in words what was wrong.
async fn tried(flow: &Flow, folder: &Path) -> Result<Outcome, String> {
    let made = folder.join("made");
    let start = Place::new(made.clone(), seed_of_all());
    let (code, said) = bash(start.root(), &format!("set -e\n{}", flow.before));
    if code != 0 {
        return Err(format!("the preparation failed: {said}"));
    }
    let pair = Pair::new(start, Place::new(folder.join("tool"), &made));
    let mut outcome = Outcome::Same;
    for step in flow.steps {
        match pair.step(step).await? {
            Outcome::Same => (),
            Outcome::Asked => outcome = Outcome::Asked,
            Outcome::Refused => return Ok(Outcome::Refused),
        }
    }
    pair.end()?;
    Ok(outcome)
}

/// Two equal places: in one the steps run bare, in the other by the tool.
struct Pair {
    bare: Place,
    tooled: Place,
}

impl Pair {
    fn new(bare: Place, tooled: Place) -> Pair {
        // git notes the times of the copied files
        for it in [&bare, &tooled] {
            bash(it.root(), "git status --porcelain");
        }
        Pair { bare, tooled }
    }

    fn same(&self, what: &str) -> Result<(), String> {
        same(&self.bare.state(), &self.tooled.state(), what)
    }

    /// Runs a step in both places. One that the tool refuses is not run bare either.
    async fn step(&self, step: &str) -> Result<Outcome, String> {
        let mut outcome = Outcome::Same;
        let mut ran = self.tooled.run(step, Vec::new()).await;
        if let Some(Access::Act { unlocked, .. }) = ran.needed.take() {
            self.same(&format!("{step}: before the question"))?;
            outcome = Outcome::Asked;
            ran = self.tooled.run(step, unlocked.clone()).await;
            if ran.needed.is_some() {
                return Err(format!("{step}: asked again after {unlocked:?}"));
            }
        } else if ran.answer.text.contains("caliban: git ") {
            self.same(&format!("{step}: refused"))?;
            return Ok(Outcome::Refused);
        }
        let (code, said) = bash(self.bare.root(), step);
        let exit = format!("exit {code}");
        if ran.answer.summary != exit {
            let Ran { answer, .. } = ran;
            return Err(format!(
                "{step}: bare {exit}\n{said}\nby the tool {}\n{}",
                answer.summary, answer.text
            ));
        }
        Ok(outcome)
    }

    fn end(&self) -> Result<(), String> {
        self.same("the end")?;
        let remotes = [&self.bare, &self.tooled].map(|it| bash(it.root(), REMOTES).1);
        same(&remotes[0], &remotes[1], "remotes")
    }
}

/// How many random sequences of steps are tried. The environment variable `WORKFLOWS` sets another number, and
/// `WORKFLOWS_SEED` chooses others.
const SEQUENCES: u64 = 3;
/// The steps of a sequence.
const STEPS: usize = 8;

/// Runs steps of all workflows that need no preparation, in any order. After each, both places are the same.
#[test]
fn git_does_the_same_in_the_sandbox_in_any_order_of_steps() {
    if !is_full() || alone::has_passed() {
        return;
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let flows = TABLE.iter().filter(|it| it.before.is_empty());
    let steps: Vec<&str> = flows.flat_map(|it| it.steps).copied().collect();
    let seed = number("WORKFLOWS_SEED", 20);
    for sequence in 0..number("WORKFLOWS", SEQUENCES) {
        let mut dice = Dice(seed.wrapping_add(sequence));
        let chosen: Vec<&str> = (0..STEPS).map(|_| *dice.one_of(&steps)).collect();
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        let made = Place::new(base.join("made"), seed_of_all());
        let pair = Pair::new(made, Place::new(base.join("tool"), &base.join("made")));
        let went = runtime.block_on(async {
            for step in &chosen {
                pair.step(step).await?;
                pair.same(step)?;
            }
            pair.end()
        });
        let which = format!("WORKFLOWS_SEED={} WORKFLOWS=1", seed.wrapping_add(sequence));
        assert_eq!(went, Ok(()), "{which}: {chosen:#?}");
    }
}

fn same(wanted: &str, found: &str, what: &str) -> Result<(), String> {
    if wanted == found {
        return Ok(());
    }
    let only = |one: &str, other: &str, mark: &str| {
        let lines: Vec<String> = one
            .lines()
            .filter(|line| !other.lines().any(|it| it == *line))
            .map(|it| format!("{mark} {it}\n"))
            .collect();
        lines.concat()
    };
    Err(format!("{what}\n{}{}", only(wanted, found, "-"), only(found, wanted, "+")))
}

#[test]
fn a_project_in_the_folder_of_shared_memory_is_a_project() {
    if !is_full() || alone::has_passed() {
        return;
    }
    let Ok(dir) = tempfile::tempdir_in("/dev/shm") else { return };
    let place = Place::new(dir.path().canonicalize().unwrap().join("made"), seed_of_all());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let command = "cat AGENTS.md && echo x > x.txt && git add x.txt && ls -A /dev/shm | wc -l";
    let ran = runtime.block_on(place.run(command, Vec::new()));
    assert_eq!(ran.answer.text, "Be kind.\n1");
    assert!(place.root().join("x.txt").exists());
}

fn check(part: usize) {
    if !is_full() || alone::has_passed() {
        return;
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut wrong = String::new();
    for flow in TABLE.iter().skip(part).step_by(PARTS) {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        match runtime.block_on(tried(flow, &base)) {
            Ok(it) if it == flow.outcome => (),
            Ok(it) => wrong += &format!("{}: {it:?} instead of {:?}\n\n", flow.name, flow.outcome),
            Err(why) => wrong += &format!("{}: {why}\n\n", flow.name),
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// The workflows are divided, so that they run at the same time.
const PARTS: usize = 4;

#[test]
fn git_does_the_same_in_the_sandbox_or_does_not_start_first_part() {
    check(0);
}

#[test]
fn git_does_the_same_in_the_sandbox_or_does_not_start_second_part() {
    check(1);
}

#[test]
fn git_does_the_same_in_the_sandbox_or_does_not_start_third_part() {
    check(2);
}

#[test]
fn git_does_the_same_in_the_sandbox_or_does_not_start_fourth_part() {
    check(3);
}
