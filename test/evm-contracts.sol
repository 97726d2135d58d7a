// SPDX-License-Identifier: Apache-2.0
// Contracts of the tests on real nodes: one that emits whatever it is told, and one that says of its tokens whatever a
// contract can say.
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

contract Uris {
    function tokenURI(uint256 id) external view returns (string memory) {
        if (id == 0) return "ipfs://hash/0";
        if (id == 1) revert("no such token");
        if (id == 2) {
            // More memory than any gas pays for.
            assembly {
                mstore(shl(64, 1), 1)
            }
        }
        if (id == 3) {
            // A text of 1.5 MB.
            assembly {
                mstore(0, 32)
                mstore(32, 1500000)
                return(0, 1500064)
            }
        }
        if (id == 4) return string(bytes.concat(hex"69fffe"));
        if (id == 5) return 'data:application/json;utf8,{"name":"Five","attributes":[{"trait_type":"Eyes","value":2}]}';
        if (id == 6) {
            assembly {
                invalid()
            }
        }
        if (id == 7) {
            // A text that is longer than the answer.
            assembly {
                mstore(0, 32)
                mstore(32, not(0))
                return(0, 64)
            }
        }
        // Gas runs out in another call.
        if (id == 8) return this.tokenURI(2);
        return "";
    }

    function uri(uint256) external pure returns (string memory) {
        return "https://example.com/{id}.json";
    }
}

interface Collection {
    function ownerOf(uint256 id) external view returns (address);
}

/// Asks for many owners at once; the zero address where there is none.
contract Owners {
    function ownersOf(Collection collection, uint256[] calldata ids) external view returns (address[] memory owners) {
        owners = new address[](ids.length);
        for (uint256 at = 0; at < ids.length; at++) {
            try collection.ownerOf(ids[at]) returns (address owner) {
                owners[at] = owner;
            } catch {}
        }
    }
}
