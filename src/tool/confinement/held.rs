//! Contents of locked files that commands have put into git's store: by a commit, or into the index. They become files
//! when git checks them out, outside of the sandbox too. So the user is told of them.

use super::limits::Limits;
use crate::tool::git::held::Held;
use std::path::Path;

/// The most contents that are named.
const SHOWN: usize = 8;

impl Limits {
    /// A sentence for the user about contents that are new since the last command.
    pub(in crate::tool) async fn held(&self, root: &Path) -> Option<String> {
        let baseline = self.baseline.as_ref().filter(|_| self.places.is_some())?;
        let store = baseline.store().await;
        if self.seen.borrow().store == store {
            return None;
        }
        let all = baseline.held(&store, root, &self.locks).await;
        let (mut contents, mut replaced) = (all.contents, all.replaced);
        let mut is_cut = all.is_cut;
        self.seen.send_modify(|it| {
            it.store = store;
            let told = &mut it.told;
            contents.retain(|one| told.insert((one.path.clone(), one.id.clone())));
            replaced.retain(|one| told.insert((one.shown.clone(), one.id.clone())));
            is_cut &= told.insert((String::new(), String::new()));
        });
        let told = [
            (
                contents,
                "Git has new contents for files that commands may not write. Git makes files of them when you check \
                 them out. Look at them first",
                "",
            ),
            (
                replaced,
                "A command has git read other objects in place of the repository's",
                " `git replace -d` with what follows `refs/replace/` removes one.",
            ),
        ];
        let told = told.iter().filter(|it| !it.0.is_empty());
        let told = told.map(|(all, head, tail)| format!("{head}: {}.{tail}", listed(all)));
        let cut = is_cut.then(|| {
            "Git did not tell the contents of all new commits in time. Look at the branches that commands have made \
             before you check them out."
                .to_owned()
        });
        let told: Vec<String> = told.chain(cut).collect();
        (!told.is_empty()).then(|| told.join(" "))
    }
}

/// The commands that show these contents.
fn listed(all: &[Held]) -> String {
    let show = |it: &Held| format!("`git show {}`", it.shown.escape_debug());
    let named: Vec<String> = all.iter().take(SHOWN).map(show).collect();
    let more = match all.len().saturating_sub(SHOWN) {
        0 => String::new(),
        n => format!(", and {n} more"),
    };
    format!("{}{more}", named.join(", "))
}
