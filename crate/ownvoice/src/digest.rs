//! SHA-256 in hexadecimal digits.

use sha2::{Digest, Sha256};

/// Returns the SHA-256 in lower-case hexadecimal digits.
pub fn sha256_hex(bytes: impl AsRef<[u8]>) -> String {
    hex(Sha256::digest(bytes))
}

/// Formats a digest in lower-case hexadecimal digits.
pub(crate) fn hex(digest: impl AsRef<[u8]>) -> String {
    digest.as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}
