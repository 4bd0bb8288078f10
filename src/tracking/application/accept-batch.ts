import { Inject } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { CLOCK, type Clock } from '../../kernel/clock.js';
import type { IdempotencyTicket } from '../../platform/http/edge.js';
import { BatchArrivals } from './batch-arrivals.js';
import { BatchTable } from './batch-table.js';

/** Accepts a batch that was found valid (domain/event-batch.ts); resolves once it is durable. */
export class AcceptBatch extends Command<void> {
  constructor(
    readonly merchantId: string,
    readonly ticket: IdempotencyTicket,
    /** The request's body exactly as it was sent. */
    readonly body: Buffer,
    readonly itemCount: number,
  ) {
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

  async execute({ merchantId, ticket, body, itemCount }: AcceptBatch): Promise<void> {
    const batchId = ticket.id('batch');
    await this.batches.insert({ batchId, merchantId, receivedAt: this.clock.now(), itemCount, body });
    this.arrivals.announce(merchantId);
  }
}
