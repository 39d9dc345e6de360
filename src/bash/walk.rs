//! Walks over the syntax tree of a command line. The walk only adds commands and doubts to the script, so the order of
//! nodes matters only for `cd`.

mod words;

use super::listing::{Output, substituted};
use super::script::{Listed, Script};
use super::simple::{Simple, Surety, Word, cause, quoted};
use super::variables::harmless;
use super::word;
use super::{dash, feed, runs, wrapper};
use tree_sitter::{Node, Tree};

/// How many levels of the tree are visited. A deeper tree is a doubt.
const LEVELS: usize = 200;

pub(super) struct Walk<'a> {
    pub(super) text: &'a str,
    pub(super) script: &'a mut Script,
    pub(super) depth: usize,
    /// How many nodes enclose the current node.
    pub(super) level: usize,
    /// Texts that may be the input of a command: here-documents and here-strings.
    pub(super) texts: Vec<String>,
}

impl Walk<'_> {
    pub(super) fn program(&mut self, tree: &Tree) {
        let root = tree.root_node();
        if root.has_error() {
            self.script.blind("The command does not parse as bash".into());
        } else if !self.is_covered(tree) {
            self.script.blind("The command has parts that the parser skipped".into());
        }
        self.visit(root);
        let texts = std::mem::take(&mut self.texts);
        feed::feed(self.script, &texts, self.depth);
    }

    fn of(&self, node: Node<'_>) -> &str {
        self.text.get(node.byte_range()).unwrap_or_default()
    }

    /// Whether the tree's leaves cover the whole text, except blanks and continued lines.
    fn is_covered(&self, tree: &Tree) -> bool {
        dash::gaps(self.text, &dash::leaves(tree))
            .iter()
            .all(|(_, gap)| gap.replace("\\\n", "").chars().all(|c| matches!(c, ' ' | '\t' | '\n')))
    }

    fn visit(&mut self, node: Node<'_>) {
        if self.of(node).starts_with("((") {
            let text = self.of(node).to_owned();
            wrapper::evaluated(self.script, &text, self.depth);
        }
        match node.kind() {
            "program"
            | "list"
            | "subshell"
            | "compound_statement"
            | "do_group"
            | "negated_command"
            | "if_statement"
            | "elif_clause"
            | "else_clause"
            | "while_statement"
            | "variable_assignments" => self.children(node),
            "herestring_redirect" => {
                self.children(node);
                let mut cursor = node.walk();
                let all: Vec<Node<'_>> = node.named_children(&mut cursor).collect();
                let words = self.words(&all);
                self.texts.extend(words.iter().filter_map(Word::fixed).map(str::to_owned));
            }
            "comment" => (),
            "pipeline" => self.pipeline(node),
            "redirected_statement" => self.redirected(node),
            "command" => self.command(node, &[]),
            "variable_assignment" => self.assignment(node),
            "file_redirect" => self.redirect(node),
            "heredoc_redirect" => self.heredoc(node),
            "test_command" => self.test(node),
            "word"
            | "number"
            | "raw_string"
            | "string"
            | "concatenation"
            | "simple_expansion"
            | "expansion"
            | "arithmetic_expansion"
            | "ansi_c_string"
            | "translated_string"
            | "process_substitution" => self.loose(node),
            "command_substitution" => {
                self.script.doubt(format!(
                    "{} is known only when the command runs",
                    quoted(self.of(node))
                ));
                self.children(node);
            }
            it => self.other(node, it),
        }
    }

    /// Visits a node that is more than a list of commands.
    fn other(&mut self, node: Node<'_>, kind: &str) {
        let text = self.of(node).to_owned();
        let what = if matches!(kind, "declaration_command" | "unset_command") {
            wrapper::evaluated(self.script, &text, self.depth);
            self.declared(node);
            "changes what later commands do"
        } else {
            "is more than a list of commands"
        };
        self.script.doubt(format!("{} {what}", quoted(&text)));
        self.children(node);
    }

    fn children(&mut self, node: Node<'_>) {
        self.each(node, Walk::visit);
    }

    /// Visits commands of which each reads the output of the one before it.
    fn pipeline(&mut self, node: Node<'_>) {
        self.each(node, |walk, child| {
            let count = walk.script.commands.len();
            walk.visit(child);
            // a list of commands prints more than its last command
            let is_one = matches!(child.kind(), "command" | "redirected_statement");
            let has_command = walk.script.commands.len() > count;
            walk.script.source = walk.script.last().filter(|_| is_one && has_command);
        });
        self.script.source = None;
    }

    /// Visits the named children of a node. If the node is nested so deeply that the program's stack could overflow,
    /// adds a doubt instead.
    fn each(&mut self, node: Node<'_>, visit: fn(&mut Self, Node<'_>)) {
        if self.level > LEVELS {
            return self.script.blind("The command is nested too deeply".into());
        }
        self.level += 1;
        let mut cursor = node.walk();
        let all: Vec<Node<'_>> = node.named_children(&mut cursor).collect();
        for child in all {
            visit(self, child);
        }
        self.level -= 1;
    }

    /// Visits a word that is not part of a command, such as the text of a here-string.
    fn loose(&mut self, node: Node<'_>) {
        let word = self.word(&[node]);
        if node.parent().is_some_and(|it| it.kind() == "for_statement") {
            self.script.assigned.push((String::new(), word.shown().to_owned()));
        }
        self.open(&word);
    }

    fn open(&mut self, word: &Word) {
        if let Word::Open(source) = word {
            // the parser does not see backticks in all places, and may miss the end of a line
            for it in source.split('`').skip(1).step_by(2) {
                runs::line(self.script, it, self.depth);
            }
            if source.contains('\n') {
                self.script.unclear(format!("{} has several lines", quoted(source)));
            }
            if ["$((", "$[", "${"].iter().any(|it| source.contains(it)) {
                wrapper::evaluated(self.script, source, self.depth);
            }
            self.script
                .doubt(format!("{} is known only when the command runs", quoted(cause(source))));
        }
    }

    /// Visits a command with redirections after it. Words that follow the target of a redirection are arguments of the
    /// command, although the tree has them in the redirection.
    fn redirected(&mut self, node: Node<'_>) {
        let mut cursor = node.walk();
        let all: Vec<Node<'_>> = node.named_children(&mut cursor).collect();
        let rest: Vec<Node<'_>> = all.iter().flat_map(|it| behind_target(*it)).collect();
        for child in all {
            match child.kind() {
                "command" => self.command(child, &rest),
                "file_redirect" => self.redirect(child),
                _ => self.visit(child),
            }
        }
        let is_command = node.named_child(0).is_some_and(|it| it.kind() == "command");
        if !is_command && !rest.is_empty() {
            self.script.blind(format!(
                "{} has words after the file of a redirection",
                quoted(self.of(node))
            ));
            self.suspect(&rest);
        }
    }

    /// Adds words that may be a command. Only rules that ask or deny apply to them.
    fn suspect(&mut self, nodes: &[Node<'_>]) {
        let words = self.words(nodes);
        self.script.commands.push(Simple { words, surety: Surety::Inner });
    }

    /// A simple command. `rest` has the arguments that come after redirections.
    fn command(&mut self, node: Node<'_>, rest: &[Node<'_>]) {
        let mut nodes = Vec::new();
        let mut cursor = node.walk();
        let all: Vec<Node<'_>> = node.named_children(&mut cursor).collect();
        for child in all {
            match child.kind() {
                "variable_assignment" => self.assignment(child),
                "herestring_redirect" | "heredoc_redirect" => self.visit(child),
                "file_redirect" => {
                    self.redirect(child);
                    nodes.extend(behind_target(child));
                }
                "command_name" => nodes.push(child.named_child(0).unwrap_or(child)),
                "subshell" => {
                    self.script.doubt("The command has a subshell as an argument".into());
                    self.visit(child);
                }
                _ => nodes.push(child),
            }
        }
        nodes.extend(rest);
        // an operator such as `==` is a word of the command too, but the tree has no named node for it
        let mut cursor = node.walk();
        if node.children(&mut cursor).any(|it| !it.is_named()) {
            self.script.blind(format!(
                "{} has a word that Caliban does not understand",
                quoted(self.of(node))
            ));
        }
        let mut words = self.words(&nodes);
        if matches!(words.first().and_then(Word::fixed), Some("echo")) {
            words.iter_mut().for_each(word::with_status);
        }
        let simple = Simple { words, surety: Surety::Certain };
        for it in &simple.words {
            match substituted(it) {
                Some(Output::Token) => (),
                Some(Output::Name) if takes_names(&simple) => (),
                Some(Output::Names(names)) => {
                    self.script.listed.push(Listed { reader: simple.clone(), names });
                }
                Some(Output::Name) | None => self.open(it),
            }
        }
        let depth = self.depth;
        wrapper::unwrapped(self.script, simple, depth);
    }

    fn assignment(&mut self, node: Node<'_>) {
        let name =
            node.child_by_field_name("name").map(|it| self.of(it).to_owned()).unwrap_or_default();
        if !harmless(&name) {
            self.script.doubt(format!("{} sets a variable", quoted(self.of(node))));
        }
        if let Some(place) = node.child_by_field_name("name").filter(|it| it.kind() == "subscript")
        {
            self.substitutions(place);
        }
        if let Some(value) = node.child_by_field_name("value") {
            let word = self.word(&[value]);
            self.script.assigned.push((name.clone(), word.shown().to_owned()));
            self.open(&word);
            wrapper::assigned(self.script, &name, word.fixed(), self.depth);
        }
    }

    /// Visits the quoted assignments in the arguments of `export` and the like: `export 'a=b'`.
    fn declared(&mut self, node: Node<'_>) {
        let mut cursor = node.walk();
        let all: Vec<Node<'_>> = node.named_children(&mut cursor).collect();
        for it in self.words(&all) {
            if let Some((name, value)) = it.fixed().and_then(|it| it.split_once('=')) {
                self.script.assigned.push((name.to_owned(), value.to_owned()));
                wrapper::assigned(self.script, name, Some(value), self.depth);
            }
        }
    }

    fn redirect(&mut self, node: Node<'_>) {
        let mut cursor = node.walk();
        let operator = node
            .children(&mut cursor)
            .find(|it| !it.is_named())
            .map(|it| it.kind())
            .unwrap_or_default();
        let mut cursor = node.walk();
        let mark = node.children_by_field_name("descriptor", &mut cursor).next();
        if mark.is_some_and(|it| !self.of(it).bytes().all(|it| it.is_ascii_digit())) {
            self.script.doubt(format!(
                "{} has a word that Caliban does not understand",
                quoted(self.of(node))
            ));
        }
        for target in targets(node).into_iter().take(usize::from(!closes(node))) {
            let word = self.word(&[target]);
            self.open(&word);
            let Some(file) = word.fixed() else {
                self.script.doubt(format!("{} names files by a pattern", quoted(self.of(node))));
                continue;
            };
            let is_descriptor = file == "-" || file.bytes().all(|it| it.is_ascii_digit());
            match operator {
                "<" => self.script.inputs.push(file.to_owned()),
                ">&" | "<&" if is_descriptor => (),
                _ if matches!(file, "/dev/null" | "/dev/stdout" | "/dev/stderr") => (),
                _ => {
                    self.script.outputs.push(file.to_owned());
                    let whole = node
                        .parent()
                        .map_or("", |it| self.of(it))
                        .lines()
                        .next()
                        .unwrap_or_default();
                    let whole = whole
                        .split(['>', '<'])
                        .next()
                        .unwrap_or_default()
                        .trim_end_matches(['&', ' ']);
                    let (whole, file) = (quoted(whole), quoted(file));
                    self.script.doubt(format!("{whole} writes to {file}"));
                }
            }
        }
    }

    /// Visits a here-document. Its text may contain substitutions, unless the word after `<<` (the mark) is quoted. The
    /// rest of the line after the mark may have commands.
    fn heredoc(&mut self, node: Node<'_>) {
        let mut cursor = node.walk();
        let all: Vec<Node<'_>> = node.named_children(&mut cursor).collect();
        let is_mark = |it: &&Node<'_>| it.kind() == "heredoc_start";
        let is_literal =
            all.iter().find(is_mark).is_some_and(|it| self.of(*it).contains(['\'', '"', '\\']));
        for child in all {
            match child.kind() {
                "heredoc_start" | "heredoc_end" | "file_descriptor" => (),
                "heredoc_body" => {
                    self.texts.push(self.of(child).to_owned());
                    if !is_literal {
                        self.expanded(child);
                    }
                }
                _ => {
                    let is_known = matches!(
                        child.kind(),
                        "command"
                            | "compound_statement"
                            | "file_redirect"
                            | "list"
                            | "pipeline"
                            | "redirected_statement"
                            | "subshell"
                    );
                    // a word is an argument of the command before the here-document
                    if !is_known {
                        let clause = "The line continues after the delimiter of a here-document";
                        self.script.blind(clause.into());
                    }
                    let text = self.of(child).to_owned();
                    runs::line(self.script, &text, self.depth);
                    self.visit(child);
                }
            }
        }
    }

    /// Visits the text of a here-document whose mark is not quoted. The parser does not find commands between backticks
    /// in such a text.
    fn expanded(&mut self, body: Node<'_>) {
        let text = self.of(body).to_owned();
        if text.contains(['$', '`']) {
            self.script
                .doubt("The text of a here-document is known only when the command runs".into());
            self.substitutions(body);
        }
        for it in text.split('`').skip(1).step_by(2) {
            self.script.add(it, self.depth + 1);
        }
    }

    /// Visits a test. `[` and `[[` run nothing by themselves, but words in them may run commands. For bash, `[` is a
    /// command that an operator ends, while the parser takes the operator for a part of the condition.
    fn test(&mut self, node: Node<'_>) {
        let whole = self.of(node).to_owned();
        let inner = whole.trim_start_matches('[').trim_end_matches(']');
        let ends = if whole.starts_with("[[") { ";\n" } else { ";\n|&*?" };
        let mut chars = inner.chars();
        if !chars.all(|c| c.is_ascii() && !"$`()<>[]\\".contains(c) && !ends.contains(c)) {
            self.script.doubt(format!("{} is known only when the command runs", quoted(&whole)));
            if inner.contains(|c| ends.contains(c)) {
                runs::line(self.script, inner, self.depth);
            }
            wrapper::evaluated(self.script, &whole, self.depth);
            self.substitutions(node);
        }
    }

    /// The commands in the substitutions below a node.
    fn substitutions(&mut self, node: Node<'_>) {
        self.each(node, |walk, child| match child.kind() {
            "command_substitution" | "process_substitution" => walk.children(child),
            _ => walk.substitutions(child),
        });
    }
}

/// Whether a command takes a name for that of a branch or a tag, or only prints it.
fn takes_names(simple: &Simple) -> bool {
    matches!(simple.words.first().and_then(Word::fixed), Some("git" | "echo" | "printf"))
}

/// The words after the operator of a redirection: its file, if it has one, then any arguments of the command that
/// follow.
fn targets(redirect: Node<'_>) -> Vec<Node<'_>> {
    let mut cursor = redirect.walk();
    redirect.children_by_field_name("destination", &mut cursor).collect()
}

/// The arguments of the command that the tree has in a redirection.
fn behind_target(redirect: Node<'_>) -> Vec<Node<'_>> {
    targets(redirect).into_iter().skip(usize::from(!closes(redirect))).collect()
}

/// Whether a redirection closes a descriptor; then it has no file.
fn closes(redirect: Node<'_>) -> bool {
    let mut cursor = redirect.walk();
    redirect.children(&mut cursor).any(|it| matches!(it.kind(), ">&-" | "<&-"))
}
