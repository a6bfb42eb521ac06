// A temporary folder with the tests' tiny base in `base`, for the examples in the documentation.
{
    let folder = tempfile::tempdir().unwrap();
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    for (from, to) in [
        ("tests/fixtures/tiny-base/manifest.json", "base/manifest.json"),
        ("tests/fixtures/tiny-base/weights.safetensors", "base/weights.safetensors"),
        ("models/base/aligner.safetensors", "base/aligner.safetensors"),
        ("models/lexicon/en.lex", "lexicon/en.lex"),
    ] {
        let to = folder.path().join(to);
        std::fs::create_dir_all(to.parent().unwrap()).unwrap();
        std::fs::copy(root.join(from), to).unwrap();
    }
    folder
}
