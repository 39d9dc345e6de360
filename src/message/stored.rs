//! How a tool's answer is stored.

use super::ToolAnswer;
use serde::ser::{Serialize, SerializeStruct, Serializer};

impl Serialize for ToolAnswer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let ToolAnswer {
            id,
            text,
            failed,
            fault,
            verdict,
            reversed,
            summary,
            output,
            images,
            job_end,
            foreign,
            inquiry,
            session,
            diff,
            shown,
            changed,
        } = self;
        let mut fields = serializer.serialize_struct("ToolAnswer", 15)?;
        fields.serialize_field("id", id)?;
        match output {
            Some(file) => fields.serialize_field("output", file)?,
            None => fields.serialize_field("text", text)?,
        }
        let flags =
            [("failed", failed), ("fault", fault), ("verdict", verdict), ("reversed", reversed)];
        for (name, flag) in flags {
            if *flag {
                fields.serialize_field(name, flag)?;
            }
        }
        if !summary.is_empty() {
            fields.serialize_field("summary", summary)?;
        }
        if !images.is_empty() {
            fields.serialize_field("images", images)?;
        }
        if let Some(job) = job_end {
            fields.serialize_field("job_end", job)?;
        }
        if let Some(foreign) = foreign {
            fields.serialize_field("foreign", foreign)?;
        }
        if let Some(inquiry) = inquiry {
            fields.serialize_field("inquiry", inquiry)?;
        }
        for (name, text) in [("session", session), ("changed", changed)] {
            if let Some(text) = text {
                fields.serialize_field(name, text)?;
            }
        }
        if !diff.is_empty() {
            fields.serialize_field("diff", diff)?;
        }
        if let Some(shown) = shown {
            fields.serialize_field("shown", shown)?;
        }
        fields.end()
    }
}
