import { Global, Module } from '@nestjs/common';
import { SANDBOX_PROVIDER } from '../../src/contexts/exchange/providers/exchange-provider.ports.js';
import {
  DEV_CHAIN_ID,
  exchangeConfig,
  type ExchangeConfig,
} from '../../src/contexts/exchange/exchange.config.js';
import { CLOCK, type Clock } from '../../src/kernel/clock.js';
import { chainConfig, type ChainConfig } from '../../src/platform/config/config.js';
import { Sealer } from '../../src/platform/sealing/sealer.js';
import { DepositWatch } from './deposit-watch.js';
import { DevChain } from './dev-chain.js';
import { SandboxOrders } from './sandbox-orders.js';
import { SandboxProvider } from './sandbox-provider.js';

/** The exchange provider of the sandbox, as {@link SANDBOX_PROVIDER}. It is null on other chains. */
@Global()
@Module({
  providers: [
    SandboxOrders,
    {
      provide: DevChain,
      inject: [chainConfig.KEY, CLOCK],
      useFactory: (config: ChainConfig, clock: Clock): DevChain | null => {
        const { chainRpcUrl, usdcAddress, chainId } = config;
        if (chainRpcUrl === null || usdcAddress === null || chainId !== DEV_CHAIN_ID) return null;
        return new DevChain({ ...config, chainRpcUrl, usdcAddress }, clock);
      },
    },
    {
      provide: DepositWatch,
      inject: [exchangeConfig.KEY, DevChain, SandboxOrders],
      useFactory: (config: ExchangeConfig, chain: DevChain | null, orders: SandboxOrders) =>
        chain === null ? null : new DepositWatch(config, chain, orders),
    },
    {
      provide: SANDBOX_PROVIDER,
      inject: [exchangeConfig.KEY, CLOCK, SandboxOrders, DevChain, Sealer],
      useFactory: (
        config: ExchangeConfig,
        clock: Clock,
        orders: SandboxOrders,
        chain: DevChain | null,
        sealer: Sealer,
      ) => (chain === null ? null : new SandboxProvider(config, clock, orders, chain, sealer)),
    },
  ],
  exports: [SANDBOX_PROVIDER],
})
export class SandboxExchangeModule {}
