import { Module } from '@nestjs/common';
import { CLOCK, type Clock } from '../../kernel/clock.js';
import { CONFIG, type Config } from '../../platform/config/config.js';
import { DepositScanner } from './adapters/sandbox/deposit-scanner.js';
import { SandboxProvider } from './adapters/sandbox/sandbox-provider.js';
import { Deposits } from './store/deposits.js';
import { SandboxOrders } from './store/sandbox-orders.js';
import { ScanCursors } from './store/scan-cursors.js';

/** Injection token of the {@link SandboxProvider}; null in production, where no chain is scanned for it. */
export const SANDBOX_PROVIDER = Symbol('SANDBOX_PROVIDER');

/** The mnemonic behind the usual deposit addresses is known to everybody. */
const DEV_CHAIN = 31337;

/** The sandbox provider, and its scan of the chain for deposits. */
@Module({
  providers: [
    SandboxOrders,
    ScanCursors,
    Deposits,
    {
      provide: DepositScanner,
      inject: [CONFIG, CLOCK, ScanCursors, Deposits, SandboxOrders],
      useFactory: (config: Config, ...rest: Rest<typeof DepositScanner>) =>
        isScanned(config) ? new DepositScanner(config, ...rest) : null,
    },
    {
      provide: SANDBOX_PROVIDER,
      inject: [CONFIG, CLOCK, SandboxOrders, ScanCursors, DepositScanner],
      useFactory: (
        config: Config,
        clock: Clock,
        orders: SandboxOrders,
        cursors: ScanCursors,
        scanner: DepositScanner | null,
      ) => (scanner === null ? null : new SandboxProvider(config, clock, orders, cursors, scanner)),
    },
  ],
  exports: [SANDBOX_PROVIDER],
})
export class SandboxProviderModule {}

type Rest<Class extends abstract new (first: Config, ...rest: never) => unknown> =
  ConstructorParameters<Class> extends [unknown, ...infer Others] ? Others : never;

/** On another chain than the dev chain the money is real: not without a key of one's own. */
function isScanned({ mode, chainRpcUrl, usdcAddress, chainId, exchangeDepositXpub }: Config): boolean {
  if (mode !== 'sandbox' || chainRpcUrl === null || usdcAddress === null) return false;
  return chainId === DEV_CHAIN || exchangeDepositXpub !== null;
}
