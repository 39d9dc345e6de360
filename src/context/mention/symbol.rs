//! `@symbol:name`: the definitions of a symbol, found by the user's language servers.

use super::find::find;
use super::keyword::file_beside;
use super::named::{Meant, Mention, SYMBOL};
use super::part::cut;
use crate::message::Excerpt;
use crate::tool::lsp::{Aspect, Finding, Question, Symbol};
use crate::tool::{Desk, path};
use std::path::PathBuf;

/// The most definitions that one mention adds.
const MOST: usize = 5;
/// If no symbol has the name, the user is told at most this many similar names.
const SIMILAR: usize = 3;

/// Reads the definitions of a mentioned symbol. The error is a sentence for the user.
pub(super) async fn read(desk: &Desk, mention: &Mention) -> Result<Vec<Excerpt>, String> {
    let said = |why: String| format!("`@{}`: {why}", mention.path);
    let wanted = mention.path.strip_prefix(SYMBOL).unwrap_or_default();
    let (container, name) = parts(wanted);
    let found = symbols(desk, Some(name.to_owned())).await.map_err(said)?;
    let (mut same, others): (Vec<Finding>, Vec<Finding>) =
        found.into_iter().partition(|it| is_named(it, container, name));
    if same.is_empty() {
        let mut names: Vec<String> = others
            .iter()
            .filter_map(|it| Some(format!("`{}`", it.symbol.as_ref()?.name)))
            .collect();
        names.dedup();
        names.truncate(SIMILAR);
        return Err(said(match names.as_slice() {
            [] => "The language server knows no symbol of this name.".to_owned(),
            names => format!("No symbol has this name. Similar ones: {}.", names.join(", ")),
        }));
    }
    let more = same.len().saturating_sub(MOST);
    same.truncate(MOST);
    let mut excerpts: Vec<Excerpt> = Vec::new();
    for it in same {
        let excerpt = definition(desk, it, mention).await.map_err(said)?;
        if excerpts.iter().all(|had| (&had.path, had.lines) != (&excerpt.path, excerpt.lines)) {
            excerpts.push(excerpt);
        }
    }
    if let Some(last) = excerpts.last_mut().filter(|_| more > 0) {
        last.note = format!("{more} more symbols have this name");
    }
    Ok(excerpts)
}

/// Splits `Parser::next` or `Parser.next` into `Parser` and `next`.
fn parts(name: &str) -> (Option<&str>, &str) {
    let split = name.rsplit_once("::").or_else(|| name.rsplit_once('.'));
    split.map_or((None, name), |(container, name)| (Some(container), name))
}

/// Whether a symbol has this name, ignoring parameters: some language servers add them to the names of functions.
fn is_named(found: &Finding, container: Option<&str>, name: &str) -> bool {
    let Some(symbol) = &found.symbol else { return false };
    let plain = symbol.name.split('(').next().unwrap_or_default().trim_end();
    let plain = plain.rsplit(['.', ':']).next().unwrap_or_default();
    let is_within = container.is_none_or(|it| {
        let (_, last) = parts(it);
        symbol.container.contains(last) || symbol.name.contains(it)
    });
    plain == name && is_within
}

/// For completion: the mentions of the symbols that match the typed part of a name, each with a line that tells the
/// kind and the place of the symbol. Leaves out names that cannot be written in a mention.
pub async fn offered(desk: &Desk, query: &str) -> Vec<(String, String)> {
    let found = symbols(desk, Some(query.to_owned())).await.unwrap_or_default();
    let offer = |it: Finding| {
        let shown = path::show(&desk.root, &it.path);
        let about = format!("{}  {shown}:{}", it.text.trim(), u64::from(it.line) + 1);
        let written = format!("{SYMBOL}{}", it.symbol?.name.split('(').next()?.trim_end());
        let read = find(&format!("@{written}"));
        let is_whole = matches!(&read[..], [it] if it.path == written && it.meant == Meant::Symbol);
        is_whole.then_some((written, about))
    };
    found.into_iter().filter(|it| path::inside(&desk.root, &it.path)).filter_map(offer).collect()
}

/// Asks the language server of the file beside the chat for the symbols of the project whose names match `query`.
async fn symbols(desk: &Desk, query: Option<String>) -> Result<Vec<Finding>, String> {
    let path = file_beside(desk).await.ok().flatten().map(|it| it.path);
    consult(desk, path, query).await
}

async fn consult(
    desk: &Desk,
    path: Option<PathBuf>,
    query: Option<String>,
) -> Result<Vec<Finding>, String> {
    let (symbol, name) = (String::new(), None);
    let question = Question { symbol, query, name, ..Question::new(Aspect::Symbols, path) };
    let answer = desk.workspace.consult(question).await?;
    match (answer.findings.is_empty(), answer.notes.first()) {
        (true, Some(note)) => Err(format!("{note}.")),
        _ => Ok(answer.findings),
    }
}

/// The text of a symbol's definition. A search in a file gives the symbol's whole range of lines; a search in the
/// project may give only the line of its name.
async fn definition(desk: &Desk, found: Finding, mention: &Mention) -> Result<Excerpt, String> {
    let shown = path::show(&desk.root, &found.path);
    if !path::inside(&desk.root, &found.path) || !path::is_free(desk, &found.path) {
        return Err(format!("It is defined in `{shown}`, which is read only if you mention it."));
    }
    let name = found.symbol.as_ref().map(|it| it.name.clone()).unwrap_or_default();
    let of_file = consult(desk, Some(found.path.clone()), None).await.unwrap_or_default();
    let around = of_file
        .into_iter()
        .filter_map(|it| it.symbol)
        .filter(|it| it.name == name && (it.first..=it.last).contains(&found.line));
    let whole = around.min_by_key(|it| it.last - it.first).or(found.symbol);
    let Symbol { first, last, .. } = whole.unwrap_or_default();
    let source = desk.read(&found.path).await;
    let source = source.map_err(|why| format!("`{shown}` {}.", why.say()))?;
    let end = u32::try_from(source.text.line_count()).unwrap_or(u32::MAX);
    let lines = Some((first.saturating_add(1).min(end), last.saturating_add(1).min(end)));
    let of = Mention { path: shown.clone(), lines, ..mention.clone() };
    let excerpt = cut(source.text.content, &of, shown)?;
    Ok(Excerpt { keyword: mention.path.clone(), ..excerpt })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_name_is_matched_with_or_without_its_container() {
        let check = |name: &str, container: &str, wanted: &str| {
            let symbol =
                Some(Symbol { name: name.into(), container: container.into(), first: 0, last: 0 });
            let (within, plain) = parts(wanted);
            is_named(&Finding { symbol, ..Finding::default() }, within, plain)
        };
        assert!(check("next", "Parser", "next") && check("next", "Parser", "Parser::next"));
        assert!(check("next(int, int)", "Parser", "Parser.next"));
        assert!(check("Parser.next", "", "Parser.next") && check("Parser::next", "", "next"));
        assert!(!check("next_line", "", "next") && !check("Next", "", "next"));
        assert!(!check("next", "Lexer", "Parser::next"));
    }
}
