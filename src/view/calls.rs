//! The chat's lines for tool calls, and for the questions before some of them.

use super::blocks::{Content, LIVE_LINES, Shape, View};
use super::question::{Keys, Question};
use super::tool::{Tone, Tool, UNDECIDED};
use super::{call_line, lines, second_person};
use crate::event::{Awaited, Matter, Offer, Ruling, SessionId, Told};
use crate::message::{
    Block as Part, Builtin, CallId, FileDiff, Input, Searched, ToolAnswer, ToolCall,
};
use serde_json::json;

/// How many of the last blocks are searched for an open question.
const ASKED: usize = 400;

fn tone(failed: bool) -> Tone {
    if failed { Tone::Failed } else { Tone::Plain }
}

impl View {
    pub(super) fn complete(&mut self, at: usize, call: &ToolCall) {
        if let Content::Tool(tool) = &mut self.blocks[at].content {
            tool.call = Some(call.clone());
            tool.name.clone_from(&call.tool);
        }
        self.changed(at);
    }

    /// Shows a search by the provider like an answered call.
    pub(super) fn push_search(&mut self, searched: &Searched) -> usize {
        let at = self.push(Shape::Tool, Content::Gone);
        self.show_search(at, searched);
        at
    }

    /// Adds to the searches that were shown while a reply arrived what the complete reply says about them.
    pub(super) fn complete_searches(&mut self, arriving: &[usize], blocks: &[Part]) {
        let is_search = |at: &usize| matches!(&self.blocks[*at].content, Content::Tool(it) if it.answer.is_some());
        let shown: Vec<usize> = arriving.iter().copied().filter(is_search).collect();
        let searches = blocks.iter().filter_map(|it| match it {
            Part::Searched(it) => Some(it),
            _ => None,
        });
        for (n, searched) in searches.enumerate() {
            match shown.get(n) {
                Some(at) => self.show_search(*at, searched),
                None => drop(self.push_search(searched)),
            }
        }
    }

    fn show_search(&mut self, at: usize, searched: &Searched) {
        let (id, tool) = (CallId(String::new()), "web_search".to_owned());
        let query = Some(&searched.query).filter(|it| !it.is_empty());
        let input = query.map_or_else(|| json!({}), |it| json!({ "query": it }));
        let answer = ToolAnswer::done(&id, searched.text(), searched.summary());
        let block = &mut self.blocks[at];
        block.right = call_line::result(&answer, None);
        block.tone = tone(!searched.failed.is_empty());
        block.done = true;
        let open = matches!(&block.content, Content::Tool(it) if it.open);
        let call = ToolCall { id, tool, input: Input::Json(input) };
        let tool = Tool { answer: Some(answer), open, ..Tool::new(&call.tool, Some(&call)) };
        block.content = Content::Tool(Box::new(tool));
        self.changed(at);
        self.fold_above(at);
    }

    /// Shows a question about a call. The call is hidden meanwhile if the question says the same.
    pub(super) fn asked(&mut self, call: &CallId, question: &str, offer: &Offer) {
        self.asked_for(call, question, offer, !offer.subject.is_empty());
    }

    fn asked_for(&mut self, call: &CallId, question: &str, offer: &Offer, covers: bool) {
        let Offer { always, hosts, command, .. } = offer;
        // the call's line may still say that the call is running
        self.set_if_unanswered(call, "not run");
        self.set_right(call, "waiting for you", Tone::Waits);
        let (keys, proposed) = match (&**always, &**hosts, &**command) {
            ("", [], "") => (Keys::Call, String::new()),
            ("", [], _) => (Keys::Command, String::new()),
            ("", hosts, _) => {
                let hosts = hosts.join("`, `");
                let proposed =
                    format!("\n`a` lets this project's commands connect to `{hosts}` from now on.");
                (Keys::Always, proposed)
            }
            (always, ..) => {
                (Keys::Always, format!("\n`a` allows `{always} …` in this project from now on."))
            }
        };
        let question = Question::new(&format!("{question}{proposed}"), keys);
        self.ask(call, question.about(offer).covering(covers));
    }

    pub(super) fn consulted(&mut self, id: &CallId, about: Matter, question: &str, offer: &Offer) {
        self.hide_inquiry();
        // a question that makes way for this one is asked again after it, unless it is withdrawn before
        if let Some(old) = self.consulted.replace(id.clone()).filter(|it| it != id) {
            self.forget_question(Some(&old));
        }
        match about {
            Matter::Subagent => self.asked_for(id, question, offer, false),
            Matter::Instructions | Matter::Rules => {
                self.ask(id, Question::new(question, Keys::Project));
            }
            Matter::Recipient => self.ask(id, Question::new(question, Keys::Recipient)),
            Matter::Port => self.ask(id, Question::new(question, Keys::Port)),
        }
    }

    /// Notes in which session a subagent works on the call.
    pub(super) fn delegated(&mut self, call: &CallId, session: &SessionId) {
        let Some(at) = self.calls.get(call).copied() else { return };
        if let Content::Tool(tool) = &mut self.blocks[at].content {
            tool.session = Some(session.0.clone());
            self.changed(at);
        }
    }

    /// Shows what the subagent that works on the call does now.
    pub(super) fn doing(&mut self, call: &CallId, line: &str) {
        let Some(at) = self.calls.get(call).copied() else { return };
        let Content::Tool(tool) = &mut self.blocks[at].content else { return };
        if tool.answer.is_none() {
            tool.live = lines::clean(line);
            tool.open = true;
            self.changed(at);
        }
    }

    /// Shows a question. `id` is the id of the call that the question is about. A question that is not about a call has
    /// an id of its own. The chat shows one question at a time, so a second one waits until the first is answered. A
    /// question about a port makes way for others, because no call waits for it.
    pub(super) fn ask(&mut self, id: &CallId, question: Question) {
        self.waiting.retain(|it| it.0 != *id);
        let new = (id.clone(), question);
        let Some(at) = self.asked_now() else { return self.show(new) };
        let is_same = self.blocks[at].call.as_ref() == Some(id);
        match &self.blocks[at].content {
            Content::Question(shown) if !is_same && (new.1.can_wait() || !shown.can_wait()) => {
                self.waiting.push(new);
            }
            Content::Question(shown) => {
                let old = self.blocks[at].call.clone().zip(Some((**shown).clone()));
                self.waiting.extend(old.filter(|_| !is_same));
                self.remove(at);
                self.show(new);
            }
            _ => self.show(new),
        }
    }

    fn show(&mut self, (id, question): (CallId, Question)) {
        if question.covers {
            self.cover(&id, true);
        }
        let at = self.push(Shape::Ask, Content::Question(Box::new(question)));
        self.blocks[at].done = true;
        self.blocks[at].call = Some(id);
    }

    /// The block of the question that is shown.
    pub(super) fn asked_now(&self) -> Option<usize> {
        let is_asked = |at: &usize| matches!(self.blocks[*at].content, Content::Question(_));
        (0..self.blocks.len()).rev().take(ASKED).find(is_asked)
    }

    /// Shows the next question that waits, if none is shown.
    pub(super) fn show_next(&mut self) {
        if self.waiting.is_empty() || self.asked_now().is_some() {
            return;
        }
        let at = self.waiting.iter().position(|it| !it.1.can_wait()).unwrap_or(0);
        let next = self.waiting.remove(at);
        self.show(next);
    }

    /// Shows in the open question about a call why the user is asked, or hides it.
    pub fn explain(&mut self, call: &CallId, why: &[String]) {
        let mut asked = self.blocks.iter_mut().enumerate().rev().take(ASKED);
        let question = asked.find_map(|(at, it)| match &mut it.content {
            Content::Question(question) if it.call.as_ref() == Some(call) => Some((at, question)),
            _ => None,
        });
        if let Some((at, question)) = question {
            question.explain(why);
            self.changed(at);
        }
    }

    pub(super) fn ruled(&mut self, call: &CallId, ruling: &Ruling) {
        self.consulted.take_if(|it| it == call);
        self.forget_question(Some(call));
        if let Ruling::Denied { .. } = ruling {
            self.set_right(call, "denied", Tone::Failed);
        }
        if self.inquiry.shown.is_none() {
            self.show_inquiry();
        }
    }

    /// Removes the question about a call, or all questions but the one that is about no call of the turn: that one stays
    /// until it is answered or withdrawn.
    pub(super) fn forget_question(&mut self, call: Option<&CallId>) {
        let consulted = self.consulted.as_ref();
        self.waiting.retain(|(id, it)| match call {
            Some(call) => id != call,
            None => it.can_wait() || consulted == Some(id),
        });
        let asked: Vec<usize> = (0..self.blocks.len())
            .rev()
            .take(ASKED)
            .filter(|at| {
                let it = &self.blocks[*at];
                it.shape == Shape::Ask
                    && !matches!(it.content, Content::Gone)
                    && match call {
                        Some(_) => it.call.as_ref() == call,
                        None => self.consulted.is_none() || it.call != self.consulted,
                    }
            })
            .collect();
        for at in asked {
            if let Some(call) = self.blocks[at].call.clone() {
                self.cover(&call, false);
                self.set_right(&call, "", Tone::Plain);
            }
            self.remove(at);
        }
        self.show_next();
    }

    /// Hides a call, or shows it again.
    pub(super) fn cover(&mut self, call: &CallId, covered: bool) {
        let Some(at) = self.calls.get(call).copied() else { return };
        if self.blocks[at].covered != covered {
            self.blocks[at].covered = covered;
            self.regap(at);
            self.close_gap(at);
        }
    }

    pub(super) fn started(&mut self, call: &CallId, now_ms: u64) {
        let Some(at) = self.calls.get(call).copied() else { return };
        if let Content::Tool(tool) = &mut self.blocks[at].content {
            tool.began_ms = Some(now_ms);
        }
        self.set_if_unanswered(call, "stopped");
        self.set_right(call, "running", Tone::Running);
    }

    /// The name of the file with a call's result, if the result was not loaded yet.
    pub fn unread(&self, id: u32) -> Option<&str> {
        let Content::Tool(tool) = &self.blocks.get(id as usize)?.content else { return None };
        let answer = tool.answer.as_ref().filter(|it| it.text.is_empty());
        answer.and_then(|it| it.output.as_deref())
    }

    /// Shows that changes of a call wait for the user's decision.
    pub(super) fn proposed(&mut self, call: &CallId, what: Awaited, diff: Option<&FileDiff>) {
        if let Some(at) = self.calls.get(call)
            && let Content::Tool(tool) = &mut self.blocks[*at].content
        {
            tool.diff.extend(diff.cloned());
            // how long the user takes says nothing about the call
            tool.began_ms = None;
        }
        self.set_if_unanswered(call, UNDECIDED);
        self.set_right(call, &format!("{what} to review"), Tone::Waits);
    }

    /// Sets the result of a call after it was loaded from its file.
    pub fn read(&mut self, id: u32, text: String) {
        let block = self.blocks.get_mut(id as usize).map(|it| &mut it.content);
        if let Some(Content::Tool(tool)) = block
            && let Some(answer) = &mut tool.answer
        {
            answer.text = text;
        }
    }

    pub(super) fn set_if_unanswered(&mut self, call: &CallId, word: &'static str) {
        if let Some(at) = self.calls.get(call)
            && let Content::Tool(tool) = &mut self.blocks[*at].content
        {
            tool.if_unanswered = word;
        }
    }

    pub(super) fn output(&mut self, call: &CallId, text: &str) {
        let Some(at) = self.calls.get(call).copied() else { return };
        let Content::Tool(tool) = &mut self.blocks[at].content else { return };
        if tool.answer.is_some() {
            return;
        }
        let first = tool.live.is_empty();
        if lines::push_live(&mut tool.live, text, LIVE_LINES) {
            if first && !tool.open {
                tool.open = true;
                self.changed(at);
            } else if tool.open {
                self.dirty.insert(at);
            }
        }
    }

    pub(super) fn changed_by_user(&mut self, call: &CallId, command: &str) {
        self.forget_question(Some(call));
        self.set_command(call, command);
    }

    pub(super) fn limited(&mut self, id: &CallId, question: &str) {
        self.ask(id, Question::new(question, Keys::Limit));
    }

    /// Shows the command that the user has put in the place of the call's.
    pub(super) fn set_command(&mut self, call: &CallId, command: &str) {
        let Some(at) = self.calls.get(call).copied() else { return };
        if let Content::Tool(tool) = &mut self.blocks[at].content
            && let Some(call) = &mut tool.call
        {
            call.set_command(command);
            self.changed(at);
        }
    }

    pub(super) fn answered(&mut self, answer: &ToolAnswer, now_ms: Option<u64>) {
        let Some(at) = self.calls.get(&answer.id).copied() else { return };
        if let Some(command) = &answer.changed {
            self.set_command(&answer.id, command);
        }
        self.unanswered.remove(&at);
        let block = &mut self.blocks[at];
        let Content::Tool(tool) = &mut block.content else { return };
        let took = now_ms.zip(tool.began_ms).map(|(now, began)| now.saturating_sub(began));
        block.right = call_line::result(answer, took);
        block.tone = tone(call_line::is_failure(answer));
        block.done = true;
        let is_list = Builtin::of(&tool.name) == Some(Builtin::Todo) && !answer.failed;
        tool.open = is_list || answer.shown.is_some();
        tool.live = String::new();
        tool.session = answer.session.clone().or(tool.session.take());
        if tool.diff.is_empty() {
            tool.diff.clone_from(&answer.diff);
        }
        tool.answer = Some(answer.clone());
        self.changed(at);
        if is_list && let Some(before) = self.todo.replace(at).filter(|it| *it != at) {
            self.close_tool(before);
        }
        self.fold_around(at);
    }

    /// Shows the user's last verdict on an answered call.
    pub(super) fn judged(&mut self, call: &CallId, summary: &str, failed: bool) {
        let Some(at) = self.calls.get(call).copied() else { return };
        let Content::Tool(tool) = &mut self.blocks[at].content else { return };
        if let Some(answer) = &mut tool.answer {
            summary.clone_into(&mut answer.summary);
            answer.reversed = answer.failed != failed;
        } else if !self.blocks[at].done {
            // the end of the turn would replace the words
            return;
        }
        self.set_right(call, summary, tone(failed));
    }

    /// Adds what a request tells about files on disk to the answer of a call, or shows it by itself.
    pub(super) fn stood(&mut self, told: &Told) {
        let at = told.call.as_ref().filter(|_| !told.is_note).and_then(|it| self.calls.get(it));
        let Some(at) = at.copied() else { return self.notice(&second_person::worded(&told.text)) };
        if let Content::Tool(tool) = &mut self.blocks[at].content
            && let Some(answer) = &mut tool.answer
        {
            answer.text.push('\n');
            answer.text.push_str(&told.text);
            self.changed(at);
        }
    }

    fn close_tool(&mut self, at: usize) {
        if let Content::Tool(tool) = &mut self.blocks[at].content
            && std::mem::take(&mut tool.open)
        {
            self.changed(at);
        }
    }

    pub(super) fn set_right(&mut self, call: &CallId, right: &str, tone: Tone) {
        if let Some(at) = self.calls.get(call).copied() {
            right.clone_into(&mut self.blocks[at].right);
            self.blocks[at].tone = tone;
            self.changed(at);
        }
    }

    pub(super) fn push_tool(
        &mut self,
        id: CallId,
        name: &str,
        call: Option<&ToolCall>,
        began_ms: Option<u64>,
    ) -> usize {
        let tool = Tool { began_ms, ..Tool::new(name, call) };
        self.push_place_of_run(name);
        let at = self.push(Shape::Tool, Content::Tool(Box::new(tool)));
        self.calls.insert(id, at);
        self.unanswered.insert(at);
        at
    }
}
