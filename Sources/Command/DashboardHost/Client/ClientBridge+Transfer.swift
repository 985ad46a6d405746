// SPDX-License-Identifier: Apache-2.0
import ClientPort
import CommandOptions
import CommandOutput
import CommandTransfer
import Dashboard
import DashboardModel
import FirestoreClientState
import FirestoreModel
import FirestoreProtocol
import Foundation

extension ClientBridge {
  /// Starts an import or export, which runs in parallel to other work. It replaces an existing file only if the request
  /// allows it.
  func transfer(_ request: TransferRequest) {
    if transferring != nil { return tell(.notice(.info, "Another import or export is still running.")) }
    if let replacing = request.replacing, FileManager.default.fileExists(atPath: UserPath.absolute(request.file)) {
      let again = Effect.client(.transfer(replacing))
      return tell(
        .question(
          title: "Replace a file",
          body: ["\(request.file) exists.", "The file is replaced when the new one is complete."],
          action: "Replace", HeldEffects([again])))
    }
    let run = TransferRun(
      request: request, datastore: datastore, database: transferPlace.database, backend: transferPlace.backend,
      client: engine)
    let (news, continuation) = AsyncStream.makeStream(of: TransferState.self, bufferingPolicy: .bufferingNewest(1))
    tell(.transferring(TransferState(request)))
    // The work reads and writes files, which must not block the main thread.
    let work = Task.detached {
      defer { continuation.finish() }
      return await run.run { continuation.yield($0) }
    }
    transferring = Task { [weak self] in
      await withTaskCancellationHandler {
        for await progress in news { self?.tell(.transferring(progress)) }
      } onCancel: {
        work.cancel()
      }
      let account = await work.value
      self?.transferring = nil
      self?.tell(.transferred(account))
    }
  }
}

extension StorageOptions.Locations {
  /// The destination of the dashboard's imports, in the format in which `hearth import` records it.
  func transferPlace(_ connection: BackendConnection) -> (database: DatabaseID, backend: String?) {
    let isKept = connection.identity != nil && backend != .embedded(folder: nil)
    return (database, isKept ? "\(backend)" : nil)
  }
}
