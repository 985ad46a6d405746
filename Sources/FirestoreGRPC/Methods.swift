// SPDX-License-Identifier: Apache-2.0
package import GRPCCore

/// The methods of google.firestore.v1 that a client calls.
extension MethodDescriptor {
  package static let commit = MethodDescriptor(firestore: "Commit")
  package static let batchGetDocuments = MethodDescriptor(firestore: "BatchGetDocuments")
  package static let runQuery = MethodDescriptor(firestore: "RunQuery")
  package static let runAggregationQuery = MethodDescriptor(firestore: "RunAggregationQuery")
  package static let listCollectionIDs = MethodDescriptor(firestore: "ListCollectionIds")
  package static let listDocuments = MethodDescriptor(firestore: "ListDocuments")
  package static let listen = MethodDescriptor(firestore: "Listen")
  package static let write = MethodDescriptor(firestore: "Write")

  private init(firestore method: String) {
    self.init(service: ServiceDescriptor(fullyQualifiedService: "google.firestore.v1.Firestore"), method: method)
  }
}
