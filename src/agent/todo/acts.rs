//! What the user does with the project's to-do list.

use crate::agent::{Agent, TodoAct};
use crate::conversation::report::{Level, Report, Show};
use crate::session::Input;
use crate::text::cause;
use crate::tool::Desk;
use crate::tool::todo::list::{FILE, List};
use tokio::sync::mpsc;

/// Takes or removes the list, unless the user is editing its file.
pub(in crate::agent) fn act(agent: &mut Agent, act: TodoAct) {
    let (desk, results) = (agent.desk.clone(), agent.turn.results());
    let session = agent.conversation.id.0.clone();
    let screen = agent.conversation.screen();
    tokio::spawn(async move {
        if let Err(why) = carry_out(&desk, &session, act, &results).await {
            // the send fails only when the editor is gone
            let _ = screen.send(Show::Now(Report::Notice { level: Level::Warn, text: why }));
        }
    });
}

async fn carry_out(
    desk: &Desk,
    session: &str,
    act: TodoAct,
    results: &mpsc::UnboundedSender<Input>,
) -> Result<(), String> {
    if desk.workspace.changed().await.contains(&desk.root.join(FILE)) {
        return Err(format!("{FILE} has unsaved changes. Write or undo them first."));
    }
    let list = List::load(&desk.root).map_err(|why| {
        format!("{FILE} is not a to-do list of Caliban's ({why}), so it stays as it is.")
    })?;
    if list.todos.is_empty() {
        return Err("The project has no to-do list.".to_owned());
    }
    let fail = |fault| format!("{FILE} cannot be written ({}).", cause(&fault));
    let note = match act {
        TodoAct::Take if !list.is_foreign(session) => {
            return Err("This conversation already keeps the list.".to_owned());
        }
        TodoAct::Take => {
            let list = List { session: session.to_owned(), ..list };
            list.keep(&desk.root).map_err(fail)?;
            format!(
                "The user handed you the to-do list that another conversation left. It is yours now:\n{}",
                list.lines()
            )
        }
        TodoAct::Remove => {
            List::remove(&desk.root).map_err(fail)?;
            "The user removed the project's to-do list.".to_owned()
        }
    };
    // the send fails only when the conversation is over
    let _ = results.send(Input::Note { text: note });
    Ok(())
}
