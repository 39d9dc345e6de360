//! For `:checkhealth`: tries, inside a sandbox, the actions that the sandbox has to forbid. Each line of the output has
//! a verdict (`holds` or `open`), a tab and a sentence.

use super::{CHECK, Sandbox, Strength, probed};
use std::fs::{self, Permissions};
use std::io::{self, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// Stands before the arguments of the process in the sandbox.
const WITHIN: &str = "--within";

/// Without arguments, this process prepares a folder and starts the program again with arguments. The second process
/// enters the sandbox and tries the actions.
pub(super) fn run() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(2).collect();
    let said = match &arguments[..] {
        [within, folder, address, watched] if within == WITHIN => {
            tried(Path::new(folder), address, watched)
        }
        [strength, rest @ ..] if !rest.is_empty() => Err(confined(strength, rest)),
        _ => prepared().map_err(|fault| fault.to_string()),
    };
    let text =
        said.unwrap_or_else(|why| format!("open\tThe sandbox could not be set up: {why}.\n"));
    match io::stdout().write_all(text.as_bytes()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn prepared() -> io::Result<String> {
    let program = std::env::current_exe()?;
    let Some(strength) = probed(&program) else { return Ok(String::new()) };
    let folder = tempfile::tempdir()?;
    fs::create_dir_all(folder.path().join("project/.git/hooks"))?;
    fs::write(folder.path().join("secret"), "secret")?;
    fs::write(folder.path().join("other"), "other")?;
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let _socket = UnixListener::bind(folder.path().join("socket"))?;
    let mut tries = Command::new(program);
    tries.args([CHECK, super::name(strength)]).arg(folder.path());
    tries.arg(listener.local_addr()?.to_string());
    // the process in the sandbox tries to signal the editor, as an example of a process outside
    tries.arg(std::os::unix::process::parent_id().to_string());
    let output = tries.output()?;
    let strength = match strength {
        Strength::Full => "strength\tfull\n",
        Strength::Plain => "strength\tplain\n",
    };
    Ok(strength.to_owned() + &String::from_utf8_lossy(&output.stdout))
}

/// Runs this program again in the sandbox. Returns only an error.
fn confined(strength: &str, rest: &[String]) -> String {
    let is_full = strength == super::name(Strength::Full);
    let below = |it: &str| Path::new(&rest[0]).join(it);
    let sandbox = Sandbox {
        strength: if is_full { Strength::Full } else { Strength::Plain },
        writable: vec![below("project")],
        pinned: vec![below("project/.git")],
        fixed: vec![below("project/.git/hooks")],
        hidden: vec![below("secret"), below("socket")],
        temporary: None,
        network: false,
    };
    let program = std::env::current_exe().map_err(|it| it.to_string());
    match program.and_then(|it| sandbox.command(it.as_os_str())) {
        Ok(mut command) => command.args([CHECK, WITHIN]).args(rest).exec().to_string(),
        Err(why) => why,
    }
}

fn tried(folder: &Path, address: &str, watched: &str) -> Result<String, String> {
    let below = |it: &str| folder.join(it);
    let (hook, secret, socket) = (below("project/.git/hooks"), below("secret"), below("socket"));
    let address: SocketAddr = address.parse().map_err(|_| "no address is given".to_owned())?;
    let can_write = |path: PathBuf| fs::write(path, "text").is_ok();
    let can_read = |path: &Path| fs::read(path).is_ok_and(|it| !it.is_empty());
    let environment = PathBuf::from(format!("/proc/{watched}/environ"));
    // each: whether the try shows that the sentence is false, and the sentence
    let mut tries = vec![
        (!can_write(below("project/file")), "files in the project can be written"),
        (can_write(below("file")), "files outside of the project cannot be written"),
        (can_write(hook.join("file")), "protected files of the project cannot be written"),
        (
            fs::set_permissions(below("other"), Permissions::from_mode(0o600)).is_ok(),
            "rights of files outside cannot be changed",
        ),
        (can_read(&secret), "files with secrets cannot be read"),
        (TcpStream::connect(address).is_ok(), "there is no network"),
        (UnixStream::connect(&socket).is_ok(), "sockets of other programs cannot be reached"),
        (can_signal(watched), "processes outside cannot be signalled"),
    ];
    if cfg!(target_os = "linux") {
        tries.push((can_read(&environment), "the editor's environment cannot be read"));
    }
    let line = |(is_open, what): &(bool, &str)| match is_open {
        true => format!("open\tNot so: {what}.\n"),
        false => format!("holds\tTried: {what}.\n"),
    };
    Ok(tries.iter().map(line).collect())
}

fn can_signal(process: &str) -> bool {
    let process = process.parse().ok().and_then(rustix::process::Pid::from_raw);
    process.is_some_and(|it| rustix::process::test_kill_process(it).is_ok())
}
