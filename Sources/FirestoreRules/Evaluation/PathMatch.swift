// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

/// Compares the paths of `match` blocks with the path of a request.
struct PathMatch {
  /// One segment of a path, as far as it is known.
  enum Segment {
    case text(String)
    /// Any one segment: the document that a query may find.
    case any
    /// Any number of segments: where a collection group may lie.
    case anyNumber
  }

  let ruleset: Ruleset
  let path: [Segment]

  private var program: Program { _read { yield ruleset.program } }

  /// The statements of all blocks that cover the whole path, in their order, each with the variables of the path.
  func statements() -> [(statement: Program.Allow, captures: [RuleValue?])] {
    var found: [(statement: Program.Allow, captures: [RuleValue?])] = []
    for root in program.roots { collect(root, from: 0, [], &found) }
    return found
  }

  private func collect(
    _ block: Int, from start: Int, _ captures: [RuleValue?],
    _ found: inout [(statement: Program.Allow, captures: [RuleValue?])]
  ) {
    let match = program.matches[block]
    walk(match.segments[...], from: start, captures) { end, captures in
      if end == path.count { for statement in match.allows { found.append((statement, captures)) } }
      for child in match.children { collect(child, from: end, captures, &found) }
    }
  }

  /// Calls `body` for each way in which segments of a block cover segments of the path, with where the next begins.
  private func walk(
    _ segments: ArraySlice<Program.Segment>, from start: Int, _ captures: [RuleValue?],
    _ body: (Int, [RuleValue?]) -> Void
  ) {
    var captures = captures
    var place = start
    var rest = segments
    while let segment = rest.first {
      rest = rest.dropFirst()
      switch segment {
      case .literal(let literal):
        guard place < path.count, case .text(let text) = path[place], text.equalsUTF8(literal) else { return }
        place += 1
      case .variable:
        guard place < path.count else { return }
        switch path[place] {
        case .text(let text): captures.append(.string(text))
        case .any: captures.append(nil)
        case .anyNumber: return
        }
        place += 1
      case .rest:
        // The first version wants at least one segment.
        let least = program.version == 1 ? 1 : 0
        guard place + least <= path.count else { return }
        for end in (place + least)...path.count {
          walk(rest, from: end, captures + [covered(place..<end)], body)
        }
        return
      }
    }
    body(place, captures)
  }

  private func covered(_ range: Range<Int>) -> RuleValue? {
    var segments: [String] = []
    for place in range {
      guard case .text(let text) = path[place] else { return nil }
      segments.append(text)
    }
    return .path(RulePath(segments: segments))
  }
}
