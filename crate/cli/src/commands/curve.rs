//! Draws the loss curve of a run.

use plotters::prelude::*;
use std::{fs, path::Path};

use ownvoice::{Error, Result};

const SIZE: (u32, u32) = (960, 480);
const COLOURS: [RGBColor; 5] = [
    RGBColor(178, 58, 42),
    RGBColor(35, 92, 140),
    RGBColor(60, 130, 70),
    RGBColor(140, 90, 160),
    RGBColor(40, 40, 40),
];

/// The name and the points of a line.
type Series = (String, Vec<(f32, f32)>);

/// Draws the loss curve of a CSV file as an SVG file, one line per loss, with a logarithmic axis.
pub fn plot(csv: &Path, svg: &Path) -> Result<()> {
    let text = fs::read_to_string(csv).map_err(Error::io(csv))?;
    let series = parse(&text);
    let points = || series.iter().flat_map(|(_, points)| points.iter().copied());
    let last_step = points().map(|(step, _)| step).fold(1.0, f32::max);
    let (least, most) = points()
        .fold((f32::MAX, f32::MIN_POSITIVE), |(least, most), (_, loss)| (least.min(loss), most.max(loss)));
    let draw = || -> std::result::Result<(), Box<dyn std::error::Error>> {
        let root = SVGBackend::new(svg, SIZE).into_drawing_area();
        root.fill(&WHITE)?;
        let mut chart = ChartBuilder::on(&root)
            .margin(16)
            .x_label_area_size(36)
            .y_label_area_size(56)
            .build_cartesian_2d(0.0..last_step, (least * 0.9..most * 1.1).log_scale())?;
        chart.configure_mesh().x_desc("step").y_desc("loss").light_line_style(TRANSPARENT).draw()?;
        for ((name, points), colour) in series.iter().zip(COLOURS) {
            let line = chart.draw_series(LineSeries::new(points.iter().copied(), colour.stroke_width(2)))?;
            line.label(name)
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 20, y)], colour.stroke_width(2)));
        }
        chart
            .configure_series_labels()
            .background_style(WHITE.mix(0.8))
            .border_style(BLACK.mix(0.3))
            .draw()?;
        root.present()?;
        Ok(())
    };
    draw().map_err(|error| Error::io(svg)(std::io::Error::other(error.to_string())))
}

/// Returns the losses of a run by name, without the steps at which a loss was not computed.
fn parse(csv: &str) -> Vec<Series> {
    let mut lines = csv.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let names = lines.next().unwrap_or_default();
    let rows: Vec<Vec<&str>> = lines.collect();
    let column = |index: usize| -> Vec<(f32, f32)> {
        let point = |row: &Vec<&str>| {
            Some((
                row.first()?.parse().ok()?,
                row.get(index)?.parse::<f32>().ok().filter(|loss| *loss > 0.0)?,
            ))
        };
        rows.iter().filter_map(point).collect()
    };
    (2..names.len()).map(|index| (names[index].replace('_', "-"), column(index))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_losses_of_a_run_are_drawn() {
        let folder = tempfile::tempdir().unwrap();
        let (csv, svg) = (folder.path().join("curve.csv"), folder.path().join("curve.svg"));
        fs::write(&csv, "step,seconds,before,after,held_out\n20,1.0,2.0,1.9,\n40,2.0,1.0,0.9,0.95\n")
            .unwrap();
        let series = parse(&fs::read_to_string(&csv).unwrap());
        assert_eq!(series[0], ("before".to_string(), vec![(20.0, 2.0), (40.0, 1.0)]));
        assert_eq!(series[2], ("held-out".to_string(), vec![(40.0, 0.95)]));
        plot(&csv, &svg).unwrap();
        let drawn = fs::read_to_string(&svg).unwrap();
        assert!(
            ["before", "after", "held-out"].iter().all(|name| drawn.contains(name))
                && drawn.matches("<polyline").count() >= 2,
            "{drawn}"
        );
    }
}
