// SPDX-License-Identifier: Apache-2.0

import Foundation

/// CIE L*a*b* with the D65 white point: equal distances look about equally different.
struct Lab: Hashable, Sendable {
  var lightness: Double
  var a: Double
  var b: Double

  init(_ color: LinearRGB) {
    func curve(_ value: Double) -> Double { value > 216.0 / 24389 ? cbrt(value) : (value * 24389 / 27 + 16) / 116 }
    let x = curve((0.4124564 * color.red + 0.3575761 * color.green + 0.1804375 * color.blue) / 0.95047)
    let y = curve(0.2126729 * color.red + 0.7151522 * color.green + 0.0721750 * color.blue)
    let z = curve((0.0193339 * color.red + 0.1191920 * color.green + 0.9503041 * color.blue) / 1.08883)
    lightness = 116 * y - 16
    a = 500 * (x - y)
    b = 200 * (y - z)
  }

  /// The CIE76 difference; about 2 is just noticeable, 25 is plain at a glance.
  func difference(to other: Lab) -> Double {
    let (l, a, b) = (lightness - other.lightness, a - other.a, b - other.b)
    return (l * l + a * a + b * b).squareRoot()
  }
}
