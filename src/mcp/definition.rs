//! How a server is started or reached, as the user has written it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Looks a variable of the environment up.
pub type Variables = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// A server. Each text may name variables of the environment as `${NAME}` or `${NAME:-default}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Definition {
    pub place: Place,
    /// The longest time of one call.
    pub timeout: Duration,
    /// The longest time from the start of the program, or from the first request, to the first answer.
    pub startup: Duration,
}

/// Where a server is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// A program on this machine, which speaks on its standard input and output.
    Program(Program),
    /// An address, to which messages go by HTTP.
    Address(Address),
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Program {
    pub command: String,
    pub args: Vec<String>,
    pub env: BTreeMap<String, String>,
    pub cwd: Option<PathBuf>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Address {
    pub url: String,
    /// Headers of each request.
    pub headers: BTreeMap<String, String>,
}

impl Place {
    /// The place with the values of its variables. The error names a variable that is not set and where it is used.
    pub(super) fn filled(&self, name: &str, variables: &Variables) -> Result<Place, String> {
        let at = |field: &str, text: &str| {
            filled(text, variables).map_err(|missing| {
                format!("is not started: mcp.{name}.{field} names the variable {missing}, which is not set")
            })
        };
        let mut place = self.clone();
        match &mut place {
            Place::Program(it) => {
                it.command = at("command", &it.command)?;
                for arg in &mut it.args {
                    *arg = at("args", arg)?;
                }
                for (key, value) in &mut it.env {
                    *value = at(&format!("env.{key}"), value)?;
                }
                if let Some(cwd) = &mut it.cwd {
                    *cwd = PathBuf::from(at("cwd", &cwd.to_string_lossy())?);
                }
            }
            Place::Address(it) => {
                it.url = at("url", &it.url)?;
                for (key, value) in &mut it.headers {
                    *value = at(&format!("headers.{key}"), value)?;
                }
            }
        }
        Ok(place)
    }
}

/// The text with the values of its variables, or the name of the first that is not set. `$` without a brace is itself.
fn filled(text: &str, variables: &Variables) -> Result<String, String> {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        let Some((inner, behind)) = after.split_once('}') else { break };
        let (name, default) = match inner.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (inner, None),
        };
        let value = variables(name).filter(|it| default.is_none() || !it.is_empty());
        out.push_str(before);
        out.push_str(&value.or_else(|| default.map(str::to_owned)).ok_or_else(|| name.to_owned())?);
        rest = behind;
    }
    out.push_str(rest);
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_gets_the_values_of_its_variables() {
        let variables: Variables = Arc::new(|name| match name {
            "HOME" => Some("/home/me".to_owned()),
            "EMPTY" => Some(String::new()),
            _ => None,
        });
        for (text, expect) in [
            ("plain $HOME {x}", Ok("plain $HOME {x}")),
            ("${HOME}/a ${HOME}", Ok("/home/me/a /home/me")),
            ("a${NONE:-b c}d", Ok("ab cd")),
            ("${EMPTY}x${EMPTY:-y}", Ok("xy")),
            ("${NONE:-}", Ok("")),
            ("x${NONE}", Err("NONE")),
            ("${HOME", Ok("${HOME")),
        ] {
            let expect = expect.map(str::to_owned).map_err(str::to_owned);
            assert_eq!(filled(text, &variables), expect, "{text}");
        }
    }

    #[test]
    fn a_missing_variable_is_named_with_its_place() {
        let given = BTreeMap::from([("TOKEN".to_owned(), "${GH}".to_owned())]);
        let program = Program { env: given.clone(), ..Program::default() };
        let address = Address { headers: given, ..Address::default() };
        let none: Variables = Arc::new(|_| None);
        let said = |it: Place| it.filled("github", &none).unwrap_err();
        expect_test::expect![[r"
            is not started: mcp.github.env.TOKEN names the variable GH, which is not set
            is not started: mcp.github.headers.TOKEN names the variable GH, which is not set"]]
        .assert_eq(&[said(Place::Program(program)), said(Place::Address(address))].join("\n"));
    }
}
