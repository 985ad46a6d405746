// SPDX-License-Identifier: Apache-2.0

/// The Unicode scalars that one step accepts.
struct ScalarSet: Hashable, Sendable {
  var ranges: [ClosedRange<UInt32>]
  /// The general categories of Unicode whose scalars also belong to the set.
  var categories: [ScalarCategory] = []
  var isNegated = false
  var isExact = true

  init(_ ranges: [ClosedRange<UInt32>], isNegated: Bool = false, isExact: Bool = true) {
    self.ranges = ranges
    self.isNegated = isNegated
    self.isExact = isExact
  }

  init(_ scalar: Unicode.Scalar, isExact: Bool) { self.init([scalar.value...scalar.value], isExact: isExact) }

  static let any = ScalarSet([0...0x10FFFF])
  static let anyInLine = ScalarSet([0x0A...0x0A], isNegated: true)
  static let digits: [ClosedRange<UInt32>] = [0x30...0x39]
  static let spaces: [ClosedRange<UInt32>] = [0x09...0x0D, 0x20...0x20, 0xA0...0xA0, 0x2000...0x200A, 0x3000...0x3000]
  /// ASCII letters and digits, the underscore, and U+00C0 to U+1FFF.
  static let words: [ClosedRange<UInt32>] = [0x30...0x39, 0x41...0x5A, 0x5F...0x5F, 0x61...0x7A, 0xC0...0x1FFF]

  /// All scalars that are not in the ranges.
  static func complement(_ ranges: [ClosedRange<UInt32>]) -> [ClosedRange<UInt32>] {
    var result: [ClosedRange<UInt32>] = []
    var next: UInt32 = 0
    for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
      if range.lowerBound > next { result.append(next...range.lowerBound - 1) }
      next = max(next, range.upperBound + 1)
    }
    if next <= 0x10FFFF { result.append(next...0x10FFFF) }
    return result
  }

  /// ASCII ranges, extended by all scalars that differ only in case from a scalar in the ranges.
  static func folded(ascii ranges: [ClosedRange<UInt32>]) -> [ClosedRange<UInt32>] {
    let set = ScalarSet(ranges, isExact: false)
    let others = (Array(0x41...0x5A) + Array(0x61...0x7A) + [0x17F, 0x212A]).filter { value in
      Unicode.Scalar(value as UInt32).map { set.contains($0) } ?? false
    }
    return ranges + others.map { $0...$0 }
  }

  func contains(_ scalar: Unicode.Scalar) -> Bool {
    if has(scalar.value) { return !isNegated }
    if isExact { return categories.contains { $0.contains(scalar) } != isNegated }
    let others = LetterCase.others(of: scalar)
    if others.contains(where: { has($0.value) }) { return !isNegated }
    return categories.contains { $0.contains(scalar, or: others) } != isNegated
  }

  private func has(_ value: UInt32) -> Bool { ranges.contains { $0.contains(value) } }
}

/// The scalars in a general category of Unicode, or all scalars that are not in it.
struct ScalarCategory: Hashable, Sendable {
  /// The name, such as `L` or `Lu`.
  let name: String
  let isNegated: Bool

  /// - Returns: `nil` if there is no category with this name.
  init?(_ name: String, isNegated: Bool) {
    guard name == "Any" || Self.names.contains(where: { $0.hasPrefix(name) && !name.isEmpty }) else { return nil }
    self.name = name
    self.isNegated = isNegated
  }

  /// - Parameter others: the same letter in other cases. It is sufficient if one of them is in the category.
  func contains(_ scalar: Unicode.Scalar, or others: [Unicode.Scalar] = []) -> Bool {
    (name == "Any" || has(scalar) || others.contains(where: has)) != isNegated
  }

  private func has(_ scalar: Unicode.Scalar) -> Bool {
    Self.name(of: scalar.properties.generalCategory).hasPrefix(name)
  }

  private static let names = [
    "Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl", "No", "Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po", "Sm",
    "Sc", "Sk", "So", "Zs", "Zl", "Zp", "Cc", "Cf", "Cs", "Co", "Cn",
  ]

  private static func name(of category: Unicode.GeneralCategory) -> String {
    switch category {
    case .uppercaseLetter: "Lu"
    case .lowercaseLetter: "Ll"
    case .titlecaseLetter: "Lt"
    case .modifierLetter: "Lm"
    case .otherLetter: "Lo"
    case .nonspacingMark: "Mn"
    case .spacingMark: "Mc"
    case .enclosingMark: "Me"
    case .decimalNumber: "Nd"
    case .letterNumber: "Nl"
    case .otherNumber: "No"
    case .connectorPunctuation: "Pc"
    case .dashPunctuation: "Pd"
    case .openPunctuation: "Ps"
    case .closePunctuation: "Pe"
    case .initialPunctuation: "Pi"
    case .finalPunctuation: "Pf"
    case .otherPunctuation: "Po"
    case .mathSymbol: "Sm"
    case .currencySymbol: "Sc"
    case .modifierSymbol: "Sk"
    case .otherSymbol: "So"
    case .spaceSeparator: "Zs"
    case .lineSeparator: "Zl"
    case .paragraphSeparator: "Zp"
    case .control: "Cc"
    case .format: "Cf"
    case .surrogate: "Cs"
    case .privateUse: "Co"
    case .unassigned: "Cn"
    @unknown default: "Cn"
    }
  }
}

/// Finds the scalars that differ from a scalar only in case, by Unicode's simple case folding.
enum LetterCase {
  static func others(of scalar: Unicode.Scalar) -> [Unicode.Scalar] {
    let value = scalar.value
    if let family = familyOf[value] { return family.filter { $0 != value }.compactMap(Unicode.Scalar.init) }
    if scalar.isASCII { return (0x41...0x5A).contains(value & 0xDF) ? [Unicode.Scalar(UInt8(value ^ 0x20))] : [] }
    let properties = scalar.properties
    return [properties.lowercaseMapping, properties.uppercaseMapping, properties.titlecaseMapping].compactMap { other in
      let scalars = other.unicodeScalars
      return scalars.count == 1 && scalars.first != scalar ? scalars.first : nil
    }
  }

  /// Families of more than two scalars (CaseFolding.txt): k K K, s S ſ, µ Μ μ, å Å Å, Ǆ ǅ ǆ and so on. Also ß ẞ,
  /// because Swift's uppercase form of ß is two letters.
  private static let families: [[UInt32]] = [
    [0x4B, 0x6B, 0x212A], [0x53, 0x73, 0x17F], [0xB5, 0x39C, 0x3BC], [0xC5, 0xE5, 0x212B], [0xDF, 0x1E9E],
    [0x1C4, 0x1C5, 0x1C6], [0x1C7, 0x1C8, 0x1C9], [0x1CA, 0x1CB, 0x1CC], [0x1F1, 0x1F2, 0x1F3],
    [0x345, 0x399, 0x3B9, 0x1FBE], [0x392, 0x3B2, 0x3D0], [0x395, 0x3B5, 0x3F5], [0x398, 0x3B8, 0x3D1, 0x3F4],
    [0x39A, 0x3BA, 0x3F0], [0x3A0, 0x3C0, 0x3D6], [0x3A1, 0x3C1, 0x3F1], [0x3A3, 0x3C2, 0x3C3], [0x3A6, 0x3C6, 0x3D5],
    [0x3A9, 0x3C9, 0x2126], [0x412, 0x432, 0x1C80], [0x414, 0x434, 0x1C81], [0x41E, 0x43E, 0x1C82],
    [0x421, 0x441, 0x1C83], [0x422, 0x442, 0x1C84, 0x1C85], [0x42A, 0x44A, 0x1C86], [0x462, 0x463, 0x1C87],
    [0x1C88, 0xA64A, 0xA64B], [0x1E60, 0x1E61, 0x1E9B],
  ]

  private static let familyOf: [UInt32: [UInt32]] = Dictionary(
    uniqueKeysWithValues: families.flatMap { family in family.map { ($0, family) } })
}
