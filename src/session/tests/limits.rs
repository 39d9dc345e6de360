//! What ends a turn that would go on for ever.

use super::*;

#[test]
fn a_turn_has_so_many_requests_and_no_more() {
    let mut session = opened();
    session.step(send("go"));
    let mut asked = 1;
    while session.phase != Phase::Idle {
        let id = format!("r{asked}");
        session.step(reply(T1, "", &[(&id, "read")]));
        let step = session.step(answered(T1, &id));
        asked += step.effects.iter().filter(|it| matches!(it, Effect::Sample { .. })).count();
    }
    assert_eq!(asked, MAX_REQUESTS as usize);
    let said = session.messages.last().unwrap();
    let told = "Stopped after 100 requests in one turn. Send a message to go on.";
    assert_eq!(said.blocks, [Block::Text { text: told.into() }]);
}
