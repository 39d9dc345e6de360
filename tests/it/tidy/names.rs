//! The rule about names in Lua: a function that expands, searches, runs or reads patterns gets only literals. So it
//! never gets the name of a file, session or model, or a title.

/// Functions that may be called only with a literal, or with a literal that is formatted with numbers alone.
const LITERAL: [&str; 31] = [
    "fn.glob",
    "fn.globpath",
    "fn.glob2regpat",
    "fn.expand",
    "fn.expandcmd",
    "fn.fnamemodify",
    "fn.finddir",
    "fn.findfile",
    "fn.system",
    "fn.systemlist",
    "fn.execute",
    "fn.feedkeys",
    "fn.bufnr",
    "fn.bufname",
    "fn.bufexists",
    "fn.bufwinnr",
    "fn.getcompletion",
    "fn.resolve",
    "fn.readfile",
    "fn.writefile",
    "nvim_command",
    "nvim_exec",
    "nvim_exec2",
    "nvim_feedkeys",
    "nvim_input",
    "nvim_replace_termcodes",
    "nvim_get_runtime_file",
    "io.open",
    "io.lines",
    "io.popen",
    "os.execute",
];

/// Functions that expand variables and `~`, look for wildcards, or call any function by its name. Only the calls in
/// `OWN` are allowed.
const NEVER: [&str; 17] = [
    "nvim_cmd",
    "nvim_call_function",
    "nvim_call_dict_function",
    "vim.call",
    "fn.call",
    "fn.eval",
    "fn.luaeval",
    "fn.termopen",
    "fs.relpath",
    "fs.abspath",
    "fs.root",
    "fs.find",
    "fn.input",
    "vim.glob",
    "loadstring",
    "dofile",
    "nvim_eval",
];

/// Options that hold expressions. Only the file `OF_LINES` may set these options to more than a literal; it escapes
/// each inserted text.
const LINES: [&str; 6] =
    ["winbar", "statusline", "tabline", "statuscolumn", "titlestring", "rulerformat"];
const OF_LINES: &str = "lua/caliban/editor/name.lua";

/// Calls that are allowed to break the rule about names, each as its file and code: their arguments come from the user,
/// the user's settings or Neovim itself.
const OWN: [(&str, &str); 7] = [
    // a command that the user typed, passed on unchanged
    ("lua/caliban/editor/write_command.lua", "nvim_cmd, command, {})"),
    ("lua/caliban/editor/swap.lua", "fs.normalize(dir)"),
    ("lua/caliban/program/process.lua", "fs.normalize(bin)"),
    ("lua/caliban/config.lua", "fs.normalize(c.system_file)"),
    ("lua/caliban/health.lua", "fs.normalize(file)"),
    // a register and a count that the user typed, and a key from Caliban's table of keys
    (
        "lua/caliban/chat/question_keys.lua",
        "nvim_feedkeys(('\"%s%s%s'):format(vim.v.register, count, key), 'ni', false)",
    ),
    // the result of `winrestcmd()`
    ("lua/caliban/chat/windows.lua", "vim.cmd(sizes)"),
];

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

pub(in crate::tidy) fn names(path: &str, text: &str) -> Vec<String> {
    let code = without_comments(text);
    let mut found = Vec::new();
    let mut tell = |at: usize, what: &str| {
        let line = 1 + code[..at].matches('\n').count();
        found.push((line, format!("{path}:{line}: {what}")));
    };
    for (at, call, arguments) in calls(&code) {
        let is_own =
            OWN.iter().any(|(of, it)| *of == path && *it == format!("{call}({arguments})"));
        if is_own {
            continue;
        }
        if LITERAL.contains(&call) && !is_literal(arguments) {
            tell(at, &format!("{call} gets more than a literal"));
        } else if call == "fs.normalize" && !arguments.contains("expand_env = false") {
            tell(at, "fs.normalize expands variables");
        } else if call == "vim.cmd" && !is_command(arguments) {
            tell(at, "vim.cmd gets more than a literal");
        } else if call.starts_with("vim.cmd.")
            && !arguments.is_empty()
            && !arguments.starts_with('{')
            && !is_literal(arguments)
        {
            tell(at, &format!("{call} expands its argument"));
        } else if NEVER.contains(&call) {
            tell(at, &format!("{call} expands what it gets"));
        }
    }
    for (at, _) in code.match_indices("vim.cmd") {
        if !code[at + 7..].starts_with(['(', '.', '_']) {
            tell(at, "vim.cmd is called by others, with whatever they give it");
        }
    }
    for (at, _) in code.match_indices("vim.fn[") {
        tell(at, "a function is called by a name that is computed");
    }
    for name in LITERAL.iter().chain(&NEVER) {
        for (at, _) in code.match_indices(name) {
            let rest = &code[at + name.len()..];
            let is_whole = !code[..at].ends_with(is_word) && !rest.starts_with(is_word);
            let is_own = OWN.iter().any(|(of, it)| *of == path && code[at..].starts_with(it));
            if is_whole && !rest.starts_with(['(', '{', '\'', '"']) && !is_own {
                tell(at, &format!("{name} is called by others, with whatever they give it"));
            }
        }
    }
    for line in LINES.iter().filter(|_| path != OF_LINES) {
        for (at, _) in code.match_indices(&format!(".{line} = ")) {
            let value = code[at + line.len() + 4..].lines().next().unwrap_or_default();
            if !is_literal(value) {
                tell(at, &format!("'{line}' is set by name.winbar alone"));
            }
        }
    }
    found.sort();
    found.into_iter().map(|(_, it)| it).collect()
}

/// The Lua code without its comments. The line numbers stay the same.
pub(super) fn without_comments(text: &str) -> String {
    let lines = text.lines().map(|line| {
        let (mut quote, mut at) = (None, line.len());
        let bytes = line.as_bytes();
        let mut i = 0;
        while i < bytes.len() {
            match (quote, bytes[i]) {
                (Some(_), b'\\') => i += 1,
                (Some(open), it) if it == open => quote = None,
                (None, it @ (b'\'' | b'"')) => quote = Some(it),
                (None, b'-') if line[i..].starts_with("--") => {
                    at = i;
                    break;
                }
                _ => (),
            }
            i += 1;
        }
        &line[..at]
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Each call in Lua code: its position, the last two names of the called function (all names for `vim.cmd`), and its
/// arguments.
fn calls(code: &str) -> Vec<(usize, &str, &str)> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
    let opens = code
        .match_indices(['(', '{', '\'', '"'])
        .filter(|(at, _)| code[..*at].chars().next_back().is_some_and(is_word));
    opens
        .map(|(open, _)| {
            let start = code[..open].rfind(|c| !is_word(c)).map_or(0, |it| it + 1);
            let whole = &code[start..open];
            let is_plain = whole.starts_with("vim.cmd") || !whole.contains('.');
            let parts = whole.rmatch_indices('.').nth(1).map_or(0, |(at, _)| at + 1);
            let name = if is_plain { whole } else { &whole[parts..] };
            let name = name.strip_prefix("api.").unwrap_or(name);
            (start, name, arguments(code, open))
        })
        .collect()
}

/// The arguments of a call: the text between the parentheses that open at `open`. For a call without parentheses, the
/// only argument, which begins at `open`.
fn arguments(code: &str, open: usize) -> &str {
    let bytes = code.as_bytes();
    let (mut depth, mut i, mut quote) = (0, open, None);
    while i < bytes.len() {
        match (quote, bytes[i]) {
            (Some(_), b'\\') => i += 1,
            (Some(mark), it) if it == mark => quote = None,
            (None, it @ (b'\'' | b'"')) => quote = Some(it),
            (None, b'(' | b'{') => depth += 1,
            (None, b')' | b'}') => depth -= 1,
            _ => (),
        }
        i += 1;
        if depth == 0 && quote.is_none() {
            break;
        }
    }
    let inner = if bytes[open] == b'(' { open + 1..i - 1 } else { open..i };
    code[inner].trim()
}

/// Whether the first argument is a literal, or a literal that is formatted with numbers alone.
fn is_literal(arguments: &str) -> bool {
    let (wrapped, rest) = match arguments.strip_prefix('(') {
        Some(inner) => (true, inner),
        None => (false, arguments),
    };
    let Some(mark) = rest.chars().next().filter(|it| ['\'', '"'].contains(it)) else {
        return false;
    };
    let mut end = 1;
    let bytes = rest.as_bytes();
    while end < bytes.len() && bytes[end] != mark as u8 {
        end += if bytes[end] == b'\\' { 2 } else { 1 };
    }
    let (text, after) =
        (&rest[1..end.min(rest.len())], rest[(end + 1).min(rest.len())..].trim_start());
    if !wrapped {
        return after.is_empty() || after.starts_with(',');
    }
    let numbers = text.replace("%%", "").replace("%d", "");
    after.starts_with("):format(") && !numbers.contains('%') && !after.contains("..")
}

/// Whether a command is a literal, or a table in whose arguments Neovim expands nothing.
fn is_command(arguments: &str) -> bool {
    if !arguments.starts_with('{') {
        return is_literal(arguments);
    }
    let raw = arguments.contains("magic = { file = false }") || !arguments.contains("args =");
    raw && arguments.contains("cmd = '")
}
