import { Inject } from '@nestjs/common';
import { Command, CommandBus, type ICommandHandler } from '@nestjs/cqrs';
import { CLOCK, type Clock } from '../../../kernel/clock.js';
import { newId } from '../../../kernel/ids.js';
import { CommandHandler } from '../../../platform/commands.js';
import { DomainError } from '../../../kernel/domain-error.js';
import type { KycOutcome } from '../domain/decisions.js';
import { SandboxReviews } from '../store/sandbox-reviews.js';
import { ReceiveCallback } from './receive-callback.js';

/** An operator decides an identity that the sandbox keeps under review. Throws `invalid_transition` when none is open. */
export class DecideReview extends Command<void> {
  constructor(
    readonly userId: string,
    readonly outcome: KycOutcome,
  ) {
    super();
  }
}

/** Signs what the sandbox's identity provider says of a verification. */
export interface SandboxSigner {
  signed(id: string, verificationId: string, at: Date): { headers: Record<string, string>; body: Buffer };
}
export const SANDBOX_SIGNER = Symbol('SANDBOX_SIGNER');

@CommandHandler(DecideReview, { sandbox: true })
export class DecideReviewHandler implements ICommandHandler<DecideReview> {
  constructor(
    private readonly reviews: SandboxReviews,
    private readonly commandBus: CommandBus,
    @Inject(SANDBOX_SIGNER) private readonly signer: SandboxSigner,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ userId, outcome }: DecideReview): Promise<void> {
    const verificationId = await this.reviews.decide(userId, outcome);
    if (verificationId === null)
      throw new DomainError('invalid_transition', 'No identity of this user is under review in the sandbox');
    // As a provider says so; should it get lost, the next look finds the decision.
    const { headers, body } = this.signer.signed(newId(), verificationId, this.clock.now());
    await this.commandBus.execute(new ReceiveCallback('sandbox', headers, body));
  }
}
