// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
package import FirestoreModel
package import FirestoreQuery

/// A request of a watcher to a program. Questions are answered from the program's cache.
package enum InspectionRequest: Codable, Sendable {
  case documents(Query)
  /// The document at an offset in a query's result.
  case locate(Query, offset: Int)
  case collections(below: ResourcePath)
  case count(ResourcePath)
  case layers(DocumentKey)
  case explain(Query)
  case preview(Query)
  case inside
  case survey
  case setNetwork(Bool)
  case retryNow
  case cancelWrite(BatchID)
  /// Queues a rejected batch again as it was.
  case resend(BatchID)
  case dropRejected([BatchID])
  case setFaults(FaultSettings)
  case injectFault(WriteFault)
  /// Lets a fault happen once; only of a program whose greeting says that it knows the words for faults.
  case causeFault(FaultEvent)
  case restart(StreamUse.Kind)

  /// Whether the request changes what the program's client does.
  package var isControl: Bool {
    switch self {
    case .documents, .locate, .collections, .count, .layers, .explain, .preview, .inside, .survey: false
    case .setNetwork, .retryNow, .cancelWrite, .resend, .dropRejected, .setFaults, .injectFault, .causeFault,
      .restart:
      true
    }
  }
}

package struct NumberedRequest: Codable, Sendable {
  package var number: Int
  package var request: InspectionRequest

  package init(_ number: Int, _ request: InspectionRequest) {
    self.number = number
    self.request = request
  }
}

package enum InspectionAnswer: Codable, Sendable {
  case done
  case failed(RPCStatus)
  case documents([Document])
  /// The document at the offset; `nil` if the cache has no more than `count` documents.
  case located(DocumentKey?, count: Int)
  case collections([String])
  /// The number of documents; `nil` if there are too many to be counted.
  case count(Int?)
  case layers(remote: Document?, overlay: Mutation?, local: Document?)
  case explanation(QueryExplanation)
  case preview(QueryPreview)
  case inside(ClientInside)
  case survey(CacheSurvey)
}
