//! A warm start: a training that begins with the weights of another base, as far as both models have weights of the same name.

use burn_fused::weights::HostWeights;
use ownvoice::model::TacotronConfig;

/// The base that a training begins with.
pub struct WarmStart {
    pub config: TacotronConfig,
    pub speakers: Vec<String>,
    pub weights: HostWeights,
}

impl WarmStart {
    /// Returns the weights in the shapes of a model with `config` and `speakers`. New speakers start at the mean of the others. Weights for new inputs
    /// start at zero.
    pub fn fit(mut self, config: &TacotronConfig, speakers: &[String]) -> HostWeights {
        if let Some((shape, table)) = self.weights.remove("speakers") {
            let width = shape[1];
            let mean: Vec<f32> = (0..width)
                .map(|column| table.iter().skip(column).step_by(width).sum::<f32>() / shape[0] as f32)
                .collect();
            let row = |name: &String| {
                self.speakers
                    .iter()
                    .position(|known| known == name)
                    .map_or(&mean[..], |row| &table[row * width..][..width])
            };
            let rows: Vec<f32> = speakers.iter().flat_map(|name| row(name).to_vec()).collect();
            self.weights.insert("speakers".into(), (vec![speakers.len(), width], rows));
        }
        let (from, to) = (self.config.context_width(), config.context_width());
        if from < to && self.config.reduction == config.reduction {
            for (name, before) in
                [("decoder.first.w_ih", 0), ("decoder.projection.weight", config.decoder_width)]
            {
                if let Some((shape, values)) = self.weights.remove(name) {
                    self.weights
                        .insert(name.into(), widen(&shape, &values, before, config.reduction, from, to));
                }
            }
        }
        self.weights
    }
}

/// Inserts rows of zeros into a matrix `[before + blocks * from + rest, columns]`, so that each block has `to` rows instead of `from`.
fn widen(
    shape: &[usize],
    values: &[f32],
    before: usize,
    blocks: usize,
    from: usize,
    to: usize,
) -> (Vec<usize>, Vec<f32>) {
    let columns = shape[1];
    let (head, rest) = values.split_at(before * columns);
    let (context, tail) = rest.split_at(blocks * from * columns);
    let mut widened = head.to_vec();
    for block in context.chunks_exact(from * columns) {
        widened.extend_from_slice(block);
        widened.extend(std::iter::repeat_n(0.0, (to - from) * columns));
    }
    widened.extend_from_slice(tail);
    (vec![shape[0] + blocks * (to - from), columns], widened)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_padded_with_zeros() {
        let values: Vec<f32> = (1..=6).map(|value| value as f32).collect();
        // One row before, two blocks of two rows, one row after.
        let (shape, widened) = widen(&[6, 1], &values, 1, 2, 2, 3);
        assert_eq!((shape, widened), (vec![8, 1], vec![1.0, 2.0, 3.0, 0.0, 4.0, 5.0, 0.0, 6.0]));
    }

    #[test]
    fn speakers_are_found_by_name() {
        let config = TacotronConfig::tiny(3);
        let table = (vec![2, 1], vec![1.0, 3.0]);
        let start = WarmStart {
            config: config.clone(),
            speakers: vec!["a".into(), "b".into()],
            weights: HostWeights::from([("speakers".into(), table)]),
        };
        let fitted = start.fit(&config, &["b".into(), "new".into(), "a".into()]);
        assert_eq!(fitted["speakers"], (vec![3, 1], vec![3.0, 2.0, 1.0]));
    }
}
