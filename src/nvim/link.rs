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
    let (forward, from_nvim) = mpsc::unbounded_channel();
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
    Ok((Editor { orders }, from_nvim))
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
