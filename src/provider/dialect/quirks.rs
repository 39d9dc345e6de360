//! How an endpoint differs from the standard form of its dialect.

/// How an endpoint differs from the standard form of its dialect. The default is the form that most endpoints accept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "facts that do not depend on each other")]
pub struct Quirks {
    /// The endpoint takes the limit of the reply as `max_completion_tokens`; its newer models refuse `max_tokens`.
    pub completion_tokens: bool,
    /// The endpoint refuses `stream_options`, and reports usage without it.
    pub no_stream_options: bool,
    /// The endpoint accepts only call ids of exactly nine letters or digits.
    pub short_ids: bool,
    /// Earlier replies are sent with their reasoning in the field `reasoning_content`: the endpoint refuses a request
    /// in which a reply with tool calls lacks it.
    pub reasoning_back: bool,
    /// Earlier replies are sent with their reasoning as parts of the reply's content.
    pub thinking_parts: bool,
    /// A request asks for thinking by an object called `reasoning`.
    pub reasoning_object: bool,
    /// A request asks for thinking by a switch called `thinking`.
    pub thinking_switch: bool,
    /// The endpoint passes cache marks on to Anthropic's models.
    pub cache_marks: bool,
    /// The endpoint refuses a user's message directly after the answers to calls.
    pub reply_after_tool: bool,
    /// The endpoint refuses two user messages in a row, because its chat template wants user and assistant to
    /// alternate.
    pub alternate: bool,
}

impl Quirks {
    /// The default, as a constant for tables.
    pub const NONE: Quirks = Quirks {
        completion_tokens: false,
        no_stream_options: false,
        short_ids: false,
        reasoning_back: false,
        thinking_parts: false,
        reasoning_object: false,
        thinking_switch: false,
        cache_marks: false,
        reply_after_tool: false,
        alternate: false,
    };

    /// Switches on the quirk with this name. If the name is unknown, the error lists the known names.
    pub fn set(&mut self, name: &str) -> Result<(), String> {
        let mut all = [
            ("completion_tokens", &mut self.completion_tokens),
            ("no_stream_options", &mut self.no_stream_options),
            ("short_ids", &mut self.short_ids),
            ("reasoning_back", &mut self.reasoning_back),
            ("thinking_parts", &mut self.thinking_parts),
            ("reasoning_object", &mut self.reasoning_object),
            ("thinking_switch", &mut self.thinking_switch),
            ("cache_marks", &mut self.cache_marks),
            ("reply_after_tool", &mut self.reply_after_tool),
            ("alternate", &mut self.alternate),
        ];
        let names = all.each_ref().map(|it| it.0).join(", ");
        match all.iter_mut().find(|it| it.0 == name) {
            Some((_, quirk)) => **quirk = true,
            None => return Err(format!("no quirk is called {name}; the quirks are {names}")),
        }
        Ok(())
    }
}
