//! Elements of a page that are no running text: frames, media, choices, drawings, formulas. Each gets a short text or a
//! link, so that a reader of the Markdown knows of everything that a reader of the page sees.

use super::node::{attribute, in_one_line, is_hidden, name};
use crate::text::counted;
use markup5ever_rcdom::{Node, NodeData};
use std::rc::Rc;

/// These elements.
pub(super) const NAMES: [&str; 15] = [
    "area", "audio", "canvas", "datalist", "embed", "frame", "iframe", "input", "math", "object",
    "select", "svg", "template", "textarea", "video",
];

/// The most choices of one element that are listed, and the most characters of a text that stands for an element.
const CHOICES: usize = 60;
const LONGEST: usize = 2_000;

/// What a reader gets of such an element.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Said {
    /// This text; nothing if it is empty.
    Instead(String),
    /// This text before the element's content.
    Before(String),
}

/// What a reader gets of an element. `None` if the element is like any other.
pub(super) fn said(node: &Rc<Node>) -> Option<Said> {
    if !NAMES.contains(&name(node)) {
        return None;
    }
    if is_hidden(node) {
        return Some(Said::Instead(String::new()));
    }
    Some(Said::Instead(match name(node) {
        "object" => return Some(Said::Before(linked("object", node, "data"))),
        "canvas" if !words(node).is_empty() => return None,
        "canvas" => named("drawing that scripts make", node),
        "template" if attribute(node, "shadowrootmode").is_some() => return None,
        "template" => template(node),
        "video" | "audio" => return Some(media(node)),
        "iframe" | "frame" | "embed" => frame(node),
        "area" => linked("link", node, "href"),
        "select" | "datalist" => choices(node),
        "svg" => picture(node),
        "math" => formula(node),
        "input" => input(node),
        _ => field(words(node), node),
    }))
}

/// Makes the content of a template that is a part of the page a part of the tree.
pub(super) fn open_template(node: &Rc<Node>) {
    let NodeData::Element { template_contents, .. } = &node.data else { return };
    if attribute(node, "shadowrootmode").is_some()
        && let Some(content) = template_contents.borrow_mut().take()
    {
        node.children.borrow_mut().append(&mut content.children.borrow_mut());
    }
}

/// The attribute of an element that has an address.
pub(super) fn address(name: &str) -> Option<&'static str> {
    match name {
        "a" | "area" => Some("href"),
        "audio" | "embed" | "frame" | "iframe" | "source" | "track" | "video" => Some("src"),
        "object" => Some("data"),
        _ => None,
    }
}

/// A link with the element's title; the words alone if it has a title and no address.
fn linked(what: &str, node: &Node, source: &str) -> String {
    let address = attribute(node, source).filter(|it| !it.trim().is_empty());
    match (address, title(node, TITLES)) {
        (Some(address), _) => format!("{}({})", named(what, node), address.trim()),
        (None, Some(_)) => named(what, node),
        (None, None) => String::new(),
    }
}

/// The attributes in which the words for an element may be.
const TITLES: &[&str] = &["title", "alt", "aria-label"];

/// What an element is, and its title.
fn named(what: &str, node: &Node) -> String {
    match title(node, TITLES) {
        Some(title) => bracketed(&format!("{what}: {title}")),
        None => format!("[{what}]"),
    }
}

fn title(node: &Node, attributes: &[&str]) -> Option<String> {
    let all = attributes.iter().filter_map(|it| attribute(node, it)).map(|it| in_one_line(&it));
    all.into_iter().find(|it| !it.is_empty())
}

/// The address of a frame, or the words of the page that an attribute of the frame has.
fn frame(node: &Node) -> String {
    let Some(page) = attribute(node, "srcdoc") else { return linked("frame", node, "src") };
    let mut parts = page.split('<');
    let first = parts.next().unwrap_or_default().to_owned();
    let rest = parts.filter_map(|it| it.split_once('>')).map(|it| it.1);
    let words = in_one_line(&rest.fold(first, |all, it| all + " " + it));
    format!("{} {}", named("frame", node), bracketed(&words))
}

/// The sources of a video or a sound; without any, what the page says instead.
fn media(node: &Rc<Node>) -> Said {
    let what = if name(node) == "video" { "video" } else { "sound" };
    let inner = below(node);
    let sources = inner.iter().filter(|it| matches!(name(it), "source" | "track"));
    let all = std::iter::once(node).chain(sources);
    let with_address = all.filter(|it| attribute(it, "src").is_some());
    let all: Vec<String> = with_address.map(|it| linked(what, it, "src")).collect();
    if all.is_empty() { Said::Before(named(what, node)) } else { Said::Instead(all.join(" ")) }
}

fn choices(node: &Rc<Node>) -> String {
    let inner = below(node);
    let options = inner.iter().filter(|it| name(it) == "option" && !is_hidden(it));
    let said = |it: &Rc<Node>| {
        let words = words(it);
        if words.is_empty() { title(it, &["label", "value"]).unwrap_or_default() } else { words }
    };
    let marked = |it: &Rc<Node>| match (said(it), attribute(it, "selected")) {
        (words, Some(_)) if !words.is_empty() => format!("{words} (chosen)"),
        (words, _) => words,
    };
    let mut all: Vec<String> = options.map(marked).filter(|it| !it.is_empty()).collect();
    let more = all.len().saturating_sub(CHOICES);
    all.truncate(CHOICES);
    all.extend((more > 0).then(|| format!("… and {more} more")));
    if all.is_empty() { String::new() } else { bracketed(&format!("choice: {}", all.join(" | "))) }
}

/// The title, the description and the words of a drawing.
fn picture(node: &Rc<Node>) -> String {
    let mut said: Vec<String> = title(node, &["aria-label"]).into_iter().collect();
    for it in below(node).iter().filter(|it| matches!(name(it), "title" | "desc" | "text")) {
        let words = words(it);
        if !words.is_empty() && !said.contains(&words) {
            said.push(words);
        }
    }
    if said.is_empty() { String::new() } else { bracketed(&format!("image: {}", said.join("; "))) }
}

/// A formula as TeX if the page has it so, otherwise as its words.
fn formula(node: &Rc<Node>) -> String {
    let inner = below(node);
    let is_tex = |it: &&Rc<Node>| {
        name(it) == "annotation" && attribute(it, "encoding").is_some_and(|it| it.contains("tex"))
    };
    let tex = inner.iter().find(is_tex).map(words).or_else(|| title(node, &["alttext"]));
    if let Some(tex) = tex.filter(|it| !it.is_empty()) {
        return format!("${tex}$");
    }
    let is_leaf = |it: &&Rc<Node>| matches!(name(it), "mi" | "mn" | "mo" | "mtext" | "ms");
    inner.iter().filter(is_leaf).map(words).collect::<Vec<_>>().join(" ")
}

fn input(node: &Node) -> String {
    let kind = attribute(node, "type").unwrap_or_default().to_ascii_lowercase();
    let value = title(node, &["value"]);
    match &*kind {
        "hidden" => String::new(),
        "checkbox" | "radio" if attribute(node, "checked").is_some() => "[x] ".to_owned(),
        "checkbox" | "radio" => "[ ] ".to_owned(),
        "button" | "image" | "reset" | "submit" => {
            let words = value.or_else(|| title(node, TITLES));
            words.map(|it| bracketed(&format!("button: {it}"))).unwrap_or_default()
        }
        _ => field(value.unwrap_or_default(), node),
    }
}

/// A field for text, with its words or with what the page says about it.
fn field(words: String, node: &Node) -> String {
    let about = || title(node, &["placeholder", "aria-label", "title"]).unwrap_or_default();
    let said = if words.is_empty() { about() } else { words };
    if said.is_empty() { said } else { bracketed(&format!("field: {said}")) }
}

/// A template is shown only if a script uses it.
fn template(node: &Node) -> String {
    let NodeData::Element { template_contents, .. } = &node.data else { return String::new() };
    let content = template_contents.borrow();
    match content.as_ref().map_or(0, |it| words(it).chars().count()) {
        0 => String::new(),
        size => format!("[template for scripts: {}]", counted(size, "character")),
    }
}

/// All nodes in an element, in the order of the page.
fn below(node: &Rc<Node>) -> Vec<Rc<Node>> {
    let children = |it: &Rc<Node>| it.children.borrow().iter().rev().cloned().collect::<Vec<_>>();
    let (mut all, mut left) = (Vec::new(), children(node));
    while let Some(node) = left.pop() {
        left.extend(children(&node));
        all.push(node);
    }
    all
}

/// The words in an element, in one line.
fn words(node: &Rc<Node>) -> String {
    let (mut text, mut left) = (String::new(), vec![node.clone()]);
    while let Some(node) = left.pop() {
        if let NodeData::Text { contents } = &node.data {
            text.push_str(&contents.borrow());
        }
        if !matches!(name(&node), "script" | "style") && !is_hidden(&node) {
            left.extend(node.children.borrow().iter().rev().cloned());
        }
    }
    in_one_line(&text)
}

/// The words in square brackets, cut if they are long.
fn bracketed(words: &str) -> String {
    let words = words.replace(['[', ']'], "");
    let more = words.chars().count().saturating_sub(LONGEST);
    let cut: String = words.chars().take(LONGEST).collect();
    match more {
        0 => format!("[{cut}]"),
        more => format!("[{cut} … and {} more]", counted(more, "character")),
    }
}
