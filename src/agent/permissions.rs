//! The user's permissions: what the user has allowed or forbidden, or wants to be asked about, for the session and by
//! rules. `/permissions` lists them, revokes one, and says how a command would be judged.

use super::Agent;
use super::agents;
use super::command::{Answer, Wanted};
use super::files::Files;
use super::jobs;
use super::recipients;
use super::trust::FILE;
use super::workers;
use crate::conversation::Conversation;
use crate::conversation::report::{Level, Permission, Report, Show};
use crate::event::{Grant, MODES, Matter, Mode, Ruling};
use crate::message::CallId;
use crate::nearest;
use crate::rules::{Judgement, Origin, Rule, Verdict, WrittenRule};
use crate::session::{Consult, Input};
use crate::tool::{self, Desk};

/// Carries out the user's wish about the permissions.
pub(super) fn carry_out(agent: &mut Agent, wanted: Wanted) {
    // which rules there are depends on the sandbox
    if matches!(wanted, Wanted::Explain(_)) {
        agent.desk.confinement.wait();
    }
    // an open question is explained by the rules that led to it
    if !matches!(wanted, Wanted::Why(_)) {
        agent.reload_rules();
    }
    let Agent { conversation, desk, files, .. } = agent;
    match wanted {
        Wanted::List => list(agent),
        Wanted::Explain(command) => {
            let explained = || {
                let said = conversation.session.foreseen(&command);
                let parts = desk.rules.explain(&command);
                [said].into_iter().chain(parts).collect::<Vec<_>>().join("\n  ")
            };
            let connection = command.trim().strip_prefix("network ");
            let text =
                connection.map_or_else(explained, |it| desk.rules.explain_connection(it.trim()));
            conversation.take(Input::Tell { text });
        }
        Wanted::Revoke(Permission::Grant(grant)) => {
            agent.turn.children.revoke(&grant);
            if let Grant::Open(port) = grant {
                desk.jobs.close(port);
            }
            files.revoke(conversation, desk, grant);
        }
        Wanted::Revoke(Permission::Rule(label)) => revoke(agent, &label),
        Wanted::Why(call) => why(agent, call),
    }
}

/// Explains the open question about a call.
fn why(agent: &Agent, call: CallId) {
    let Agent { conversation, turn, .. } = agent;
    if turn.children.explain(&call) {
        return;
    }
    if let Some(lines) = conversation.session.explained(&call) {
        conversation.show(Show::Explained { call, lines });
    }
}

pub(super) fn list(agent: &Agent) {
    let Agent { conversation, desk, guidance, .. } = agent;
    let grants = conversation.session.granted.iter().cloned().map(Permission::Grant);
    let own = desk.rules.all.iter().filter(|it| it.origin != Origin::Safe);
    let rules = own.map(|it| Permission::Rule(it.line()));
    let unused = guidance.permissions.trust.unused(desk.project());
    let unused = unused.iter().map(|it| Permission::Rule(unused_line(it)));
    let all: Vec<Permission> = grants.chain(rules).chain(unused).collect();
    if all.is_empty() {
        let text = "You have allowed nothing for this session, and there are no permission rules.";
        return conversation.notice(Level::Info, text.into());
    }
    conversation.show(Show::Tell(Report::Permissions(all)));
}

/// A rule that allows calls but is not used, in one line of the list.
fn unused_line(rule: &Rule) -> String {
    format!("{rule} ({FILE}, not used: choose it to be asked)")
}

/// Revokes a rule that was made when the user answered “always” to a question, or the agreement to the project's rules
/// that allow calls. Asks again about such a rule that is not used. Other rules are in files that the user edits.
fn revoke(agent: &mut Agent, wanted: &str) {
    let root = agent.desk.project().to_owned();
    let trust = &mut agent.guidance.permissions.trust;
    if trust.unused(&root).iter().any(|it| unused_line(it) == wanted) {
        trust.ask_again(&mut agent.conversation, &root);
        return;
    }
    let text = match agent.desk.rules.all.iter().find(|it| it.line() == wanted) {
        None => "This rule was already taken back.".to_owned(),
        Some(rule) if rule.origin == Origin::Project && rule.verdict == Verdict::Allow => {
            trust.revoke(&mut agent.conversation, &root);
            format!("The rules of {FILE} that allow calls no longer apply.")
        }
        Some(rule) if rule.origin == Origin::Always => {
            let rule = rule.clone();
            let is_other = |it: &WrittenRule| it.rule(Origin::Always).as_ref() != Ok(&rule);
            match agent.guidance.permissions.note(|it| it.keep(is_other)) {
                Ok(()) => {
                    let line = format!("you revoked the rule: {rule}");
                    agent.conversation.log_decisions(&[line]);
                    format!("This rule no longer applies: {rule}")
                }
                Err(why) => why,
            }
        }
        Some(rule) => format!("This rule is in {}. Change it there.", rule.origin),
    };
    agent.reload_rules();
    agent.conversation.notice(Level::Info, text);
}

/// Changes to the mode that the user has chosen. A coordinator then works by itself again, unless its turn runs.
pub(super) fn choose_mode(conversation: &mut Conversation, desk: &Desk, mode: Mode) {
    if !workers::leave(conversation, mode) {
        return;
    }
    conversation.take(Input::ChooseMode { mode });
    warn_of_mode(conversation, desk, mode);
}

/// Tells the user if the mode does not do what its name says on this machine.
pub(super) fn warn_of_mode(conversation: &Conversation, desk: &Desk, mode: Mode) {
    if mode != Mode::Auto {
        return;
    }
    desk.confinement.wait();
    if !desk.confinement.contains(&desk.root) {
        let text = "Commands need your consent in auto mode too, because there is no full sandbox or your settings \
                    weaken it. \
                    :checkhealth caliban has the details.";
        conversation.notice(Level::Warn, text.into());
    }
}

/// The word for a coordinator, where a mode is named.
const COORDINATOR: &str = "coordinator";

/// `/mode`: shows the mode, or chooses the named one.
pub(super) fn mode(agent: &mut Agent, word: &str) {
    if word == COORDINATOR {
        return workers::coordinate(&mut agent.conversation);
    }
    let conversation = &mut agent.conversation;
    let now = conversation.session.mode;
    match MODES.into_iter().find(|it| it.name() == word) {
        Some(mode) => choose_mode(conversation, &agent.desk, mode),
        None if word.is_empty() => {
            let coordinator =
                if conversation.session.workers.is_on { "Coordinator, mode" } else { "Mode" };
            let text = format!("{coordinator} {now}: {}.", now.means());
            conversation.take(Input::Tell { text });
        }
        None => {
            let names: Vec<&str> = MODES.iter().map(|it| it.name()).chain([COORDINATOR]).collect();
            let hint =
                nearest::find(word, names.iter().copied()).map(|it| format!(" Did you mean {it}?"));
            let text = format!(
                "There is no such mode.{} The modes are {}.",
                hint.unwrap_or_default(),
                names.join(", ")
            );
            conversation.notice(Level::Warn, text);
        }
    }
}

/// Takes the user's answer to a question about a call. “Always” allows the call and stores a rule for calls like it.
pub(super) fn rule(agent: &mut Agent, call: CallId, answer: Answer) {
    if agent.turn.children.rule(&mut agent.conversation, &call, &answer) {
        return agent.reload_rules();
    }
    let ruling = match answer {
        Answer::Ruling(ruling) => ruling,
        Answer::Change(command) => {
            return agent.conversation.take(Input::Change { call, command });
        }
        Answer::Always => {
            let asking = agent.conversation.session.asking().filter(|it| it.call.id == call);
            let judged = asking.map(|it| it.judged.clone()).unwrap_or_default();
            if judged.always.is_empty() && judged.unruled.is_empty() {
                let text =
                    "Caliban proposes no rule for this call. Allow it once or for this session.";
                return agent.conversation.notice(Level::Warn, text.into());
            }
            keep_always(agent, &judged);
            Ruling::Once
        }
    };
    let is_about_texts = |it: &Consult| it.id == call && it.about == Matter::Instructions;
    let is_about_texts = agent.conversation.session.consult.as_ref().is_some_and(is_about_texts);
    let ruled = agent.guidance.consent.rule(&mut agent.conversation, &call, &ruling);
    if let Some(is_used) = ruled {
        agents::ruled(agent, is_used);
    }
    if is_about_texts {
        agent.guidance.answered(&mut agent.conversation, &mut agent.desk);
    }
    let request = recipients::rule(agent, &call, &ruling);
    let Agent { conversation, desk, guidance, .. } = agent;
    jobs::ports::rule((conversation, desk), &mut guidance.permissions.ports, &call, &ruling);
    if agent.guidance.permissions.trust.rule(&mut agent.conversation, &call, &ruling) {
        agent.reload_rules();
    }
    agent.conversation.take(Input::Rule { call, ruling });
    if let Some(request) = request {
        agent.carry_out(request);
    }
}

/// Stores the rules that the question about a command proposes: for commands that begin like it, or for hosts.
fn keep_always(agent: &mut Agent, judged: &Judgement) {
    let Judgement { always, unruled, .. } = judged;
    let of_hosts = unruled.iter().map(|host| {
        let said = format!("commands of this project may connect to `{host}`");
        (WrittenRule::connecting(host), Grant::Connect(host.clone()), said)
    });
    let of_command = (unruled.is_empty()).then(|| {
        let said = format!("`{always} …` runs without a question");
        (WrittenRule::always(always), Grant::Act(format!("{always} …")), said)
    });
    for (rule, what, said) in of_hosts.chain(of_command) {
        let kept = agent.guidance.permissions.note(|it| it.add(rule));
        let conversation = &agent.conversation;
        match kept {
            Ok(()) => {
                conversation.log_decisions(&[format!("you allowed it always: {}", what.label())]);
                let text = format!("From now on {said}. :Caliban permissions revokes the rule.");
                conversation.notice(Level::Info, text);
            }
            Err(why) => conversation.notice(Level::Error, format!("{why} The command runs once.")),
        }
    }
    agent.reload_rules();
}

impl Files {
    /// Revokes a grant. The next call that needs the grant asks again, and the model is no longer told of changes to
    /// files that it may not read any more.
    pub(super) fn revoke(&mut self, conversation: &mut Conversation, desk: &Desk, grant: Grant) {
        if !conversation.session.granted.contains(&grant) {
            return conversation
                .notice(Level::Info, "This permission was already taken back.".into());
        }
        let text = format!("You are asked again before: {}", grant.label());
        conversation.log_decisions(&[format!("you took it back: {}", grant.label())]);
        if let Grant::Read { path, .. } = &grant {
            let is_meant = |it: &_| tool::path::unmistakable(&desk.root, it) == *path;
            self.known.distrust(desk, is_meant);
        }
        conversation.take(Input::Revoke { grant });
        conversation.notice(Level::Info, text);
    }
}
