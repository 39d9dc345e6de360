//! Questions of the model to the user, with the answers given so far.

use crate::text::unseen;
use serde::{Deserialize, Serialize};

/// The most questions of one call, and the fewest and the most options of a question.
pub const QUESTIONS: usize = 4;
pub const FEWEST: usize = 2;
pub const OPTIONS: usize = 4;
/// The most characters of a question, of an option's label and of its description.
pub const TEXT: usize = 400;
pub const LABEL: usize = 80;
pub const ABOUT: usize = 200;
/// The most characters of the user's own words in one answer.
pub const WORDS: usize = 20_000;

/// The questions of one call. They are open until the user's next message.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Inquiry {
    pub questions: Vec<Question>,
    /// The answers to the first questions, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub given: Vec<Given>,
    /// The options of the next question that the user has marked so far, from 0, ascending. Always empty if only one
    /// may be chosen.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub marked: Vec<usize>,
    /// For each question, the options that were marked when the user went back from it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left: Vec<Vec<usize>>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    pub text: String,
    /// The options. The first one is the model's suggestion.
    pub options: Vec<AnswerOption>,
    /// Whether several options may be chosen.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub multiple: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct AnswerOption {
    pub label: String,
    /// A few words about the option; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub about: String,
}

/// The user's answer to one question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Given {
    /// The chosen options, from 0, ascending; at least one.
    Chosen(Vec<usize>),
    Words(String),
    /// Chosen options, as in `Chosen`, and the user's own words beside them.
    Both(Vec<usize>, String),
    Skipped,
}

impl Given {
    /// The user's own words, beside the options that are marked.
    pub fn words(marked: &[usize], words: String) -> Given {
        if marked.is_empty() { Given::Words(words) } else { Given::Both(marked.to_vec(), words) }
    }

    /// The chosen options.
    pub fn chosen(&self) -> &[usize] {
        match self {
            Given::Chosen(at) | Given::Both(at, _) => at,
            Given::Words(_) | Given::Skipped => &[],
        }
    }
}

impl Inquiry {
    pub fn new(questions: Vec<Question>) -> Inquiry {
        Inquiry { questions, ..Inquiry::default() }
    }

    /// The question that the user answers next, with its index; `None` if all are answered.
    pub fn next(&self) -> Option<(usize, &Question)> {
        let at = self.given.len();
        self.questions.get(at).map(|it| (at, it))
    }

    /// Takes the answers to the first questions, and the marks of the next one.
    pub fn take(&mut self, given: &[Given], marked: &[usize]) {
        let at = self.given.len();
        let shown = std::mem::replace(&mut self.marked, marked.to_vec());
        if given.len() + 1 == at && at < self.questions.len() {
            self.left.resize(self.questions.len(), Vec::new());
            self.left[at] = shown;
        } else if given.len() < at {
            self.left.clear();
        }
        self.given = given.to_vec();
    }

    /// Whether the questions keep the limits of the tool `ask`, and the answers fit the questions. Anybody may have
    /// written the session's file.
    pub fn is_sound(&self) -> bool {
        let is_option = |it: &AnswerOption| {
            is_line(&it.label, LABEL) && (it.about.is_empty() || is_line(&it.about, ABOUT))
        };
        let is_sound = |it: &Question| {
            is_line(&it.text, TEXT)
                && (FEWEST..=OPTIONS).contains(&it.options.len())
                && it.options.iter().all(is_option)
        };
        let fits = |it: (&Question, &Given)| match it.1 {
            Given::Chosen(at) => !at.is_empty() && it.0.may_be(at),
            Given::Words(words) => words.chars().nth(WORDS).is_none(),
            Given::Both(at, words) => {
                !at.is_empty() && it.0.may_be(at) && words.chars().nth(WORDS).is_none()
            }
            Given::Skipped => true,
        };
        (1..=QUESTIONS).contains(&self.questions.len())
            && self.questions.iter().all(is_sound)
            && self.given.len() <= self.questions.len()
            && self.questions.iter().zip(&self.given).all(fits)
            && self.left.len() <= self.questions.len()
            && self.questions.iter().zip(&self.left).all(|(it, at)| it.may_be(at))
            && match self.next() {
                Some((_, it)) if it.multiple => it.may_be(&self.marked),
                _ => self.marked.is_empty(),
            }
    }

    /// The questions and the user's answers, for the model. Marked options count as chosen. Questions without an answer
    /// say so.
    pub fn answers(&self) -> String {
        let is_one = self.questions.len() == 1;
        let marked = Some(Given::Chosen(self.marked.clone())).filter(|_| !self.marked.is_empty());
        let given = self.given.iter().chain(&marked).chain(std::iter::repeat(&Given::Skipped));
        let each = self.questions.iter().zip(given).enumerate().map(|(at, (question, given))| {
            let labels = given.chosen().iter().filter_map(|it| question.options.get(*it));
            let mut said: Vec<String> = labels.map(|it| it.label.clone()).collect();
            match given {
                Given::Words(words) | Given::Both(_, words) => {
                    said.push(format!("(own words) {}", indented(words)));
                }
                Given::Skipped => said.push("(no answer)".to_owned()),
                Given::Chosen(_) => (),
            }
            let said = said.join("; ");
            let number = if is_one { String::new() } else { format!("{}. ", at + 1) };
            format!("{number}{}\n   → {said}", indented(&question.text))
        });
        each.collect::<Vec<_>>().join("\n")
    }

    /// Whether the user has answered a question, or marked an option.
    pub fn has_answers(&self) -> bool {
        !self.given.is_empty() || !self.marked.is_empty()
    }

    /// The questions as one text for scripts and logs, with their options.
    pub fn text(&self) -> String {
        let each = self.questions.iter().map(|it| {
            let options = it.options.iter().map(|it| format!("\n- {}", it.label));
            format!("{}{}", it.text, options.collect::<String>())
        });
        each.collect::<Vec<_>>().join("\n")
    }
}

impl Question {
    /// Whether these indices, which have to ascend, are options that may be chosen together.
    pub fn may_be(&self, at: &[usize]) -> bool {
        at.iter().all(|it| *it < self.options.len())
            && at.is_sorted_by(|one, other| one < other)
            && (self.multiple || at.len() <= 1)
    }
}

/// Whether a text is one line of at most `most` characters, without characters that nobody sees.
pub fn is_line(text: &str, most: usize) -> bool {
    !text.trim().is_empty()
        && text.chars().nth(most).is_none()
        && !text.chars().any(|it| it.is_control() || unseen::is_hidden(it))
}

/// The text with its later lines indented, so that they align with the first line of an item in a numbered list.
fn indented(text: &str) -> String {
    text.trim().replace('\n', "\n   ")
}
