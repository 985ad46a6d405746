// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol

extension PipelineChecker {
  /// The first stage.
  mutating func input(_ stage: StageArguments, _ place: Place) throws(RPCStatus) -> Pipeline.Input {
    switch stage.name {
    case "collection":
      try stage.expect(1...1)
      return .collection(try collection(stage))
    case "collection_group":
      try stage.expect(2...2)
      return .collectionGroup(try Self.collectionID(try stage.text(at: 1), stage))
    case "database":
      try stage.expect(0...0)
      return .database
    case "documents":
      try stage.expect(1...Function.many)
      return .documents(try documents(stage))
    case "literals":
      try stage.expect(1...Function.many)
      var literals: [Expression] = []
      for argument in stage.arguments {
        let entries = try Self.entries(argument, stage.name)
        literals.append(.map(try named(entries)))
      }
      return .literals(literals)
    case "subcollection":
      try stage.expect(1...1)
      if place != .expression {
        throw stage.fail("can only be at the start of a nested pipeline that is an expression.")
      }
      return .subcollection(try Self.collectionID(try stage.text(at: 0), stage))
    default:
      let what = Self.stages.contains(stage.name) ? "cannot be the first." : "does not exist."
      throw stage.fail("\(what) A pipeline begins with one of: \(Self.inputs.joined(separator: ", ")).")
    }
  }

  /// The path that an argument names, by a reference or by its text below the root.
  private func path(_ message: ExpressionMessage, _ stage: StageArguments) throws(RPCStatus) -> ResourcePath {
    switch message {
    case .constant(.reference(let named, let key)):
      guard named == database else {
        throw stage.fail("names the database '\(named.name)'; the request is for '\(database.name)'.")
      }
      return key.path
    case .path(let text):
      let root = database.documentsName + "/"
      var path = Substring(text)
      if path.hasPrefix(root) { path = path.dropFirst(root.count) } else if path.hasPrefix("/") { path.removeFirst() }
      do throws(ModelError) { return try ResourcePath(validating: String(path)) } catch {
        throw stage.fail("names no path: \(error.message)")
      }
    default: throw stage.fail("takes references such as \"/c/a\".")
    }
  }

  private func collection(_ stage: StageArguments) throws(RPCStatus) -> ResourcePath {
    let path = try path(stage.arguments[0], stage)
    guard path.isCollection else { throw stage.fail("takes a collection; '/\(path)' is a document.") }
    return path
  }

  private func documents(_ stage: StageArguments) throws(RPCStatus) -> [DocumentKey] {
    var (keys, seen) = ([DocumentKey](), Set<DocumentKey>())
    for argument in stage.arguments {
      let path = try path(argument, stage)
      guard let key = DocumentKey(path) else { throw stage.fail("takes documents; '/\(path)' is a collection.") }
      guard seen.insert(key).inserted else { throw stage.fail("names the document '/\(path)' twice.") }
      keys.append(key)
    }
    return keys
  }

  private static func collectionID(_ id: String, _ stage: StageArguments) throws(RPCStatus) -> String {
    if let objection = ResourcePath.objection(to: id, isCollectionID: true) {
      throw stage.fail("names no collection: \(objection)")
    }
    return id
  }

  mutating func named(_ entries: [ExpressionMessage.Entry]) throws(RPCStatus) -> [NamedExpression] {
    var named: [NamedExpression] = []
    for entry in entries { named.append(NamedExpression(name: entry.name, value: try expression(entry.value))) }
    return named
  }
}
