// SPDX-License-Identifier: Apache-2.0
// The tokens of the tests on real nodes: as the standard has them, as others are, and those that do what no token should.
// What is not said of a token is as in `Token`.
pragma solidity ^0.8.28;

contract Token {
    string public name;
    string public symbol;
    uint8 public decimals;
    uint256 public totalSupply;
    mapping(address => uint256) internal held;
    mapping(address => mapping(address => uint256)) public allowance;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);

    constructor(string memory name_, string memory symbol_, uint8 decimals_) {
        name = name_;
        symbol = symbol_;
        decimals = decimals_;
    }

    function balanceOf(address owner) external view virtual returns (uint256) {
        return held[owner];
    }

    function mint(address to, uint256 value) external {
        totalSupply += value;
        held[to] += value;
        emit Transfer(address(0), to, value);
    }

    function burn(uint256 value) external {
        held[msg.sender] -= value;
        totalSupply -= value;
        emit Transfer(msg.sender, address(0), value);
    }

    function transfer(address to, uint256 value) external virtual returns (bool) {
        held[msg.sender] -= value;
        held[to] += value;
        emit Transfer(msg.sender, to, value);
        return true;
    }

    function approve(address spender, uint256 value) external returns (bool) {
        allowance[msg.sender][spender] = value;
        emit Approval(msg.sender, spender, value);
        return true;
    }
}

/// Takes a tenth on the way, and says nothing of it.
contract FeeToken is Token("Fee", "FEE", 6) {
    function transfer(address to, uint256 value) external override returns (bool) {
        held[msg.sender] -= value;
        held[to] += value - value / 10;
        totalSupply -= value / 10;
        emit Transfer(msg.sender, to, value);
        return true;
    }
}

/// Everybody's balance is a share of what there is, which grows without an event.
contract RebasingToken is Token("Rebasing", "REB", 18) {
    uint256 public factor = 1;

    function rebase(uint256 by) external {
        totalSupply = (totalSupply / factor) * by;
        factor = by;
    }

    function balanceOf(address owner) external view override returns (uint256) {
        return held[owner] * factor;
    }
}

/// As WETH: what comes in and goes out has other events.
contract WrappedToken is Token("Wrapped", "WRP", 18) {
    event Deposit(address indexed to, uint256 value);
    event Withdrawal(address indexed from, uint256 value);

    function deposit() external payable {
        totalSupply += msg.value;
        held[msg.sender] += msg.value;
        emit Deposit(msg.sender, msg.value);
    }

    function withdraw(uint256 value) external {
        held[msg.sender] -= value;
        totalSupply -= value;
        emit Withdrawal(msg.sender, value);
        payable(msg.sender).transfer(value);
    }
}

/// Makes tokens without an event.
contract SilentToken is Token("Silent", "SIL", 0) {
    function mintSilently(address to, uint256 value) external {
        totalSupply += value;
        held[to] += value;
    }
}

/// From before the ABI had text.
contract OldToken {
    bytes32 public constant name = "Old Token";
    bytes32 public constant symbol = "OLD";
    uint256 public constant decimals = 18;
    uint256 public totalSupply;
    mapping(address => uint256) public balanceOf;

    event Transfer(address indexed from, address indexed to, uint256 value);

    function mint(address to, uint256 value) external {
        totalSupply += value;
        balanceOf[to] += value;
        emit Transfer(address(0), to, value);
    }
}

/// Says of its decimals what cannot be.
contract HugeToken {
    string public constant name = "Huge";
    string public constant symbol = "HUGE";
    uint256 public constant decimals = 2 ** 200;
    uint256 public totalSupply;
    mapping(address => uint256) public balanceOf;

    event Transfer(address indexed from, address indexed to, uint256 value);

    function mint(address to, uint256 value) external {
        totalSupply += value;
        balanceOf[to] += value;
        emit Transfer(address(0), to, value);
    }
}

/// Emits what a token does, and answers whoever asks for a balance as it was made to.
contract HostileToken {
    enum Way { refuses, saysNothing, saysTooMuch, neverEnds }

    Way private immutable way;

    event Transfer(address indexed from, address indexed to, uint256 value);

    constructor(Way way_) {
        way = way_;
    }

    function mint(address to, uint256 value) external {
        emit Transfer(address(0), to, value);
    }

    fallback() external {
        if (way == Way.refuses) revert("not for you");
        if (way == Way.saysNothing) return;
        if (way == Way.saysTooMuch)
            assembly {
                mstore(0, 7)
                return(0, 32768)
            }
        // Much gas in few steps.
        for (;;)
            assembly {
                mstore(0, keccak256(0, 262144))
            }
    }
}

/// What a wallet asks of many contracts at once (https://github.com/mds1/multicall3).
contract Multicall3 {
    struct Call3 {
        address target;
        bool allowFailure;
        bytes callData;
    }

    struct Result {
        bool success;
        bytes returnData;
    }

    function aggregate3(Call3[] calldata calls) external payable returns (Result[] memory results) {
        results = new Result[](calls.length);
        for (uint256 at = 0; at < calls.length; at++) {
            (bool success, bytes memory data) = calls[at].target.call(calls[at].callData);
            require(success || calls[at].allowFailure, "Multicall3: call failed");
            results[at] = Result(success, data);
        }
    }
}
