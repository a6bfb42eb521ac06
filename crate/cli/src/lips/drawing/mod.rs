//! A drawn face: paths and gradients in the face's own coordinates, controlled by a posture of the mouth and a pose of the head.
//!
//! The unit is half the face's height: its centre is (0, 0), the chin of a closed mouth (0, 1). A face detector needs shaded features: eye sockets, brows, the
//! sides of the nose, the shadow below the lip (`drawn_faces_are_found` in `face.rs`).

mod canvas;
mod head;
mod mouth;
mod surroundings;

use std::f32::consts::TAU;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use tiny_skia::Transform;

use super::visemes::Posture;
use canvas::{Canvas, Colour, mix};
use ownvoice::image::Image;

/// The appearance and position of a face, which are constant within a video.
#[derive(Debug, Clone)]
pub struct Face {
    skin: Colour,
    hair: Colour,
    lip: Colour,
    iris: Colour,
    cloth: Colour,
    wall: [Colour; 2],
    /// The width of the face relative to its height.
    breadth: f32,
    /// The width of the jaw relative to that of the cheeks.
    jaw: f32,
    eye_distance: f32,
    eye_size: f32,
    brow: f32,
    nose: f32,
    /// Half of the mouth's width at rest.
    mouth: f32,
    lip_thickness: [f32; 2],
    hair_length: f32,
    /// The opacity of a beard; 0 is none.
    beard: f32,
    /// The direction of the light, -1 left to 1 right, and the strength of its shading.
    light: [f32; 2],
    /// The gain of each channel of the whole picture.
    cast: Colour,
    /// The standard deviation of the noise of a pixel.
    noise: f32,
    /// The face's height relative to the picture's smaller side.
    size: f32,
    place: [f32; 2],
    /// The amplitude of the head's motion.
    sway: f32,
    /// The phases of the head's motion and blinks.
    phases: [f32; 6],
    seed: u64,
}

/// The pose of the head at one moment.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pose {
    /// The shift of the head, in halves of the face's height.
    pub shift: [f32; 2],
    /// The roll in radians, clockwise.
    pub roll: f32,
    /// The relative size.
    pub zoom: f32,
    /// The opening of the eyes: 0 shut, 1 open.
    pub eyes: f32,
    /// The position of the brows: 0 at rest, 1 raised.
    pub brows: f32,
}

impl Face {
    /// Creates a random face; the same seed gives the same face.
    pub fn new(seed: u64) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut between = |low: f32, high: f32| random.random_range(low..high);
        let tone = between(0.0, 1.0);
        let skin = mix([0.94, 0.77, 0.66], [0.45, 0.29, 0.20], tone);
        let skin = mix(skin, [0.9, 0.62, 0.5], between(0.0, 0.25));
        let hair =
            mix([0.08, 0.06, 0.05], [0.62, 0.45, 0.25], between(0.0, 1.0).powi(2) * (1.0 - 0.8 * tone));
        let lip = mix(mix(skin, [0.72, 0.25, 0.28], between(0.45, 0.75)), [0.4, 0.1, 0.1], 0.1);
        let wall: [Colour; 2] = [(); 2].map(|()| [between(0.2, 0.9), between(0.2, 0.9), between(0.2, 0.9)]);
        let bearded = between(0.0, 1.0) > 0.7;
        Self {
            skin,
            hair,
            lip,
            iris: mix([0.16, 0.09, 0.05], [0.25, 0.42, 0.55], between(0.0, 1.0) * (1.0 - tone)),
            cloth: [between(0.1, 0.9), between(0.1, 0.9), between(0.1, 0.9)],
            wall: [wall[0], mix(wall[0], wall[1], 0.4)],
            breadth: between(0.68, 0.78),
            jaw: between(0.72, 0.9),
            eye_distance: between(0.29, 0.34),
            eye_size: between(0.12, 0.15),
            brow: between(0.035, 0.065),
            nose: between(0.11, 0.15),
            mouth: between(0.24, 0.3),
            lip_thickness: [between(0.045, 0.075), between(0.06, 0.1)],
            hair_length: between(0.2, 1.2),
            beard: if bearded { between(0.15, 0.45) } else { 0.0 },
            light: [between(-0.8, 0.8), between(0.1, 0.35)],
            cast: std::array::from_fn(|_| between(0.88, 1.08)),
            noise: between(1.0, 5.0),
            size: between(0.5, 0.66),
            place: [between(-0.06, 0.06), between(-0.05, 0.05)],
            sway: between(0.5, 1.5),
            phases: std::array::from_fn(|_| between(0.0, TAU)),
            seed,
        }
    }

    /// Returns the pose at a time: a slow motion of several periods, and a blink every few seconds.
    pub fn pose(&self, seconds: f32) -> Pose {
        let wave = |period: f32, phase: usize| (seconds * TAU / period + self.phases[phase]).sin();
        // Blinks last a quarter of a second; their interval varies slowly.
        let cycle = 3.1 + 0.6 * wave(17.0, 5);
        let since = (seconds + self.phases[4]).rem_euclid(cycle);
        let blink = (1.0 - ((since - 0.13) / 0.13).abs()).max(0.0);
        Pose {
            shift: [0.05 * self.sway * wave(3.7, 0), 0.035 * self.sway * wave(2.3, 1)],
            roll: 0.04 * self.sway * wave(5.3, 2),
            zoom: 1.0 + 0.03 * self.sway * wave(7.9, 3),
            eyes: 1.0 - blink,
            brows: (0.5 * wave(4.1, 1) + 0.5 * wave(1.9, 3)).max(0.0),
        }
    }

    /// Draws one picture of a video. `frame` seeds its noise.
    pub fn draw(&self, width: usize, height: usize, pose: &Pose, posture: &Posture, frame: u64) -> Image {
        let mut canvas = Canvas::new(width, height);
        self.draw_wall(&mut canvas);
        canvas.transform = self.placed(width, height, pose);
        self.draw_body(&mut canvas);
        self.draw_head(&mut canvas, posture);
        for side in [-1.0, 1.0] {
            self.draw_eye(&mut canvas, side, pose);
        }
        self.draw_nose(&mut canvas);
        self.draw_mouth(&mut canvas, posture);
        self.draw_hair(&mut canvas);
        self.develop(&canvas.pixmap, frame)
    }

    /// Returns the centre of the mouth at rest and the face's height, in pixels, to test a tracker.
    pub fn mouth_at(&self, width: usize, height: usize, pose: &Pose) -> ([f32; 2], f32) {
        let transform = self.placed(width, height, pose);
        let mut mouth = tiny_skia::Point::from_xy(0.0, mouth::MOUTH);
        transform.map_point(&mut mouth);
        ([mouth.x, mouth.y], width.min(height) as f32 * self.size * pose.zoom)
    }

    fn placed(&self, width: usize, height: usize, pose: &Pose) -> Transform {
        let side = width.min(height) as f32;
        let unit = side * self.size * pose.zoom / 2.0;
        let x = width as f32 / 2.0 + side * self.place[0] + unit * pose.shift[0];
        let y = height as f32 / 2.0 + side * self.place[1] + unit * pose.shift[1];
        Transform::from_scale(unit, unit)
            .post_concat(Transform::from_rotate(pose.roll.to_degrees()))
            .post_concat(Transform::from_translate(x, y))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPEN: Posture = Posture { jaw: 1.0, lips: 1.0, width: 0.0, tuck: 0.0, tongue: 0.0, teeth: 0.0 };

    /// Counts the values around the mouth that differ by more than noise.
    fn changed(face: &Face, one: &Posture, other: &Posture) -> usize {
        let pose = face.pose(1.0);
        let ([x, y], height) = face.mouth_at(240, 240, &pose);
        let square = ownvoice::image::Square { centre_x: x, centre_y: y, side: height * 0.4 };
        let crop = |posture| face.draw(240, 240, &pose, posture, 0).crop(square, 40);
        let (one, other) = (crop(one), crop(other));
        one.rgb.iter().zip(&other.rgb).filter(|(a, b)| a.abs_diff(**b) > 25).count()
    }

    #[test]
    fn each_articulator_is_visible() {
        let spread = Posture { lips: 0.6, width: 0.8, ..Posture::REST };
        for seed in 0..4 {
            let face = Face::new(seed);
            assert_eq!(changed(&face, &OPEN, &OPEN), 0);
            let pairs = [
                (Posture::REST, OPEN),
                (spread, Posture { width: -0.9, ..spread }),
                (spread, Posture { tuck: 1.0, ..spread }),
                (OPEN, Posture { tongue: 1.0, ..OPEN }),
                (OPEN, Posture { teeth: 1.0, ..OPEN }),
            ];
            for (one, other) in pairs {
                let count = changed(&face, &one, &other);
                assert!(
                    count > 40,
                    "face {seed}: {count} values of 4800 differ between {one:?} and {other:?}"
                );
            }
        }
    }

    #[test]
    fn faces_depend_on_the_seed_and_heads_move() {
        let draw = |seed, seconds| {
            let face = Face::new(seed);
            face.draw(96, 128, &face.pose(seconds), &Posture::REST, 3)
        };
        assert_eq!(draw(1, 0.0), draw(1, 0.0));
        assert_ne!(draw(1, 0.0), draw(2, 0.0));
        assert_ne!(draw(1, 0.0), draw(1, 0.5));
        let face = Face::new(1);
        let shut = (0..400).filter(|frame| face.pose(*frame as f32 * 0.04).eyes < 0.3).count();
        assert!((4..40).contains(&shut), "{shut} frames of 16 s have shut eyes");
    }
}
