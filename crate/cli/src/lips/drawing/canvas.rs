//! The drawing primitives of a face: fills, soft spots and lines, optionally clipped to other shapes.

use tiny_skia::{
    Color, FillRule, GradientStop, LineCap, Mask, Paint, Path, PathBuilder, Pixmap, Point, RadialGradient,
    Shader, SpreadMode, Stroke, Transform,
};

/// An RGB colour, 0 to 1 for each channel.
pub(super) type Colour = [f32; 3];

pub(super) fn mix(from: Colour, to: Colour, share: f32) -> Colour {
    std::array::from_fn(|channel| from[channel] + (to[channel] - from[channel]) * share)
}

pub(super) fn colour(rgb: Colour, alpha: f32) -> Color {
    let [red, green, blue] = rgb.map(|value| value.clamp(0.0, 1.0));
    Color::from_rgba(red, green, blue, alpha.clamp(0.0, 1.0)).expect("within 0 and 1")
}

/// A pixmap, and the transform of the face.
pub(super) struct Canvas {
    pub pixmap: Pixmap,
    pub transform: Transform,
}

impl Canvas {
    pub(super) fn new(width: usize, height: usize) -> Self {
        let pixmap = Pixmap::new(width as u32, height as u32).expect("a picture has pixels");
        Self { pixmap, transform: Transform::identity() }
    }

    pub(super) fn fill(&mut self, path: &Path, shader: Shader) {
        let paint = Paint { shader, ..Paint::default() };
        self.pixmap.fill_path(path, &paint, FillRule::Winding, self.transform, None);
    }

    /// Fills the part of a path that lies within another.
    pub(super) fn fill_in(&mut self, path: &Path, within: &Path, shader: Shader) {
        let mut mask = Mask::new(self.pixmap.width(), self.pixmap.height()).expect("as the picture");
        mask.fill_path(within, FillRule::Winding, true, self.transform);
        let paint = Paint { shader, ..Paint::default() };
        self.pixmap.fill_path(path, &paint, FillRule::Winding, self.transform, Some(&mask));
    }

    /// Draws a soft spot that fades towards its edge.
    pub(super) fn shade(&mut self, x: f32, y: f32, width: f32, height: f32, rgb: Colour, alpha: f32) {
        let (path, shader) = spot([x, y], [width, height], rgb, alpha);
        self.fill(&path, shader);
    }

    /// Draws a soft spot, clipped to a path.
    pub(super) fn shade_in(
        &mut self,
        within: &Path,
        centre: [f32; 2],
        size: [f32; 2],
        rgb: Colour,
        alpha: f32,
    ) {
        let (path, shader) = spot(centre, size, rgb, alpha);
        self.fill_in(&path, within, shader);
    }

    /// Draws a quadratic curve through its ends with a control point in between.
    pub(super) fn line(&mut self, [from, control, to]: &[[f32; 2]; 3], width: f32, rgb: Colour, alpha: f32) {
        let mut path = PathBuilder::new();
        path.move_to(from[0], from[1]);
        path.quad_to(control[0], control[1], to[0], to[1]);
        let stroke = Stroke { width, line_cap: LineCap::Round, ..Stroke::default() };
        let paint = Paint { shader: Shader::SolidColor(colour(rgb, alpha)), ..Paint::default() };
        self.pixmap.stroke_path(&path.finish().expect("a path"), &paint, &stroke, self.transform, None);
    }
}

pub(super) fn oval(x: f32, y: f32, half_width: f32, half_height: f32) -> Path {
    let bounds =
        tiny_skia::Rect::from_xywh(x - half_width, y - half_height, half_width * 2.0, half_height * 2.0);
    PathBuilder::from_oval(bounds.expect("an extent")).expect("an oval")
}

pub(super) fn rectangle(x: f32, y: f32, width: f32, height: f32) -> Path {
    PathBuilder::from_rect(tiny_skia::Rect::from_xywh(x, y, width, height).expect("an extent"))
}

pub(super) fn radial(centre: Point, radius: f32, stops: Vec<GradientStop>) -> Shader<'static> {
    RadialGradient::new(centre, 0.0, centre, radius, stops, SpreadMode::Pad, Transform::identity())
        .expect("an extent")
}

/// Returns an oval whose colour fades outwards from its centre.
fn spot([x, y]: [f32; 2], [width, height]: [f32; 2], rgb: Colour, alpha: f32) -> (Path, Shader<'static>) {
    let stops = vec![GradientStop::new(0.0, colour(rgb, alpha)), GradientStop::new(1.0, colour(rgb, 0.0))];
    let transform = Transform::from_scale(width, height).post_translate(x, y);
    let origin = Point::zero();
    let shader = RadialGradient::new(origin, 0.0, origin, 1.0, stops, SpreadMode::Pad, transform);
    (oval(x, y, width, height), shader.expect("an extent"))
}
