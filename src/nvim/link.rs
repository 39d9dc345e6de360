//! The connection to the editor. Incoming notifications are decoded and forwarded, nothing else. Outgoing
//! requests are owned to their end by tasks of their own: a dropped one would end nvim-rs's loop.

use super::wire::{FromNvim, ToNvim};
use async_trait::async_trait;
use futures::io::{AsyncRead, AsyncWrite};
use nvim_rs::{Handler, Neovim};
use rmpv::Value;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::net::unix::pipe;
use tokio::sync::{mpsc, oneshot};
use tokio_util::compat::{TokioAsyncReadCompatExt, TokioAsyncWriteCompatExt};

type Writer = Box<dyn AsyncWrite + Send + Unpin>;
type Reader = Box<dyn AsyncRead + Send + Unpin>;

/// The way to the editor. Calls keep their order.
#[derive(Clone)]
pub struct Editor {
    orders: mpsc::UnboundedSender<Order>,
}

struct Order {
    message: ToNvim,
    answer: Option<oneshot::Sender<Value>>,
}

/// Connects over standard input and output, which from then on nothing else can write to. The receiver
/// ends when the editor goes.
pub fn connect() -> io::Result<(Editor, mpsc::UnboundedReceiver<FromNvim>)> {
    let (reader, writer) = stdio()?;
    Ok(talk(reader, writer))
}

fn talk(reader: Reader, writer: Writer) -> (Editor, mpsc::UnboundedReceiver<FromNvim>) {
    let (forward, from_nvim) = mpsc::unbounded_channel();
    let reader = ToItsEnd { reader, has_ended: false };
    let (nvim, io_loop) = Neovim::new(reader, writer, Forward { to: forward.clone() });
    let (orders, inbox) = mpsc::unbounded_channel();
    let carrier = tokio::spawn(carry(nvim, inbox));
    tokio::spawn(async move {
        if let Err(error) = io_loop.await {
            tracing::info!("the editor's connection ended: {error}");
        }
        carrier.abort();
        drop(forward);
    });
    (Editor { orders }, from_nvim)
}

/// Keeps back the end of what it reads for one poll. At the end nvim-rs drops what it has read and not yet handed out,
/// which it does between two polls of its reading: without this the editor's last words are lost, whenever they come
/// together with the end.
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
    /// None at all: what it is told is lost, what it is asked fails.
    pub fn absent() -> Editor {
        Editor { orders: mpsc::unbounded_channel().0 }
    }

    /// Sends a message and waits for its answer; `None` once the editor is gone or where it failed there.
    pub async fn call(&self, message: ToNvim) -> Option<Value> {
        let (answer, answered) = oneshot::channel();
        self.orders.send(Order { message, answer: Some(answer) }).ok()?;
        answered.await.ok()
    }

    /// Sends a message whose answer says nothing.
    pub fn tell(&self, message: ToNvim) {
        // A failed send means that the editor is gone, which ends the program by another way.
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
            let code = "return require('caliban.rpc').receive(...)";
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
            match FromNvim::decode(value) {
                Ok(message) => drop(self.to.send(message)),
                Err(error) => tracing::error!("a message of the editor could not be read: {error}"),
            }
        }
    }
}

/// Standard input and output as the editor made them: sockets, or pipes where something else starts us.
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

    /// A notification of each draft, as Neovim writes them.
    fn drafts(count: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        for n in 0..count {
            let fields = [("kind", "draft"), ("session", "main"), ("text", &n.to_string())]
                .map(|(key, value)| (Value::from(key), Value::from(value)));
            let draft = Value::Map(fields.into_iter().collect());
            let parts = vec![2.into(), "caliban".into(), Value::Array(vec![draft])];
            rmpv::encode::write_value(&mut bytes, &Value::Array(parts)).unwrap();
        }
        bytes
    }

    #[tokio::test]
    async fn what_comes_together_with_the_end_is_heard() {
        for count in [0, 1, 2, 500] {
            let reader = Box::new(Cursor::new(drafts(count)));
            let (_editor, mut from_nvim) = talk(reader, Box::new(sink()));
            let mut heard = Vec::new();
            while let Some(message) = from_nvim.recv().await {
                let FromNvim::Draft { text, .. } = message else { panic!("another message") };
                heard.push(text);
            }
            assert_eq!(heard, (0..count).map(|n| n.to_string()).collect::<Vec<_>>());
        }
    }
}
