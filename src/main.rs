//! The program's entry point. The editor starts the program as its RPC child. The first argument may select another
//! task, such as `run`.

use caliban::tool::environment::{self, Secrets};
use caliban::web::{markdown, proxy};
use caliban::{pdf, run, sandbox, supervisor};
use std::io::{IsTerminal, Write};
use std::process::ExitCode;

fn main() -> ExitCode {
    let first = std::env::args_os().nth(1).unwrap_or_default();
    if first == "run" {
        return run::main(std::env::args_os().skip(2));
    }
    let asks_version = first == "--version" || first == "-V";
    if asks_version || std::io::stdin().is_terminal() {
        return introduce(asks_version);
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
    if first == supervisor::ARGUMENT {
        return supervisor::run(std::env::args_os());
    }
    if first == pdf::ARGUMENT {
        return pdf::run();
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

/// Prints a text for a person who starts the program by hand.
fn introduce(asks_version: bool) -> ExitCode {
    let version = env!("CARGO_PKG_VERSION");
    let text = if asks_version {
        format!("caliban {version}\n")
    } else {
        format!(
            "caliban {version} is started by its Neovim plugin. In Neovim, type :Caliban\n\
             Without Neovim: caliban run --help\n"
        )
    };
    match std::io::stdout().write_all(text.as_bytes()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}
