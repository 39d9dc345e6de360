//! Tests that no session loses anything when it is saved or its journal is replayed.

use super::*;
use crate::event::{Queued, TurnId};
use crate::message::{
    Aside, DiffHunk, FileDiff, Foreign, Image, Inquiry, Kind, Message, Origin, Role, Searched,
};
use crate::session::Phase;
use proptest::prelude::*;

fn words() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(String::new()),
        Just("plain words".to_owned()),
        any::<String>(),
        Just("\u{1}\"\\\u{2028}\r\n\t\u{feff}😀".to_owned()),
    ]
}

fn excerpt() -> impl Strategy<Value = Excerpt> {
    let lines = prop::option::of((1_u32..99, 1_u32..99));
    let kinds = prop_oneof![
        Just(ExcerptKind::File),
        Just(ExcerptKind::Folder),
        Just(ExcerptKind::Selection)
    ];
    (words(), lines, words(), kinds, words()).prop_map(|(path, lines, filetype, kind, text)| {
        let image = (kind == ExcerptKind::File && lines.is_none()).then(|| Image {
            file: path.clone(),
            width: 2,
            height: 3,
            ..Image::default()
        });
        Excerpt { path, lines, filetype, kind, text, image, ..Excerpt::default() }
    })
}

/// An answer in which each field may be set. All fields are named here, so that a new field is part of the law too.
fn answered() -> impl Strategy<Value = ToolAnswer> {
    (words(), words(), any::<[bool; 9]>(), words()).prop_map(|(id, text, flags, said)| {
        let [failed, fault, verdict, is_apart, is_job, is_foreign, asks, is_task, edits] = flags;
        let image = Image { file: said.clone(), width: 2, height: 3, ..Image::default() };
        let foreign = Foreign { from: Origin::Web(said.clone()), own: 3 };
        let lines = vec![format!("+{said}")];
        let diff = FileDiff {
            path: said.clone(),
            kind: Kind::Changed,
            hunks: vec![DiffHunk { old: 1, new: 1, lines }],
            more: 2,
        };
        ToolAnswer {
            id: CallId(id),
            text: if is_apart { String::new() } else { text },
            failed,
            fault,
            verdict,
            reversed: false,
            summary: said.clone(),
            output: is_apart.then(|| said.clone()),
            images: if edits { vec![image] } else { Vec::new() },
            job_end: is_job.then_some(7),
            foreign: is_foreign.then_some(foreign),
            inquiry: asks.then(|| Box::new(Inquiry { marked: vec![1], ..Inquiry::default() })),
            changed: asks.then(|| said.clone()),
            session: is_task.then_some(said),
            diff: if edits { vec![diff] } else { Vec::new() },
            shown: Aside::of(if edits { vec!["a.txt:1".into()] } else { Vec::new() }),
        }
    })
}

fn block() -> impl Strategy<Value = Block> {
    let thinking = (words(), prop::option::of(words()))
        .prop_map(|(text, signature)| Block::Thinking { text, signature });
    let call = (words(), words(), any::<bool>()).prop_map(|(id, text, broken)| {
        let input = if broken {
            Arguments::Broken { text: text.clone(), why: text }
        } else {
            Arguments::Json(json!({"a": [text, 1, -2.5, null], "b": {"c": true}}))
        };
        Block::Call(ToolCall { id: CallId(id), tool: "t".into(), input })
    });
    let answer = answered().prop_map(Block::Answer);
    prop_oneof![
        words().prop_map(|text| Block::Text { text }),
        thinking,
        excerpt().prop_map(Block::Excerpt),
        call,
        answer,
        words().prop_map(|text| Block::Notice { call: Some(CallId(text.clone())), text }),
        words().prop_map(|text| Block::Raw { provider: text.clone(), value: json!([text]) }),
    ]
}

fn session() -> impl Strategy<Value = Session> {
    let role =
        prop_oneof![Just(Role::System), Just(Role::User), Just(Role::Assistant), Just(Role::Note)];
    let message = (role, prop::collection::vec(block(), 0..4))
        .prop_map(|(role, blocks)| Message::new(role, blocks));
    let queued = (words(), prop::collection::vec(excerpt(), 0..2), any::<bool>());
    (
        prop::collection::vec(message, 0..6),
        prop::collection::vec(queued, 0..3),
        prop::collection::vec(words(), 0..3),
        words(),
        any::<[u64; 5]>(),
        0..=crate::event::HIGHEST,
    )
        .prop_map(|(messages, queue, notes, model, counts, turns)| {
            // smaller counts, so that a floating-point number can represent each count exactly
            let [input, output, cache_read, cache_write, context] = counts.map(|it| it >> 12);
            let queue: Vec<Queued> = (1..)
                .zip(queue)
                .map(|(id, (text, context, steer))| Queued { id, text, context, steer })
                .collect();
            let usage = Usage { input, output, cache_read, cache_write };
            let queued = u32::try_from(queue.len()).unwrap();
            let root = PathBuf::from("/p/ü \"q\"");
            Session {
                messages,
                queue,
                notes: notes.into_iter().map(Into::into).collect(),
                model,
                root,
                usage,
                context,
                turns,
                queued,
                ..Session::default()
            }
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn any_session_is_loaded_as_it_was_saved(session in session()) {
        let mut header = SessionFile::new("main", Path::new("/p"));
        let json = header.render(&session, &Unknown::default()).unwrap();
        let (mut header, loaded) = SessionFile::parse(&json).unwrap();
        prop_assert_eq!(&loaded, &session);
        let again = header.render(&loaded, &Unknown::default()).unwrap();
        let (again, json) = (String::from_utf8(again).unwrap(), String::from_utf8(json).unwrap());
        prop_assert_eq!(masked(&again), masked(&json));
        prop_assert_eq!(format!("{:?}", Unknown::of(json.as_bytes())), "Unknown([])");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// The program ends after any number of events of a turn with random calls. At the next start the session is the
    /// same, including the text of a reply that was arriving.
    #[test]
    fn a_journal_replays_to_the_session_that_wrote_it(acts in prop::collection::vec(0_u8..10, 0..30), saved in 0_usize..30) {
        let place = place();
        let mut opened = place.open();
        let (mut live, mut partial) = (Session::default(), Vec::new());
        let open = Input::Open { system: "s".into(), instructions: Vec::new(), model: "m".into(), root: "/p".into() };
        opened.store.append(&live.through(open).events, false).unwrap();
        for (n, act) in acts.iter().enumerate() {
            let turn: TurnId = live.turn().unwrap_or_default();
            let open = live.open().first().map_or("none".into(), |it| it.call.id.0.clone());
            if *act > 7 && matches!(live.phase, Phase::Sampling { .. }) {
                let piece = format!("piece \n\"{n}\" ");
                opened.store.append_piece(&piece).unwrap();
                crate::message::arrive(&mut partial, text(&piece));
                if n % 3 == 0 {
                    let searched = Searched::new(&piece);
                    opened.store.append_search(&searched).unwrap();
                    partial.push(Block::Searched(searched));
                }
                continue;
            }
            let input = match act {
                0 | 1 => send(&format!("prompt {n}")),
                2 => replied(&live, vec![text("words"), Block::Call(call(&format!("c{n}")))]),
                3 => replied(&live, vec![text("the end")]),
                4 | 5 => Input::Answered { turn, answer: answer(&open) },
                6 => Input::ReviewLost { path: format!("/p/{n}").into() },
                _ => Input::Cancel { partial: None },
            };
            let events = live.through(input).events;
            if events.iter().any(|it| matches!(it, Event::Replied { .. } | Event::Ended { .. })) {
                partial.clear();
            }
            if n >= saved && live.phase == Phase::Idle {
                opened.store.save(&live).unwrap();
                live = Session { queued: as_saved(&live).queued, ..live };
            } else {
                opened.store.append(&events, false).unwrap();
            }
        }
        drop(opened);
        let again = place.open();
        let unheld = |it| Session { held: BTreeSet::new(), ..it };
        prop_assert_eq!(unheld(again.session.unwrap()), unheld(live));
        prop_assert_eq!(again.partial, partial);
        prop_assert!(again.warnings.is_empty());
    }
}
