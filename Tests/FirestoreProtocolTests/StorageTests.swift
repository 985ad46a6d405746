// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreTesting
import SeededRandom
import Testing

@Suite("Stored writes and queries")
struct StorageTests {
  private let seeds: Range<UInt64> = 0..<300

  @Test("Every mutation and batch round-trips through storage")
  func writes() throws {
    for seed in seeds {
      var random = SeededGenerator(seed: seed)
      let batch = MutationBatch(
        id: BatchID(random.pick([1, .max])), localWriteTime: random.timestamp(),
        baseMutations: random.list(upTo: 2) { $0.mutation() }, mutations: random.list(upTo: 3) { $0.mutation() })

      let read = try MutationBatch(decoding: batch.encoded())

      #expect(read.id == batch.id && read.localWriteTime == batch.localWriteTime, "seed \(seed)")
      #expect(read.baseMutations == batch.baseMutations && read.mutations == batch.mutations, "seed \(seed)")
      for mutation in batch.mutations { #expect(try Mutation(decoding: mutation.encoded()) == mutation) }
    }
  }

  @Test("Field names that users cannot write round-trip through storage")
  func oddNames() throws {
    let paths = FieldMask([FieldPath("__type__"), FieldPath(segments: ["a.b", "c-d"])])
    let mutation = Mutation(key: Samples.key, operation: .patch(["__type__": .null], paths))

    #expect(try Mutation(decoding: mutation.encoded()) == mutation)
  }

  @Test("A set differs from a patch with an empty mask")
  func emptyMask() throws {
    for operation: Mutation.Operation in [.patch([:], FieldMask([])), .set([:])] {
      let mutation = Mutation(key: Samples.key, operation: operation)
      #expect(try Mutation(decoding: mutation.encoded()) == mutation)
    }
  }

  @Test("A stored write identifies its document by path only, which must be valid")
  func names() throws {
    let bytes = Mutation(key: Samples.key, operation: .delete).encoded()
    #expect(bytes == WireWriter.message { $0.field(2, string: Samples.key.path.text) })
    #expect(throws: ModelError.self) {
      try Mutation(decoding: WireWriter.message { $0.field(2, string: "a/b/c") })
    }
  }

  @Test("Decoding invalid write bytes fails with data-loss and never traps")
  func garbageWrites() throws {
    for bytes in [[], [0x0a], [0x12, 1, 0x63], [0xff, 0xff], [0x3a, 0]] as [[UInt8]] {
      let error = try #require(throws: ModelError.self) { try Mutation(decoding: bytes) }
      #expect(error.code == .dataLoss)
    }
    var random = SeededGenerator(seed: 1)
    for _ in 0..<2000 {
      let bytes = random.damaged(random.mutation().encoded())
      // Some damage still makes a write; that reading returns is the point.
      do throws(ModelError) { _ = try Mutation(decoding: bytes) } catch { #expect(error.code == .dataLoss) }
      do throws(ModelError) { _ = try MutationBatch(decoding: bytes) } catch { #expect(error.code == .dataLoss) }
    }
  }

  @Test("Every query and target round-trips through storage")
  func queries() throws {
    for seed in seeds {
      var random = SeededGenerator(seed: seed)
      var query = random.target().query
      query.limitType = random.pick([.first, .last])
      try compare(query, "seed \(seed)")
    }
    let condition = Filter.field(FieldFilter(FieldPath("a"), .equal, .null))
    for filters: [Filter] in [
      [.and([])], [.or([])], [.and([condition])], [.or([condition])], [.and([condition, condition]), .or([])],
    ] {
      try compare(Query(path: ResourcePath("c"), filters: filters), "\(filters)")
    }
    for query in [
      Query(path: ResourcePath("c/d"), collectionGroup: ""), Query(path: ResourcePath("c/d")), Query(path: .root),
      Query(path: ResourcePath("c"), explicitOrderBy: [OrderBy(FieldPath("a.`b"))], limit: 1 << 40),
    ] {
      try compare(query, "\(query)")
    }
  }

  private func compare(_ query: Query, _ comment: Comment) throws {
    let read = try Query(decoding: query.encoded())
    #expect(read == query, comment)
    #expect(read.explicitOrderBy == query.explicitOrderBy && read.filters == query.filters, comment)
    #expect(try Target(decoding: query.target.encoded()) == query.target, comment)
  }

  @Test("Decoding invalid query bytes fails with data-loss and never traps")
  func garbageQueries() throws {
    let query = Samples.queries[4]
    let bytes = query.encoded()
    for count in 1..<bytes.count {
      // A cut between two fields of the outer message leaves a message.
      guard let read = try? Query(decoding: Array(bytes[..<count])) else { continue }
      #expect(read != query)
    }
    var random = SeededGenerator(seed: 1)
    for _ in 0..<2000 {
      let damaged = random.damaged(bytes)
      do throws(ModelError) { _ = try Query(decoding: damaged) } catch { #expect(error.code == .dataLoss) }
    }
  }
}

extension SeededGenerator {
  /// The same with some bytes replaced.
  fileprivate mutating func damaged(_ bytes: [UInt8]) -> [UInt8] {
    var bytes = bytes
    for _ in 0..<3 { bytes[Int.random(in: bytes.indices, using: &self)] = .random(in: .min ... .max, using: &self) }
    return bytes
  }
}
