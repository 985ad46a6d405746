// SPDX-License-Identifier: Apache-2.0

extension Program {
  /// Whether each function takes nothing, looks at documents, and depends on nothing else of the request than its user
  /// and database: its result then stands until a document changes. There are no circles of calls.
  var steadyFunctions: [Bool] {
    var known: [Steadiness?] = Array(repeating: nil, count: functions.count)
    return functions.indices.map { place in
      let steadiness = steadiness(of: place, &known)
      return functions[place].parameters.isEmpty && steadiness.isSteady && steadiness.looksAtDocuments
    }
  }

  private struct Steadiness {
    var isSteady = true
    var looksAtDocuments = false
  }

  private func steadiness(of function: Int, _ known: inout [Steadiness?]) -> Steadiness {
    if let known = known[function] { return known }
    var found = Steadiness()
    var pending = functions[function].bindings + [functions[function].result]
    while let id = pending.popLast() {
      let kind = expressions[id].kind
      pending += kind.parts
      switch kind {
      case .function(let called, _):
        let inner = steadiness(of: called, &known)
        found.isSteady = found.isSteady && inner.isSteady
        found.looksAtDocuments = found.looksAtDocuments || inner.looksAtDocuments
      case .builtin(.get, _), .builtin(.exists, _): found.looksAtDocuments = true
      // Functions that look at what a commit is about to do.
      case .builtin(.getAfter, _), .builtin(.existsAfter, _): found.isSteady = false
      case .capture(let place): if place > 0 { found.isSteady = false }
      case .requestProperty(let property): if property != .auth { found.isSteady = false }
      case .request, .resource, .field, .name, .undefined, .call, .unknownCall: found.isSteady = false
      case .constant, .local, .property, .index, .slice, .not, .negated, .and, .or, .operation, .isType, .conditional,
        .list, .map, .path, .builtin, .method:
        break
      }
    }
    known[function] = found
    return found
  }
}
