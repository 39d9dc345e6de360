//! The connection to the editor. Incoming notifications are decoded and forwarded. Each outgoing request has a task of
//! its own, because dropping an unanswered request would end the loop of the library nvim-rs.

use super::wire::{FromNvim, ToNvim};
use async_trait::async_trait;
use futures::io::{AsyncRead, AsyncWrite};
use nvim_rs::error::{DecodeError, LoopError};
use nvim_rs::{Handler, Neovim};
use rmpv::Value;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::net::unix::pipe;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio_util::compat::{TokioAsyncReadCompatExt, TokioAsyncWriteCompatExt};

type Writer = Box<dyn AsyncWrite + Send + Unpin>;
type Reader = Box<dyn AsyncRead + Send + Unpin>;

/// Sends messages to the editor, in order.
#[derive(Clone)]
pub struct Editor {
    orders: mpsc::UnboundedSender<Order>,
}

struct Order {
    message: ToNvim,
    answer: Option<oneshot::Sender<Value>>,
}

/// How the connection ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The editor closed the connection.
    Closed,
    /// The editor sent bytes that are not a message, so nothing after them can be read.
    Unreadable,
}

/// The editor's messages, and how the connection ended.
pub type Incoming = (mpsc::UnboundedReceiver<FromNvim>, JoinHandle<End>);

/// Connects over standard input and output. From then on only the connection can write to standard output.
pub fn connect() -> io::Result<(Editor, Incoming)> {
    let (reader, writer) = stdio()?;
    Ok(talk(reader, writer))
}

fn talk(reader: Reader, writer: Writer) -> (Editor, Incoming) {
    let (forward, from_nvim) = mpsc::unbounded_channel();
    let reader = ToItsEnd { reader, has_ended: false };
    let (nvim, io_loop) = Neovim::new(reader, writer, Forward { to: forward.clone() });
    let (orders, inbox) = mpsc::unbounded_channel();
    let carrier = tokio::spawn(carry(nvim, inbox));
    let end = tokio::spawn(async move {
        let end = io_loop.await.map_or_else(|error| ended(&error), |()| End::Closed);
        carrier.abort();
        drop(forward);
        end
    });
    (Editor { orders }, (from_nvim, end))
}

fn ended(error: &LoopError) -> End {
    tracing::info!("the editor's connection ended: {error}");
    match error {
        LoopError::DecodeError(why, _) if matches!(**why, DecodeError::ReaderError(_)) => {
            End::Closed
        }
        _ => End::Unreadable,
    }
}

/// Reports the end of the input one poll later. At the end of the input, nvim-rs drops bytes that it has read but not
/// decoded; the extra poll lets it decode the editor's last messages first.
struct ToItsEnd {
    reader: Reader,
    has_ended: bool,
}

impl AsyncRead for ToItsEnd {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        match Pin::new(&mut self.reader).poll_read(cx, buffer) {
            Poll::Ready(Ok(0) | Err(_)) if !std::mem::replace(&mut self.has_ended, true) => {
                cx.waker().wake_by_ref();
                Poll::Pending
            }
            read => read,
        }
    }
}

impl Editor {
    /// An editor whose connection has ended.
    #[cfg(test)]
    pub(crate) fn gone() -> Editor {
        Editor { orders: mpsc::unbounded_channel().0 }
    }

    /// Sends a message and waits for its answer; `None` if the editor is gone or its handler failed.
    pub async fn call(&self, message: ToNvim) -> Option<Value> {
        let (answer, answered) = oneshot::channel();
        self.orders.send(Order { message, answer: Some(answer) }).ok()?;
        answered.await.ok()
    }

    /// Sends a message and ignores its answer.
    pub fn tell(&self, message: ToNvim) {
        // The send fails only if the editor is gone; then the program's loop ends too.
        let _ = self.orders.send(Order { message, answer: None });
    }
}

async fn carry(nvim: Neovim<Writer>, mut inbox: mpsc::UnboundedReceiver<Order>) {
    while let Some(order) = inbox.recv().await {
        let value = match order.message.encode() {
            Ok(value) => value,
            Err(error) => {
                tracing::error!("a message could not be encoded: {error}");
                continue;
            }
        };
        let nvim = nvim.clone();
        tokio::spawn(async move {
            let code = "return require('caliban.program.dispatch').receive(...)";
            match nvim.exec_lua(code, vec![value]).await {
                Ok(value) => {
                    if let Some(answer) = order.answer {
                        let _ = answer.send(value);
                    }
                }
                Err(error) => tracing::warn!("the editor refused a message: {error}"),
            }
        });
    }
}

#[derive(Clone)]
struct Forward {
    to: mpsc::UnboundedSender<FromNvim>,
}

#[async_trait]
impl Handler for Forward {
    type Writer = Writer;

    async fn handle_notify(&self, _name: String, args: Vec<Value>, _nvim: Neovim<Writer>) {
        for value in args {
            drop(self.to.send(FromNvim::decode(value)));
        }
    }
}

/// Standard input and output: sockets if the editor started the program, else pipes.
fn stdio() -> io::Result<(Reader, Writer)> {
    let input = io::stdin().as_fd().try_clone_to_owned()?;
    let output = io::stdout().as_fd().try_clone_to_owned()?;
    let null = std::fs::File::options().write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdout(&null)?;
    if let (Ok(reader), Ok(writer)) = (socket(&input), socket(&output)) {
        return Ok((Box::new(reader.compat()), Box::new(writer.compat_write())));
    }
    let reader = pipe::Receiver::from_owned_fd(input)?;
    let writer = pipe::Sender::from_owned_fd(output)?;
    Ok((Box::new(reader.compat()), Box::new(writer.compat_write())))
}

fn socket(fd: &OwnedFd) -> io::Result<tokio::net::UnixStream> {
    let socket = UnixStream::from(fd.try_clone()?);
    socket.local_addr()?;
    socket.set_nonblocking(true)?;
    tokio::net::UnixStream::from_std(socket)
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::io::{Cursor, sink};

    /// The bytes of `count` notifications, as Neovim writes them.
    fn drafts(count: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        for n in 0..count {
            let text = n.to_string();
            let fields = [("kind", "draft"), ("session", "main"), ("text", &text)];
            let fields = fields.map(|(key, value)| (Value::from(key), Value::from(value)));
            let context = (Value::from("context"), Value::Array(Vec::new()));
            let draft = Value::Map(fields.into_iter().chain([context]).collect());
            let parts = vec![2.into(), "caliban".into(), Value::Array(vec![draft])];
            rmpv::encode::write_value(&mut bytes, &Value::Array(parts)).unwrap();
        }
        bytes
    }

    #[tokio::test]
    async fn messages_that_arrive_with_the_end_of_input_are_delivered() {
        for count in [0, 1, 2, 500] {
            let reader = Box::new(Cursor::new(drafts(count)));
            let (_editor, (mut from_nvim, end)) = talk(reader, Box::new(sink()));
            let mut heard = Vec::new();
            while let Some(message) = from_nvim.recv().await {
                let FromNvim::Draft { text, .. } = message else { panic!("another message") };
                heard.push(text);
            }
            assert_eq!(heard, (0..count).map(|n| n.to_string()).collect::<Vec<_>>());
            assert_eq!(end.await.unwrap(), End::Closed);
        }
    }

    #[tokio::test]
    async fn bytes_that_are_no_message_end_the_connection_with_an_error() {
        let unasked = vec![0x94, 1, 77, 0xc0, 0xc0];
        for bytes in [&b"\xc0"[..], b"GET / HTTP/1.1\r\n", b"\x93\x02\x01\x90", b"\x90", &unasked] {
            let reader = Box::new(Cursor::new([&drafts(3), bytes].concat()));
            let (_editor, (mut from_nvim, end)) = talk(reader, Box::new(sink()));
            while from_nvim.recv().await.is_some() {}
            assert_eq!(end.await.unwrap(), End::Unreadable, "{bytes:?}");
        }
        // a message that announces a huge length but ends at once allocates no memory, and the connection ends as usual
        for bytes in [b"\xdd\xff\xff\xff\xff", b"\xdb\xff\xff\xff\xff", b"\xc6\xff\xff\xff\xff"] {
            let (_editor, (mut from_nvim, end)) =
                talk(Box::new(Cursor::new(bytes)), Box::new(sink()));
            assert!(from_nvim.recv().await.is_none());
            assert_eq!(end.await.unwrap(), End::Closed);
        }
    }
}
