//! Tests against a real llama.cpp server with a small base model, whose text is random. `make test-live` fetches the
//! server and the model and runs these tests.

use crate::kit::nvim::Nvim;
use crate::kit::setup::Setup;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// The dialects that the llama.cpp server speaks, each with the path of its base URL.
const SPOKEN: [(&str, &str); 3] =
    [("openai-chat", "/v1"), ("openai-responses", "/v1"), ("anthropic", "")];

/// The longest wait for the model, which processes only a few hundred tokens a second on a busy machine.
const LONG: Duration = Duration::from_secs(300);

struct Llama {
    child: Child,
    address: SocketAddr,
}

impl Drop for Llama {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Llama {
    fn start() -> Llama {
        let of = |name: &str| {
            std::env::var(name).unwrap_or_else(|_| panic!("{name} is set by `make test-live`"))
        };
        let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let port = address.port().to_string();
        let child = Command::new(of("CALIBAN_LIVE_SERVER"))
            .args(["--model", &of("CALIBAN_LIVE_MODEL"), "--host", "127.0.0.1", "--port", &port])
            .args(["--ctx-size", "32768", "--parallel", "1", "--jinja", "--no-ui", "--slots"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let llama = Llama { child, address };
        // The server loads the model first. If it never answers, the limit of the test run ends the wait.
        while !llama.get("/health").is_some_and(|said| said.contains("\"ok\"")) {
            std::thread::sleep(Duration::from_millis(100));
        }
        llama
    }

    /// The answer to a GET request, with its headers.
    fn get(&self, path: &str) -> Option<String> {
        let mut stream = TcpStream::connect(self.address).ok()?;
        write!(stream, "GET {path} HTTP/1.0\r\nHost: {}\r\n\r\n", self.address).ok()?;
        let mut said = String::new();
        stream.read_to_string(&mut said).ok()?;
        Some(said)
    }

    fn rests(&self) -> bool {
        self.get("/slots").is_some_and(|said| said.contains("\"is_processing\":false"))
    }

    /// A Neovim that uses the server in this dialect, with replies of at most `max_output` tokens.
    fn nvim(&self, (dialect, base): (&str, &str), max_output: u32) -> Nvim {
        let setup = Setup::new().file("a.txt", "one\ntwo\n").config(&format!(
            "{{ model = 'live/gemma', max_output = {max_output}, providers = {{ live = {{ \
             dialect = '{dialect}', base_url = 'http://{}{base}', models = {{ 'gemma' }} }} }} }}",
            self.address
        ));
        let nvim = Nvim::start(&setup);
        nvim.lua(
            "_G.ends = {}
             vim.api.nvim_create_autocmd('User', { pattern = 'CalibanTurnEnd', callback = function(event)
               table.insert(_G.ends, event.data.why)
             end })",
            &[],
        );
        nvim.keys(":Caliban<CR>");
        nvim
    }
}

/// Denies every question and stops every review until the turn is over. Returns how the turn ended.
fn to_the_end(nvim: &Nvim, turn: usize) -> String {
    nvim.wait_within(
        LONG,
        |nvim| {
            if nvim.phase() == "asking" {
                nvim.command("Caliban deny");
            } else if nvim.phase() == "reviewing" {
                nvim.command("Caliban stop");
            }
            nvim.lua_json("return #_G.ends") == turn
        },
        "the end of the turn",
    );
    nvim.lua_str(&format!("return _G.ends[{turn}]"))
}

/// Checks that the turn ended by itself, at the limit of tokens, or because of too many calls, not by a refusal or a
/// failure.
fn check_end(why: &str, dialect: &str) {
    let fits = ["", "limit", "stopped", "requests", "Stopped"];
    assert!(
        fits.iter().any(|it| why == *it || (!it.is_empty() && why.contains(it))),
        "{dialect}: {why}"
    );
}

#[test]
#[ignore = "needs a real server: make test-live"]
fn replies_stream_and_the_conversation_goes_on() {
    let llama = Llama::start();
    for spoken in SPOKEN {
        let nvim = llama.nvim(spoken, 48);
        for (turn, prompt) in
            ["Tell me of the sea.", "What is in @a.txt?", "And then?"].iter().enumerate()
        {
            nvim.keys(&format!("i{prompt}<C-s><Esc>"));
            check_end(&to_the_end(&nvim, turn + 1), spoken.0);
        }
        let said = nvim.lua_json("return require('caliban').state().usage");
        assert!(said["output"].as_u64().unwrap() > 0, "{}: {said}", spoken.0);
        assert!(said["input"].as_u64().unwrap() > 100, "{}: {said}", spoken.0);
    }
}

#[test]
#[ignore = "needs a real server: make test-live"]
fn a_stop_frees_the_server_at_once() {
    let llama = Llama::start();
    for spoken in SPOKEN {
        let nvim = llama.nvim(spoken, 4000);
        nvim.keys("iCount from one to a thousand.<C-s><Esc>");
        nvim.wait_within(LONG, |nvim| nvim.phase() == "streaming", "the reply's first words");
        nvim.keys("<C-c>");
        assert_eq!(to_the_end(&nvim, 1), "Stopped.", "{}", spoken.0);
        nvim.wait_within(LONG, |_| llama.rests(), "the server to rest");
        // a stop works while the server reads the prompt, too
        nvim.keys("iGo on.<C-s><Esc>");
        nvim.wait_within(LONG, |_| !llama.rests(), "the server to work");
        nvim.keys("<C-c>");
        assert_eq!(to_the_end(&nvim, 2), "Stopped.", "{}", spoken.0);
        nvim.wait_within(LONG, |_| llama.rests(), "the server to rest");
    }
}
