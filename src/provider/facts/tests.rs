use super::*;
use expect_test::expect;

#[test]
fn a_model_has_the_facts_of_the_longest_matching_name() {
    let names = [
        "claude-sonnet-4-5-20250929",
        "anthropic/claude-sonnet-4.5",
        "claude-opus-4-20250514",
        "claude-opus-4-5",
        "claude-opus-4-6",
        "claude-opus-5-5",
        "claude-sonnet-7",
        "anthropic/claude-3-5-haiku-latest",
        "gpt-5-mini-2025-08-07",
        "gpt-6.1-sol",
        "gpt-4o",
        "gemini-2.5-pro",
        "Qwen/Qwen3-Coder-480B-A35B-Instruct-FP8",
        "my-own",
    ];
    let lines = names.map(|name| {
        let it = Facts::of(name);
        let price = it.price.map(|it| (it.input, it.output, it.cache_read, it.cache_write));
        let temperature = if it.temperature { "temperature " } else { "" };
        format!(
            "{name}: {} {} {:?} {temperature}{} {price:?}\n",
            it.window, it.max_output, it.thinking, it.cache_minimum
        )
    });
    expect![[r#"
        claude-sonnet-4-5-20250929: 200000 64000 Budget temperature 1024 Some((3.0, 15.0, 0.3, 3.75))
        anthropic/claude-sonnet-4.5: 200000 64000 Budget temperature 1024 Some((3.0, 15.0, 0.3, 3.75))
        claude-opus-4-20250514: 200000 32000 Budget temperature 1024 Some((15.0, 75.0, 1.5, 18.75))
        claude-opus-4-5: 200000 64000 Budget temperature 4096 Some((5.0, 25.0, 0.5, 6.25))
        claude-opus-4-6: 1000000 128000 Adaptive temperature 4096 Some((5.0, 25.0, 0.5, 6.25))
        claude-opus-5-5: 1000000 128000 Always 4096 Some((4.0, 20.0, 0.2, 5.0))
        claude-sonnet-7: 200000 32000 Unasked temperature 0 None
        anthropic/claude-3-5-haiku-latest: 200000 8192 Unasked temperature 2048 Some((0.8, 4.0, 0.08, 1.0))
        gpt-5-mini-2025-08-07: 400000 128000 Named 1024 Some((0.25, 2.0, 0.025, 0.25))
        gpt-6.1-sol: 1050000 128000 Named 1024 Some((2.0, 10.0, 0.1, 2.5))
        gpt-4o: 128000 16384 Unasked temperature 1024 Some((2.5, 10.0, 1.25, 2.5))
        gemini-2.5-pro: 1048576 65535 Budget temperature 4096 Some((1.25, 10.0, 0.125, 1.25))
        Qwen/Qwen3-Coder-480B-A35B-Instruct-FP8: 262144 32768 Unasked temperature 0 None
        my-own: 0 8192 Unasked temperature 0 None
    "#]].assert_eq(&lines.concat());
}

#[test]
fn the_users_configuration_overrides_the_table() {
    let user = UserModel {
        calls: None,
        window: None,
        price: Some(Price {
            input: 1.0,
            output: 2.0,
            cache_read: 0.0,
            cache_write: 0.0,
            long: None,
        }),
        num_ctx: Some(65_536),
        edits: Some(Format::Whole),
        vision: Some(false),
        tuning: Tuning {
            thinking: Some(Effort::High),
            temperature: Some(0.1),
            max_output: Some(99),
        },
        trim: None,
        compact: None,
    };
    let mine = Facts::of("mine").with(&user, ThinkingKind::Named);
    assert_eq!((mine.window, mine.max_output), (65_536, 99));
    assert_eq!((mine.thinking, mine.temperature), (ThinkingKind::Named, true));
    assert_eq!(mine.price, user.price);
    assert_eq!(mine.edits, Format::Whole);
    assert_eq!((Facts::of("mine").images, mine.images), (None, Some(false)));
    let known = Facts::of("claude-opus-5");
    assert_eq!(known.with(&user, ThinkingKind::Named).thinking, ThinkingKind::Adaptive);
    assert_eq!(known.with(&UserModel::default(), ThinkingKind::Named), known);
}

#[test]
fn each_model_gets_the_edit_format_that_it_was_trained_on() {
    let names = [
        "openai/gpt-5-mini",
        "gpt-5.3-codex",
        "codex-mini-latest",
        "gpt-6-sol",
        "gpt-4.1",
        "claude-sonnet-4-5",
        "qwen3:8b",
        "qwen3:30b-a3b",
        "Qwen/Qwen2.5-Coder-1.5B-Instruct",
        "gemma-3-4b-it",
        "llama-3.3-70b",
        "mixtral-8x7b",
        "8b-alive",
    ];
    let lines = names.map(|name| format!("{name}: {}\n", Facts::of(name).edits));
    expect![[r#"
        openai/gpt-5-mini: patch
        gpt-5.3-codex: patch
        codex-mini-latest: patch
        gpt-6-sol: patch
        gpt-4.1: replace
        claude-sonnet-4-5: replace
        qwen3:8b: whole
        qwen3:30b-a3b: replace
        Qwen/Qwen2.5-Coder-1.5B-Instruct: whole
        gemma-3-4b-it: whole
        llama-3.3-70b: replace
        mixtral-8x7b: replace
        8b-alive: whole
    "#]]
    .assert_eq(&lines.concat());
}

#[test]
fn the_cost_of_a_reply_counts_cached_tokens_and_long_prompts() {
    let usage =
        |input, cache_read| Usage { input, output: 100_000, cache_read, cache_write: 100_000 };
    let cost = |model: &str, usage| Facts::of(model).price.unwrap().of(usage);
    // 0.1 × 3 + 0.1 × 15 + 1 × 0.3 + 0.1 × 3.75
    assert!((cost("claude-sonnet-4-5", usage(100_000, 1_000_000)) - 2.475).abs() < 1e-9);
    // 0.2 × 1.25 × 2 + 0.1 × 1.25 × 2 + 0.1 × 10 × 1.5: a long prompt
    assert!((cost("gemini-2.5-pro", usage(200_000, 0)) - 2.25).abs() < 1e-9);
}
