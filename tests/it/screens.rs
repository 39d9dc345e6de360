//! Ten screens with their colours, each on 80 and on 120 columns; and the same screens as pictures.

mod scenes;
mod timeless;

use crate::kit::LIMIT;
use crate::kit::nvim::Nvim;
use crate::kit::picture::Picture;
use crate::kit::root;
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use crate::kit::svg::svg;
use scenes::SCENES;
use std::fs;
use std::time::{Duration, Instant};
use timeless::timeless;

/// The sizes of the pictures, in columns and rows.
const SIZES: [(u16, u16); 4] = [(60, 36), (80, 36), (120, 36), (200, 50)];
/// If a screen has not changed for this long, a picture of it may be taken.
const CALM: Duration = Duration::from_millis(400);

/// A screen that somebody may look at: a model server that has said its part, and a Neovim after the keys of its user.
pub(crate) struct Stage {
    pub(crate) server: Server,
    pub(crate) nvim: Nvim,
}

impl Stage {
    /// Starts Neovim on a small project, in the colours of its default scheme.
    fn start(columns: u16, setup: impl FnOnce(Setup) -> Setup) -> Stage {
        let server = Server::start();
        let rows = SIZES.iter().find(|it| it.0 == columns).map_or(36, |it| it.1);
        let base = Setup::new()
            .file("src/cart.lua", include_str!("../data/screens/cart.lua"))
            .file("src/shop.lua", include_str!("../data/screens/shop.lua"))
            .before("vim.g.kit_colours = true vim.o.number = true vim.o.ruler = false")
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

    /// The picture once the screen has stopped changing, except for its figures of time.
    fn calm(&self) -> Picture {
        let start = Instant::now();
        let (mut last, mut since) = (String::new(), Instant::now());
        loop {
            let _ = self.nvim.is_blocked();
            let text = timeless(self.picture()).text();
            if text != last {
                (last, since) = (text, Instant::now());
            }
            if since.elapsed() > CALM || start.elapsed() > LIMIT {
                return self.picture();
            }
        }
    }
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
            for ground in ["dark", "light"] {
                stage.nvim.lua("vim.o.background = ...", &[ground.into()]);
                let path = folder.join(format!("{name}-{columns}-{ground}.svg"));
                fs::write(path, svg(&stage.calm())).unwrap();
            }
        }
    }
}
