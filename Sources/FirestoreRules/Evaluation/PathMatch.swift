// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

/// Compares the paths of `match` blocks with the path of a request.
struct PathMatch {
  /// What follows the known part of a path.
  enum Segment {
    case text(String)
    /// Any one segment: the document that a query may find.
    case any
    /// Any number of segments: where a collection group may lie.
    case anyNumber
  }

  /// A statement of a block that covers the whole path, with the variables of the path.
  struct Statement {
    let statement: Program.Allow
    let captures: [RuleValue?]
  }

  private let ruleset: Ruleset
  private let methods: RulesMethods
  private let known: [String]
  private let rest: [Segment]
  /// Variables of the blocks that are being looked at.
  private var captures: [RuleValue?] = []
  private var found: [Statement] = []

  /// The statements about some of these methods, in their order.
  static func statements(
    _ ruleset: Ruleset, _ methods: RulesMethods, _ path: RulePath, _ rest: [Segment] = []
  ) -> [Statement] {
    var match = PathMatch(ruleset, methods, path.segments, rest)
    for root in ruleset.program.roots { match.collect(root, from: 0) }
    return match.found
  }

  private init(_ ruleset: Ruleset, _ methods: RulesMethods, _ known: [String], _ rest: [Segment]) {
    (self.ruleset, self.methods, self.known, self.rest) = (ruleset, methods, known, rest)
  }

  /// Variables of a block that was left.
  private mutating func forget(after count: Int) { while captures.count > count { captures.removeLast() } }

  private var count: Int { known.count + rest.count }

  private func segment(_ place: Int) -> Segment {
    place < known.count ? .text(known[place]) : rest[place - known.count]
  }

  private mutating func collect(_ block: Int, from start: Int, segment first: Int = 0) {
    let outer = captures.count
    var place = start
    for index in first..<ruleset.program.matches[block].segments.count {
      switch ruleset.program.matches[block].segments[index] {
      case .literal(let literal):
        guard place < count, case .text(let text) = segment(place), text.equalsUTF8(literal) else {
          forget(after: outer)
          return
        }
        place += 1
      case .variable:
        guard place < count, let value = variable(segment(place)) else {
          forget(after: outer)
          return
        }
        captures.append(value)
        place += 1
      case .rest:
        // The first version wants at least one segment.
        let least = ruleset.program.version == 1 ? 1 : 0
        if place + least <= count {
          for end in (place + least)...count {
            captures.append(covered(place..<end))
            collect(block, from: end, segment: index + 1)
            captures.removeLast()
          }
        }
        forget(after: outer)
        return
      }
    }
    if place == count {
      for statement in ruleset.program.matches[block].allows where !statement.methods.isDisjoint(with: methods) {
        found.append(Statement(statement: statement, captures: captures))
      }
    }
    for child in ruleset.program.matches[block].children { collect(child, from: place) }
    forget(after: outer)
  }

  /// - Returns: `nil` for what is not one segment, `.some(nil)` for one that is not known.
  private func variable(_ segment: Segment) -> RuleValue?? {
    switch segment {
    case .text(let text): .some(.string(text))
    case .any: .some(nil)
    case .anyNumber: nil
    }
  }

  private func covered(_ range: Range<Int>) -> RuleValue? {
    var segments: [String] = []
    for place in range {
      guard case .text(let text) = segment(place) else { return nil }
      segments.append(text)
    }
    return .path(RulePath(segments: segments))
  }
}
