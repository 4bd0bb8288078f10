import { Command, type ICommandHandler } from '@nestjs/cqrs';
import { CommandHandler } from '../../../platform/commands.js';
import { DomainError } from '../../../kernel/domain-error.js';
import type { KycOutcome } from '../domain/decisions.js';
import { SandboxReviews } from '../store/sandbox-reviews.js';
import { Steps } from '../store/steps.js';

/** An operator decides an identity that the sandbox keeps under review. Throws `invalid_transition` when none is open. */
export class DecideReview extends Command<void> {
  constructor(
    readonly userId: string,
    readonly outcome: KycOutcome,
  ) {
    super();
  }
}

@CommandHandler(DecideReview, { sandbox: true })
export class DecideReviewHandler implements ICommandHandler<DecideReview> {
  constructor(
    private readonly reviews: SandboxReviews,
    private readonly steps: Steps,
  ) {}

  async execute({ userId, outcome }: DecideReview): Promise<void> {
    if ((await this.reviews.decide(userId, outcome)) === null)
      throw new DomainError('invalid_transition', 'No identity of this user is under review in the sandbox');
    await this.steps.ask(userId);
  }
}
