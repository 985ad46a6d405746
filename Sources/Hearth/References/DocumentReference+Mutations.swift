// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

extension DocumentReference {
  func setMutation(_ data: [String: Any]) throws(FirestoreError) -> Mutation {
    try mutation(try WriteData.set(data))
  }

  func mergeMutation(_ data: [String: Any]) throws(FirestoreError) -> Mutation {
    try mutation(try WriteData.merge(data))
  }

  func mergeMutation(_ data: [String: Any], only fields: [Any]) throws(FirestoreError) -> Mutation {
    var paths: [FirestoreModel.FieldPath] = []
    for field in fields {
      switch field {
      case let name as String: paths.append(try name.modelPath())
      case let path as FieldPath: paths.append(try path.modelPath())
      default: throw .invalidArgument("mergeFields holds strings and FieldPaths, not \(type(of: field)).")
      }
    }
    return try mutation(try WriteData.merge(data, only: paths))
  }

  func updateMutation(_ fields: [AnyHashable: Any]) throws(FirestoreError) -> Mutation {
    try mutation(try WriteData.update(fields), precondition: .exists(true))
  }

  func deleteMutation() throws(FirestoreError) -> Mutation {
    Mutation(key: try key.get(), operation: .delete)
  }

  private func mutation(
    _ parsed: (operation: Mutation.Operation, transforms: [FieldTransform]), precondition: Precondition = .none
  ) throws(FirestoreError) -> Mutation {
    Mutation(
      key: try key.get(), operation: parsed.operation, precondition: precondition, transforms: parsed.transforms)
  }
}
