//! The files beside a session's file: long outputs and images.

use crate::session::Input;
use crate::store::Store;

/// Writes what an input brings along, before the session names it.
pub(super) fn keep(store: &mut Store, input: &mut Input) {
    match input {
        Input::Answered { answer, .. } => {
            store.keep_output(answer);
            answer.images.iter().for_each(|it| store.keep_image(it));
        }
        Input::Send { context, .. } => {
            context.iter().filter_map(|it| it.image.as_ref()).for_each(|it| store.keep_image(it));
        }
        _ => (),
    }
}

/// The sentence about files that are gone.
pub(super) fn missing(count: usize, what: &str) -> Option<String> {
    match count {
        0 => None,
        1 => Some(format!("One {what} of this conversation is missing. The model is told so.")),
        n => Some(format!("{n} {what}s of this conversation are missing. The model is told so.")),
    }
}
