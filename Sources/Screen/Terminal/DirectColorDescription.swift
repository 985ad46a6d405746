// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A terminal description (term(5)) in which color numbers are 0xRRGGBB.
///
/// Distributions rarely install the `-direct` descriptions, so the terminal's own description is converted. The numbers
/// and strings for colors are replaced. All extensions are replaced by `RGB`, the extension that ncurses looks for.
struct DirectColorDescription {
  /// The compiled description, in the format with 32-bit numbers.
  let compiled: [UInt8]

  // Indices of term(5), in the order of <term.h>.
  private static let canChange = 27
  private static let maxColors = 13
  private static let maxPairs = 14
  private static let initializeColor = 299
  private static let setForeground = 359
  private static let setBackground = 360

  /// Converts a compiled description. Returns `nil` if the description is invalid or has fewer than 256 colors.
  init?(_ original: [UInt8]) {
    var reader = Reader(bytes: original)
    guard let magic = reader.short(), magic == 0x11A || magic == 0x21E else { return nil }
    let isWide = magic == 0x21E
    var counts: [Int] = []
    for _ in 0..<5 {
      guard let count = reader.short(), count >= 0 else { return nil }
      counts.append(count)
    }
    guard let names = reader.take(counts[0]), var flags = reader.take(counts[1]) else { return nil }
    if (counts[0] + counts[1]) % 2 == 1 { _ = reader.take(1) }
    var numbers: [Int] = []
    for _ in 0..<counts[2] {
      guard let number = isWide ? reader.long() : reader.short() else { return nil }
      numbers.append(number)
    }
    var offsets: [Int] = []
    for _ in 0..<counts[3] {
      guard let offset = reader.short() else { return nil }
      offsets.append(offset)
    }
    guard var strings = reader.take(counts[4]), numbers.count > Self.maxPairs, offsets.count > Self.setBackground,
      numbers[Self.maxColors] >= 256
    else { return nil }
    if flags.count > Self.canChange { flags[Self.canChange] = 0 }
    numbers[Self.maxColors] = 0x100_0000
    numbers[Self.maxPairs] = 0x1_0000
    offsets[Self.initializeColor] = -1
    for (index, plain, direct) in [(Self.setForeground, 3, 38), (Self.setBackground, 4, 48)] {
      offsets[index] = strings.count
      strings += Array(Self.setter(plain: plain, direct: direct).utf8) + [0]
    }
    compiled = Self.write(names: names, flags: flags, numbers: numbers, offsets: offsets, strings: strings)
  }

  /// Loads the description of a terminal from the search path of ncurses (terminfo(5)).
  init?(terminal: String, environment: [String: String]) {
    guard let first = terminal.first, !terminal.contains("/") else { return nil }
    let listed = (environment["TERMINFO_DIRS"] ?? "").split(separator: ":").map(String.init)
    let own = [environment["TERMINFO"], environment["HOME"].map { $0 + "/.terminfo" }].compactMap { $0 }
    let directories = own + listed + ["/etc/terminfo", "/lib/terminfo", "/usr/share/terminfo"]
    for directory in directories where directory.hasPrefix("/") {
      if let data = FileManager.default.contents(atPath: "\(directory)/\(first)/\(terminal)") {
        self.init(Array(data))
        return
      }
    }
    return nil
  }

  /// A value of the variable `TERMINFO` that contains the description itself. ncurses supports such values since 2017.
  var environmentValue: String { "b64:" + Data(compiled).base64EncodedString() }

  /// The string that sets a color: `CSI 3n m` for the eight named colors, otherwise `CSI 38;2;r;g;b m`.
  private static func setter(plain: Int, direct: Int) -> String {
    "\u{1B}[%?%p1%{8}%<%t\(plain)%p1%d%e\(direct);2;%p1%{65536}%/%d;%p1%{256}%/%{255}%&%d;%p1%{255}%&%d%;m"
  }

  private static func write(
    names: [UInt8], flags: [UInt8], numbers: [Int], offsets: [Int], strings: [UInt8]
  ) -> [UInt8] {
    func short(_ value: Int) -> [UInt8] { [UInt8(truncatingIfNeeded: value), UInt8(truncatingIfNeeded: value >> 8)] }
    var bytes = [0x21E, names.count, flags.count, numbers.count, offsets.count, strings.count].flatMap(short)
    bytes += names + flags
    if bytes.count % 2 == 1 { bytes.append(0) }
    bytes += numbers.flatMap { short($0) + short($0 >> 16) }
    bytes += offsets.flatMap(short) + strings
    if bytes.count % 2 == 1 { bytes.append(0) }
    // The extensions: one flag, no numbers, no strings; one name of four bytes.
    bytes += [1, 0, 0, 1, 4].flatMap(short) + [1, 0] + short(0) + Array("RGB".utf8) + [0]
    return bytes
  }

  private struct Reader {
    let bytes: [UInt8]
    var position = 0

    mutating func take(_ count: Int) -> [UInt8]? {
      guard count >= 0, count <= bytes.count - position else { return nil }
      defer { position += count }
      return Array(bytes[position..<position + count])
    }

    mutating func short() -> Int? { take(2).map { Int(Int16(truncatingIfNeeded: Int($0[0]) | Int($0[1]) << 8)) } }

    mutating func long() -> Int? {
      take(4).map {
        Int(Int32(truncatingIfNeeded: $0.enumerated().reduce(0) { $0 | Int($1.element) << (8 * $1.offset) }))
      }
    }
  }
}
