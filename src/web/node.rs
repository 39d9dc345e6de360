//! What a node of an HTML page says of itself: its name, its attributes, whether it is hidden.

use markup5ever_rcdom::{Node, NodeData};

/// The name of an element; empty for other nodes.
pub(super) fn name(node: &Node) -> &str {
    match &node.data {
        NodeData::Element { name, .. } => &name.local,
        _ => "",
    }
}

pub(super) fn attribute(node: &Node, wanted: &str) -> Option<String> {
    let NodeData::Element { attrs, .. } = &node.data else { return None };
    let attrs = attrs.borrow();
    attrs.iter().find(|it| &*it.name.local == wanted).map(|it| it.value.to_string())
}

/// Whether the page hides an element from readers.
pub(super) fn is_hidden(node: &Node) -> bool {
    let style = attribute(node, "style").unwrap_or_default();
    let style = style.to_ascii_lowercase().replace(char::is_whitespace, "") + ";";
    let hides = ["display:none", "visibility:hidden", "font-size:0;", "opacity:0;"];
    attribute(node, "hidden").is_some() || hides.iter().any(|it| style.contains(it))
}

pub(super) fn in_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
