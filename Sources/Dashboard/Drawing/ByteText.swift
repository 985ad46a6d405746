// SPDX-License-Identifier: Apache-2.0

/// Sizes as people read them, in powers of 1 024 as the SDK counts its 100 MB of cache.
enum ByteText {
  /// `512 B`, `1.2 kB`, `34 MB`: two digits from a kilobyte on, at most 6 columns.
  static func short(_ count: Int) -> String {
    var value = Double(max(0, count))
    var unit = 0
    let units = ["B", "kB", "MB", "GB", "TB"]
    while value >= 999.5, unit < units.count - 1 {
      value /= 1024
      unit += 1
    }
    let isFine = unit > 0 && value < 9.95
    let tenths = Int((value * 10).rounded())
    return isFine ? "\(tenths / 10).\(tenths % 10) \(units[unit])" : "\(Int(value.rounded())) \(units[unit])"
  }
}
