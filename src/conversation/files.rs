//! The files beside a session's file: long outputs and images.

use crate::session::Input;
use crate::store::Store;

/// Writes the long outputs and images of an input to files, before the session refers to these files.
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

/// The sentence that tells the user that files are missing.
pub(super) fn missing(count: usize, what: &str) -> Option<String> {
    match count {
        0 => None,
        1 => Some(format!("One {what} of this conversation is missing. The model is told so.")),
        n => Some(format!("{n} {what}s of this conversation are missing. The model is told so.")),
    }
}
