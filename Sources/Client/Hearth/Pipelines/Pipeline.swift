// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol
import FirestoreSync

extension Firestore {
  /// Begins a pipeline: a sequence of stages that the backend executes. Each stage processes the results of the
  /// previous stage.
  ///
  /// The backend executes the pipeline on the documents that it stores, so pending local writes have no effect.
  public func pipeline() -> PipelineSource { PipelineSource(firestore: self) }
}

/// Selects the documents that a pipeline starts with.
public struct PipelineSource: Sendable {
  let firestore: Firestore

  /// All documents of a collection.
  public func collection(_ path: String) -> Pipeline { collection(firestore.collection(path)) }

  /// All documents of a collection.
  public func collection(_ reference: CollectionReference) -> Pipeline {
    pipeline("collection") { () throws(FirestoreError) in [.path("/" + (try reference.resourcePath.get()).text)] }
  }

  /// All documents of all collections with this id.
  public func collectionGroup(_ collectionID: String) -> Pipeline {
    pipeline("collection_group") { () throws(FirestoreError) in [.path(""), .constant(.string(collectionID))] }
  }

  /// All documents of the database.
  public func database() -> Pipeline { pipeline("database") { () throws(FirestoreError) in [] } }

  /// The existing documents among the given ones.
  public func documents(_ references: [DocumentReference]) -> Pipeline {
    pipeline("documents") { () throws(FirestoreError) in
      var paths: [ExpressionMessage] = []
      for reference in references { paths.append(.path("/" + (try reference.key.get()).path.text)) }
      return paths
    }
  }

  /// The existing documents among the given ones.
  public func documents(_ paths: [String]) -> Pipeline { documents(paths.map { firestore.document($0) }) }

  /// Documents with the given fields that exist only in the pipeline. Values may be expressions.
  public func literals(_ documents: [[String: Any]]) -> Pipeline {
    let terms = documents.map { fields in
      fields.sorted { $0.key < $1.key }.map { (name: $0.key, term: ExpressionTerm($0.value)) }
    }
    return pipeline("literals") { () throws(FirestoreError) in
      var literals: [ExpressionMessage] = []
      for fields in terms {
        var entries: [ExpressionMessage.Entry] = []
        for field in fields { entries.append(ExpressionMessage.Entry(field.name, try field.term.message.get())) }
        literals.append(.map(entries))
      }
      return literals
    }
  }

  private func pipeline(
    _ name: String, _ arguments: () throws(FirestoreError) -> [ExpressionMessage]
  ) -> Pipeline {
    Pipeline(firestore: firestore, stages: []).appending(name, arguments)
  }
}

/// A sequence of stages that the backend executes. Pipelines are values: each method returns a new pipeline with one
/// more stage.
///
/// If a stage contains an error, `execute()` reports the error.
public struct Pipeline: Sendable {
  let firestore: Firestore
  let stages: [Result<PipelineMessage.Stage, FirestoreError>]

  /// Executes the pipeline on the backend, and returns all results.
  /// - Throws: `unavailable` while offline; `invalidArgument` if a stage contains an error; `unimplemented` if the
  ///   server does not support pipelines.
  public func execute() async throws -> PipelineSnapshot {
    let message = try message()
    let engine = try firestore.client().engine
    do throws(RPCStatus) {
      return PipelineSnapshot(pipeline: self, try await engine.execute(message))
    } catch {
      throw FirestoreError(error)
    }
  }

  func message() throws(FirestoreError) -> PipelineMessage {
    var message = PipelineMessage()
    for stage in stages { message.stages.append(try stage.get()) }
    return message
  }

  func appending(
    _ name: String, options: () throws(FirestoreError) -> [String: ExpressionMessage] = { [:] },
    _ arguments: () throws(FirestoreError) -> [ExpressionMessage]
  ) -> Pipeline {
    let stage = Result { () throws(FirestoreError) in
      PipelineMessage.Stage(name, try arguments(), options: try options())
    }
    return Pipeline(firestore: firestore, stages: stages + [stage])
  }

  // MARK: Stages

  /// Keeps the documents that satisfy a condition.
  public func `where`(_ condition: BooleanExpression) -> Pipeline {
    appending("where") { () throws(FirestoreError) in [try condition.term.message.get()] }
  }

  /// Keeps only these fields and expressions. The results have document names only if `Field.documentID` is selected.
  public func select(_ selections: [any Selectable]) -> Pipeline {
    appending("select") { () throws(FirestoreError) in [try Self.map(selections)] }
  }

  /// Sets fields, and keeps all other fields.
  public func addFields(_ fields: [any Selectable]) -> Pipeline {
    appending("add_fields") { () throws(FirestoreError) in [try Self.map(fields)] }
  }

  /// Removes fields.
  public func removeFields(_ fields: [Field]) -> Pipeline {
    appending("remove_fields") { () throws(FirestoreError) in
      try ExpressionTerm.messages(fields)
    }
  }

  /// Removes fields.
  public func removeFields(_ fields: [String]) -> Pipeline { removeFields(fields.map { Field($0) }) }

  /// Sorts documents by the first ordering. Documents with equal values are sorted by the next ordering.
  public func sort(_ orderings: [Ordering]) -> Pipeline {
    appending("sort") { () throws(FirestoreError) in
      var terms: [ExpressionMessage] = []
      for ordering in orderings { terms.append(try ordering.term.message.get()) }
      return terms
    }
  }

  /// Keeps at most the first `limit` documents.
  public func limit(_ limit: Int) -> Pipeline { appending("limit") { [.constant(.integer(Int64(limit)))] } }

  /// Skips the first `offset` documents.
  public func offset(_ offset: Int) -> Pipeline { appending("offset") { [.constant(.integer(Int64(offset)))] } }

  /// Computes aggregates over all documents, or over each group of documents that have equal values for `groups`.
  public func aggregate(_ aggregates: [AliasedAggregate], groups: [any Selectable] = []) -> Pipeline {
    appending("aggregate") { () throws(FirestoreError) in
      [try Self.map(aggregates.map(\.selection)), try Self.map(groups)]
    }
  }

  /// Creates one document for each distinct combination of values. The documents have no other fields.
  public func distinct(_ groups: [any Selectable]) -> Pipeline {
    appending("distinct") { () throws(FirestoreError) in [try Self.map(groups)] }
  }

  /// Creates a document for each element of an array. The field with the selection's name contains the element.
  /// - Parameter indexField: the name of a field for the element's index in the array; by default, the index is
  ///   omitted.
  public func unnest(_ array: any Selectable, indexField: String? = nil) -> Pipeline {
    appending(
      "unnest",
      options: { () throws(FirestoreError) in
        guard let indexField else { return [:] }
        return ["index_field": .field(try Field(indexField).path())]
      }
    ) { () throws(FirestoreError) in
      let entry = try array.selection.entry.get()
      return [entry.value, .field(entry.name)]
    }
  }

  /// Appends the documents of another pipeline to the documents of this one.
  public func union(with other: Pipeline) -> Pipeline {
    appending("union") { () throws(FirestoreError) in [.pipeline(try other.message())] }
  }

  /// Replaces each document with a map computed from it.
  public func replace(with map: any Expression) -> Pipeline {
    appending("replace_with") { () throws(FirestoreError) in
      [try map.term.message.get(), .constant(.string("full_replace"))]
    }
  }

  /// Keeps `count` documents, which are chosen at random.
  public func sample(count: Int) -> Pipeline {
    appending("sample") { [.constant(.integer(Int64(count))), .constant(.string("documents"))] }
  }

  /// Keeps approximately the given share of the documents, chosen at random.
  /// - Parameter percentage: the share, from 0 for none to 1 for all documents.
  public func sample(percentage: Double) -> Pipeline {
    appending("sample") { [.constant(.double(percentage)), .constant(.string("percent"))] }
  }

  /// Defines variables, which the following stages read as `Variable`s.
  public func define(_ variables: [AliasedExpression]) -> Pipeline {
    appending("let") { () throws(FirestoreError) in [try Self.map(variables)] }
  }

  /// Appends a stage, identified by the name that the backend uses for it. You can also use stages for which this
  /// module has no method.
  /// - Parameter params: the stage's parameters: expressions, or values, which become constants.
  public func rawStage(name: String, params: [Any], options: [String: Any] = [:]) -> Pipeline {
    appending(
      name,
      options: { () throws(FirestoreError) in
        var messages: [String: ExpressionMessage] = [:]
        for (name, value) in options { messages[name] = try ExpressionTerm(value).message.get() }
        return messages
      }
    ) { () throws(FirestoreError) in try ExpressionTerm.messages(params) }
  }

  private static func map(_ selections: [any Selectable]) throws(FirestoreError) -> ExpressionMessage {
    try map(selections.map(\.selection))
  }

  private static func map(_ selections: [Selection]) throws(FirestoreError) -> ExpressionMessage {
    var entries: [ExpressionMessage.Entry] = []
    for selection in selections { entries.append(try selection.entry.get()) }
    return .map(entries)
  }
}

/// A measure of the distance between two vectors.
public enum DistanceMeasure: String, Hashable, Sendable {
  /// The length of the straight line between the vectors.
  case euclidean
  /// 1 minus the cosine of the angle between the vectors.
  case cosine
  /// The dot product of the vectors. A larger product means a smaller distance.
  case dotProduct = "dot_product"
}

extension Pipeline {
  /// Keeps the documents whose vectors are nearest to the given vector, nearest first. Omits documents that have no
  /// vector of the same length.
  /// - Parameters:
  ///   - limit: the maximum number of documents; by default, there is no maximum.
  ///   - distanceField: the name of a field for the distance; by default, the distance is omitted.
  public func findNearest(
    field: Field, vectorValue: VectorValue, distanceMeasure: DistanceMeasure, limit: Int? = nil,
    distanceField: String? = nil
  ) -> Pipeline {
    appending(
      "find_nearest",
      options: { () throws(FirestoreError) in
        var options: [String: ExpressionMessage] = [:]
        if let limit { options["limit"] = .constant(.integer(Int64(limit))) }
        if let distanceField { options["distance_field"] = .field(try Field(distanceField).path()) }
        return options
      }
    ) { () throws(FirestoreError) in
      [
        try field.term.message.get(), .constant(.vector(vectorValue.array)),
        .constant(.string(distanceMeasure.rawValue)),
      ]
    }
  }
}
