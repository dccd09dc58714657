//! The two hashes that ninja has used for command lines.
//!
//! - Up to 1.12: MurmurHash64A by Austin Appleby (public domain), seed `0xDECAFBADDECAFBAD`.
//! - Since 1.13: rapidhash version 1 by Nicolas De Carlo, default seed and secrets.
//!
//! What is hashed is the command with all variables expanded, and, where the target has a response file,
//! `;rspfile=` and its content after it.

/// MurmurHash64A of `data` with ninja's seed.
#[must_use]
pub fn murmur_hash_64a(data: &[u8]) -> u64 {
    const SEED: u64 = 0xDECA_FBAD_DECA_FBAD;
    const M: u64 = 0xc6a4_a793_5bd1_e995;
    const R: u32 = 47;
    let mut hash = SEED ^ (data.len() as u64).wrapping_mul(M);
    let (words, tail) = data.as_chunks::<8>();
    for word in words {
        let mut k = u64::from_le_bytes(*word).wrapping_mul(M);
        k ^= k >> R;
        hash = (hash ^ k.wrapping_mul(M)).wrapping_mul(M);
    }
    if !tail.is_empty() {
        let mut last = [0; 8];
        last[..tail.len()].copy_from_slice(tail);
        hash = (hash ^ u64::from_le_bytes(last)).wrapping_mul(M);
    }
    hash ^= hash >> R;
    hash = hash.wrapping_mul(M);
    hash ^ (hash >> R)
}

/// Rapidhash version 1 of `data`.
#[must_use]
pub fn rapidhash(data: &[u8]) -> u64 {
    rapidhash::v1::rapidhash_v1(data)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Read from the logs of ninja 1.11.1 and 1.13.2 after they had run these commands.
    #[test]
    fn hashes_are_those_in_real_logs() {
        let long = [b"echo ".as_slice(), &[b'x'; 200], b" > long"].concat();
        for (command, murmur, rapid) in REAL {
            assert_eq!(murmur_hash_64a(command), *murmur, "{}", command.escape_ascii());
            assert_eq!(rapidhash(command), *rapid, "{}", command.escape_ascii());
        }
        assert_eq!(murmur_hash_64a(&long), LONG.0);
        assert_eq!(rapidhash(&long), LONG.1);
    }

    const REAL: &[(&[u8], u64, u64)] = &[
        (b"true", 0x486a_3aca_dd11_6b47, 0x090a_52a5_dca2_ed61),
        (b"echo 1 > out2", 0xab9f_505f_65f7_e79b, 0x0bd6_1fad_bf1c_57b8),
        (b"cc -c src.c", 0x6d67_65ad_6de4_7b33, 0x6d4a_2934_ec81_07dc),
        (
            b"touch some/longer/output/path.o && true --with --flags -Wall",
            0x6781_b333_a96c_59dc,
            0x62b2_2c93_5116_fa8a,
        ),
    ];
    const LONG: (u64, u64) = (0xfbba_4ac0_3d16_cebb, 0x54ba_77ba_3450_97b5);
}
