//! Where git fetches from and pushes to. A command may add remotes and set up branches, but neither lead a branch of the
//! user's to another place, nor have git connect to a remote without being told to.

use super::bounded;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::sync::watch;

/// The names and values of all settings in a text, as git reads it. `None` if git cannot read it.
pub(super) fn settings(text: &str) -> Option<Settings> {
    let mut command = bounded::git();
    command.args(["config", "--no-includes", "--file", "-", "--list", "-z"]).current_dir("/");
    let output = bounded::fed(&mut command, text.as_bytes().to_vec()).ok()?;
    if !output.status.success() {
        return None;
    }
    let all = output.stdout.split(|it| *it == 0).filter(|it| !it.is_empty());
    let pair = |it: &[u8]| {
        let text = String::from_utf8_lossy(it).into_owned();
        let (name, value) = text.split_once('\n').unwrap_or((&text, ""));
        (name.to_owned(), value.to_owned())
    };
    Some(all.map(pair).collect())
}

/// The settings of a repository, by name and value.
pub(super) type Settings = BTreeSet<(String, String)>;

/// Where the repository's branches went before the conversation's first command.
#[derive(Debug, Clone, Default)]
pub(in crate::tool) struct Known {
    settings: Settings,
    /// The local branches. `None` if git does not tell them.
    branches: Option<BTreeSet<String>>,
}

/// Where the branches of each repository went, by its configuration.
pub(in crate::tool) type Origins = Arc<watch::Sender<BTreeMap<PathBuf, Known>>>;

/// What is known of the repository with this configuration. Before the first question about it no command has changed
/// the configuration. Blocks.
pub(in crate::tool) fn of(all: &Origins, file: &Path) -> Known {
    if let Some(known) = all.borrow().get(file) {
        return known.clone();
    }
    let known = Known::new(file);
    all.send_modify(|it| drop(it.insert(file.to_owned(), known.clone())));
    known
}

impl Known {
    /// `file` is the configuration of a repository.
    fn new(file: &Path) -> Known {
        let text = crate::regular::read_to_string(file);
        let is_repository = text.is_ok();
        let settings = text.ok().and_then(|it| settings(&it));
        let named = |it: Vec<u8>| String::from_utf8_lossy(&it).lines().map(str::to_owned).collect();
        let branches = file.parent().and_then(super::branches).map(named);
        let branches = branches.or_else(|| (!is_repository).then(BTreeSet::new));
        Known::of(&settings.unwrap_or_default(), branches)
    }

    /// What the user has set up. A remote with the mark of a command is not the user's.
    pub(super) fn of(all: &Settings, branches: Option<BTreeSet<String>>) -> Known {
        let is_own = |it: &&(String, String)| part(it).is_none_or(|it| !is_marked(all, it.0));
        Known { settings: all.iter().filter(is_own).cloned().collect(), branches }
    }

    /// The changed settings that a command may not change: those by which git would push to, or fetch from, another
    /// place than before, or fetch without being told to, and those after whose change a branch leads to no remote. Git
    /// takes the name of a missing remote as a folder, and runs its hooks.
    pub(super) fn refused<'a>(
        &'a self,
        old: &'a Settings,
        new: &'a Settings,
    ) -> impl Iterator<Item = &'a (String, String)> {
        let addresses = |all: &'a Settings| -> BTreeSet<&'a str> {
            all.iter().filter(|it| remote(it).is_some()).map(|it| it.1.as_str()).collect()
        };
        let (before, after) = (addresses(&self.settings), addresses(new));
        let is_replaced = !before.is_subset(&after);
        let is_refused = move |it: &&(String, String)| {
            let is_new = !old.contains(*it);
            if let Some(name) = remote(it) {
                let is_known = before.contains(it.1.as_str());
                let may_be = !is_replaced && !self.has(name) && is_address(&it.1);
                return is_new
                    && !self.settings.contains(*it)
                    && !(is_known && !self.has(name) || may_be);
            }
            if let Some(name) = fetched(it) {
                return is_new && !self.fetches(name, new);
            }
            let moved = || !urls(old, &it.1).eq(urls(new, &it.1));
            branch(it).is_some_and(|of| (is_new || moved()) && !self.leads(of, it, new))
        };
        let is_mark = |it: &&(String, String)| part(it).is_some_and(|it| it.1 == MARK);
        let unmarked = move |it: &&(String, String)| {
            let stays = || part(it).is_some_and(|it| urls(new, it.0).next().is_some());
            if new.contains(*it) { it.1 != "true" } else { stays() }
        };
        let marks = old.symmetric_difference(new).filter(is_mark).filter(unmarked);
        new.iter().filter(is_refused).chain(marks)
    }

    /// The remotes that are new in a configuration, and whose addresses the user has not set up.
    pub(super) fn added(&self, old: &Settings, new: &Settings) -> Vec<Added> {
        let is_known =
            |url: &str| self.settings.iter().any(|it| remote(it).is_some() && it.1 == url);
        let is_added = |it: &&(String, String)| {
            !old.contains(*it)
                && !is_known(&it.1)
                && remote(it).is_some_and(|name| !is_marked(new, name))
        };
        let all = new.iter().filter(is_added);
        all.filter_map(|it| Some(Added { name: remote(it)?.to_owned(), url: it.1.clone() }))
            .collect()
    }

    /// Whether there was a remote of this name.
    fn has(&self, name: &str) -> bool {
        self.settings.iter().any(|it| remote(it) == Some(name))
    }

    /// Whether a branch may have this remote.
    fn leads(&self, of: &str, it: &(String, String), new: &Settings) -> bool {
        let is_known =
            |url: &str| self.settings.iter().any(|it| remote(it).is_some() && it.1 == url);
        let is_old = self.has(&it.1) || urls(new, &it.1).all(is_known);
        let is_own = self.branches.as_ref().is_some_and(|it| !it.contains(of));
        let is_first = !self.settings.iter().any(|it| remote(it).is_some());
        it.1 == "." || urls(new, &it.1).next().is_some() && (is_old || is_own || is_first)
    }

    /// Whether git already fetched missing objects from the addresses that this remote has now.
    fn fetches(&self, name: &str, new: &Settings) -> bool {
        let names = self.settings.iter().filter_map(fetched);
        let before: BTreeSet<&str> = names.flat_map(|it| urls(&self.settings, it)).collect();
        urls(new, name).next().is_some() && urls(new, name).all(|it| before.contains(it))
    }
}

/// A remote that a command has added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::tool) struct Added {
    pub(in crate::tool) name: String,
    pub(in crate::tool) url: String,
}

impl Added {
    /// The text that marks the remote in the configuration. With this setting of git's own, `git fetch --all` leaves the
    /// remote out, and no later conversation takes the remote for the user's.
    pub(super) fn mark(all: &[Added]) -> String {
        let mut text = String::new();
        let names: BTreeSet<&str> = all.iter().map(|it| it.name.as_str()).collect();
        for name in names {
            let name = name.replace('\\', "\\\\").replace('"', "\\\"");
            let _ = write!(text, "[remote \"{name}\"]\n\tskipFetchAll = true\n");
        }
        text
    }
}

/// The last name of the setting that marks remotes.
const MARK: &str = "skipfetchall";

/// The remote that a setting is about, and the setting's last name.
fn part((name, _): &(String, String)) -> Option<(&str, &str)> {
    name.strip_prefix("remote.")?.rsplit_once('.')
}

fn is_marked(all: &Settings, name: &str) -> bool {
    all.iter().any(|it| part(it) == Some((name, MARK)) && it.1 == "true")
}

/// The addresses of a remote.
fn urls<'a>(all: &'a Settings, name: &str) -> impl Iterator<Item = &'a str> {
    all.iter().filter(move |it| remote(it) == Some(name)).map(|it| it.1.as_str())
}

/// The remote from which git fetches missing objects because of this setting, whatever command the user calls.
fn fetched(it: &(String, String)) -> Option<&str> {
    match part(it) {
        Some((name, "promisor" | "partialclonefilter")) => Some(name),
        _ => (it.0 == "extensions.partialclone").then_some(&it.1),
    }
}

/// The remote of which a setting is the address.
fn remote(it: &(String, String)) -> Option<&str> {
    part(it).filter(|it| it.1 == "url").map(|it| it.0)
}

/// The branch of which a setting is the remote.
fn branch((name, _): &(String, String)) -> Option<&str> {
    let rest = name.strip_prefix("branch.")?;
    rest.strip_suffix(".remote").or_else(|| rest.strip_suffix(".pushremote"))
}

/// Whether git reaches a remote at this address over the network, and not as a folder of this machine.
fn is_address(url: &str) -> bool {
    const SCHEMES: [&str; 6] = ["https", "http", "ssh", "git", "git+ssh", "ssh+git"];
    let is_host = |it: &str| it.starts_with(|it: char| it.is_ascii_alphanumeric() || it == '[');
    let without_user = |it: &str| it.rsplit_once('@').map_or(it, |it| it.1).to_owned();
    if let Some((scheme, rest)) = url.split_once("://") {
        let host = rest.split('/').next().unwrap_or_default();
        return SCHEMES.contains(&scheme) && is_host(host) && is_host(&without_user(host));
    }
    let (place, _) = url.split_once(':').unwrap_or_default();
    place.contains('@') && !place.contains('/') && is_host(place) && is_host(&without_user(place))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_chain_of_harmless_settings_leads_a_push_to_another_place() {
        let origin = "[remote \"origin\"]\n\turl = ../hub.git\n";
        let up = "[remote \"up\"]\n\turl = https://a.org/b\n";
        let begun = format!("{origin}[branch \"main\"]\n\tremote = origin\n");
        let check = |steps: &[&str], wanted: &[&str]| {
            let branches = Some(["main", "bare"].map(str::to_owned).into());
            let known = Known::of(&settings(&begun).unwrap(), branches);
            let texts = [&[begun.as_str()], steps].concat();
            let pairs =
                texts.windows(2).map(|it| (settings(it[0]).unwrap(), settings(it[1]).unwrap()));
            let refused = pairs.flat_map(|(old, new)| {
                let all: Vec<_> = known.refused(&old, &new).map(|it| it.0.clone()).collect();
                all
            });
            assert_eq!(refused.collect::<Vec<_>>(), wanted, "{steps:?}");
        };
        let with = |more: &str| format!("{begun}{more}");
        let to = |branch: &str, key: &str, remote: &str| {
            format!("[branch \"{branch}\"]\n\t{key} = {remote}\n")
        };
        // work of every day
        check(&[&with(up), &with(&(up.to_owned() + &to("topic", "remote", "up"))), &begun], &[]);
        check(
            &[&with(&to("topic", "remote", "origin")), &with(&to("bare", "pushRemote", "origin"))],
            &[],
        );
        check(&[&with(&to("bare", "remote", "."))], &[]);
        check(&[&with("[remote \"again\"]\n\turl = ../hub.git\n")], &[]);
        check(&["", &begun], &[]);
        let renamed = begun.replace("origin", "hub");
        check(&[&renamed], &[]);
        // folders
        check(&[&with(&to("main", "pushRemote", "vendor/lib"))], &["branch.main.pushremote"]);
        check(&[&with(&to("topic", "remote", "vendor/lib"))], &["branch.topic.remote"]);
        for url in
            ["vendor/lib", "/tmp/x", "file:///tmp/x", "./a:b", "x:y", "foo://a/b", "https:///a"]
        {
            check(&[&with(&format!("[remote \"x\"]\n\turl = {url}\n"))], &["remote.x.url"]);
        }
        check(&[&to("main", "remote", "origin")], &["branch.main.remote"]);
        check(&[&begun, &begun.replace("../hub.git", "vendor/lib")], &["remote.origin.url"]);
        // another address
        let other = origin.replace("../hub.git", "https://evil.example/x.git");
        check(&["", &other], &["remote.origin.url"]);
        check(&["", up], &["remote.up.url"]);
        check(
            &[&with(&(up.to_owned() + &to("main", "pushRemote", "up")))],
            &["branch.main.pushremote"],
        );
        check(&[&with(&(up.to_owned() + &to("bare", "remote", "up")))], &["branch.bare.remote"]);
        check(&[&with("[remote \"origin\"]\n\turl = https://a.org/b\n")], &["remote.origin.url"]);
    }

    const ORIGIN: &str = "[remote \"origin\"]\n\turl = https://a.org/b\n";
    const UP: &str = "[remote \"up\"]\n\turl = http://evil.example/x\n";

    fn refused(begun: &str, old: &str, new: &str) -> Vec<String> {
        let branches = Some(["main".to_owned()].into());
        let known = Known::of(&settings(begun).unwrap(), branches);
        let (old, new) = (settings(old).unwrap(), settings(new).unwrap());
        known.refused(&old, &new).map(|it| it.0.clone()).collect()
    }

    #[test]
    fn git_fetches_missing_objects_only_from_where_it_did_before() {
        let promisor = |name: &str| {
            format!(
                "[remote \"{name}\"]\n\tpromisor = true\n[extensions]\n\tpartialClone = {name}\n"
            )
        };
        let all = format!("{ORIGIN}{UP}");
        for name in ["up", "origin"] {
            let new = format!("{all}{}", promisor(name));
            let wanted = ["extensions.partialclone", &format!("remote.{name}.promisor")];
            assert_eq!(refused(ORIGIN, &all, &new), wanted);
        }
        // a partial clone whose remote gets another name
        let begun = format!("{ORIGIN}{}", promisor("origin"));
        let renamed = begun.replace("origin", "hub");
        assert_eq!(refused(&begun, &begun, &renamed), Vec::<String>::new());
        assert_eq!(refused(&begun, &begun, ORIGIN), Vec::<String>::new());
    }

    #[test]
    fn a_remote_that_a_command_has_added_stays_a_stranger_in_later_conversations() {
        let known = Known::of(&settings(ORIGIN).unwrap(), None);
        let after = format!("{ORIGIN}{UP}");
        let added = known.added(&settings(ORIGIN).unwrap(), &settings(&after).unwrap());
        let marked = after.clone() + &Added::mark(&added);
        assert!(marked.contains("skipFetchAll = true"), "{marked}");
        let own = "[branch \"main\"]\n\tremote = up\n";
        let check = |new: &str, wanted: &[&str]| {
            assert_eq!(refused(&marked, &marked, new), wanted, "{new}");
        };
        check(&format!("{marked}{own}"), &["branch.main.remote"]);
        check(
            &format!("{marked}{}", own.replace("remote", "pushRemote")),
            &["branch.main.pushremote"],
        );
        check(&after, &["remote.up.skipfetchall"]);
        check(&marked.replace("= true", "= false"), &["remote.up.skipfetchall"; 2]);
        // it can go, and have another name
        check(ORIGIN, &[]);
        check(&marked.replace("\"up\"", "\"down\""), &[]);
        // a user who has removed the mark has made it theirs
        assert_eq!(refused(&after, &after, &format!("{after}{own}")), Vec::<String>::new());
        // a branch that leads there already does not stand in the way of other changes
        let begun = format!("{marked}{own}");
        let new = format!("{begun}[remote \"again\"]\n\turl = https://a.org/b\n");
        assert_eq!(refused(&begun, &begun, &new), Vec::<String>::new());
        assert_eq!(known.added(&settings(ORIGIN).unwrap(), &settings(&begun).unwrap()), []);
    }

    #[test]
    fn the_name_of_a_marked_remote_is_written_as_git_reads_it() {
        let name = "a\"b\\c";
        let added = Added { name: name.to_owned(), url: String::new() };
        let read = settings(&Added::mark(&[added])).unwrap();
        assert_eq!(read.first().unwrap().0, format!("remote.{name}.skipfetchall"));
    }
}
