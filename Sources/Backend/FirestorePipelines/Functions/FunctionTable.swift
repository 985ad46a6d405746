// SPDX-License-Identifier: Apache-2.0

extension Function {
  /// All functions but the lazy ones, by name.
  static let table: [String: Function] = {
    let groups = [
      Arithmetic.functions, Comparison.functions, Strings.functions, RegularExpressions.functions, Arrays.functions,
      Maps.functions, Timestamps.functions, Vectors.functions,
      [Function("score", .score, 0), Function("document_matches", .matchesText, 1)],
    ]
    return Dictionary(uniqueKeysWithValues: groups.joined().map { ($0.name, $0) })
  }()

  /// The names of all functions that a pipeline can call, for the message that refuses any other name.
  static let names: [String] = {
    let forms = LazyForm.allCases.map(\.rawValue)
    return (table.keys + forms + ["array_filter", "array_transform", "current_document", "scalar"]).sorted()
  }()
}
