//! The `ownvoice` command.

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    // Rust ignores SIGPIPE, so that printing into `head` panics once it has ended. Other programs of the command line end quietly.
    #[cfg(unix)]
    // SAFETY: the default action runs no code of this process, and no thread has been started.
    unsafe {
        libc::signal(libc::SIGPIPE, libc::SIG_DFL);
    }
    ownvoice_cli::run()
}
