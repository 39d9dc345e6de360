//! The forms by which keys of known services are recognised.

/// The form of the keys that begin with `prefix`.
pub struct Form {
    /// The owners of these keys: names of providers (`provider::endpoint`) or of other services.
    pub whose: &'static [&'static str],
    pub prefix: &'static str,
    pub body: Body,
}

/// The part of a key after its prefix.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Body {
    /// At least sixteen letters, digits, `_` and `-`, with a part that looks random.
    Random,
    /// Like `Random`, with dots between the characters.
    Dotted,
    /// Exactly this many letters and digits.
    Exactly(usize),
}

use Body::{Dotted, Exactly, Random};

const fn form(whose: &'static [&'static str], prefix: &'static str, body: Body) -> Form {
    Form { whose, prefix, body }
}

/// The known forms. If the prefix of one form begins with the prefix of another, the longer prefix comes first.
pub const FORMS: [Form; 51] = [
    // model providers
    form(&["anthropic", "openai", "openrouter", "deepseek", "moonshot"], "sk-", Random),
    form(&["gemini", "Google Cloud"], "AIza", Random),
    form(&["gemini"], "AQ.", Dotted),
    form(&["groq"], "gsk_", Random),
    form(&["xai"], "xai-", Random),
    form(&["together"], "tgp_v1_", Random),
    form(&["cerebras"], "csk-", Random),
    form(&["fireworks"], "fw_", Random),
    form(&["nvidia"], "nvapi-", Random),
    form(&["huggingface"], "hf_", Exactly(34)),
    form(&["huggingface"], "hf_", Random),
    form(&["Perplexity"], "pplx-", Random),
    form(&["Replicate"], "r8_", Random),
    form(&["Voyage"], "pa-", Exactly(43)),
    // code hosts
    form(&["GitHub"], "ghp_", Random),
    form(&["GitHub"], "gho_", Random),
    form(&["GitHub"], "ghu_", Random),
    form(&["GitHub"], "ghs_", Random),
    form(&["GitHub"], "ghr_", Random),
    form(&["GitHub"], "github_pat_", Random),
    form(&["GitLab"], "glpat-", Dotted),
    form(&["GitLab"], "gldt-", Random),
    form(&["GitLab"], "glrt-", Dotted),
    form(&["Atlassian"], "ATATT3", Random),
    // clouds
    form(&["AWS"], "AKIA", Exactly(16)),
    form(&["AWS"], "ASIA", Exactly(16)),
    form(&["Google Cloud"], "ya29.", Dotted),
    form(&["Google Cloud"], "GOCSPX-", Random),
    form(&["DigitalOcean"], "dop_v1_", Random),
    form(&["HashiCorp Vault"], "hvs.", Random),
    form(&["Databricks"], "dapi", Exactly(32)),
    form(&["Supabase"], "sbp_", Random),
    // chats, mail, payment, planning
    form(&["Slack"], "xoxb-", Random),
    form(&["Slack"], "xoxp-", Random),
    form(&["Slack"], "xoxa-", Random),
    form(&["Slack"], "xoxs-", Random),
    form(&["Slack"], "xapp-", Random),
    form(&["SendGrid"], "SG.", Dotted),
    form(&["Stripe"], "sk_live_", Random),
    form(&["Stripe"], "sk_test_", Random),
    form(&["Stripe"], "rk_live_", Random),
    form(&["Stripe"], "whsec_", Random),
    form(&["Shopify"], "shpat_", Random),
    form(&["Linear"], "lin_api_", Random),
    form(&["Notion"], "ntn_", Random),
    // registries
    form(&["npm"], "npm_", Random),
    form(&["PyPI"], "pypi-", Random),
    form(&["Docker"], "dckr_pat_", Random),
    form(&["Cargo"], "cio", Exactly(32)),
    // any service
    form(&["age"], "AGE-SECRET-KEY-1", Random),
    form(&["JSON Web Tokens"], "eyJ", Dotted),
];

/// Whether a byte is the first byte of a prefix. A word that begins with any other byte is not a key.
pub(super) const FIRST: [bool; 128] = {
    let (mut first, mut at) = ([false; 128], 0);
    while at < FORMS.len() {
        first[FORMS[at].prefix.as_bytes()[0] as usize] = true;
        at += 1;
    }
    first
};

/// Model providers whose keys cannot be recognised by their form, and the reason.
pub const FORMLESS: [(&str, &str); 3] = [
    ("mistral", "its keys are 32 letters and digits"),
    ("zai", "its keys are two random words with a dot between them"),
    ("azure", "its keys are 32 hexadecimal digits, or 84 letters and digits"),
];

/// The fewest characters after the prefix.
const SHORTEST: usize = 16;

impl Form {
    /// Whether a key of this form may have this character after its prefix.
    pub(super) fn takes(&self, c: char) -> bool {
        is_part(c) || self.body == Dotted && c == '.'
    }

    /// Whether a word that begins with the prefix is a key.
    pub(super) fn is_key(&self, word: &str) -> bool {
        let Some(body) = word.strip_prefix(self.prefix) else { return false };
        match self.body {
            Exactly(len) => body.len() == len && body.bytes().all(|it| it.is_ascii_alphanumeric()),
            Random | Dotted => body.len() >= SHORTEST && body.split(['-', '_', '.']).any(is_random),
        }
    }
}

/// Whether a key can contain this character.
pub(super) fn is_part(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '-'
}

/// Whether a part of a word looks random, unlike a part of a name that a person would choose: it is long and has
/// digits, or is even longer and mixes capital and small letters.
pub(super) fn is_random(part: &str) -> bool {
    let count = |is: fn(&u8) -> bool| part.bytes().filter(is).count();
    let (digits, upper, lower) =
        (count(u8::is_ascii_digit), count(u8::is_ascii_uppercase), count(u8::is_ascii_lowercase));
    part.len() >= 8 && digits > 0
        || part.len() >= 24 && 4 * upper >= part.len() && 4 * lower >= part.len()
}
