//! Parses a line of bash.

use std::ops::ControlFlow;
use tree_sitter::{ParseOptions, Parser};

/// The parser is stopped after this many reports of its progress. It reports after each hundred operations.
const STEPS: u32 = 20_000;

pub(super) fn tree(line: &str) -> Option<tree_sitter::Tree> {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_bash::LANGUAGE.into()).ok()?;
    let mut steps = 0;
    let mut progress = |_: &tree_sitter::ParseState| {
        steps += 1;
        if steps > STEPS { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let options = ParseOptions::new().progress_callback(&mut progress);
    let bytes = line.as_bytes();
    parser.parse_with_options(&mut |at, _| bytes.get(at..).unwrap_or_default(), None, Some(options))
}
