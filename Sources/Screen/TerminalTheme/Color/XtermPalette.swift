// SPDX-License-Identifier: Apache-2.0

/// The 240 fixed colours of a 256-colour terminal: a 6×6×6 cube (16–231) and 24 greys (232–255).
///
/// Colours 0–15 are never chosen, because users redefine them.
package enum XtermPalette {
  private static let levels: [UInt8] = [0, 95, 135, 175, 215, 255]

  /// The colour of an index; `nil` for 0–15, which have no fixed one.
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

  /// The index whose colour looks most like the given one.
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
