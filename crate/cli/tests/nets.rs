//! Tuning of nets for pictures from folders, IDX files and PyTorch's weights, and what is refused.

use std::{
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
    process::Command,
};

use flate2::{Compression, write::GzEncoder};
use image::{ImageFormat, RgbImage};
use ownvoice::{
    Device,
    nets::{
        NetConfig, NetKind, NetTuneOptions, NetWeights, Picture, PictureNet, TunedNet,
        weights::public_weights,
    },
};
use ownvoice_cli::nets::{NetTuned, TuneNetConfig, pictures::decode, read_weights, tune_net};

/// A picture of stripes, `along` the width or the height, in a grey that depends on `number`.
fn stripes(along: bool, number: usize) -> RgbImage {
    let value = |x: u32, y: u32| {
        let place = if along { y } else { x } as usize + number;
        if (place / 4).is_multiple_of(2) { 40 + 5 * number as u8 } else { 220 - 5 * number as u8 }
    };
    RgbImage::from_fn(40, 32, |x, y| image::Rgb([value(x, y); 3]))
}

/// Writes a folder of two classes with ten pictures each, one half of them JPEG.
fn folder_of_stripes() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (class, along) in [("across", true), ("down", false)] {
        fs::create_dir(folder.path().join(class)).unwrap();
        for number in 0..10 {
            let extension = if number % 2 == 0 { "png" } else { "JPG" };
            let path = folder.path().join(class).join(format!("{number}.{extension}"));
            let format = if number % 2 == 0 { ImageFormat::Png } else { ImageFormat::Jpeg };
            stripes(along, number).save_with_format(path, format).unwrap();
        }
    }
    folder
}

fn config(kind: NetKind, data: &Path, out: PathBuf, options: NetTuneOptions) -> TuneNetConfig {
    let (weights, side, evaluate) = (None, (kind != NetKind::LeNet).then_some(32), None);
    TuneNetConfig { kind, weights, side, data: data.into(), out, evaluate, options }
}

fn code(config: &TuneNetConfig) -> (String, String) {
    let error = tune_net(config, &Device::flex(), &()).unwrap_err();
    (error.code().to_string(), error.to_string())
}

#[test]
fn a_folder_of_pictures_is_learned_and_the_file_names_others() {
    let (data, out) = (folder_of_stripes(), tempfile::tempdir().unwrap());
    let file = out.path().join("net.safetensors");
    let options = NetTuneOptions { iterations: 40, batch: 8, rate: 3e-3, ..NetTuneOptions::default() };
    let mut config = config(NetKind::LeNet, data.path(), file.clone(), options);
    config.evaluate = Some(data.path().into());
    let NetTuned { classes, pictures, held_out: [before, after], accuracy, .. } =
        tune_net(&config, &Device::flex(), &()).unwrap();
    assert_eq!((classes, pictures), (vec!["across".to_string(), "down".to_string()], 20));
    assert!(after.loss < 0.5 * before.loss && after.accuracy == Some(1.0), "{before:?} {after:?}");
    assert_eq!(accuracy, Some((1.0, 20)));

    let net = TunedNet::open(&fs::read(&file).unwrap(), &Device::flex()).unwrap();
    let named = |along: bool| {
        let picture = stripes(along, 3);
        let picture = Picture::from_rgb(40, 32, picture.as_raw(), net.config()).unwrap();
        pollster::block_on(net.name(&[picture])).unwrap().remove(0)
    };
    assert_eq!((named(true).class, named(false).class), (0, 1));
    assert!(
        (named(true).probabilities.iter().sum::<f32>() - 1.0).abs() < 1e-5 && named(true).confidence > 0.5
    );

    // The tuned net is the start of another tuning, of which only the classifier is trained.
    let again = out.path().join("again.safetensors");
    let options = NetTuneOptions { iterations: 2, ..NetTuneOptions::quick() };
    config = TuneNetConfig { weights: Some(file.clone()), out: again.clone(), options, ..config };
    tune_net(&config, &Device::flex(), &()).unwrap();
    let tensors = |path: &Path| NetWeights::from_safetensors(&fs::read(path).unwrap()).unwrap().tensors;
    let (from, to) = (tensors(&file), tensors(&again));
    assert!(from.iter().all(|(name, weight)| (to[name] == *weight) != name.starts_with("fc3")));
    config.kind = NetKind::ResNet18;
    assert_eq!(code(&config).0, "weights-mismatch", "the file says that it is a LeNet");
}

#[test]
fn idx_files_are_read_also_compressed() {
    let (data, out) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let file = |name: &str, bytes: &[u8]| fs::write(data.path().join(name), bytes).unwrap();
    let compressed = |bytes: &[u8]| {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    };
    let mut pictures = vec![0, 0, 8, 3, 0, 0, 0, 6, 0, 0, 0, 8, 0, 0, 0, 8];
    (0..6u8).for_each(|picture| pictures.extend([picture % 2 * 200; 64]));
    let labels = [0, 0, 8, 1, 0, 0, 0, 6, 0, 1, 0, 1, 0, 1];
    file("train-images-idx3-ubyte.gz", &compressed(&pictures));
    file("train-labels-idx1-ubyte", &labels);
    file("t10k-images-idx3-ubyte", &pictures);
    file("t10k-labels-idx1-ubyte", &labels);
    let options = NetTuneOptions { iterations: 1, ..NetTuneOptions::default() };
    let mut config = config(NetKind::LeNet, data.path(), out.path().join("a.safetensors"), options);
    config.evaluate = Some(data.path().into());
    let tuned = tune_net(&config, &Device::flex(), &()).unwrap();
    assert_eq!(
        (tuned.pictures, tuned.classes, tuned.accuracy.unwrap().1),
        (6, vec!["0".into(), "1".into()], 6)
    );

    file("train-labels-idx1-ubyte", &labels[..13]);
    assert_eq!(code(&config).0, "corpus-invalid");
    file("train-labels-idx1-ubyte", &[0, 0, 8, 1, 0, 0, 0, 1, 0]);
    assert!(code(&config).1.contains("1 labels for 6 pictures"));
    file(
        "train-images-idx3-ubyte.gz",
        &compressed(&[0, 0, 8, 3, 255, 255, 255, 255, 255, 255, 255, 255, 0, 0, 1, 0]),
    );
    assert_eq!(code(&config).0, "corpus-invalid");
    file("train-images-idx3-ubyte.gz", &compressed(&pictures)[..20]);
    assert_eq!(code(&config).0, "corpus-invalid");
}

#[test]
fn unusable_pictures_and_classes_are_refused_with_their_codes() {
    let net = NetConfig::of(NetKind::LeNet, 2);
    let png = |width: u32, height: u32| {
        let mut bytes = io::Cursor::new(Vec::new());
        RgbImage::new(width, height).write_to(&mut bytes, ImageFormat::Png).unwrap();
        bytes.into_inner()
    };
    let refused = |bytes: &[u8]| decode(bytes, &net).unwrap_err().code();
    assert_eq!(refused(&png(1, 1)), "picture-size");
    // Only the header says 8,000 x 8,000; the bytes that it promises are not there.
    let mut large = png(8, 8);
    for (place, size) in [(16, 8000u32), (20, 8000)] {
        large[place..place + 4].copy_from_slice(&size.to_be_bytes());
    }
    let crc = {
        let table =
            |byte: u32| (0..8).fold(byte, |c, _| if c & 1 == 1 { 0xedb8_8320 ^ (c >> 1) } else { c >> 1 });
        !large[12..29].iter().fold(!0u32, |c, &byte| table((c ^ u32::from(byte)) & 255) ^ (c >> 8))
    };
    large[29..33].copy_from_slice(&crc.to_be_bytes());
    assert_eq!(refused(&large), "picture-size");
    let whole = png(30, 20);
    assert!(decode(&whole, &net).is_ok());
    assert_eq!(refused(&whole[..whole.len() / 2]), "picture-unreadable");
    assert_eq!(refused(b"GIF89a"), "picture-unreadable");
    assert_eq!(refused(b""), "picture-unreadable");

    let (data, out) = (folder_of_stripes(), tempfile::tempdir().unwrap());
    let config = config(NetKind::LeNet, data.path(), out.path().join("a"), NetTuneOptions::default());
    fs::write(data.path().join("across/broken.png"), "a letter").unwrap();
    let (code_of, message) = code(&config);
    assert!(code_of == "picture-unreadable" && message.contains("broken.png"), "{message}");
    fs::remove_file(data.path().join("across/broken.png")).unwrap();
    fs::create_dir(data.path().join("neither")).unwrap();
    let (code_of, message) = code(&config);
    assert!(code_of == "class-empty" && message.contains("neither"), "{message}");
    fs::remove_dir(data.path().join("neither")).unwrap();
    fs::remove_dir_all(data.path().join("down")).unwrap();
    assert_eq!(code(&config).0, "classes-too-few");
    assert_eq!(code(&TuneNetConfig { data: out.path().join("nowhere"), ..config }).0, "io");
    assert_eq!(fs::read_dir(out.path()).unwrap().count(), 0);
}

/// Returns a Python that has torch, torchvision and timm. The message bypasses libtest's capture, so that `cargo xtask test` counts the test as skipped.
fn python(test: &str) -> Option<String> {
    let python = std::env::var("OWNVOICE_PYTHON").unwrap_or_else(|_| "python3".into());
    let found = Command::new(&python).args(["-c", "import torch, torchvision, timm, safetensors"]).output();
    if found.is_ok_and(|output| output.status.success()) {
        return Some(python);
    }
    let line = format!(
        "\nSKIPPED {test}: {python} has no torch, torchvision, timm and safetensors (OWNVOICE_PYTHON)\n"
    );
    io::stdout().write_all(line.as_bytes()).unwrap();
    None
}

/// PyTorch's state dictionaries are read, and PyTorch reads our files and computes the same.
#[test]
fn weights_go_from_pytorch_and_back() {
    let Some(python) = python("weights_go_from_pytorch_and_back") else { return };
    let (data, out) = (folder_of_stripes(), tempfile::tempdir().unwrap());
    let script = "
import json, sys, timm, torch, torchvision
from safetensors.torch import load_file
step, kind, folder = sys.argv[1:]
make = {'resnet18': lambda n: torchvision.models.resnet18(num_classes=n), 'mobilenetv1': lambda n: timm.create_model('mobilenetv1_100', num_classes=n)}[kind]
if step == 'write':
    torch.save({'state_dict': {'module.' + key: value for key, value in make(7).state_dict().items()}}, f'{folder}/{kind}.pth')
else:
    net = make(2).eval()
    net.load_state_dict(load_file(f'{folder}/{kind}.safetensors'))
    picture = torch.tensor(json.load(open(f'{folder}/picture.json'))).reshape(1, 32, 32, 3).permute(0, 3, 1, 2)
    print(json.dumps(net(picture).softmax(1)[0].tolist()))
";
    for kind in [NetKind::ResNet18, NetKind::MobileNetV1] {
        let run = |step: &str| {
            let folder = out.path().display().to_string();
            let output =
                Command::new(&python).args(["-c", script, step, kind.name(), &folder]).output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            String::from_utf8(output.stdout).unwrap()
        };
        run("write");
        let weights = out.path().join(format!("{}.pth", kind.name()));
        let other = if kind == NetKind::ResNet18 { NetKind::MobileNetV1 } else { NetKind::ResNet18 };
        let read = read_weights(&weights, kind).unwrap().tensors;
        let net = NetConfig { side: 32, ..NetConfig::of(kind, 7) };
        assert_eq!(read.len(), public_weights(&PictureNet::new(&net, 1, &Device::flex()).unwrap()).len());
        let file = out.path().join(format!("{}.safetensors", kind.name()));
        let options = NetTuneOptions { iterations: 2, batch: 4, rate: 1e-4, ..NetTuneOptions::default() };
        let mut config = config(kind, data.path(), file.clone(), options);
        config.weights = Some(weights);
        tune_net(&config, &Device::flex(), &()).unwrap();
        assert_eq!(code(&TuneNetConfig { kind: other, ..config }).0, "weights-mismatch");

        let tuned = TunedNet::open(&fs::read(&file).unwrap(), &Device::flex()).unwrap();
        let picture = Picture::from_rgb(40, 32, stripes(true, 1).as_raw(), tuned.config()).unwrap();
        let NetConfig { mean, deviation, .. } = tuned.config();
        let values = picture.bytes().iter().enumerate();
        let values: Vec<f32> =
            values.map(|(at, &byte)| (f32::from(byte) / 255.0 - mean[at % 3]) / deviation[at % 3]).collect();
        fs::write(out.path().join("picture.json"), serde_json::to_string(&values).unwrap()).unwrap();
        let theirs: Vec<f32> = serde_json::from_str(&run("read")).unwrap();
        let ours = pollster::block_on(tuned.name(&[picture])).unwrap().remove(0).probabilities;
        let same = ours.iter().zip(&theirs).all(|(ours, theirs)| (ours - theirs).abs() < 1e-4);
        assert!(same, "{}: {ours:?} {theirs:?}", kind.name());
    }
}
