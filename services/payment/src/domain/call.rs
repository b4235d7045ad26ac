//! A call to the processor, as it is written down.

/// What was asked, and how it ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    pub operation: Operation,
    /// `UPPER_SNAKE`.
    pub result: &'static str,
    /// The processor's own words, where they say more.
    pub detail: Option<String>,
}

/// What a processor can be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    CreateIntent,
    Confirm,
    Cancel,
    RetrieveIntent,
    FindIntents,
    Refund,
    ListRefunds,
}

impl Operation {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::CreateIntent => "CREATE_INTENT",
            Self::Confirm => "CONFIRM",
            Self::Cancel => "CANCEL",
            Self::RetrieveIntent => "RETRIEVE_INTENT",
            Self::FindIntents => "FIND_INTENTS",
            Self::Refund => "REFUND",
            Self::ListRefunds => "LIST_REFUNDS",
        }
    }
}
