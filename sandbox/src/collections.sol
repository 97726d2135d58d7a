// SPDX-License-Identifier: Apache-2.0
// Collections on local chains: the usual libraries with open doors.
pragma solidity ^0.8.28;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {ERC721} from "@openzeppelin/contracts/token/ERC721/ERC721.sol";
import {ERC721Burnable} from "@openzeppelin/contracts/token/ERC721/extensions/ERC721Burnable.sol";
import {ERC1155} from "@openzeppelin/contracts/token/ERC1155/ERC1155.sol";
import {ERC1155Burnable} from "@openzeppelin/contracts/token/ERC1155/extensions/ERC1155Burnable.sol";
import {ERC721A} from "erc721a/contracts/ERC721A.sol";
import {Base64} from "@openzeppelin/contracts/utils/Base64.sol";
import {Strings} from "@openzeppelin/contracts/utils/Strings.sol";

/// Token URIs that hold everything themselves: names, traits and a drawn picture, which follow from the id alone.
abstract contract Drawn {
    using Strings for uint256;

    function _uri(string memory name, uint256 id, string memory picture, string memory traits)
        internal
        pure
        returns (string memory)
    {
        bytes memory svg = abi.encodePacked(
            "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 100 100'>", picture, "</svg>"
        );
        return string.concat(
            'data:application/json;utf8,{"name":"', name, " #", id.toString(),
            '","description":"Drawn by its contract.","image":"data:image/svg+xml;base64,', Base64.encode(svg),
            '","attributes":[', traits, "]}"
        );
    }

    /// A number below `count` that looks like chance; `what` tells one of a token from another.
    function _draw(uint256 id, string memory what, uint256 count) internal pure returns (uint256) {
        return uint256(keccak256(abi.encodePacked(id, what))) % count;
    }

    /// A colour: a hue, then its saturation and lightness.
    function _hsl(uint256 hue, string memory rest) internal pure returns (string memory) {
        return string.concat("hsl(", (hue % 360).toString(), ",", rest, ")");
    }

    function _rect(string memory place, string memory fill) internal pure returns (string memory) {
        return string.concat("<rect ", place, " fill='", fill, "'/>");
    }

    function _path(string memory d, string memory fill) internal pure returns (string memory) {
        return string.concat("<path d='", d, "' fill='", fill, "'/>");
    }

    function _trait(string memory kind, string memory value) internal pure returns (string memory) {
        return string.concat('{"trait_type":"', kind, '","value":"', value, '"}');
    }

    function _count(string memory kind, uint256 value, uint256 max) internal pure returns (string memory) {
        return string.concat(
            ',{"display_type":"number","trait_type":"', kind, '","value":', value.toString(), ',"max_value":',
            max.toString(), "}"
        );
    }
}

/// Lighthouses at night.
contract Collection721 is ERC721Burnable, Drawn {
    using Strings for uint256;

    constructor(string memory name, string memory symbol) ERC721(name, symbol) {}

    function tokenURI(uint256 id) public view override returns (string memory) {
        _requireOwned(id);
        uint256 hour = _draw(id, "hour", 3);
        uint256 hue = 200 + hour * 45 + _draw(id, "hue", 30);
        string memory beam = _draw(id, "beam", 2) == 0 ? "M53 30 100 8v42z" : "M47 30 0 8v42z";
        string memory scene = string.concat(
            _rect("width='100' height='100'", _hsl(hue, "55%,22%")),
            "<circle cx='", (10 + _draw(id, "moon", 80)).toString(), "' cy='15' r='", (4 + hour * 2).toString(),
            "' fill='", _hsl(50, "60%,88%"), "'/>",
            _path(beam, "hsl(48,95%,70%,.45)"),
            _rect("y='78' width='100' height='22'", _hsl(hue, "60%,36%"))
        );
        uint256 paint = _draw(id, "paint", 12) * 30;
        string memory tower = string.concat(
            _path("M43 80 46 34h8l3 46z", _hsl(paint, "65%,58%")),
            _path("M44.4 58h11.2l.6 9H43.8z", _hsl(paint, "40%,92%")),
            _rect("x='46' y='26' width='8' height='8'", _hsl(48, "95%,75%")),
            _path("M44 26 50 20l6 6zM20 86h24v2H20zM58 90h26v2H58z", _hsl(hue, "50%,60%"))
        );
        string memory phase = hour == 0 ? "Dusk" : hour == 1 ? "Midnight" : "Dawn";
        return _uri(name(), id, string.concat(scene, tower),
            string.concat(_trait("Hour", phase), _count("Paint", paint / 30, 11)));
    }

    function mint(address to, uint256 id) external payable {
        _safeMint(to, id);
    }
}

/// Plants on pages of a notebook.
contract Collection1155 is ERC1155Burnable, Drawn {
    using Strings for uint256;

    string public name;

    constructor(string memory given) ERC1155("") {
        name = given;
    }

    function uri(uint256 id) public view override returns (string memory) {
        uint256 leaves = 2 + _draw(id, "leaves", 4);
        uint256 hue = 70 + _draw(id, "leaf", 90);
        string memory page = string.concat(
            _rect("width='100' height='100'", _hsl(40, "45%,90%")),
            _path("M10 22h80v.6H10zM10 40h80v.6H10zM10 58h80v.6H10zM10 76h80v.6H10z", _hsl(210, "45%,75%")),
            _rect("x='49' y='26' width='2' height='60'", _hsl(hue, "45%,35%"))
        );
        for (uint256 at = 0; at < leaves; at++) {
            string memory start = string.concat("M50 ", (78 - at * 10).toString());
            string memory leaf = at % 2 == 0 ? "q20 2 26-14q-20-2-26 14z" : "q-20 2-26-14q20-2 26 14z";
            page = string.concat(page, _path(string.concat(start, leaf), _hsl(hue + at * 6, "50%,45%")));
        }
        uint256 bloom = _draw(id, "bloom", 8) * 45;
        page = string.concat(
            page, "<circle cx='50' cy='24' r='9' fill='", _hsl(bloom, "70%,60%"),
            "'/><circle cx='50' cy='24' r='4' fill='hsl(48,90%,65%)'/>"
        );
        return _uri(name, id, page,
            string.concat(_trait("Season", bloom < 180 ? "Summer" : "Spring"), _count("Leaves", leaves, 5)));
    }

    function mint(address to, uint256 id, uint256 amount) external payable {
        _mint(to, id, amount, "");
    }

    function mintBatch(address to, uint256[] calldata ids, uint256[] calldata amounts) external payable {
        _mintBatch(to, ids, amounts, "");
    }
}

/// Mints a range by one ERC-2309 event when it is created, and by a Transfer for each token later. Trains with lit windows.
contract Collection721A is ERC721A, Drawn {
    using Strings for uint256;

    constructor(string memory name, string memory symbol, address to, uint256 quantity) ERC721A(name, symbol) {
        if (quantity > 0) _mintERC2309(to, quantity);
    }

    function tokenURI(uint256 id) public view override returns (string memory) {
        require(_exists(id));
        uint256 hue = 220 + _draw(id, "sky", 80);
        uint256 line = _draw(id, "line", 10) * 36;
        string memory scene = string.concat(
            _rect("width='100' height='100'", _hsl(hue, "45%,16%")),
            _path("M0 60 24 34 46 60 70 30 100 62v38H0z", _hsl(hue, "40%,24%")),
            _rect("y='84' width='100' height='2'", _hsl(hue, "20%,60%")),
            _rect("x='6' y='52' width='88' height='28' rx='6'", _hsl(line, "60%,48%")),
            _rect("x='6' y='72' width='88' height='3'", _hsl(line, "60%,80%")),
            "<circle cx='24' cy='82' r='5'/><circle cx='76' cy='82' r='5'/>"
        );
        uint256 lit;
        for (uint256 at = 0; at < 5; at++) {
            bool isLit = _draw(id, at.toString(), 3) > 0;
            if (isLit) lit++;
            string memory place = string.concat("x='", (12 + at * 16).toString(), "' y='57' width='11' height='10'");
            scene = string.concat(scene, _rect(place, isLit ? "hsl(48,95%,75%)" : "hsl(230,30%,20%)"));
        }
        return _uri(name(), id, scene,
            string.concat(_trait("Line", line < 180 ? "Southern" : "Northern"), _count("Lit windows", lit, 5)));
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
