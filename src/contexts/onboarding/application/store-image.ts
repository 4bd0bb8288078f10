import { Inject } from '@nestjs/common';
import { Command, type ICommandHandler } from '@nestjs/cqrs';
import { DomainError } from '../../../kernel/domain-error.js';
import { CommandHandler } from '../../../platform/commands.js';
import { COMMAND_LOOP, type CommandLoop } from '../../../platform/event-store/command-loop.js';
import { failpoint } from '../../../platform/failpoints.js';
import { UsersView } from '../../users/contract.js';
import { onboarding, reached } from '../domain/onboarding.js';
import { Images } from '../store/images.js';
import { findApplicant } from './applicant.js';
import type { IdentityImage } from '../domain/identity-image.js';

/**
 * The user hands in an image of a document or of their face, whose content was checked. Throws `not_found`, or
 * `invalid_transition` when the identity is being verified already.
 */
export class StoreImage extends Command<void> {
  constructor(
    readonly merchantId: string,
    readonly userId: string,
    readonly image: IdentityImage,
  ) {
    super();
  }
}

@CommandHandler(StoreImage)
export class StoreImageHandler implements ICommandHandler<StoreImage> {
  constructor(
    @Inject(COMMAND_LOOP) private readonly loop: CommandLoop,
    private readonly users: UsersView,
    private readonly images: Images,
  ) {}

  async execute({ merchantId, userId, image }: StoreImage): Promise<void> {
    await findApplicant(this.users, merchantId, userId);
    const { state } = await this.loop.load(onboarding, userId);
    if (!reached(state, 'phone_verified'))
      throw new DomainError('invalid_transition', 'The phone number comes first');
    if (reached(state, 'kyc_submitted'))
      throw new DomainError('invalid_transition', 'The identity is being verified already');
    await this.images.keep(userId, image);
    failpoint('onboarding.image_stored');
  }
}
