//! Tests the sections and the largest parts of sessions, and the removal of parts.

use super::*;
use crate::event::{Event, Measure, Queued, TurnId};
use crate::message::{
    Block, CallId, Excerpt, ExcerptKind, Input, Message, Role, ToolAnswer, ToolCall,
};
use crate::provider::facts::Share;
use crate::session;
use expect_test::{Expect, expect};
use proptest::prelude::*;
use serde_json::{Value, json};

const MODEL: &str = "anthropic/claude-sonnet-4-5";

fn excerpt(kind: ExcerptKind, path: &str, bytes: usize) -> Block {
    let (path, text) = (path.to_owned(), "x".repeat(bytes));
    Block::Excerpt(Excerpt { path, kind, text, ..Excerpt::default() })
}

fn text(text: &str) -> Block {
    Block::Text { text: text.into() }
}

fn call(id: &str, tool: &str, input: Value) -> Block {
    Block::Call(ToolCall { id: CallId(id.into()), tool: tool.into(), input: Input::Json(input) })
}

fn answer(id: &str, bytes: usize) -> Block {
    Block::Answer(ToolAnswer::done(&CallId(id.into()), "x".repeat(bytes), ""))
}

/// A conversation with something in each section.
fn session() -> Session {
    let said = |role, blocks| Message { by: MODEL.into(), ..Message::new(role, blocks) };
    let thought = Block::Thinking { text: "hm".repeat(500), signature: None };
    let messages = vec![
        said(
            Role::System,
            vec![
                text(&"s".repeat(4000)),
                excerpt(ExcerptKind::Instructions, "AGENTS.md", 3000),
                excerpt(ExcerptKind::Skills, "", 500),
            ],
        ),
        said(
            Role::User,
            vec![
                excerpt(ExcerptKind::File, "src/a\nb.rs", 20_000),
                text("Rename the helper,\nplease: it has a name that says too little about it."),
            ],
        ),
        said(
            Role::Assistant,
            vec![
                thought,
                text("I look."),
                call("c1", "read", json!({"path": "src/b.rs", "offset": 11, "limit": 90})),
                call("c2", "skill", json!({"name": "rust"})),
                call("c3", "edit", json!({"path": "src/c.rs", "edits": []})),
            ],
        ),
        said(Role::User, vec![answer("c1", 30_000), answer("c2", 1000), answer("c3", 300)]),
        said(Role::Assistant, vec![text(&"It is done. ".repeat(80))]),
        said(Role::Note, vec![text(&"told".repeat(9000))]),
    ];
    Session { messages, model: MODEL.into(), ..Session::default() }
}

fn limits() -> Limits {
    Limits::of(200_000, 32_000, Share::TRIM, Share::COMPACT)
}

fn check(session: &Session, limits: Limits, table: &Expect, line: &Expect) {
    let ledger = Ledger::of(session, 16_000, limits);
    assert_eq!(ledger.sections.iter().sum::<u64>(), ledger.total);
    assert_eq!(ledger.total, parts::of_next(session, 16_000));
    table.assert_eq(&ledger.table());
    line.assert_eq(&ledger.line());
}

#[test]
fn the_table_shows_the_sections_the_window_and_the_largest_items() {
    let session = Session { context: 45_210, ..session() };
    check(
        &session,
        limits(),
        &expect![[r#"
            About 45,000 of 200,000 tokens (23 %)
            stttifffcrrr······································
            s  system prompt    2,349    1 %
            t  tools            9,396    5 %
            i  instructions     1,773    1 %
            k  skills             881   <1 %
            f  files           11,757    6 %
            c  conversation     1,260    1 %
            r  results         17,794    9 %
               in all          45,210   23 %
            ·  free           154,790   77 %
            The provider counted the last request and its reply; the shares of the sections are estimates.
            Old results are trimmed at 100,000 (50 %), and the conversation is compacted at 150,000 (75 %).
            The largest items (`x` takes out the file or the result under the cursor; so does `/context drop N`):
            1.  17,618  result of `read src/b.rs lines 11-100`
            2.  11,757  file src/a b.rs
            3.   1,772  instructions AGENTS.md
            4.     587  thoughts of the model
            5.     587  result of `skill rust`"#]],
        &expect![
            "About 45,000 of 200,000 tokens (23 %). Old results are trimmed at 100,000 (50 %), and the conversation is compacted at 150,000 (75 %)."
        ],
    );
}

#[test]
fn before_the_provider_counts_a_request_all_figures_are_estimates() {
    let session = Session { keeps_whole: true, ..session() };
    check(
        &session,
        limits(),
        &expect![[r#"
            About 19,000 of 200,000 tokens (10 %)
            stffr·············································
            s  system prompt    1,000    1 %
            t  tools            4,000    2 %
            i  instructions       755   <1 %
            k  skills             375   <1 %
            f  files            5,005    3 %
            c  conversation       536   <1 %
            r  results          7,575    4 %
               in all          19,246   10 %
            ·  free           180,754   90 %
            No reply has been counted yet, so all figures are estimates.
            Old results are trimmed at 100,000 (50 %), and only `/compact` compacts the conversation.
            The largest items (`x` takes out the file or the result under the cursor; so does `/context drop N`):
            1.   7,500  result of `read src/b.rs lines 11-100`
            2.   5,005  file src/a b.rs
            3.     754  instructions AGENTS.md
            4.     250  thoughts of the model
            5.     250  result of `skill rust`"#]],
        &expect![
            "About 19,000 of 200,000 tokens (10 %). Old results are trimmed at 100,000 (50 %), and only `/compact` compacts the conversation."
        ],
    );
}

#[test]
fn the_bar_shows_no_free_room_if_the_window_is_not_known() {
    let session = Session { context: 45_210, ..session() };
    check(
        &session,
        Limits::default(),
        &expect![[r#"
            About 45,000 tokens
            sssttttttttttiikfffffffffffffcrrrrrrrrrrrrrrrrrrrr
            s  system prompt   2,349    5 %
            t  tools           9,396   21 %
            i  instructions    1,773    4 %
            k  skills            881    2 %
            f  files          11,757   26 %
            c  conversation    1,260    3 %
            r  results        17,794   39 %
               in all         45,210  100 %
            The provider counted the last request and its reply; the shares of the sections are estimates.
            The window of anthropic/claude-sonnet-4-5 is not known, so only `/compact` makes the conversation shorter.
            The largest items (`x` takes out the file or the result under the cursor; so does `/context drop N`):
            1. 17,618  result of `read src/b.rs lines 11-100`
            2. 11,757  file src/a b.rs
            3.  1,772  instructions AGENTS.md
            4.    587  thoughts of the model
            5.    587  result of `skill rust`"#]],
        &expect![
            "About 45,000 tokens. The window of anthropic/claude-sonnet-4-5 is not known, so only `/compact` makes the conversation shorter."
        ],
    );
}

#[test]
fn a_conversation_larger_than_its_window_fills_the_bar() {
    let session = Session { context: u64::MAX, ..Session::default() };
    check(
        &session,
        limits(),
        &expect![[r#"
        About 4,500,000,000,000,000 of 200,000 tokens (2251799813685 %)
        tttttttttttttttttttttttttttttttttttttttttttttttttt
        t  tools          4,503,599,627,370,496  2251799813685 %
           in all         4,503,599,627,370,496  2251799813685 %
        ·  free                               0    0 %
        The provider counted the last request and its reply; the shares of the sections are estimates.
        Old results are trimmed at 100,000 (50 %), and the conversation is compacted at 150,000 (75 %)."#]],
        &expect![
            "About 4,500,000,000,000,000 of 200,000 tokens (2251799813685 %). Old results are trimmed at 100,000 (50 %), and the conversation is compacted at 150,000 (75 %)."
        ],
    );
}

/// `total` estimates 16,000 bytes, after the provider has counted this many tokens for a request of this many bytes.
#[test]
fn the_estimated_bytes_per_token_follow_only_plausible_counts_of_the_provider() {
    let total = |model: &str, tokens, bytes| {
        let mut session = Session { model: MODEL.into(), ..Session::default() };
        let measure = Measure { tokens, bytes };
        session.apply(&Event::Measured { model: model.into(), measure });
        parts::of_next(&session, 16_000)
    };
    assert_eq!(total(MODEL, 1000, 5000), 3200);
    assert_eq!(total(MODEL, 1000, 1000), 16_000);
    assert_eq!(total(MODEL, 1000, 16_000), 1000);
    // ignored: counts in which a token has less than one byte or very many bytes, and counts of other models
    for (model, tokens, bytes) in [
        (MODEL, 1001, 1000),
        (MODEL, 1000, 16_001),
        (MODEL, 0, 0),
        (MODEL, 0, 9),
        (MODEL, u64::MAX, 9),
        (MODEL, 9, u64::MAX),
        ("openai/gpt-5", 1000, 5000),
    ] {
        assert_eq!(total(model, tokens, bytes), 4000, "{model} {tokens} {bytes}");
    }
    assert_eq!(total(MODEL, u64::MAX, u64::MAX), 16_000);
}

#[test]
fn messages_that_are_not_sent_yet_are_added_to_the_providers_count() {
    let mut session = Session { context: 1000, ..session() };
    assert_eq!(parts::of_next(&session, 16_000), 1000);
    let message = Queued { id: 1, text: "x".repeat(400), context: Vec::new(), steer: false };
    session.apply(&Event::Prompted { turn: TurnId(1), message });
    assert_eq!(parts::of_next(&session, 16_000), 1100);
    let measure = Measure { tokens: 10, bytes: 20 };
    session.apply(&Event::Measured { model: MODEL.into(), measure });
    assert_eq!(parts::of_next(&session, 16_000), 1200);
}

/// Thoughts that the model does not get back are not counted.
#[test]
fn thoughts_of_another_model_are_not_counted() {
    let whole = Ledger::of(&session(), 0, limits()).total;
    let other = Session { model: "openai/gpt-5".into(), ..session() };
    assert_eq!(whole - Ledger::of(&other, 0, limits()).total, 250);
}

fn is_raw(tool: &str) -> bool {
    tool == "read"
}

/// Lists the lines that replace removable items, in the order of the items' sizes, and the names of items that cannot
/// be removed.
#[test]
fn a_removed_item_is_replaced_by_a_line_and_cannot_be_removed_again() {
    let mut session = Session { context: 45_210, ..session() };
    let mut lines = Vec::new();
    let mut before = session.context;
    for entry in Ledger::of(&session, 16_000, limits()).largest {
        let removal = match removal(&session, 16_000, &entry, is_raw) {
            Ok(it) => it,
            Err(why) => {
                lines.push(why);
                continue;
            }
        };
        let Removal { items, tokens, told } = removal;
        lines.push(format!("{}\n{told}", items[0].line));
        session.step(session::Input::Trim { items, tokens, told });
        assert_eq!(before - session.context, tokens);
        before = session.context;
        let again = super::removal(&session, 16_000, &entry, is_raw);
        assert!(again.is_err_and(|it| it.contains("not in the conversation any more")));
    }
    expect![[r#"
        read path="src/b.rs" lines 11-100: 30 kB, trimmed; call read again if needed
        Dropped: the model now gets one line in place of the result of `read src/b.rs lines 11-100` (about 17,000 tokens less).

        [file src/a b.rs: 20 kB, removed by the user; read it again if needed]
        Dropped: the model now gets one line in place of the file src/a b.rs (about 11,000 tokens less).

        The instructions AGENTS.md cannot be taken out: only files and results can. /compact makes the rest shorter.

        The thoughts of the model cannot be taken out: only files and results can. /compact makes the rest shorter.

        skill name="rust": 1 kB, removed by the user
        Dropped: the model now gets one line in place of the result of `skill rust` (about 560 tokens less)."#]].assert_eq(&lines.join("\n\n"));
    let ledger = Ledger::of(&session, 16_000, limits());
    assert_eq!(ledger.total, session.context);
    let rest: Vec<String> = ledger.largest.into_iter().map(|it| it.name).collect();
    expect![[r#"
        instructions AGENTS.md
        thoughts of the model
        reply “It is done. It is done. It is done. It is done. It…”
        list of the skills
        result of `edit src/c.rs`"#]]
    .assert_eq(&rest.join("\n"));
}

/// After `/undo` another excerpt may have the number of the excerpt that was listed.
#[test]
fn after_an_undo_a_listed_number_does_not_remove_another_item() {
    let mut session = session();
    let entry = Ledger::of(&session, 0, limits()).largest.swap_remove(1);
    assert_eq!(entry.name, "file src/a b.rs");
    session.messages[1].blocks[0] = excerpt(ExcerptKind::File, "other.rs", 20_000);
    assert!(removal(&session, 0, &entry, is_raw).is_err());
}

proptest! {
    #[test]
    fn the_shares_of_a_split_add_up_to_the_total(
        total in prop_oneof![any::<u64>(), 0_u64..100],
        weights in prop::array::uniform8(prop_oneof![0_u64..1 << 60, 0_u64..100, Just(0)]),
    ) {
        let shares = split(total, weights);
        prop_assert_eq!(shares.iter().map(|it| u128::from(*it)).sum::<u128>(), u128::from(total));
        let is_empty = weights.iter().all(|it| *it == 0);
        for (share, weight) in shares.iter().zip(weights) {
            prop_assert!(weight > 0 || *share == 0 || is_empty);
        }
    }
}
