use super::*;
use image::{Rgb, RgbImage, Rgba, RgbaImage};

fn written(picture: impl Into<DynamicImage>, format: ImageFormat) -> Vec<u8> {
    let mut bytes = Vec::new();
    picture.into().write_to(&mut Cursor::new(&mut bytes), format).unwrap();
    bytes
}

fn red(width: u32, height: u32) -> RgbImage {
    RgbImage::from_pixel(width, height, Rgb([200, 10, 10]))
}

/// Pixels that no format can compress.
fn noise(width: u32, height: u32) -> RgbImage {
    let mut state = 1_u32;
    RgbImage::from_fn(width, height, |_, _| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let [a, b, c, _] = state.to_be_bytes();
        Rgb([a, b, c])
    })
}

#[test]
fn an_image_of_any_format_is_sent_as_png_or_jpeg() {
    for (format, kind, ending) in [
        (ImageFormat::Png, Kind::Png, "png"),
        (ImageFormat::Gif, Kind::Gif, "png"),
        (ImageFormat::WebP, Kind::Webp, "png"),
        (ImageFormat::Jpeg, Kind::Jpeg, "jpg"),
    ] {
        let bytes = written(red(40, 30), format);
        assert_eq!(Kind::of(&bytes), Some(kind));
        let picture = prepare(&bytes, kind).unwrap();
        assert_eq!((picture.ending, picture.size, picture.from), (ending, (40, 30), None));
        assert_eq!(picture, prepare(&bytes, kind).unwrap(), "the same file gives the same bytes");
        let again = image::load_from_memory(&picture.bytes).unwrap().to_rgb8();
        let near = |pixel: &Rgb<u8>| pixel.0[0].abs_diff(200) < 12 && pixel.0[1] < 30;
        assert!(again.pixels().all(near), "{format:?}");
    }
}

#[test]
fn the_kind_of_an_image_is_recognised_by_its_first_bytes() {
    for (bytes, kind) in [
        (&b"\x89PNG\r\n\x1a\n"[..], Some(Kind::Png)),
        (b"\xff\xd8\xff\xe0", Some(Kind::Jpeg)),
        (b"GIF87a", Some(Kind::Gif)),
        (b"GIF89a\0", Some(Kind::Gif)),
        (b"RIFF\0\0\0\0WEBP", Some(Kind::Webp)),
        (b"RIFF\0\0\0\0WAVE", None),
        (b"BM\0\0", None),
        (b"<svg/>", None),
        (b"", None),
    ] {
        assert_eq!(Kind::of(bytes), kind);
    }
}

#[test]
fn a_large_image_is_scaled_down_and_keeps_its_proportions() {
    for (from, to) in [
        ((3136, 1568), (1568, 784)),
        ((1568, 1568), (1568, 1568)),
        ((100, 7000), (23, 1568)),
        ((9000, 2), (1568, 1)),
    ] {
        let bytes = written(red(from.0, from.1), ImageFormat::Png);
        let picture = prepare(&bytes, Kind::Png).unwrap();
        assert_eq!(picture.size, to);
        assert_eq!(picture.from, (from != to).then_some(from));
    }
}

#[test]
fn a_png_that_has_too_many_bytes_after_scaling_is_sent_as_a_jpeg() {
    let picture = prepare(&written(noise(1568, 1000), ImageFormat::Png), Kind::Png).unwrap();
    assert_eq!(picture.ending, "jpg");
    assert!(picture.bytes.len() < 3_000_000, "{}", picture.bytes.len());
}

#[test]
fn transparent_parts_of_an_image_become_white_in_a_jpeg() {
    let clear = DynamicImage::from(RgbaImage::from_pixel(2, 2, Rgba([0, 0, 0, 0])));
    assert!(on_white(&clear).to_rgb8().pixels().all(|it| it.0 == [255, 255, 255]));
}

#[test]
fn damaged_and_huge_images_are_refused_with_the_reason() {
    let whole = written(noise(60, 60), ImageFormat::Png);
    let cut = &whole[..whole.len() / 2];
    assert_eq!(
        prepare(cut, Kind::Png).unwrap_err(),
        "begins like a PNG image, but it is damaged or cut off"
    );
    for (kind, bytes) in [
        (Kind::Jpeg, &b"\xff\xd8\xff\xe0rest"[..]),
        (Kind::Gif, b"GIF89a"),
        (Kind::Webp, b"RIFF\0\0\0\0WEBPVP8 "),
    ] {
        assert!(prepare(bytes, kind).unwrap_err().ends_with("it is damaged or cut off"));
    }
    // the header claims that the image has 30000 × 30000 pixels
    let mut bomb = written(red(10, 10), ImageFormat::Png);
    bomb[16..24].copy_from_slice(&[0, 0, 0x75, 0x30, 0, 0, 0x75, 0x30]);
    let crc = crc(&bomb[12..29]);
    bomb[29..33].copy_from_slice(&crc.to_be_bytes());
    assert_eq!(
        prepare(&bomb, Kind::Png).unwrap_err(),
        "is an image of more than 64 million pixels, which is too large to be read"
    );
}

/// The checksum of a PNG chunk.
fn crc(bytes: &[u8]) -> u32 {
    let step = |crc: u32, _| if crc & 1 == 1 { (crc >> 1) ^ 0xedb8_8320 } else { crc >> 1 };
    !bytes.iter().fold(u32::MAX, |crc, byte| (0..8).fold(crc ^ u32::from(*byte), step))
}
