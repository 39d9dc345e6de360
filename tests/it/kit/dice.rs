//! Pseudo-random numbers that are the same in each run.

/// A 64-bit linear congruential generator, with Knuth's constants for MMIX. The field is its seed.
pub struct Dice(pub u64);

impl Dice {
    /// A random number from 0 to `n - 1`.
    pub fn below(&mut self, n: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % n
    }

    pub fn one_of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }
}

/// A number from an environment variable: how much a law tries, or from which seed.
pub fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).ok().and_then(|it| it.parse().ok()).unwrap_or(default)
}
