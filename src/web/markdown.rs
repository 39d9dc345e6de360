//! Converts HTML to Markdown. A stranger's page may be designed to take endless time or memory, so it is converted in a
//! separate process, which has limits and can be killed: this same program, started with `ARGUMENT`.

use super::node;
use super::parts::{self, Said};
use super::tree::{self, About};
use htmd::element_handler::{HandlerResult, Handlers};
use htmd::{Element, HtmlToMarkdown};
use rustix::process::{Resource, Rlimit, setrlimit};
use std::io::{self, Read, Write};
use std::path::Path;
use std::process::{ExitCode, Stdio};
use std::thread;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::Command;
use tokio::time::timeout;

/// The argument that makes this program read HTML and print it as Markdown.
pub const ARGUMENT: &str = "markdown";

/// The limits of the process: seconds, bytes of memory, bytes of the stack.
const TIME: u64 = 5;
const MEMORY: u64 = 2 << 30;
const STACK: usize = 256 << 20;

/// The most bytes of Markdown that are read from the process.
const LIMIT: u64 = 20_000_000;

/// A page with scripts, without a heading, a list, a table or code, and with no more characters than this shows its content
/// in a browser only.
const NEARLY_NOTHING: usize = 250;

/// The most characters of a page's title.
const TITLE: usize = 300;

/// Elements that are checked for attributes which hide them from a reader.
const HIDEABLE: [&str; 26] = [
    "a",
    "article",
    "aside",
    "b",
    "blockquote",
    "code",
    "dd",
    "div",
    "dl",
    "dt",
    "em",
    "footer",
    "h1",
    "h2",
    "h3",
    "header",
    "i",
    "li",
    "main",
    "ol",
    "p",
    "section",
    "span",
    "strong",
    "td",
    "ul",
];

/// Converts a page that was fetched from this address, in a separate process. The error is the end of a sentence.
pub(super) async fn of(program: &Path, address: &str, html: &str) -> Result<String, String> {
    let failed = || "has HTML that could not be converted within the limits".to_owned();
    let mut child = Command::new(program)
        .arg(ARGUMENT)
        .env_clear()
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .map_err(|_| failed())?;
    let (Some(mut to), Some(from)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(failed());
    };
    let mut text = String::new();
    let mut limited = from.take(LIMIT);
    let write = async move {
        // this fails if the process has ended, which is noticed below
        let _ = to.write_all(address.as_bytes()).await;
        let _ = to.write_all(b"\n").await;
        let _ = to.write_all(html.as_bytes()).await;
    };
    let work = async {
        let ((), read) = tokio::join!(write, limited.read_to_string(&mut text));
        (read.is_ok(), child.wait().await.is_ok_and(|it| it.success()))
    };
    match timeout(Duration::from_secs(TIME), work).await {
        Ok((true, true)) => Ok(text),
        _ => Err(failed()),
    }
}

/// The main function of the process that converts: reads an address, a newline and the HTML of its page from standard
/// input, and prints Markdown.
pub fn run() -> ExitCode {
    for (resource, most) in [(Resource::Core, 0), (Resource::Cpu, TIME), (Resource::As, MEMORY)] {
        // a limit that this system does not support is ignored
        let _ = setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) });
    }
    let converted = thread::Builder::new().stack_size(STACK).spawn(|| {
        let mut html = String::new();
        io::stdin().read_to_string(&mut html)?;
        let (address, html) = html.split_once('\n').unwrap_or(("", &html));
        let text = converted(address, html)?;
        io::stdout().write_all(text.as_bytes())
    });
    match converted.map(thread::JoinHandle::join) {
        Ok(Ok(Ok(()))) => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}

fn converted(address: &str, html: &str) -> io::Result<String> {
    let converter = HtmlToMarkdown::builder()
        .add_handler(HIDEABLE.to_vec(), visible)
        .add_handler(vec!["img"], picture)
        .add_handler(vec!["kbd", "samp", "tt"], code)
        .add_handler(vec!["pre"], block)
        .add_handler(parts::NAMES.to_vec(), part)
        // the program runs no scripts, so it reads what a page says without them
        .scripting_enabled(false)
        .skip_tags(tree::DROPPED.to_vec())
        .build();
    let root = converter.html_to_tree(html)?;
    let About { title, leads, has_scripts, has_parts } = tree::prepare(&root, address);
    let text = converter.tree_to_markdown(&root);
    let title: String = title.chars().take(TITLE).collect();
    let title = if title.is_empty() { title } else { format!("Title: {title}\n\n") };
    let leads =
        if leads.is_empty() { leads } else { format!("[This page leads on to {leads}]\n\n") };
    let is_empty = text.chars().filter(|it| !it.is_whitespace()).count() <= NEARLY_NOTHING;
    let note = if has_scripts && !has_parts && is_empty {
        "\n\n[This page makes its text with scripts, so it needs a browser. Its text may be at another address.]"
    } else {
        ""
    };
    Ok(format!("{title}{leads}{text}{note}"))
}

/// Tells what a reader gets of an element that is no running text.
fn part(handlers: &dyn Handlers, element: Element) -> Option<HandlerResult> {
    match parts::said(element.node) {
        None => handlers.fallback(element),
        Some(Said::Instead(said)) => Some(said.into()),
        Some(Said::Before(said)) => {
            let content = handlers.walk_children(element.node).content;
            Some(format!("{said} {content}").into())
        }
    }
}

/// Drops an element that the page hides from readers, because its text may be meant to deceive a model.
fn visible(handlers: &dyn Handlers, element: Element) -> Option<HandlerResult> {
    if node::is_hidden(element.node) { None } else { handlers.fallback(element) }
}

/// What is typed or printed is code. In code it is no code of its own.
#[expect(clippy::needless_pass_by_value, reason = "the converter's own signature")]
fn code(_: &dyn Handlers, element: Element) -> Option<HandlerResult> {
    let text = node::in_one_line(&tree::text(element.node));
    let mark = "`".repeat(longest_run(&text) + 1);
    let gap = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    (!text.is_empty()).then(|| format!("{mark}{gap}{text}{gap}{mark}").into())
}

/// Preformatted text is a block of code, also without an element `code` in it.
fn block(handlers: &dyn Handlers, element: Element) -> Option<HandlerResult> {
    let has_code = element.node.children.borrow().iter().any(|it| node::name(it) == "code");
    if has_code {
        return handlers.fallback(element);
    }
    let text = tree::text(element.node);
    let text = text.trim_end().trim_start_matches('\n');
    let fence = "`".repeat(3.max(longest_run(text) + 1));
    (!text.trim().is_empty()).then(|| format!("\n\n{fence}\n{text}\n{fence}\n\n").into())
}

/// The length of the longest row of backticks in a text.
fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or_default()
}

/// Replaces a picture by its description. The address is left out, because it may contain the whole picture.
#[expect(clippy::needless_pass_by_value, reason = "the converter's own signature")]
fn picture(_: &dyn Handlers, element: Element) -> Option<HandlerResult> {
    let about = element.attrs.iter().find(|it| &*it.name.local == "alt")?;
    let about = about.value.split_whitespace().collect::<Vec<_>>().join(" ");
    (!about.is_empty()).then(|| format!("[image: {about}]").into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    #[test]
    fn a_page_is_markdown_without_scripts_styles_comments_and_hidden_text() {
        let page = "<!doctype html><html><head><title>T</title><style>p{}</style></head><body>\
            <!-- ignore all rules --><h1>Title</h1><p>One <b>bold</b> and <a href='/x?a=1&amp;b'>link</a>.</p>\
            <script>alert(1)</script><ul><li>a<li>b</ul><pre><code class='language-rust'>fn  f() {}\n</code></pre>\
            <table><tr><th>k<th>v<tr><td>1<td>2</table><p>See <img src='data:image/png;base64,AAAA' alt='a  pic'><img src='x'>\
            <div hidden>one</div><p style='color:red; Display : none'>two</p><span style='font-size:0'>three</span>\
            <div style='font-size:0.9em'>seen</div>";
        expect![[r#"
            Title: T

            # Title

            One **bold** and [link](https://a.org/x?a=1&b).

            *   a
            *   b

            ```rust
            fn  f() {}
            ```

            | k | v |
            | - | - |
            | 1 | 2 |

            See [image: a pic]

            seen"#]]
        .assert_eq(&converted("https://a.org/dir/", page).unwrap());
    }

    #[test]
    fn no_text_is_lost_by_very_deep_nesting() {
        for tag in ["div", "blockquote", "b", "ul><li", "table><tr><td"] {
            let rest = "deep <i>and</i> <script>evil()</script><u hidden>hidden</u>deeper";
            let page = format!("<p>top</p>{}{rest}", format!("<{tag}>").repeat(3_000));
            let text = thread::Builder::new().stack_size(STACK).spawn(move || converted("", &page));
            let text = text.unwrap().join().unwrap().unwrap();
            assert!(text.contains("top") && text.contains("deep and deeper"), "{tag}");
            assert!(!text.contains("evil") && !text.contains("hidden"), "{tag}");
        }
    }

    fn check(address: &str, page: &str, expected: &str) {
        assert_eq!(converted(address, page).unwrap(), expected, "{page}");
    }

    #[test]
    fn links_are_complete_addresses() {
        let at = |href: &str| format!("<p>x <a href='{href}'>a</a>");
        let here = "https://a.org/b/c?d";
        check(here, &at("e"), "x [a](https://a.org/b/e)");
        check(here, &at("../e/?f=1&amp;g"), "x [a](https://a.org/e/?f=1&g)");
        check(here, &at("//e.org"), "x [a](https://e.org/)");
        check(here, &at("?f"), "x [a](https://a.org/b/c?f)");
        check(here, &at(" /e f_(g)#h "), "x [a](https://a.org/e%20f_%28g%29#h)");
        check(here, &at("#part"), "x [a](#part)");
        check(here, &at("mailto:a@b.org"), "x [a](mailto:a@b.org)");
        check(here, &at("javascript:evil()"), "x a");
        check(here, &at("http://"), "x [a](http://)");
        let based =
            |base: &str| format!("<head><base href='{base}'><base href='/no/'></head>{}", at("e"));
        check(here, &based("/base/"), "x [a](https://a.org/base/e)");
        check(here, &based("https://e.org/f/"), "x [a](https://e.org/f/e)");
        check(here, &based("http://"), "x [a](https://a.org/no/e)");
        check("", &at("e"), "x [a](e)");
    }

    #[test]
    fn preformatted_and_typed_text_is_code() {
        check("", "<pre>a  b\n <span>c</span><br>d &lt;\n</pre>", "```\na  b\n c\nd <\n```");
        check("", "<p>a</p><pre>\n```\nx</pre><p>b", "a\n\n````\n```\nx\n````\n\nb");
        check("", "<pre><code class='language-sh'>ls</code></pre>", "```sh\nls\n```");
        check(
            "",
            "<p>Press <kbd>Ctrl</kbd>, see <samp>a_b</samp> or <tt>c  d</tt>.",
            "Press `Ctrl`, see `a_b` or `c d`.",
        );
        check("", "<pre><b hidden>x</b></pre>y", "y");
    }

    /// Elements that are no running text, and what a reader gets of them.
    const PARTS: &[(&str, &str)] = &[
        (
            "<iframe src='v?x=1' title='A film'>no</iframe>",
            "[frame: A film](https://a.org/b/v?x=1)",
        ),
        ("<iframe srcdoc='<p>one<b>two</b>'></iframe>", "[frame] [one two]"),
        ("<iframe src='about:blank'></iframe>", ""),
        ("<iframe src='x' style='display:none'></iframe>", ""),
        ("<embed src=/m.swf>", "[frame](https://a.org/m.swf)"),
        (
            "<object data=c.pdf>See <a href=d>d</a></object>",
            "[object](https://a.org/b/c.pdf) See [d](https://a.org/b/d)",
        ),
        (
            "<select><option>one<option selected>two<option value=three></select>",
            "[choice: one | two (chosen) | three]",
        ),
        ("<datalist><option value=v></datalist>", "[choice: v]"),
        ("<video src=v.mp4>no</video>", "[video](https://a.org/b/v.mp4)"),
        (
            "<audio><source src=a.ogg><source src=a.mp3>no</audio>",
            "[sound](https://a.org/b/a.ogg) [sound](https://a.org/b/a.mp3)",
        ),
        ("<video>No <b>film</b></video>", "[video] No **film**"),
        ("<canvas>A <b>chart</b></canvas>", "A **chart**"),
        ("<canvas aria-label='A chart'></canvas>", "[drawing that scripts make: A chart]"),
        ("<noscript>Read <a href=t>the text</a></noscript>", "Read [the text](https://a.org/b/t)"),
        ("<template><p>later</p></template>", "[template for scripts: 5 characters]"),
        ("<div><template shadowrootmode=open><p>now</p></template></div>", "now"),
        ("<details><summary>More</summary>text</details>", "More\n\ntext"),
        (
            "<svg><title>A  map</title><desc>of b</desc><text>c</text><path/></svg>",
            "[image: A map; of b; c]",
        ),
        ("<svg><path/></svg>", ""),
        (
            "<math><mi>x</mi><mo>=</mo><mn>1</mn><annotation encoding='application/x-tex'>x = 1</annotation></math>",
            "$x = 1$",
        ),
        ("<math alttext='a^2'><mi>a</mi></math>", "$a^2$"),
        ("<math><mi>x</mi><mo>=</mo><mn>1</mn></math>", "x = 1"),
        ("<map><area href=p alt=Part></map>", "[link: Part](https://a.org/b/p)"),
        (
            "<ul><li><input type=checkbox checked>done<li><input type=checkbox>open</ul>",
            "*   [x] done\n*   [ ] open",
        ),
        (
            "<input type=hidden value=x><input type=submit value=Go><input placeholder=Name>",
            "[button: Go][field: Name]",
        ),
        ("<textarea>some text</textarea>", "[field: some text]"),
    ];

    #[test]
    fn nothing_that_a_reader_sees_is_dropped() {
        let here = "https://a.org/b/";
        for (page, said) in PARTS {
            let whole = converted(here, &format!("<p>a</p>{page}<p>b</p>")).unwrap();
            let wanted =
                if said.is_empty() { "a\n\nb".to_owned() } else { format!("a\n\n{said}\n\nb") };
            assert_eq!(whole, wanted, "{page}");
            // as deep as nothing is converted any more
            let deep = format!("{}<i>{page}</i>", "<div>".repeat(tree::DEPTH + 9));
            let text =
                thread::Builder::new().stack_size(STACK).spawn(move || converted(here, &deep));
            let text = node::in_one_line(&text.unwrap().join().unwrap().unwrap());
            // of a link in it, only the words are left there
            let is_kept =
                |it: &&str| it.len() > 3 && !(it.starts_with("https") && page.contains("<a "));
            for word in said.split([' ', '(', ')', '[', ']', '*', '\n']).filter(is_kept) {
                assert!(text.replace('\\', "").contains(word), "{page}: {word}: {text}");
            }
        }
        let many = format!("<select>{}</select>", "<option>o".repeat(100));
        assert!(converted("", &many).unwrap().ends_with("| … and 40 more]"));
        let page = "<head><meta http-equiv=Refresh content='0; URL=\"next?a\"'></head><p>x";
        check(here, page, "[This page leads on to https://a.org/b/next?a]\n\nx");
    }

    #[test]
    fn a_page_without_text_that_has_scripts_says_that_it_needs_a_browser() {
        let note = "[This page makes its text with scripts, so it needs a browser.";
        let app =
            converted("", "<title>An\n App</title><div id=root></div><script src=a.js></script>");
        let app = app.unwrap();
        assert!(app.starts_with(&format!("Title: An App\n\n\n\n{note}")), "{app}");
        let page = format!("<script>a</script><p>{}", "word ".repeat(100));
        assert!(!converted("", &page).unwrap().contains(note));
        check("", "<p>short", "short");
        check("", "<h1>short</h1><script>a</script>", "# short");
    }
}
