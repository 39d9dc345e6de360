//! The background jobs of a conversation: which of them run, and which have ended without the model being told.

use super::{Event, Session, State};
use crate::event::Job;
use crate::message::ToolAnswer;

impl Session {
    /// The background jobs that run, by their numbers.
    pub fn running_jobs(&self) -> impl Iterator<Item = (u32, &Job)> {
        self.jobs.iter().filter(|(_, it)| it.is_running()).map(|(id, it)| (*id, it))
    }

    /// The notes about jobs that have ended, which the model gets with the next request.
    pub fn ends_of_jobs(&self) -> impl Iterator<Item = &String> {
        self.jobs.values().filter(|it| !it.is_running()).map(|it| &it.note)
    }

    pub(super) fn take_ends_of_jobs(&mut self) -> Vec<String> {
        let ends = self.ends_of_jobs().cloned().collect();
        self.jobs.retain(|_, it| it.is_running());
        ends
    }

    pub(super) fn runs(&self, job: u32) -> bool {
        self.jobs.get(&job).is_some_and(Job::is_running)
    }

    pub(super) fn apply_job(&mut self, event: &Event) {
        match event {
            Event::JobBegan { job, command } => {
                self.last_job = self.last_job.max(*job);
                self.jobs.insert(*job, Job { command: command.clone(), note: String::new() });
            }
            Event::JobEnded { job, note } => {
                if let Some(it) = self.jobs.get_mut(job) {
                    it.note.clone_from(note);
                }
            }
            _ => (),
        }
    }

    pub(super) fn apply_answer(&mut self, answer: &ToolAnswer) {
        let mut done = answer.clone();
        done.diff.extend(self.take_diff(&answer.id));
        self.set(&answer.id, State::Done(Box::new(done)));
        if answer.inquiry.is_some() {
            self.asked_after = self.queued;
        }
        if let Some(job) = answer.job_end {
            self.jobs.remove(&job);
        }
        self.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{End, TurnId};
    use crate::message::{Block, CallId};
    use crate::session::{Input, Phase};

    /// A session with two jobs, of which the first has ended.
    fn with_jobs() -> Session {
        let mut session = Session::default();
        for (job, command) in [(1, "make"), (2, "serve")] {
            session.step(Input::JobBegan { job, command: command.to_owned() });
        }
        let step = session.step(Input::JobEnded { job: 1, note: "Job 1 ended.".to_owned() });
        assert_eq!(step.events.len(), 1);
        session
    }

    fn send(session: &mut Session) -> Vec<Block> {
        let text = "go on".to_owned();
        session.step(Input::Send { text, context: Vec::new(), steer: false });
        session.messages.last().unwrap().blocks.clone()
    }

    #[test]
    fn the_end_of_a_job_goes_with_one_request() {
        let mut session = with_jobs();
        assert_eq!(session.ends_of_jobs().collect::<Vec<_>>(), ["Job 1 ended."]);
        let said = send(&mut session);
        assert_eq!(said[0], Block::Notice { text: "Job 1 ended.".to_owned(), call: None });
        assert_eq!(session.ends_of_jobs().count(), 0);
        assert_eq!(session.running_jobs().map(|it| it.0).collect::<Vec<_>>(), [2]);
        assert_eq!(session.last_job, 2);
    }

    #[test]
    fn the_model_is_told_only_the_first_end_of_a_known_job() {
        let mut session = with_jobs();
        for job in [1, 3] {
            let step = session.step(Input::JobEnded { job, note: "Again.".to_owned() });
            assert!(step.events.is_empty(), "{job}");
        }
        assert_eq!(session.ends_of_jobs().collect::<Vec<_>>(), ["Job 1 ended."]);
    }

    #[test]
    fn the_end_of_a_job_in_a_tool_answer_is_not_told_again() {
        let mut session = with_jobs();
        let mut answer = ToolAnswer::done(&CallId("c1".into()), "it ended".into(), "exit 0");
        answer.job_end = Some(1);
        session.apply(&Event::Answered { turn: TurnId(1), answer });
        assert_eq!(session.ends_of_jobs().count(), 0);
    }

    #[test]
    fn a_stop_says_how_many_jobs_go_on() {
        let mut session = with_jobs();
        send(&mut session);
        assert!(matches!(session.phase, Phase::Sampling { .. }));
        let step = session.step(Input::Cancel { partial: None });
        let text = "1 job goes on in the background. Use /jobs to see it or to stop it.".to_owned();
        let end = Event::Ended { turn: TurnId(1), why: End::Cancelled };
        assert_eq!(step.events, [end, Event::Told { text }]);
    }

    #[test]
    fn the_model_of_a_copy_is_told_that_verdicts_go_to_the_original() {
        let root = "/p".into();
        let session = Session { reviewing: vec!["/p/a.txt".into()], root, ..Session::default() };
        let copy = session.fork(None);
        assert!(copy.reviewing.is_empty());
        assert!(
            copy.notes[0].starts_with("The user still decides on edits of a.txt"),
            "{:?}",
            copy.notes
        );
    }

    #[test]
    fn a_copy_of_a_conversation_has_no_jobs_and_its_model_is_told() {
        let mut copy = with_jobs().fork(None);
        assert_eq!((copy.running_jobs().count(), copy.ends_of_jobs().count()), (0, 1));
        assert!(copy.notes.iter().any(|it| it.contains("stay with the original")));
        let said = send(&mut copy);
        assert!(said.contains(&Block::Notice { text: "Job 1 ended.".to_owned(), call: None }));
    }
}
