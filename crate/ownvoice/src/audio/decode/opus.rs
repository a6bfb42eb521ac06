//! Opus (RFC 6716) by opus-decoder, with the header of RFC 7845: pre-skip, gain, and the mapping of more than two channels.
//!
//! Packets are split here, since opus-decoder 0.1.1 refuses those of more than 1,500 bytes, and does not know the framing of several streams.

use opus_decoder::OpusDecoder;
use symphonia::core::{codecs::audio::AudioCodecParameters, packet::Packet};

use super::Decoded;
use crate::{Error, Result};

/// The sample rate that Opus decodes to.
const RATE_HZ: u32 = 48_000;
/// The longest frame, 60 ms.
const MAX_FRAME: usize = 2880;

/// The decoder of an Opus track.
pub struct OpusStream {
    /// A decoder of one or two channels for each stream; those of two are first.
    streams: Vec<(OpusDecoder, usize)>,
    /// The decoded channel of each channel of the track, `None` for a silent one.
    mapping: Vec<Option<usize>>,
    pre_skip: usize,
    gain: f32,
}

impl OpusStream {
    /// Reads the header, which Ogg, Matroska and MP4 all hand over. A track without it has the channels of its container, one or two.
    pub fn new(parameters: &AudioCodecParameters) -> Result<Self> {
        let head =
            parameters.extra_data.as_deref().filter(|head| head.starts_with(b"OpusHead") && head.len() >= 19);
        let number = |at: usize| head.map_or(0, |head| u16::from_le_bytes([head[at], head[at + 1]]));
        let of_container = || parameters.channels.as_ref().map_or(1, |channels| channels.count());
        let channels = head.map_or_else(of_container, |head| usize::from(head[9]));
        let (count, coupled, mapping) = match head.and_then(|head| head.get(18..21 + channels)) {
            Some(&[family, count, coupled, ref mapping @ ..]) if family > 0 => (
                count.into(),
                coupled.into(),
                mapping.iter().map(|&at| (at < 255).then_some(at.into())).collect(),
            ),
            _ => (1, channels.saturating_sub(1), (0..channels).map(Some).collect::<Vec<Option<usize>>>()),
        };
        if count == 0 || coupled > count || mapping.iter().flatten().any(|&at| at >= count + coupled) {
            return Err(Error::audio_unreadable(format!(
                "Opus with {channels} channels and a header that does not describe them"
            )));
        }
        let stream = |index: usize| {
            let channels = if index < coupled { 2 } else { 1 };
            OpusDecoder::new(RATE_HZ, channels).map(|decoder| (decoder, channels))
        };
        let streams = (0..count).map(stream).collect::<std::result::Result<_, _>>();
        let streams = streams.map_err(|error| Error::audio_unreadable(format!("Opus: {error}")))?;
        // In 256ths of a decibel.
        let gain = 10f32.powf(f32::from(number(16) as i16) / 256.0 / 20.0);
        Ok(Self { streams, mapping, pre_skip: number(10).into(), gain })
    }

    /// Returns the samples at the beginning that are no part of the recording.
    pub fn pre_skip(&self) -> usize {
        self.pre_skip
    }

    /// Decodes one packet; returns `None` if it is damaged.
    pub fn decode(&mut self, packet: &Packet) -> Option<Decoded> {
        let mut rest = &packet.data[..];
        let mut decoded: Vec<Vec<f32>> = Vec::new();
        let last = self.streams.len() - 1;
        for (index, (decoder, channels)) in self.streams.iter_mut().enumerate() {
            let mut planes = vec![Vec::new(); *channels];
            for frame in take_frames(&mut rest, index < last)? {
                let mut part = vec![0.0; *channels * MAX_FRAME];
                let length = decoder.decode_float(&frame, &mut part, false).ok()?;
                for (channel, plane) in planes.iter_mut().enumerate() {
                    plane.extend(part[..*channels * length].iter().skip(channel).step_by(*channels));
                }
            }
            decoded.extend(planes);
        }
        // The end of the last packet may be no part of the recording.
        let length = decoded.iter().map(Vec::len).min()?.saturating_sub(packet.trim_end.get() as usize);
        let channels = self.mapping.len();
        let mut interleaved = vec![0.0; channels * length];
        for (channel, from) in self.mapping.iter().enumerate() {
            let Some(from) = from else { continue };
            for (to, x) in interleaved.iter_mut().skip(channel).step_by(channels).zip(&decoded[*from]) {
                *to = self.gain * x;
            }
        }
        Some(Decoded { interleaved, channels, sample_rate_hz: RATE_HZ })
    }
}

/// Takes a packet from bytes and splits it into packets of one frame each (RFC 6716, section 3.2).
///
/// * `delimited`: whether another packet follows, so that the size of the last frame is stated too (appendix B)
fn take_frames(bytes: &mut &[u8], delimited: bool) -> Option<Vec<Vec<u8>>> {
    let toc = take(bytes, 1)?[0];
    let (mut padding, mut sizes) = (0, Vec::new());
    let (count, has_sizes) = match toc & 3 {
        0 => (1, true),
        1 => (2, false),
        2 => (2, true),
        _ => {
            let header = take(bytes, 1)?[0];
            if header & 0x40 != 0 {
                loop {
                    let byte = take(bytes, 1)?[0];
                    padding += usize::from(byte.min(254));
                    if byte < 255 {
                        break;
                    }
                }
            }
            (usize::from(header & 0x3f), header & 0x80 != 0)
        }
    };
    if has_sizes {
        for _ in 1..count {
            sizes.push(take_size(bytes)?);
        }
    }
    let stated = if delimited { Some(take_size(bytes)?) } else { None };
    let there = bytes.len().checked_sub(padding)?;
    match stated {
        _ if count == 0 => return None,
        Some(size) if has_sizes => sizes.push(size),
        Some(size) => sizes.resize(count, size),
        None if has_sizes => sizes.push(there.checked_sub(sizes.iter().sum())?),
        None if there.is_multiple_of(count) => sizes.resize(count, there / count),
        None => return None,
    }
    let frames = sizes.into_iter().map(|size| Some([&[toc & !3], take(bytes, size)?].concat())).collect();
    take(bytes, padding)?;
    frames
}

fn take<'a>(bytes: &mut &'a [u8], length: usize) -> Option<&'a [u8]> {
    let (taken, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    Some(taken)
}

/// Takes the size of a frame, of one or two bytes.
fn take_size(bytes: &mut &[u8]) -> Option<usize> {
    let first = usize::from(take(bytes, 1)?[0]);
    Some(if first < 252 { first } else { first + 4 * usize::from(take(bytes, 1)?[0]) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_are_split_by_their_code() {
        let frames = |mut packet: &[u8]| take_frames(&mut packet, false);
        let split = |frames: &[&[u8]]| Some(frames.iter().map(|frame| frame.to_vec()).collect::<Vec<_>>());
        assert_eq!(frames(&[0x78, 1, 2, 3]), split(&[&[0x78, 1, 2, 3]]));
        assert_eq!(frames(&[0x79, 1, 2, 3, 4]), split(&[&[0x78, 1, 2], &[0x78, 3, 4]]));
        assert_eq!(frames(&[0x7a, 1, 9, 8, 7]), split(&[&[0x78, 9], &[0x78, 8, 7]]));
        assert_eq!(frames(&[0x7b, 3, 1, 2, 3]), split(&[&[0x78, 1], &[0x78, 2], &[0x78, 3]]));
        assert_eq!(
            frames(&[0x7b, 0xc2, 2, 1, 5, 6, 7, 0, 0]),
            split(&[&[0x78, 5], &[0x78, 6, 7]]),
            "lengths and padding"
        );
        let long = [vec![0x7a, 252, 1], vec![1; 256], vec![2; 5]].concat();
        assert_eq!(frames(&long).unwrap().iter().map(Vec::len).collect::<Vec<_>>(), [257, 6]);
        for damaged in [
            &[][..],
            &[0x79, 1],
            &[0x7a, 9, 1],
            &[0x7b],
            &[0x7b, 0],
            &[0x7b, 0x42, 9, 1],
            &[0x7b, 0x82, 9, 1],
        ] {
            assert_eq!(frames(damaged), None, "{damaged:?}");
        }
        // Each but the last of several streams states the size of its last frame.
        for (packet, expected) in [
            (&[0x78, 2, 1, 2, 9][..], vec![vec![0x78, 1, 2]]),
            (&[0x79, 1, 1, 2, 9], vec![vec![0x78, 1], vec![0x78, 2]]),
            (&[0x7a, 1, 2, 1, 2, 3, 9], vec![vec![0x78, 1], vec![0x78, 2, 3]]),
            (&[0x7b, 0x42, 1, 1, 5, 6, 0, 9], vec![vec![0x78, 5], vec![0x78, 6]]),
            (&[0x7b, 0x82, 1, 2, 5, 6, 7, 9], vec![vec![0x78, 5], vec![0x78, 6, 7]]),
        ] {
            let mut rest = packet;
            assert_eq!((take_frames(&mut rest, true), rest), (Some(expected), &[9][..]), "{packet:?}");
        }
    }
}
