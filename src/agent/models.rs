//! Finds models by name, and keeps the provider for each endpoint.

use crate::context::size::{self, Limits};
use crate::event::{Failure, Tuning};
use crate::message::{Effort, Parameter, Reply, Request, Role, Thinking, Usage};
use crate::provider::dialect::Dialect;
use crate::provider::endpoint::{self, Chosen, Endpoint, Unresolved, UserProvider, claude};
use crate::provider::facts::{Calls, Share, ThinkingKind, UserModel};
use crate::provider::http::Http;
use crate::provider::key::{Secret, Used};
use crate::provider::lesson::{Lesson, Taught};
use crate::provider::{Provider, parameter, stored, tour};
use crate::text::grouped;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// The most tokens of a reply, unless the model's own limit is lower. This is enough for any edit, and stops an endless
/// reply.
pub const MAX_REPLY: u32 = 32_000;

/// All models. Providers are kept, so that a conversation keeps its connection.
#[derive(Clone, Default)]
pub struct Models {
    pub users: BTreeMap<String, UserProvider>,
    /// The user's settings for single models, by full name.
    own: BTreeMap<String, UserModel>,
    /// The user's settings for all models.
    tuning: Tuning,
    /// The shares of a window at which conversations are made shorter, for all models.
    shares: (Share, Share),
    providers: BTreeMap<String, Arc<dyn Provider>>,
    /// Whether the user lets providers search the web by themselves.
    searches: bool,
    /// The model of subagents, and settings of the model, as the user has set them.
    pub subagents: Option<String>,
    /// What errors of providers have taught, by the models' full names.
    taught: BTreeMap<String, Taught>,
    /// The API keys that this value or a clone of it has used.
    pub used: Used,
}

impl Models {
    pub fn new(
        users: BTreeMap<String, UserProvider>,
        own: BTreeMap<String, UserModel>,
        tuning: Tuning,
    ) -> Models {
        Models { users, own, tuning, ..Models::default() }
    }

    /// Sets the shares of a window at which conversations are trimmed and compacted.
    #[must_use]
    pub fn shortening(self, trim: Option<Share>, compact: Option<Share>) -> Models {
        let shares = (trim.unwrap_or(Share::TRIM), compact.unwrap_or(Share::COMPACT));
        Models { shares, ..self }
    }

    /// Sets whether providers may search the web by themselves.
    #[must_use]
    pub fn searching(self, searches: bool) -> Models {
        Models { searches, ..self }
    }

    /// Whether the model's provider can search the web by itself, and the user wants it to.
    pub fn searches(&self, chosen: &Chosen) -> bool {
        self.searches
            && chosen.endpoint.dialect.searches(&chosen.model)
            && self.takes(chosen, Parameter::Search)
    }

    /// The sizes at which a conversation with this model is made shorter.
    pub fn limits(&self, chosen: &Chosen, tuning: Tuning) -> Limits {
        let own = self.own.get(&full_name(chosen)).copied().unwrap_or_default();
        let (trim, compact) = self.shares;
        let trim = if chosen.facts.bound { Share::NEVER } else { own.trim.unwrap_or(trim) };
        let output = u64::from(self.request(chosen, tuning).max_tokens);
        let window = u64::from(chosen.facts.window);
        Limits::of(window, output, trim, own.compact.unwrap_or(compact))
    }

    pub fn is_tour(&self, model: &str) -> bool {
        model == tour::NAME
    }

    /// Remembers a local server that was found by probing.
    pub fn remember(&mut self, chosen: &Chosen) {
        self.answer_by(&chosen.endpoint.name, http(chosen, &self.used));
    }

    /// From now on sends the requests to all models of an endpoint through this provider.
    pub fn answer_by(&mut self, endpoint: &str, provider: Arc<dyn Provider>) {
        self.providers.insert(endpoint.to_owned(), provider);
    }

    /// Uses the user's stored key for a provider. `file` lists the stored keys.
    pub fn connect(&mut self, provider: &str, file: &Path) {
        let user = self.users.entry(provider.to_owned()).or_default();
        user.stored = Some(file.to_owned());
        self.providers.remove(provider);
    }

    /// Finds the endpoint and the model that a full name (`provider/model`) stands for. The error is a sentence.
    pub fn resolve(&self, model: &str) -> Result<Chosen, String> {
        if self.is_tour(model) {
            return Ok(tour::chosen());
        }
        let env = |name: &str| std::env::var(name).ok();
        let mut chosen =
            endpoint::resolve(Some(model), &self.users, &env).map_err(|why| match why {
                Unresolved::Nothing => {
                    "No model is chosen. Choose one with :Caliban model.".to_owned()
                }
                Unresolved::Wrong(text) => text,
            })?;
        if let Some(own) = self.own.get(&full_name(&chosen)) {
            let kind = chosen.endpoint.dialect.thinking();
            chosen.facts = chosen.facts.with(own, kind);
        }
        if let Some(taught) = self.taught.get(&full_name(&chosen)) {
            let facts = &mut chosen.facts;
            let less = |known: u32, it: Option<u32>| it.filter(|it| *it < known || known == 0);
            facts.window = less(facts.window, taught.window).unwrap_or(facts.window);
            facts.max_output = less(facts.max_output, taught.reply).unwrap_or(facts.max_output);
        }
        Ok(chosen)
    }

    /// The full name of the model that a short name of Claude Code's, such as `haiku`, stands for at the provider of
    /// the model `now`. Any other name, or a name of one of the user's providers, is returned unchanged. The error is a
    /// sentence.
    pub fn lengthened(&self, now: &str, name: &str) -> Result<String, String> {
        if !claude::is_short(name) || self.users.contains_key(name) {
            return Ok(name.to_owned());
        }
        let Endpoint { name: provider, .. } = &self.resolve(now)?.endpoint;
        let env = |name: &str| std::env::var(name).ok();
        let endpoint = endpoint::named(provider, &self.users, &env).ok();
        let model = endpoint.and_then(|it| claude::newest(&it, name));
        model.map(|it| format!("{provider}/{it}")).ok_or_else(|| {
            format!("This is Claude Code's name for a model, and Caliban knows no such model of the provider \
                     {provider}.")
        })
    }

    /// A request to the model, to which the conversation is still to be added. `tuning` has the session's settings.
    pub fn request(&self, chosen: &Chosen, tuning: Tuning) -> Request {
        let own = self.own.get(&full_name(chosen)).copied().unwrap_or_default();
        let tuning = tuning.or(own.tuning).or(self.tuning);
        let max_tokens = tuning.max_output.unwrap_or(MAX_REPLY).min(chosen.facts.max_output);
        let thinking = chosen.facts.thinking(tuning.thinking, max_tokens);
        // Anthropic's models accept no temperature while they think.
        let sampled = chosen.facts.temperature
            && !matches!(thinking, Some(Thinking::Budget(_) | Thinking::Adaptive(_)));
        let Taught { mut without, sight, .. } =
            self.taught.get(&full_name(chosen)).cloned().unwrap_or_default();
        if chosen.facts.images == Some(false) {
            without.insert(Parameter::Images);
        }
        Request {
            model: chosen.model.clone(),
            max_tokens,
            thinking,
            temperature: tuning.temperature.filter(|_| sampled),
            num_ctx: own.num_ctx,
            calls_as_text: own.calls == Some(Calls::Text),
            without,
            sight,
            ..Request::default()
        }
    }

    /// Takes in what a provider's error has taught about a model. Returns false if that was known.
    pub fn learn(&mut self, model: &str, lesson: &Lesson) -> bool {
        self.taught.entry(model.to_owned()).or_default().learn(lesson)
    }

    /// The window that an error of the provider has named.
    pub fn learnt_window(&self, model: &str) -> Option<u32> {
        self.taught.get(model).and_then(|it| it.window)
    }

    /// Whether the server has not refused this parameter.
    fn takes(&self, chosen: &Chosen, parameter: Parameter) -> bool {
        let taught = self.taught.get(&full_name(chosen));
        taught.is_none_or(|it| !it.without.contains(&parameter))
    }

    /// The sentence for the user about what an error has taught, if the user has to know.
    pub fn lesson(&self, chosen: &Chosen, lesson: &Lesson) -> Option<String> {
        let model = full_name(chosen);
        let number = |it: &u32| grouped((*it).into());
        Some(match lesson {
            Lesson::LeaveOut(parameter) => self.left_out(chosen, *parameter),
            Lesson::Window(None) | Lesson::Unreadable(_) => return None,
            Lesson::Window(Some(most)) => format!(
                "The provider takes at most {} tokens in a request to {model} and its reply. Until Caliban restarts, \
                 conversations with this model are kept within that.",
                number(most)
            ),
            Lesson::Reply(most) => format!(
                "A reply of {model} has at most {} tokens: from now on Caliban asks for no more.",
                number(most)
            ),
            Lesson::Images(most) => format!(
                "The provider takes at most {} in a request to {model}: from now on the oldest are replaced by a \
                 sentence each.",
                if *most == 1 { "1 image".to_owned() } else { format!("{} images", number(most)) }
            ),
            Lesson::Bytes(most) => format!(
                "The request was too large for the provider. From now on the images of a request to {model} have at \
                 most {} together: the oldest are replaced by a sentence each.",
                size::bytes(usize::try_from(*most).unwrap_or(usize::MAX))
            ),
            Lesson::Side(most) => format!(
                "The provider takes images of at most {} pixels a side in such a request to {model}: from now on \
                 larger ones are replaced by a sentence each.",
                number(most)
            ),
        })
    }

    /// The sentence for the user about a parameter that is left out from now on.
    fn left_out(&self, chosen: &Chosen, parameter: Parameter) -> String {
        let model = full_name(chosen);
        let name = parameter::name(chosen.endpoint.dialect, parameter);
        let instead = match parameter {
            Parameter::MaxTokens if self.takes(chosen, Parameter::MaxCompletionTokens) => {
                "from now on `max_completion_tokens` is sent instead"
            }
            Parameter::MaxCompletionTokens if self.takes(chosen, Parameter::MaxTokens) => {
                "from now on `max_tokens` is sent instead"
            }
            Parameter::Store => {
                "from now on it is left out, and the provider decides whether it stores the conversation"
            }
            Parameter::System => "from now on its text begins the first message",
            Parameter::Images => "from now on each image is replaced by a sentence",
            Parameter::Search => "from now on this provider does not search the web for the model",
            _ => "from now on it is left out",
        };
        format!("The provider does not accept `{name}` for {model}: {instead}.")
    }

    /// A request whose reply has at most `room` tokens.
    pub fn within(&self, chosen: &Chosen, tuning: Tuning, request: Request, room: u32) -> Request {
        if request.max_tokens <= room {
            return request;
        }
        let tuning = Tuning { max_output: Some(room), ..tuning };
        let Request { max_tokens, thinking, temperature, .. } = self.request(chosen, tuning);
        Request { max_tokens, thinking, temperature, ..request }
    }

    /// A sentence about the settings that a model does not accept, if any.
    pub fn ignored(chosen: &Chosen, tuning: Tuning) -> Option<String> {
        let facts = &chosen.facts;
        let name = full_name(chosen);
        let thinks = facts.thinking != ThinkingKind::Unasked;
        let always = facts.thinking == ThinkingKind::Always;
        let thinks_on = (always && tuning.thinking == Some(Effort::Off)).then(|| {
            format!(
                "The thinking of {name} cannot be turned off. Caliban asks for the lowest level instead."
            )
        });
        let without = [
            (tuning.thinking.is_some() && !thinks).then_some("thinking"),
            (tuning.temperature.is_some() && !facts.temperature).then_some("temperature"),
        ];
        let without: Vec<_> = without.into_iter().flatten().collect();
        let unsent = (!without.is_empty()).then(|| {
            format!(
                "Caliban does not know whether {name} accepts a setting for {}, so Caliban sends none.",
                without.join(" or ")
            )
        });
        let said: Vec<_> = thinks_on.into_iter().chain(unsent).collect();
        (!said.is_empty()).then(|| said.join(" "))
    }

    /// The sentence that tells a user with a limit in USD that the model's price is not known. `None` for the tour.
    pub fn unpriced(&self, chosen: &Chosen) -> Option<String> {
        let model = full_name(chosen);
        (!self.is_tour(&model)).then(|| {
            format!(
                "The price of {model} is not known, so a limit in USD does not count its replies. A limit in tokens \
                 does; models['{model}'].price sets the price."
            )
        })
    }

    /// Removes API keys from a text: keys that have been used, keys in environment variables and keys in the file of
    /// stored keys. Runs no command that prints a key.
    pub fn without_keys(&self, text: String) -> String {
        self.keys().iter().fold(text, |text, key| key.taken_out_of(text))
    }

    /// Notes as used all keys that are available without running a command that prints a key.
    pub fn note_keys(&self) {
        self.keys().iter().for_each(|it| self.used.note(it));
    }

    /// All keys that are available without running a command that prints a key.
    pub fn keys(&self) -> Vec<Secret> {
        let env = |name: &str| std::env::var(name).ok();
        let variables = endpoint::key_variables(&self.users, &env).into_iter();
        let given = self.users.values().filter_map(|it| it.stored.as_deref());
        let mut keys = self.used.keys();
        keys.extend(variables.filter_map(|it| env(&it)).map(|it| Secret::given(&it)));
        keys.extend(given.flat_map(stored::in_file));
        keys
    }

    /// The provider for a full name.
    pub fn provider(&mut self, model: &str) -> Result<(Arc<dyn Provider>, Chosen), Failure> {
        let chosen = self
            .resolve(model)
            .map_err(|said| Failure::UnknownModel { model: model.to_owned(), said })?;
        let name = chosen.endpoint.name.clone();
        let provider = self.providers.entry(name).or_insert_with(|| {
            if model == tour::NAME {
                Arc::new(tour::Tour::default())
            } else {
                http(&chosen, &self.used)
            }
        });
        Ok((provider.clone(), chosen))
    }
}

fn http(chosen: &Chosen, used: &Used) -> Arc<dyn Provider> {
    Arc::new(Http::new(chosen.endpoint.clone()).noting(used.clone()))
}

/// `provider/model`.
pub fn full_name(chosen: &Chosen) -> String {
    format!("{}/{}", chosen.endpoint.name, chosen.model)
}

/// A warning if Ollama has read far less than it was sent. If a conversation does not fit its window, Ollama drops the
/// beginning without an error. A token has about four bytes. If Ollama counts less than one token for eight bytes, it
/// has not read all of the text.
pub fn truncated(chosen: &Chosen, request: &Request, usage: Usage) -> Option<String> {
    let Endpoint { dialect, quirks, .. } = chosen.endpoint;
    if dialect != Dialect::Ollama || usage.read() == 0 {
        return None;
    }
    let sent = dialect.body(request, quirks).to_string().len() as u64;
    let (name, window) = (full_name(chosen), chosen.facts.window);
    (usage.read() < sent / 8).then(|| {
        format!(
            "The context window of {name} is too small ({window} tokens): the model read only the end of the \
             conversation, without the instructions and tools. Raise models['{name}'].num_ctx, or start a new \
             conversation with /new."
        )
    })
}

/// A warning if the server has probably left the tools out of the prompt, as one does whose chat template has none. Its
/// count is then far below the size of the request, even if a token had five and a half bytes. Only the first request
/// of a conversation is judged, and only if the tools are a large part of it.
pub fn dropped_tools(chosen: &Chosen, request: &Request, reply: &Reply) -> Option<String> {
    let counted = reply.usage.read();
    let tools = request.tools.iter().map(size::of_spec).sum::<u64>();
    let all = size::of_request(request);
    let rest = all.saturating_sub(tools);
    let is_judged = chosen.endpoint.dialect == Dialect::OpenAiChat
        && !request.calls_as_text
        && reply.calls().next().is_none()
        && request.messages.iter().all(|it| it.role != Role::Assistant)
        && rest <= tools;
    // a count that is too small even for the rest counts something else
    let is_dropped =
        counted.saturating_mul(16) >= rest && counted.saturating_mul(11) / 2 < rest + tools / 2;
    (is_judged && is_dropped && counted > 0).then(|| {
        let (name, sent) = (full_name(chosen), size::rounded(all / 4));
        format!(
            "{name} read {} tokens where Caliban sent about {sent}: its server has probably left the tools out, because \
             its chat template has none. Start the server with a template for tools (llama.cpp: `--jinja`), set \
             models['{name}'].calls = 'text' (:help caliban-calls-as-text), or choose another model with :Caliban \
             model.",
            grouped(counted)
        )
    })
}

/// A warning if the model that answered is not the model that was asked. A name followed by a date counts as the same
/// model.
pub fn substituted(asked: &str, answered: &str) -> Option<String> {
    let (_, asked) = asked.split_once('/')?;
    let plain = |name: &str| -> String {
        let name = name.rsplit('/').next().unwrap_or(name).to_lowercase();
        name.chars().filter(char::is_ascii_alphanumeric).collect()
    };
    let (wanted, got) = (plain(asked), plain(answered));
    let same = got.is_empty() || got.starts_with(&wanted) || wanted.starts_with(&got);
    (!same)
        .then(|| format!("The provider answered with the model `{answered}`, not with `{asked}`."))
}
