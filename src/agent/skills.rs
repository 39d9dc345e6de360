//! The skills there are, as the model and the user are told of them.

use super::Agent;
use crate::context::instructions::Found;
use crate::message::{Excerpt, ExcerptKind};
use crate::session::Input;
use crate::tool::skills::{self, Skills};

/// What the model hears where skills went and none is left.
const NONE: &str = "There are no skills any more.";

impl Agent {
    /// What a conversation begins with, the names of the skills among it.
    pub(super) fn with_skills(&self, mut found: Found) -> Found {
        let skills = skills::find(&self.setup.desk);
        if !skills.found.is_empty() {
            found.files.push(named(&skills));
        }
        found.problems.extend(skills.problems);
        found
    }

    /// Tells the model of skills that came or went, behind what it has.
    pub(super) fn watch_skills(&mut self) {
        let skills = skills::find(&self.setup.desk);
        let named = named(&skills);
        let heard = self.setup.session.given(ExcerptKind::Skills).last();
        let is_news = named.text != heard.map_or(NONE, |it| &it.text);
        self.tell_once(skills.problems);
        if is_news {
            self.take(Input::Instruct { files: vec![named] });
        }
    }

    /// Sends a message with the text of a skill. `rest`: its name, and the message if there is one.
    pub(super) fn use_skill(&mut self, rest: &str, mut context: Vec<Excerpt>, steer: bool) {
        let (name, words) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        let desk = &self.setup.desk;
        match skills::find(desk).get(name) {
            Ok(skill) => {
                let shown = desk.shown(&skill.path);
                context.insert(0, excerpt(&shown, ExcerptKind::Skill, skill.text(desk)));
                let words = words.trim();
                let text = if words.is_empty() {
                    format!("Use the skill `{name}`.")
                } else {
                    words.to_owned()
                };
                self.prepare(text, context, steer);
            }
            Err(why) => {
                self.bounce(format!("/skill {rest}"), context, format!("{why} Nothing was sent."));
            }
        }
    }

    /// The skills and what is wrong with some, for the user.
    pub(super) fn list_of_skills(&self) -> String {
        let desk = &self.setup.desk;
        let Skills { found, problems } = skills::find(desk);
        let mut lines = Vec::new();
        for it in found {
            lines.push(format!("  {}: {}", it.name, it.description));
            lines.push(format!("      {}", desk.shown(&it.path)));
        }
        lines.extend(problems);
        let folders = format!("`.caliban/skills` and `{}`", desk.shown(&skills::users(desk)));
        if lines.is_empty() {
            return format!(
                "There are no skills: they are folders with a `SKILL.md` in {folders}."
            );
        }
        format!("Skills, from {folders}:\n{}", lines.join("\n"))
    }
}

/// What the model is told of the skills there are.
fn named(skills: &Skills) -> Excerpt {
    let text = match skills.list() {
        (list, _) if list.is_empty() => NONE.to_owned(),
        (list, 0) => list,
        (list, more) => format!("{list}({more} more have no place here.)\n"),
    };
    excerpt("skills", ExcerptKind::Skills, text)
}

fn excerpt(path: &str, kind: ExcerptKind, text: String) -> Excerpt {
    Excerpt { path: path.to_owned(), lines: None, filetype: String::new(), kind, text }
}
