// SPDX-License-Identifier: Apache-2.0
import Foundation

/// An sRGB color with eight bits per channel.
package struct RGB: Hashable, Sendable, CustomStringConvertible {
  package var red: UInt8
  package var green: UInt8
  package var blue: UInt8

  package init(_ red: UInt8, _ green: UInt8, _ blue: UInt8) {
    self.red = red
    self.green = green
    self.blue = blue
  }

  /// Parses `#rgb` or `#rrggbb`. Returns `nil` for any other text.
  package init?(hex: String) {
    let digits = hex.utf8.dropFirst().map { UInt8(Character(Unicode.Scalar($0)).hexDigitValue ?? 255) }
    guard hex.utf8.first == UInt8(ascii: "#"), !digits.contains(255) else { return nil }
    switch digits.count {
    case 3: self.init(digits[0] * 17, digits[1] * 17, digits[2] * 17)
    case 6: self.init(digits[0] << 4 | digits[1], digits[2] << 4 | digits[3], digits[4] << 4 | digits[5])
    default: return nil
    }
  }

  /// The color as `#rrggbb`.
  package var description: String { "#" + String(0x100_0000 | value, radix: 16).dropFirst() }

  /// The color as the number `0xRRGGBB`.
  package var value: Int { Int(red) << 16 | Int(green) << 8 | Int(blue) }

  /// This color as linear light, each channel from 0 to 1.
  var linear: LinearRGB {
    func light(_ channel: UInt8) -> Double {
      let value = Double(channel) / 255
      return value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
    }
    return LinearRGB(red: light(red), green: light(green), blue: light(blue))
  }
}

extension RGB {
  /// Converts linear light to an sRGB color.
  init(_ light: LinearRGB) {
    func channel(_ value: Double) -> UInt8 {
      let encoded = value <= 0.0031308 ? value * 12.92 : 1.055 * pow(value, 1 / 2.4) - 0.055
      return UInt8(min(max(encoded * 255, 0), 255).rounded())
    }
    self.init(channel(light.red), channel(light.green), channel(light.blue))
  }

  /// A mix with another color in sRGB. A share of 0 results in this color, 1 in the other color.
  func mixed(with other: RGB, _ share: Double) -> RGB {
    func channel(_ one: UInt8, _ two: UInt8) -> UInt8 {
      UInt8((Double(one) + (Double(two) - Double(one)) * share).rounded())
    }
    return RGB(channel(red, other.red), channel(green, other.green), channel(blue, other.blue))
  }
}

/// Linear red, green and blue light, each from 0 to 1.
struct LinearRGB: Hashable, Sendable {
  var red: Double
  var green: Double
  var blue: Double
}

/// A color in CIE L*a*b* with the D65 white point. In this space, equal distances look about equally different.
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

  /// The CIE76 difference. About 2 is just noticeable, 25 is obvious at a glance.
  func difference(to other: Lab) -> Double {
    let (l, a, b) = (lightness - other.lightness, a - other.a, b - other.b)
    return (l * l + a * a + b * b).squareRoot()
  }
}

/// The 240 fixed colors of a 256-color terminal: a 6×6×6 cube (16–231) and 24 grays (232–255).
///
/// Colors 0–15 are never chosen, because users redefine them.
package enum XtermPalette {
  private static let levels: [UInt8] = [0, 95, 135, 175, 215, 255]

  /// The color of an index. Returns `nil` for 0–15, which have no fixed color.
  package static func color(_ index: UInt8) -> RGB? {
    switch index {
    case 0..<16: return nil
    case 16..<232:
      let cube = Int(index) - 16
      return RGB(levels[cube / 36], levels[cube / 6 % 6], levels[cube % 6])
    default:
      let grey = 8 + (index - 232) * 10
      return RGB(grey, grey, grey)
    }
  }

  /// The index of the most similar color.
  package static func nearest(to color: RGB) -> UInt8 {
    let wanted = Lab(color.linear)
    var best = (index: UInt8(16), difference: Double.infinity)
    for candidate in candidates {
      let difference = candidate.lab.difference(to: wanted)
      if difference < best.difference { best = (candidate.index, difference) }
    }
    return best.index
  }

  private static let candidates: [(index: UInt8, lab: Lab)] = (UInt8(16)...255).compactMap { index in
    color(index).map { (index, Lab($0.linear)) }
  }
}

extension Theme.Variant {
  /// Chooses the variant, dark or light, that suits a background.
  package init(background: RGB) {
    // Black and white text have the same contrast on a gray of this luminance.
    self = background.linear.luminance > 0.179 ? .light : .dark
  }

  /// Parses the reply to the background query, such as `11;rgb:1111/1414/1a1a`. Returns `nil` for any other text.
  package init?(backgroundReport report: String) {
    guard let color = RGB(backgroundReport: report) else { return nil }
    self.init(background: color)
  }

  /// Parses `COLORFGBG`, whose last number is the background color's number in the terminal's palette. Returns `nil` if
  /// the text does not contain it.
  package init?(colorFGBG text: String) {
    guard let last = text.split(separator: ";").last, let number = Int(last), (0...15).contains(number) else {
      return nil
    }
    self = number == 7 || number > 8 ? .light : .dark
  }

  /// The query for a terminal's background (OSC 11). Terminals without support do not reply.
  package static let backgroundQuery = "\u{1B}]11;?\u{7}"
}

extension RGB {
  /// Parses a color report. Each channel has one to four hexadecimal digits and is scaled by their maximum.
  init?(backgroundReport report: String) {
    guard report.hasPrefix("11;rgb:") || report.hasPrefix("11;rgba:") else { return nil }
    let channels = report.drop { $0 != ":" }.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
    let values = channels.prefix(3).compactMap { digits -> UInt8? in
      guard (1...4).contains(digits.count), digits.allSatisfy(\.isHexDigit), let value = Int(digits, radix: 16) else {
        return nil
      }
      return UInt8((value * 255 + 1) / (1 << (4 * digits.count) - 1))
    }
    guard values.count == 3, channels.count <= 4 else { return nil }
    self.init(values[0], values[1], values[2])
  }
}
