//! Texts and lists of texts: paths, arguments, patterns, values. Each is handed to a closure where the parser finds it.
//!
//! A text is a string, or where it may be any bytes `{"base64": "..."}` (RFC 4648, with padding).

use crate::keys::Keys;
use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use std::collections::BTreeMap;
use std::fmt;

/// One text or a list of them, as `shape` says. `take` gets each and says what is wrong with it.
pub(crate) struct Texts<'a> {
    /// What each is called in a message: "a path".
    pub(crate) what: &'static str,
    pub(crate) shape: Shape,
    pub(crate) take: &'a mut dyn FnMut(&[u8]) -> Result<(), String>,
}

/// What may stand for texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// A string.
    String,
    /// A list of strings.
    Strings,
    /// A string or bytes.
    Bytes,
    /// A list of strings or bytes.
    ManyBytes,
    /// A string or bytes, or a list of them.
    OneOrMany,
}

/// Names with values.
pub(crate) struct Values<'a>(pub(crate) &'a mut BTreeMap<Vec<u8>, Vec<u8>>);

impl Shape {
    /// The shape of a single item.
    fn of_item(self) -> Self {
        if matches!(self, Self::String | Self::Strings) { Self::String } else { Self::Bytes }
    }

    fn is_list(self) -> bool {
        matches!(self, Self::Strings | Self::ManyBytes | Self::OneOrMany)
    }

    fn is_single(self) -> bool {
        matches!(self, Self::String | Self::Bytes | Self::OneOrMany)
    }
}

impl<'de> DeserializeSeed<'de> for Texts<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Texts<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = self.what;
        match self.shape {
            Shape::String => write!(f, "{what}: a string"),
            Shape::Bytes => write!(f, "{what}: a string or {{\"base64\": \"...\"}}"),
            Shape::Strings | Shape::ManyBytes => write!(f, "a list, each item {what}"),
            Shape::OneOrMany => write!(f, "a string, or a list with each item {what}"),
        }
    }

    #[inline]
    fn visit_str<E: de::Error>(self, text: &str) -> Result<(), E> {
        if !self.shape.is_single() {
            return Err(E::invalid_type(de::Unexpected::Str(text), &self));
        }
        (self.take)(text.as_bytes()).map_err(E::custom)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<(), A::Error> {
        if self.shape == Shape::String || !self.shape.is_single() {
            return Err(de::Error::invalid_type(de::Unexpected::Map, &self));
        }
        visit_base64(map, self.take)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        if !self.shape.is_list() {
            return Err(de::Error::invalid_type(de::Unexpected::Seq, &self));
        }
        let (what, shape, take) = (self.what, self.shape.of_item(), self.take);
        while list.next_element_seed(Texts { what, shape, take: &mut *take })?.is_some() {}
        Ok(())
    }
}

fn visit_base64<'de, A: MapAccess<'de>>(
    mut map: A,
    take: &mut dyn FnMut(&[u8]) -> Result<(), String>,
) -> Result<(), A::Error> {
    let mut keys = Keys::new(&["base64"]);
    let mut decode = |text: &[u8]| {
        let bytes = BASE64.decode(text).map_err(|error| format!("this is no base64: {error}"))?;
        take(&bytes)
    };
    while map.next_key_seed(&mut keys)?.is_some() {
        map.next_value_seed(Texts { what: "base64", shape: Shape::String, take: &mut decode })?;
    }
    match keys.has("base64") {
        true => Ok(()),
        false => Err(de::Error::custom("an object without the key \"base64\" is no text")),
    }
}

impl<'de> DeserializeSeed<'de> for Values<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Values<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of names and values")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(name) = map.next_key_seed(Name(self.0))? {
            let mut value = Vec::new();
            let mut take = |text: &[u8]| {
                value.extend_from_slice(text);
                Ok(())
            };
            map.next_value_seed(Texts { what: "a value", shape: Shape::Bytes, take: &mut take })?;
            self.0.insert(name, value);
        }
        Ok(())
    }
}

/// The name of a value, which has to be new.
struct Name<'a>(&'a BTreeMap<Vec<u8>, Vec<u8>>);

impl<'de> DeserializeSeed<'de> for Name<'_> {
    type Value = Vec<u8>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Vec<u8>, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Name<'_> {
    type Value = Vec<u8>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_str<E: de::Error>(self, name: &str) -> Result<Vec<u8>, E> {
        // Names with a NUL are those of records.
        if name.is_empty() || name.contains('\0') {
            return Err(E::custom(format!("the key {name:?} cannot be the name of a value")));
        }
        match self.0.contains_key(name.as_bytes()) {
            true => Err(E::custom(format!("the key {name:?} is there twice"))),
            false => Ok(name.as_bytes().to_vec()),
        }
    }
}
