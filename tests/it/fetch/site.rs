//! A fake web site on this machine, with an answer for each path.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// The answer to requests for a path.
enum Answer {
    Bytes(Vec<u8>),
    /// The same bytes again and again, until the reader closes.
    Endless(Vec<u8>),
    /// These bytes, and then nothing.
    Stuck(Vec<u8>),
}

pub(crate) struct Site {
    port: u16,
    answers: Arc<Mutex<Vec<(String, Answer)>>>,
    asked: Arc<Mutex<Vec<String>>>,
    closed: Arc<Mutex<usize>>,
}

impl Site {
    pub(crate) fn start() -> Site {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let site =
            Site { port, answers: Arc::default(), asked: Arc::default(), closed: Arc::default() };
        let (answers, asked) = (site.answers.clone(), site.asked.clone());
        let closed = site.closed.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (answers, asked) = (answers.clone(), asked.clone());
                let closed = closed.clone();
                thread::spawn(move || serve(stream, &answers, &asked, &closed));
            }
        });
        site
    }

    /// The site's host with its port.
    pub(crate) fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.host())
    }

    /// The same site by a name that resolves to this machine.
    pub(crate) fn by_name(&self, path: &str) -> String {
        format!("http://localhost:{}{path}", self.port)
    }

    /// The setting that allows this site.
    pub(crate) fn allowed(&self) -> String {
        format!("{{ fetch_private = {{ '{}' }} }}", self.host())
    }

    fn answer(&self, path: &str, answer: Answer) {
        self.answers.lock().unwrap().push((path.to_owned(), answer));
    }

    pub(crate) fn page(&self, path: &str, kind: &str, body: impl AsRef<[u8]>) {
        self.packed(path, &format!("Content-Type: {kind}"), body.as_ref());
    }

    /// Adds a page with these additional lines in the head of the HTTP answer.
    pub(crate) fn packed(&self, path: &str, head: &str, body: &[u8]) {
        let length = body.len();
        let head = format!("HTTP/1.1 200 OK\r\n{head}\r\nContent-Length: {length}\r\n\r\n");
        self.answer(path, Answer::Bytes([head.as_bytes(), body].concat()));
    }

    /// Adds an answer with this status, such as `404 Not Found`, and these lines in its head.
    pub(crate) fn status(&self, path: &str, status: &str, head: &str, body: &str) {
        let length = body.len();
        let text = format!("HTTP/1.1 {status}\r\n{head}\r\nContent-Length: {length}\r\n\r\n{body}");
        self.answer(path, Answer::Bytes(text.into_bytes()));
    }

    pub(crate) fn redirect(&self, path: &str, to: &str) {
        let head = format!("HTTP/1.1 302 Found\r\nLocation: {to}\r\nContent-Length: 0\r\n\r\n");
        self.answer(path, Answer::Bytes(head.into_bytes()));
    }

    pub(crate) fn endless(&self, path: &str) {
        self.answer(path, Answer::Endless(vec![b'a'; 65_536]));
    }

    pub(crate) fn stuck(&self, path: &str) {
        self.answer(path, Answer::Stuck(b"the beginning\n".to_vec()));
    }

    /// The heads of all HTTP requests so far.
    pub(crate) fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }

    /// The number of answers whose connection the client has closed before the end.
    pub(crate) fn closed(&self) -> usize {
        *self.closed.lock().unwrap()
    }
}

fn serve(
    mut stream: TcpStream,
    answers: &Mutex<Vec<(String, Answer)>>,
    asked: &Mutex<Vec<String>>,
    closed: &Mutex<usize>,
) {
    let mut head = Vec::new();
    let mut piece = [0; 4096];
    while !head.windows(4).any(|it| it == b"\r\n\r\n") {
        match stream.read(&mut piece) {
            Ok(0) | Err(_) => return,
            Ok(count) => head.extend_from_slice(&piece[..count]),
        }
    }
    let head = String::from_utf8(head).unwrap();
    let path = head.split(' ').nth(1).unwrap().to_owned();
    asked.lock().unwrap().push(head);
    let begin = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n";
    let (bytes, again) = match answers.lock().unwrap().iter().find(|it| it.0 == path) {
        Some((_, Answer::Bytes(bytes))) => (bytes.clone(), None),
        Some((_, Answer::Endless(bytes))) => (begin.to_vec(), Some(bytes.clone())),
        Some((_, Answer::Stuck(bytes))) => ([begin, &**bytes].concat(), Some(Vec::new())),
        None => (b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n".to_vec(), None),
    };
    let mut open = stream.write_all(&bytes).is_ok();
    let Some(again) = again else { return };
    while open {
        open = if again.is_empty() {
            matches!(stream.read(&mut piece), Ok(1..))
        } else {
            stream.write_all(&again).is_ok()
        };
    }
    *closed.lock().unwrap() += 1;
}
