//! The plan that waits for the user: the words in its call's line, and a block at the end of the chat.

use super::blocks::{Content, Shape, View, Waiting};
use super::tool::Tone;
use crate::event::{Event, PlanVerdict};
use crate::message::CallId;
use crate::session::PLAN_REPLACED;

impl View {
    pub(super) fn planned(&mut self, event: &Event) {
        match event {
            Event::PlanSubmitted { call, .. } => self.plan_waits(call),
            Event::PlanDecided { call, verdict } => self.plan_decided(call, *verdict),
            _ => (),
        }
    }

    /// Notes that this plan waits. The end of the turn shows the block about it.
    pub(super) fn plan_waits(&mut self, call: &CallId) {
        self.hide_plan();
        let before = self.plan.take();
        if let Some(it) = &before {
            self.set_right(&it.call, PLAN_REPLACED, Tone::Plain);
        }
        self.plan = Some(Waiting { call: call.clone(), replaces: before.is_some(), shown: None });
    }

    fn plan_decided(&mut self, call: &CallId, verdict: PlanVerdict) {
        self.hide_plan();
        self.plan = None;
        self.set_right(call, verdict.words(), Tone::Plain);
    }

    /// Says at the end of the chat that a plan waits.
    pub(super) fn show_plan(&mut self) {
        self.hide_plan();
        let Some(Waiting { call, replaces, .. }) = &self.plan else { return };
        let replaces = if *replaces { " It replaces the previous plan." } else { "" };
        let call = call.clone();
        // the editor adds the line of keys, because it knows the user's local leader
        let lines = vec![format!("? A plan waits for you.{replaces}")];
        // the block says that the plan waits, so the call's line need not
        self.set_right(&call, "", Tone::Plain);
        let at = self.push(Shape::Plan, Content::Lines(lines));
        self.blocks[at].done = true;
        if let Some(plan) = &mut self.plan {
            plan.shown = Some(at);
        }
    }

    /// Removes the block about the plan, because the user has decided, or has sent a message. After a message, the end
    /// of the turn shows the block again.
    pub(super) fn hide_plan(&mut self) {
        let shown = self.plan.as_mut().and_then(|it| it.shown.take());
        if let Some(at) = shown {
            self.remove(at);
        }
    }
}
