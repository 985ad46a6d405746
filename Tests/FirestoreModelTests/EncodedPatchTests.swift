// SPDX-License-Identifier: Apache-2.0
import FirestoreTesting
import SeededRandom
import Testing

@testable import FirestoreModel

@Suite("Patches of encoded fields")
struct EncodedPatchTests {
  private let now = Timestamp(seconds: 1_800_000_000)

  /// The simple version: all fields decoded, changed one after the other, and encoded.
  private func decodedPatch(_ fields: Fields, _ new: Fields, _ mask: FieldMask, _ transforms: [FieldTransform])
    -> Fields
  {
    var result = fields
    for path in mask.paths { result[path] = new[path] }
    for transform in transforms {
      let previous = transform.operation == .serverTimestamp ? fields[transform.path] : result[transform.path]
      result[transform.path] = transform.operation.localResult(previous: previous, at: now)
    }
    return result
  }

  private func anyPath(_ fields: Fields, _ random: inout SeededGenerator) -> FieldPath {
    let names = fields.entries.map(\.name) + ["a", "new", "zz", String(repeating: "long", count: 40)]
    let name = random.pick(names)
    guard Int.random(in: 0..<3, using: &random) == 0 else { return FieldPath(name) }
    return FieldPath(segments: [name, random.pick(["a", "b", "inner"])])
  }

  @Test("Patching encoded bytes gives the same result as decoding, patching and encoding", arguments: UInt64(0)..<300)
  func oracle(_ seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var fields = random.fields()
    if seed.isMultiple(of: 5) { fields["large"] = .string(String(repeating: "x", count: 20_000)) }
    if seed.isMultiple(of: 3) { fields[String(repeating: "n", count: 130)] = .integer(1) }
    // The later of two paths that overlap would decide, and a mask has no order.
    var paths: [FieldPath] = []
    for _ in 0..<4 {
      let path = anyPath(fields, &random)
      if !paths.contains(where: { $0.isPrefix(of: path) || path.isPrefix(of: $0) }) { paths.append(path) }
    }
    var new = Fields()
    for path in paths where Bool.random(using: &random) { new[path] = .integer(Int64(seed)) }
    let operations: [FieldTransform.Operation] = [
      .serverTimestamp, .increment(.integer(2)), .arrayUnion([.integer(1)]),
    ]
    let transforms = (0..<2).map { _ in
      FieldTransform(path: anyPath(fields, &random), operation: random.pick(operations))
    }
    let mutation = Mutation(
      key: key("c/d"), operation: .patch(new, FieldMask(paths)), transforms: transforms)
    let expected = decodedPatch(fields, new, FieldMask(paths), transforms)
    for data in [DocumentData(fields), DocumentData(encoded: EncodedFields(fields))] {
      var document = Document(key: key("c/d"), version: nil, state: .found(data))
      _ = mutation.applyLocally(to: &document, previousMask: .none, at: now)
      #expect(document.data?.encoded.bytes == EncodedFields(expected).bytes, "seed \(seed)")
      #expect(document.data == DocumentData(expected), "seed \(seed)")
    }
  }

  @Test("Equality ignores the representation and a pending timestamp's previous value")
  func equality() {
    func stamped(_ previous: Int64) -> Fields {
      ["a": .integer(1), "t": .serverTimestamp(ServerTimestamp(localWriteTime: now, previous: .integer(previous)))]
    }
    let forms: [(Fields) -> DocumentData] = [{ DocumentData($0) }, { DocumentData(encoded: EncodedFields($0)) }]
    for left in forms {
      for right in forms {
        #expect(left(stamped(1)) == right(stamped(2)))
        #expect(left(["a": .integer(1)]) == right(["a": .integer(1)]))
        #expect(left(["a": .integer(1)]) != right(["a": .double(1)]))
        #expect(left(stamped(1)) != right(["a": .integer(1), "t": .timestamp(now)]))
        #expect(left(["a": .double(-0.0)]) != right(["a": .double(0)]))
        #expect(left(["a": .double(.nan)]) == right(["a": .double(.nan)]))
      }
    }
  }
}
