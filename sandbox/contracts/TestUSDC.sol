// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.28;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";

/// @title The USDC of the dev chain: 6 decimals, and anybody may mint, because it is worth nothing.
contract TestUSDC is ERC20 {
    constructor(address[] memory holders, uint256 amount) ERC20("USD Coin (test)", "USDC") {
        for (uint256 i = 0; i < holders.length; i++) {
            _mint(holders[i], amount);
        }
    }

    function decimals() public pure override returns (uint8) {
        return 6;
    }

    /// @param amount in minor units of 0.000001 USDC
    function mint(address to, uint256 amount) external {
        _mint(to, amount);
    }
}
