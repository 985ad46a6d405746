// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
import FirestoreModel

extension LocalBackend {
  /// Does something in one step. The caller is on the backend's executor.
  nonisolated func step<Result: Sendable>(
    _ body: @Sendable (isolated LocalBackend) throws(RPCStatus) -> Result
  ) throws(RPCStatus) -> Result {
    let result: Swift.Result<Result, RPCStatus> = assumeIsolated { backend in
      do throws(RPCStatus) { return .success(try body(backend)) } catch { return .failure(error) }
    }
    return try result.get()
  }

  nonisolated func step<Result: Sendable>(_ body: @Sendable (isolated LocalBackend) -> Result) -> Result {
    assumeIsolated(body)
  }
}
