// SPDX-License-Identifier: Apache-2.0
import ClientTesting
import Hearth

extension Backend {
  /// The same for clients that never give it up: on a machine that is busy, an answer may take longer than the ten seconds
  /// after which a client is offline.
  var patient: Backend { timed(by: HastyClock(speed: 1)) }
}
