//! The ports at which background jobs listen: the user is asked once about each, and reaches at 127.0.0.1 those to
//! which the answer was yes.

use crate::agent::permits::Ports;
use crate::conversation::Conversation;
use crate::event::{Grant, Matter, Offer, Ruling};
use crate::message::CallId;
use crate::session::{Consult, Input};
use crate::tool::Desk;
use crate::tool::jobs::shown;

/// The most ports of a conversation about which the user is asked or told. A job can listen at thousands.
const MOST: u32 = 16;

/// Opens the port of a job if the user has agreed, else asks.
pub(super) fn offer(
    (conversation, desk): (&mut Conversation, &Desk),
    ports: &mut Ports,
    (job, port): (u32, u16),
    command: &str,
) {
    let session = &conversation.session;
    let is_asked = ports.asked.iter().any(|it| it.1.1 == port);
    if is_asked || ports.refused.contains(&port) {
        return;
    }
    if session.granted.contains(&Grant::Open(port)) {
        return desk.jobs.open(job, port);
    }
    let listens = format!("Job {job} ({}) listens at port {port} of its sandbox.", shown(command));
    ports.count = ports.count.saturating_add(1);
    if ports.count == MOST + 1 {
        let text = format!(
            "Job {job} ({}) listens at more ports. They stay closed: Caliban asks about {MOST} ports in a conversation.",
            shown(command)
        );
        return conversation.take(Input::Tell { text });
    } else if ports.count > MOST {
        return;
    }
    if session.is_unattended() {
        ports.refused.insert(port);
        let text = format!(
            "{listens} Only commands of this conversation reach it; `caliban run --open {port}` opens it on this \
             machine."
        );
        return conversation.take(Input::Tell { text });
    }
    let id = CallId::own(format_args!("port-{}-{}", session.turns, ports.count));
    ports.asked.push((id.clone(), (job, port)));
    let question = format!(
        "Open port {port} of job {job} on this machine? {listens} You and all programs of this machine then reach it \
         at 127.0.0.1, as long as the job runs."
    );
    let (about, offer) = (Matter::Port, Offer::default());
    conversation.take(Input::Consult(Consult { id, about, question, offer }));
}

/// Takes the user's answer. Ignores answers to other questions.
pub(in crate::agent) fn rule(
    (conversation, desk): (&mut Conversation, &Desk),
    ports: &mut Ports,
    id: &CallId,
    ruling: &Ruling,
) {
    let Some(at) = ports.asked.iter().position(|it| it.0 == *id) else { return };
    let (_, (job, port)) = ports.asked.remove(at);
    if let Ruling::Denied { .. } = ruling {
        ports.refused.insert(port);
        return log(conversation, &format!("you refused to open port {port} of a job"));
    }
    log(conversation, &format!("you opened port {port} of job {job}"));
    conversation.session.granted.push(Grant::Open(port));
    desk.jobs.open(job, port);
}

/// Withdraws the question about a port at which the job does not listen any more.
pub(super) fn withdraw(conversation: &mut Conversation, ports: &mut Ports, place: (u32, u16)) {
    let Some(at) = ports.asked.iter().position(|it| it.1 == place) else { return };
    let (id, _) = ports.asked.remove(at);
    conversation.take(Input::Withdraw { id });
}

/// What the user is told about a port that was to be opened.
pub(super) fn opened(job: u32, port: u16, outside: Result<u16, String>) -> Input {
    let text = match outside {
        Ok(outside) if outside == port => {
            format!("Port {port} of job {job} is open at 127.0.0.1:{port}.")
        }
        Ok(outside) => format!(
            "Port {port} of job {job} is open at 127.0.0.1:{outside}, because port {port} of this machine is in use or \
             needs more rights."
        ),
        Err(why) => format!("Port {port} of job {job} could not be opened: {why}."),
    };
    Input::Tell { text }
}

fn log(conversation: &Conversation, line: &str) {
    conversation.log_decisions(&[line.to_owned()]);
}
