// SPDX-License-Identifier: Apache-2.0
// A contract of the tests on real nodes that emits whatever it is told.
pragma solidity ^0.8.28;

struct Event {
    bytes32[] topics;
    bytes data;
}

contract Anything {
    function say(Event[] calldata events) external payable {
        for (uint256 at = 0; at < events.length; at++) {
            bytes32[] calldata t = events[at].topics;
            bytes memory data = events[at].data;
            bytes32 t0 = t.length > 0 ? t[0] : bytes32(0);
            bytes32 t1 = t.length > 1 ? t[1] : bytes32(0);
            bytes32 t2 = t.length > 2 ? t[2] : bytes32(0);
            bytes32 t3 = t.length > 3 ? t[3] : bytes32(0);
            uint256 count = t.length;
            assembly {
                let from := add(data, 32)
                let size := mload(data)
                switch count
                case 0 { log0(from, size) }
                case 1 { log1(from, size, t0) }
                case 2 { log2(from, size, t0, t1) }
                case 3 { log3(from, size, t0, t1, t2) }
                default { log4(from, size, t0, t1, t2, t3) }
            }
        }
    }
}
