//! A slash command of the user's own may name the tools of its turn. Calls of other tools are refused. Requests still
//! list all tools: if the list changed, the provider's cache of the conversation would be lost. A named agent may have
//! fewer tools for the whole conversation: its requests list only these tools, and its shell may be limited to some
//! commands.

use super::Session;
use crate::event::{Access, Plan, Profile};
use crate::message::{Block, Builtin, ExcerptKind, Reply, ToolCall};

impl Session {
    /// Refuses the calls that the turn's slash commands, the conversation's agent or a worker's coordinator do not
    /// allow.
    pub(super) fn keep_to_commands(&self, reply: &Reply, plans: &mut [Plan]) {
        self.keep_to_agent(reply, plans);
        for it in plans.iter_mut() {
            self.keep_to_owned(&mut it.access);
        }
        let commands = self.narrowing();
        for (call, plan) in reply.calls().zip(plans) {
            let refusing = commands.iter().find(|it| !self.is_among(it.1, call, &plan.access));
            if let Some((path, tools)) = refusing
                && !plan.access.cannot_run()
            {
                plan.access = Access::Never(format!(
                    "The command `{path}` allows only these tools until its turn ends: {}. Go on with these, or tell \
                     the user what else is needed.",
                    tools.join(", ")
                ));
            }
        }
    }

    /// Refuses the calls that the conversation's named agent may not make.
    fn keep_to_agent(&self, reply: &Reply, plans: &mut [Plan]) {
        let Some(Profile { name, tools: Some(tools), .. }) = &self.profile else { return };
        for (call, plan) in reply.calls().zip(plans) {
            if !self.is_among(tools, call, &plan.access) && !plan.access.cannot_run() {
                plan.access = Access::Never(format!(
                    "The agent `{name}`, which you are, has only these tools: {}. Go on with these, or tell the user \
                     what else is needed.",
                    tools.join(", ")
                ));
            }
        }
    }

    /// If the session is a worker's, refuses an edit of a file that the worker does not own.
    pub(super) fn keep_to_owned(&self, access: &mut Access) {
        let Some(post) = self.subagent_of().and_then(|it| it.post.as_ref()) else { return };
        let paths = match access {
            Access::Edit { paths } => paths.as_slice(),
            Access::Format { path, .. } => std::slice::from_ref(path),
            _ => return,
        };
        if let Some(why) = paths.iter().find_map(|it| post.refusal(it)) {
            *access = Access::Never(why);
        }
    }

    /// The slash commands of the running turn that name tools: their files and the tools. For a subagent, those of its
    /// parent's turn too.
    pub(super) fn narrowing(&self) -> Vec<(&str, &[String])> {
        let start = self.messages.iter().rposition(|it| it.turn.is_some()).unwrap_or(0);
        let blocks = self.messages[start..].iter().flat_map(|it| &it.blocks);
        let commands = blocks.filter_map(|it| match it {
            Block::Excerpt(it) if it.kind == ExcerptKind::Command && !it.tools.is_empty() => {
                Some((it.path.as_str(), it.tools.as_slice()))
            }
            _ => None,
        });
        let of_parent = self.parent.iter().flat_map(|it| &it.limits);
        commands.chain(of_parent.map(|(path, tools)| (path.as_str(), tools.as_slice()))).collect()
    }

    /// The limits on the tools of a subagent that this session begins: those of the session's named agent and of slash
    /// commands.
    pub fn narrowed(&self) -> Vec<(String, Vec<String>)> {
        let own =
            self.profile.iter().filter_map(|it| Some((it.name.as_str(), it.tools.as_deref()?)));
        let all = own.chain(self.narrowing());
        all.map(|(name, tools)| (name.to_owned(), tools.to_vec())).collect()
    }

    /// Whether a call is allowed by these tools. A command line of the shell is allowed if each of its commands is.
    fn is_among(&self, tools: &[String], call: &ToolCall, access: &Access) -> bool {
        let words = || tools.iter().filter_map(|it| it.strip_prefix("shell(")?.strip_suffix(')'));
        let allows = |line: &str| self.rules.with_only(words()).allows(line);
        // such a call concerns only the conversation's own workers, which are limited to the same tools, or its
        // coordinator
        let is_between = matches!(access, Access::Workers(_)) || call.is_of(Builtin::Notify);
        is_between
            || tools.contains(&call.tool)
            || matches!(access, Access::Act { command, .. } if call.is_of(Builtin::Shell) && allows(command))
    }
}
