//! Pretraining shared by processes that `mpirun` starts: the same losses as one, the death of one, and going on alone.
//!
//! Needs Open MPI and the feature `mpi`; without, these tests are skipped and say so. `cargo xtask test` installs it where it can.

#[cfg(all(feature = "mpi", target_os = "linux"))]
mod with_mpi {
    use ownvoice::{
        Mel,
        audio::mel::MelConfig,
        train::features::{FeatureWriter, Spoken},
        weights::deserialize,
    };
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;
    use serde_json::Value;
    use std::{
        fs,
        path::{Path, PathBuf},
        process::{Command, Stdio},
        thread,
        time::{Duration, Instant},
    };
    use tempfile::TempDir;

    /// Features of noise, and a folder for a base with what a base needs.
    struct Workplace(TempDir);

    impl Workplace {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let mut random = ChaCha8Rng::seed_from_u64(1);
            let mut writer =
                FeatureWriter::create(&folder.path().join("features"), MelConfig::speech_16k()).unwrap();
            for number in 0..100 {
                let durations = vec![random.random_range(3..9); 10];
                let frames = durations.iter().sum::<u32>() as usize;
                writer
                    .push(Spoken {
                        speaker: ["a", "b"][number % 2],
                        id: number.to_string(),
                        text: String::new(),
                        symbols: durations.iter().map(|_| random.random_range(5..30)).collect(),
                        mel: &Mel {
                            mels: 80,
                            data: (0..frames * 80).map(|_| random.random_range(-8.0..0.0)).collect(),
                        },
                        durations: Some(durations),
                        f0_hz: &[],
                    })
                    .unwrap();
            }
            writer.finish().unwrap();
            fs::create_dir_all(folder.path().join("base")).unwrap();
            fs::create_dir_all(folder.path().join("lexicon")).unwrap();
            fs::copy("../models/lexicon/en.lex", folder.path().join("lexicon/en.lex")).unwrap();
            let aligner = "aligner.safetensors";
            fs::copy(Path::new("../models/base").join(aligner), folder.path().join("base").join(aligner))
                .unwrap();
            Self(folder)
        }

        fn run(&self, name: &str) -> PathBuf {
            self.0.path().join(name)
        }

        /// A pretraining by as many ranks; one needs no `mpirun`.
        fn pretrain(&self, ranks: usize, steps: usize, run: &str, more: &[&str]) -> Command {
            let program = env!("CARGO_BIN_EXE_ownvoice");
            let mut command = Command::new(if ranks > 1 { "mpirun" } else { program });
            if ranks > 1 {
                let count = ranks.to_string();
                command
                    .args(["--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-n", &count])
                    .arg(program);
            }
            command.args(["pretrain", "--preset", "tiny", "--batch", "4", "--json", "--steps"]);
            command.arg(steps.to_string()).arg("--data").arg(self.0.path().join("features"));
            command.arg("--out").arg(self.0.path().join("base")).arg("--run").arg(self.run(run)).args(more);
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
            command
        }

        /// Its curve: steps and losses, without seconds.
        fn curve(&self, run: &str) -> Vec<Vec<f32>> {
            let text = fs::read_to_string(self.run(run).join("curve.csv")).unwrap_or_default();
            let numbers = |line: &str| {
                let columns = line.split(',').enumerate().filter(|(at, text)| *at != 1 && !text.is_empty());
                columns.map(|(_, text)| text.parse().unwrap()).collect()
            };
            text.lines().skip(1).map(numbers).collect()
        }

        /// Steps that its checkpoint has seen.
        fn saved_steps(&self, run: &str) -> usize {
            let bytes = fs::read(self.run(run).join("checkpoint.safetensors")).unwrap();
            deserialize(&bytes).unwrap().1["updates"].parse().unwrap()
        }
    }

    /// The result that a command printed, after a success.
    fn finished(mut command: Command) -> Value {
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let lines = String::from_utf8(output.stdout).unwrap();
        assert_eq!(lines.lines().count(), 1, "one rank speaks for all: {lines}");
        serde_json::from_str(&lines).unwrap()
    }

    #[test]
    fn two_ranks_have_the_losses_of_one() {
        let place = Workplace::new();
        let one = finished(place.pretrain(1, 60, "one", &[]));
        let two = finished(place.pretrain(2, 60, "two", &[]));
        let (expected, found) = (place.curve("one"), place.curve("two"));
        assert_eq!((expected.len(), found.len()), (3, 3));
        for (found, expected) in found.iter().flatten().zip(expected.iter().flatten()) {
            assert!((found - expected).abs() <= 1e-4, "{found}, {expected}");
        }
        let loss = |result: &Value| result["held_out_loss"].as_f64().unwrap();
        assert!((loss(&one) - loss(&two)).abs() < 1e-4);
    }

    #[test]
    fn a_rank_that_dies_ends_the_run_with_a_code_and_a_checkpoint_that_one_rank_goes_on_from() {
        let place = Workplace::new();
        let run = place.pretrain(2, 100_000, "run", &[]).spawn().unwrap();
        let begun = Instant::now();
        while place.curve("run").len() < 2 {
            assert!(begun.elapsed() < Duration::from_secs(300), "it trains");
            thread::sleep(Duration::from_millis(50));
        }
        kill(rank_process(1, &place.run("run")));
        let output = run.wait_with_output().unwrap();
        assert!(!output.status.success());
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains(r#""code":"rank-lost""#), "{said}");
        let steps = place.saved_steps("run");
        assert!(steps >= 40, "{steps} steps were done");
        finished(place.pretrain(1, steps.next_multiple_of(20) + 20, "run", &["--resume"]));
        let last = place.curve("run").pop().unwrap();
        assert_eq!(last[0] as usize, steps.next_multiple_of(20) + 20);
        assert!(last.iter().all(|value| value.is_finite()));
    }

    #[test]
    fn verbs_that_are_not_shared_say_so() {
        let output = Command::new("mpirun")
            .args([
                "--allow-run-as-root",
                "--oversubscribe",
                "-n",
                "2",
                env!("CARGO_BIN_EXE_ownvoice"),
                "bench",
                "--json",
            ])
            .output()
            .unwrap();
        assert!(!output.status.success());
        assert!(String::from_utf8_lossy(&output.stderr).contains(r#""code":"option-invalid""#));
    }

    /// The process of a rank whose arguments name a folder.
    fn rank_process(rank: usize, folder: &Path) -> i32 {
        let of_ours = |process: &PathBuf| {
            let holds = |file: &str, text: &str| {
                fs::read(process.join(file))
                    .is_ok_and(|bytes| bytes.split(|byte| *byte == 0).any(|part| part == text.as_bytes()))
            };
            holds("cmdline", &folder.to_string_lossy())
                && holds("environ", &format!("OMPI_COMM_WORLD_RANK={rank}"))
        };
        let processes = fs::read_dir("/proc").unwrap().map(|entry| entry.unwrap().path());
        let found = processes.into_iter().find(of_ours).expect("the rank runs");
        found.file_name().unwrap().to_string_lossy().parse().unwrap()
    }

    fn kill(process: i32) {
        let killed = Command::new("kill").args(["-9", &process.to_string()]).status().unwrap();
        assert!(killed.success());
    }
}

#[cfg(not(all(feature = "mpi", target_os = "linux")))]
#[test]
#[ignore = "needs Open MPI on Linux, and `--features mpi`"]
fn two_ranks_have_the_losses_of_one() {}

#[cfg(not(all(feature = "mpi", target_os = "linux")))]
#[test]
#[ignore = "needs Open MPI on Linux, and `--features mpi`"]
fn a_rank_that_dies_ends_the_run_with_a_code_and_a_checkpoint_that_one_rank_goes_on_from() {}
