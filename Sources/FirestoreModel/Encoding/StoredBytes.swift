// SPDX-License-Identifier: Apache-2.0

/// Runs a reader over stored bytes and names what could not be read.
package func decode<T>(
  _ bytes: [UInt8], _ what: String, _ read: (inout WireReader) throws(WireError) -> T
) throws(ModelError) -> T {
  let result: Result<T, WireError> = bytes.withUnsafeBytes { buffer in
    var reader = WireReader(buffer)
    do throws(WireError) { return .success(try read(&reader)) } catch { return .failure(error) }
  }
  switch result {
  case .success(let value): return value
  case .failure(let error): throw ModelError(.dataLoss, "A stored \(what) cannot be read: \(error.reason).")
  }
}
