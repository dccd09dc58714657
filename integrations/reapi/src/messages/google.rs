//! The well-known messages of `google.protobuf` and `google.rpc` that the API builds on.

use prost::Message;

/// A message of any type.
#[derive(Clone, PartialEq, Eq, Hash, Message)]
pub struct Any {
    /// Names the type, as `type.googleapis.com/package.Name`.
    #[prost(string, tag = "1")]
    pub type_url: String,
    /// The message's bytes.
    #[prost(bytes = "vec", tag = "2")]
    pub value: Vec<u8>,
}

/// A moment, counted from 1970-01-01T00:00:00Z.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Message)]
pub struct Timestamp {
    /// Seconds.
    #[prost(int64, tag = "1")]
    pub seconds: i64,
    /// Nanoseconds beyond them, never below 0.
    #[prost(int32, tag = "2")]
    pub nanos: i32,
}

/// A length of time.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Message)]
pub struct Duration {
    /// Seconds.
    #[prost(int64, tag = "1")]
    pub seconds: i64,
    /// Nanoseconds beyond them, with the same sign.
    #[prost(int32, tag = "2")]
    pub nanos: i32,
}

/// A truth value that may be missing.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Message)]
pub struct BoolValue {
    /// The value.
    #[prost(bool, tag = "1")]
    pub value: bool,
}

/// A number that may be missing.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Message)]
pub struct UInt32Value {
    /// The number.
    #[prost(uint32, tag = "1")]
    pub value: u32,
}

/// How something ended.
#[derive(Clone, PartialEq, Eq, Hash, Message)]
pub struct Status {
    /// gRPC's number: 0 is success.
    #[prost(int32, tag = "1")]
    pub code: i32,
    /// What a person is told.
    #[prost(string, tag = "2")]
    pub message: String,
    /// What a program is told.
    #[prost(message, repeated, tag = "3")]
    pub details: Vec<Any>,
}
