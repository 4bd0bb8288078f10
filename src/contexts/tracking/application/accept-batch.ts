import { Inject } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { CLOCK, type Clock } from '../../../kernel/clock.js';
import { BatchArrivals } from './batch-arrivals.js';
import { BatchTable, type ValidBatch } from './batch-table.js';

/** Accepts a batch (domain/event-batch.ts says which are valid); resolves once it is durable. */
export class AcceptBatch extends Command<void> {
  constructor(readonly batch: ValidBatch) {
    super();
  }
}

/** The request pays for one row; what it holds is processed afterwards. */
@CommandHandler(AcceptBatch)
export class AcceptBatchHandler implements ICommandHandler<AcceptBatch> {
  constructor(
    private readonly batches: BatchTable,
    private readonly arrivals: BatchArrivals,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ batch }: AcceptBatch): Promise<void> {
    await this.batches.insert({ ...batch, receivedAt: this.clock.now() });
    this.arrivals.announce(batch.merchantId);
  }
}
