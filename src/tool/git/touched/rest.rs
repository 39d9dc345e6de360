//! What is left of a rebase or of `git am` that has stopped: the files that going on, or giving it up, changes.

use super::Look;

impl Look<'_> {
    /// The paths that the rest of a rebase or of `am`, or its end, changes. What is done already does not count.
    pub(super) fn rest_of_rebase(&self) -> Vec<String> {
        let state = |file: &str| self.glance.state(file).map(|it| it.trim().to_owned());
        let known = ["rebase-merge", "rebase-apply"].iter().find_map(|folder| {
            let head = state(&format!("{folder}/orig-head"));
            let is_there = head.is_some() || state(&format!("{folder}/next")).is_some();
            is_there.then_some((*folder, head))
        });
        let Some((folder, head)) = known else { return self.diff(&["HEAD"]) };
        let stashed = state(&format!("{folder}/autostash"));
        let stashed = stashed.map(|it| self.diff(&[&format!("{it}^1"), &it])).unwrap_or_default();
        if self.it.has(&["--abort"]) {
            let head = head.unwrap_or_else(|| "ORIG_HEAD".to_owned());
            return [self.diff(&[&head]), stashed].concat();
        }
        let dropped = if self.it.has(&["--skip"]) { self.diff(&["HEAD"]) } else { Vec::new() };
        let rest = match state("rebase-merge/git-rebase-todo") {
            Some(todo) => self.todo(&todo),
            None => self.mails(),
        };
        [dropped, rest, stashed].concat()
    }

    /// The paths that the commits of a list of `rebase -i` change.
    fn todo(&self, list: &str) -> Vec<String> {
        let lines = list.lines().map(|it| it.split_whitespace().collect::<Vec<_>>());
        let all = lines.flat_map(|words| match words[..] {
            [
                "exec" | "x" | "break" | "b" | "label" | "l" | "update-ref" | "u" | "noop" | "drop"
                | "d",
                ..,
            ]
            | [] => Vec::new(),
            // `fixup -C` and `merge -C` have an option before the commit
            [_, "-C" | "-c", commit, ..] => self.changed_by(commit),
            // the commit of a label is below `refs/rewritten`
            ["reset" | "t" | "merge" | "m", label, ..] => {
                let place = format!("refs/rewritten/{label}");
                [self.diff(&["HEAD", &place]), self.diff(&["HEAD", label])].concat()
            }
            [_, commit, ..] if !words[0].starts_with('#') => self.changed_by(commit),
            _ => Vec::new(),
        });
        all.collect()
    }

    /// The paths that a commit changes; any path if there is no such commit.
    pub(super) fn changed_by(&self, commit: &str) -> Vec<String> {
        match self.glance.commit(commit) {
            Some(_) => self.picked(&[commit]),
            None => self.anything(),
        }
    }

    /// The paths that the patches after the present one change; any path if they cannot be read.
    fn mails(&self) -> Vec<String> {
        let number = |file: &str| {
            self.glance.state(&format!("rebase-apply/{file}"))?.trim().parse::<u32>().ok()
        };
        let (Some(next), Some(last)) = (number("next"), number("last")) else {
            return self.anything();
        };
        let of = |at: u32| {
            let name = format!("rebase-apply/{at:04}");
            let file =
                self.glance.line(&["rev-parse", "--path-format=absolute", "--git-path", &name])?;
            let counted = self.glance.run(&["apply", "--numstat", "-z", &file])?;
            let counted = String::from_utf8(counted).ok()?;
            // each entry is the numbers of added and removed lines and the path, with tabs between them
            let paths = counted.split('\0').filter_map(|it| it.rsplit('\t').next());
            Some(paths.filter(|it| !it.is_empty()).map(str::to_owned).collect::<Vec<_>>())
        };
        let all: Option<Vec<Vec<String>>> = (next + 1..=last).map(of).collect();
        all.map_or_else(|| self.anything(), |it| it.concat())
    }
}
