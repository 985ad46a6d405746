// SPDX-License-Identifier: Apache-2.0
import Dashboard
import DashboardModel
import FirestoreClientState
import FirestoreModel
import TerminalCanvas

/// The writes that were answered before, in the rows that the queue leaves.
extension WritesPane {
  /// So many rows of the feed are looked through.
  private static let late = 200

  func drawAnswered(in area: Rect, _ batchWidth: Int, on canvas: inout Canvas) {
    guard area.height >= 2 else { return }
    var seen: Set<BatchID> = []
    let answers = frame.state.feed.rows.suffix(Self.late).reversed().filter { row in
      row.acknowledges.map { seen.insert($0).inserted } ?? false
    }
    guard !answers.isEmpty else { return }
    canvas.put("acknowledged before", at: Point(x: area.x + 1, y: area.y), role: .textMuted, clip: area)
    for (index, row) in answers.prefix(area.height - 1).enumerated() {
      var line = Line(glyphs)
      line.skip(1)
      line.cell(row.acknowledges?.description ?? "", .textMuted, width: batchWidth)
      line.add(TimeText.clock(row.time, offset: frame.state.configuration.utcOffset), .textMuted)
      line.skip(2)
      line.add(PathText.fitted(row.key?.path.text ?? "", to: 28, glyphs.ellipsis), .textMuted)
      line.add("  " + row.summary, .textMuted)
      canvas.put(line, x: area.x, y: area.y + 1 + index, width: area.width)
    }
  }
}

/// The fields that a waiting write sets, in short.
enum WrittenFields {
  private static let mostFields = 3

  /// `status "packed" · items [3]`; `nil` for a write of several documents, or of no field.
  static func text(of row: QueueRow, _ glyphs: Glyphs) -> String? {
    guard row.write.mutations.count == 1, let mutation = row.write.mutations.first else { return nil }
    var parts: [String]
    switch mutation.operation {
    case .set(let fields): parts = fields.entries.map { "\($0.name) \(ValueText.short($0.value))" }
    case .patch(let fields, let mask):
      parts = mask.paths.sorted().map { path in
        fields[path].map { "\(path.canonicalText) \(ValueText.short($0))" } ?? "-\(path.canonicalText)"
      }
    case .delete, .verify: parts = []
    }
    parts += mutation.transforms.map { "\($0.path.canonicalText) \($0.operation.text)" }
    let more = parts.count > Self.mostFields ? ["\(parts.count - Self.mostFields) more"] : []
    let shown = parts.prefix(Self.mostFields) + more
    return shown.isEmpty ? nil : shown.joined(separator: " \(glyphs.bullet) ")
  }
}
