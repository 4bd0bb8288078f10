import { Global, Module } from '@nestjs/common';
import { TEST_MONEY } from '../src/contexts/exchange/contract.js';
import { SandboxExchangeModule } from './exchange/sandbox-exchange.module.js';
import { TransfersController } from './transfers.controller.js';
import { Treasury } from './treasury.js';

/** Helpers for trying things out. Imported in sandbox mode only: elsewhere its paths and its money do not exist. */
@Global()
@Module({
  imports: [SandboxExchangeModule],
  controllers: [TransfersController],
  providers: [Treasury, { provide: TEST_MONEY, useExisting: Treasury }],
  exports: [TEST_MONEY],
})
export class SandboxModule {}
