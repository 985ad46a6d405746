// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestorePipelines
import FirestoreProtocol
import FirestoreQuery
import FirestoreTesting

let requestTime = Timestamp(seconds: 1_750_000_000)

extension ExpressionMessage: ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
  ExpressibleByStringLiteral, ExpressibleByBooleanLiteral, ExpressibleByNilLiteral
{
  public init(integerLiteral value: Int64) { self = .constant(.integer(value)) }
  public init(floatLiteral value: Double) { self = .constant(.double(value)) }
  public init(stringLiteral value: String) { self = .constant(.string(value)) }
  public init(booleanLiteral value: Bool) { self = .constant(.boolean(value)) }
  public init(nilLiteral: ()) { self = .constant(.null) }
}

func call(_ name: String, _ arguments: ExpressionMessage...) -> ExpressionMessage { .function(name, arguments) }
func list(_ elements: ExpressionMessage...) -> ExpressionMessage { .function("array", elements) }
func field(_ path: String) -> ExpressionMessage { .field(path) }
func stage(_ name: String, _ arguments: ExpressionMessage...) -> PipelineMessage.Stage {
  PipelineMessage.Stage(name, arguments)
}
func named(_ entries: [(name: String, value: ExpressionMessage)]) -> ExpressionMessage { .named(entries) }
func order(_ path: String, _ direction: String = "ascending") -> ExpressionMessage {
  .named([("expression", .field(path)), ("direction", .constant(.string(direction)))])
}

/// Documents in memory, three at a time.
struct ListedDocuments: DocumentSource {
  struct Cursor: DocumentCursor {
    var rest: ArraySlice<Document>

    mutating func next() async throws(RPCStatus) -> [Document]? {
      if rest.isEmpty { return nil }
      defer { rest = rest.dropFirst(3) }
      return Array(rest.prefix(3))
    }
  }

  var documents: [Document]

  init(_ contents: [(path: String, fields: Fields)]) {
    documents = contents.map { path, fields in
      let version = SnapshotVersion(microseconds: 1_000_000)
      return Document(
        key: DocumentKey(path)!, version: version, createTime: version,
        state: .found(DocumentData(encoded: EncodedFields(fields))))
    }.sorted { $0.key < $1.key }
  }

  func open(_ selection: DocumentSelection, _ constraints: [Filter]) async throws(RPCStatus) -> any DocumentCursor {
    let found = documents.filter { document in
      switch selection {
      case .collection(let path): document.key.collection == path
      case .collectionGroup(let id): document.key.collectionGroup == id
      case .database: true
      case .documents(let keys): keys.contains(document.key)
      }
    }
    return Cursor(rest: found[...])
  }
}

func context(heldBytes: Int = 1 << 24) -> EvaluationContext {
  EvaluationContext(database: database, time: requestTime, heldBytes: heldBytes) { 0x9E37_79B9_7F4A_7C15 }
}

/// What a pipeline gives.
func results(
  _ stages: [PipelineMessage.Stage], of documents: ListedDocuments = books, _ context: EvaluationContext = context()
) async throws(RPCStatus) -> [PipelineResult] {
  let pipeline = try Pipeline(PipelineMessage(stages), in: database)
  var (results, found) = (try await PipelineRun(documents, context).results(of: pipeline), [PipelineResult]())
  while let slice = try await results.next() { found += slice }
  return found
}

/// The fields that a pipeline gives.
func fields(
  _ stages: PipelineMessage.Stage..., of documents: ListedDocuments = books
) async throws(RPCStatus) -> [Fields] {
  try await results(stages, of: documents).map(\.data.fields)
}

/// The value of an expression for one document; `nil` if it has none.
func value(_ expression: ExpressionMessage, for document: Fields = Fields()) async throws(RPCStatus) -> Value? {
  let source = ListedDocuments([("c/a", document)])
  let found = try await results(
    [stage("collection", .path("/c")), stage("select", named([("value", expression)]))], of: source)
  return found[0].data[FieldPath("value")]
}

let books = ListedDocuments([
  ("books/b1", ["title": "Dune", "year": 1965, "tags": ["desert", "politics"], "rating": 4.5]),
  ("books/b2", ["title": "Emma", "year": 1815, "tags": ["love"], "rating": 4.0]),
  ("books/b3", ["title": "Ulysses", "year": 1922, "tags": [], "rating": 3.5]),
  ("books/b4", ["title": "Persuasion", "year": 1817, "tags": ["love", "sea"], "rating": 4.0]),
  ("books/b5", ["title": "Beowulf", "rating": .null]),
  ("books/b1/reviews/r1", ["author": "Ann", "stars": 5]),
  ("books/b1/reviews/r2", ["author": "Bob", "stars": 3]),
  ("books/b2/reviews/r1", ["author": "Cid", "stars": 4]),
])
