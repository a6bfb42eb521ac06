//! The voices of speech engines that a corpus is made of.

use super::{engines::SpeechEngine, perturbation::Perturbation};

/// Speakers for tests, which nothing may be trained on.
pub const HELD_OUT: [&str; 2] = ["flite-awb", "festival-kdlpc16k"];

/// A speaker of a corpus.
#[derive(Debug, Clone, PartialEq)]
pub struct Speaker {
    pub name: String,
    pub engine: SpeechEngine,
    /// The change that makes this speaker of the engine's voice.
    pub perturbation: Perturbation,
    /// The share of the corpus, relative to the other speakers.
    pub weight: f32,
}

impl Speaker {
    /// A speaker with an engine's voice as it is.
    pub fn new(name: &str, engine: SpeechEngine, weight: f32) -> Self {
        Self { name: name.to_string(), engine, perturbation: Perturbation::NONE, weight }
    }

    /// Another speaker, made from this one's voice.
    fn perturbed(&self, perturbation: Perturbation) -> Self {
        let name = format!("{}@{}x{}", self.name, perturbation.formants, perturbation.pitch);
        Self { name, engine: self.engine.clone(), perturbation, weight: self.weight * PERTURBED_SHARE }
    }
}

/// Formants and pitch of the speakers that are made from each recorded voice: first both changed by the speed, then each alone.
pub const PERTURBATIONS: [(f32, f32); 8] = [
    (0.86, 0.86),
    (0.93, 0.93),
    (1.08, 1.08),
    (1.16, 1.16),
    (0.9, 1.1),
    (1.1, 0.88),
    (1.0, 0.8),
    (1.0, 1.25),
];
/// The share of the corpus of each of these speakers, relative to its original voice.
const PERTURBED_SHARE: f32 = 0.2;

/// Returns all speakers for training. Recorded voices have the largest shares, formant synthesis the smallest.
pub fn training_speakers() -> Vec<Speaker> {
    let voices = [
        Speaker::new("flite-slt", SpeechEngine::Flite { voice: "slt" }, 24.0),
        Speaker::new("flite-rms", SpeechEngine::Flite { voice: "rms" }, 24.0),
        Speaker::new("flite-kal16", SpeechEngine::Flite { voice: "kal16" }, 12.0),
        Speaker::new(
            "festival-us-slt-hts",
            SpeechEngine::Festival { procedure: "voice_cmu_us_slt_arctic_hts" },
            10.0,
        ),
        Speaker::new("festival-kallpc16k", SpeechEngine::Festival { procedure: "voice_kal_diphone" }, 8.0),
    ];
    let mut speakers = Vec::new();
    for voice in voices {
        speakers
            .extend(PERTURBATIONS.map(|(formants, pitch)| voice.perturbed(Perturbation { formants, pitch })));
        speakers.push(voice);
    }
    let variants = [
        ("f2", 50),
        ("f5", 40),
        ("m3", 45),
        ("m7", 50),
        ("adam", 50),
        ("linda", 50),
        ("max", 50),
        ("anika", 50),
    ];
    for (variant, pitch) in variants {
        speakers.push(Speaker::new(
            &format!("espeak-en-us-{variant}"),
            SpeechEngine::Espeak { variant, pitch, words_per_minute: 155 },
            2.0,
        ));
    }
    speakers
}

/// Returns voices of other languages, for models that learn from sound alone. They read English sentences by their own language's rules.
pub fn foreign_speakers() -> Vec<Speaker> {
    let voices = [
        ("italian-lp", "voice_lp_diphone"),
        ("italian-pc", "voice_pc_diphone"),
        ("czech-dita", "voice_czech_dita"),
        ("czech-krb", "voice_czech_krb"),
        ("czech-machac", "voice_czech_machac"),
        ("czech-ph", "voice_czech_ph"),
        ("finnish-lj", "voice_suo_fi_lj_diphone"),
        ("finnish-mv", "voice_hy_fi_mv_diphone"),
        ("catalan-ona", "voice_upc_ca_ona_hts"),
    ];
    voices
        .map(|(name, procedure)| {
            Speaker::new(&format!("festival-{name}"), SpeechEngine::Festival { procedure }, 1.0)
        })
        .into()
}

/// Returns the speakers of [`HELD_OUT`].
pub fn held_out_speakers() -> Vec<Speaker> {
    let engines =
        [SpeechEngine::Flite { voice: "awb" }, SpeechEngine::Festival { procedure: "voice_ked_diphone" }];
    HELD_OUT.iter().zip(engines).map(|(name, engine)| Speaker::new(name, engine, 1.0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn held_out_speakers_are_not_trained_on() {
        let training = training_speakers();
        assert!(training.len() >= 20);
        let clean = |speaker: &Speaker| HELD_OUT.iter().all(|held_out| !speaker.name.starts_with(held_out));
        assert!(training.iter().all(clean));
        let engines: Vec<_> = held_out_speakers().into_iter().map(|speaker| speaker.engine).collect();
        assert!(training.iter().all(|speaker| !engines.contains(&speaker.engine)));
    }
}
