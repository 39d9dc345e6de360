//! A request that was too long for its model. What the error says about the window is learnt; then one thing after the
//! other is tried until the request fits: a shorter reply, a summary, one line for each turn, attached files left out.

use super::fitting::{self, Excess, Fitting, Way, squeezed};
use super::models::{Models, full_name};
use super::sampler::Sampler;
use crate::context::compact::Reach;
use crate::context::parts::{Part, Section, Source};
use crate::context::request::images_of;
use crate::context::size::{self, Scale};
use crate::context::trim;
use crate::conversation::Conversation;
use crate::conversation::report::Wish;
use crate::event::{Biggest, Failure, Measure, TurnId};
use crate::message::Request;
use crate::provider::endpoint::Chosen;
use crate::provider::fault::is_of_bytes;
use crate::provider::lesson::Lesson;
use crate::session::{Input, Session};
use crate::tool::Desk;

/// A request asks for a reply of at least this many tokens.
const LEAST_REPLY: u32 = 512;

/// What is tried, in this order.
const STEPS: [Step; 5] = [
    // an attached file that takes more than half of the room alone
    Step::Shed { share: 2 },
    Step::Compact { way: Way { asks: true, drops: true, reach: Reach::Answered, squeeze: 1 } },
    Step::Compact { way: Way { asks: false, drops: true, reach: Reach::All, squeeze: 2 } },
    Step::Shed { share: 8 },
    Step::Compact { way: Way { asks: false, drops: true, reach: Reach::All, squeeze: 8 } },
];

#[derive(Clone, Copy)]
enum Step {
    /// Leaves out attached texts that have more than this part of the room.
    Shed {
        share: u64,
    },
    Compact {
        way: Way,
    },
}

impl Sampler {
    /// Called after a request that was too long for the model, alone or together with its reply. Sends the request again
    /// in a shorter form, or has the conversation compacted first. The error is the failure with which the turn ends,
    /// because nothing is left to try. Without a `failure`, the reply was cut at the end of the window.
    pub(super) fn overflow(
        &mut self,
        conversation: &mut Conversation,
        desk: &Desk,
        turn: TurnId,
        failure: Option<Failure>,
    ) -> Result<(), Option<Failure>> {
        if let Some(failure) = &failure {
            let is_new = self.learn_window(conversation, failure);
            if self.shorten_reply(conversation, failure, is_new) {
                conversation.take(Input::Repeat { turn, told: None });
                return Ok(());
            }
        }
        if self.fitting.relieve(turn, (&self.models, conversation, desk)) {
            return Ok(());
        }
        Err(failure.map(|it| self.ended(conversation, desk, it)))
    }

    /// Takes in the numbers that the error names. Returns true if it names a smaller window than was known.
    fn learn_window(&mut self, conversation: &mut Conversation, failure: &Failure) -> bool {
        let Failure::TooLong { window, prompt, .. } = failure else { return false };
        let model = conversation.session.model.clone();
        if let (Some(prompt), Some((_, sent))) = (prompt, &self.sent) {
            let measure = Measure { tokens: u64::from(*prompt), bytes: size::of_request(sent) };
            conversation.take(Input::Measure { model: model.clone(), measure });
        }
        let Ok(chosen) = self.models.resolve(&model) else { return false };
        let is_less = |it: &u32| chosen.facts.window == 0 || *it < chosen.facts.window;
        let Some(window) = window.filter(is_less) else { return false };
        self.teach(conversation, &chosen, Lesson::Window(Some(window)));
        true
    }

    /// Whether the request fits if it asks for a shorter reply, as far as the error tells.
    fn shorten_reply(&self, conversation: &Conversation, failure: &Failure, is_new: bool) -> bool {
        let is_counted = matches!(failure, Failure::TooLong { prompt: Some(_), .. });
        let session = &conversation.session;
        let (Ok(chosen), Some((_, sent))) = (self.models.resolve(&session.model), &self.sent)
        else {
            return false;
        };
        let window = u64::from(chosen.facts.window);
        let room = room(session, sent, window);
        (is_counted || is_new) && room >= LEAST_REPLY && room < sent.max_tokens
    }

    /// The request with a reply that the rest of the window has room for.
    pub(super) fn fitted(&self, chosen: &Chosen, session: &Session, request: Request) -> Request {
        let window = u64::from(chosen.facts.window);
        let room = if window == 0 { u32::MAX } else { room(session, &request, window) };
        self.models.within(chosen, session.tuning, request, room.max(LEAST_REPLY))
    }

    /// The failure, or what of the request is too big: what every request has, or another part.
    fn ended(&self, conversation: &Conversation, desk: &Desk, failure: Failure) -> Failure {
        let session = &conversation.session;
        let window = self.models.resolve(&session.model).map_or(0, |it| it.facts.window);
        let needed = fitting::fixed(&self.models, session, desk);
        let Failure::TooLong { said, prompt, .. } = &failure else { return failure };
        let said = said.clone();
        if window > 0 && needed > u64::from(window) / 5 * 4 {
            let needed = u32::try_from(needed).unwrap_or(u32::MAX);
            return Failure::SmallWindow { window, needed, said };
        }
        let Some((_, sent)) = &self.sent else { return failure };
        let (biggest, is_compacted) = biggest(&fitting::parts(&self.models, session, desk), sent);
        let is_by_bytes = prompt.is_none() && is_of_bytes(&said);
        let kilobytes = is_by_bytes.then(|| sent_bytes(sent).div_ceil(1000));
        match biggest {
            Biggest::Fixed | Biggest::Conversation | Biggest::Message
                if !is_by_bytes && !is_compacted =>
            {
                failure
            }
            _ => Failure::Unfit { said, kilobytes, biggest, is_compacted },
        }
    }

    /// From now on goes by what an error has taught, in all conversations. Tells the user once.
    pub(super) fn teach(
        &mut self,
        conversation: &mut Conversation,
        chosen: &Chosen,
        lesson: Lesson,
    ) {
        let model = full_name(chosen);
        let is_new = self.models.learn(&model, &lesson);
        let told = self.models.lesson(chosen, &lesson).filter(|_| is_new);
        conversation.wish(Wish::Learn { model, lesson });
        conversation.tell_once(told);
    }

    /// Forgets a window that was learnt, if the provider has counted more tokens than it has.
    pub(super) fn unlearn_window(&mut self, conversation: &mut Conversation, by: &str, read: u64) {
        let Ok(chosen) = self.models.resolve(by) else { return };
        let learnt = self.models.learnt_window(by);
        if learnt.is_some_and(|it| read > u64::from(it)) {
            self.teach(conversation, &chosen, Lesson::Window(None));
        }
    }
}

/// The bytes of a request's images as they are sent.
fn image_bytes(sent: &Request) -> u64 {
    let blocks = sent.messages.iter().flat_map(|it| &it.blocks);
    let bytes = blocks.flat_map(images_of).filter_map(|it| it.bytes());
    bytes.map(|it| (it.len() as u64).div_ceil(3) * 4).sum()
}

/// The bytes of a request, without what its format adds.
fn sent_bytes(sent: &Request) -> u64 {
    size::of_request(sent) + image_bytes(sent)
}

/// The part of a request that has most of its bytes, and whether the request begins with a summary.
fn biggest(parts: &[Part<'_>], sent: &Request) -> (Biggest, bool) {
    let newest = parts.iter().filter(|it| it.section == Section::Conversation);
    let newest = newest.filter_map(|it| it.at).max();
    let (mut fixed, mut message, mut rest) = (0, 0, 0);
    let is_compacted = parts.iter().any(|it| it.source == Source::Handoff);
    for it in parts.iter().filter(|it| it.section != Section::Images) {
        let is_fixed =
            matches!(it.source, Source::System | Source::Tools | Source::Excerpt(_, None));
        let sum = match () {
            () if is_fixed => &mut fixed,
            () if it.at.is_some() && it.at >= newest => &mut message,
            () => &mut rest,
        };
        *sum += it.bytes;
    }
    let all = [
        (image_bytes(sent), Biggest::Images),
        (message, Biggest::Message),
        (fixed, Biggest::Fixed),
        (rest, Biggest::Conversation),
    ];
    let most = all.iter().max_by_key(|it| it.0);
    (most.map_or(Biggest::Conversation, |it| it.1), is_compacted)
}

/// The tokens of a request, by estimate.
fn estimate(session: &Session, request: &Request) -> u64 {
    Scale::of(session).tokens(size::of_request(request))
}

/// The tokens that the window leaves for the reply to this request, with a reserve for errors of the estimate.
fn room(session: &Session, request: &Request, window: u64) -> u32 {
    let prompt = estimate(session, request);
    let reserve = if Scale::is_counted(session) { prompt / 32 } else { prompt / 8 };
    u32::try_from(window.saturating_sub(prompt + reserve + 32)).unwrap_or(u32::MAX)
}

impl Fitting {
    /// Tries the next thing after a request that was too long. Returns true if the request is sent again, at once or
    /// after a compaction; false if nothing is left, or if only the user compacts this conversation.
    fn relieve(
        &mut self,
        turn: TurnId,
        (models, conversation, desk): (&Models, &mut Conversation, &Desk),
    ) -> bool {
        let is_users = conversation.session.keeps_whole || fitting::is_paused(conversation);
        let limits = fitting::limits(models, &conversation.session).filter(|it| it.is_automatic);
        let Some(limits) = limits.filter(|_| !is_users) else { return false };
        let tried = self.excess.filter(|it| it.turn == turn).map_or(0, |it| it.tried);
        for (at, step) in STEPS.iter().enumerate().skip(tried) {
            self.excess = Some(Excess { turn, tried: at + 1 });
            let room = squeezed(&limits, models, conversation, desk, 1).full;
            let is_begun = match *step {
                Step::Shed { share } => shed(conversation, turn, room / share),
                Step::Compact { way } => self.begin_way(models, conversation, desk, way),
            };
            if is_begun {
                return true;
            }
        }
        false
    }

    /// Called after a reply: the requests fit again.
    pub(super) fn fits(&mut self) {
        self.excess = None;
    }
}

/// Leaves attached texts of more than `most` tokens out of the newest message, and sends it again. Returns false if
/// there are none.
fn shed(conversation: &mut Conversation, turn: TurnId, most: u64) -> bool {
    let items = trim::too_long(&conversation.session, most);
    if items.is_empty() {
        return false;
    }
    let told = match items.len() {
        1 => "An attached text is left out, because the model's window has no room for it."
            .to_owned(),
        n => format!(
            "{n} attached texts are left out, because the model's window has no room for them."
        ),
    };
    conversation.take(Input::Trim { items, tokens: 0, told });
    conversation.take(Input::Repeat { turn, told: None });
    true
}
