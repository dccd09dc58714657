//! Times of Windows, in 100 ns since 1601, become nanoseconds since 1970.

use upcheck::Mtime;
use upcheck::collect::listing::windows::mtime;

#[test]
fn times_are_exact_where_nanoseconds_can_hold_them_and_at_the_nearest_end_elsewhere() {
    let epoch = 116_444_736_000_000_000;
    let cases = [
        (epoch, 0),
        (epoch + 1, 100),
        (epoch - 1, -100),
        (132_274_604_961_234_567, 1_582_986_896_123_456_700),
        (0, Mtime::MIN),
        (i64::MIN, Mtime::MIN),
        (i64::MAX, Mtime::MAX),
        (epoch + Mtime::MAX / 100, Mtime::MAX / 100 * 100),
        (epoch + Mtime::MAX / 100 + 1, Mtime::MAX),
        (epoch + Mtime::MIN / 100, Mtime::MIN / 100 * 100),
        (epoch + Mtime::MIN / 100 - 1, Mtime::MIN),
    ];
    for (ticks, expected) in cases {
        assert_eq!(mtime(ticks), expected, "{ticks}");
        let exact = (i128::from(ticks) - i128::from(epoch)) * 100;
        let held = exact.clamp(i128::from(Mtime::MIN), i128::from(Mtime::MAX));
        assert_eq!(i128::from(mtime(ticks)), held, "{ticks}");
    }
}
