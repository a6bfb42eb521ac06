//! Log-mels against librosa's values.

use ownvoice_testing::librosa;

#[test]
fn speech_16k() {
    librosa::speech_16k();
}

#[test]
fn nvidia_22k() {
    librosa::nvidia_22k();
}
