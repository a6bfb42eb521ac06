//! The mouth in a posture: lips, teeth, tongue.

use tiny_skia::{PathBuilder, Shader};

use super::{
    Face,
    canvas::{Canvas, colour, mix, oval, rectangle},
};
use crate::lips::visemes::Posture;

/// The height at which the lips meet.
pub(super) const MOUTH: f32 = 0.56;

impl Face {
    pub(super) fn draw_mouth(&self, canvas: &mut Canvas, posture: &Posture) {
        let Posture { jaw, lips, width, tuck, tongue, teeth } = *posture;
        let rounded = (-width).max(0.0);
        let half = self.mouth * (1.0 + 0.22 * width.max(0.0) - 0.42 * rounded - 0.06 * jaw);
        // The gap depends on the lips' own opening and on the jaw.
        let gap = lips * (0.05 + 0.24 * jaw) + 0.03 * rounded * lips;
        let [upper_lip, lower_lip] =
            self.lip_thickness.map(|one| one * (1.0 + 0.3 * rounded) * (0.75 + 0.25 * lips.sqrt().max(0.3)));
        let (top, bottom) = (MOUTH - gap * 0.3, MOUTH + gap * 0.7 - 0.045 * tuck);
        let corner = MOUTH + 0.03 * jaw;
        let thin = 1.0 - 0.75 * tuck;
        let lens = |upper: f32, lower: f32, half: f32| {
            let mut path = PathBuilder::new();
            path.move_to(-half, corner);
            path.cubic_to(-half * 0.5, upper, -half * 0.25, upper, 0.0, upper);
            path.cubic_to(half * 0.25, upper, half * 0.5, upper, half, corner);
            path.cubic_to(half * 0.5, lower, half * 0.25, lower, 0.0, lower);
            path.cubic_to(-half * 0.25, lower, -half * 0.5, lower, -half, corner);
            path.close();
            path.finish().expect("a path")
        };
        let fold = mix(self.skin, [0.15, 0.05, 0.04], 0.55);
        canvas.shade(0.0, bottom + lower_lip + 0.05, half * 0.7, 0.06, fold, 0.6);
        for side in [-1.0, 1.0] {
            let (x, y) = (side * (half + 0.09), corner - 0.02);
            canvas.line(&[[side * self.nose * 1.4, 0.3], [x, y - 0.12], [x, y + 0.05]], 0.02, fold, 0.22);
            canvas.shade(side * (half + 0.015), corner, 0.035, 0.03, fold, 0.6);
        }
        // The lips, the upper one darker and with its bow.
        canvas.fill(
            &lens(MOUTH, bottom + lower_lip * thin, half),
            Shader::SolidColor(colour(mix(self.lip, [1.0, 0.75, 0.72], 0.12), 1.0)),
        );
        let mut bow = PathBuilder::new();
        let peak = top - upper_lip;
        bow.move_to(-half, corner);
        bow.cubic_to(-half * 0.6, peak + 0.02, -half * 0.3, peak - 0.01, -half * 0.15, peak - 0.01);
        bow.quad_to(0.0, peak + 0.03, half * 0.15, peak - 0.01);
        bow.cubic_to(half * 0.3, peak - 0.01, half * 0.6, peak + 0.02, half, corner);
        bow.cubic_to(half * 0.5, top + 0.005, half * 0.25, top, 0.0, top + 0.005);
        bow.cubic_to(-half * 0.25, top, -half * 0.5, top + 0.005, -half, corner);
        bow.close();
        let bow = bow.finish().expect("a path");
        if gap > 0.012 {
            let inside = lens(top, bottom, half * 0.93);
            canvas.fill(&inside, Shader::SolidColor(colour([0.13, 0.03, 0.03], 1.0)));
            let ivory = colour([0.93, 0.9, 0.83], 1.0);
            let breadth = half * 0.78;
            // The upper teeth are fixed to the skull, the lower ones follow the jaw.
            let upper = rectangle(-breadth, MOUTH - 0.13, breadth * 2.0, 0.13 + 0.035);
            let lower_edge = MOUTH + 0.04 + 0.26 * jaw * (1.0 - 0.7 * teeth);
            let lower = rectangle(-breadth * 0.9, lower_edge, breadth * 1.8, 0.2);
            let flesh = mix([0.75, 0.32, 0.33], self.lip, 0.2);
            if jaw > 0.3 {
                let back = oval(0.0, MOUTH + 0.16 + 0.22 * jaw, breadth * 0.8, 0.12);
                canvas.fill_in(
                    &back,
                    &inside,
                    Shader::SolidColor(colour(mix(flesh, [0.1, 0.0, 0.0], 0.35), 1.0)),
                );
            }
            canvas.fill_in(&lower, &inside, Shader::SolidColor(colour([0.84, 0.8, 0.73], 1.0)));
            canvas.fill_in(&upper, &inside, Shader::SolidColor(ivory));
            if tongue > 0.15 {
                let tip = oval(0.0, MOUTH + 0.075 - 0.02 * tongue, breadth * 0.5, 0.012 + 0.045 * tongue);
                canvas.fill_in(&tip, &inside, Shader::SolidColor(colour(flesh, (tongue * 2.0).min(1.0))));
            }
            // The shadow of the lips.
            canvas.shade_in(&inside, [0.0, top], [half, 0.035], [0.08, 0.02, 0.02], 0.55);
        } else {
            let seam = mix(self.lip, [0.1, 0.02, 0.02], 0.75);
            canvas.line(&[[-half, corner], [0.0, MOUTH + 0.01], [half, corner]], 0.022, seam, 0.9);
        }
        canvas.fill(&bow, Shader::SolidColor(colour(mix(self.lip, [0.2, 0.04, 0.05], 0.22), 1.0)));
        let glint = mix(self.lip, [1.0, 0.9, 0.88], 0.5);
        canvas.shade(0.0, bottom + lower_lip * thin * 0.5, half * 0.4, lower_lip * 0.35, glint, 0.4 * thin);
    }
}
