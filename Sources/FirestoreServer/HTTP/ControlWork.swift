// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreService

/// Does what a `ControlRequest` asks for.
struct ControlWork: Sendable {
  private let service: FirestoreService

  init(_ service: FirestoreService) { self.service = service }

  func answer(_ control: ControlRequest, _ body: [UInt8], to request: PlainRequest) async -> HTTPAnswer {
    do throws(RPCStatus) {
      switch control {
      case .delete(let path, let database):
        try await service.deleteDocuments(below: path, in: database)
        return HTTPAnswer(200, "{}\n")
      }
    } catch {
      return HTTPAnswer(error.code == .invalidArgument ? 400 : 500, error.message + "\n")
    }
  }
}
