import { Controller, HttpCode, Inject, Post } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { EVENT_STORE, type EventStore } from '../../../platform/event-store/port.js';
import { ViewProgress } from '../../../platform/projections/view-progress.js';
import { MerchantId, UuidParam } from '../../../platform/http/decorators.js';
import { userJson, USERS_VIEW, type UserJson } from '../../users/contract.js';
import { CompleteSandboxOnboarding } from '../application/complete-sandbox-onboarding.js';

/** The sandbox's way through the onboarding without a phone; absent outside sandbox mode. */
@Controller('merchants/v1/sandbox/users')
export class SandboxOnboardingController {
  constructor(
    private readonly commandBus: CommandBus,
    private readonly progress: ViewProgress,
    @Inject(EVENT_STORE) private readonly store: EventStore,
  ) {}

  @Post(':id/complete_onboarding')
  @HttpCode(200)
  async complete(
    @MerchantId() merchantId: string,
    @UuidParam('id', 'User') userId: string,
  ): Promise<{ user: UserJson }> {
    const user = await this.commandBus.execute(new CompleteSandboxOnboarding(merchantId, userId));
    // The activation came from a worker: whatever it wrote stands before the head.
    await this.progress.reached(USERS_VIEW, await this.store.head());
    return { user: userJson(user) };
  }
}
