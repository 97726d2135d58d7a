// SPDX-License-Identifier: Apache-2.0
// Collections on local chains: the usual libraries with open doors.
pragma solidity ^0.8.28;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {ERC721} from "@openzeppelin/contracts/token/ERC721/ERC721.sol";
import {ERC721Burnable} from "@openzeppelin/contracts/token/ERC721/extensions/ERC721Burnable.sol";
import {ERC1155} from "@openzeppelin/contracts/token/ERC1155/ERC1155.sol";
import {ERC1155Burnable} from "@openzeppelin/contracts/token/ERC1155/extensions/ERC1155Burnable.sol";
import {ERC721A} from "erc721a/contracts/ERC721A.sol";

contract Collection721 is ERC721Burnable {
    constructor(string memory name, string memory symbol) ERC721(name, symbol) {}

    function mint(address to, uint256 id) external payable {
        _safeMint(to, id);
    }
}

contract Collection1155 is ERC1155Burnable {
    string public name;

    constructor(string memory given) ERC1155("") {
        name = given;
    }

    function mint(address to, uint256 id, uint256 amount) external payable {
        _mint(to, id, amount, "");
    }

    function mintBatch(address to, uint256[] calldata ids, uint256[] calldata amounts) external payable {
        _mintBatch(to, ids, amounts, "");
    }
}

/// Mints a range by one ERC-2309 event when it is created, and by a Transfer for each token later.
contract Collection721A is ERC721A {
    constructor(string memory name, string memory symbol, address to, uint256 quantity) ERC721A(name, symbol) {
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
    constructor(string memory name, string memory symbol, address holder) ERC20(name, symbol) {
        _mint(holder, 10 ** 24);
    }
}
