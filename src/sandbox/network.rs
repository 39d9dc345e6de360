//! The network of a conversation's commands: they reach each other in it, and nothing else. A process of this program
//! holds it as long as the conversation is open, and makes sockets in it for this program. So this program reaches the
//! servers of commands, and no command reaches the servers of this machine.

use super::descriptor;
use rustix::io::Errno;
use rustix::net::{RecvFlags, recv};
use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{ExitCode, Stdio};
use std::sync::Arc;
use tokio::io::Interest;
use tokio::net::{TcpSocket, TcpStream};
use tokio::process::{Child, Command};

/// The argument that makes this program the holder of a network.
pub const ARGUMENT: &str = "sandbox-network";

/// A network of commands. It ends with the last clone of this.
#[derive(Clone)]
pub struct Network {
    holder: Arc<Holder>,
}

struct Holder {
    /// Killed when this is dropped. Until then no other process can get its id.
    process: Child,
    /// The holder ends when this closes, also if this program is killed.
    socket: UnixStream,
}

impl Network {
    /// Makes a network. `program` is the path of this program.
    pub async fn start(program: &Path) -> io::Result<Network> {
        let (ours, theirs) = UnixStream::pair()?;
        let mut command = Command::new(program);
        command.arg0("network").arg(ARGUMENT).current_dir("/").kill_on_drop(true);
        command.stdin(OwnedFd::from(theirs)).stdout(Stdio::null()).stderr(Stdio::null());
        let process = command.spawn()?;
        // `command` holds the other end of the socket
        drop(command);
        if !matches!(received(ours.try_clone()?).await?, (1, _)) {
            return Err(io::Error::other("no network can be made for it"));
        }
        Ok(Network { holder: Arc::new(Holder { process, socket: ours }) })
    }

    /// The process that holds the network; `None` if it has ended.
    pub fn holder(&self) -> Option<u32> {
        // the holder sends nothing by itself, so there is something to read only after its end
        let flags = RecvFlags::PEEK | RecvFlags::DONTWAIT;
        let read = recv(&self.holder.socket, &mut [0][..], flags);
        self.holder.process.id().filter(|_| read == Err(Errno::AGAIN))
    }

    /// Connects to a server in the network.
    pub async fn connect(&self, to: SocketAddr) -> io::Result<TcpStream> {
        let (ours, theirs) = UnixStream::pair()?;
        descriptor::send(&self.holder.socket, &[u8::from(to.is_ipv6())], theirs.as_fd())?;
        drop(theirs);
        let made = received(ours).await?.1.ok_or_else(|| io::Error::other("no socket"))?;
        let made = std::net::TcpStream::from(made);
        made.set_nonblocking(true)?;
        TcpSocket::from_std_stream(made).connect(to).await
    }
}

/// Waits for a message, and the descriptor that comes with it.
async fn received(socket: UnixStream) -> io::Result<(usize, Option<OwnedFd>)> {
    socket.set_nonblocking(true)?;
    let socket = tokio::net::UnixStream::from_std(socket)?;
    socket.async_io(Interest::READABLE, || descriptor::receive(&socket, &mut [0])).await
}

/// The main function of the holder.
#[cfg(target_os = "linux")]
pub fn hold() -> ExitCode {
    match held() {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

#[cfg(not(target_os = "linux"))]
pub fn hold() -> ExitCode {
    ExitCode::FAILURE
}

/// Makes the network, says so by one byte, and then answers each message with a socket until this program is gone.
#[cfg(target_os = "linux")]
fn held() -> io::Result<()> {
    use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};
    super::namespaces::make_network().map_err(io::Error::other)?;
    let line = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    io::Write::write_all(&mut &line, &[0])?;
    loop {
        let mut family = [0];
        match descriptor::receive(&line, &mut family) {
            Ok((1, Some(answer))) => {
                let family = if family == [0] { AddressFamily::INET } else { AddressFamily::INET6 };
                let made = socket_with(family, SocketType::STREAM, SocketFlags::CLOEXEC, None);
                if let Ok(made) = made {
                    // the send fails if nobody waits for the socket any more
                    let _ = descriptor::send(&answer, &[0], made.as_fd());
                }
            }
            Ok((1, None)) => (),
            Err(fault) if fault.kind() == io::ErrorKind::Interrupted => (),
            _ => return Ok(()),
        }
    }
}
