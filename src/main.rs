//! The program's entry point. The editor starts the program as its RPC child. The first argument may select another
//! task, such as `run`.

use caliban::site::places;
use caliban::tool::environment::{self, Secrets};
use caliban::tool::git::gate;
use caliban::web::{markdown, proxy};
use caliban::{leash, pdf, run, sandbox, supervisor};
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let name = std::env::args_os().next().unwrap_or_default();
    let first = std::env::args_os().nth(1).unwrap_or_default();
    match Path::new(&name).file_name() {
        Some(name) if gate::is_git(name) => return gate::run(),
        _ if first == leash::ARGUMENT => return leash::run(std::env::args_os()),
        _ => leash::hold(places::own_file()),
    }
    if first == "run" {
        return run::main(std::env::args_os().skip(2));
    }
    if first == "--version" || first == "-V" {
        return print(concat!("caliban ", env!("CARGO_PKG_VERSION"), "\n"));
    }
    let asks_help = ["--help", "-h", "help"].iter().any(|it| first == *it);
    if asks_help || first.is_empty() && !is_from_editor() {
        return print(&help());
    }
    if first == environment::ARGUMENT {
        return list_withheld();
    }
    if first == markdown::ARGUMENT {
        return markdown::run();
    }
    if first == sandbox::PROBE {
        return sandbox::probe();
    }
    if first == sandbox::CHECK {
        return sandbox::check(proxy::serve_without_rules);
    }
    if first == sandbox::network::ARGUMENT {
        return sandbox::network::hold();
    }
    if first == supervisor::ARGUMENT {
        return supervisor::run(std::env::args_os());
    }
    if first == pdf::ARGUMENT {
        return pdf::run();
    }
    if !first.is_empty() {
        let first = first.to_string_lossy();
        let text = format!(
            "caliban: there is no command `{}`.\nTry: caliban --help\n",
            first.escape_debug()
        );
        let _ = std::io::stderr().write_all(text.as_bytes());
        return ExitCode::from(2);
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    match runtime {
        Ok(runtime) => {
            let code = runtime.block_on(caliban::program::run());
            // The reader of standard input and a slow disk must not delay the end of the program.
            runtime.shutdown_background();
            code
        }
        Err(_) => ExitCode::FAILURE,
    }
}

/// For `:checkhealth`: prints the names of the variables that are withheld from commands, one on each line. The
/// arguments are the names of the variables that the user passes on.
fn list_withheld() -> ExitCode {
    let passed = std::env::args_os().skip(2).filter_map(|it| it.into_string().ok()).collect();
    let names = Secrets { passed, ..Secrets::default() }.withheld();
    let lines: Vec<String> = names.iter().map(|it| it.escape_debug().to_string()).collect();
    match writeln!(std::io::stdout(), "{}", lines.join("\n")) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

/// Whether standard input may come from an editor, which starts the program with a pipe or a socket.
fn is_from_editor() -> bool {
    let Ok(input) = rustix::fs::fstat(std::io::stdin()) else { return false };
    let kind = rustix::fs::FileType::from_raw_mode(input.st_mode);
    matches!(kind, rustix::fs::FileType::Fifo | rustix::fs::FileType::Socket)
}

/// The text for a person who starts the program by hand.
fn help() -> String {
    format!(
        "caliban {} is started by its Neovim plugin. In Neovim, type :Caliban\n\n\
         Without Neovim:\n  \
         caliban run \"prompt\"   carries out one prompt; caliban run --help has the options\n  \
         caliban --version      prints the version\n  \
         caliban --help         prints this text\n\n\
         In Neovim: :help caliban\n",
        env!("CARGO_PKG_VERSION")
    )
}

fn print(text: &str) -> ExitCode {
    match std::io::stdout().write_all(text.as_bytes()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}
