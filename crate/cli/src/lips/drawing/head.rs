//! The head without its mouth: outline, shading, eyes and nose.

use tiny_skia::{GradientStop, Path, PathBuilder, Point, Shader};

use super::{
    Face, Pose,
    canvas::{Canvas, colour, mix, oval, radial},
};
use crate::lips::visemes::Posture;

impl Face {
    /// Returns the outline of the face; the chin follows the jaw.
    fn outline(&self, posture: &Posture) -> Path {
        let (breadth, jaw, chin) = (self.breadth, self.breadth * self.jaw, 1.0 + 0.16 * posture.jaw);
        let mut path = PathBuilder::new();
        path.move_to(0.0, -1.0);
        path.cubic_to(breadth * 0.75, -1.0, breadth, -0.6, breadth, -0.1);
        path.cubic_to(breadth, 0.25, jaw, 0.55 + 0.05 * posture.jaw, jaw * 0.72, chin - 0.24);
        path.cubic_to(jaw * 0.5, chin - 0.04, jaw * 0.25, chin, 0.0, chin);
        path.cubic_to(-jaw * 0.25, chin, -jaw * 0.5, chin - 0.04, -jaw * 0.72, chin - 0.24);
        path.cubic_to(-jaw, 0.55 + 0.05 * posture.jaw, -breadth, 0.25, -breadth, -0.1);
        path.cubic_to(-breadth, -0.6, -breadth * 0.75, -1.0, 0.0, -1.0);
        path.close();
        path.finish().expect("a path")
    }

    pub(super) fn draw_head(&self, canvas: &mut Canvas, posture: &Posture) {
        for side in [-1.0, 1.0] {
            let ear = oval(side * (self.breadth + 0.01), 0.0, 0.09, 0.2);
            canvas.fill(&ear, Shader::SolidColor(colour(mix(self.skin, [0.3, 0.1, 0.08], 0.25), 1.0)));
        }
        let outline = self.outline(posture);
        let [from, strength] = self.light;
        let lit = mix(self.skin, [1.0, 0.97, 0.93], 0.22);
        let dark = mix(self.skin, [0.15, 0.06, 0.04], 0.2 + strength);
        let stops = vec![
            GradientStop::new(0.0, colour(lit, 1.0)),
            GradientStop::new(0.5, colour(self.skin, 1.0)),
            GradientStop::new(1.0, colour(dark, 1.0)),
        ];
        let centre = Point::from_xy(from * 0.35, -0.25);
        canvas.fill(&outline, radial(centre, 1.35, stops));
        // Cheeks, temples and eye sockets.
        for side in [-1.0, 1.0] {
            canvas.shade(
                side * self.eye_distance,
                -0.17,
                0.22,
                0.15,
                mix(self.skin, [0.12, 0.05, 0.04], 0.6),
                0.55,
            );
            canvas.shade(side * 0.42, 0.25, 0.2, 0.2, mix(self.skin, [1.0, 0.75, 0.7], 0.5), 0.35);
            let edge = mix(self.skin, [0.12, 0.05, 0.04], 0.6);
            canvas.shade_in(
                &outline,
                [side * self.breadth, 0.4],
                [0.28, 0.8],
                edge,
                0.35 + 0.3 * (side * -from).max(0.0),
            );
        }
        canvas.shade(0.0, -0.62, 0.45, 0.25, lit, 0.4);
        if self.beard > 0.0 {
            let path = oval(0.0, 0.72 + 0.08 * posture.jaw, self.breadth * 0.72, 0.42);
            canvas.fill_in(&path, &outline, Shader::SolidColor(colour(self.hair, self.beard)));
        }
        canvas.shade(0.0, 0.82 + 0.12 * posture.jaw, 0.2, 0.13, lit, 0.3);
    }

    pub(super) fn draw_eye(&self, canvas: &mut Canvas, side: f32, pose: &Pose) {
        let (x, y, width) = (side * self.eye_distance, -0.14, self.eye_size);
        let open = width * (0.06 + 0.5 * pose.eyes);
        let mut white = PathBuilder::new();
        white.move_to(x - width, y + 0.01);
        white.quad_to(x - 0.1 * width, y - open * 1.7, x + width, y);
        white.quad_to(x, y + open * 1.2, x - width, y + 0.01);
        white.close();
        let white = white.finish().expect("a path");
        canvas.fill(&white, Shader::SolidColor(colour([0.9, 0.88, 0.86], 1.0)));
        if pose.eyes > 0.15 {
            canvas.fill_in(
                &oval(x, y - 0.01, 0.065, 0.068),
                &white,
                Shader::SolidColor(colour(self.iris, 1.0)),
            );
            canvas.fill_in(
                &oval(x, y - 0.01, 0.034, 0.036),
                &white,
                Shader::SolidColor(colour([0.02; 3], 1.0)),
            );
            canvas.fill_in(
                &oval(x + 0.02, y - 0.035, 0.013, 0.013),
                &white,
                Shader::SolidColor(colour([1.0; 3], 0.9)),
            );
        }
        // Upper lid with lashes, its crease, and the lower lid.
        let dark = mix(self.hair, [0.05, 0.02, 0.02], 0.6);
        canvas.line(
            &[[x - width, y + 0.01], [x - 0.1 * width, y - open * 1.7], [x + width, y]],
            0.03,
            dark,
            0.95,
        );
        let crease = y - 0.06 - open * 0.9;
        let fold = mix(self.skin, [0.15, 0.05, 0.04], 0.55);
        canvas.line(
            &[[x - width, crease + 0.05], [x, crease - 0.04], [x + width, crease + 0.05]],
            0.018,
            fold,
            0.7,
        );
        canvas.line(&[[x - width, y + 0.02], [x, y + open * 1.2], [x + width, y + 0.01]], 0.012, fold, 0.6);
        let brow = y - 0.2 - 0.05 * pose.brows;
        let points =
            [[x - side * width * 1.3, brow + 0.04], [x, brow - 0.06], [x + side * width * 1.45, brow + 0.05]];
        canvas.line(&points, self.brow * 1.6, mix(self.hair, self.skin, 0.15), 0.9);
    }

    pub(super) fn draw_nose(&self, canvas: &mut Canvas) {
        let (dark, lit) = (mix(self.skin, [0.15, 0.05, 0.04], 0.55), mix(self.skin, [1.0, 0.97, 0.95], 0.45));
        for side in [-1.0, 1.0] {
            let strength = 0.45 + 0.3 * (-side * self.light[0]).max(0.0);
            canvas.shade(side * self.nose * 0.9, 0.02, 0.06, 0.28, dark, strength * 0.8);
            canvas.shade(side * self.nose, 0.29, 0.06, 0.07, dark, strength);
            let nostril = Shader::SolidColor(colour(mix(self.skin, [0.08, 0.02, 0.02], 0.85), 0.9));
            canvas.fill(&oval(side * self.nose * 0.52, 0.345, 0.042, 0.02), nostril);
        }
        canvas.shade(0.0, 0.05, 0.05, 0.3, lit, 0.5);
        canvas.shade(0.0, 0.25, 0.07, 0.07, lit, 0.6);
        canvas.shade(0.0, 0.39, 0.16, 0.05, dark, 0.55);
    }
}
