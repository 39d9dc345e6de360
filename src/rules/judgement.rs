//! The decision of the rules about a call.

use super::rule::Verdict;
use super::touched::Touched;

/// The decision of the rules about a call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Judgement {
    /// The verdict of the strictest rule that fits; `None` if no rule fits.
    pub verdict: Option<Verdict>,
    /// The reason for the verdict, or why no rule allows the call, in one sentence. Empty if no rule has to do with the
    /// call.
    pub why: String,
    /// Whether the call is a command that runs in the complete sandbox, from which it can affect nothing outside.
    pub is_contained: bool,
    /// How the call could send something out for a stranger whose text has come into the conversation.
    pub leak: Option<Leak>,
    /// The command of a rule that would allow the call from now on; empty if Caliban proposes none.
    pub always: String,
    /// The files that a command writes, the folders that it enters and the hosts that it names, as far as its words
    /// tell.
    pub touched: Touched,
    /// The hosts that the user's consent to a command would open.
    pub opens: Vec<String>,
    /// Those of the hosts in `opens` that no rule allows.
    pub unruled: Vec<String>,
}

/// How a call could send something out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leak {
    /// It fetches an address that neither the user nor a page has named.
    Unnamed,
    /// It sends a query that the model has written.
    Query,
    /// It gives arguments to a server.
    Arguments,
    /// It is a command whose purpose is to send something, and no complete sandbox contains it.
    Sending,
    /// It is a command that has to connect to hosts.
    Connecting,
}
