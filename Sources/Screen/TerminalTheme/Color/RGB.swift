// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A colour in sRGB with eight bits per channel.
package struct RGB: Hashable, Sendable, CustomStringConvertible {
  package var red: UInt8
  package var green: UInt8
  package var blue: UInt8

  package init(_ red: UInt8, _ green: UInt8, _ blue: UInt8) {
    self.red = red
    self.green = green
    self.blue = blue
  }

  /// Reads `#rgb` or `#rrggbb`; `nil` for anything else.
  package init?(hex: String) {
    let digits = hex.utf8.dropFirst().map { UInt8(Character(Unicode.Scalar($0)).hexDigitValue ?? 255) }
    guard hex.utf8.first == UInt8(ascii: "#"), !digits.contains(255) else { return nil }
    switch digits.count {
    case 3: self.init(digits[0] * 17, digits[1] * 17, digits[2] * 17)
    case 6: self.init(digits[0] << 4 | digits[1], digits[2] << 4 | digits[3], digits[4] << 4 | digits[5])
    default: return nil
    }
  }

  /// `#rrggbb`.
  package var description: String { "#" + String(0x100_0000 | value, radix: 16).dropFirst() }

  /// `0xRRGGBB`.
  package var value: Int { Int(red) << 16 | Int(green) << 8 | Int(blue) }

  /// The same colour as amounts of light, each from 0 to 1.
  var linear: LinearRGB {
    func light(_ channel: UInt8) -> Double {
      let value = Double(channel) / 255
      return value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
    }
    return LinearRGB(red: light(red), green: light(green), blue: light(blue))
  }
}

extension RGB {
  /// The colour of amounts of light.
  init(_ light: LinearRGB) {
    func channel(_ value: Double) -> UInt8 {
      let encoded = value <= 0.0031308 ? value * 12.92 : 1.055 * pow(value, 1 / 2.4) - 0.055
      return UInt8(min(max(encoded * 255, 0), 255).rounded())
    }
    self.init(channel(light.red), channel(light.green), channel(light.blue))
  }

  /// The colour on the way to another, in sRGB: 0 is this one, 1 the other.
  func mixed(with other: RGB, _ share: Double) -> RGB {
    func channel(_ one: UInt8, _ two: UInt8) -> UInt8 {
      UInt8((Double(one) + (Double(two) - Double(one)) * share).rounded())
    }
    return RGB(channel(red, other.red), channel(green, other.green), channel(blue, other.blue))
  }
}

/// Amounts of red, green and blue light, each from 0 to 1.
struct LinearRGB: Hashable, Sendable {
  var red: Double
  var green: Double
  var blue: Double
}

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
