// SPDX-License-Identifier: Apache-2.0
// The contracts of the tests on real nodes: the usual libraries with open doors, and one that emits whatever it is told.
pragma solidity ^0.8.28;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {ERC721} from "@openzeppelin/contracts/token/ERC721/ERC721.sol";
import {ERC721Burnable} from "@openzeppelin/contracts/token/ERC721/extensions/ERC721Burnable.sol";
import {ERC1155} from "@openzeppelin/contracts/token/ERC1155/ERC1155.sol";
import {ERC1155Burnable} from "@openzeppelin/contracts/token/ERC1155/extensions/ERC1155Burnable.sol";
import {ERC721A} from "erc721a/contracts/ERC721A.sol";

contract Collection721 is ERC721Burnable {
    constructor() ERC721("Seven", "SVN") {}

    function mint(address to, uint256 id) external payable {
        _safeMint(to, id);
    }
}

contract Collection1155 is ERC1155Burnable {
    constructor() ERC1155("") {}

    function mint(address to, uint256 id, uint256 amount) external payable {
        _mint(to, id, amount, "");
    }

    function mintBatch(address to, uint256[] calldata ids, uint256[] calldata amounts) external payable {
        _mintBatch(to, ids, amounts, "");
    }
}

/// Mints a range by one ERC-2309 event when it is created, and by a Transfer for each token later.
contract Collection721A is ERC721A {
    constructor(address to, uint256 quantity) ERC721A("Run", "RUN") {
        if (quantity > 0) _mintERC2309(to, quantity);
    }

    function mint(address to, uint256 quantity) external payable {
        _mint(to, quantity);
    }

    function burn(uint256 id) external {
        _burn(id, true);
    }
}

contract Coin is ERC20 {
    constructor(address holder) ERC20("Coin", "CN") {
        _mint(holder, 10 ** 24);
    }
}

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
