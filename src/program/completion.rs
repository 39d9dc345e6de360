//! Answers the composer's completion. One task has the index of files and the list of models. The task answers only the
//! newest question, because each typed key asks again. An answer that comes from elsewhere (`asked`) has its own task.

mod asked;
mod item;
mod order;

pub(super) use order::Order;

use super::connect;
use super::state::Program;
use crate::agent::models::Models;
use crate::complete::{self, Files, ITEMS, Kind, Near, Place, Token};
use crate::context::mention;
use crate::context::slash::Argument;
use crate::conversation::report::Glance;
use crate::event::SessionId;
use crate::nvim::link::Editor;
use crate::nvim::wire::{Complete, Completed, CompletionItem, CompletionKind, Offer, ToNvim};
use crate::provider::endpoint;
use crate::tool::Desk;
use asked::Asked;
use item::{apart, best, item};
use order::{Ask, Source};
use std::time::{Duration, Instant};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// How long an answer waits for the first list of the project's files. After this time the answer has the files that
/// were found so far.
const PATIENCE: Duration = Duration::from_millis(80);
/// The most files that the model has seen or edited and that are offered before other recent files.
const KNOWN: usize = 200;
/// How long a list of models is used before the providers are asked again.
const LISTED: Duration = Duration::from_secs(300);

#[derive(Default)]
struct Listed {
    offers: Vec<Offer>,
    when: Option<Instant>,
    is_asked: bool,
}

struct Completion {
    editor: Editor,
    files: Files,
    listed: Listed,
    /// The task that gets an answer from elsewhere (see `asked`). A newer question ends this task.
    asking: Option<JoinHandle<()>>,
    orders: mpsc::WeakUnboundedSender<Order>,
}

impl Program {
    /// Answers a question of the composer's completion.
    pub(super) fn complete(&self, question: Complete) {
        let Complete { id, session, line, is_first, open, recent } = question;
        let known = self.glance(session.as_ref()).known;
        let near = Near { open, recent: known.into_iter().take(KNOWN).chain(recent).collect() };
        let source = |token: &Token| self.source(token, session.as_ref(), near);
        let token = complete::at(&line, is_first);
        // a session that is still being opened has no tools yet, so the question will be asked again
        let more = token.is_some();
        if let Some((source, token)) = token.and_then(|it| Some((source(&it)?, it))) {
            let replaced = u32::try_from(line.len() - token.start).unwrap_or_default();
            let ask = Ask { id, token, replaced, source };
            let _ = self.completion.send(Order::Ask(Box::new(ask)));
            return;
        }
        self.editor.tell(ToNvim::Completed(Completed { id, replaced: 0, items: Vec::new(), more }));
    }

    fn source(&self, token: &Token, session: Option<&SessionId>, near: Near) -> Option<Source> {
        let desk = || self.desk_of(session);
        let asked = match token.kind {
            Kind::Mention if complete::of_symbol(&token.query).is_some() => Asked::Symbols(desk()?),
            Kind::Mention => return Some(Source::Files(near)),
            Kind::Command => Asked::Commands(desk()),
            Kind::Argument(Argument::Word(words)) => {
                return Some(Source::Words(words.iter().map(|it| (*it).to_owned()).collect()));
            }
            Kind::Argument(Argument::Provider) => {
                return Some(Source::Words(endpoint::names(&self.site.models.users)));
            }
            Kind::Argument(Argument::Model) => {
                return Some(Source::Models(
                    Box::new(self.site.models.clone()),
                    self.site.config.probe,
                ));
            }
            Kind::Argument(Argument::Path) => return Some(Source::Paths),
            Kind::Argument(Argument::Session) => Asked::Sessions(self.archive.project.clone()),
            Kind::Argument(Argument::Skill) => Asked::Skills(desk()?),
            Kind::Argument(Argument::Agent) => Asked::Agents(desk()?),
            Kind::Argument(Argument::Changes) => Asked::Changes(desk()?),
            Kind::Argument(Argument::Drop) => {
                Asked::Largest(self.sessions.agent(self.sessions.find(session?)?)?.clone())
            }
        };
        Some(Source::Asked(Box::new(asked)))
    }

    /// The `Glance` that a session's agent has reported last; the default if there is no agent.
    pub(super) fn glance(&self, session: Option<&SessionId>) -> Glance {
        let session = session.and_then(|it| self.sessions.find(it));
        session.and_then(|it| self.sessions.glance(it)).unwrap_or_default()
    }

    pub(super) fn desk_of(&self, session: Option<&SessionId>) -> Option<Desk> {
        let link = self.sessions.link(self.sessions.find(session?)?)?;
        let (output, _) = mpsc::unbounded_channel();
        Some(self.desk(link.clone(), link, output))
    }
}

/// Begins the task that answers the composer's questions. The task ends when the sender is dropped.
pub(super) fn begin(editor: Editor, files: Files) -> mpsc::UnboundedSender<Order> {
    let (orders, inbox) = mpsc::unbounded_channel();
    let (listed, orders_end) = (Listed::default(), orders.downgrade());
    let completion = Completion { editor, files, listed, asking: None, orders: orders_end };
    tokio::spawn(completion.run(inbox));
    orders
}

impl Completion {
    async fn run(mut self, mut inbox: mpsc::UnboundedReceiver<Order>) {
        while let Some(order) = inbox.recv().await {
            let mut newest = None;
            let mut next = Some(order);
            while let Some(order) = next {
                match order {
                    Order::Prepare if self.files.is_new() => self.walk(),
                    Order::Prepare => (),
                    Order::Ask(ask) => newest = Some(ask),
                    Order::Listed(offers) => {
                        self.listed =
                            Listed { offers, when: Some(Instant::now()), is_asked: false };
                    }
                }
                next = inbox.try_recv().ok();
            }
            if let Some(ask) = newest {
                self.answer(*ask).await;
            }
        }
    }

    fn walk(&mut self) {
        if let Some(walk) = self.files.refresh(Instant::now()) {
            tokio::task::spawn_blocking(walk);
        }
    }

    async fn answer(&mut self, ask: Ask) {
        let Ask { id, token, replaced, source } = ask;
        let query = token.query;
        if let Some(older) = self.asking.take() {
            older.abort();
        }
        let (items, more) = match source {
            Source::Files(near) => {
                // a path in quotes is no keyword
                let is_bare = replaced as usize == query.len() + 1;
                self.mentions(query, near, is_bare).await
            }
            Source::Paths => {
                let search = self.files.search();
                (
                    apart(move || search.paths(&query).into_iter().map(of_place).collect()).await,
                    false,
                )
            }
            Source::Words(words) => {
                let words =
                    words.into_iter().map(|it| item(CompletionKind::Word, it, String::new()));
                (best(&query, words), false)
            }
            Source::Models(models, probes) => {
                self.list_models(*models, probes);
                let offers = self.listed.offers.iter().cloned();
                let models = offers.map(|it| item(CompletionKind::Model, it.name, it.about));
                (best(&query, models), self.listed.is_asked)
            }
            Source::Asked(asked) => {
                let editor = self.editor.clone();
                self.asking = Some(tokio::spawn(async move {
                    let (items, more) = asked.items(&query).await;
                    editor.tell(ToNvim::Completed(Completed { id, replaced, items, more }));
                }));
                return;
            }
        };
        self.editor.tell(ToNvim::Completed(Completed { id, replaced, items, more }));
    }

    async fn mentions(
        &mut self,
        query: String,
        near: Near,
        is_bare: bool,
    ) -> (Vec<CompletionItem>, bool) {
        self.walk();
        let until = Instant::now() + PATIENCE;
        while self.files.is_partial(Instant::now()) && Instant::now() < until {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let (more, search) = (self.files.is_partial(Instant::now()), self.files.search());
        let find = move || {
            let places = search.places(&query, &near);
            let at = complete::before_keywords(&query, &places);
            let mut items: Vec<CompletionItem> = places.into_iter().map(of_place).collect();
            let keywords = complete::keywords(&query).filter(|_| is_bare).map(of_keyword);
            let page = complete::offers_page(&query).then(of_page).filter(|_| is_bare);
            let symbol = complete::offers_symbol(&query).then(of_symbols).filter(|_| is_bare);
            items.splice(at..at, keywords.chain(symbol).chain(page));
            items.truncate(ITEMS);
            items
        };
        (apart(find).await, more)
    }

    /// Asks the providers for their models, unless they have answered lately.
    fn list_models(&mut self, models: Models, probes: bool) {
        let is_fresh = self.listed.when.is_some_and(|it| it.elapsed() < LISTED);
        if is_fresh || self.listed.is_asked {
            return;
        }
        self.listed.is_asked = true;
        let orders = self.orders.clone();
        tokio::spawn(async move {
            let (offers, _) = connect::list_all(&models, probes).await;
            if let Some(orders) = orders.upgrade() {
                let _ = orders.send(Order::Listed(offers));
            }
        });
    }
}

fn of_place(Place { path, text, .. }: Place) -> CompletionItem {
    let is = if path.ends_with('/') { CompletionKind::Folder } else { CompletionKind::File };
    CompletionItem { label: path, text, is, about: String::new() }
}

fn of_page() -> CompletionItem {
    let (label, text) = (complete::PAGE.to_owned(), format!("@{}", complete::PAGE));
    let about = "a page of the web, by its address".to_owned();
    CompletionItem { label, text, is: CompletionKind::Word, about }
}

fn of_symbols() -> CompletionItem {
    let (label, text) = (mention::SYMBOL.to_owned(), format!("@{}", mention::SYMBOL));
    let about = "the definition of a symbol, by its name".to_owned();
    CompletionItem { label, text, is: CompletionKind::Word, about }
}

fn of_keyword(mention::Row { name, about, .. }: &mention::Row) -> CompletionItem {
    let (label, text) = ((*name).to_owned(), format!("@{name}"));
    CompletionItem { label, text, is: CompletionKind::Word, about: (*about).to_owned() }
}
