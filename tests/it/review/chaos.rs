//! Random acts in random order: edits of the agent, typing, undo, decisions, writes, reloads, a killed program. Every
//! word is unique and begins with its author (`u` for the user, `a` for the agent). So the invariants are plain: words
//! of the user outside hunks disappear only by acts of the user, words of the agent are only in hunks or accepted, and
//! the disk holds nothing undecided.

use super::scene::{Scene, edit};
use crate::kit::dice::Dice;
use crate::kit::reply::Reply;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

/// The number of steps of a run. The environment variables `CHAOS` and `CHAOS_SEED` set another number and another
/// seed.
const STEPS: u64 = 1_200;
const SEED: u64 = 20;

const LOOK: &str = "
    local hunks = {}
    for i, h in ipairs(require('caliban').pending()) do
      hunks[i] = { start = h.start, added = h.added, removed = h.removed }
    end
    return {
      lines = vim.api.nvim_buf_get_lines(0, 0, -1, false),
      hunks = #hunks > 0 and hunks or nil,
      state = vim.fn.undotree().seq_cur,
      phase = require('caliban').state().phase,
    }";

#[derive(Deserialize)]
struct Pending {
    start: usize,
    added: Vec<String>,
    removed: Vec<String>,
}

/// The buffer's lines, hunks and undo state, and the phase, once nothing is scheduled any more.
#[derive(Deserialize)]
struct Look {
    lines: Vec<String>,
    #[serde(default)]
    hunks: Vec<Pending>,
    state: u64,
    phase: String,
}

impl Look {
    /// The text without the pending hunks.
    fn base(&self) -> Vec<String> {
        let (mut base, mut row) = (Vec::new(), 0);
        for hunk in &self.hunks {
            assert_eq!(hunk.added, self.lines[hunk.start..hunk.start + hunk.added.len()]);
            base.extend_from_slice(&self.lines[row..hunk.start]);
            base.extend_from_slice(&hunk.removed);
            row = hunk.start + hunk.added.len();
        }
        base.extend_from_slice(&self.lines[row..]);
        base
    }

    /// The agent's words in pending hunks.
    fn undecided(&self) -> BTreeSet<String> {
        words(self.hunks.iter().flat_map(|it| &it.added)).filter(|it| it.starts_with('a')).collect()
    }

    /// Whether a row is outside all hunks.
    fn is_users(&self, row: usize) -> bool {
        self.hunks.iter().all(|it| row < it.start || row >= it.start + it.added.len())
    }
}

fn words<'a>(lines: impl IntoIterator<Item = &'a String>) -> impl Iterator<Item = String> {
    lines.into_iter().flat_map(|it| it.split(' ')).filter(|it| !it.is_empty()).map(str::to_owned)
}

fn sorted<'a>(lines: impl IntoIterator<Item = &'a String>) -> Vec<String> {
    let mut all: Vec<String> = words(lines).collect();
    all.sort();
    all
}

struct Chaos {
    scene: Scene,
    dice: Dice,
    words: usize,
    calls: usize,
    /// The agent's words that were accepted at some time.
    agreed: BTreeSet<String>,
    /// Texts that had no pending hunk: only these may be on disk.
    settled: BTreeSet<String>,
    /// For each undo state of the buffer: the buffer's lines, and the text without hunks (`Look::base`).
    states: BTreeMap<u64, [Vec<String>; 2]>,
    story: Vec<String>,
}

#[test]
fn random_acts_lose_no_user_text_and_accept_nothing_unasked() {
    let number = |name: &str| std::env::var(name).ok().and_then(|it| it.parse().ok());
    let text = (0..12).fold(String::new(), |text, n| text + &format!("u{n}\n"));
    let scene = Scene::start(|it| it.file("a.txt", &text));
    scene.server.otherwise(Reply::said("I see."));
    scene.nvim.keys(":edit a.txt<CR>");
    let mut chaos = Chaos {
        scene,
        dice: Dice(number("CHAOS_SEED").unwrap_or(SEED)),
        words: 12,
        calls: 0,
        agreed: BTreeSet::new(),
        settled: BTreeSet::from([text]),
        states: BTreeMap::new(),
        story: Vec::new(),
    };
    let first = chaos.look();
    chaos.note(&first);
    (0..number("CHAOS").unwrap_or(STEPS)).fold(first, |before, _| chaos.step(&before));
    assert_eq!(chaos.scene.server.take_refusals(), Vec::<String>::new());
}

impl Chaos {
    /// Does one act at random. Returns the state after it.
    fn step(&mut self, before: &Look) -> Look {
        match self.dice.below(100) {
            0..18 => self.propose(before),
            18..40 => self.type_line(before),
            40..48 => self.append(before),
            48..56 => self.delete(before),
            56..70 => self.decide(before, true),
            70..80 => self.decide(before, false),
            80..93 => self.undo(),
            93..96 => self.write(before),
            96..98 => self.reload(),
            98 => self.kill(before),
            _ => self.clear(before),
        }
        let after = self.look();
        self.check(&after);
        after
    }

    fn tell(&mut self, what: String) {
        self.story.push(what);
    }

    fn word(&mut self, whose: char) -> String {
        self.words += 1;
        format!("{whose}{}", self.words)
    }

    fn look(&self) -> Look {
        // Waits until all scheduled functions have run.
        let code = "local done = false
            vim.schedule(function() done = true end)
            vim.wait(60000, function() return done end, 1)";
        self.scene.nvim.lua(code, &[]);
        serde_json::from_value(self.scene.nvim.lua_json(LOOK)).unwrap()
    }

    fn note(&mut self, look: &Look) {
        self.states.insert(look.state, [look.lines.clone(), look.base()]);
        if look.hunks.is_empty() {
            self.settled.insert(look.lines.join("\n") + "\n");
        }
    }

    fn end(&self) -> String {
        self.story.iter().rev().take(8).rev().cloned().collect::<Vec<_>>().join("\n")
    }

    fn check(&mut self, now: &Look) {
        self.note(now);
        let undecided = now.undecided();
        for word in words(&now.lines).filter(|it| it.starts_with('a')) {
            let is_known = undecided.contains(&word) || self.agreed.contains(&word);
            assert!(is_known, "{word} is in the text unasked\n{}", self.end());
        }
        let disk = self.scene.on_disk("a.txt").unwrap();
        assert!(self.settled.contains(&disk), "on disk, never agreed:\n{disk}\n{}", self.end());
    }

    fn propose(&mut self, before: &Look) {
        let mut edits = Vec::new();
        let mut rows: BTreeSet<usize> = BTreeSet::new();
        for _ in 0..=self.dice.below(2) {
            let row = self.dice.below(before.lines.len());
            if before.lines[row].is_empty() || rows.contains(&row) {
                continue;
            }
            rows.insert(row);
            let mut new = vec![self.word('a')];
            if self.dice.below(2) == 0 {
                new.push(self.word('a'));
            }
            if self.dice.below(3) == 0 {
                new.insert(self.dice.below(2), before.lines[row].clone());
            }
            edits.push((before.lines[row].clone() + "\n", new.join("\n") + "\n"));
        }
        let Some((_, last)) = edits.last() else { return };
        let word =
            last.split(['\n', ' ']).find(|it| it.starts_with('a')).unwrap_or_default().to_owned();
        let awaited = last.lines().rfind(|it| !before.lines.contains(&(*it).to_owned()));
        let awaited = awaited.unwrap_or(&word).to_owned();
        self.calls += 1;
        let id = format!("e{}", self.calls);
        let edits: Vec<(&str, &str)> =
            edits.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
        self.tell(format!("propose {edits:?}"));
        self.scene.server.reply(Reply::new().call(&id, "edit", edit("a.txt", &edits)));
        let during = self.dice.below(4) == 0;
        if during {
            // the agent's edit arrives while the user types, and waits until Insert mode ends
            let own = self.word('u');
            self.scene.nvim.keys(&format!("Go{own}"));
            self.ask();
            self.scene.nvim.keys(" x<Esc>");
        } else {
            self.ask();
        }
        let code = "return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\\n')";
        self.scene.nvim.wait(
            |nvim| nvim.lua_str(code).lines().any(|line| line == awaited),
            &format!("{awaited:?} in the text\n{}", self.end()),
        );
        let after = self.look();
        if !during {
            assert_eq!(after.base(), before.base(), "a proposal leaves the base\n{}", self.end());
        }
    }

    /// Sends the prompt `go on`, and waits for the reply.
    fn ask(&self) {
        self.scene.nvim.lua("require('caliban').ask('go on')", &[]);
        self.scene.nvim.wait(|_| self.scene.server.unfetched() == 0, "the request");
        let over = |phase: String| ["idle", "reviewing", "running"].contains(&phase.as_str());
        self.scene.nvim.wait(|nvim| over(nvim.phase()), "the reply");
    }

    fn type_line(&mut self, before: &Look) {
        let (word, row) = (self.word('u'), 1 + self.dice.below(before.lines.len()));
        self.tell(format!("type {word} below line {row}"));
        self.scene.nvim.keys(&format!("{row}Go{word}<Esc>"));
        let after = self.look();
        let mut lines = before.lines.clone();
        lines.insert(row, word.clone());
        assert_eq!(after.lines, lines, "{}", self.end());
        let inside = |it: &Pending| it.start < row && row < it.start + it.added.len();
        if !before.hunks.iter().any(inside) {
            let mut base: Vec<String> = before.base();
            base.push(word);
            assert_eq!(sorted(&after.base()), sorted(&base), "the user's own\n{}", self.end());
        }
    }

    fn append(&mut self, before: &Look) {
        let (word, row) = (self.word('u'), self.dice.below(before.lines.len()));
        self.tell(format!("append {word} to line {}", row + 1));
        self.scene.nvim.keys(&format!("{}GA {word}<Esc>", row + 1));
        let after = self.look();
        if before.is_users(row) {
            let mut base = sorted(&before.base());
            base.push(word);
            base.sort();
            assert_eq!(sorted(&after.base()), base, "the user's own\n{}", self.end());
        }
    }

    fn delete(&mut self, before: &Look) {
        if before.lines.len() < 5 {
            return;
        }
        let row = self.dice.below(before.lines.len());
        self.tell(format!("delete line {}", row + 1));
        self.scene.nvim.keys(&format!("{}Gdd", row + 1));
        let after = self.look();
        if before.is_users(row) {
            let mut base = sorted(&before.base());
            for word in words([&before.lines[row]]) {
                let at = base.iter().position(|it| *it == word).unwrap();
                base.remove(at);
            }
            assert_eq!(sorted(&after.base()), base, "{}", self.end());
        }
    }

    fn decide(&mut self, before: &Look, accepts: bool) {
        let (scope, row) = (self.dice.below(3), 1 + self.dice.below(before.lines.len()));
        let (verb, key) = if accepts { ("accept", 'a') } else { ("reject", 'r') };
        let keys = match scope {
            0 => format!(":Caliban {verb} file<CR>"),
            1 => format!(":silent! {row},$Caliban {verb}<CR>"),
            _ if before.hunks.is_empty() => return,
            _ => format!("{row}G]h\\{key}"),
        };
        self.tell(keys.clone());
        self.scene.nvim.keys(&keys);
        let after = self.look();
        if accepts {
            assert_eq!(after.lines, before.lines, "accepting leaves the text\n{}", self.end());
            let left = after.undecided();
            self.agreed.extend(before.undecided().into_iter().filter(|it| !left.contains(it)));
        } else {
            assert_eq!(after.base(), before.base(), "rejecting leaves the base\n{}", self.end());
        }
    }

    fn undo(&mut self) {
        let keys = if self.dice.below(5) < 3 { "u" } else { "<C-r>" };
        self.tell(keys.to_owned());
        self.scene.nvim.keys(keys);
        let after = self.look();
        if let Some([lines, base]) = self.states.get(&after.state) {
            assert_eq!(*lines, after.lines, "undo gives the text back\n{}", self.end());
            assert_eq!(*base, after.base(), "and the base\n{}", self.end());
        }
    }

    fn write(&mut self, before: &Look) {
        self.tell("write".to_owned());
        self.scene.nvim.keys(":silent! write<CR>");
        if before.hunks.is_empty() {
            let disk = self.scene.on_disk("a.txt").unwrap();
            assert_eq!(disk, before.lines.join("\n") + "\n", "{}", self.end());
        }
    }

    fn reload(&mut self) {
        self.tell("reload".to_owned());
        let disk = self.scene.on_disk("a.txt").unwrap();
        self.scene.nvim.keys(":silent edit!<CR>");
        let after = self.look();
        assert_eq!(after.lines.join("\n") + "\n", disk, "{}", self.end());
        assert!(after.hunks.is_empty(), "{}", self.end());
        // `u` can restore texts from before the reload, without hunks and with any of the agent's words
        self.states.clear();
        let all = (0..=self.words).map(|n| format!("a{n}"));
        self.agreed.extend(all);
    }

    fn kill(&mut self, before: &Look) {
        self.tell("kill".to_owned());
        super::life::kill_program(&self.scene);
        self.scene.nvim.keys(":Caliban restart<CR>");
        self.scene.nvim.wait_phase("idle");
        let after = self.look();
        assert_eq!(after.lines, before.lines, "{}", self.end());
        assert_eq!(after.base(), before.base(), "{}", self.end());
    }

    /// Clears the conversation, so that requests stay short.
    fn clear(&mut self, before: &Look) {
        if before.phase == "idle" {
            self.tell("clear".to_owned());
            self.scene.nvim.lua("require('caliban').ask('/clear')", &[]);
        }
    }
}
