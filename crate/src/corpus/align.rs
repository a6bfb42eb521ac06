//! Aligns an engine's phones with our symbols.

pub fn is_pause(phone: &str) -> bool {
    matches!(phone, "pau" | "h#" | "#" | "brth" | "sil" | "ssil")
}
