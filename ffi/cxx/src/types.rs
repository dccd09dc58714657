//! Values that are handed over as they lie in memory. Those of `upcheck/types.hpp` have no member but the C interface's
//! struct of the same name; so have these.

use cxx::{ExternType, kind::Trivial, type_id};
use upcheck_capi::{upcheck_cause, upcheck_doubt, upcheck_finding, upcheck_stat, upcheck_summary};

macro_rules! value {
    ($name:ident, $of:ty, $id:literal) => {
        #[doc = concat!("`", $id, "`")]
        #[repr(transparent)]
        #[derive(Clone, Copy)]
        pub(crate) struct $name(pub(crate) $of);

        // SAFETY: in types.hpp it has one member, which is the same as this one, and is trivial.
        unsafe impl ExternType for $name {
            type Id = type_id!($id);
            type Kind = Trivial;
        }
    };
}

value!(File, u32, "upcheck::File");
value!(Target, u32, "upcheck::Target");
value!(Verdict, u8, "upcheck::Verdict");
value!(Finding, upcheck_finding, "upcheck::Finding");
value!(Cause, upcheck_cause, "upcheck::Cause");
value!(Doubt, upcheck_doubt, "upcheck::Doubt");
value!(Stat, upcheck_stat, "upcheck::Stat");
value!(Summary, upcheck_summary, "upcheck::Summary");
