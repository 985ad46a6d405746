// SPDX-License-Identifier: Apache-2.0

extension Theme.Variant {
  /// Chooses the variant that suits a background.
  package init(background: RGB) {
    // Black and white text have the same contrast on a grey of this luminance.
    self = background.linear.luminance > 0.179 ? .light : .dark
  }

  /// Reads the answer to the question for the background, `11;rgb:1111/1414/1a1a`; `nil` for anything else.
  package init?(backgroundReport report: String) {
    guard let color = RGB(backgroundReport: report) else { return nil }
    self.init(background: color)
  }

  /// Reads `COLORFGBG`, whose last number is the background's in the terminal's palette; `nil` where it tells nothing.
  package init?(colorFGBG text: String) {
    guard let last = text.split(separator: ";").last, let number = Int(last), (0...15).contains(number) else {
      return nil
    }
    self = number == 7 || number > 8 ? .light : .dark
  }

  /// The query for a terminal's background (OSC 11); terminals that do not know it do not answer.
  package static let backgroundQuery = "\u{1B}]11;?\u{7}"
}

extension RGB {
  /// Reads a report of a colour. Each channel has one to four hexadecimal digits and is scaled by their greatest value.
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
