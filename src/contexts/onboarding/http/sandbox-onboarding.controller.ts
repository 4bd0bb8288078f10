import { Controller, Inject, Post } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { EVENT_STORE, type EventMetadata, type EventStore } from '../../../platform/event-store/port.js';
import { SubscriptionProgress } from '../../../platform/projections/subscription-progress.js';
import { Cause, MerchantId, UuidParam } from '../../../platform/http/decorators.js';
import { ApiRoute } from '../../../platform/openapi/route.js';
import { userJson, UserResponse, USERS_VIEW } from '../../users/contract.js';
import { CompleteSandboxOnboarding } from '../application/complete-sandbox-onboarding.js';

/** Completes an onboarding without a phone. Sandbox only. */
@Controller('merchants/v1/sandbox/users')
export class SandboxOnboardingController {
  constructor(
    private readonly commandBus: CommandBus,
    private readonly progress: SubscriptionProgress,
    @Inject(EVENT_STORE) private readonly store: EventStore,
  ) {}

  @Post(':id/complete_onboarding')
  @ApiRoute({
    id: 'completeSandboxOnboarding',
    tag: 'Sandbox',
    summary: 'Complete the onboarding of a user',
    description:
      'Goes through the real onboarding with the providers of the sandbox, and responds once the user is active. Only in the sandbox.',
    responses: {
      200: [UserResponse, 'The user is active and has a wallet.'],
      404: 'The merchant has no such user.',
      409: 'The user is deactivating or deactivated.',
    },
  })
  async complete(
    @MerchantId() merchantId: string,
    @UuidParam('id', 'User') userId: string,
    @Cause() cause: EventMetadata,
  ): Promise<UserResponse> {
    const user = await this.commandBus.execute(new CompleteSandboxOnboarding(merchantId, userId, cause));
    // The activation was written by a worker, before the head.
    await this.progress.waitFor(USERS_VIEW, await this.store.head());
    return { user: userJson(user) };
  }
}
