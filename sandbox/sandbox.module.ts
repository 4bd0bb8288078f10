import { Global, Module } from '@nestjs/common';
import { TEST_MONEY } from '../src/contexts/exchange/providers/exchange-provider.ports.js';
import { SandboxExchangeModule } from './exchange/sandbox-exchange.module.js';
import { TransfersController } from './transfers.controller.js';
import { Treasury } from './treasury.js';

/**
 * The test helpers of the sandbox. The module is imported in sandbox mode only, so production has neither its
 * routes nor its money.
 */
@Global()
@Module({
  imports: [SandboxExchangeModule],
  controllers: [TransfersController],
  providers: [Treasury, { provide: TEST_MONEY, useExisting: Treasury }],
  exports: [TEST_MONEY],
})
export class SandboxModule {}
