//! Prepares an image for models: decodes the user's file, scales the image down, and encodes it as PNG or JPEG, which
//! all providers accept. The result has no metadata, such as the place where a photo was taken.

use image::codecs::jpeg::JpegEncoder;
use image::error::{ImageError, LimitErrorKind};
use image::imageops::FilterType;
use image::metadata::Orientation;
use image::{DynamicImage, ImageDecoder, ImageFormat, ImageReader, Limits};
use std::io::Cursor;

/// The largest file that is decoded, in bytes.
pub const LARGEST: u64 = 30_000_000;
/// The most pixels of an image that is decoded, and the most bytes that its decoding may take.
const PIXELS: u64 = 64_000_000;
const MEMORY: u64 = 400 << 20;
/// The longest side of an image that is sent, in pixels. Anthropic scales larger images down to this size, and the
/// other providers accept it.
const SIDE: u32 = 1568;
/// A PNG with more bytes is sent as a JPEG, so that a request with twenty images stays far below the limits of all
/// providers.
const LARGE: usize = 1_000_000;

/// The kinds of image files that are read. The kind is recognised by the first bytes, because a file's name may be
/// wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Png,
    Jpeg,
    Gif,
    Webp,
}

impl Kind {
    /// The kind of image whose file begins with these bytes; `None` if it is not an image.
    pub fn of(bytes: &[u8]) -> Option<Kind> {
        match bytes {
            [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some(Kind::Png),
            [0xff, 0xd8, 0xff, ..] => Some(Kind::Jpeg),
            [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some(Kind::Gif),
            [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some(Kind::Webp),
            _ => None,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Kind::Png => "PNG",
            Kind::Jpeg => "JPEG",
            Kind::Gif => "GIF",
            Kind::Webp => "WebP",
        }
    }

    fn format(self) -> ImageFormat {
        match self {
            Kind::Png => ImageFormat::Png,
            Kind::Jpeg => ImageFormat::Jpeg,
            Kind::Gif => ImageFormat::Gif,
            Kind::Webp => ImageFormat::WebP,
        }
    }
}

/// An image that can be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    pub bytes: Vec<u8>,
    /// The file name's ending: `png` or `jpg`.
    pub ending: &'static str,
    /// Width and height in pixels.
    pub size: (u32, u32),
    /// The size before the image was scaled down; `None` if it was not scaled.
    pub from: Option<(u32, u32)>,
}

/// Prepares an image; this may take long. Of an animation, the first picture is used. If the image cannot be sent, the
/// error is the rest of a sentence that begins with the file's name.
pub fn prepare(bytes: &[u8], kind: Kind) -> Result<Picture, String> {
    let decoded = decode(bytes, kind).map_err(|why| refusal(&why, kind))?;
    let (width, height) = (decoded.width(), decoded.height());
    let scaled = scaled(decoded);
    let (bytes, ending) = encode(&scaled, kind)
        .map_err(|why| format!("could not be made smaller: {why}", why = refusal(&why, kind)))?;
    let size = (scaled.width(), scaled.height());
    let from = (size != (width, height)).then_some((width, height));
    Ok(Picture { bytes, ending, size, from })
}

fn decode(bytes: &[u8], kind: Kind) -> Result<DynamicImage, ImageError> {
    let mut reader = ImageReader::with_format(Cursor::new(bytes), kind.format());
    let mut limits = Limits::default();
    (limits.max_image_width, limits.max_image_height) = (Some(30_000), Some(30_000));
    limits.max_alloc = Some(MEMORY);
    reader.limits(limits);
    let mut decoder = reader.into_decoder()?;
    let (width, height) = decoder.dimensions();
    // not every decoder includes the memory of the result in its limit
    if u64::from(width) * u64::from(height) > PIXELS || decoder.total_bytes() > MEMORY {
        let kind = LimitErrorKind::DimensionError;
        return Err(ImageError::Limits(image::error::LimitError::from_kind(kind)));
    }
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    let mut decoded = DynamicImage::from_decoder(decoder)?;
    decoded.apply_orientation(orientation);
    Ok(decoded)
}

fn scaled(from: DynamicImage) -> DynamicImage {
    let long = from.width().max(from.height());
    if long <= SIDE {
        return from;
    }
    // a very large image is first scaled by a fast filter to twice the final size, then by a good filter to the final
    // size
    let halved = if long > 4 * SIDE { from.thumbnail(2 * SIDE, 2 * SIDE) } else { from };
    halved.resize(SIDE, SIDE, FilterType::CatmullRom)
}

fn encode(picture: &DynamicImage, kind: Kind) -> Result<(Vec<u8>, &'static str), ImageError> {
    if kind != Kind::Jpeg {
        let mut bytes = Vec::new();
        let plain = if picture.color().has_alpha() {
            DynamicImage::from(picture.to_rgba8())
        } else {
            DynamicImage::from(picture.to_rgb8())
        };
        plain.write_to(&mut Cursor::new(&mut bytes), ImageFormat::Png)?;
        if bytes.len() <= LARGE {
            return Ok((bytes, "png"));
        }
    }
    let mut bytes = Vec::new();
    on_white(picture).write_with_encoder(JpegEncoder::new_with_quality(&mut bytes, 88))?;
    Ok((bytes, "jpg"))
}

/// The image without transparency, which JPEG does not have.
fn on_white(picture: &DynamicImage) -> DynamicImage {
    if !picture.color().has_alpha() {
        return DynamicImage::from(picture.to_rgb8());
    }
    let mut pixels = picture.to_rgba8();
    for pixel in pixels.pixels_mut() {
        let alpha = u16::from(pixel.0[3]);
        for channel in &mut pixel.0[..3] {
            let mixed = (u16::from(*channel) * alpha + 255 * (255 - alpha)) / 255;
            *channel = u8::try_from(mixed).unwrap_or(u8::MAX);
        }
    }
    DynamicImage::from(DynamicImage::from(pixels).to_rgb8())
}

fn refusal(why: &ImageError, kind: Kind) -> String {
    let name = kind.name();
    match why {
        ImageError::Limits(_) => format!(
            "is an image of more than {} million pixels, which is too large to be read",
            PIXELS / 1_000_000
        ),
        _ => format!("begins like a {name} image, but it is damaged or cut off"),
    }
}

#[cfg(test)]
mod tests;
