//! The ten scenes: the replies of the model and the keys of the user, until the screen shows the subject of the scene.

use super::Stage;
use crate::kit::reply::Reply;
use crate::review::scene::edit;
use crate::tasks::has_got;
use serde_json::{Value, json};

type Scene = fn(u16) -> Stage;

pub(super) const SCENES: [(&str, Scene); 10] = [
    ("first", first),
    ("markdown", markdown),
    ("calls", calls),
    ("consent", consent),
    ("review", review),
    ("diff", diff),
    ("changes", changes),
    ("workers", workers),
    ("plan", plan),
    ("trouble", trouble),
];

/// A scene that needs only the chat, which fills a screen of less than 120 columns.
fn alone(columns: u16) -> Stage {
    let config = if columns < 120 { "{ layout = 'current' }" } else { "{}" };
    Stage::start(columns, |it| it.config(config))
}

/// An empty chat beside a file.
fn first(columns: u16) -> Stage {
    let stage = Stage::start(columns, |it| it);
    stage.nvim.keys(":edit src/cart.lua<CR>:Caliban<CR>");
    stage.nvim.wait_screen("g? keys");
    stage.nvim.wait_screen("claude-sonnet-4-5");
    stage.quiet();
    stage
}

/// A reply with all elements of Markdown, which is still arriving.
fn markdown(columns: u16) -> Stage {
    let stage = alone(columns);
    let text = include_str!("../../data/screens/reply.txt");
    let gate = stage.server.reply(Reply::new().text(text).usage(12_400, 900).gate());
    stage.nvim.keys(":edit src/cart.lua<CR>:Caliban<CR>iHow is a total computed?<C-s><Esc>");
    drop(gate);
    stage.nvim.wait_transcript("Shall I");
    stage.nvim.wait_phase("streaming");
    stage
}

/// Reads in a row, a failure, and a command that runs.
fn calls(columns: u16) -> Stage {
    let stage = Stage::start(columns, |it| {
        let config = if columns < 120 { "{ layout = 'current' }" } else { "{}" };
        it.config(config)
            .file("test.sh", "echo '1..12'\necho 'ok 1 - an empty cart costs nothing'\nsleep 900\n")
    });
    let read = |path: &str| json!({ "path": path });
    stage.server.reply(
        Reply::new()
            .thinking("The total is a float.")
            .text("I look at the callers first.")
            .call("c1", "read", read("src/cart.lua"))
            .call("c2", "read", read("src/shop.lua"))
            .call("c3", "read", read("test.sh"))
            .call("c4", "grep", json!({ "pattern": "sum", "path": "src" }))
            .call("c5", "read", read("src/basket.lua"))
            .usage(12_000, 400)
            .cached(9000, 0),
    );
    stage.server.reply(
        Reply::new()
            .text("`src/basket.lua` is not there. The tests tell more.")
            .call("c6", "shell", json!({ "command": "luacheck --version | false" }))
            .call("c7", "shell", json!({ "command": "sh test.sh" }))
            .usage(12_900, 200)
            .cached(12_000, 0),
    );
    stage
        .nvim
        .keys(":edit src/cart.lua<CR>:Caliban<CR>iWhy is a total 16.470000000000002?<C-s><Esc>");
    for _ in 0..2 {
        stage.nvim.wait_question();
        stage.nvim.lua("require('caliban').approve('once')", &[]);
    }
    stage.nvim.wait_transcript("an empty cart costs nothing");
    stage
}

/// The model wants to run a command that needs consent.
fn consent(columns: u16) -> Stage {
    // what the question says of hosts depends on the sandbox, which not every system has
    let stage = Stage::start(columns, |it| it.config("{ sandbox = false }"));
    stage.server.reply(
        Reply::new()
            .text("Both files are changed. I push the branch.")
            .call(
                "c1",
                "shell",
                json!({ "command": "git push origin \"$BRANCH\" && gh pr create --fill --title 'Count in cents'" }),
            )
            .usage(21_400, 120)
            .cached(20_000, 0),
    );
    stage
        .nvim
        .keys(":edit src/cart.lua<CR>:Caliban<CR>iPush it and open a pull request.<C-s><Esc>");
    stage.nvim.wait_question();
    stage
}

fn cents() -> Value {
    edit(
        "src/cart.lua",
        &[
            (
                "--- The sum of the prices of all items.\nlocal function sum(items)\n",
                "--- The sum of the prices of all items, in cents.\nlocal function subtotal(items)\n",
            ),
            ("  local price = sum(items)", "  local price = subtotal(items)"),
            (
                "    price = price * 0.9",
                "    -- rounds down, for the customer\n    price = math.floor(price * 0.9)",
            ),
        ],
    )
}

/// Asks for whole cents. The edit of the first file is under review.
fn proposed(stage: &Stage) {
    stage.server.reply(
        Reply::new()
            .text("A price becomes a whole number of cents, so that sums are exact.")
            .call("e1", "edit", cents())
            .usage(14_000, 300)
            .cached(13_000, 0),
    );
    stage.nvim.keys(":edit src/cart.lua<CR>:Caliban ask Count in cents.<CR>");
    stage.nvim.wait_pending(3);
}

/// An edit in the buffer of its file, beside the chat.
fn review(columns: u16) -> Stage {
    let stage = Stage::start(columns, |it| it);
    proposed(&stage);
    stage.nvim.keys("gg]h");
    stage.nvim.wait(|it| it.lua_str("return vim.fn.line('.')") == "4", "the first change");
    stage.quiet();
    stage
}

/// The same edit in the chat.
fn diff(columns: u16) -> Stage {
    let stage = alone(columns);
    proposed(&stage);
    stage.nvim.keys(":Caliban<CR><Esc>");
    stage.nvim.go_to_transcript("edit  src/cart.lua");
    stage.nvim.keys("<CR>");
    stage.quiet();
    stage
}

/// Changes of two files, one of them settled.
fn changes(columns: u16) -> Stage {
    let stage = Stage::start(columns, |it| it);
    let shop = edit(
        "src/shop.lua",
        &[
            ("4.20", "420"),
            ("9.90", "990"),
            (
                "print(('%.2f'):format(Cart.total(items, 'SPRING')))",
                "print(('%.2f'):format(Cart.total(items, 'SPRING') / 100))",
            ),
        ],
    );
    stage.server.reply(
        Reply::new()
            .text("Both files change together.")
            .call("e1", "edit", cents())
            .call("e2", "edit", shop)
            .usage(14_000, 600)
            .cached(13_000, 0),
    );
    // whether Neovim marks a pair of brackets before the user goes on depends on the machine
    stage.nvim.keys(":NoMatchParen<CR>:edit src/cart.lua<CR>:Caliban ask Count in cents.<CR>");
    stage.nvim.wait_pending(5);
    stage.nvim.keys("gg]h\\a]h\\a]h\\r");
    stage.nvim.wait_pending(2);
    stage.nvim.keys(":Caliban<CR><Esc>");
    stage.nvim.go_to_transcript("src/shop.lua");
    stage.quiet();
    stage.nvim.keys("Gzb");
    stage
}

/// A coordinator and three workers.
fn workers(columns: u16) -> Stage {
    let stage = alone(columns);
    team(&stage);
    stage
}

/// Lets a coordinator order three workers.
pub(super) fn team(stage: &Stage) {
    let worker = |role: &str, what: &str, prompt: &str| json!({ "role": role, "description": what, "prompt": prompt });
    let mut implementer = worker("implementer", "Count in cents", "CHANGE src/cart.lua");
    implementer["owns"] = json!(["src/cart.lua"]);
    let team = json!({ "workers": [
        worker("explorer", "Find the callers", "EXPLORE src"),
        implementer,
        worker("explorer", "Look for floats", "FLOATS in src"),
    ]});
    let server = &stage.server;
    server.reply(
        Reply::new()
            .text("Three of us share the work.")
            .call("c1", "spawn_workers", team)
            .usage(9000, 300),
    );
    server.reply(Reply::new().call("c2", "await_workers", json!({})).usage(9400, 20));
    let read = json!({ "path": "src/cart.lua" });
    server.reply_to(
        has_got("EXPLORE src", 0),
        Reply::new().call("r1", "read", read.clone()).call(
            "n1",
            "notify",
            json!({ "text": "`sum` has one caller." }),
        ),
    );
    let done = json!({ "what_was_done": "`sum` has one caller, in the same file.", "evidence": "src/cart.lua:15", "unresolved_risks": "", "exact_next_step": "none", "status": "done" });
    server.reply_to(has_got("EXPLORE src", 2), Reply::said(&done.to_string()));
    server.reply_to(has_got("CHANGE src/cart.lua", 0), Reply::new().call("e1", "edit", cents()));
    server.hold(has_got("FLOATS in src", 0), Reply::new().text("I read on.").gate());
    stage.nvim.keys(":edit src/cart.lua<CR>:Caliban<CR><Esc>:Caliban mode coordinator<CR>");
    stage.nvim.wait_transcript("Coordinator mode is on");
    stage.nvim.keys("iCount in cents, everywhere.<C-s><Esc>");
    stage.nvim.wait_transcript("finished");
    stage.nvim.wait_hunks(3);
    stage.quiet();
}

/// A plan that waits for the user.
fn plan(columns: u16) -> Stage {
    let stage = Stage::start(columns, |it| it);
    stage.server.reply(planned());
    stage.nvim.keys(":edit src/cart.lua<CR>:Caliban<CR>i/plan Count in cents.<C-s><Esc>");
    stage.nvim.wait_screen("Plan · waits");
    stage.nvim.wait_screen("\\a accept  \\");
    stage
}

/// The reply that submits a plan.
pub(super) fn planned() -> Reply {
    let plan = json!({
        "summary": "Prices become whole numbers of cents, so that totals are exact.",
        "changes": "- `src/cart.lua`: `sum` becomes `subtotal` and counts in cents\n- `src/shop.lua`: prices in cents; the total is divided by 100 when it is printed",
        "interfaces": "`Cart.total` returns cents.",
        "tests": "- `sh test.sh`",
        "assumptions": "Nobody else calls `Cart.total`.",
        "risks": "- A discount rounds down.",
    });
    Reply::new().text("Here is my plan.").call("p1", "plan", plan).usage(15_000, 500)
}

/// A request that was refused, one that is tried again, a message in the queue, a draft.
fn trouble(columns: u16) -> Stage {
    let stage = Stage::start(columns, |it| it);
    stage.server.reply(Reply::no_quota());
    stage.nvim.keys(":edit src/cart.lua<CR>:Caliban<CR>iCount in cents.<C-s><Esc>");
    stage.nvim.wait_transcript("credit");
    stage.nvim.wait_phase("idle");
    stage.server.reply(Reply::error(429).header("retry-after", "60"));
    stage.nvim.keys("iTry again.<C-s><Esc>");
    stage.nvim.wait_transcript("Rate limited");
    stage.nvim.keys("iand change the tests too<C-s><Esc>");
    stage.nvim.wait_queue(1);
    stage.nvim.keys("ialso mention it in @README.md<Esc>");
    stage
}
