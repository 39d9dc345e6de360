//! Tests plans that a model submits in plan mode, and the user's decisions on them.

use super::*;
use crate::event::{PlanStage, PlanVerdict};

fn mode(mode: Mode) -> Input {
    Input::ChooseMode { mode }
}

fn decide(id: &str, verdict: PlanVerdict) -> Input {
    Input::DecidePlan { call: CallId(id.into()), verdict }
}

fn stage(session: &Session) -> Option<(&str, PlanStage)> {
    session.planning.last.as_ref().map(|it| (it.call.0.as_str(), it.stage))
}

/// The words at the end of a call's line.
fn words(session: &Session, id: &str) -> String {
    let blocks = session.messages.iter().flat_map(|it| &it.blocks);
    let mut answers = blocks.filter_map(|it| match it {
        Block::Answer(it) if it.id.0 == id => Some(it.summary.clone()),
        _ => None,
    });
    answers.next().unwrap_or_default()
}

fn planned() -> Session {
    let mut session = opened();
    session.through(mode(Mode::Plan));
    session.through(send("go"));
    session.through(reply(T1, "", &[("p1", "plan")]));
    session
}

#[test]
fn a_plan_ends_the_turn_after_the_calls_before_it_and_skips_those_after_it() {
    let mut session = opened();
    session.through(mode(Mode::Plan));
    session.through(send("go"));
    let all = [("r1", "read"), ("p1", "plan"), ("r2", "read"), ("p2", "plan"), ("e1", "edit")];
    let step = session.through(reply(T1, "", &all));
    assert_eq!(step.effects.len(), 1, "only the read before the plan begins: {:?}", step.effects);
    assert_eq!(stage(&session), None);
    session.through(answered(T1, "r1"));
    assert_eq!(session.phase, Phase::Idle);
    assert_eq!(stage(&session), Some(("p1", PlanStage::Waiting)));
    let answers = session.messages.iter().flat_map(|it| &it.blocks).filter_map(|it| match it {
        Block::Answer(it) => Some(format!("{} {}", it.id, it.summary)),
        _ => None,
    });
    expect!["r1 , p1 waits for you, r2 skipped, p2 skipped, e1 skipped"]
        .assert_eq(&answers.collect::<Vec<_>>().join(", "));
    super::laws::assert_valid(&session);
}

#[test]
fn a_plan_outside_of_plan_mode_is_refused_and_the_turn_goes_on() {
    check(
        vec![send("go"), reply(T1, "", &[("p1", "plan"), ("r1", "read")]), answered(T1, "r1")],
        expect![[r#"
            sample 1
            run r1
            sample 1
            user: go
            assistant: plan(p1) read(r1)
            user: p1=[Not shown: the user is not in plan mode, so go on without a plan, or write it in your answer.] r1=[answer of r1]
        "#]],
    );
}

#[test]
fn approving_leaves_plan_mode_only_for_the_waiting_plan() {
    let mut session = planned();
    assert_eq!(session.planning.before, Mode::Ask);
    session.through(decide("other", PlanVerdict::Approve { mode: Mode::Auto }));
    assert_eq!((session.mode, stage(&session)), (Mode::Plan, Some(("p1", PlanStage::Waiting))));
    session.through(decide("p1", PlanVerdict::Approve { mode: Mode::AutoEdit }));
    assert_eq!(
        (session.mode, stage(&session)),
        (Mode::AutoEdit, Some(("p1", PlanStage::Approved)))
    );
    assert_eq!(words(&session, "p1"), "approved");
    // a second decision on the same plan changes nothing
    session.through(decide("p1", PlanVerdict::Approve { mode: Mode::Auto }));
    assert_eq!(session.mode, Mode::AutoEdit);
}

#[test]
fn sending_back_or_dropping_a_plan_leaves_the_session_in_plan_mode() {
    let mut session = planned();
    session.through(mode(Mode::Ask));
    session.through(decide("p1", PlanVerdict::SendBack));
    assert_eq!((session.mode, stage(&session)), (Mode::Plan, Some(("p1", PlanStage::SentBack))));

    let mut session = planned();
    session.through(decide("p1", PlanVerdict::Drop));
    assert_eq!(words(&session, "p1"), "dropped");
    assert_eq!((session.mode, stage(&session)), (Mode::Plan, None));
    assert_eq!(session.notes, ["The user dropped the plan. Do not carry it out."]);
}

#[test]
fn a_waiting_plan_is_replaced_by_a_newer_plan() {
    let mut session = planned();
    session.through(send("and b?"));
    session.through(reply(TurnId(2), "", &[("p2", "plan")]));
    assert_eq!(stage(&session), Some(("p2", PlanStage::Waiting)));
    assert_eq!(["p1", "p2"].map(|id| words(&session, id)), ["replaced", "waits for you"]);
}

#[test]
fn a_plan_in_an_unattended_turn_waits_for_no_decision() {
    let mut session = opened();
    session.through(mode(Mode::Plan));
    session.leave_unattended();
    session.through(send("go"));
    session.through(reply(T1, "", &[("p1", "plan")]));
    assert_eq!((session.phase.clone(), stage(&session)), (Phase::Idle, None));
    let end = session.unattended.as_ref().and_then(|it| it.end.clone());
    assert_eq!(end, Some(crate::event::End::Done));
}

/// Anybody may have written a session's file.
#[test]
fn a_session_from_disk_never_returns_to_a_wider_mode_than_the_settings_allow() {
    let mut session = planned();
    session.planning.before = Mode::Auto;
    session.distrust(std::path::Path::new("/p"));
    let step = session.through(Input::Resume { mode: Mode::Ask });
    assert_eq!((session.mode, session.planning.before), (Mode::Plan, Mode::Ask));
    assert_eq!(stage(&session), Some(("p1", PlanStage::Waiting)));
    assert!(step.effects.is_empty());
    // a plan whose call the conversation does not have cannot be shown
    session.messages.clear();
    session.distrust(std::path::Path::new("/p"));
    assert_eq!(stage(&session), None);
}

#[test]
fn a_copy_has_the_plan_only_if_it_has_the_call() {
    let mut session = planned();
    session.through(send("next"));
    session.through(reply(TurnId(2), "done", &[]));
    assert_eq!(stage(&session.fork(None)), Some(("p1", PlanStage::Waiting)));
    let first = Cut { after: 1, is_prompt: true };
    assert_eq!(stage(&session.fork(Some(first))), None);
}

#[test]
fn a_plan_waits_again_if_its_approval_is_taken_back() {
    let mut session = planned();
    session.through(decide("p1", PlanVerdict::Approve { mode: Mode::Ask }));
    session.through(send("I approve."));
    session.through(reply(TurnId(2), "done", &[]));
    assert_eq!(stage(&session), Some(("p1", PlanStage::Approved)));
    let at = session.prompt(0).unwrap().at;
    session.go_back(at);
    assert_eq!(stage(&session), Some(("p1", PlanStage::Waiting)));
}
