//! Large sessions: the cost of opening a session of 10,000 messages, of saving a turn in such a session, of listing
//! 1,000 sessions, and of starting an editor that finds an interrupted turn.

use super::Subject;
use super::editor::Editor;
use super::report::{Target, median, row};
use super::server::Server;
use super::stream::{milliseconds, number, ranked, typing};
use super::text;
use caliban::event::SessionId;
use caliban::message::{
    Block, CallId, Input as Arguments, Message, Reply, Role, Stop, ToolAnswer, ToolCall, Usage,
};
use caliban::session::{Input, Session};
use caliban::store::{Project, Store};
use serde_json::json;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

/// The number of messages in the large session, and in the small session for comparison.
const LARGE: usize = 10_000;
const SMALL: usize = 100;
/// The number of bytes of a command's output, and of an output that makes a session of 200 MB.
const OUTPUT: usize = 2_000;
const HUGE_OUTPUT: usize = 80_000;
/// The number of listed sessions.
const LISTED: usize = 1_000;
/// The number of editor starts; every second one has an interrupted turn.
const STARTS: usize = 200;
/// The last character of a session, which occurs nowhere else.
const END: char = '\u{16a0}';

fn words(bytes: usize, seed: usize) -> String {
    text::tokens(bytes * 2 / 9, seed as u64).concat()
}

fn said(role: Role, blocks: Vec<Block>) -> Message {
    Message::new(role, blocks)
}

fn call(turn: usize) -> ToolCall {
    let input = Arguments::Json(json!({ "command": format!("make part-{turn}") }));
    ToolCall { id: CallId(format!("call_{turn}")), tool: "shell".into(), input }
}

/// The messages of a turn: a prompt, a call, its output, a reply.
fn turn(n: usize, output: usize) -> [Message; 4] {
    let text = |bytes| Block::Text { text: words(bytes, n) };
    let output = format!("part {n}\n{}", words(output, n));
    let answer = ToolAnswer::done(&call(n).id, output, "ok");
    let prompt = format!("prompt {n}: {}", words(80, n));
    [
        said(Role::User, vec![Block::Text { text: prompt }]),
        said(Role::Assistant, vec![text(200), Block::Call(call(n))]),
        said(Role::User, vec![Block::Answer(answer)]),
        said(Role::Assistant, vec![text(600)]),
    ]
}

fn session(messages: usize, output: usize) -> Session {
    let system = vec![Block::Text { text: words(4_000, 0) }];
    let mut all = vec![said(Role::System, system)];
    all.extend((0..messages / 4).flat_map(|n| turn(n, output)));
    all.push(said(Role::Assistant, vec![Block::Text { text: format!("The end {END}") }]));
    Session {
        title: "a large one".into(),
        model: "anthropic/claude-sonnet-4-5".into(),
        turns: (messages / 4) as u32,
        context: 90_000,
        messages: all,
        ..Session::default()
    }
}

fn id(name: &str) -> SessionId {
    SessionId(name.to_owned())
}

fn store(project: &Project, name: &str) -> Store {
    project.open(&id(name)).unwrap().store
}

/// Saves a large session and its long outputs.
fn prepare(project: &Project, output: usize) {
    let mut store = store(project, "large");
    let mut session = session(LARGE, output);
    store.keep_outputs(&mut session);
    store.save(&session).unwrap();
}

fn opening(output: usize) -> String {
    let server = Server::start();
    let (mut first, mut whole, mut pause, mut key) = (vec![], vec![], vec![], vec![]);
    for _ in 0..3 {
        let mut editor = Editor::start(Subject::Caliban, server.port);
        prepare(&editor.sessions(), output);
        editor.listen(Duration::from_millis(500));
        editor.lua("Probe.start()", &[]);
        let start = Instant::now();
        editor.keys(":Caliban resume large<CR>");
        first.push(editor.wait(END) - start);
        editor.keys("<Cmd>stopinsert | wincmd p<CR>A");
        let keys = typing(&mut editor, |editor| {
            let there = "local c = require('caliban.chat.chats').find('large')\
                return vim.iter(vim.api.nvim_buf_get_lines(c.transcript, 0, 9, false)):any(function(it)\
                return vim.startswith(it, 'prompt 0:') end)";
            editor.lua(there, &[]).as_bool().unwrap()
        });
        whole.push(start.elapsed());
        key.extend(milliseconds(&keys));
        let probed = editor.lua("return Probe.stop()", &[]);
        pause.extend(probed[0].as_array().into_iter().flatten().map(number));
    }
    let mid = |times: &[Duration]| median(milliseconds(times));
    let own = |name: &str, value, most| row(name, [None, None, Some(value)], &most);
    [
        own("first screen, ms", mid(&first), Target::Most(100.0)),
        own("all of it, ms", mid(&whole), Target::None),
        own("pause meanwhile, p99, ms", ranked(pause.clone())[1], Target::Most(16.0)),
        own("pause meanwhile, max, ms", ranked(pause)[2], Target::None),
        own("key meanwhile, p99, ms", ranked(key.clone())[1], Target::Most(16.0)),
        own("key meanwhile, max, ms", ranked(key)[2], Target::None),
    ]
    .concat()
}

/// The store's time for each of `count` turns, in milliseconds.
fn turns(messages: usize, count: usize) -> Vec<f64> {
    let dir = tempfile::tempdir().unwrap();
    let project = Project::new(dir.path(), Path::new("/bench"));
    let mut live = session(messages, OUTPUT);
    let mut store = store(&project, "main");
    store.save(&live).unwrap();
    let run = |n: usize| {
        let mut spent = Duration::ZERO;
        let [_, asked, answered, said] = turn(100_000 + n, OUTPUT);
        let reply = |it: Message| Reply {
            blocks: it.blocks,
            stop: Stop::EndTurn,
            usage: Usage::default(),
            model: String::new(),
            by: String::new(),
        };
        let Some(Block::Answer(answer)) = answered.blocks.into_iter().next() else { panic!() };
        let plan =
            caliban::event::Plan { call: answer.id.clone(), access: caliban::event::Access::Read };
        let turn = caliban::event::TurnId(live.turns + 1);
        for mut input in [
            Input::Send { text: words(80, n), context: Vec::new(), steer: false },
            Input::Replied { turn, reply: reply(asked), plans: vec![plan] },
            Input::Answered { turn, answer },
            Input::Replied { turn, reply: reply(said), plans: Vec::new() },
        ] {
            let start = Instant::now();
            if let Input::Answered { answer, .. } = &mut input {
                store.keep_output(answer);
            }
            let step = live.step(input);
            store.record(&live, &step.events, false).unwrap();
            spent += start.elapsed();
        }
        assert!(live.turn().is_none());
        spent
    };
    milliseconds(&(0..count).map(run).collect::<Vec<_>>()).collect()
}

fn saving() -> String {
    let mean = |times: &[f64]| times.iter().sum::<f64>() / times.len() as f64;
    let [small, large] = [SMALL, LARGE].map(|it| turns(it, 60));
    let own = |name: &str, value, most| row(name, [None, None, Some(value)], &most);
    [
        own("saving a turn, 100 messages, mean, ms", mean(&small), Target::None),
        own("saving a turn, 10,000 messages, mean, ms", mean(&large), Target::None),
        own("saving a turn, 10,000 messages, max, ms", ranked(large.clone())[2], Target::None),
        own("10,000 messages × 100 messages", mean(&large) / mean(&small), Target::Most(2.0)),
    ]
    .concat()
}

fn listing() -> String {
    let dir = tempfile::tempdir().unwrap();
    let project = Project::new(dir.path(), Path::new("/bench"));
    store(&project, "main").save(&session(SMALL, OUTPUT)).unwrap();
    let json = fs::read(project.dir().join("main.json")).unwrap();
    for n in 1..LISTED {
        fs::write(project.dir().join(format!("s{n}.json")), &json).unwrap();
        fs::write(project.dir().join(format!("s{n}.lock")), "process 1").unwrap();
        fs::write(project.dir().join(format!("s{n}.journal")), "").unwrap();
    }
    let once = |_| {
        let start = Instant::now();
        assert_eq!(project.list().len(), LISTED);
        start.elapsed()
    };
    let times: Vec<f64> = milliseconds(&(0..5).map(once).collect::<Vec<_>>()).collect();
    let own = |name: &str, value, most| row(name, [None, None, Some(value)], &most);
    [
        own("listing 1,000 sessions, first, ms", times[0], Target::Most(30.0)),
        own("listing 1,000 sessions, again, ms", ranked(times)[0], Target::Most(30.0)),
    ]
    .concat()
}

/// The time from the editor's start to its first screen, with and without an interrupted turn. The fastest of many
/// starts counts, because noise of the machine only adds time.
fn starting() -> String {
    let server = Server::start();
    let mut times = [vec![], vec![]];
    for n in 0..STARTS {
        let waits = n % 2 == 1;
        let prepare = |project: &Project| {
            if !waits {
                return;
            }
            let mut store = store(project, "main");
            let mut live = session(SMALL, OUTPUT);
            store.save(&live).unwrap();
            let text = "interrupted".to_owned();
            let sent = live.step(Input::Send { text, context: Vec::new(), steer: false });
            store.record(&live, &sent.events, true).unwrap();
        };
        times[usize::from(waits)].push(Editor::first_screen(server.port, prepare));
    }
    let [without, with] = times.map(|mut it| {
        it.sort();
        median(milliseconds(&it[..STARTS / 20]))
    });
    row(
        "startup with an interrupted turn, more than without, ms",
        [Some(without), None, Some(with - without)],
        &Target::Most(1.0),
    )
}

/// The rows of the table.
pub(crate) fn table() -> String {
    let section = |title: &str| format!("| **{title}** | | | | | | | |\n");
    [
        section("opening 10,000 messages, 8 MB"),
        opening(OUTPUT),
        section("opening 10,000 messages, 200 MB of outputs"),
        opening(HUGE_OUTPUT),
        section("sessions"),
        saving(),
        listing(),
        starting(),
    ]
    .concat()
}
