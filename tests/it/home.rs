//! Tests how the home folder is found if `HOME` is unusual or not set.

use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use serde_json::json;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// The chat's question about reading a file in the user's home folder, which contains the file's path.
fn asked_of_a_file_at_home(script: &str) -> String {
    let server = Server::start();
    server.reply(Reply::new().call("c1", "read", json!({ "path": "~/.ssh/no-such-key" })));
    let nvim = Nvim::start(&Setup::new().anthropic(&server).started_by(script));
    nvim.keys(":Caliban<CR>igo<C-s><Esc>");
    nvim.wait_transcript("? Let read look at");
    nvim.wait_question();
    let text = nvim.transcript();
    text[text.find("? Let").unwrap()..].to_owned()
}

#[test]
fn without_the_variable_home_the_passwd_entry_of_the_user_is_used() {
    let entry = "HOME=$(getent passwd \"$(id -u)\" | cut -d: -f6) || HOME=~\nexport HOME\n";
    let expected = asked_of_a_file_at_home(&format!("{entry} exec \"$KIT_BIN\""));
    assert!(expected.contains("outside the project"), "{expected}");
    for script in ["exec env -u HOME \"$KIT_BIN\"", "HOME= exec \"$KIT_BIN\""] {
        assert_eq!(asked_of_a_file_at_home(script), expected, "{script}");
    }
}

/// Other operating systems' file systems refuse names that are not UTF-8.
#[cfg(target_os = "linux")]
#[test]
fn calibans_folders_are_found_in_a_home_folder_with_an_unusual_name() {
    // the value of HOME as it is written in the script, and the name of the home folder
    let cases: [(&str, &[u8]); 2] = [
        (r#""$PWD/.."$'/h\xff\xfe $(x)'"#, b"h\xff\xfe $(x)"),
        // relative to the folder in which Neovim was started
        ("../elsewhere", b"elsewhere"),
    ];
    for (home, folder) in cases {
        let server = Server::start();
        let setup = Setup::new().anthropic(&server);
        let folder: PathBuf = setup.dir().join(std::ffi::OsStr::from_bytes(folder));
        let script = format!(
            "unset XDG_CONFIG_HOME XDG_DATA_HOME XDG_STATE_HOME XDG_CACHE_HOME\n\
             export HOME={home}\nexec \"$KIT_BIN\""
        );
        let config = folder.join(".config/caliban");
        fs::create_dir_all(&config).unwrap();
        fs::write(config.join("AGENTS.md"), "Be kind to whales.").unwrap();
        let nvim = Nvim::start(&setup.started_by(&script));
        server.reply(Reply::said("Fine."));
        nvim.ask("go", "Fine.");
        assert!(server.requests()[0].json.to_string().contains("Be kind to whales."), "{home}");
        assert!(nvim.quit_with(":qa!<CR>").success());
        assert!(folder.join(".local/share/caliban/sessions").is_dir(), "{home}");
        let log = fs::read_to_string(folder.join(".cache/caliban/debug.log")).unwrap();
        assert!(log.contains(" hello "), "{home}");
    }
}
