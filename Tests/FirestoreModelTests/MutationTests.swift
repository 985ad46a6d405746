// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreTesting
import SeededRandom
import Testing

private let now = Timestamp(seconds: 1000)
private let testedKey = DocumentKey(unchecked: ResourcePath("c/d"))

private func found(_ fields: Fields, at version: Int64 = 1) -> Document {
  Document(key: testedKey, version: SnapshotVersion(microseconds: version), state: .found(DocumentData(fields)))
}

private let missing = Document(key: testedKey, version: SnapshotVersion(microseconds: 1), state: .missing)

private func paths(_ texts: String...) -> FieldMask {
  FieldMask(texts.map { FieldPath(segments: $0.split(separator: ".").map(String.init)) })
}

private func patch(
  _ fields: Fields, _ mask: FieldMask, _ precondition: Precondition = .exists(true), _ transforms: [FieldTransform] = []
) -> Mutation {
  Mutation(key: testedKey, operation: .patch(fields, mask), precondition: precondition, transforms: transforms)
}

private func apply(_ mutations: Mutation..., to document: Document) -> (document: Document, mask: MutatedFields) {
  var document = document
  let mask = mutations.reduce(MutatedFields.none) { mask, mutation in
    mutation.applyLocally(to: &document, previousMask: mask, at: now)
  }
  return (document, mask)
}

@Suite("Local writes")
struct LocalMutationTests {
  @Test("A set replaces the document and clears its version")
  func set() {
    let set = Mutation(key: testedKey, operation: .set(["b": .integer(2)]))
    let (document, mask) = apply(set, to: found(["a": .integer(1)]))

    #expect(document.data?.fields == ["b": .integer(2)])
    #expect(document.version == nil && document.hasLocalMutations)
    #expect(mask == .all)
  }

  @Test("A patch changes only the fields in its mask")
  func patching() {
    let before: Fields = ["a": .map(["x": .integer(1), "y": .integer(2)]), "b": .integer(3), "text": .string("t")]
    let (document, mask) = apply(
      patch(
        ["a": .map(["x": .integer(9)]), "text": .map(["z": .null]), "unmasked": .null],
        paths("a.x", "a.y", "b", "text.z")),
      to: found(before))

    #expect(document.data?.fields == ["a": .map(["x": .integer(9)]), "text": .map(["z": .null])])
    #expect(mask == .some(paths("a.x", "a.y", "b", "text.z")))
  }

  @Test("Deleting a path below a value that is not a map changes nothing")
  func deletingNothing() {
    let (document, _) = apply(patch([:], paths("a.x.y", "b.z")), to: found(["a": .string("s")]))

    #expect(document.data?.fields == ["a": .string("s")])
  }

  @Test(
    "A mutation with a failed precondition changes nothing",
    arguments: [
      (Precondition.exists(true), missing), (.exists(false), found([:])),
      (.updateTime(SnapshotVersion(microseconds: 2)), found([:])),
      (.updateTime(SnapshotVersion(microseconds: 1)), missing),
      (.exists(true), Document(key: testedKey, version: nil, state: .unknown)),
    ])
  func preconditions(precondition: Precondition, before: Document) {
    for operation in [Mutation.Operation.set([:]), .patch(["a": .null], paths("a")), .delete] {
      let mutation = Mutation(key: testedKey, operation: operation, precondition: precondition)
      let (document, mask) = apply(mutation, to: before)
      #expect(document == before && mask == .none)
    }
  }

  @Test("A patch without a precondition creates the document, and a delete removes it")
  func creation() {
    #expect(apply(patch(["a": .null], paths("a"), .none), to: missing).document.data?.fields == ["a": .null])

    let (document, mask) = apply(Mutation(key: testedKey, operation: .delete), to: found([:]))
    #expect(document.state == .missing && document.hasLocalMutations && mask == .all)
  }

  @Test("A pending server timestamp has the local write time and the previous value")
  func serverTimestamp() {
    let transform = FieldTransform(path: FieldPath("t"), operation: .serverTimestamp)
    let once = patch([:], .init([]), .exists(true), [transform])
    var (document, _) = apply(once, to: found(["t": .string("was")]))
    _ = once.applyLocally(to: &document, previousMask: .none, at: Timestamp(seconds: 2000))

    guard case .serverTimestamp(let estimate)? = document[FieldPath("t")] else {
      Issue.record("no estimate")
      return
    }
    #expect(estimate.localWriteTime == Timestamp(seconds: 2000))
    #expect(estimate.previous == .string("was"))
  }

  @Test(
    "Numeric and array transforms match the backend's results (PROTOCOL §3.2)",
    arguments: [
      (.increment(.integer(2)), .integer(40), .integer(42)), (.increment(.integer(1)), .integer(.max), .integer(.max)),
      (.increment(.integer(-1)), .integer(.min), .integer(.min)), (.increment(.double(0.5)), .integer(1), .double(1.5)),
      (.increment(.integer(1)), .double(0.5), .double(1.5)), (.increment(.integer(1)), .string("x"), .integer(1)),
      (.increment(.double(-0.0)), nil, .double(-0.0)), (.minimum(.integer(3)), .integer(5), .integer(3)),
      (.minimum(.double(3)), .integer(3), .integer(3)), (.minimum(.integer(0)), .double(-0.0), .double(-0.0)),
      (.maximum(.integer(4)), .double(3.5), .integer(4)), (.maximum(.integer(1)), .null, .integer(1)),
      (.maximum(.double(.nan)), .integer(1), .double(.nan)), (.minimum(.integer(1)), .double(.nan), .double(.nan)),
      (
        .arrayUnion([.integer(1), .integer(2), .integer(2), .double(1)]), .array([.integer(1)]),
        .array([.integer(1), .integer(2), .double(1)])
      ),
      (.arrayUnion([.null]), .string("x"), .array([.null])), (.arrayUnion([]), nil, .array([])),
      (
        .arrayRemove([.integer(1), .double(.nan)]), .array([.integer(1), .double(1), .double(.nan), .integer(1)]),
        .array([.double(1)])
      ),
      (.arrayRemove([.null]), .integer(1), .array([])),
    ] as [(FieldTransform.Operation, Value?, Value)])
  func transforms(operation: FieldTransform.Operation, before: Value?, after: Value) {
    var fields = Fields()
    fields["m"] = .map(Fields(before.map { [("f", $0)] } ?? []))
    let path = FieldPath(segments: ["m", "f"])
    let mutation = patch([:], .init([]), .exists(true), [FieldTransform(path: path, operation: operation)])

    #expect(apply(mutation, to: found(fields)).document[path] == after)
    #expect(apply(mutation, to: found(fields)).mask == .some(FieldMask([path])))
  }

  @Test("The backend treats an equal integer and double as one array element")
  func numericArrays() {
    let union = FieldTransform.Operation.arrayUnion([.double(1), .integer(2), .double(2)])

    #expect(union.backendResult(previous: .array([.integer(1)]), at: now) == .array([.integer(1), .integer(2)]))
  }

  @Test("A transform sees the result of the operation and of earlier transforms")
  func sequence() {
    let increment = FieldTransform(path: FieldPath("n"), operation: .increment(.integer(1)))
    let set = Mutation(key: testedKey, operation: .set([:]), transforms: [increment, increment])

    #expect(apply(set, to: found(["n": .integer(40)])).document[FieldPath("n")] == .integer(2))
    #expect(set.baseMutation(for: found(["n": .integer(40)])) == nil)
    #expect(
      apply(patch([:], .init([]), .none, [increment, increment]), to: found(["n": .integer(40)])).document[
        FieldPath("n")]
        == .integer(42))
  }

  @Test("An increment's base is the current number or 0; other transforms have no base")
  func baseMutations() {
    let transforms = ["n", "s", "m.x"].map {
      FieldTransform(
        path: FieldPath(segments: $0.split(separator: ".").map(String.init)), operation: .increment(.integer(1)))
    }
    let document = found(["n": .double(1.5), "s": .string("x")])

    #expect(
      patch([:], .init([]), .exists(true), transforms).baseMutation(for: document)
        == patch(["n": .double(1.5), "s": .integer(0), "m": .map(["x": .integer(0)])], paths("n", "s", "m.x")))
    let idempotent = FieldTransform(path: FieldPath("n"), operation: .maximum(.integer(1)))
    #expect(patch([:], .init([]), .exists(true), [idempotent]).baseMutation(for: document) == nil)
  }
}

@Suite("Overlays")
struct OverlayTests {
  @Test("A mutation without an effect creates no overlay")
  func none() {
    #expect(Mutation.overlay(of: found([:]), changing: .none) == nil)
    let (document, mask) = apply(patch([:], paths("a")), to: missing)
    #expect(Mutation.overlay(of: document, changing: mask) == nil)
  }

  @Test("Setting and then deleting a nested field leaves an empty map in the overlay")
  func emptiedMap() {
    let (document, mask) = apply(
      patch(["foo": .map(["bar": .integer(1)])], paths("foo.bar")), patch([:], paths("foo.bar")), to: found([:]))

    #expect(Mutation.overlay(of: document, changing: mask) == patch(["foo": .map([:])], paths("foo"), .none))
  }

  @Test("An overlay produces the same document as its mutations (S9)", arguments: 0..<300 as Range<UInt64>)
  func equivalence(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let remote = random.pick([found(random.smallFields()), found(random.smallFields()), missing])
    var view = remote
    var mask = MutatedFields.none
    let mutations = random.list(upTo: 4) { $0.mutation() }
    for mutation in mutations { mask = mutation.applyLocally(to: &view, previousMask: mask, at: now) }

    let overlay = Mutation.overlay(of: view, changing: mask)

    var overlaid = remote
    if let overlay { _ = overlay.applyLocally(to: &overlaid, previousMask: .none, at: now) }
    #expect(overlaid == view, "seed \(seed): \(mutations)")
    #expect((overlay != nil) == view.hasLocalMutations)
  }
}

@Suite("Acknowledged writes")
struct AcknowledgedMutationTests {
  private let result = MutationResult(version: SnapshotVersion(microseconds: 9))

  @Test("Acknowledging a patch of an unknown document leaves its contents unknown")
  func unknown() {
    var document = missing
    patch(["a": .null], paths("a")).applyAcknowledged(result, to: &document)

    #expect(document.state == .unknown && document.version == result.version && document.hasCommittedMutations)
  }

  @Test("The backend's transform results are used, and array results are computed locally")
  func answers() {
    var document = found(["n": .integer(1), "l": .array([.integer(1)])])
    let transforms = [
      FieldTransform(path: FieldPath("t"), operation: .serverTimestamp),
      FieldTransform(path: FieldPath("n"), operation: .increment(.integer(1))),
      FieldTransform(path: FieldPath("l"), operation: .arrayUnion([.integer(2)])),
    ]
    let answered = MutationResult(
      version: result.version, transformResults: [.timestamp(Timestamp(seconds: 5)), .integer(100), .null])
    patch([:], .init([]), .exists(true), transforms).applyAcknowledged(answered, to: &document)

    #expect(
      document.data?.fields
        == [
          "t": .timestamp(Timestamp(seconds: 5)), "n": .integer(100), "l": .array([.integer(1), .integer(2)]),
        ])
    #expect(document.hasCommittedMutations && document.version == result.version)
  }

  @Test("A transform result that the backend omits is computed locally")
  func missingAnswers() {
    var document = found([:])
    let transform = FieldTransform(path: FieldPath("t"), operation: .serverTimestamp)
    patch([:], .init([]), .exists(true), [transform]).applyAcknowledged(result, to: &document)

    #expect(document[FieldPath("t")] == .timestamp(result.version.timestamp))
  }

  @Test("The commit sets the create time of a new document only")
  func createTime() {
    var created = missing
    Mutation(key: testedKey, operation: .set([:])).applyAcknowledged(result, to: &created)
    #expect(created.createTime == result.version)

    var existing = found([:])
    existing.createTime = SnapshotVersion(microseconds: 1)
    Mutation(key: testedKey, operation: .set([:])).applyAcknowledged(result, to: &existing)
    #expect(existing.createTime == SnapshotVersion(microseconds: 1))

    Mutation(key: testedKey, operation: .delete).applyAcknowledged(result, to: &existing)
    #expect(existing.state == .missing && existing.createTime == nil && existing.version == result.version)
  }
}

extension SeededGenerator {
  /// Few names, so that mutations meet.
  fileprivate mutating func smallFields(depth: Int = 2) -> Fields {
    Fields(
      list(upTo: 3) { random in
        let value =
          depth > 0 && Bool.random(using: &random)
          ? Value.map(random.smallFields(depth: depth - 1))
          : random.pick([.integer(1), .array([.integer(1)]), .string("s"), .double(2.5)])
        return (random.pick(["a", "b", "c"]), value)
      })
  }

  fileprivate mutating func smallPath() -> FieldPath {
    FieldPath(segments: [pick(["a", "b", "c"])] + list(upTo: 2) { $0.pick(["a", "b", "x"]) })
  }

  fileprivate mutating func mutation() -> Mutation {
    var transforms: [FieldTransform] = []
    if Bool.random(using: &self) {
      let operation: FieldTransform.Operation = pick([
        .serverTimestamp, .increment(.integer(1)), .increment(.double(0.5)), .minimum(.integer(0)),
        .maximum(.double(7)), .arrayUnion([.integer(1), .null]), .arrayRemove([.integer(1)]),
      ])
      transforms = [FieldTransform(path: smallPath(), operation: operation)]
    }
    let precondition: Precondition = pick([
      .none, .none, .exists(true), .exists(false), .updateTime(SnapshotVersion(microseconds: 1)),
    ])
    switch Int.random(in: 0..<6, using: &self) {
    case 0:
      return Mutation(
        key: testedKey, operation: .set(smallFields()), precondition: precondition, transforms: transforms)
    case 1: return Mutation(key: testedKey, operation: .delete, precondition: precondition)
    case 2: return Mutation(key: testedKey, operation: .verify, precondition: precondition)
    default:
      let fields = smallFields()
      let mask = FieldMask(list(upTo: 3) { $0.smallPath() })
      return Mutation(
        key: testedKey, operation: .patch(fields, mask), precondition: precondition, transforms: transforms)
    }
  }
}
