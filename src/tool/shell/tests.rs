//! What a command does not get to see.

use super::*;

#[test]
fn secrets_and_the_editor_stay_out() {
    for name in ["NVIM", "VIMRUNTIME", "OPENAI_API_KEY", "GH_TOKEN", "my_secret_x", "PGPASSWORD"] {
        assert!(withheld(name), "{name}");
    }
    for name in ["PATH", "HOME", "VIMINIT", "SSH_AUTH_SOCK", "CARGO_HOME"] {
        assert!(!withheld(name), "{name}");
    }
}
