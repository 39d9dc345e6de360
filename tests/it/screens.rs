//! Ten screens with their colours, each on 80 and on 120 columns, and ten on 80 columns and 24 rows; and the ten screens
//! as pictures.

mod low;
mod scenes;
mod constant;

use crate::kit::LIMIT;
use crate::kit::nvim::Nvim;
use crate::kit::picture::Picture;
use crate::kit::root;
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use crate::kit::svg::svg;
use constant::{constant, placed};
use expect_test::expect_file;
use scenes::SCENES;
use std::cell::RefCell;
use std::fs;
use std::time::{Duration, Instant};

/// The sizes of the pictures, in columns and rows.
const SIZES: [(u16, u16); 4] = [(60, 36), (80, 36), (120, 36), (200, 50)];
/// The dark colours of statuslines in the default scheme of Neovim 0.11. Neovim 0.12 has other colours.
const STATUSLINES: &str = "vim.api.nvim_set_hl(0, 'StatusLine', { fg = 0x2c2e33, bg = 0xc4c6cd })
    vim.api.nvim_set_hl(0, 'StatusLineNC', { fg = 0xe0e2ea, bg = 0x4f5258 })";
/// If a screen has not changed for this long, a picture of it may be taken.
const CALM: Duration = Duration::from_millis(400);

/// A scene: a model server that has sent its replies, and a Neovim after the keys of its user.
pub(crate) struct Stage {
    pub(crate) server: Server,
    pub(crate) nvim: Nvim,
}

impl Stage {
    /// Starts Neovim on a small project, in the colours of its default scheme.
    fn start(columns: u16, setup: impl FnOnce(Setup) -> Setup) -> Stage {
        let rows = SIZES.iter().find(|it| it.0 == columns).map_or(36, |it| it.1);
        Stage::sized(columns, rows, setup)
    }

    /// Like `start`, on a screen of so many rows.
    fn sized(columns: u16, rows: u16, setup: impl FnOnce(Setup) -> Setup) -> Stage {
        let server = Server::start();
        let base = Setup::new()
            .file("src/cart.lua", include_str!("../data/screens/cart.lua"))
            .file("src/shop.lua", include_str!("../data/screens/shop.lua"))
            .before("vim.g.kit_colours = true vim.o.number = true vim.o.ruler = false vim.o.signcolumn = 'yes'")
            .anthropic(&server)
            .size(columns, rows);
        let nvim = Nvim::start(&setup(base));
        Stage { server, nvim }
    }

    /// Removes the last command from the line at the bottom.
    fn quiet(&self) {
        self.nvim.keys(":<Esc>");
    }

    fn picture(&self) -> Picture {
        let _ = self.nvim.screen();
        self.nvim.grid.borrow().picture(true)
    }

    /// The picture once the screen has stopped changing, except for its times.
    fn calm(&self) -> Picture {
        let last = RefCell::new((String::new(), Instant::now()));
        self.nvim.wait(
            |_| {
                let text = constant(self.picture()).text();
                let mut last = last.borrow_mut();
                if text != last.0 {
                    *last = (text, Instant::now());
                }
                last.1.elapsed() > CALM
            },
            "a calm screen",
        );
        self.picture()
    }
}

/// Compares a scene on 80 and on 120 columns with the files that hold its text and its colours.
#[track_caller]
fn holds(name: &str) {
    let scene = SCENES.iter().find(|it| it.0 == name).unwrap().1;
    for columns in [80, 120] {
        compare(&scene(columns), &format!("{name}-{columns}"));
    }
}

/// Compares a screen with the file that holds its text and its colours.
#[track_caller]
fn compare(stage: &Stage, name: &str) {
    stage.nvim.lua(STATUSLINES, &[]);
    compare_as_it_is(stage, name);
}

/// Compares a screen, with the colours that its statuslines have.
#[track_caller]
fn compare_as_it_is(stage: &Stage, name: &str) {
    let path = root().join(format!("tests/data/screens/{name}.txt"));
    let held = fs::read_to_string(&path).unwrap_or_default();
    let start = Instant::now();
    let shown = |_: &Nvim| constant(stage.picture()).text();
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        stage.calm();
    } else {
        // If the screen does not match in time, the comparison below shows the difference.
        let is_over = |nvim: &Nvim| shown(nvim) == held || start.elapsed() > LIMIT / 4;
        stage.nvim.wait(is_over, "the held screen");
    }
    expect_file![path].assert_eq(&shown(&stage.nvim));
}

macro_rules! held {
    ($($test:ident: $scene:literal,)*) => {
        $(#[test]
        fn $test() {
            holds($scene);
        })*
    };
}

held! {
    an_empty_chat_names_the_project_the_model_and_the_keys: "first",
    a_reply_is_shown_as_markdown: "markdown",
    calls_take_one_row_each_and_failures_are_highlighted: "calls",
    a_question_shows_its_command_and_its_keys: "consent",
    an_edit_is_reviewed_beside_the_chat: "review",
    an_edit_opens_to_its_diff: "diff",
    only_files_that_are_still_under_review_are_in_the_list_of_changes: "changes",
    a_coordinator_shows_its_workers: "workers",
    a_plan_is_read_beside_the_chat: "plan",
    an_error_a_retry_a_queued_message_and_a_draft_are_shown_together: "trouble",
}

#[test]
#[ignore = "draws pictures: make shots"]
fn draws_all_scenes() {
    let folder = root().join("target/shots");
    fs::create_dir_all(&folder).unwrap();
    let only = std::env::var("SHOTS").unwrap_or_default();
    for (name, scene) in SCENES.iter().filter(|it| it.0.contains(&only)) {
        for (columns, _) in SIZES {
            if std::env::var("COLUMNS_OF_SHOTS").is_ok_and(|it| it != columns.to_string()) {
                continue;
            }
            let stage = scene(columns);
            // a call shows less in its first second
            stage.nvim.wait(|it| !it.screen().contains("running 0 s"), "a call's first second");
            for ground in ["dark", "light"] {
                stage.nvim.lua("vim.o.background = ...", &[ground.into()]);
                let path = folder.join(format!("{name}-{columns}-{ground}.svg"));
                fs::write(path, svg(&placed(stage.calm()))).unwrap();
            }
        }
    }
}
