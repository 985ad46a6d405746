// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreQuery
import FirestoreTesting
import SeededRandom
import Synchronization
import Testing

@testable import FirestoreBackend

@Suite("Nearest neighbor search")
struct NearestNeighborsTests {
  private static let dimension = 6

  /// Documents with vectors, and a few without one or with one of another length.
  private func documents(_ count: Int, textBytes: Int) -> [(key: DocumentKey, fields: Fields)] {
    var random = SeededGenerator(seed: 7)
    let text = Value.string(String(repeating: "x", count: textBytes))
    return (0..<count).map { number in
      let elements = (0..<Self.dimension).map { _ in Double(Int.random(in: -3...3, using: &random)) }
      let vector: Value? = number % 11 == 0 ? nil : .vector(number % 7 == 0 ? [1] : elements)
      var fields: Fields = ["t": text, "n": .integer(Int64(number % 4))]
      fields["v"] = vector
      return (key("c/d\(1_000 + number)"), fields)
    }
  }

  private func distance(_ left: [Double], _ right: [Double], _ measure: NearestNeighbors.Measure) -> Double {
    func dot(_ left: [Double], _ right: [Double]) -> Double { zip(left, right).map { $0 * $1 }.reduce(0, +) }
    switch measure {
    case .dotProduct: return dot(left, right)
    case .euclidean: return zip(left, right).map { ($0 - $1) * ($0 - $1) }.reduce(0, +).squareRoot()
    case .cosine:
      let lengths = (dot(left, left) * dot(right, right)).squareRoot()
      return lengths == 0 ? 1 : 1 - dot(left, right) / lengths
    }
  }

  @Test(
    "A vector search finds the same as comparing every vector; ties keep query order",
    arguments: [NearestNeighbors.Measure.euclidean, .cosine, .dotProduct], [10, 40_000])
  func oracle(_ measure: NearestNeighbors.Measure, _ textBytes: Int) async throws {
    let all = documents(250, textBytes: textBytes)
    let backend = try makeBackend()
    try await backend.seed(all, in: database)
    let wanted: [Double] = [1, -2, 0, 3, 1, 1]
    let search = NearestNeighbors(
      path: FieldPath("v"), vector: wanted, measure: measure, limit: 40, resultField: FieldPath("far"))
    for (offset, limit, orderBy) in [(0, nil, []), (3, 120, []), (0, nil, [OrderBy(FieldPath("n"), .descending)])]
      as [(Int, Int?, [OrderBy])]
    {
      var order = all
      if !orderBy.isEmpty {
        order.sort { left, right in
          let (first, second) = (left.fields["n"] ?? .null, right.fields["n"] ?? .null)
          return first == second ? left.key > right.key : first.compare(second) == .descending
        }
      }
      let candidates = order.dropFirst(offset).prefix(limit ?? .max).compactMap { entry in
        if case .vector(let vector)? = entry.fields["v"], vector.count == wanted.count {
          (entry.key, distance(wanted, vector, measure))
        } else {
          nil
        }
      }
      let expected = candidates.enumerated().sorted { left, right in
        if left.element.1 == right.element.1 { return left.offset < right.offset }
        return measure == .dotProduct ? left.element.1 > right.element.1 : left.element.1 < right.element.1
      }.prefix(40).map(\.element)

      let query = ServedQuery(
        FirestoreBackendTests.query("c", orderBy: orderBy, limit: limit), offset: offset, nearest: search)
      var (found, next) = ([Document](), QueryCursor?.some(try await backend.open(ReadRequest(query, in: database))))
      while let cursor = next {
        let (piece, rest) = try await backend.read(cursor)
        found += piece.documents
        next = rest
      }

      #expect(found.map(\.key) == expected.map(\.0))
      #expect(found.map { $0["far"] } == expected.map { .double($0.1) })
      #expect(found.allSatisfy { $0["t"] == all[0].fields["t"] })
    }
  }

  @Test("A vector search of large documents runs in slices that let other work run")
  func slices() async throws {
    let pauses = Atomic(0)
    let backend = try LocalBackend(
      BackendConfiguration(location: .memory, now: TestClock().now),
      pause: { pauses.wrappingAdd(1, ordering: .relaxed) })
    let vector = Value.vector((0..<1_024).map(Double.init))
    let documents = (0..<600).map { (key: key("c/d\($0)"), fields: Fields([("v", vector)])) }
    try await backend.seed(documents, in: database)
    let search = NearestNeighbors(
      path: FieldPath("v"), vector: Array(repeating: 1, count: 1_024), measure: .cosine, limit: 5)

    let served = ServedQuery(query("c"), nearest: search)
    #expect(try await backend.run(ReadRequest(served, in: database)).documents.count == 5)
    // Of 600 × 11 kB, each slice has some 2 MiB.
    #expect(pauses.load(ordering: .relaxed) >= 3)
  }
}
