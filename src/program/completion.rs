//! Answers the composer's completion. One task has the index of files and the list of models. The task answers only the
//! newest question, because each typed key asks again.

use super::Program;
use super::connect;
use crate::agent::models::Models;
use crate::complete::{self, Files, ITEMS, Kind, Place, Query, Token};
use crate::context::slash::{Argument, Row, TABLE};
use crate::context::{commands, mention};
use crate::event::SessionId;
use crate::nvim::link::Editor;
use crate::nvim::wire::{Complete, Completed, CompletionItem, CompletionKind, Offer, ToNvim};
use crate::provider::endpoint;
use crate::store::Project;
use crate::tool::{Desk, skills};
use std::path::PathBuf;
use std::time::{Duration, Instant};
use tokio::sync::mpsc;

/// How long an answer waits until the project's files are listed for the first time. After this time the answer has the
/// files that were found so far.
const PATIENCE: Duration = Duration::from_millis(80);
/// The longest wait for a language server's answer with symbols.
const SYMBOLS: Duration = Duration::from_secs(1);
/// How long a list of models is used before the providers are asked again.
const LISTED: Duration = Duration::from_secs(300);

pub(super) enum Order {
    /// Begins to list the project's files, because the user has entered a composer.
    Prepare,
    Ask(Box<Ask>),
    Listed(Vec<Offer>),
}

/// A question, and the data that its answer needs.
pub(super) struct Ask {
    id: u32,
    token: Token,
    /// How many bytes before the cursor the completed item replaces.
    replaced: u32,
    source: Source,
}

enum Source {
    /// Absolute paths of the files that are open in the editor.
    Files(Vec<PathBuf>),
    /// The built-in slash commands. With a desk, also the user's own commands, and the skills.
    Commands(Option<Box<Desk>>),
    Words(Vec<String>),
    /// The models of all providers. The flag says whether local servers without a key are asked too.
    Models(Box<Models>, bool),
    Skills(Box<Desk>),
    Symbols(Box<Desk>),
    Sessions(Project),
}

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
    orders: mpsc::WeakUnboundedSender<Order>,
}

impl Program {
    /// Answers a question of the composer's completion.
    pub(super) fn complete(&self, question: Complete) {
        let Complete { id, session, line, is_first, open } = question;
        let source = |token: &Token| match complete::of_symbol(&token.query) {
            Some(_) if token.kind == Kind::Mention => {
                Some(Source::Symbols(Box::new(self.desk_of(session.as_ref())?)))
            }
            _ => self.source(token.kind, session.as_ref(), open),
        };
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

    fn source(
        &self,
        kind: Kind,
        session: Option<&SessionId>,
        open: Vec<PathBuf>,
    ) -> Option<Source> {
        Some(match kind {
            Kind::Mention => Source::Files(open),
            Kind::Command => Source::Commands(self.desk_of(session).map(Box::new)),
            Kind::Argument(Argument::Word(words)) => {
                Source::Words(words.iter().map(|it| (*it).to_owned()).collect())
            }
            Kind::Argument(Argument::Provider) => {
                Source::Words(endpoint::names(&self.models.users))
            }
            Kind::Argument(Argument::Model) => {
                Source::Models(Box::new(self.models.clone()), self.config.probe)
            }
            Kind::Argument(Argument::Session) => Source::Sessions(self.archive.project.clone()),
            Kind::Argument(Argument::Skill) => Source::Skills(Box::new(self.desk_of(session)?)),
        })
    }

    pub(super) fn desk_of(&self, session: Option<&SessionId>) -> Option<Desk> {
        let link = self.sessions.link(self.sessions.find(session?)?)?;
        let (output, _) = mpsc::unbounded_channel();
        Some(self.desk(link, output))
    }
}

/// Begins the task that answers the composer's questions. The task ends when the sender is dropped.
pub(super) fn begin(editor: Editor, files: Files) -> mpsc::UnboundedSender<Order> {
    let (orders, inbox) = mpsc::unbounded_channel();
    let completion =
        Completion { editor, files, listed: Listed::default(), orders: orders.downgrade() };
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
                let answer = self.answer(*ask).await;
                self.editor.tell(ToNvim::Completed(answer));
            }
        }
    }

    fn walk(&mut self) {
        if let Some(walk) = self.files.refresh(Instant::now()) {
            tokio::task::spawn_blocking(walk);
        }
    }

    async fn answer(&mut self, ask: Ask) -> Completed {
        let Ask { id, token, replaced, source } = ask;
        let query = token.query;
        let (items, more) = match source {
            Source::Files(open) => {
                // a word in quotes is a path, never a keyword
                let is_bare = replaced as usize == query.len() + 1;
                self.mentions(query, open, is_bare).await
            }
            Source::Commands(desk) => {
                let more = desk.is_none();
                (apart(move || commands(&query, desk.as_deref())).await, more)
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
            Source::Skills(desk) => {
                let list = move || {
                    let found = skills::find(&desk).found.into_iter();
                    let skills =
                        found.map(|it| item(CompletionKind::Skill, it.name, it.description));
                    best(&query, skills)
                };
                (apart(list).await, false)
            }
            Source::Symbols(desk) => {
                let items = symbols(&desk, &query).await;
                // the language server may still be starting, so the question will be asked again
                let more = items.is_empty();
                (items, more)
            }
            Source::Sessions(project) => {
                let list = move || {
                    let listed = project.list().into_iter();
                    let sessions =
                        listed.map(|it| item(CompletionKind::Session, it.name, it.title));
                    best(&query, sessions)
                };
                (apart(list).await, false)
            }
        };
        Completed { id, replaced, items, more }
    }

    async fn mentions(
        &mut self,
        query: String,
        open: Vec<PathBuf>,
        is_bare: bool,
    ) -> (Vec<CompletionItem>, bool) {
        self.walk();
        let until = Instant::now() + PATIENCE;
        while self.files.is_partial(Instant::now()) && Instant::now() < until {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let (more, search) = (self.files.is_partial(Instant::now()), self.files.search());
        let find = move || {
            let places = search.places(&query, &open).into_iter().map(of_place);
            let mut items: Vec<CompletionItem> = places.collect();
            let keywords = complete::keywords(&query).filter(|_| is_bare).map(of_keyword);
            let at = complete::before_keywords(&query, open.len()).min(items.len());
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

async fn apart(list: impl FnOnce() -> Vec<CompletionItem> + Send + 'static) -> Vec<CompletionItem> {
    tokio::task::spawn_blocking(list).await.unwrap_or_default()
}

/// The items whose names match best.
fn best(query: &str, items: impl Iterator<Item = CompletionItem>) -> Vec<CompletionItem> {
    Query::new(query).best(items, |it| it.label.trim_start_matches('/'), ITEMS)
}

fn commands(query: &str, desk: Option<&Desk>) -> Vec<CompletionItem> {
    let named = |is, name: &str, about: String| item(is, format!("/{name}"), about);
    let mut items: Vec<CompletionItem> = TABLE
        .iter()
        .map(|it: &Row| named(CompletionKind::Command, it.name, it.help.to_owned()))
        .collect();
    if let Some(desk) = desk {
        let own = commands::find(desk).found.into_iter();
        items.extend(own.map(|it| named(CompletionKind::Command, &it.name, it.description)));
        let skills = skills::find(desk).found.into_iter();
        let skills = skills.map(|it| named(CompletionKind::Skill, &it.name, it.description));
        // if a command has the same name as a skill, `/name` calls the command
        let is_free = |it: &CompletionItem| items.iter().all(|had| had.label != it.label);
        let skills: Vec<CompletionItem> = skills.filter(is_free).collect();
        items.extend(skills);
    }
    best(query, items.into_iter())
}

fn item(is: CompletionKind, name: String, about: String) -> CompletionItem {
    CompletionItem { label: name.clone(), text: name, is, about }
}

fn of_place(Place { path, text }: Place) -> CompletionItem {
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

/// The symbols whose names match an unfinished mention such as `symbol:par`.
async fn symbols(desk: &Desk, query: &str) -> Vec<CompletionItem> {
    let name = complete::of_symbol(query).unwrap_or_default();
    let found = tokio::time::timeout(SYMBOLS, mention::symbols(desk, name)).await;
    let items = found.unwrap_or_default().into_iter().map(|(label, about)| {
        let text = format!("@{label}");
        CompletionItem { label, text, is: CompletionKind::Symbol, about }
    });
    best(query, items)
}

fn of_keyword(mention::Row { name, about, .. }: &mention::Row) -> CompletionItem {
    let (label, text) = ((*name).to_owned(), format!("@{name}"));
    CompletionItem { label, text, is: CompletionKind::Word, about: (*about).to_owned() }
}
