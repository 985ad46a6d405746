// SPDX-License-Identifier: Apache-2.0
import Dashboard
import DashboardModel
import FirestoreClientState
import FirestoreModel
import FirestoreSync

/// The inside of the dashboard's own client.
extension ClientBridge {
  func lookInside() {
    request { bridge in
      let result: ClientEvent.InsideResult
      do throws(RPCStatus) {
        result = .success(try await bridge.engine.inside())
      } catch {
        result = .failure(error)
      }
      bridge.emit(.inside(result))
    }
  }

  func countFieldTypes(in path: ResourcePath) {
    let count = FieldTypeCount(in: path, of: transferPlace.database)
    request { bridge in
      let result: ClientEvent.FieldTypesResult
      do throws(RPCStatus) {
        result = .success(try await count.run(over: bridge.engine))
      } catch {
        result = .failure(error)
      }
      bridge.emit(.fieldTypes(in: path, result))
    }
  }

  func surveyCache() {
    request { bridge in
      let result: ClientEvent.SurveyResult
      do throws(RPCStatus) {
        result = .success(try await bridge.engine.surveyCache())
      } catch {
        result = .failure(error)
      }
      bridge.emit(.surveyed(result))
    }
  }
}
