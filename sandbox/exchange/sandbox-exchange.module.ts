import { Global, Module } from '@nestjs/common';
import { SANDBOX_PROVIDER } from '../../src/contexts/exchange/application/ports.js';
import { DEV_CHAIN_ID } from '../../src/contexts/exchange/settings.js';
import { CLOCK, type Clock } from '../../src/kernel/clock.js';
import { CONFIG, type Config } from '../../src/platform/config/config.js';
import { Sealer } from '../../src/platform/sealing/sealer.js';
import { DepositScanner } from './deposit-scanner.js';
import { Deposits } from './deposits.js';
import { SandboxOrders } from './sandbox-orders.js';
import { SandboxProvider } from './sandbox-provider.js';

/** The exchange provider of the sandbox, as {@link SANDBOX_PROVIDER}: null on any chain but the dev chain. */
@Global()
@Module({
  providers: [
    SandboxOrders,
    Deposits,
    {
      provide: DepositScanner,
      inject: [CONFIG, CLOCK, Deposits, SandboxOrders],
      useFactory: (config: Config, clock: Clock, deposits: Deposits, orders: SandboxOrders) => {
        const { chainRpcUrl, usdcAddress, chainId } = config;
        if (chainRpcUrl === null || usdcAddress === null || chainId !== DEV_CHAIN_ID) return null;
        return new DepositScanner({ ...config, chainRpcUrl, usdcAddress }, clock, deposits, orders);
      },
    },
    {
      provide: SANDBOX_PROVIDER,
      inject: [CONFIG, CLOCK, SandboxOrders, Deposits, DepositScanner, Sealer],
      useFactory: (
        config: Config,
        clock: Clock,
        orders: SandboxOrders,
        deposits: Deposits,
        scanner: DepositScanner | null,
        sealer: Sealer,
      ) =>
        scanner === null ? null : new SandboxProvider(config, clock, orders, deposits, scanner.chain, sealer),
    },
  ],
  exports: [SANDBOX_PROVIDER],
})
export class SandboxExchangeModule {}
