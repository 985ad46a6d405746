// SPDX-License-Identifier: Apache-2.0
import Dashboard
import DashboardModel
import TerminalCanvas

/// The numbers of a listener's documents by the value of a field, as bars.
struct MixBars {
  let mix: ValueMix.Shown
  let glyphs: Glyphs

  /// A slot of equal width for each value: its name, a bar by its share of all, its number of documents. One that
  /// changes moves none of the others.
  /// - Parameter names: whether the name of the field stands before the values.
  func line(width: Int, names: Bool) -> Line {
    var line = Line(glyphs)
    var room = width
    if names {
      let name = SafeText.truncated(mix.field, to: 12, ellipsis: glyphs.ellipsis)
      line.cell(name, .textMuted, width: min(13, width / 4))
      room -= line.width
    }
    let total = mix.values.reduce(0) { $0 + $1.documents }
    let slot = room / max(1, mix.values.count)
    let start = line.width
    for (index, value) in mix.values.enumerated() {
      line.skip(to: start + slot * index)
      let number = grouped(value.documents)
      let role = Role.value(index)
      let bar = min(24, slot - SafeText.columns(of: value.value) - number.count - 3)
      guard bar >= 2 else {
        let label = SafeText.truncated(value.value, to: max(1, slot - number.count - 2), ellipsis: glyphs.ellipsis)
        line.add("\(label) \(number)", role)
        continue
      }
      line.add("\(value.value) \(glyphs.bar(value.documents, of: total, width: bar)) \(number)", role)
    }
    return line
  }
}
