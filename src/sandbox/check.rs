//! For `:checkhealth`: tries, inside a sandbox, the actions that the sandbox has to forbid. Each line of the output has
//! a verdict (`holds` or `open`), a tab and a sentence.

use super::descriptor;
#[cfg(target_os = "linux")]
use super::layers::{Layer, Layers};
use super::limits::{self, CHECK, Sandbox, Strength, probed};
#[cfg(target_os = "linux")]
use super::network;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use std::ffi::OsStr;
use std::fs::{self, OpenOptions, Permissions};
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

/// The argument that comes before those of the process in the sandbox.
const WITHIN: &str = "--within";

/// Without further arguments, this process prepares a folder and starts the program again with arguments. The second
/// process enters the sandbox and tries the actions.
pub(super) fn run(serve: fn(TcpListener)) -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(2).collect();
    let said = match &arguments[..] {
        [within, folder, address, watched, terminal, port] if within == WITHIN => {
            tried(Path::new(folder), address, watched, terminal, port)
        }
        [strength, rest @ ..] if !rest.is_empty() => Err(confined(strength, rest)),
        _ => prepared(serve).map_err(|fault| fault.to_string()),
    };
    let text =
        said.unwrap_or_else(|why| format!("open\tThe sandbox could not be set up: {why}.\n"));
    match io::stdout().write_all(text.as_bytes()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn prepared(serve: fn(TcpListener)) -> io::Result<String> {
    let program = std::env::current_exe()?;
    let Some(strength) = probed(&program) else { return Ok(String::new()) };
    let private = Permissions::from_mode(0o700);
    let folder = tempfile::Builder::new().permissions(private).tempdir()?;
    fs::create_dir_all(folder.path().join("project/.git/hooks"))?;
    fs::write(folder.path().join("secret"), "secret")?;
    fs::write(folder.path().join("other"), "other")?;
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let _socket = UnixListener::bind(folder.path().join("socket"))?;
    let mut tries = Command::new(program);
    tries.args([CHECK, limits::name(strength)]).arg(folder.path());
    tries.arg(listener.local_addr()?.to_string());
    // the process in the sandbox tries to signal the editor, as an example of a process outside
    tries.arg(std::os::unix::process::parent_id().to_string());
    // the terminal of another program, which stays open until the end
    let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY)?;
    grantpt(&terminal)?;
    unlockpt(&terminal)?;
    tries.arg(OsStr::from_bytes(ptsname(&terminal, Vec::new())?.to_bytes()));
    let (ours, theirs) = UnixStream::pair()?;
    tries.stdin(OwnedFd::from(theirs)).stdout(Stdio::piped());
    let running = tries.spawn()?;
    // `tries` holds the other end of the socket
    drop(tries);
    if let Ok((_, Some(handed))) = descriptor::receive(&ours, &mut [0]) {
        serve(TcpListener::from(handed));
    }
    let output = running.wait_with_output()?;
    let mut said = match strength {
        Strength::Full => "strength\tfull\n",
        Strength::Plain => "strength\tplain\n",
    }
    .to_owned();
    said.push_str(&String::from_utf8_lossy(&output.stdout));
    if strength == Strength::Full {
        said.push_str(match layered(folder.path()) {
            Ok(true) => "holds\tWhat commands write in the caches of build tools stays in a layer of the project\n",
            _ => NO_LAYERS,
        });
    }
    Ok(said)
}

const NO_LAYERS: &str = "open\tCommands only read the caches of build tools: this system mounts no overlay over them. \
    The setting sandbox = { writable = { … } } gives them a cache to write\n";

/// Whether a folder can get a layer.
#[cfg(target_os = "linux")]
fn layered(folder: &Path) -> io::Result<bool> {
    let place = folder.join("cache");
    fs::create_dir(&place)?;
    let layer = Layer { name: "cache".to_owned(), place, folders: Vec::new(), files: Vec::new() };
    let layers = Layers { folder: folder.join("layers"), all: vec![layer], kept: Vec::new() };
    network::has_layers(&std::env::current_exe()?, layers)
}

#[cfg(not(target_os = "linux"))]
fn layered(_folder: &Path) -> io::Result<bool> {
    Ok(false)
}

/// Runs this program again in the sandbox. Returns only an error.
fn confined(strength: &str, rest: &[String]) -> String {
    let is_full = strength == limits::name(Strength::Full);
    let below = |it: &str| Path::new(&rest[0]).join(it);
    let sandbox = Sandbox {
        strength: if is_full { Strength::Full } else { Strength::Plain },
        writable: vec![below("project")],
        pinned: vec![below("project/.git")],
        fixed: vec![below("project/.git/hooks")],
        hidden: vec![below("secret"), below("socket")],
        shown: Vec::new(),
        temporary: None,
        network: false,
        holder: None,
        proxy: true,
        gate: None,
        kept: Vec::new(),
    };
    let program = std::env::current_exe().map_err(|it| it.to_string());
    let command = program.and_then(|it| sandbox.command(it.as_os_str()));
    match command.and_then(|(command, proxy)| Ok((command, handed_out(proxy)?))) {
        Ok((mut command, port)) => {
            command.args([CHECK, WITHIN]).args(rest).arg(port).exec().to_string()
        }
        Err(why) => why,
    }
}

/// Hands the listener of the proxy to the process outside. Returns its port, or an empty text without a listener.
fn handed_out(proxy: Option<TcpListener>) -> Result<String, String> {
    let Some(listener) = proxy else { return Ok(String::new()) };
    let port = listener.local_addr().map(|it| it.port().to_string());
    let sent = descriptor::send(&io::stdin(), &[0], listener.as_fd());
    sent.and(port).map_err(|it| format!("the proxy: {it}"))
}

fn tried(
    folder: &Path,
    address: &str,
    watched: &str,
    terminal: &str,
    port: &str,
) -> Result<String, String> {
    let below = |it: &str| folder.join(it);
    let (hook, secret, socket) = (below("project/.git/hooks"), below("secret"), below("socket"));
    let address: SocketAddr = address.parse().map_err(|_| "no address is given".to_owned())?;
    let can_write = |path: PathBuf| fs::write(path, "text").is_ok();
    let can_read = |path: &Path| fs::read(path).is_ok_and(|it| !it.is_empty());
    let environment = PathBuf::from(format!("/proc/{watched}/environ"));
    // each row: whether the try shows that the sentence is false, and the sentence
    let mut tries = vec![
        (!can_write(below("project/file")), "files in the project can be written"),
        (can_write(below("file")), "files outside of the project cannot be written"),
        (can_write(hook.join("file")), "protected files of the project cannot be written"),
        (
            fs::set_permissions(below("other"), Permissions::from_mode(0o600)).is_ok(),
            "permissions of files outside cannot be changed",
        ),
        (can_read(&secret), "files with secrets cannot be read"),
        (TcpStream::connect(address).is_ok(), "there is no network"),
        (UnixStream::connect(&socket).is_ok(), "sockets of other programs cannot be reached"),
        (can_signal(watched), "processes outside cannot be signalled"),
        (can_open(terminal), "the terminals of other programs cannot be opened"),
    ];
    if cfg!(target_os = "linux") {
        tries.push((can_read(&environment), "the editor's environment cannot be read"));
    }
    tries.push(match port.parse() {
        Ok(port) => (is_let_through(port, address), "a host without a rule cannot be reached"),
        Err(_) => (true, "permission rules can open hosts for commands"),
    });
    let line = |(is_open, what): &(bool, &str)| match is_open {
        true => format!("open\tNot true: {what}.\n"),
        false => format!("holds\tTested: {what}.\n"),
    };
    Ok(tries.iter().map(line).collect())
}

/// Whether the proxy does anything but refuse a host for which there is no rule.
fn is_let_through(port: u16, address: SocketAddr) -> bool {
    let asked = || -> io::Result<String> {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
        stream.write_all(format!("CONNECT {address} HTTP/1.1\r\n\r\n").as_bytes())?;
        let mut said = String::new();
        stream.read_to_string(&mut said)?;
        Ok(said)
    };
    !asked().is_ok_and(|it| it.starts_with("HTTP/1.1 403 "))
}

fn can_open(terminal: &str) -> bool {
    let can = |it: &mut OpenOptions| it.custom_flags(nix::libc::O_NOCTTY).open(terminal).is_ok();
    can(OpenOptions::new().read(true)) || can(OpenOptions::new().write(true))
}

fn can_signal(process: &str) -> bool {
    let process = process.parse().ok().and_then(rustix::process::Pid::from_raw);
    process.is_some_and(|it| rustix::process::test_kill_process(it).is_ok())
}
