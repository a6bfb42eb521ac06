//! The surroundings of a face: wall, shoulders and hair; and the camera's colour cast and noise.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use tiny_skia::{GradientStop, LinearGradient, PathBuilder, Pixmap, Point, Shader, SpreadMode, Transform};

use super::{
    Face,
    canvas::{Canvas, colour, mix, radial, rectangle},
};
use ownvoice::image::Image;

impl Face {
    pub(super) fn draw_wall(&self, canvas: &mut Canvas) {
        let (width, height) = (canvas.pixmap.width() as f32, canvas.pixmap.height() as f32);
        let stops = vec![
            GradientStop::new(0.0, colour(self.wall[0], 1.0)),
            GradientStop::new(1.0, colour(self.wall[1], 1.0)),
        ];
        let end = Point::from_xy(width, height * 0.7);
        let gradient = LinearGradient::new(Point::zero(), end, stops, SpreadMode::Pad, Transform::identity());
        canvas.fill(&rectangle(0.0, 0.0, width, height), gradient.expect("two places"));
        // A picture on the wall.
        let (x, y) = (width * (0.1 + 0.08 * self.phases[0]), height * 0.1);
        canvas.fill(
            &rectangle(x, y, width * 0.16, height * 0.22),
            Shader::SolidColor(colour(mix(self.wall[1], [0.1; 3], 0.3), 1.0)),
        );
    }

    pub(super) fn draw_body(&self, canvas: &mut Canvas) {
        let mut body = PathBuilder::new();
        body.move_to(-1.9, 4.0);
        body.cubic_to(-1.9, 1.7, -1.1, 1.45, -0.4, 1.3);
        body.line_to(0.4, 1.3);
        body.cubic_to(1.1, 1.45, 1.9, 1.7, 1.9, 4.0);
        body.close();
        canvas.fill(&body.finish().expect("a path"), Shader::SolidColor(colour(self.cloth, 1.0)));
        let neck = self.breadth * 0.58;
        let mut path = PathBuilder::new();
        path.move_to(-neck, 0.5);
        path.line_to(-neck, 1.25);
        path.quad_to(0.0, 1.65, neck, 1.25);
        path.line_to(neck, 0.5);
        path.close();
        let dark = colour(mix(self.skin, [0.1, 0.05, 0.03], 0.4), 1.0);
        canvas.fill(&path.finish().expect("a path"), Shader::SolidColor(dark));
        // The hair behind the head.
        let hair = colour(mix(self.hair, [0.0; 3], 0.2), 1.0);
        let [width, length] = [self.breadth + 0.13, self.hair_length];
        let mut path = PathBuilder::new();
        path.move_to(-width, length);
        path.cubic_to(-width - 0.1, -1.25, width + 0.1, -1.25, width, length);
        path.close();
        canvas.fill(&path.finish().expect("a path"), Shader::SolidColor(hair));
    }

    pub(super) fn draw_hair(&self, canvas: &mut Canvas) {
        let side = self.breadth + 0.05;
        let mut path = PathBuilder::new();
        path.move_to(-side, -0.1);
        path.cubic_to(-side - 0.12, -1.4, side + 0.12, -1.4, side, -0.1);
        path.cubic_to(side * 0.95, -0.5, side * 0.7, -0.72, 0.25, -0.74);
        path.cubic_to(-0.1, -0.78, -side * 0.8, -0.7, -side, -0.1);
        path.close();
        let stops = vec![
            GradientStop::new(0.0, colour(mix(self.hair, [1.0; 3], 0.18), 1.0)),
            GradientStop::new(1.0, colour(self.hair, 1.0)),
        ];
        let centre = Point::from_xy(self.light[0] * 0.5, -1.0);
        canvas.fill(&path.finish().expect("a path"), radial(centre, 0.7, stops));
    }

    /// Applies the camera's colour cast and noise.
    pub(super) fn develop(&self, pixmap: &Pixmap, frame: u64) -> Image {
        let mut random = ChaCha8Rng::seed_from_u64(self.seed ^ frame.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let mut rgb = Vec::with_capacity(pixmap.data().len() / 4 * 3);
        for pixel in pixmap.data().chunks_exact(4) {
            // The sum of four bytes is nearly a Gaussian: mean 510, standard deviation 148.
            let bytes: [u8; 4] = random.random();
            let noise = (bytes.iter().map(|&byte| f32::from(byte)).sum::<f32>() - 510.0) / 148.0 * self.noise;
            rgb.extend((0..3).map(|channel| (f32::from(pixel[channel]) * self.cast[channel] + noise) as u8));
        }
        Image::new(pixmap.width() as usize, pixmap.height() as usize, rgb)
    }
}
