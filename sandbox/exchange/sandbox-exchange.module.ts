import { Global, Module } from '@nestjs/common';
import { SANDBOX_PROVIDER } from '../../src/contexts/exchange/contract.js';
import { DEV_CHAIN_ID } from '../../src/contexts/exchange/settings.js';
import { CLOCK, type Clock } from '../../src/kernel/clock.js';
import { CONFIG, type Config } from '../../src/platform/config/config.js';
import { Sealer } from '../../src/platform/sealing/sealer.js';
import { DepositWatch } from './deposit-watch.js';
import { DevChain } from './dev-chain.js';
import { SandboxOrders } from './sandbox-orders.js';
import { SandboxProvider } from './sandbox-provider.js';

/** The exchange provider of the sandbox, as {@link SANDBOX_PROVIDER}: null on any chain but the dev chain. */
@Global()
@Module({
  providers: [
    SandboxOrders,
    {
      provide: DevChain,
      inject: [CONFIG, CLOCK],
      useFactory: (config: Config, clock: Clock): DevChain | null => {
        const { chainRpcUrl, usdcAddress, chainId } = config;
        if (chainRpcUrl === null || usdcAddress === null || chainId !== DEV_CHAIN_ID) return null;
        return new DevChain({ ...config, chainRpcUrl, usdcAddress }, clock);
      },
    },
    {
      provide: DepositWatch,
      inject: [CONFIG, DevChain, SandboxOrders],
      useFactory: (config: Config, chain: DevChain | null, orders: SandboxOrders) =>
        chain === null ? null : new DepositWatch(config, chain, orders),
    },
    {
      provide: SANDBOX_PROVIDER,
      inject: [CONFIG, CLOCK, SandboxOrders, DevChain, Sealer],
      useFactory: (
        config: Config,
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
