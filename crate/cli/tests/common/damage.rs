//! Random damage to bytes, JSON and safetensors files.

use std::collections::BTreeMap;

use rand::{Rng, RngCore, seq::IndexedRandom};
use serde_json::{Value, json};

/// A random number generator that returns a fuzzer's bytes, and zeros after their end.
pub struct Choices<'a>(pub &'a [u8]);

impl Choices<'_> {
    fn take<const N: usize>(&mut self) -> [u8; N] {
        let mut taken = [0; N];
        let count = N.min(self.0.len());
        let (now, later) = self.0.split_at(count);
        // The bytes become the most significant ones, which matter most for a choice.
        taken[N - count..].copy_from_slice(now);
        self.0 = later;
        taken
    }
}

impl RngCore for Choices<'_> {
    fn next_u32(&mut self) -> u32 {
        u32::from_le_bytes(self.take())
    }

    fn next_u64(&mut self) -> u64 {
        u64::from_le_bytes(self.take())
    }

    fn fill_bytes(&mut self, bytes: &mut [u8]) {
        bytes.fill_with(|| self.take::<1>()[0]);
    }
}

/// Numbers that are unusual for sizes, counts and rates.
const ODD: [u64; 12] =
    [0, 1, 2, 0x7f, 0x80, 0xff, 0x7fff, 0xffff, 0x7fff_ffff, 0xffff_ffff, 1 << 40, u64::MAX];

pub fn damage_bytes(bytes: &mut Vec<u8>, random: &mut Choices) {
    // Headers matter more than the bytes after them.
    let near = if random.random_bool(0.5) { bytes.len().min(512) } else { bytes.len() };
    let at = random.random_range(0..near.max(1)).min(bytes.len());
    let count = random.random_range(1..=64).min(bytes.len() - at);
    match random.random_range(0..6) {
        0 => bytes.truncate(at),
        1 if count > 0 => bytes[at] ^= 1 << random.random_range(0..8),
        2 => {
            let odd = ODD.choose(random).unwrap().to_le_bytes();
            let width = [1, 2, 4, 8].choose(random).copied().unwrap().min(bytes.len() - at);
            bytes[at..at + width].copy_from_slice(&odd[..width]);
        }
        3 => drop(bytes.drain(at..at + count)),
        4 => {
            let again = bytes[at..at + count].to_vec();
            bytes.splice(at..at, again);
        }
        _ => bytes[at..at + count].fill_with(|| random.random()),
    }
}

/// Changes or removes one nested value.
pub fn damage_json(value: &mut Value, random: &mut Choices) {
    match value {
        Value::Object(entries) if !entries.is_empty() && random.random_bool(0.95) => {
            let key = entries.keys().nth(random.random_range(0..entries.len())).unwrap().clone();
            if random.random_bool(0.05) {
                drop(entries.remove(&key));
            } else {
                damage_json(&mut entries[&key], random);
            }
        }
        Value::Array(items) if !items.is_empty() && random.random_bool(0.8) => {
            let at = random.random_range(0..items.len());
            match random.random_range(0..8) {
                0 => drop(items.remove(at)),
                1 => items.push(items[at].clone()),
                _ => damage_json(&mut items[at], random),
            }
        }
        other => {
            let odd = *ODD.choose(random).unwrap();
            let near = other.as_u64().unwrap_or(1).wrapping_add(random.random_range(0..3)).wrapping_sub(1);
            let values = [
                json!(odd),
                json!(near),
                json!(-1),
                json!(1e38),
                json!(-0.5),
                json!(1e-30),
                json!(""),
                json!("\0../\u{202e}"),
                json!(null),
                json!([]),
                json!({}),
                json!(true),
            ];
            *other = values.choose(random).unwrap().clone();
        }
    }
}

/// Changes one word of a text; a text that is JSON is damaged as JSON.
fn damage_words(text: &mut String, random: &mut Choices) {
    if let Ok(mut value @ (Value::Object(_) | Value::Array(_))) = serde_json::from_str(text) {
        damage_json(&mut value, random);
        *text = value.to_string();
        return;
    }
    const WORDS: [&str; 12] =
        ["", "0", "-1", "1", "2.5", "1e-30", "3e38", "1e39", "NaN", "inf", "-0", "340282350000000000000"];
    let mut words: Vec<String> = text.split(' ').map(str::to_string).collect();
    let at = random.random_range(0..words.len());
    match random.random_range(0..4) {
        0 => drop(words.remove(at)),
        1 => words.push(words[at].clone()),
        _ => words[at] = WORDS.choose(random).unwrap().to_string(),
    }
    *text = words.join(" ");
}

/// Damages one entry of the metadata, which is a JSON object within a string.
fn damage_metadata(header: &mut Value, random: &mut Choices) -> Option<()> {
    let entry = header.get_mut("__metadata__")?.get_mut("ownvoice")?;
    let mut metadata: BTreeMap<String, String> = serde_json::from_str(entry.as_str()?).ok()?;
    let key = metadata.keys().nth(random.random_range(0..metadata.len().max(1)))?.clone();
    damage_words(metadata.get_mut(&key)?, random);
    *entry = json!(serde_json::to_string(&metadata).unwrap());
    Some(())
}

/// Damages the header of a safetensors file as JSON, or any bytes.
pub fn damage_tensors(bytes: &mut Vec<u8>, random: &mut Choices) {
    // Earlier damage may have changed the length.
    let end = u64::from_le_bytes(bytes[..8].try_into().unwrap()).saturating_add(8) as usize;
    let header = bytes.get(8..end).and_then(|header| serde_json::from_slice::<Value>(header).ok());
    match header.filter(|_| random.random_bool(0.7)) {
        Some(mut header) => {
            if random.random_bool(0.6) || damage_metadata(&mut header, random).is_none() {
                damage_json(&mut header, random);
            }
            let header = header.to_string();
            bytes.splice(..end, [&(header.len() as u64).to_le_bytes(), header.as_bytes()].concat());
        }
        None => damage_bytes(bytes, random),
    }
}

pub fn with_damage(bytes: &[u8], random: &mut Choices, damage: fn(&mut Vec<u8>, &mut Choices)) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..random.random_range(1..4) {
        if bytes.len() >= 8 {
            damage(&mut bytes, random);
        }
    }
    bytes
}
