import { Module } from '@nestjs/common';
import { SandboxExchangeModule } from './exchange/sandbox-exchange.module.js';
import { TransfersController } from './transfers.controller.js';
import { Treasury } from './treasury.js';

/** Helpers for trying things out. Imported in sandbox mode only: elsewhere its paths do not exist. */
@Module({
  imports: [SandboxExchangeModule],
  controllers: [TransfersController],
  providers: [Treasury],
})
export class SandboxModule {}
