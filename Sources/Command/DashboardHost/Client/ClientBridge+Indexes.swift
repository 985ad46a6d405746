// SPDX-License-Identifier: Apache-2.0
import Dashboard
import DashboardModel
import FirestoreClientState
import FirestoreLocal
import FirestoreModel
import FirestoreQuery
import FirestoreSync

extension ClientBridge {
  package func explain(_ query: Query) {
    request { bridge in
      let result: ClientEvent.ExplanationResult
      do throws(RPCStatus) {
        result = .success(try await bridge.engine.explain(query))
      } catch {
        result = .failure(error)
      }
      bridge.emit(.explained(query, result))
    }
  }

  /// Previews a query; while one preview is answered, only the newest of the later requests waits.
  func preview(_ query: Query) {
    nextPreview = query
    if isPreviewing { return }
    isPreviewing = true
    request { bridge in
      defer { bridge.isPreviewing = false }
      while let query = bridge.nextPreview {
        bridge.nextPreview = nil
        let result: ClientEvent.PreviewResult
        do throws(RPCStatus) { result = .success(try await bridge.engine.preview(query)) } catch {
          result = .failure(error)
        }
        bridge.emit(.previewed(query, result))
      }
    }
  }

  /// Adds what would spare reading the whole collection for a query to the configured indexes.
  func createIndexes(for query: Query) {
    request { bridge in
      let configured = try await bridge.engine.indexes().filter { !$0.isAutomatic }.map(\.definition)
      try await bridge.engine.setIndexes(configured + FieldIndex.answering(query))
    }
  }
}
