//! Turns a settled review into the answers that the model gets for its calls.

use super::super::session_link::Handle;
use super::super::wire::{Reason as WireReason, Reviewed, WireFormatting, WireWhole};
use super::answer::{Answer, Verdict};
use super::entry::Entry;
use super::whole::{absent, answer_to_whole, claim, over};
use crate::edit::{
    self, Back, Decided, Decision, Fate, Formatting, Outcome, Part, Reason, Reported, Revision,
    Whole,
};
use crate::event::{Claim, Claimed, OnDisk};
use crate::message::CallId;
use crate::regular;
use crate::text::Text;
use crate::tool;
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

/// A proposal of the review.
struct Judged<'a> {
    session: Option<Handle>,
    parts: Cow<'a, [Part]>,
    /// The text before the first part, followed by the text after each part.
    texts: Vec<Text>,
    /// The proposed deletion or renaming, and the file's path at that time.
    whole: Option<(Cow<'a, Whole>, &'a Path)>,
    /// The user's decision on each change; empty if the editor does not know the decisions.
    decisions: &'a [Decision],
    /// The user's reasons for rejections of changes, with the changes.
    reasons: Vec<(&'a [usize], &'a str)>,
    /// If the proposal was made before the program was restarted: the other calls that made it.
    others: &'a [String],
}

impl Judged<'_> {
    fn revisions(&self) -> impl Iterator<Item = Revision<'_>> {
        self.texts.windows(2).map(|it| Revision { before: &it[0], after: &it[1] })
    }
}

/// The facts about a settled review that all its answers use.
struct Judge<'a> {
    reviewed: &'a Reviewed,
    /// The file's path as the user sees it.
    shown: String,
    /// The end of each answer.
    ending: String,
    /// The text that the user settled on.
    settled: Option<Text>,
    /// If that text is not saved: the text on disk.
    disk: Option<Text>,
    formattings: Vec<Formatting>,
    /// The lines that earlier answers to the same session have reported.
    told: Reported,
}

impl Judge<'_> {
    /// The answer to one call. `at` is the index of the call's change in `all`.
    fn answer(
        &mut self,
        part: &Part,
        (all, at): (&[Revision<'_>], usize),
        (decisions, reasons): (&[Option<Decision>], &[Reason]),
    ) -> Answer {
        let mut outcome = edit::outcome_among(all, at, self.settled.as_ref(), &self.formattings);
        outcome.is_outside = self.reviewed.outside;
        edit::follow(&mut outcome, all[at], self.settled.as_ref(), decisions);
        if let Some(settled) = &self.settled {
            edit::formatted_since(&mut outcome, (all, at), settled, &self.formattings);
        }
        let mut text = if self.reviewed.gone {
            let is_left = outcome.hunks.iter().all(|it| it.fate == Fate::Left);
            let verb = if is_left { "did not decide on" } else { "rejected" };
            let said = format!("The user {verb} the new file {}: it does not exist.", self.shown);
            outcome.with_reasons(said, reasons)
        } else if is_written_again(self.reviewed) {
            let shown = &self.shown;
            format!(
                "The earlier change in {shown} was undone on disk: the file was gone before it was written again."
            )
        } else {
            outcome.say(&self.shown, reasons, &mut self.told)
        };
        text.push_str(&self.ending);
        let claim = self.claim(&part.call, &outcome, all[at]);
        if !part.note.is_empty() {
            text.push('\n');
            text.push_str(&part.note);
        }
        let failed = outcome.hunks.iter().all(Decided::is_absent);
        let is_unsaved = claim.is_some() && self.reviewed.elsewhere.is_none();
        let unsaved = if is_unsaved { &*self.reviewed.unsaved } else { "" }.to_owned();
        Answer {
            call: part.call.clone(),
            text,
            failed,
            tally: tally(&outcome),
            unsaved,
            files: 1,
            claims: claim.into_iter().collect(),
        }
    }

    /// If the settled text is not saved: what the answer to a call claims about the disk. `part` is the call's change.
    fn claim(&self, call: &CallId, outcome: &Outcome, part: Revision<'_>) -> Option<Claim> {
        let Reviewed { deleted, gone, closed, saved, unsaved, elsewhere, .. } = self.reviewed;
        if *deleted || *gone || *closed || *saved {
            return None;
        }
        let on_disk = edit::outcome(part, self.disk.as_ref());
        let total = on_disk.hunks.len();
        let (there, absent) = (on_disk.count(Fate::Kept), on_disk.count(Fate::Undone));
        let is_absent = outcome.hunks.iter().all(Decided::is_absent);
        let lines = OnDisk { total, there, other: total - there - absent, is_absent };
        let what = Claimed::Unsaved {
            why: unsaved.clone(),
            settled: self.settled.as_ref().map(Text::sha256_hex).unwrap_or_default(),
            disk: self.disk.as_ref().map(Text::sha256_hex),
            lines: elsewhere.is_none().then_some(lines),
        };
        let path = elsewhere.as_ref().unwrap_or(&self.reviewed.path);
        Some(claim(call, path, what))
    }

    /// The answers to the calls of one proposal. `all` has the changes of all proposals of the review; the changes of
    /// this proposal begin at `from`.
    fn answers(
        &mut self,
        judged: &Judged<'_>,
        (all, from): (&[Revision<'_>], usize),
        root: &Path,
    ) -> Vec<Answer> {
        let Judged { parts: own, whole, decisions, reasons, .. } = judged;
        if let Some((whole, path)) = whole {
            return vec![answer_to_whole(&own[0].call, whole, path, self.reviewed, root)];
        }
        let revisions = &all[from..from + own.len()];
        if !judged.others.is_empty() {
            return self.shared(judged, (all, from));
        }
        let answer = |(n, part)| {
            let decisions = edit::decisions(revisions, n, decisions);
            let reasons = edit::reasons(revisions, n, reasons.iter().copied());
            self.answer(part, (all, from + n), (&decisions, &reasons))
        };
        own.iter().enumerate().map(answer).collect()
    }

    /// The answers to several calls of which it is not known who has changed what. The first answer has the text for
    /// the model, and all have the same words for the user, without numbers.
    fn shared(&mut self, judged: &Judged<'_>, (all, at): (&[Revision<'_>], usize)) -> Vec<Answer> {
        let revisions = &all[at..=at];
        let decisions = edit::decisions(revisions, 0, judged.decisions);
        let reasons = edit::reasons(revisions, 0, judged.reasons.iter().copied());
        let mut first = self.answer(&judged.parts[0], (all, at), (&decisions, &reasons));
        for (count, _) in &mut first.tally {
            *count = 0;
        }
        let other = |it: &String| Answer {
            call: CallId(it.clone()),
            text: String::new(),
            failed: first.failed,
            tally: first.tally.clone(),
            unsaved: first.unsaved.clone(),
            files: 1,
            claims: Vec::new(),
        };
        let others: Vec<Answer> = judged.others.iter().map(other).collect();
        std::iter::once(first).chain(others).collect()
    }
}

/// The verdicts of a settled review, one for each session that made proposals in it. `session` is the session in which
/// the user reviewed, if it is open here.
pub(super) fn judge(
    entries: &mut BTreeMap<u32, Entry>,
    (reviewed, session): (&Reviewed, Option<Handle>),
    disk: Option<Text>,
    root: &Path,
) -> Vec<(Verdict, Vec<Answer>)> {
    let shown = tool::path::show(root, &reviewed.path);
    let (settled, text) = match settled(reviewed) {
        _ if reviewed.gone => (None, disk),
        Some(text) if reviewed.elsewhere.is_some() => (Some(text), disk),
        Some(text) => (Some(text.clone()), Some(text)),
        None => (disk.clone(), disk),
    };
    let (formattings, told) = (formattings(reviewed), Reported::default());
    let ending = ending(reviewed, own_renaming(entries, reviewed), &shown, root);
    let disk = reviewed.disk.as_ref();
    let disk = disk.map(|it| Text::from_lines_joined(it, reviewed.eol, false, false));
    let mut judge = Judge { reviewed, shown, ending, settled, disk, formattings, told };
    let (mut at, mut verdicts): (usize, Vec<(Verdict, Vec<Answer>)>) = (0, Vec::new());
    let proposals: Vec<Judged<'_>> = (0..reviewed.proposals.len())
        .filter_map(|at| find(entries, (reviewed, session), at))
        .collect();
    let all: Vec<Revision<'_>> = proposals.iter().flat_map(Judged::revisions).collect();
    let last_written = proposals.iter().rposition(|it| it.whole.is_none());
    let mut reported: HashMap<Option<Handle>, Reported> = HashMap::new();
    for (n, judged) in proposals.iter().enumerate() {
        judge.told = reported.remove(&judged.session).unwrap_or_default();
        let answers = match &judged.whole {
            Some((whole, path))
                if **whole == Whole::Delete
                    && !reviewed.deleted
                    && last_written.is_some_and(|it| it > n) =>
            {
                vec![over(&judged.parts[0].call, path, root)]
            }
            _ => judge.answers(judged, (&all, at), root),
        };
        reported.insert(judged.session, std::mem::take(&mut judge.told));
        at += judged.parts.len();
        let same = verdicts.iter_mut().find(|it| it.0.session == judged.session);
        let Some((_, all)) = same else {
            let was = former_path(entries, reviewed);
            verdicts.push((verdict(reviewed, judged.session, was, text.clone()), answers));
            continue;
        };
        all.extend(answers);
    }
    tell_all_elsewhere(&mut verdicts, entries, &judge, (&proposals, &reported));
    for id in &reviewed.proposals {
        if let Some(entry) = entries.get_mut(id) {
            entry.is_settled = true;
            entry.proposal.told();
        }
    }
    verdicts
}

/// The verdict for a session, without its answers. `text` is the file's text now.
fn verdict(
    reviewed: &Reviewed,
    session: Option<Handle>,
    was: Option<PathBuf>,
    text: Option<Text>,
) -> Verdict {
    let Reviewed { saved, gone, closed, elsewhere, .. } = reviewed;
    Verdict {
        session,
        answers: Vec::new(),
        claims: Vec::new(),
        path: reviewed.path.clone(),
        was,
        saved: *saved || *gone || *closed || elsewhere.is_some(),
        text: text.filter(|_| !reviewed.deleted),
    }
}

/// Tells each session what changed outside of the hunks of its own.
fn tell_all_elsewhere(
    verdicts: &mut [(Verdict, Vec<Answer>)],
    entries: &BTreeMap<u32, Entry>,
    judge: &Judge<'_>,
    (proposals, reported): (&[Judged<'_>], &HashMap<Option<Handle>, Reported>),
) {
    let reviewed = judge.reviewed;
    let tells = !reviewed.deleted && !is_written_again(reviewed);
    if let (Some(settled), true) = (&judge.settled, tells) {
        for (verdict, answers) in verdicts {
            let of = |id| entries.get(id).filter(|it| Some(it.session) == verdict.session);
            let ids = reviewed.proposals.iter().rev();
            let known = ids.filter_map(of).find_map(|it| it.known.as_deref());
            let (Some(answer), Some(whole), Some(told)) = (
                answers.last_mut(),
                own(proposals, verdict.session),
                reported.get(&verdict.session),
            ) else {
                continue;
            };
            tell_elsewhere(answer, whole, settled, (known, told));
        }
    }
}

/// The changes of one session in the review. Changes of other sessions in between would count as its own: then only the
/// changes after them.
fn own<'a>(proposals: &'a [Judged<'_>], session: Option<Handle>) -> Option<Revision<'a>> {
    let is_own = |it: &Judged<'_>| it.session == session;
    let (first, last) = (proposals.iter().position(is_own)?, proposals.iter().rposition(is_own)?);
    let is_alone = proposals[first..=last].iter().all(is_own);
    let before = &proposals[if is_alone { first } else { last }].texts;
    Some(Revision { before: before.first()?, after: proposals[last].texts.last()? })
}

/// Adds to an answer what changed outside of the hunks of `whole`, the changes of one session. `known` is the last text
/// of the file that the model has got since its proposal, and `reported` has the lines that the answers tell.
fn tell_elsewhere(
    answer: &mut Answer,
    whole: Revision<'_>,
    settled: &Text,
    (known, reported): (Option<&Text>, &Reported),
) {
    let told = edit::elsewhere(whole, settled, known, reported);
    if !told.is_empty() {
        answer.text.push('\n');
        answer.text.push_str(&told);
    }
}

/// The path before the file was renamed, or the proposed new path that the user rejected.
fn former_path(entries: &BTreeMap<u32, Entry>, reviewed: &Reviewed) -> Option<PathBuf> {
    let over_limit = |id| match &entries.get(id)?.proposal.whole {
        Some(Whole::Rename { to }) if *to != reviewed.path => Some(to.clone()),
        _ => None,
    };
    reviewed.was.clone().or_else(|| reviewed.proposals.iter().find_map(over_limit))
}

/// A proposal of the review. If the proposal was made before the program was restarted, the editor's copy is used: it
/// has one part, for its first call. The call's id is empty if it is not known.
fn find<'a>(
    entries: &'a BTreeMap<u32, Entry>,
    (reviewed, session): (&'a Reviewed, Option<Handle>),
    at: usize,
) -> Option<Judged<'a>> {
    let id = reviewed.proposals[at];
    let decisions = reviewed.decisions.get(at).map_or(&[][..], |it| it);
    if let Some(entry) = entries.get(&id) {
        let proposal = &*entry.proposal;
        let whole = proposal.whole.as_ref().map(|it| (Cow::Borrowed(it), &*proposal.path));
        let (parts, texts) = (Cow::Borrowed(&proposal.parts[..]), proposal.texts());
        let reasons = reasons(reviewed, at, &texts);
        return Some(Judged {
            session: Some(entry.session),
            parts,
            texts,
            whole,
            decisions,
            reasons,
            others: &[],
        });
    }
    let it = reviewed.texts.iter().find(|it| it.id == id)?;
    let texts = vec![
        Text::from_lines_joined(&it.before, it.before_eol, false, false),
        Text::from_lines_joined(&it.after, it.after_eol, false, false),
    ];
    let call = CallId(it.calls.first().cloned().unwrap_or_default());
    let (back, note) = (Back::default(), String::new());
    let parts = Cow::Owned(vec![Part { call, back, note }]);
    let path = reviewed.was.as_ref().unwrap_or(&reviewed.path);
    let whole = it.whole.map(|whole| match whole {
        WireWhole::Delete => Whole::Delete,
        WireWhole::Rename => Whole::Rename { to: it.to.clone().unwrap_or_default() },
    });
    let whole = whole.map(|it| (Cow::Owned(it), &**path));
    let reasons = reasons(reviewed, at, &texts);
    let others = it.calls.get(1..).unwrap_or_default();
    Some(Judged { session, parts, texts, whole, decisions, reasons, others })
}

/// The user's reasons for rejections of changes of a proposal, with these changes. `texts` are the proposal's. A reason
/// whose changes are not known may be for each of them.
fn reasons<'a>(reviewed: &'a Reviewed, at: usize, texts: &[Text]) -> Vec<(&'a [usize], &'a str)> {
    let has_text = texts.first() != texts.last();
    let is_meant = |it: &&WireReason| {
        let is_known = it.changes.iter().any(|it| !it.is_empty());
        let is_of_others = is_known && it.changes.get(at).is_none_or(Vec::is_empty);
        if it.whole { !has_text } else { !is_of_others }
    };
    let changes = |it: &'a WireReason| it.changes.get(at).map_or(&[][..], |it| it);
    reviewed.reasons.iter().filter(is_meant).map(|it| (changes(it), &*it.reason)).collect()
}

/// The changes that formatters made during the review and while saving.
fn formattings(reviewed: &Reviewed) -> Vec<Formatting> {
    let text = |lines: &str| Text::from_lines_joined(lines, reviewed.eol, false, false);
    let one = |it: &WireFormatting| Formatting { before: text(&it.before), after: text(&it.after) };
    reviewed.formattings.iter().map(one).collect()
}

/// Whether the review ended because the file was gone and the model wrote it again.
fn is_written_again(reviewed: &Reviewed) -> bool {
    reviewed.closed && reviewed.text.is_some() && reviewed.elsewhere.is_none()
}

/// The text that the user settled on, if the editor sent it.
fn settled(reviewed: &Reviewed) -> Option<Text> {
    if reviewed.deleted {
        return Some(Text::default());
    }
    let text = reviewed.text.as_ref()?;
    Some(Text::from_lines_joined(text, reviewed.eol, false, false))
}

/// Whether the final text of a review has to be read from disk.
pub(super) fn is_on_disk(reviewed: &Reviewed) -> bool {
    let is_sent = reviewed.text.is_some() && reviewed.elsewhere.is_none();
    reviewed.gone || (!is_sent && !reviewed.deleted)
}

pub(super) async fn on_disk(path: PathBuf) -> Option<Text> {
    let read = move || Text::decode(&regular::read(&path).ok()?).ok();
    tokio::task::spawn_blocking(read).await.ok().flatten()
}

/// The former path of a file that the user has renamed without a proposal.
fn own_renaming<'a>(entries: &BTreeMap<u32, Entry>, reviewed: &'a Reviewed) -> Option<&'a Path> {
    let whole = |id: &u32| entries.get(id)?.proposal.whole.as_ref();
    let was_proposed = reviewed.proposals.iter().find_map(whole).is_some()
        || reviewed.texts.iter().any(|it| it.whole.is_some());
    reviewed.was.as_deref().filter(|_| !was_proposed)
}

/// The end of each answer: under which name the text is.
fn ending(reviewed: &Reviewed, was: Option<&Path>, shown: &str, root: &Path) -> String {
    if reviewed.deleted || reviewed.gone {
        return String::new();
    } else if let Some(other) = &reviewed.elsewhere {
        let other = tool::path::show(root, other);
        return format!(
            "\nThe user has given the buffer of {shown} the name {other}: this text is there, and {shown} itself stays \
             as it is on disk."
        );
    }
    let mut text = String::new();
    if let Some(was) = was {
        text.push_str(&format!("\n{} is now {shown}.", tool::path::show(root, was)));
    }
    if reviewed.absent && reviewed.closed {
        text.push_str(&format!("\nBut {}", absent(shown)));
    }
    text
}

/// How many hunks of a change the user has decided on in which way, with a word for each way.
fn tally(outcome: &Outcome) -> Vec<(usize, &'static str)> {
    let each = [
        (Fate::Kept, "accepted"),
        (Fate::Undone, "rejected"),
        (Fate::Part, "accepted in part"),
        (Fate::Formatted, "formatted"),
        (Fate::Reworked, "reworked"),
        (Fate::Superseded, "changed again"),
        (Fate::Reverted, "taken back by a formatter"),
        (Fate::Thrown, "undone on disk"),
        (Fate::Left, "not decided"),
    ];
    let counts = each.iter().map(|(fate, word)| (outcome.count(*fate), *word));
    counts.filter(|(count, _)| *count > 0).collect()
}
