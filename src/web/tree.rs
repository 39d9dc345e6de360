//! Prepares the tree of a HTML page for its conversion to Markdown: its links become complete addresses, and the text of
//! elements that are nested too deeply becomes the text of the last element that is not.

use super::node::{attribute, in_one_line, is_hidden, name};
use super::parts::{self, Said};
use markup5ever_rcdom::{Node, NodeData};
use std::cell::RefCell;
use std::rc::Rc;
use url::Url;

/// The deepest element that is converted, because the conversion calls itself for each level.
pub(super) const DEPTH: usize = 1_000;

/// Elements whose text is not visible to a reader of the page.
pub(super) const DROPPED: [&str; 3] = ["head", "script", "style"];

/// Elements that end a line in text.
const BLOCKS: [&str; 12] =
    ["blockquote", "br", "dd", "div", "dt", "h1", "h2", "h3", "li", "p", "section", "tr"];

/// What the elements of a page say about the whole page.
#[derive(Default)]
pub(super) struct About {
    pub(super) title: String,
    /// The address to which the page sends its readers; empty if there is none.
    pub(super) leads: String,
    pub(super) has_scripts: bool,
    /// Whether the page has a heading, a list, a table or a block of code.
    pub(super) has_parts: bool,
}

/// Prepares the tree of a page that was fetched from this address.
pub(super) fn prepare(tree: &Rc<Node>, address: &str) -> About {
    let mut about = About::default();
    let mut base = Url::parse(address).ok();
    let (mut links, mut deep) = (Vec::new(), Vec::new());
    let (mut has_base, mut left) = (false, vec![(tree.clone(), 0)]);
    while let Some((node, depth)) = left.pop() {
        match name(&node) {
            "title" if about.title.is_empty() && is_html(&node) => {
                about.title = in_one_line(&text(&node));
            }
            "script" => about.has_scripts = true,
            "h1" | "h2" | "h3" | "li" | "pre" | "table" => about.has_parts = true,
            "template" => parts::open_template(&node),
            "meta" if about.leads.is_empty() => about.leads = refresh(&node),
            "base" if !has_base => {
                let named = attribute(&node, "href");
                let joined = named.and_then(|it| base.as_ref()?.join(&it).ok());
                has_base |= joined.is_some();
                base = joined.or(base);
            }
            _ => (),
        }
        if parts::address(name(&node)).is_some() {
            links.push(node.clone());
        }
        if depth == DEPTH {
            deep.push(node.clone());
        }
        // the children come in the order of the page, so that the first title and base count
        left.extend(node.children.borrow().iter().rev().map(|it| (it.clone(), depth + 1)));
    }
    for it in links {
        complete(&it, base.as_ref());
    }
    deep.iter().for_each(flatten);
    if let Some(url) = base.filter(|_| !about.leads.is_empty()) {
        about.leads = url.join(&about.leads).map_or(about.leads, String::from);
    }
    about
}

/// The address to which `<meta http-equiv=refresh>` leads; empty if it leads nowhere.
fn refresh(node: &Node) -> String {
    let is_refresh =
        attribute(node, "http-equiv").is_some_and(|it| it.eq_ignore_ascii_case("refresh"));
    let content = attribute(node, "content").filter(|_| is_refresh).unwrap_or_default();
    let at = content.to_ascii_lowercase().find("url=").map(|it| it + "url=".len());
    let written = at.and_then(|it| content.get(it..)).unwrap_or_default();
    written.trim().trim_matches(['"', '\'']).to_owned()
}

/// Makes the address of a link or a source complete. Brackets are written as numbers, because Markdown would escape them.
/// A link that leads to a part of the same page stays, one to a program or to data becomes text.
fn complete(link: &Rc<Node>, base: Option<&Url>) {
    let NodeData::Element { attrs, .. } = &link.data else { return };
    attrs.borrow_mut().retain_mut(|it| {
        if parts::address(name(link)) != Some(&*it.name.local) {
            return true;
        }
        let written = it.value.trim().to_owned();
        let joined = base.and_then(|base| base.join(&written).ok());
        let Some(url) = joined.filter(|_| !written.starts_with('#')) else { return true };
        it.value = url.as_str().replace('(', "%28").replace(')', "%29").into();
        !matches!(url.scheme(), "about" | "blob" | "data" | "javascript")
    });
}

/// Replaces all that is in an element by its text.
fn flatten(node: &Rc<Node>) {
    let text = text(node);
    let mut children = node.children.borrow_mut();
    let has_elements = children.iter().any(|it| !name(it).is_empty());
    if has_elements {
        *children = vec![Node::new(NodeData::Text { contents: RefCell::new(text.into()) })];
    }
}

/// The text of an element as a reader sees it.
pub(super) fn text(node: &Rc<Node>) -> String {
    let mut text = String::new();
    let mut left: Vec<Rc<Node>> = node.children.borrow().iter().rev().cloned().collect();
    while let Some(node) = left.pop() {
        if let NodeData::Text { contents } = &node.data {
            text.push_str(&contents.borrow());
        }
        let name = name(&node);
        let ends_line = BLOCKS.contains(&name) && !text.ends_with('\n') && !text.is_empty();
        if ends_line {
            text.push('\n');
        }
        if DROPPED.contains(&name) || is_hidden(&node) {
            continue;
        }
        let said = parts::said(&node);
        if let Some(Said::Instead(said) | Said::Before(said)) = &said {
            text.push_str(said);
        }
        if !matches!(said, Some(Said::Instead(_))) {
            left.extend(node.children.borrow().iter().rev().cloned());
        }
    }
    text
}

/// Whether an element is none of a drawing, which may have a title of its own.
fn is_html(node: &Node) -> bool {
    matches!(&node.data, NodeData::Element { name, .. } if &*name.ns == "http://www.w3.org/1999/xhtml")
}
