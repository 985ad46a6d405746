// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol
import FirestoreSync

extension Firestore {
  /// Begins a pipeline: stages through which documents go at the backend, each working on the results of the one
  /// before.
  ///
  /// The backend answers a pipeline over its own documents: local writes that it has not seen do not count.
  public func pipeline() -> PipelineSource { PipelineSource(firestore: self) }
}

/// The source of the documents of a pipeline.
public struct PipelineSource: Sendable {
  let firestore: Firestore

  /// All documents of a collection.
  public func collection(_ path: String) -> Pipeline { collection(firestore.collection(path)) }

  /// All documents of a collection.
  public func collection(_ reference: CollectionReference) -> Pipeline {
    pipeline("collection") { () throws(FirestoreError) in [.path("/" + (try reference.resourcePath.get()).text)] }
  }

  /// All documents of the collections with one id.
  public func collectionGroup(_ collectionID: String) -> Pipeline {
    pipeline("collection_group") { () throws(FirestoreError) in [.path(""), .constant(.string(collectionID))] }
  }

  /// All documents of the database.
  public func database() -> Pipeline { pipeline("database") { () throws(FirestoreError) in [] } }

  /// The named documents that exist.
  public func documents(_ references: [DocumentReference]) -> Pipeline {
    pipeline("documents") { () throws(FirestoreError) in
      var paths: [ExpressionMessage] = []
      for reference in references { paths.append(.path("/" + (try reference.key.get()).path.text)) }
      return paths
    }
  }

  /// The named documents that exist.
  public func documents(_ paths: [String]) -> Pipeline { documents(paths.map { firestore.document($0) }) }

  /// Documents that are given here by their fields and are in no database. Values may be expressions.
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

/// Stages through which documents go at the backend. A value: each call returns a longer pipeline.
///
/// Errors in stages are reported by `execute()`.
public struct Pipeline: Sendable {
  let firestore: Firestore
  let stages: [Result<PipelineMessage.Stage, FirestoreError>]

  /// Sends the pipeline to the backend, and waits for all results.
  /// - Throws: `unavailable` while offline, `invalidArgument` for an error in a stage, `unimplemented` for a server
  ///   that has no pipelines.
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

  /// Keeps the documents for which a condition holds.
  public func `where`(_ condition: BooleanExpression) -> Pipeline {
    appending("where") { () throws(FirestoreError) in [try condition.term.message.get()] }
  }

  /// Keeps only these fields and expressions; documents lose their names unless `Field.documentID` is among them.
  public func select(_ selections: [any Selectable]) -> Pipeline {
    appending("select") { () throws(FirestoreError) in [try Self.map(selections)] }
  }

  /// Sets fields, and keeps the others.
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

  /// Sorts documents by the first ordering, and documents that tie by the next.
  public func sort(_ orderings: [Ordering]) -> Pipeline {
    appending("sort") { () throws(FirestoreError) in
      var terms: [ExpressionMessage] = []
      for ordering in orderings { terms.append(try ordering.term.message.get()) }
      return terms
    }
  }

  /// Keeps the first documents, at most so many.
  public func limit(_ limit: Int) -> Pipeline { appending("limit") { [.constant(.integer(Int64(limit)))] } }

  /// Leaves out the first documents, so many.
  public func offset(_ offset: Int) -> Pipeline { appending("offset") { [.constant(.integer(Int64(offset)))] } }

  /// Works out figures over all documents, or over each group of documents with the same values.
  public func aggregate(_ aggregates: [AliasedAggregate], groups: [any Selectable] = []) -> Pipeline {
    appending("aggregate") { () throws(FirestoreError) in
      [try Self.map(aggregates.map(\.selection)), try Self.map(groups)]
    }
  }

  /// Makes one document for each combination of values, with nothing else.
  public func distinct(_ groups: [any Selectable]) -> Pipeline {
    appending("distinct") { () throws(FirestoreError) in [try Self.map(groups)] }
  }

  /// Makes a document for each element of an array; the element stands in the field of the selection's name.
  /// - Parameter indexField: the field that gets the element's place in the array; none by default.
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

  /// Replaces each document by a map.
  public func replace(with map: any Expression) -> Pipeline {
    appending("replace_with") { () throws(FirestoreError) in
      [try map.term.message.get(), .constant(.string("full_replace"))]
    }
  }

  /// Keeps so many documents, chosen at random.
  public func sample(count: Int) -> Pipeline {
    appending("sample") { [.constant(.integer(Int64(count))), .constant(.string("documents"))] }
  }

  /// Keeps about a share of the documents, chosen at random.
  /// - Parameter percentage: 0 for none, 1 for all.
  public func sample(percentage: Double) -> Pipeline {
    appending("sample") { [.constant(.double(percentage)), .constant(.string("percent"))] }
  }

  /// Names values for the stages that follow, which read them as `Variable`s.
  public func define(_ variables: [AliasedExpression]) -> Pipeline {
    appending("let") { () throws(FirestoreError) in [try Self.map(variables)] }
  }

  /// Appends a stage by the name that the backend knows, also one that has no method here.
  /// - Parameter params: expressions, or values as constants.
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

/// A measure of the distance of two vectors.
public enum DistanceMeasure: String, Hashable, Sendable {
  /// The length of the straight line between the two.
  case euclidean
  /// 1 minus the cosine of the angle between the two.
  case cosine
  /// The dot product of the two: larger is nearer.
  case dotProduct = "dot_product"
}

extension Pipeline {
  /// Keeps the documents whose vectors are nearest to a vector, nearest first. Documents without a vector of the same
  /// length are left out.
  /// - Parameters:
  ///   - limit: the largest number of documents; all by default.
  ///   - distanceField: the field that gets the distance; none by default.
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
