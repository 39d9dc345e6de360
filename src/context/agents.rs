//! Named agents: Markdown files with front matter, in folders of the project and of the user, or several in one
//! `agents.md`. Each agent has a system prompt of its own. Nothing in an agent's file allows anything: its tools, its
//! mode and its limits only narrow what the user's settings allow.

mod agent;
mod definition;
mod list;
#[cfg(test)]
mod tests;

pub use agent::{NamedAgent, Origin};

use crate::nearest;
use crate::tool::Desk;
use crate::tool::front::{self, Page};
use agent::Source;
use definition::Definition;
use std::path::Path;

/// The folders of agents in a project, and those in the home folder.
const PROJECTS: [&str; 2] = [".caliban/agents", ".claude/agents"];
const USERS: [&str; 1] = [".claude/agents"];
/// The file with several agents, in the project's folder `.caliban` and in the user's configuration folder. On a file
/// system that ignores upper and lower case, this name may open the instructions `AGENTS.md` instead.
const LIST: &str = "agents.md";
const OF_PROJECT: &str = ".caliban";

/// The most bytes of an agent's file, and of an `agents.md`.
const LIMIT: u64 = 64 * 1024;
const LIST_LIMIT: u64 = 256 * 1024;
/// The most agents, the most folders and files in a folder that are read, and how deep folders may be nested.
const AGENTS: usize = 200;
const FILES: usize = 500;
const DEPTH: usize = 3;

#[derive(Debug, Default, PartialEq)]
pub struct NamedAgents {
    /// The user's agents and then the project's, each in the order of their folders and names.
    found: Vec<NamedAgent>,
    /// One sentence for each file and each agent that was left out.
    pub problems: Vec<String>,
}

/// All agents. If two agents have the same name, the first one is used.
pub fn load(desk: &Desk) -> NamedAgents {
    let mut agents = NamedAgents::default();
    for source in sources(desk) {
        match source {
            Ok(source) => agents.read(desk, &source),
            Err(problem) => agents.problems.push(problem),
        }
    }
    agents
}

/// The places in which agents are looked for, as the user would write them.
pub fn places(desk: &Desk) -> Vec<String> {
    let folders = front::places(desk, &PROJECTS, "agents", &USERS);
    let lists = [desk.root.join(OF_PROJECT), desk.config.clone()].map(|it| it.join(LIST));
    folders.iter().map(|it| &it.path).chain(&lists).map(|it| desk.shown(it)).collect()
}

/// Whether the path of an instruction file, such as `AGENTS.md`, opens the folder's list of agents instead. This
/// happens on a file system that ignores upper and lower case. `is_config` says whether the folder is the user's own.
pub fn is_list(path: &Path, is_config: bool) -> bool {
    let has_list = is_config || path.parent().is_some_and(|it| it.ends_with(OF_PROJECT));
    has_list && !is_spelt(path) && is_spelt(&path.with_file_name(LIST))
}

/// Whether the folder has a file of exactly this name.
pub(super) fn is_spelt(path: &Path) -> bool {
    let folder = path.parent().and_then(|it| std::fs::read_dir(it).ok());
    let name = path.file_name().unwrap_or_default();
    folder.into_iter().flatten().flatten().any(|it| it.file_name() == name)
}

/// The files that may have agents, the user's first. The error is a sentence about a folder that was left out.
fn sources(desk: &Desk) -> Vec<Result<Source, String>> {
    let (users, projects): (Vec<_>, Vec<_>) =
        front::places(desk, &PROJECTS, "agents", &USERS).into_iter().partition(|it| it.is_users);
    let lists = [
        (users, Origin::User, desk.config.join(LIST)),
        (projects, Origin::Project, desk.root.join(OF_PROJECT).join(LIST)),
    ];
    let mut sources = Vec::new();
    for (folders, origin, list) in lists {
        let page = |Page { path, .. }: Page| Source { path, origin, is_list: false };
        let pages = front::pages(desk, &folders, DEPTH, FILES).into_iter();
        sources.extend(pages.map(|it| it.map(page)));
        if is_spelt(&list) {
            sources.push(Ok(Source { path: list, origin, is_list: true }));
        }
    }
    sources
}

impl NamedAgents {
    pub fn find(&self, name: &str) -> Option<&NamedAgent> {
        self.found.iter().find(|it| it.name == name)
    }

    /// The agent of this name. The error is a sentence.
    pub fn get(&self, name: &str) -> Result<&NamedAgent, String> {
        let names: Vec<&str> = self.found.iter().map(|it| it.name.as_str()).collect();
        self.find(name).ok_or_else(|| {
            let name = front::line(name, 64).0;
            match nearest::find(&name, &names) {
                _ if names.is_empty() => {
                    format!("There is no agent `{name}`. There are no agents at all: `:help caliban-agents`.")
                }
                Some(near) => format!("There is no agent `{name}`. Did you mean `{near}`?"),
                None => format!("There is no agent `{name}`. The agents are: {}.", names.join(", ")),
            }
        })
    }

    pub fn iter(&self) -> impl Iterator<Item = &NamedAgent> {
        self.found.iter()
    }

    /// Removes the agents for which `passes` is false.
    pub fn retain(&mut self, passes: impl FnMut(&NamedAgent) -> bool) {
        self.found.retain(passes);
    }

    fn read(&mut self, desk: &Desk, source: &Source) {
        let shown = desk.shown(&source.path);
        let most = if source.is_list { LIST_LIMIT } else { LIMIT };
        let is_users = source.origin == Origin::User;
        let text = match front::load(desk, &source.path, is_users, "an agent's file", most) {
            Ok(text) => text,
            Err(why) => return self.problems.push(format!("`{shown}` {why} It was left out.")),
        };
        let stem = source.path.file_stem().unwrap_or_default().to_string_lossy();
        let definitions = if source.is_list {
            list::split(&text, &shown)
        } else {
            vec![Definition::of_file(&text, &stem, &shown)]
        };
        if definitions.is_empty() {
            self.problems.push(format!(
                "`{shown}` has no agents: each begins with a line `# name`, then front matter between two lines `---`."
            ));
        }
        for definition in definitions {
            let agent = definition.and_then(|it| it.read(desk, &shown, source));
            match agent {
                Ok(agent) => self.add(desk, agent),
                Err(problem) => self.problems.push(format!("{problem} It was left out.")),
            }
        }
    }

    fn add(&mut self, desk: &Desk, agent: NamedAgent) {
        let (shown, line) = (desk.shown(&agent.path), agent.line);
        let real = |it: &NamedAgent| it.path.canonicalize().ok();
        if let Some(had) = self.find(&agent.name) {
            if had.path != agent.path && real(had) == real(&agent) {
                return;
            }
            let whose = if had.origin == Origin::User { "your agent" } else { "the agent" };
            let text = format!(
                "`{shown}`, line {line}: {whose} in `{}` has the same name, `{}`. That one is used; this one was left \
                 out.",
                desk.shown(&had.path),
                had.name
            );
            return self.problems.push(text);
        }
        if self.found.len() == AGENTS {
            let text = format!("There are more than {AGENTS} agents. The others were left out.");
            if !self.problems.contains(&text) {
                self.problems.push(text);
            }
            return;
        }
        self.found.push(agent);
    }
}
