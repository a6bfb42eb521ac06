// Two sentences of a voice that nothing was trained on, for the examples in the documentation.
{
    let fixtures = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures");
    let sentences = std::fs::read(fixtures.join("held-out.json")).unwrap();
    let sentences: serde_json::Value = serde_json::from_slice(&sentences).unwrap();
    let whole = ownvoice::Clip::open(fixtures.join("held-out.wav"), "").unwrap().audio;
    let at = |seconds: &serde_json::Value| {
        let sample = seconds.as_f64().unwrap() * f64::from(whole.sample_rate_hz);
        (sample as usize).min(whole.samples.len())
    };
    let clip = |sentence: &serde_json::Value| ownvoice::Clip {
        audio: ownvoice::Audio {
            samples: whole.samples[at(&sentence["begin"])..at(&sentence["end"])].to_vec(),
            sample_rate_hz: whole.sample_rate_hz,
        },
        text: sentence["text"].as_str().unwrap().into(),
    };
    sentences.as_array().unwrap().iter().take(2).map(clip).collect::<Vec<_>>()
}
