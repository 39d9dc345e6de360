//! Random file names: whatever the names are, the disk holds the accepted edits, and no part of a name was run. The
//! test tries 500 names, or as many as the environment variable `NAMES` says.

use super::nothing_ran;
use crate::kit::dice::Dice;
use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::review::scene::{Scene, edit, write};
use caliban::context::mention;
use serde_json::json;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The number of names in one round. A round has one Neovim, and one reply with a call for each name.
const ROUND: usize = 100;

/// Pieces of names that mean something to a shell, Ex commands, wildcards, options or patterns.
const PIECES: [&str; 68] = [
    "`",
    "$",
    "(",
    ")",
    ";",
    "|",
    "&",
    "'",
    "\"",
    "\\",
    "%",
    "#",
    "<",
    ">",
    "*",
    "?",
    "[",
    "]",
    "{",
    "}",
    "!",
    "~",
    "=",
    "+",
    "-",
    "\n",
    "\t",
    "\r",
    "\u{1b}",
    "\u{1}",
    "\u{7f}",
    "\u{202e}",
    " ",
    "  ",
    ",",
    ".",
    "..",
    "@",
    "^",
    ":",
    "a",
    "é",
    "**",
    "$HOME",
    "${HOME}",
    "%:p",
    "##",
    "<cfile>",
    "`touch PWN`",
    "$(touch PWN)",
    "!touch PWN",
    "|touch PWN",
    "\n!touch PWN\n",
    "|!touch PWN",
    "`=execute('!touch PWN')`",
    "%{execute('!touch PWN')}",
    "+!touch PWN",
    "-c",
    "--",
    "[[",
    "\\(",
    "{a,b}",
    "%(",
    "%1",
    ".txt",
    ".lua",
    ".swp",
    "|bd!",
];

/// Beginnings of names that `:edit` would not take for the name of a file in the current folder.
const STARTS: [&str; 12] = [
    "term://touch PWN",
    "oil://",
    "fugitive://",
    "+",
    "+!touch PWN ",
    "-",
    "--",
    "|",
    "!",
    "~root",
    "++ff=dos ",
    "#",
];

/// A random name, made unique by `number`.
fn name(dice: &mut Dice, number: usize) -> String {
    loop {
        let mut pieces: Vec<String> =
            (0..=dice.below(6)).map(|_| (*dice.one_of(&PIECES)).to_owned()).collect();
        let at = dice.below(pieces.len() + 1);
        pieces.insert(at, format!("{number}"));
        if dice.below(3) == 0 {
            pieces.insert(0, (*dice.one_of(&STARTS)).to_owned());
        }
        let name = pieces.concat();
        // a path that begins with `~/` is in the home folder, also in a call of the model
        if !name.starts_with("~/") {
            return name;
        }
    }
}

/// A name that is not valid UTF-8, for a file that already exists.
fn odd(dice: &mut Dice, number: usize) -> OsString {
    let mut bytes = name(dice, number).replace('/', "_").into_bytes();
    bytes.extend([0xff, 0x80 + u8::try_from(dice.below(64)).unwrap()]);
    OsStr::from_bytes(&bytes).to_owned()
}

/// The model's action on a file.
#[derive(Clone, Debug)]
enum Deed {
    Write,
    Edit,
    Delete,
    Rename(String),
    Read,
    /// The model reads a file that is not UTF-8. Neovim decodes such a file.
    Decode,
}

type Files = BTreeMap<PathBuf, Vec<u8>>;

struct Round {
    deeds: Vec<(String, Deed)>,
    before: Files,
    after: Files,
}

impl Round {
    fn throw(dice: &mut Dice, from: usize, count: usize) -> Round {
        let mut round = Round { deeds: Vec::new(), before: Files::new(), after: Files::new() };
        for number in from..from + count {
            let name = name(dice, number);
            let deed = match dice.below(6) {
                0 => Deed::Write,
                1 => Deed::Edit,
                2 => Deed::Delete,
                3 => Deed::Rename(self::name(dice, number)),
                4 => Deed::Read,
                _ => Deed::Decode,
            };
            round.add(name, deed, number);
        }
        for number in 0..count.div_ceil(10) {
            let file = PathBuf::from(odd(dice, number));
            round.before.insert(file.clone(), b"odd".to_vec());
            round.after.insert(file, b"odd".to_vec());
        }
        round
    }

    fn add(&mut self, name: String, deed: Deed, number: usize) {
        let (old, new) = (format!("{number}\nold\n").into_bytes(), format!("{number}\nnew\n"));
        let path = PathBuf::from(&name);
        let after = match &deed {
            Deed::Write | Deed::Edit => Some((path.clone(), new.into_bytes())),
            Deed::Delete => None,
            Deed::Rename(to) => Some((PathBuf::from(to), old.clone())),
            Deed::Read => Some((path.clone(), old.clone())),
            Deed::Decode => Some((path.clone(), b"caf\xe9\n".to_vec())),
        };
        // paths that are equal as `Path`s, such as `a/b` and `a//b`, are the same file
        let taken = |files: &Files, it: &Path| files.keys().any(|of| of.as_path() == it);
        if taken(&self.before, &path) || after.as_ref().is_some_and(|it| taken(&self.after, &it.0))
        {
            return;
        }
        match deed {
            Deed::Write => (),
            Deed::Decode => drop(self.before.insert(path, b"caf\xe9\n".to_vec())),
            _ => drop(self.before.insert(path, old)),
        }
        self.after.extend(after);
        self.deeds.push((name, deed));
    }

    fn reply(&self) -> Reply {
        let each = self.deeds.iter().enumerate();
        each.fold(Reply::new(), |reply, (i, (path, deed))| {
            let (tool, arguments) = match deed {
                Deed::Write => ("write", write(path, &text_of(&self.after, path))),
                Deed::Edit => ("edit", edit(path, &[("old", "new")])),
                Deed::Delete => ("delete", json!({ "path": path })),
                Deed::Rename(to) => ("rename", json!({ "path": path, "to": to })),
                Deed::Read | Deed::Decode => ("read", json!({ "path": path })),
            };
            reply.call(&format!("c{i}"), tool, arguments)
        })
    }

    fn proposed(&self) -> usize {
        let reads = |it: &&(String, Deed)| matches!(it.1, Deed::Read | Deed::Decode);
        self.deeds.len() - self.deeds.iter().filter(reads).count()
    }
}

fn text_of(files: &Files, path: &str) -> String {
    String::from_utf8(files[Path::new(path)].clone()).unwrap()
}

/// The path and bytes of each file of the project on disk.
fn held(root: &Path) -> Files {
    let all = ignore::WalkBuilder::new(root).standard_filters(false).build().flatten();
    let files = all.filter(|it| it.file_type().is_some_and(|it| it.is_file()));
    files
        .map(|it| {
            let path = it.path().strip_prefix(root).unwrap().to_owned();
            (path, fs::read(it.path()).unwrap())
        })
        .collect()
}

#[track_caller]
fn same(found: &Files, expected: &Files) {
    let differ = |one: &Files, two: &Files| -> Files {
        one.iter()
            .filter(|(path, bytes)| two.get(*path) != Some(bytes))
            .map(|(path, bytes)| (path.clone(), bytes.clone()))
            .collect()
    };
    let text = |files: Files| -> Vec<String> {
        files
            .iter()
            .map(|(path, it)| {
                let name = path.to_string_lossy();
                format!("{name:?}: {:?}", String::from_utf8_lossy(it))
            })
            .collect()
    };
    let (more, less) = (text(differ(found, expected)), text(differ(expected, found)));
    assert!(more.is_empty() && less.is_empty(), "on disk: {more:#?}\nagreed to: {less:#?}");
}

/// Quits Neovim while the review is pending, and starts another.
fn start_again(scene: Scene) -> Scene {
    assert!(scene.nvim.quit_with("<Esc>:qa!<CR>").success());
    let Scene { server, nvim } = scene;
    let setup = nvim.setup.clone();
    drop(nvim);
    Scene { server, nvim: Nvim::start(&setup) }
}

/// Checks that the `read` calls returned the texts of the files.
fn answered(scene: &Scene, round: &Round) {
    let answers = scene.server.requests().last().unwrap().answers();
    for (i, (path, deed)) in round.deeds.iter().enumerate() {
        let expected = match deed {
            Deed::Read => "old",
            Deed::Decode => "café",
            _ => continue,
        };
        let (_, text) = answers.iter().find(|(id, _)| *id == format!("c{i}")).unwrap();
        assert!(text.contains(expected), "{path:?}: {text}");
    }
}

/// Mentions the files in a prompt, and checks that the request contains their accepted text.
fn mention(scene: &Scene, round: &Round) {
    let named: Vec<(&PathBuf, String)> = round
        .after
        .iter()
        .filter(|(path, bytes)| path.to_str().is_some() && bytes.ends_with(b"new\n"))
        .map(|(path, bytes)| (path, String::from_utf8(bytes.clone()).unwrap()))
        .collect();
    let mentions =
        named.iter().map(|(path, _)| format!("see {} ", mention::write(path.to_str().unwrap())));
    let prompt = mentions.collect::<Vec<_>>().join("\n");
    let n = scene.server.requests().len();
    scene.server.reply(Reply::said("All seen."));
    scene.nvim.ask(&prompt, "All seen.");
    let told = scene.request(n + 1).last_user_text();
    for (path, text) in named {
        assert!(told.contains(text.trim_end()), "{} is not in {told}", path.display());
    }
}

/// Opens the lists that show the names of the files: completed paths, the conversations, the turns.
fn list(scene: &Scene) {
    for line in ["Caliban export ", "Caliban resume ", "Caliban export `", "Caliban export term:/"]
    {
        let listed = scene.nvim.lua("return vim.fn.getcompletion(..., 'cmdline')", &[line.into()]);
        let is_plain = |it: &rmpv::Value| it.as_str().is_none_or(|it| !it.contains('\n'));
        assert!(listed.as_array().unwrap().iter().all(is_plain), "{listed}");
    }
    scene.nvim.keys(":Caliban sessions<CR>");
    scene.nvim.wait_screen("Type number and <Enter>");
    scene.nvim.keys("<Esc>");
}

/// Rewinds the turn with the edits.
fn take_back(scene: &Scene) {
    scene.nvim.keys(":Caliban rewind<CR>");
    scene.nvim.wait_screen("Type number and <Enter>");
    scene.nvim.keys("1<CR>");
    scene.nvim.wait_screen("take back all");
    scene.nvim.keys("a");
    scene.wait_chat("You took back");
}

fn run(round: &Round, again: bool, accept: bool) {
    let scene = Scene::start(|it| {
        for (path, bytes) in &round.before {
            let path = it.path("").join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        }
        it
    });
    let setup = scene.nvim.setup.clone();
    scene.ask(round.reply());
    scene.wait_pending(round.proposed());
    same(&held(&setup.path("")), &round.before);
    nothing_ran(&setup);
    let scene = if again { start_again(scene) } else { scene };
    scene.wait_hunks(round.proposed());
    if !again {
        scene.server.reply(Reply::said("I see."));
    }
    scene.nvim.keys(if accept { ":Caliban accept all<CR>" } else { ":Caliban reject all<CR>" });
    if again {
        scene.wait_hunks(0);
        scene.server.reply(Reply::said("I see."));
        scene.nvim.ask("go on", "I see.");
    } else {
        scene.wait_idle("I see.");
    }
    answered(&scene, round);
    same(&held(&setup.path("")), if accept { &round.after } else { &round.before });
    list(&scene);
    if accept {
        mention(&scene, round);
    }
    if accept && !again {
        take_back(&scene);
        same(&held(&setup.path("")), &round.before);
    }
    nothing_ran(&setup);
}

#[test]
fn files_of_any_name_hold_the_accepted_text_on_disk() {
    let count = std::env::var("NAMES").ok().and_then(|it| it.parse().ok()).unwrap_or(500);
    let mut dice = Dice(7);
    for (i, from) in (0..count).step_by(ROUND).enumerate() {
        let round = Round::throw(&mut dice, from, ROUND.min(count - from));
        run(&round, i % 2 == 1, i % 5 != 4);
    }
}
