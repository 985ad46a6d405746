// SPDX-License-Identifier: Apache-2.0
import BenchmarkResults
import Dashboard
import DashboardModel
import DashboardView
import FirestoreClientState
import FirestoreModel
import FirestoreQuery
import TerminalCanvas

extension BenchmarkCase {
  /// The cost of a key until its screen is drawn, without the terminal.
  static let screenCases = [
    BenchmarkCase(name: "screen-key", summary: "a key in an open document of 10 000 fields until its frame") { bench in
      var screen = OpenDocument()
      func reading(_ variant: String, goal: Double?, _ body: (inout OpenDocument, Int) -> Void) -> Reading {
        var samples: [Sample] = []
        for number in 0..<bench.repetitions {
          body(&screen, number)
          samples.append(measure(count: 1) { screen.press(number.isMultiple(of: 2) ? "j" : "k") }.sample)
        }
        return Reading(variant: variant, unit: .milliseconds, goal: goal, samples: samples)
      }
      return [
        reading("unchanged", goal: 10) { _, _ in },
        reading("after a change of the document", goal: nil) { screen, number in screen.change(number) },
      ]
    }
  ]
}

/// A dashboard at 120×36 with one document open, whose pane has the focus.
private struct OpenDocument {
  private static let key = DocumentKey(unchecked: ResourcePath("cities").appending("large"))
  private static let fieldCount = 10_000

  private var state: DashboardState
  private var now = Timestamp(seconds: 1_772_452_800)

  init() {
    let backend = ConnectedBackend(.embedded, project: "bench")
    let size = Size(width: 120, height: 36)
    state = DashboardState(
      DashboardConfiguration(database: DatabaseID(project: "bench"), backend: backend), size: size, now: now)
    apply(.client(.collections(below: .root, ["cities"]), at: now))
    press(":")
    apply(.input(.paste(Self.key.path.text), at: now))
    apply(.input(.key(Key(.enter)), at: now))
    change(0)
    press("0")
  }

  mutating func change(_ number: Int) {
    var fields = Fields()
    for index in 0..<Self.fieldCount { fields["field\(index)"] = .integer(Int64(index + number)) }
    let version = SnapshotVersion(microseconds: now.microseconds + Int64(number))
    let document = Document(key: Self.key, version: version, createTime: version, state: .found(DocumentData(fields)))
    apply(.client(.detail(Self.key, remote: document, overlay: nil, local: document), at: now))
  }

  mutating func press(_ key: Character) { apply(.input(.key(Key(.character(key))), at: now)) }

  private mutating func apply(_ action: Action) {
    _ = update(&state, action)
    _ = view(state)
  }
}
