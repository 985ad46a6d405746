// SPDX-License-Identifier: Apache-2.0

/// Runs a reader over stored bytes and names what could not be read.
package func decode<T>(
  _ bytes: [UInt8], _ what: String, _ read: (inout WireReader) throws(WireError) -> T
) throws(ModelError) -> T {
  do throws(WireError) { return try WireReader.read(bytes, read) } catch {
    throw ModelError(.dataLoss, "A stored \(what) cannot be read: \(error.reason).")
  }
}
