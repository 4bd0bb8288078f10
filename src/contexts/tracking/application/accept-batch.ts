import { Inject } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { CLOCK, type Clock } from '../../../kernel/clock.js';
import { AcceptedBatches, type ValidBatch } from '../store/accepted-batches.js';
import { Processing } from './processing.js';

/** Accepts a batch (domain/event-batch.ts says which are valid); resolves once it is durable. */
export class AcceptBatch extends Command<void> {
  constructor(readonly batch: ValidBatch) {
    super();
  }
}

@CommandHandler(AcceptBatch)
export class AcceptBatchHandler implements ICommandHandler<AcceptBatch> {
  constructor(
    private readonly accepted: AcceptedBatches,
    private readonly processing: Processing,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ batch }: AcceptBatch): Promise<void> {
    await this.accepted.insert(batch, this.clock.now());
    this.processing.wake();
  }
}
