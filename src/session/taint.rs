//! Whether strangers' texts have come into the conversation, and whether the user or a page has named an address.

use super::{Exposure, Open, Session, State};
use crate::event::{Access, Grant, Mode};
use crate::message::{Block, Builtin, CallId, ExcerptKind, Message, Origin, Role};
use crate::policy::{self, Decision};
use crate::rules::{Judgement, Leak, Verdict};

/// The most fetches of a turn among which may be addresses that only pages have named.
const FETCHES: usize = 8;

impl Session {
    /// The judgement of the user's rules about a call, with what strangers' texts in the conversation add to it.
    pub(super) fn judged(&self, access: &Access) -> Judgement {
        let judged = self.rules.judge(access);
        let (opens, unruled) = self.unopened(access, &judged);
        let leak = match access {
            _ if !self.is_tainted() => None,
            Access::Fetch { url, .. } => (!self.is_named(url)).then_some(Leak::Unnamed),
            Access::Search { .. } => Some(Leak::Query),
            Access::Remote(_) => Some(Leak::Arguments),
            Access::Act { .. } if !opens.is_empty() => Some(Leak::Connecting),
            Access::Act { command, outside: None, .. } if !judged.is_contained => {
                self.rules.sends(command).then_some(Leak::Sending)
            }
            _ => None,
        };
        let judged = Judgement { leak, opens, unruled, ..judged };
        if self.is_answered_by_rule(access, &judged) {
            return judged;
        }
        Judgement { always: String::new(), ..judged }
    }

    /// Whether a rule that allows the call would answer the question about it. No rule does about files that git would
    /// change, about hosts, and about what sends something out.
    fn is_answered_by_rule(&self, access: &Access, judged: &Judgement) -> bool {
        let allowed = Judgement { verdict: Some(Verdict::Allow), ..judged.clone() };
        policy::decide(self.mode, &self.granted, &allowed, access) == Decision::Allow
    }

    /// The hosts of a command that only the user's consent opens, and those among them that no rule opens.
    fn unopened(&self, access: &Access, judged: &Judgement) -> (Vec<String>, Vec<String>) {
        let Access::Act { hosts, .. } = access else { return Default::default() };
        let is_closed = self.closes_hosts(access, judged);
        let is_granted = |it: &&String| self.granted.contains(&Grant::Connect((*it).clone()));
        let needed = hosts.iter().filter(|it| !is_granted(it));
        let needed = needed.filter(|it| is_closed || !self.rules.opens(it));
        let opens: Vec<String> = needed.cloned().collect();
        let unruled = opens.iter().filter(|it| !self.rules.opens(it)).cloned().collect();
        (opens, unruled)
    }

    /// Whether a stranger's text has come into the conversation: a page, a search, a file outside of the project, a
    /// command, a worker's report, or the task of a subagent whose parent had read such a text. A command counts from
    /// its begin, whatever it prints, because the model may read the files that it writes. A compaction does not
    /// change the answer, because the summary may repeat what the text asked for; nor does it change when the user
    /// takes messages back after files were written, because the files stay.
    pub fn is_tainted(&self) -> bool {
        self.is_born_tainted()
            || !self.exposure.is_none()
            || self.workers.has_noticed
            || self.messages.iter().flat_map(|it| &it.blocks).any(|it| match it {
                Block::Answer(answer) => answer.foreign.is_some(),
                Block::Excerpt(excerpt) => excerpt.origin().is_some(),
                Block::Searched(it) => it.failed.is_empty(),
                _ => false,
            })
    }

    /// Notes that a call has begun.
    pub(super) fn note_begun(&mut self, call: &CallId) {
        let writes = |it: &Open| match it.access {
            Access::Edit { .. } => self.mode >= Mode::AutoEdit && self.is_tainted(),
            _ => it.access.acts(),
        };
        if self.open().iter().any(|it| it.call.id == *call && writes(it)) {
            self.exposure = self.exposure.max(Exposure::Files);
        }
    }

    /// Notes what the messages tell about strangers' texts, before some of them are removed.
    pub(super) fn note_exposure(&mut self) {
        if !self.exposure.is_none() && self.has_read_elsewhere() {
            self.exposure = Exposure::Texts;
        }
    }

    /// Whether the session is a subagent's, and its task may repeat what a stranger's text asked for.
    fn is_born_tainted(&self) -> bool {
        self.parent.as_ref().is_some_and(|it| it.is_tainted)
    }

    /// Whether the provider, at this host, may search the web by itself for the next reply. The user cannot be asked
    /// about such a search, so it is left out wherever a search would have to ask, or is denied. A reply that the
    /// provider has paused goes on with the search that it began.
    pub fn lets_provider_search(&self, host: &str) -> bool {
        let access = Access::Search { query: String::new(), host: host.to_owned() };
        let is_ruled = self.rules.judge(&access).verdict > Some(Verdict::Allow);
        let is_narrowed =
            self.narrowing().iter().any(|it| !it.1.iter().any(|it| it == "web_search"));
        let is_narrowed =
            is_narrowed || self.profile.as_ref().is_some_and(|it| !it.offers("web_search"));
        let is_leak = self.mode == Mode::Auto && self.is_tainted() && self.pauses() == 0;
        !is_ruled && !is_narrowed && !is_leak
    }

    /// Whether a stranger's text other than the output of a command may have come into the conversation.
    pub(super) fn has_read_elsewhere(&self) -> bool {
        self.is_born_tainted()
            || self.exposure == Exposure::Texts
            || self.workers.has_noticed
            || self.messages.iter().flat_map(|it| &it.blocks).any(|it| match it {
                Block::Answer(it) => {
                    it.foreign.as_ref().is_some_and(|it| it.from != Origin::Command)
                }
                Block::Excerpt(excerpt) => excerpt.origin().is_some(),
                Block::Searched(it) => it.failed.is_empty(),
                _ => false,
            })
    }

    /// Whether a command is not connected to the hosts that the rules allow: auto mode runs it without the user's
    /// consent, and a stranger's text may have asked for it, or may come while it goes on as a job. The output of other
    /// commands does not close the hosts for a command that a rule allows, unless it is known to send something.
    fn closes_hosts(&self, access: &Access, judged: &Judgement) -> bool {
        let (command, background) = match access {
            Access::Act { command, background, .. } => (command, *background),
            Access::Format { command, .. } => (command, false),
            _ => return false,
        };
        let is_usual = || judged.verdict == Some(Verdict::Allow) && !self.rules.sends(command);
        let is_granted = access.is_granted_itself(&self.granted);
        let is_exposed =
            background || self.has_read_elsewhere() || self.is_tainted() && !is_usual();
        self.mode == Mode::Auto && !is_granted && is_exposed
    }

    /// Whether a command that begins now is not connected to the hosts that the rules allow.
    pub(super) fn is_closed(&self, it: &Open) -> bool {
        it.state != State::Allowed && self.closes_hosts(&it.access, &it.judged)
    }

    /// The hosts that are open to a command that begins now, whatever the rules allow: those that the user has opened
    /// for the session, and those of a command to which the user has just consented.
    pub(super) fn opened_hosts(&self, it: &Open) -> Vec<String> {
        let granted = self.granted.iter().filter_map(|it| match it {
            Grant::Connect(host) => Some(host),
            _ => None,
        });
        let own = match &it.access {
            Access::Act { hosts, .. } if it.state == State::Allowed => hosts.as_slice(),
            _ => &[],
        };
        granted.chain(own).cloned().collect()
    }

    /// Whether the user has named this whole address, or a page or a result of a search has. Files and outputs of commands
    /// do not count, even if the user has given a file to the model: a command or the model can write any address into
    /// them. Which of a page's addresses the model fetches tells the page something, so after some fetches of a turn only
    /// those of the user count.
    fn is_named(&self, url: &str) -> bool {
        let said =
            self.messages.iter().flat_map(|it| it.blocks.iter().map(move |block| (it.role, block)));
        let said = said.filter(|it| it.0 == Role::User || matches!(it.1, Block::Searched(_)));
        let mut by_page = false;
        for (_, it) in said {
            match it {
                // a subagent's task is the words of a model
                Block::Text { .. } if self.parent.is_some() => (),
                Block::Text { text } if names(text, url) => return true,
                Block::Excerpt(it) => match it.kind {
                    ExcerptKind::Page if it.path == url => return true,
                    ExcerptKind::Page => by_page |= names(&it.text, url),
                    ExcerptKind::Clipboard if names(&it.text, url) => return true,
                    ExcerptKind::Clipboard => (),
                    _ if names(&it.keyword, url) => return true,
                    _ => (),
                },
                Block::Searched(it) => by_page |= it.results.iter().any(|it| it.url == url),
                Block::Answer(answer) => {
                    let is_page = |from: &Origin| matches!(from, Origin::Web(_));
                    by_page |= answer.foreign.as_ref().is_some_and(|it| is_page(&it.from))
                        && names(&answer.text, url);
                }
                _ => (),
            }
        }
        by_page && self.fetches() <= FETCHES
    }

    /// The number of pages that the model has wanted since the user's last words.
    fn fetches(&self) -> usize {
        let is_user = |it: &&Message| {
            it.role == Role::User && it.blocks.iter().any(|it| matches!(it, Block::Text { .. }))
        };
        let turn = self.messages.iter().rev().take_while(|it| !is_user(it));
        let is_fetch = |it: &&Block| matches!(it, Block::Call(it) if it.is_of(Builtin::Fetch));
        turn.flat_map(|it| &it.blocks).filter(is_fetch).count()
    }
}

/// Whether a text contains an address, and not only as the beginning of a longer address.
fn names(text: &str, url: &str) -> bool {
    // an address without a path is mostly written without the slash at its end
    let short = url.strip_suffix('/').filter(|it| it.matches('/').count() == 2);
    let is_end = |rest: &str| {
        let rest = rest.trim_start_matches(['.', ',', ';', ':', '!', '?', '*', '_']);
        let next = rest.chars().next();
        next.is_none_or(|it| it.is_whitespace() || "<>\"'`()[]{}|\\^#".contains(it))
    };
    [Some(url), short]
        .into_iter()
        .flatten()
        .any(|url| text.match_indices(url).any(|(at, _)| is_end(&text[at + url.len()..])))
}

#[cfg(test)]
mod tests {
    use super::names;

    #[test]
    fn only_a_whole_address_counts_as_named() {
        let is_named = |text: &str| names(text, "https://a.org/x");
        for text in [
            "https://a.org/x",
            "see https://a.org/x.",
            "(https://a.org/x)",
            "[a](https://a.org/x), b",
            "<https://a.org/x>",
            "https://a.org/x#part",
            "https://a.org/xy and https://a.org/x",
        ] {
            assert!(is_named(text), "{text}");
        }
        for text in [
            "",
            "https://a.org/",
            "https://a.org/xy",
            "https://a.org/x/y",
            "https://a.org/x?q=1",
            "https://a.org/x.html",
            "http://a.org/x",
            "HTTPS://A.ORG/X",
        ] {
            assert!(!is_named(text), "{text}");
        }
        assert!(names("see https://a.org!", "https://a.org/"));
        assert!(!names("see https://a.org.evil.org", "https://a.org/"));
        assert!(!names("see https://a.org/x", "https://a.org/"));
    }
}
