//! Pretrains a base and trains a vocoder with two processes that `mpirun` starts: the losses equal those of one process, and a run whose process dies can be
//! resumed by one process.
//!
//! The tests need Open MPI and the feature `mpi`, and are ignored otherwise. `cargo xtask test` installs Open MPI where it can.

#[cfg(all(feature = "mpi", target_os = "linux"))]
mod with_mpi {
    use burn_fused::weights::deserialize;
    use ownvoice::audio::wav;
    use ownvoice_cli::learn::preflight::{RunFacts, preflight};
    use serde_json::Value;
    use std::{
        f32::consts::PI,
        fs,
        path::{Path, PathBuf},
        process::{Command, Stdio},
        thread,
        time::{Duration, Instant},
    };
    use tempfile::TempDir;

    /// Features of noise, and a folder with the files that a base needs.
    struct Workplace(TempDir);

    impl Workplace {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            ownvoice_testing::noise_features::write(&folder.path().join("features"), false);
            fs::create_dir_all(folder.path().join("base")).unwrap();
            fs::create_dir_all(folder.path().join("lexicon")).unwrap();
            fs::copy("../../models/lexicon/en.lex", folder.path().join("lexicon/en.lex")).unwrap();
            let aligner = "aligner.safetensors";
            fs::copy(Path::new("../../models/base").join(aligner), folder.path().join("base").join(aligner))
                .unwrap();
            Self(folder)
        }

        fn run(&self, name: &str) -> PathBuf {
            self.0.path().join(name)
        }

        /// Returns the program, started by `mpirun` if there are several ranks.
        fn program(ranks: usize) -> Command {
            let program = env!("CARGO_BIN_EXE_ownvoice");
            let mut command = Command::new(if ranks > 1 { "mpirun" } else { program });
            if ranks > 1 {
                let count = ranks.to_string();
                command
                    .args(["--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-n", &count])
                    .arg(program);
            }
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
            command
        }

        /// Returns a pretraining by `ranks` processes.
        fn pretrain(&self, ranks: usize, steps: usize, run: &str, more: &[&str]) -> Command {
            let mut command = Self::program(ranks);
            command.args(["pretrain", "--preset", "tiny", "--batch", "4", "--json", "--steps"]);
            command.arg(steps.to_string()).arg("--data").arg(self.0.path().join("features"));
            command.arg("--out").arg(self.0.path().join("base")).arg("--run").arg(self.run(run)).args(more);
            command
        }

        /// Returns a training of the vocoder on tones by `ranks` processes.
        fn train_vocoder(&self, ranks: usize, steps: usize, run: &str, more: &[&str]) -> Command {
            let corpus = self.0.path().join("corpus");
            if !corpus.exists() {
                write_tones(&corpus);
            }
            let mut command = Self::program(ranks);
            command.args(["train-vocoder", "--json", "--steps", &steps.to_string(), "--corpus"]).arg(corpus);
            command.arg("--out").arg(self.0.path().join(format!("{run}.safetensors")));
            command.arg("--run").arg(self.run(run)).args(more);
            command
        }

        fn facts(&self, run: &str) -> RunFacts {
            serde_json::from_slice(&fs::read(self.run(run).join(RunFacts::FILE)).unwrap()).unwrap()
        }

        /// Asserts that two runs have the same losses, and that their facts differ only in the number of ranks.
        fn assert_same(&self, one: &str, two: &str) {
            let (expected, found) = (self.curve(one), self.curve(two));
            assert_eq!((expected.len(), found.len()), (3, 3));
            for (found, expected) in found.iter().flatten().zip(expected.iter().flatten()) {
                assert!((found - expected).abs() <= 1e-4, "{found}, {expected}");
            }
            let (one, two) = (self.facts(one), self.facts(two));
            assert_eq!((one.ranks, two.ranks, one.order.len()), (1, 2, RunFacts::BATCHES));
            assert!(one.order.iter().all(|batch| batch.len() > 1), "{:?}", one.order);
            let facts = preflight(&one, &two).into_iter().filter(|fact| !fact.same);
            assert_eq!(facts.map(|fact| fact.name).collect::<Vec<_>>(), ["ranks"]);
        }

        /// Starts a run and kills a rank once the curve has `lines` lines. Returns the standard error of the run.
        fn kill_rank(&self, mut run: Command, name: &str, rank: usize, lines: usize) -> String {
            let run = run.spawn().unwrap();
            let begun = Instant::now();
            while self.curve(name).len() < lines {
                assert!(begun.elapsed() < Duration::from_secs(300), "the run writes its curve");
                thread::sleep(Duration::from_millis(50));
            }
            kill(rank_process(rank, &self.run(name)));
            let output = run.wait_with_output().unwrap();
            assert!(!output.status.success());
            String::from_utf8_lossy(&output.stderr).into_owned()
        }

        /// Returns the curve of a run: steps and losses, without seconds.
        fn curve(&self, run: &str) -> Vec<Vec<f32>> {
            let text = fs::read_to_string(self.run(run).join("curve.csv")).unwrap_or_default();
            let numbers = |line: &str| {
                let columns = line.split(',').enumerate().filter(|(at, text)| *at != 1 && !text.is_empty());
                columns.map(|(_, text)| text.parse().unwrap()).collect()
            };
            text.lines().skip(1).map(numbers).collect()
        }

        /// Returns the number of steps of a run's checkpoint.
        fn saved_steps(&self, run: &str) -> usize {
            let bytes = fs::read(self.run(run).join("checkpoint.safetensors")).unwrap();
            deserialize(&bytes).unwrap().1["updates"].parse().unwrap()
        }
    }

    /// Returns the result that a successful command prints.
    fn finished(mut command: Command) -> Value {
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let lines = String::from_utf8(output.stdout).unwrap();
        assert_eq!(lines.lines().count(), 1, "only one rank prints: {lines}");
        serde_json::from_str(&lines).unwrap()
    }

    /// Writes sixty recordings of two seconds: tones with harmonics and different pitches.
    fn write_tones(corpus: &Path) {
        const RATE_HZ: u32 = 16_000;
        fs::create_dir_all(corpus.join("wavs")).unwrap();
        let mut metadata = String::new();
        for number in 0..60 {
            let hz = 90.0 + 3.0 * number as f32;
            let value = |at: u32| {
                let phase = 2.0 * PI * hz * at as f32 / RATE_HZ as f32;
                (1..8).map(|harmonic| (harmonic as f32 * phase).sin() / harmonic as f32).sum::<f32>() * 0.1
            };
            let samples: Vec<f32> = (0..2 * RATE_HZ).map(value).collect();
            fs::write(corpus.join(format!("wavs/tone-{number:02}.wav")), wav::write(&samples, RATE_HZ))
                .unwrap();
            metadata += &format!("tone-{number:02}|A tone.\n");
        }
        fs::write(corpus.join("metadata.csv"), metadata).unwrap();
    }

    fn loss(result: &Value) -> f64 {
        result["held_out_loss"].as_f64().unwrap()
    }

    #[test]
    fn two_ranks_have_the_losses_of_one() {
        let place = Workplace::new();
        let one = finished(place.pretrain(1, 60, "one", &[]));
        let two = finished(place.pretrain(2, 60, "two", &[]));
        place.assert_same("one", "two");
        assert!((loss(&one) - loss(&two)).abs() < 1e-4);
    }

    #[test]
    fn two_ranks_train_a_vocoder_as_one() {
        let place = Workplace::new();
        let one = finished(place.train_vocoder(1, 60, "one", &[]));
        let two = finished(place.train_vocoder(2, 60, "two", &[]));
        place.assert_same("one", "two");
        assert!((loss(&one) - loss(&two)).abs() < 1e-4);
    }

    #[test]
    fn a_rank_that_dies_ends_the_run_with_an_error_and_a_checkpoint_that_one_rank_resumes() {
        let place = Workplace::new();
        let stderr = place.kill_rank(place.pretrain(2, 100_000, "run", &[]), "run", 1, 2);
        assert!(stderr.contains(r#""code":"rank-lost""#), "{stderr}");
        let steps = place.saved_steps("run");
        assert!(steps >= 40, "{steps} steps were done");
        finished(place.pretrain(1, steps.next_multiple_of(20) + 20, "run", &["--resume"]));
        let last = place.curve("run").pop().unwrap();
        assert_eq!(last[0] as usize, steps.next_multiple_of(20) + 20);
        assert!(last.iter().all(|value| value.is_finite()));
    }

    /// The first rank writes the checkpoints, every 100 steps, so that its last checkpoint is what remains.
    #[test]
    fn the_death_of_the_first_rank_loses_the_steps_after_its_last_checkpoint() {
        let place = Workplace::new();
        let stderr = place.kill_rank(place.pretrain(2, 100_000, "run", &[]), "run", 0, 6);
        assert!(stderr.contains(r#""code":"rank-lost""#), "{stderr}");
        let steps = place.saved_steps("run");
        assert!(steps >= 100 && steps.is_multiple_of(100), "{steps}");
        finished(place.pretrain(1, steps + 20, "run", &["--resume"]));
        assert_eq!(place.curve("run").pop().unwrap()[0] as usize, steps + 20);
    }

    #[test]
    fn one_rank_resumes_the_vocoder_training_of_two() {
        let place = Workplace::new();
        let stderr = place.kill_rank(place.train_vocoder(2, 100_000, "run", &[]), "run", 1, 1);
        assert!(stderr.contains(r#""code":"rank-lost""#), "{stderr}");
        let steps = place.saved_steps("run");
        assert!(steps >= 20, "{steps} steps were done");
        finished(place.train_vocoder(1, steps.next_multiple_of(20) + 20, "run", &["--resume"]));
        assert_eq!(place.curve("run").pop().unwrap()[0] as usize, steps.next_multiple_of(20) + 20);
    }

    #[test]
    fn verbs_that_ranks_cannot_share_are_refused() {
        let output = Command::new("mpirun")
            .args([
                "--allow-run-as-root",
                "--oversubscribe",
                "-n",
                "2",
                env!("CARGO_BIN_EXE_ownvoice"),
                "man",
                "--json",
            ])
            .output()
            .unwrap();
        assert!(!output.status.success());
        assert!(String::from_utf8_lossy(&output.stderr).contains(r#""code":"option-invalid""#));
    }

    /// Returns the process of a rank whose arguments contain a folder.
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
        // `kill` is a builtin of the shell; a small system has no program of that name.
        let killed = Command::new("sh").args(["-c", &format!("kill -9 {process}")]).status().unwrap();
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
fn two_ranks_train_a_vocoder_as_one() {}

#[cfg(not(all(feature = "mpi", target_os = "linux")))]
#[test]
#[ignore = "needs Open MPI on Linux, and `--features mpi`"]
fn the_death_of_the_first_rank_loses_the_steps_after_its_last_checkpoint() {}

#[cfg(not(all(feature = "mpi", target_os = "linux")))]
#[test]
#[ignore = "needs Open MPI on Linux, and `--features mpi`"]
fn one_rank_resumes_the_vocoder_training_of_two() {}

#[cfg(not(all(feature = "mpi", target_os = "linux")))]
#[test]
#[ignore = "needs Open MPI on Linux, and `--features mpi`"]
fn a_rank_that_dies_ends_the_run_with_an_error_and_a_checkpoint_that_one_rank_resumes() {}
