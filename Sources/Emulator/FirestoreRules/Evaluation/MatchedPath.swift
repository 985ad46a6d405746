// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

/// The path that is compared with `match` blocks: the path of a request, followed by the segments that a query's
/// possible results have below it.
struct MatchedPath {
  /// One segment after the known part of a path.
  enum Segment {
    case text(String)
    /// Any single segment, such as the id of a possible result.
    case any
    /// Any number of segments, such as the ancestors of a collection group.
    case anyNumber
  }

  /// The segments that a path variable covers, by their indices.
  struct Capture: Sendable {
    let lower: Int
    let upper: Int
    /// Whether the variable is a `{name=**}`, whose value is a path.
    let isRest: Bool
  }

  let database: DatabaseID
  /// The path below the database's documents.
  let path: ResourcePath
  let rest: [Segment]
  /// The end offsets of the segments in the path, in UTF-8 bytes.
  private(set) var ends: [Int]

  /// The number of segments before the path: `databases`, the database's id, `documents`.
  private static let prefix = 3
  /// The index of the database's id among the segments of this prefix.
  static let databasePlace = 1

  /// - Parameter room: an array whose storage is reused.
  init(_ database: DatabaseID, _ path: ResourcePath, _ rest: [Segment] = [], in room: consuming [Int] = []) {
    (self.database, self.path, self.rest) = (database, path, rest)
    ends = room
    path.findSegments(&ends)
  }

  private var known: Int { Self.prefix + ends.count }
  var count: Int { known + rest.count }

  /// The UTF-8 bytes of one segment of the path.
  private func bytes(_ place: Int) -> Range<Int> {
    let index = place - Self.prefix
    return (index == 0 ? 0 : ends[index - 1] + 1)..<ends[index]
  }

  /// - Returns: `nil` for a segment that the query does not determine.
  private func text(_ place: Int) -> String? {
    switch place {
    case 0: return "databases"
    case 1: return database.database
    case 2: return "documents"
    case ..<known: return path.segment(bytes(place))
    default:
      if case .text(let text) = rest[place - known] { return text }
      return nil
    }
  }

  /// - Returns: `nil` for segments that the query does not determine.
  func value(_ capture: Capture) -> RuleValue? {
    if !capture.isRest { return text(capture.lower).map { .string($0) } }
    var segments: [String] = []
    segments.reserveCapacity(capture.upper - capture.lower)
    for place in capture.lower..<capture.upper {
      guard let text = text(place) else { return nil }
      segments.append(text)
    }
    return .path(RulePath(segments: segments))
  }

  /// Whether one segment of a block's path covers the segment at `place`.
  func isCovered(_ place: Int, by segment: Program.Segment) -> Bool {
    switch segment {
    case .literal(let literal):
      if place >= Self.prefix, place < known { return path.isSegment(bytes(place), literal) }
      return place < count && text(place)?.equalsUTF8(literal) == true
    case .variable:
      if place < known { return true }
      guard place < count else { return false }
      if case .anyNumber = rest[place - known] { return false }
      return true
    case .rest: return false
    }
  }
}

extension Decision {
  /// Calls `visit` for each statement that allows one of the methods and whose block matches the whole path, in order.
  /// The path variables are then in `evaluator.captures`.
  /// - Returns: whether `visit` ended the search.
  mutating func matches(_ methods: RulesMethods, _ visit: (inout Decision, Program.Allow) -> Bool) -> Bool {
    evaluator.captures.removeAll(keepingCapacity: true)
    for root in ruleset.program.roots where matches(root, methods, visit, from: 0) { return true }
    return false
  }

  private mutating func matches(
    _ block: Int, _ methods: RulesMethods, _ visit: (inout Decision, Program.Allow) -> Bool, from start: Int,
    segment first: Int = 0
  ) -> Bool {
    let outer = evaluator.captures.count
    // The variables of a block are removed after its statements.
    defer { while evaluator.captures.count > outer { evaluator.captures.removeLast() } }
    var place = start
    for index in first..<ruleset.matches[block].segments.count {
      switch ruleset.matches[block].segments[index] {
      case .rest:
        // Version 1 of the language requires at least one segment.
        let least = place + (ruleset.program.version == 1 ? 1 : 0)
        if least > evaluator.path.count { return false }
        for end in least...evaluator.path.count {
          evaluator.captures.append(MatchedPath.Capture(lower: place, upper: end, isRest: true))
          if matches(block, methods, visit, from: end, segment: index + 1) { return true }
          evaluator.captures.removeLast()
        }
        return false
      case let segment:
        guard evaluator.path.isCovered(place, by: segment) else { return false }
        if case .variable = segment {
          evaluator.captures.append(MatchedPath.Capture(lower: place, upper: place + 1, isRest: false))
        }
        place += 1
      }
    }
    if place == evaluator.path.count {
      for statement in ruleset.matches[block].allows where !statement.methods.isDisjoint(with: methods) {
        if visit(&self, statement) { return true }
      }
    }
    for child in ruleset.matches[block].children where matches(child, methods, visit, from: place) {
      return true
    }
    return false
  }
}
