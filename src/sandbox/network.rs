//! The network of a conversation's commands: they reach each other in it, and nothing else. A process of this program
//! holds it as long as the conversation is open, and makes sockets in it for this program. So this program reaches the
//! servers of commands, and no command reaches the servers of this machine. The same process holds the layers over the
//! caches of build tools (see `layers`), which all commands of the conversation see.

pub use super::held::{Files, Held};

use super::descriptor;
use super::layers::Layers;
use rustix::io::Errno;
use rustix::net::{RecvFlags, recv};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{ExitCode, Stdio};
use std::sync::{Arc, Weak};
use tokio::io::Interest;
use tokio::net::{TcpSocket, TcpStream};
use tokio::process::{Child, Command};

/// The argument that makes this program the holder of a network.
pub const ARGUMENT: &str = "sandbox-network";

/// What the holder says when it is ready.
const WITHOUT_LAYERS: u8 = 0;
const WITH_LAYERS: u8 = 1;

/// A socket of the network that waits for connections.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listener {
    /// The address at which the network's own sockets reach it.
    pub at: SocketAddr,
    pub inode: u64,
}

/// A network of commands. It ends with the last clone of this.
#[derive(Clone)]
pub struct Network {
    holder: Arc<Holder>,
}

/// A network that may have ended.
#[derive(Clone, Default)]
pub struct Former(Weak<Holder>);

impl Former {
    /// The process that holds the network; `None` if it has ended.
    pub fn holder(&self) -> Option<u32> {
        Network { holder: self.0.upgrade()? }.holder()
    }
}

struct Holder {
    /// Killed when this is dropped. Until then no other process can get its id.
    process: Child,
    /// The holder ends when this closes, also if this program is killed.
    socket: UnixStream,
    has_layers: bool,
}

impl Network {
    /// Makes a network. `program` is the path of this program.
    pub async fn start(program: &Path, held: &Held) -> io::Result<Network> {
        let (ours, theirs) = UnixStream::pair()?;
        let mut command = Command::new(program);
        command.arg0("network").arg(ARGUMENT).arg(serde_json::to_string(held)?);
        command.current_dir("/").kill_on_drop(true);
        command.stdin(OwnedFd::from(theirs)).stdout(Stdio::null()).stderr(Stdio::null());
        let process = command.spawn()?;
        // `command` holds the other end of the socket
        drop(command);
        let mut said = [0];
        if !matches!(received(ours.try_clone()?, &mut said).await?, (1, _)) {
            return Err(io::Error::other("no network can be made for it"));
        }
        let has_layers = said == [WITH_LAYERS];
        Ok(Network { holder: Arc::new(Holder { process, socket: ours, has_layers }) })
    }

    /// Whether the layers could be made.
    pub fn has_layers(&self) -> bool {
        self.holder.has_layers
    }

    /// This network, which ends although this is kept.
    pub fn former(&self) -> Former {
        Former(Arc::downgrade(&self.holder))
    }

    /// The process that holds the network; `None` if it has ended.
    pub fn holder(&self) -> Option<u32> {
        // the holder sends nothing by itself, so there is something to read only after its end
        let flags = RecvFlags::PEEK | RecvFlags::DONTWAIT;
        let read = recv(&self.holder.socket, &mut [0][..], flags);
        self.holder.process.id().filter(|_| read == Err(Errno::AGAIN))
    }

    /// The sockets of the network that wait for connections. Takes some milliseconds.
    pub fn listeners(&self) -> Vec<Listener> {
        let Some(holder) = self.holder() else { return Vec::new() };
        let read = |table| {
            std::fs::read_to_string(format!("/proc/{holder}/net/{table}")).unwrap_or_default()
        };
        let all = ["tcp", "tcp6"].map(read);
        all.iter().flat_map(|it| it.lines()).filter_map(listener).collect()
    }

    /// Connects to a server in the network.
    pub async fn connect(&self, to: SocketAddr) -> io::Result<TcpStream> {
        let (ours, theirs) = UnixStream::pair()?;
        descriptor::send(&self.holder.socket, &[u8::from(to.is_ipv6())], theirs.as_fd())?;
        drop(theirs);
        let made =
            received(ours, &mut [0]).await?.1.ok_or_else(|| io::Error::other("no socket"))?;
        let made = std::net::TcpStream::from(made);
        made.set_nonblocking(true)?;
        TcpSocket::from_std_stream(made).connect(to).await
    }
}

/// Whether a holder can make these layers. Blocks for some milliseconds.
#[cfg(target_os = "linux")]
pub(super) fn has_layers(program: &Path, layers: Layers) -> io::Result<bool> {
    let (mut ours, theirs) = UnixStream::pair()?;
    let held = Held { network: false, files: Files::Layered(layers) };
    let mut command = std::process::Command::new(program);
    command.arg(ARGUMENT).arg(serde_json::to_string(&held)?).current_dir("/");
    command.stdin(OwnedFd::from(theirs)).stdout(Stdio::null()).stderr(Stdio::null());
    let mut holder = command.spawn()?;
    drop(command);
    let mut said = [0];
    let read = io::Read::read_exact(&mut ours, &mut said);
    // the holder ends when its socket closes
    drop(ours);
    holder.wait()?;
    read.map(|()| said == [WITH_LAYERS])
}

/// Reads a line of `/proc/net/tcp` or `/proc/net/tcp6`; see the manual `proc_pid_net(5)`.
fn listener(line: &str) -> Option<Listener> {
    let mut fields = line.split_whitespace().skip(1);
    let (address, port) = fields.next()?.split_once(':')?;
    let (is_listening, inode) = (fields.nth(1)? == "0A", fields.nth(5)?);
    // the address is written as words of the machine
    let word = |at: usize| u32::from_str_radix(address.get(at..at + 8)?, 16).ok();
    let ip = if address.len() == 8 {
        IpAddr::from(word(0)?.to_ne_bytes())
    } else {
        let words = [word(0)?, word(8)?, word(16)?, word(24)?].map(u32::to_ne_bytes);
        let bytes: [u8; 16] = words.concat().try_into().ok()?;
        IpAddr::from(bytes).to_canonical()
    };
    let ip = match ip {
        IpAddr::V4(it) if it.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(it) if it.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
        ip => ip,
    };
    let at = SocketAddr::new(ip, u16::from_str_radix(port, 16).ok()?);
    is_listening.then(|| Some(Listener { at, inode: inode.parse().ok()? }))?
}

/// Waits for a message, and the descriptor that comes with it.
async fn received(socket: UnixStream, bytes: &mut [u8]) -> io::Result<(usize, Option<OwnedFd>)> {
    socket.set_nonblocking(true)?;
    let socket = tokio::net::UnixStream::from_std(socket)?;
    socket.async_io(Interest::READABLE, || descriptor::receive(&socket, bytes)).await
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

/// Makes the network and the layers, says so by one byte, and then answers each message with a socket until this program is gone.
#[cfg(target_os = "linux")]
fn held() -> io::Result<()> {
    use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};
    let order = std::env::args().nth(2).unwrap_or_default();
    let held: Held = serde_json::from_str(&order)?;
    super::namespaces::hold(&held).map_err(io::Error::other)?;
    let has_layers = match &held.files {
        Files::Layered(layers) => layers.lay().is_ok(),
        Files::Real | Files::Of(_) => false,
    };
    let line = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    let said = if has_layers { WITH_LAYERS } else { WITHOUT_LAYERS };
    io::Write::write_all(&mut &line, &[said])?;
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines as a machine with the lowest byte first writes them.
    #[cfg(target_endian = "little")]
    #[test]
    fn a_socket_that_waits_for_connections_is_read_from_its_line() {
        let rest = "00000000:00000000 00:00000000 00000000  1000        0 4711 1 0 100 0";
        let read = |address: &str, state: &str| {
            let line = format!("   0: {address} 00000000:0000 {state} {rest}");
            listener(&line).map(|it| (it.at.to_string(), it.inode))
        };
        assert_eq!(read("0100007F:1F40", "0A"), Some(("127.0.0.1:8000".into(), 4711)));
        assert_eq!(read("00000000:0050", "0A"), Some(("127.0.0.1:80".into(), 4711)));
        let any = "0".repeat(32);
        assert_eq!(read(&format!("{any}:1F40"), "0A"), Some(("[::1]:8000".into(), 4711)));
        let own = "00000000000000000000000001000000:1F40";
        assert_eq!(read(own, "0A"), Some(("[::1]:8000".into(), 4711)));
        let mapped = "0000000000000000FFFF00000100007F:1F40";
        assert_eq!(read(mapped, "0A"), Some(("127.0.0.1:8000".into(), 4711)));
        assert_eq!(read("0100007F:1F40", "01"), None);
        assert_eq!(listener("  sl  local_address rem_address   st tx_queue rx_queue tr"), None);
    }
}
