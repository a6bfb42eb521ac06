//! A drawn face: parts as paths and gradients in the face's own coordinates, moved by a posture of the mouth and a pose of the head.
//!
//! The unit is half the face's height: its centre is (0, 0), the chin of a closed mouth (0, 1). What a detector of faces looks at has to be there and shaded:
//! sockets, brows, the sides of the nose, the shadow below the lip (`drawn_faces_are_found` in `face.rs`).

use std::f32::consts::TAU;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use tiny_skia::{
    Color, FillRule, GradientStop, LineCap, LinearGradient, Mask, Paint, Path, PathBuilder, Pixmap, Point,
    RadialGradient, Shader, SpreadMode, Stroke, Transform,
};

use super::{image::Image, visemes::Posture};

/// Red, green, blue; 0 to 1 each.
type Colour = [f32; 3];

/// Who is drawn, and where: what does not change within a video.
#[derive(Debug, Clone)]
pub struct Face {
    skin: Colour,
    hair: Colour,
    lip: Colour,
    iris: Colour,
    cloth: Colour,
    wall: [Colour; 2],
    /// Half of the face's, over half of its height.
    breadth: f32,
    /// Of the jaw, over that of the cheeks.
    jaw: f32,
    eye_distance: f32,
    eye_size: f32,
    brow: f32,
    nose: f32,
    /// Half of the mouth's, at rest.
    mouth: f32,
    lip_thickness: [f32; 2],
    hair_length: f32,
    /// Darkness of a beard; 0 is none.
    beard: f32,
    /// Where the light comes from, -1 left to 1 right, and how much it shades.
    light: [f32; 2],
    /// Of the whole picture: gain of each channel.
    cast: Colour,
    /// Of a pixel, standard deviation.
    noise: f32,
    /// How much of the picture's smaller side the face's height takes.
    size: f32,
    place: [f32; 2],
    /// Amplitude and phases of the head's sway.
    sway: f32,
    phases: [f32; 6],
    seed: u64,
}

/// How the head is held at one moment.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pose {
    /// Of the head, in halves of the face's height.
    pub shift: [f32; 2],
    /// In radians; clockwise.
    pub roll: f32,
    /// Of the size.
    pub zoom: f32,
    /// Of the eyes: 0 shut, 1 open.
    pub eyes: f32,
    /// Of the brows: 0 at rest, 1 raised.
    pub brows: f32,
}

fn mix(from: Colour, to: Colour, share: f32) -> Colour {
    std::array::from_fn(|channel| from[channel] + (to[channel] - from[channel]) * share)
}

fn colour(rgb: Colour, alpha: f32) -> Color {
    let [red, green, blue] = rgb.map(|value| value.clamp(0.0, 1.0));
    Color::from_rgba(red, green, blue, alpha.clamp(0.0, 1.0)).expect("within 0 and 1")
}

impl Face {
    /// A face by its number: the same number is the same face, and no two are alike.
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

    /// How this face's head is held at a time: a slow sway of several periods, and a blink every few seconds.
    pub fn pose(&self, seconds: f32) -> Pose {
        let wave = |period: f32, phase: usize| (seconds * TAU / period + self.phases[phase]).sin();
        // Blinks are a quarter of a second long; their distance changes by a slower wave.
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

    /// One frame of a video. `frame` seeds its noise.
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

    /// Centre of the mouth at rest in pixels, and the face's height: what a tracker has to find.
    pub fn mouth_at(&self, width: usize, height: usize, pose: &Pose) -> ([f32; 2], f32) {
        let transform = self.placed(width, height, pose);
        let mut mouth = Point::from_xy(0.0, MOUTH);
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

    fn draw_wall(&self, canvas: &mut Canvas) {
        let (width, height) = (canvas.pixmap.width() as f32, canvas.pixmap.height() as f32);
        let stops = vec![
            GradientStop::new(0.0, colour(self.wall[0], 1.0)),
            GradientStop::new(1.0, colour(self.wall[1], 1.0)),
        ];
        let end = Point::from_xy(width, height * 0.7);
        let gradient = LinearGradient::new(Point::zero(), end, stops, SpreadMode::Pad, Transform::identity());
        canvas.fill(&rectangle(0.0, 0.0, width, height), gradient.expect("two places"));
        // Something hangs on it.
        let (x, y) = (width * (0.1 + 0.08 * self.phases[0]), height * 0.1);
        canvas.fill(
            &rectangle(x, y, width * 0.16, height * 0.22),
            Shader::SolidColor(colour(mix(self.wall[1], [0.1; 3], 0.3), 1.0)),
        );
    }

    fn draw_body(&self, canvas: &mut Canvas) {
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

    /// Outline of the face; the chin goes down with the jaw.
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

    fn draw_head(&self, canvas: &mut Canvas, posture: &Posture) {
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
        // Cheeks, temples and what lies below the brows.
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

    fn draw_eye(&self, canvas: &mut Canvas, side: f32, pose: &Pose) {
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

    fn draw_nose(&self, canvas: &mut Canvas) {
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

    fn draw_mouth(&self, canvas: &mut Canvas, posture: &Posture) {
        let Posture { jaw, lips, width, tuck, tongue, teeth } = *posture;
        let rounded = (-width).max(0.0);
        let half = self.mouth * (1.0 + 0.22 * width.max(0.0) - 0.42 * rounded - 0.06 * jaw);
        // Lips part where they are told to, and by the jaw below them.
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
        // Lips, the upper one darker and with its bow.
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
            // The upper row stays with the skull, the lower one goes with the jaw.
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
            // What the lips throw on what is behind them.
            canvas.shade_in(&inside, [0.0, top], [half, 0.035], [0.08, 0.02, 0.02], 0.55);
        } else {
            let seam = mix(self.lip, [0.1, 0.02, 0.02], 0.75);
            canvas.line(&[[-half, corner], [0.0, MOUTH + 0.01], [half, corner]], 0.022, seam, 0.9);
        }
        canvas.fill(&bow, Shader::SolidColor(colour(mix(self.lip, [0.2, 0.04, 0.05], 0.22), 1.0)));
        let glint = mix(self.lip, [1.0, 0.9, 0.88], 0.5);
        canvas.shade(0.0, bottom + lower_lip * thin * 0.5, half * 0.4, lower_lip * 0.35, glint, 0.4 * thin);
    }

    fn draw_hair(&self, canvas: &mut Canvas) {
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

    /// As a camera takes it: the cast of its light, and noise.
    fn develop(&self, pixmap: &Pixmap, frame: u64) -> Image {
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

/// Where the lips meet.
const MOUTH: f32 = 0.56;

/// What is drawn on, with where the face is.
struct Canvas {
    pixmap: Pixmap,
    transform: Transform,
}

impl Canvas {
    fn new(width: usize, height: usize) -> Self {
        let pixmap = Pixmap::new(width as u32, height as u32).expect("a picture has pixels");
        Self { pixmap, transform: Transform::identity() }
    }

    fn fill(&mut self, path: &Path, shader: Shader) {
        let paint = Paint { shader, ..Paint::default() };
        self.pixmap.fill_path(path, &paint, FillRule::Winding, self.transform, None);
    }

    /// Only what lies within another path.
    fn fill_in(&mut self, path: &Path, within: &Path, shader: Shader) {
        let mut mask = Mask::new(self.pixmap.width(), self.pixmap.height()).expect("as the picture");
        mask.fill_path(within, FillRule::Winding, true, self.transform);
        let paint = Paint { shader, ..Paint::default() };
        self.pixmap.fill_path(path, &paint, FillRule::Winding, self.transform, Some(&mask));
    }

    /// A soft spot that fades out to its edge.
    fn shade(&mut self, x: f32, y: f32, width: f32, height: f32, rgb: Colour, alpha: f32) {
        let (path, shader) = spot([x, y], [width, height], rgb, alpha);
        self.fill(&path, shader);
    }

    /// The same, within a path.
    fn shade_in(&mut self, within: &Path, centre: [f32; 2], size: [f32; 2], rgb: Colour, alpha: f32) {
        let (path, shader) = spot(centre, size, rgb, alpha);
        self.fill_in(&path, within, shader);
    }

    /// A curve by its ends and the point between that pulls it.
    fn line(&mut self, [from, control, to]: &[[f32; 2]; 3], width: f32, rgb: Colour, alpha: f32) {
        let mut path = PathBuilder::new();
        path.move_to(from[0], from[1]);
        path.quad_to(control[0], control[1], to[0], to[1]);
        let stroke = Stroke { width, line_cap: LineCap::Round, ..Stroke::default() };
        let paint = Paint { shader: Shader::SolidColor(colour(rgb, alpha)), ..Paint::default() };
        self.pixmap.stroke_path(&path.finish().expect("a path"), &paint, &stroke, self.transform, None);
    }
}

fn oval(x: f32, y: f32, half_width: f32, half_height: f32) -> Path {
    let bounds =
        tiny_skia::Rect::from_xywh(x - half_width, y - half_height, half_width * 2.0, half_height * 2.0);
    PathBuilder::from_oval(bounds.expect("an extent")).expect("an oval")
}

fn rectangle(x: f32, y: f32, width: f32, height: f32) -> Path {
    PathBuilder::from_rect(tiny_skia::Rect::from_xywh(x, y, width, height).expect("an extent"))
}

fn radial(centre: Point, radius: f32, stops: Vec<GradientStop>) -> Shader<'static> {
    RadialGradient::new(centre, 0.0, centre, radius, stops, SpreadMode::Pad, Transform::identity())
        .expect("an extent")
}

/// An oval whose colour fades from its centre out.
fn spot([x, y]: [f32; 2], [width, height]: [f32; 2], rgb: Colour, alpha: f32) -> (Path, Shader<'static>) {
    let stops = vec![GradientStop::new(0.0, colour(rgb, alpha)), GradientStop::new(1.0, colour(rgb, 0.0))];
    let transform = Transform::from_scale(width, height).post_translate(x, y);
    let origin = Point::zero();
    let shader = RadialGradient::new(origin, 0.0, origin, 1.0, stops, SpreadMode::Pad, transform);
    (oval(x, y, width, height), shader.expect("an extent"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPEN: Posture = Posture { jaw: 1.0, lips: 1.0, width: 0.0, tuck: 0.0, tongue: 0.0, teeth: 0.0 };

    /// Pixels around the mouth that differ by more than noise does.
    fn changed(face: &Face, one: &Posture, other: &Posture) -> usize {
        let pose = face.pose(1.0);
        let ([x, y], height) = face.mouth_at(240, 240, &pose);
        let square = super::super::image::Square { centre_x: x, centre_y: y, side: height * 0.4 };
        let crop = |posture| face.draw(240, 240, &pose, posture, 0).crop(square, 40);
        let (one, other) = (crop(one), crop(other));
        one.rgb.iter().zip(&other.rgb).filter(|(a, b)| a.abs_diff(**b) > 25).count()
    }

    #[test]
    fn each_articulator_is_seen() {
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
                assert!(count > 40, "face {seed}: {count} values of 4800 tell {one:?} from {other:?}");
            }
        }
    }

    #[test]
    fn a_number_is_a_face_and_heads_move() {
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
