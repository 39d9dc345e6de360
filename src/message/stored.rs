//! How a tool's answer is stored.

use super::ToolAnswer;
use serde::ser::{Serialize, SerializeStruct, Serializer};

impl Serialize for ToolAnswer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("ToolAnswer", 6)?;
        fields.serialize_field("id", &self.id)?;
        match &self.output {
            Some(file) => fields.serialize_field("output", file)?,
            None => fields.serialize_field("text", &self.text)?,
        }
        if self.failed {
            fields.serialize_field("failed", &true)?;
        }
        if !self.summary.is_empty() {
            fields.serialize_field("summary", &self.summary)?;
        }
        if !self.images.is_empty() {
            fields.serialize_field("images", &self.images)?;
        }
        if let Some(job) = self.job_end {
            fields.serialize_field("job_end", &job)?;
        }
        if let Some(foreign) = &self.foreign {
            fields.serialize_field("foreign", foreign)?;
        }
        if let Some(inquiry) = &self.inquiry {
            fields.serialize_field("inquiry", inquiry)?;
        }
        if let Some(session) = &self.session {
            fields.serialize_field("session", session)?;
        }
        if !self.diff.is_empty() {
            fields.serialize_field("diff", &self.diff)?;
        }
        fields.end()
    }
}
