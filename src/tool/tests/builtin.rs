//! Tests the identities of tools.

use super::*;
use crate::message::Builtin;

#[test]
fn each_tool_that_is_built_in_has_an_identity() {
    let mut names: Vec<String> = arguments::all().names().map(str::to_owned).collect();
    names.extend(own().coordinating().names().map(str::to_owned));
    names.push(workers::notify().name);
    names.sort();
    names.dedup();
    let mut known: Vec<&str> = Builtin::ALL.iter().map(|it| it.name()).collect();
    known.sort_unstable();
    assert_eq!(names, known);
    assert!(known.iter().all(|it| Builtin::of(it).is_some_and(|tool| tool.name() == *it)));
}

#[test]
fn a_strangers_tool_is_never_taken_for_one_of_ours() {
    let stranger = || Author::Stranger("a server".to_owned());
    for tool in Builtin::ALL {
        let theirs = Tool { name: tool.name().to_owned(), author: stranger(), ..shout() };
        let set = own().with(theirs);
        let found = set.find(&format!("{}_of_server", tool.name())).unwrap();
        assert_eq!(found.author, stranger());
        assert!(set.builtin(*tool).is_none_or(|it| it.author != stranger()));
    }
}
