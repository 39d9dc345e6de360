//! Mentions in a prompt: `@path`, `@path:10-40`, `@dir/`, `@https://…`, and keywords such as `@buffer`. They are found
//! in the text, read through the workspace or the web, and added to the prompt as labelled excerpts. The mention stays
//! in the prompt's text too, so that the sentence still reads well.

mod code;
mod find;
mod keyword;
mod named;
mod page;
mod part;
mod quote;
mod symbol;
mod table;
#[cfg(test)]
mod tests;

pub(super) use find::looks_like_path;
pub use find::{find, open};
pub use named::{Meant, Mention, SYMBOL};
pub use quote::{spell, write};
pub use symbol::offered as symbols;
pub use table::{Keyword, Row, TABLE};

use crate::message::{Excerpt, ExcerptKind};
use crate::reach::{Reach, Reading};
use crate::regular::direct;
use crate::text::cause;
use crate::tool::image::{self, Loaded};
use crate::tool::pdf;
use crate::tool::{Desk, Unreadable, path, walk};
use futures::{StreamExt, stream};
use part::cut;

/// The most entries of a mentioned folder.
const ENTRIES: usize = 500;
/// How many mentions are read at the same time.
const READERS: usize = 4;

/// The excerpt that a mention adds to the prompt, and a warning for the user before the prompt is sent.
struct Found {
    excerpt: Excerpt,
    warning: Option<String>,
}

/// Reads the files that a prompt mentions. Returns the excerpts and the problems: one sentence for each mention that
/// could not be read, or that the user may not want to send.
pub async fn resolve(desk: &Desk, text: &str) -> (Vec<Excerpt>, Vec<String>) {
    read_all(desk, find(text)).await
}

/// The hosts of the pages that a text mentions.
pub fn hosts(text: &str) -> Vec<String> {
    let pages = find(text).into_iter().filter(|it| it.meant == Meant::Page);
    let mut hosts: Vec<String> = pages.filter_map(|it| page::host(&it)).collect();
    hosts.dedup();
    hosts
}

/// The excerpts that one mention in a text adds.
pub struct Brought {
    /// The mention as it is written in the text.
    pub written: String,
    pub excerpts: Vec<Excerpt>,
    pub problems: Vec<String>,
}

/// Like `resolve`, but separately for each of the first `most` mentions of a text. An ordinary word after an `@` is
/// left out if there is no such file. Fetches no web pages.
pub async fn each(desk: &Desk, text: &str, most: usize) -> Vec<Brought> {
    let mut all = Vec::new();
    for mention in find(text).into_iter().take(most) {
        let written = mention.written.clone();
        let (excerpts, problems) = if mention.meant == Meant::Page {
            match page::announced(&mention) {
                Ok(it) => (vec![it], Vec::new()),
                Err(problem) => (Vec::new(), vec![problem]),
            }
        } else {
            read_all(desk, vec![mention]).await
        };
        if !(excerpts.is_empty() && problems.is_empty()) {
            all.push(Brought { written, excerpts, problems });
        }
    }
    all
}

/// Like `resolve`, for the text of a slash command. Leaves out what the user's message mentions too. A command that
/// belongs to the project can add only files of the project.
pub async fn resolve_command(
    desk: &Desk,
    command: &Excerpt,
    message: &str,
) -> (Vec<Excerpt>, Vec<String>) {
    let said = find(message);
    let is_users = command.path.starts_with(['/', '~']);
    let mut refused = Vec::new();
    let mut mentions = find(&command.text);
    mentions.retain_mut(|it| {
        let is_inside =
            || path::lead(desk, &it.path).is_ok_and(|led| path::inside(&desk.root, &led.path));
        let is_near = is_users
            || match it.meant {
                Meant::Keyword(keyword) => keyword.is_of_project(),
                Meant::Page => false,
                Meant::Symbol => true,
                _ => is_inside(),
            };
        if !is_near {
            let (of, path) = (&command.path, &it.path);
            refused.push(format!("`{of}` mentions `@{path}`, which leads out of the project."));
        }
        // the author of the command cannot be asked about a word that names no file
        if it.meant == Meant::Word {
            it.meant = Meant::Other;
        }
        is_near && !said.iter().any(|said| said.path == it.path && said.lines == it.lines)
    });
    let (excerpts, problems) = read_all(desk, mentions).await;
    (excerpts, refused.into_iter().chain(problems).collect())
}

async fn read_all(desk: &Desk, mentions: Vec<Mention>) -> (Vec<Excerpt>, Vec<String>) {
    let mut excerpts = Vec::new();
    let mut problems = Vec::new();
    let mut images = 0;
    let one = |mention| async move { (found(desk, &mention).await, mention.path) };
    let mut reads = stream::iter(mentions).map(one).buffered(READERS);
    while let Some((read, path)) = reads.next().await {
        let found = match read {
            Ok(found) => found,
            Err(problem) => {
                problems.push(problem);
                continue;
            }
        };
        for Found { excerpt, warning } in found {
            images += usize::from(excerpt.image.is_some());
            if excerpt.image.is_some() && images > image::MOST {
                let most = image::MOST;
                problems
                    .push(format!("At most {most} images per message: `@{path}` is one too many."));
                continue;
            }
            excerpts.push(excerpt);
            problems.extend(warning);
        }
    }
    (excerpts, problems)
}

/// Everything that one mention adds to the prompt.
async fn found(desk: &Desk, mention: &Mention) -> Result<Vec<Found>, String> {
    let excerpts = match mention.meant {
        Meant::Keyword(keyword) => keyword::read(desk, keyword, mention).await?,
        Meant::Symbol => symbol::read(desk, mention).await?,
        Meant::Page => vec![page::read(desk, mention).await?],
        Meant::Path | Meant::Word | Meant::Other => {
            return Ok(read(desk, mention).await?.into_iter().collect());
        }
    };
    Ok(excerpts.into_iter().map(|excerpt| Found { excerpt, warning: None }).collect())
}

async fn read(desk: &Desk, mention: &Mention) -> Result<Option<Found>, String> {
    let written = &mention.path;
    let led = path::lead(desk, written).map_err(|why| format!("`@{written}`: {why}"))?;
    let absolute = led.path;
    let warning = match led.reading {
        Reading::Free => None,
        Reading::Asked(why) => Some(format!("`@{written}` {why}. Its text would go to the model.")),
        Reading::Never(_) if mention.meant != Meant::Path && !absolute.exists() => {
            return absent(mention);
        }
        Reading::Never(why) => return Err(format!("`@{written}` {why}.")),
    };
    let shown = path::show(&desk.root, &absolute);
    let read = desk.read(&absolute).await;
    if pdf::may_be(&read)
        && let Some(text) = pdf::load(desk, &absolute).await
    {
        let text = text.map_err(|why| format!("`@{written}` {why}."))?;
        let excerpt = cut(text.content, mention, shown)?;
        return Ok(Some(Found { excerpt, warning }));
    }
    match read {
        Ok(source) => {
            let undecided = source.undecided();
            let mut excerpt = cut(source.text.content, mention, shown)?;
            if !undecided.is_empty() && !excerpt.text.ends_with('\n') {
                excerpt.text.push('\n');
            }
            excerpt.text.push_str(&undecided);
            Ok(Some(Found { excerpt, warning }))
        }
        Err(Unreadable::Folder) => {
            let (reach, dir) = (desk.reach.clone(), absolute);
            let listing = tokio::task::spawn_blocking(move || list(&reach, &dir))
                .await
                .map_err(|error| format!("`@{written}`: {}.", cause(&error)))?;
            let excerpt = Excerpt {
                path: format!("{}/", shown.trim_end_matches('/')),
                kind: ExcerptKind::Folder,
                text: listing,
                ..Excerpt::default()
            };
            Ok(Some(Found { excerpt, warning: None }))
        }
        Err(Unreadable::Absent) => absent(mention),
        Err(Unreadable::Binary) => match image::load(&absolute).await {
            Some(Ok(Loaded { image, said: text })) => {
                let image = Some(image);
                let excerpt = Excerpt { path: shown, text, image, ..Excerpt::default() };
                Ok(Some(Found { excerpt, warning }))
            }
            Some(Err(why)) => Err(format!("`@{written}` {why}.")),
            None => Err(format!("`@{written}` {}.", Unreadable::Binary.say())),
        },
        Err(why) => Err(format!("`@{written}` {}.", why.say())),
    }
}

fn absent(mention: &Mention) -> Result<Option<Found>, String> {
    let written = &mention.path;
    match mention.meant {
        Meant::Path => Err(format!("`@{written}` {}.", Unreadable::Absent.say())),
        Meant::Word if written == "url" => {
            Err("`@url`: write the address of the page after the `@`: `@https://example.org/page`."
                .to_owned())
        }
        Meant::Word | Meant::Keyword(_) => Err(format!("`@{written}` names no file.")),
        Meant::Other | Meant::Page | Meant::Symbol => Ok(None),
    }
}

/// Lists the files in a folder and in its subfolders, two levels deep, without ignored files.
fn list(reach: &Reach, dir: &std::path::Path) -> String {
    let walk = walk::walker(reach, dir)
        .require_git(true)
        .max_depth(Some(2))
        .sort_by_file_path(Ord::cmp)
        .build();
    let mut lines: Vec<String> = walk
        .flatten()
        .skip(1)
        .filter(|it| direct::metadata(it.path()).is_ok())
        .take(ENTRIES + 1)
        .map(|it| {
            let path = it.path().strip_prefix(dir).unwrap_or(it.path()).display().to_string();
            let is_dir = it.file_type().is_some_and(|it| it.is_dir());
            if is_dir { format!("{path}/") } else { path }
        })
        .collect();
    if lines.len() > ENTRIES {
        lines.truncate(ENTRIES);
        lines.push("… and more".into());
    }
    lines.join("\n")
}
